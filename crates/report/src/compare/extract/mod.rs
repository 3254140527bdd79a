//! The figures of a run, in a fixed order: what the loads report, tasks by class, the machine, tasks by name.

mod fair_loads;
mod loads;
mod machine;
mod tasks;

use schema::RunResult;
use schema::{Better, Figure, Measurement, Metric, Unit};

/// All figures of a run that can be compared. Runs of the same loads give the same list, except for figures
/// that a run may lack (the time of a load that did not finish) and for tasks that only one of them has.
#[must_use]
pub fn measure(run: &RunResult) -> Vec<Measurement> {
    let mut figures = Figures::default();
    // What loads report is of the whole run.
    if run.window.is_none() {
        loads::measure(run, &mut figures);
    }
    tasks::measure_classes(run, &mut figures);
    machine::measure(run, &mut figures);
    tasks::measure_names(run, &mut figures);
    figures.list
}

/// The list under construction, and the names that the next figures share.
#[derive(Default)]
struct Figures {
    list: Vec<Measurement>,
    key_prefix: String,
    label_prefix: String,
}

impl Figures {
    /// What follows belongs to this group: `key.` and `label ` come before each name.
    fn group(&mut self, key: &str, label: &str) {
        self.key_prefix = format!("{key}.");
        self.label_prefix = if label.is_empty() { String::new() } else { format!("{label} ") };
    }

    /// Adds a number of things.
    fn count(&mut self, key: &str, label: &str, better: Better, value: u64) -> &mut Metric {
        self.add(key, label, Unit::Count, better, value)
    }

    /// Adds a duration.
    fn nanos(&mut self, key: &str, label: &str, better: Better, value_ns: u64) -> &mut Metric {
        self.add(key, label, Unit::Nanoseconds, better, value_ns)
    }

    /// Adds a figure of a struct of counters.
    fn declared<T>(&mut self, figure: &Figure<T>, value: u64) {
        let metric = self.add(figure.key(), figure.label, figure.unit(), figure.better, value);
        metric.headline = figure.headline;
    }

    fn add(&mut self, key: &str, label: &str, unit: Unit, better: Better, value: u64) -> &mut Metric {
        let metric = Metric {
            key: format!("{}{key}", self.key_prefix),
            label: format!("{}{label}", self.label_prefix),
            unit,
            better,
            resolution: 1,
            headline: false,
        };
        self.list.push(Measurement { metric, value });
        let last = self.list.len() - 1;
        &mut self.list[last].metric
    }
}

/// The step of a percentile: its bucket may be a sixteenth of its value wide
/// ([`LatencySummary::p50`](schema::LatencySummary::p50)).
fn percentile_step(percentile_ns: u64) -> u64 {
    (percentile_ns / 16).max(1)
}

#[cfg(test)]
mod tests;
