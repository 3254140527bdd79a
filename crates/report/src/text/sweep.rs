//! What a sweep comes to: a row for each combination of values, a column for each figure.

use super::head::labelled;
use super::paragraph::{fit, wrap};
use super::table::{Align, Table};
use super::{Rows, WIDTH};
use crate::numbers::{count, count_u64, duration, duration_ns, many};
use schema::{SweepFigure, SweepMetric, SweepPoint, SweepResult, Unit};

/// So many combinations are shown where not all are wanted.
const FOLDED: usize = 40;
/// So many different errors are told.
const ERRORS: usize = 5;
/// A heading longer than this is broken.
const HEADING: usize = 16;

/// Head, table of the means over the seeds with the smallest and largest of them, errors.
#[must_use]
pub fn sweep(result: &SweepResult, rows: Rows) -> String {
    let mut sections = vec![head(result), table(result, rows)];
    let legend =
        if result.seeds.len() > 1 { "mean over the seeds, and from the smallest to the largest" } else { "" };
    if !legend.is_empty() && !result.metrics.is_empty() {
        sections.push(wrap(&format!("Each figure: {legend}."), "", ""));
    }
    let verdict = |verdict: &String| wrap(verdict, "verdict: ", "         ");
    sections.push(result.verdicts.iter().map(verdict).collect());
    sections.push(errors(result));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

fn head(result: &SweepResult) -> String {
    let mut out = format!("schedlab {}, {}", result.version, many(result.runs, "run"));
    if result.failed > 0 {
        out += &format!(", of which {} failed", result.failed);
    }
    out.push('\n');
    out += &result.title.as_ref().map_or(String::new(), |title| labelled("title", title));
    for load in &result.loads {
        out += &labelled("load", load);
    }
    for axis in &result.axes {
        out += &labelled("axis", &format!("{}: {}", axis.name, several(&axis.values)));
    }
    out += &labelled("seeds", &seeds(&result.seeds));
    if let Some(command) = &result.command {
        out += &labelled("command", command);
    }
    out
}

/// Values as one reads them; of many the first and the last.
fn several(values: &[String]) -> String {
    const MOST: usize = 12;
    let quoted = |value: &String| if value.is_empty() { "(none)".to_owned() } else { value.clone() };
    match values {
        [first, .., last] if values.len() > MOST => {
            format!("{} ... {} ({} values)", quoted(first), quoted(last), values.len())
        }
        _ => values.iter().map(quoted).collect::<Vec<_>>().join(", "),
    }
}

fn seeds(seeds: &[u64]) -> String {
    match seeds {
        [first, .., last] if seeds.windows(2).all(|two| two[0] + 1 == two[1]) => {
            format!("{first}-{last}")
        }
        _ => several(&seeds.iter().map(u64::to_string).collect::<Vec<_>>()),
    }
}

fn table(result: &SweepResult, rows: Rows) -> String {
    let headings: Vec<String> = result.metrics.iter().map(|metric| in_two_lines(&metric.label)).collect();
    let has_failed = result.failed > 0;
    let mut columns: Vec<(&str, Align)> =
        result.axes.iter().map(|axis| (axis.name.as_str(), Align::Left)).collect();
    columns.extend(has_failed.then_some(("failed", Align::Right)));
    columns.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    if columns.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&columns).labelled_by(result.axes.len());
    for (number, axis) in result.axes.iter().enumerate() {
        // Settings may be long; the rest of a line is for figures.
        if axis.values.iter().any(|value| value.len() > WIDTH / 3) {
            table.limit(number, (WIDTH / 3) as u16);
        }
    }
    let shown = if rows == Rows::All { result.points.len() } else { FOLDED };
    for point in result.points.iter().take(shown) {
        let values = point.values.iter().cloned();
        let failed = has_failed.then(|| count_u64(point.failed));
        let figures = result.metrics.iter().map(|metric| cell(metric, point));
        table.row(values.chain(failed).chain(figures));
    }
    let mut out = table.render();
    let left_out = result.points.len().saturating_sub(shown);
    if left_out > 0 {
        out += &format!("({} more)\n", many(left_out as u64, "combination"));
    }
    out
}

/// `17.1us`, and below it from where to where.
fn cell(metric: &SweepMetric, point: &SweepPoint) -> String {
    let Some(figure) = point.figures.iter().find(|figure| figure.key == metric.key) else {
        return "-".to_owned();
    };
    let SweepFigure { runs, mean, min, max, .. } = figure;
    let (mean, min, max) = match metric.unit {
        Unit::Nanoseconds => (duration(*mean), duration_ns(*min), duration_ns(*max)),
        Unit::Count => (count(*mean), count_u64(*min), count_u64(*max)),
    };
    if *runs > 1 && min != max { format!("{mean} {min}-{max}") } else { mean }
}

fn in_two_lines(label: &str) -> String {
    if label.len() <= HEADING {
        return label.to_owned();
    }
    let middle = label.len() / 2;
    let blanks = label.match_indices(' ').map(|(at, _)| at);
    match blanks.min_by_key(|at| at.abs_diff(middle)) {
        Some(at) => format!("{}\n{}", &label[..at], &label[at + 1..]),
        None => label.to_owned(),
    }
}

/// Each error once, with the first combination that has it.
fn errors(result: &SweepResult) -> String {
    let mut told: Vec<(&str, String, u64)> = Vec::new();
    for point in &result.points {
        let Some(error) = &point.error else { continue };
        match told.iter_mut().find(|(known, ..)| known == error) {
            Some((_, _, failed)) => *failed += point.failed,
            None => told.push((error, name(result, point), point.failed)),
        }
    }
    let line = |(error, first, failed): &(&str, String, u64)| {
        let of_first = if first.is_empty() { String::new() } else { format!(", first with {first}") };
        fit(&format!("failed ({}{of_first}): {error}", many(*failed, "run")))
    };
    let mut out: String = told.iter().take(ERRORS).map(line).collect();
    if told.len() > ERRORS {
        out += &format!("({} more)\n", many((told.len() - ERRORS) as u64, "error"));
    }
    out
}

/// `kernel=6.1 threads=8`.
fn name(result: &SweepResult, point: &SweepPoint) -> String {
    let axes = result.axes.iter().zip(&point.values);
    axes.map(|(axis, value)| format!("{}={value}", axis.name)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn a_sweep_is_a_row_for_each_combination() {
        insta::assert_snapshot!(sweep(&example::sweep(), Rows::Folded), @r"
        schedlab 0.1.0, 12 runs, of which 3 failed
        title    Which kernel for which size
        load     cyclictest -t{threads} -p80
        load     hackbench -g1 -l100
        axis     kernel: 2.6.36, 6.1
        axis     threads: 1, 8
        seeds    1-3
        command  schedlab sweep kernels.toml

        kernel threads failed       cyclictest p99       hackbench time
                                   of worst thread
        2.6.36 1            0 17.1us 9.00us-41.0us 73.0ms 70.0ms-80.0ms
        2.6.36 8            3                    -                    -
        6.1    1            0 12.4us 9.00us-41.0us 73.0ms 70.0ms-80.0ms
        6.1    8            0 21.0us 9.00us-41.0us 73.0ms 70.0ms-80.0ms

        Each figure: mean over the seeds, and from the smallest to the largest.

        failed (3 runs, first with kernel=2.6.36 threads=8): kernel 2.6.36 has no
          setting `RT_PUSH_IPI`
        ");
    }

    #[test]
    fn many_axes_fit_the_width_and_many_rows_are_folded() {
        let mut result = example::sweep();
        result.points = result.points.iter().cycle().take(100).cloned().collect();
        let long = "machine=laptop cpus=4 NO_RT_PUSH_IPI base_slice_ns=6000000 hz=250";
        result.points.iter_mut().for_each(|point| point.values[1] = long.to_owned());
        result.axes[1].values[1] = long.to_owned();
        let text = sweep(&result, Rows::Folded);
        assert!(text.contains("(60 combinations more)"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(!sweep(&result, Rows::All).contains("more)"));
    }
}
