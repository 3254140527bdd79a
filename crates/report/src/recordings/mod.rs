//! Two recordings side by side: what differs, by how much, and how sure is that?
//!
//! A recording happened once, so nothing can be paired. Its rates are taken in equal windows and its wakeup
//! latencies one by one; how much these vary within each recording says what a difference between the two is
//! worth (`stats::Difference`). That the next recording of the same thing may differ from both it cannot say.

mod input;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schema::comparison::{IntervalMethod, Method, Verdict, times_in_steps};
use schema::recordings::{CommandOfBoth, Figure, FigureDifference, FigureUnit, RecordingsComparison};

use crate::stats::{CONFIDENCE, Difference, Estimate, FALSE_DISCOVERY_RATE, benjamini_hochberg, nine_digits};

pub use input::{CommandSamples, LatencySamples, MachineSamples, Recording};

/// Latencies that a mean or a median needs in each recording to be judged.
pub const FEWEST_LATENCIES: usize = 20;
/// Latencies that a p99 needs: with fewer it is the longest one.
pub const FEWEST_FOR_P99: usize = 200;

/// Compares two recordings, command by command and as a whole.
#[must_use]
pub fn compare_recordings(first: &Recording, second: &Recording) -> RecordingsComparison {
    let mut figures = Vec::new();
    let whole = [first, second].map(|recording| whole_figures(&recording.machine));
    figures.extend(differences(None, &whole));
    let mut commands = Vec::new();
    for (comm, samples) in &first.commands {
        let Some(other) = second.commands.get(comm) else { continue };
        commands.push(CommandOfBoth {
            comm: comm.clone(),
            of_command: samples.of_command || other.of_command,
            first: samples.totals(first.head.duration_ns),
            second: other.totals(second.head.duration_ns),
        });
        let both =
            [(first, samples), (second, other)].map(|(of, samples)| command_figures(&of.machine, samples));
        figures.extend(differences(Some(comm), &both));
    }
    let most_time = |both: &CommandOfBoth| both.first.cpu_time_ns.max(both.second.cpu_time_ns);
    commands.sort_by_key(|both| (!both.of_command, Reverse(most_time(both)), both.comm.clone()));
    correct_for_many_tests(&mut figures);
    // Stable: those as large as each other stay as they came.
    figures.sort_by(|a, b| a.verdict.cmp(&b.verdict).then_with(|| size(b).total_cmp(&size(a))));
    figures.iter_mut().for_each(round);
    let only = |here: &Recording, there: &Recording| {
        let lacks = |comm: &&String| !there.commands.contains_key(*comm);
        here.commands.keys().filter(lacks).cloned().collect()
    };
    RecordingsComparison {
        schema: schema::InspectCompareSchema,
        command: None,
        version: first.head.version.clone(),
        first: first.head.clone(),
        second: second.head.clone(),
        windows: first.machine.switches.len() as u64,
        method: Method {
            interval: IntervalMethod::BcaBootstrap,
            confidence: CONFIDENCE,
            false_discovery_rate: FALSE_DISCOVERY_RATE,
        },
        commands,
        figures,
        only_in_first: only(first, second),
        only_in_second: only(second, first),
        notes: Vec::new(),
    }
}

/// One figure of one recording: its value, and its interval where there are enough samples.
struct Measured {
    value: f64,
    estimate: Option<Estimate>,
    resolution: f64,
}

type Figures = BTreeMap<Figure, Measured>;

fn whole_figures(machine: &MachineSamples) -> Figures {
    let per_cpu = |ns: &[u64]| ns.iter().map(|&ns| ns as f64 / f64::from(machine.cpus.max(1))).collect();
    let mut figures = Figures::new();
    figures.extend(machine.rate(Figure::CpuUse, per_cpu(&machine.busy_ns), machine.resolution_ns as f64));
    figures.extend(machine.rate(Figure::Idle, per_cpu(&machine.idle_ns), machine.resolution_ns as f64));
    figures.extend(machine.events(Figure::Switches, &machine.switches));
    figures.extend(machine.events(Figure::Migrations, &machine.migrations));
    figures.extend(machine.events(Figure::Wakeups, &machine.wakeups));
    figures.extend(latencies(&machine.latency, machine.resolution_ns as f64));
    figures
}

fn command_figures(machine: &MachineSamples, command: &CommandSamples) -> Figures {
    let mut figures = Figures::new();
    let cpu_time = command.cpu_time_ns.iter().map(|&ns| ns as f64).collect();
    figures.extend(machine.rate(Figure::CpuTime, cpu_time, machine.resolution_ns as f64));
    figures.extend(machine.events(Figure::VoluntarySwitches, &command.voluntary_switches));
    figures.extend(machine.events(Figure::InvoluntarySwitches, &command.involuntary_switches));
    figures.extend(machine.events(Figure::Migrations, &command.migrations));
    figures.extend(machine.events(Figure::Wakeups, &command.wakeups));
    figures.extend(latencies(&command.latency, machine.resolution_ns as f64));
    figures
}

impl MachineSamples {
    /// Something per nanosecond of a window, or, of events, per second.
    fn rate(&self, figure: Figure, mut windows: Vec<f64>, step: f64) -> Option<(Figure, Measured)> {
        if self.window_ns <= 0.0 || windows.len() < 2 {
            return None;
        }
        let scale = if figure.unit() == FigureUnit::Share { 1.0 } else { 1e9 } / self.window_ns;
        windows.iter_mut().for_each(|value| *value *= scale);
        let estimate = Estimate::of_mean(&windows, step * scale);
        Some((figure, Measured { value: estimate.value, estimate: Some(estimate), resolution: step * scale }))
    }

    fn events(&self, figure: Figure, windows: &[u64]) -> Option<(Figure, Measured)> {
        self.rate(figure, windows.iter().map(|&count| count as f64).collect(), 1.0)
    }
}

fn latencies(latency: &LatencySamples, resolution: f64) -> Figures {
    let mut sorted: Vec<f64> = latency.samples_ns.iter().map(|&ns| ns as f64).collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.len() < 2 {
        return Figures::new();
    }
    let measured = |estimate: Estimate, fewest: usize| Measured {
        value: estimate.value,
        estimate: (estimate.count >= fewest).then_some(estimate),
        resolution,
    };
    let quantile = |permille| Estimate::of_quantile(&sorted, permille, resolution);
    [
        (Figure::LatencyMean, measured(Estimate::of_mean(&sorted, resolution), FEWEST_LATENCIES)),
        (Figure::LatencyP50, measured(quantile(500), FEWEST_LATENCIES)),
        (Figure::LatencyP99, measured(quantile(990), FEWEST_FOR_P99)),
    ]
    .into()
}

/// Every figure that both have.
fn differences(comm: Option<&String>, [first, second]: &[Figures; 2]) -> Vec<FigureDifference> {
    let of_both = first.iter().filter_map(|(figure, one)| Some((*figure, one, second.get(figure)?)));
    let difference = |(figure, one, two): (Figure, &Measured, &Measured)| {
        let found =
            one.estimate.as_ref().zip(two.estimate.as_ref()).map(|(one, two)| Difference::between(one, two));
        let verdict = match &found {
            _ if one.value == two.value => Verdict::Identical,
            None => Verdict::Untested,
            Some(found) if found.interval.contains(0.0) => Verdict::NotSignificant,
            Some(_) => Verdict::Changed,
        };
        FigureDifference {
            comm: comm.cloned(),
            figure,
            first: one.value,
            second: two.value,
            difference: two.value - one.value,
            interval: found.map(|found| found.interval),
            p_value: found.map(|found| found.p_value),
            verdict,
            step: one.resolution.max(two.resolution),
        }
    };
    of_both.map(difference).collect()
}

/// Takes back each change whose p-value may be chance among so many figures.
fn correct_for_many_tests(figures: &mut [FigureDifference]) {
    let p_values: Vec<f64> = figures.iter().filter_map(|figure| figure.p_value).collect();
    let discoveries = benjamini_hochberg(&p_values);
    let tested = figures.iter_mut().filter(|figure| figure.p_value.is_some());
    for (figure, discovery) in tested.zip(discoveries) {
        if figure.verdict == Verdict::Changed && !discovery {
            figure.verdict = Verdict::NotSignificant;
        }
    }
}

/// How many times larger the larger value is.
fn size(figure: &FigureDifference) -> f64 {
    times_in_steps(figure.first, figure.second, figure.step.max(f64::MIN_POSITIVE))
}

/// Rounds what was calculated, so that the JSON is the same on every machine.
fn round(figure: &mut FigureDifference) {
    let interval = figure.interval.iter_mut().flat_map(|interval| [&mut interval.low, &mut interval.high]);
    let floats = [&mut figure.first, &mut figure.second, &mut figure.difference];
    for float in floats.into_iter().chain(&mut figure.p_value).chain(interval) {
        *float = nine_digits(*float);
    }
}

#[cfg(test)]
pub(crate) mod example;
#[cfg(test)]
mod tests;
