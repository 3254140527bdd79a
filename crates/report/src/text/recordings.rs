//! Two recordings side by side: what they are, the machine, the commands, then what changed.

use super::Rows;
use super::head::labelled;
use super::paragraph::{cut, fit, wrap};
use super::table::{Align, Table};
use crate::numbers::{change, count, count_u64, digits3, duration, duration_ns};
use crate::recordings::{FEWEST_FOR_P99, FEWEST_LATENCIES};
use crate::stats::BOOTSTRAP_UP_TO;
use schema::comparison::Verdict;
use schema::recordings::{Figure, FigureDifference, FigureUnit, RecordingHead, RecordingsComparison};

/// Commands that a folded table shows.
const MAX_COMMANDS: usize = 20;
/// Changes that a folded table shows.
const MAX_CHANGES: usize = 40;
/// Columns for the name of a command, as long as Linux keeps it.
const COMM: usize = 15;

/// The whole text.
#[must_use]
pub fn recordings(result: &RecordingsComparison, rows: Rows) -> String {
    let mut sections =
        vec![head(result), machine(result), commands(result, rows), changes(result, rows), method(result)];
    sections.push(super::notes(&result.notes));
    sections.retain(|section| !section.is_empty());
    fit(&sections.join("\n"))
}

fn head(result: &RecordingsComparison) -> String {
    let of = |recording: &RecordingHead| {
        let kernel = recording.kernel.as_ref().map_or(String::new(), |kernel| format!(", {kernel}"));
        format!("{} ({}{kernel})", recording.trace, recording.format)
    };
    let mut out = format!("schedlab {}\n", result.version);
    out += &labelled("first", &of(&result.first));
    out += &labelled("second", &of(&result.second));
    if let Some(command) = &result.command {
        out += &labelled("command", command);
    }
    out
}

/// The figures of the whole machine: all of them, changed or not.
fn machine(result: &RecordingsComparison) -> String {
    let mut table = table("", "whole");
    for (what, of) in [
        ("span", (|head| duration_ns(head.duration_ns)) as fn(&RecordingHead) -> String),
        ("CPUs", |head| head.cpus.to_string()),
        ("tasks", |head| count_u64(head.tasks)),
        ("events lost", |head| count_u64(head.lost)),
    ] {
        table.row([String::new(), what.to_owned(), of(&result.first), of(&result.second)]);
    }
    let mut figures: Vec<_> = result.figures.iter().filter(|figure| figure.comm.is_none()).collect();
    figures.sort_by_key(|figure| figure.figure);
    for figure in figures {
        table.row(cells(figure, label(figure.figure).to_owned()));
    }
    let longest = [&result.first, &result.second].map(|head| duration_ns(head.latency_max_ns));
    table.row([String::new(), "latency max".to_owned()].into_iter().chain(longest));
    table.render()
}

fn commands(result: &RecordingsComparison, rows: Rows) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("command", Left),
        ("tasks\nfirst", Right),
        ("\nsecond", Right),
        ("CPU time\nfirst", Right),
        ("\nsecond", Right),
        ("of a CPU\nfirst", Right),
        ("\nsecond", Right),
        ("latency max\nfirst", Right),
        ("\nsecond", Right),
    ]);
    let shown = if rows == Rows::All { result.commands.len() } else { MAX_COMMANDS };
    for both in result.commands.iter().take(shown) {
        let (one, two) = (both.first, both.second);
        let mut cells = vec![cut(&both.comm, COMM), count_u64(one.tasks), count_u64(two.tasks)];
        cells.extend([one, two].map(|totals| duration_ns(totals.cpu_time_ns)));
        cells.extend([one, two].map(|totals| percent(totals.cpu_share)));
        cells.extend([one, two].map(|totals| match totals.latencies {
            0 => "-".to_owned(),
            _ => duration_ns(totals.latency_max_ns),
        }));
        table.row(cells);
    }
    let mut out = match result.commands.is_empty() {
        true => "no command name is in both recordings\n".to_owned(),
        false => table.render(),
    };
    if shown < result.commands.len() {
        out += &format!("{shown} of {} commands: those with the most CPU time\n", result.commands.len());
    }
    for (all, owner) in [(&result.only_in_first, "first"), (&result.only_in_second, "second")] {
        if let [first, rest @ ..] = all.as_slice() {
            let names: Vec<String> = match rows {
                Rows::All => all.iter().map(|name| cut(name, COMM)).collect(),
                Rows::Folded if rest.is_empty() => vec![cut(first, COMM)],
                Rows::Folded => vec![cut(first, COMM), "...".to_owned()],
            };
            out += &wrap(&format!("{} in the {owner} only: {}", all.len(), names.join(", ")), "", "  ");
        }
    }
    out
}

fn changes(result: &RecordingsComparison, rows: Rows) -> String {
    let is_of_command = |figure: &&FigureDifference| {
        result.commands.iter().any(|both| both.of_command && Some(&both.comm) == figure.comm.as_ref())
    };
    let mut of_commands: Vec<_> = result.figures.iter().filter(|figure| figure.comm.is_some()).collect();
    // Stable: otherwise the largest come first.
    of_commands.sort_by_key(|figure| !is_of_command(figure));
    if of_commands.is_empty() {
        return String::new();
    }
    let with = |verdict| of_commands.iter().filter(|figure| figure.verdict == verdict).count();
    let changed = with(Verdict::Changed);
    let mut out = format!("{changed} of {} figures of commands differ\n", of_commands.len());
    let listed: Vec<_> = match rows {
        Rows::All => of_commands.clone(),
        Rows::Folded => {
            let changed = of_commands.iter().filter(|figure| figure.verdict == Verdict::Changed);
            changed.take(MAX_CHANGES).copied().collect()
        }
    };
    if !listed.is_empty() {
        let mut table = table("command", "figure").labelled_by(2);
        for figure in &listed {
            let comm = figure.comm.as_deref().unwrap_or_default();
            let [mark, rest @ ..] = cells(figure, label(figure.figure).to_owned());
            table.row([format!("{mark}{}", cut(comm, COMM))].into_iter().chain(rest));
        }
        out += &table.render();
    }
    if rows == Rows::Folded {
        if changed > listed.len() {
            out += &format!("{} more differ less\n", changed - listed.len());
        }
        let unchanged = with(Verdict::NotSignificant) + with(Verdict::Identical);
        if unchanged > 0 {
            out += &format!("{unchanged} differ no more than by chance\n");
        }
    }
    match with(Verdict::Untested) {
        0 => {}
        few => {
            let text = format!(
                "too few latencies to tell: {few} (a mean or median needs {FEWEST_LATENCIES} in each recording, a p99 \
                 {FEWEST_FOR_P99})"
            );
            out += &wrap(&text, "", "  ");
        }
    }
    out
}

fn method(result: &RecordingsComparison) -> String {
    let text = format!(
        "* differs: the 95% interval of the difference excludes 0 and the finding is among those of which {:.0}% are \
         expected to be chance (Benjamini-Hochberg). Rates: {} equal windows of each recording; latencies: each one, taken \
         as independent. Means by BCa bootstrap (beyond {BOOTSTRAP_UP_TO} values by Student's t), quantiles by order statistics. \
         The interval knows how much the figures vary within the two recordings, not how much the next one would.",
        result.method.false_discovery_rate * 100.0,
        result.windows
    );
    wrap(&text, "", "")
}

fn table(label: &str, figure: &str) -> Table {
    use Align::{Left, Right};
    Table::new(&[
        (label, Left),
        (figure, Left),
        ("first", Right),
        ("second", Right),
        ("difference, 95%", Right),
        ("change", Right),
    ])
}

/// A mark if it changed, its name, both values, the interval, the relative change.
fn cells(figure: &FigureDifference, label: String) -> [String; 6] {
    let interval = figure.interval.map_or("-".to_owned(), |interval| {
        format!("{} to {}", signed(figure.figure, interval.low), signed(figure.figure, interval.high))
    });
    let relative = match (figure.first > 0.0, figure.difference == 0.0) {
        (_, true) => "0".to_owned(),
        (true, false) => change(figure.difference / figure.first),
        (false, false) => "-".to_owned(),
    };
    [
        if figure.verdict == Verdict::Changed { "*" } else { "" }.to_owned(),
        label,
        value(figure.figure, figure.first),
        value(figure.figure, figure.second),
        interval,
        relative,
    ]
}

pub(crate) fn label(figure: Figure) -> &'static str {
    match figure {
        Figure::CpuTime => "CPU time",
        Figure::CpuUse => "CPU use",
        Figure::Idle => "idle",
        Figure::Switches => "switches/s",
        Figure::VoluntarySwitches => "voluntary/s",
        Figure::InvoluntarySwitches => "involuntary/s",
        Figure::Migrations => "migrations/s",
        Figure::Wakeups => "wakeups/s",
        Figure::LatencyMean => "latency mean",
        Figure::LatencyP50 => "latency p50",
        Figure::LatencyP99 => "latency p99",
    }
}

fn value(figure: Figure, value: f64) -> String {
    match figure.unit() {
        FigureUnit::Share => percent(value),
        FigureUnit::PerSecond => count(value),
        FigureUnit::Nanoseconds => duration(value),
    }
}

fn signed(figure: Figure, difference: f64) -> String {
    let text = value(figure, difference);
    if difference > 0.0 { format!("+{text}") } else { text }
}

fn percent(share: f64) -> String {
    format!("{}%", digits3(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::{compare_recordings, example};
    use crate::text::WIDTH;

    #[test]
    fn what_changed_and_how_it_was_judged() {
        insta::assert_snapshot!(recordings(&example::comparison(), Rows::Folded), @r"
        schedlab 0.1.0
        first    a.dat (trace.dat, 6.1.0)
        second   b.dat (trace.dat, 6.1.0)
        command  schedlab inspect a.dat b.dat

          whole         first second    difference, 95% change
          span          1.00s  1.00s
          CPUs              1      1
          tasks             2      2
          events lost       0      0
          CPU use       50.0%  50.0%   -0.00% to +0.00%      0
          idle          50.0%  50.0%   -0.00% to +0.00%      0
        * switches/s      219    438       +205 to +234  +100%
          migrations/s      0      0     -3.82 to +3.82      0
        * wakeups/s       219    438       +205 to +234  +100%
        * latency mean 1.00us 3.00us +1.99us to +2.01us  +200%
        * latency p50   999ns 3.00us +1.99us to +2.01us  +200%
          latency p99  1.02us 3.02us                  -  +196%
          latency max  1.02us 3.02us

        command tasks        CPU time        of a CPU        latency max
                first second    first second    first second       first second
        a           2      2    500ms  500ms    50.0%  50.0%      1.02us 3.02us
        1 in the first only: b
        1 in the second only: c

        4 of 8 figures of commands differ
        command figure        first second    difference, 95% change
        *a      latency p50   999ns 3.00us +1.99us to +2.01us  +200%
        *a      latency mean 1.00us 3.00us +1.99us to +2.01us  +200%
        *a      voluntary/s     219    438       +205 to +234  +100%
        *a      wakeups/s       219    438       +205 to +234  +100%
        3 differ no more than by chance
        too few latencies to tell: 1 (a mean or median needs 20 in each recording, a p99
          200)

        * differs: the 95% interval of the difference excludes 0 and the finding is
        among those of which 5% are expected to be chance (Benjamini-Hochberg). Rates:
        20 equal windows of each recording; latencies: each one, taken as independent.
        Means by BCa bootstrap (beyond 2000 values by Student's t), quantiles by order
        statistics. The interval knows how much the figures vary within the two
        recordings, not how much the next one would.

        note: a.dat: data loss
        ");
    }

    #[test]
    fn long_names_and_numbers_fit_the_width_and_long_lists_are_folded() {
        let (mut first, mut second) = (example::first(), example::second());
        for recording in [&mut first, &mut second] {
            let command = recording.commands.remove("a").expect("the only one");
            for n in 0..60 {
                recording.commands.insert(format!("{n:02} more than 15 bytes"), command.clone());
            }
        }
        let result = compare_recordings(&first, &second);
        let text = recordings(&result, Rows::Folded);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(text.contains("\n20 of 60 commands: those with the most CPU time\n"), "{text}");
        let changed = result.count(Verdict::Changed);
        assert!(text.contains(" more differ less\n") && changed > 40, "{text}");
        assert_eq!(recordings(&result, Rows::All).matches("more than 15").count(), 0);
        assert!(recordings(&result, Rows::All).lines().count() > 60 * 8);
    }
}
