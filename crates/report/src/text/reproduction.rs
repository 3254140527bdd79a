//! Published experiments beside simulated ones: tables as in the document, then what was wanted and what came
//! of it.

use super::head::labelled;
use super::paragraph::{fit, wrap};
use super::table::{Align, Table};
use crate::numbers::{count, digits3};
use crate::reproduce::{Crossing, crossings};
use schema::reproduction::{
    ReproducedExperiment, ReproducedRequirement, ReproducedRow, ReproducedVariant, Reproduction, Role,
    RowSpan, RowUnit, Sensitivity, SensitivityRow,
};

/// Columns for what a figure is, and the fewest where the others need much.
const WHAT_COLUMNS: u16 = 29;
const FEWEST_WHAT_COLUMNS: u16 = 16;
/// Columns for what a figure should be.
const WANTED_COLUMNS: u16 = 13;
/// Figures that are named for each change of a free parameter.
const MOVED: usize = 3;

/// The whole report: each experiment with its variants, requirements, free parameters and sensitivities.
#[must_use]
pub fn reproduction(reproduction: &Reproduction) -> String {
    let length = if reproduction.quick { ", shortened runs" } else { "" };
    let mut head = format!("schedlab {}{length}\n", reproduction.version);
    if let Some(command) = &reproduction.command {
        head += &labelled("command", command);
    }
    let experiments = reproduction.experiments.iter().map(experiment);
    fit(&std::iter::once(head).chain(experiments).collect::<Vec<_>>().join("\n"))
}

fn experiment(experiment: &ReproducedExperiment) -> String {
    let mut head = wrap(&format!("{}: {}", experiment.name, experiment.title), "", "  ");
    head += &labelled("source", &experiment.source);
    head += &labelled("about", &experiment.about);
    let (seeds, length) = (experiment.seeds.len(), run_length(experiment));
    let mut rows = experiment.variants.iter().flat_map(|variant| &variant.rows);
    let intervals = if rows.any(|row| row.span == RowSpan::Interval) {
        "; in [ ]: the 95 % interval of the mean"
    } else {
        ""
    };
    let said = format!("{seeds}, {length} simulated each; figures are means over them unless said otherwise");
    head += &labelled("seeds", &(said + intervals));
    let mut sections = vec![head];
    let sweep = experiment.sweep.as_deref();
    sections.extend(experiment.variants.iter().map(|v| variant(v, sweep)));
    sections.push(crossing_lines(experiment));
    sections.push(verdict(experiment));
    sections.push(known(experiment));
    sections.push(free(experiment));
    sections.push(experiment.fit.as_ref().map_or(String::new(), super::fit::fit));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// Simulated time of a run, or the range over the variants.
fn run_length(experiment: &ReproducedExperiment) -> String {
    let seconds = |variant: &ReproducedVariant| digits3(variant.simulated_ns as f64 / 1e9);
    let by_length = |v: &&ReproducedVariant| v.simulated_ns;
    let shortest = experiment.variants.iter().min_by_key(by_length).map(seconds).unwrap_or_default();
    let longest = experiment.variants.iter().max_by_key(by_length).map(seconds).unwrap_or_default();
    if shortest == longest { format!("{longest} s") } else { format!("{shortest} to {longest} s") }
}

fn variant(variant: &ReproducedVariant, sweep: Option<&str>) -> String {
    let role = match variant.role {
        Role::Fitted => "fitted",
        Role::Prediction => "prediction",
    };
    let mut out = wrap(&format!("{} ({role})", variant.name), "", "  ");
    out += &wrap(&variant.loads.join(" + "), "  ", "    ");
    out += &wrap(&variant.settings, "  ", "    ");
    let (cells, rows): (Vec<&ReproducedRow>, Vec<&ReproducedRow>) =
        variant.rows.iter().partition(|row| row.cell.is_some());
    out += &published_table(&cells);
    let (reported, rows): (Vec<&ReproducedRow>, Vec<&ReproducedRow>) =
        rows.into_iter().partition(|row| row.at_name.is_some() && row.wanted.is_none());
    out += &by_name(&reported, sweep.unwrap_or(""));
    out += &figures(&rows, sweep);
    out += &rows.iter().map(|row| decisions(row)).collect::<String>();
    out
}

/// The decisions behind a figure.
fn decisions(row: &ReproducedRow) -> String {
    if row.decisions.is_empty() {
        return String::new();
    }
    wrap(&format!("{}: counts {}", row.what, row.decisions.join(", ")), "  ", "    ")
}

/// Figures of which nothing is wanted, of a sweep over names: a line for each name, a column for each figure.
fn by_name(rows: &[&ReproducedRow], sweep: &str) -> String {
    let mut whats: Vec<&str> = rows.iter().map(|row| row.what.as_str()).collect();
    let mut names: Vec<&str> = rows.iter().filter_map(|row| row.at_name.as_deref()).collect();
    for list in [&mut whats, &mut names] {
        let mut seen = Vec::new();
        list.retain(|text| {
            !seen.contains(text) && {
                seen.push(*text);
                true
            }
        });
    }
    if names.is_empty() {
        return String::new();
    }
    let mut columns = vec![(sweep, Align::Left)];
    columns.extend(whats.iter().map(|what| (*what, Align::Right)));
    let mut table = Table::new(&columns);
    for name in names {
        let figure = |what: &&str| {
            let here = |row: &&&ReproducedRow| row.at_name.as_deref() == Some(name) && row.what == **what;
            rows.iter().find(here).map_or(String::new(), |row| with_unit(row.simulated, row.unit))
        };
        table.row(std::iter::once(name.to_owned()).chain(whats.iter().map(figure)).collect::<Vec<_>>());
    }
    table.render()
}

/// A table as in the document, with the simulated figure beside each cell; `!` marks those that do not agree.
fn published_table(cells: &[&ReproducedRow]) -> String {
    let place = |row: &&ReproducedRow| row.cell.clone();
    let (mut names, mut headings): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for cell in cells.iter().filter_map(place) {
        if !names.contains(&cell.row) {
            names.push(cell.row);
        }
        if !headings.contains(&cell.column) {
            headings.push(cell.column);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let headings_of_two: Vec<[String; 2]> =
        headings.iter().map(|heading| [format!("{heading}\ndoc."), "\nhere ".to_owned()]).collect();
    let mut columns = vec![("", Align::Left)];
    columns.extend(headings_of_two.iter().flatten().map(|heading| (heading.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for name in names {
        let mut line = vec![name.clone()];
        for heading in &headings {
            let is_here = |row: &&&ReproducedRow| {
                row.cell.as_ref().is_some_and(|cell| cell.row == name && cell.column == *heading)
            };
            match cells.iter().find(is_here) {
                Some(row) => {
                    let mark = if row.agrees == Some(false) { '!' } else { ' ' };
                    line.push(row.published.map_or(String::new(), |p| number(p, row.unit)));
                    line.push(format!("{}{mark}", number(row.simulated, row.unit)));
                }
                None => line.extend([String::new(), String::new()]),
            }
        }
        table.row(line);
    }
    table.render()
}

/// Single figures, one a line.
fn figures(rows: &[&ReproducedRow], sweep: Option<&str>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut columns = WHAT_COLUMNS;
    loop {
        let table = figures_within(rows, sweep, columns);
        if table.fits() || columns == FEWEST_WHAT_COLUMNS {
            return table.render();
        }
        columns -= 1;
    }
}

/// What the simulated figures of a table stand beside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Figures that were published.
    Published,
    /// Bounds of our own.
    Wanted,
    /// Both: of a figure that nobody published its bound, in brackets.
    Both,
}

impl Expected {
    fn of(rows: &[&ReproducedRow]) -> Expected {
        let published = rows.iter().any(|row| row.published.is_some());
        let wanted = rows.iter().any(|row| row.published.is_none() && row.wanted.is_some());
        match (published, wanted) {
            (_, false) => Expected::Published,
            (false, true) => Expected::Wanted,
            (true, true) => Expected::Both,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Expected::Published => "published",
            Expected::Wanted => "wanted",
            Expected::Both => "published\n(wanted)",
        }
    }
}

fn figures_within(rows: &[&ReproducedRow], sweep: Option<&str>, what_columns: u16) -> Table {
    use Align::{Left, Right};
    let expected = Expected::of(rows);
    let mut table = Table::new(&[
        ("", Left),
        (expected.heading(), Right),
        ("simulated", Right),
        ("ratio", Right),
        ("seeds", Right),
        ("agrees", Left),
    ]);
    table.limit(0, what_columns);
    table.limit(1, WANTED_COLUMNS);
    for row in rows {
        let published = match (row.published, &row.wanted) {
            (Some(published), _) => with_unit(published, row.unit),
            (None, Some(wanted)) if expected == Expected::Wanted => wanted.clone(),
            (None, Some(wanted)) => format!("({wanted})"),
            (None, None) => "-".to_owned(),
        };
        let at = row.place().map_or(String::new(), |at| format!(", {} {at}", sweep.unwrap_or("at")));
        table.row([
            format!("{}{at}", row.what),
            published,
            with_unit(row.simulated, row.unit),
            row.ratio.map_or(String::new(), digits3),
            spread(row),
            agreement(row.agrees, row.unreached.is_some()).to_owned(),
        ]);
    }
    table
}

/// From where to where: of the seeds, or of the mean's interval.
fn spread(row: &ReproducedRow) -> String {
    let (low, high) = (number(row.low, row.unit), number(row.high, row.unit));
    match row.span {
        RowSpan::Seeds => format!("{low} - {high}"),
        RowSpan::Interval => format!("[{low}, {high}]"),
    }
}

fn agreement(agrees: Option<bool>, known: bool) -> &'static str {
    match agrees {
        None => "-",
        Some(true) => "yes",
        Some(false) if known => "known",
        Some(false) => "NO",
    }
}

fn number(value: f64, unit: RowUnit) -> String {
    match unit {
        RowUnit::Count | RowUnit::Nanoseconds => {
            count(if value.abs() < 99.95 { value } else { value.round() })
        }
        RowUnit::Ratio | RowUnit::Microseconds | RowUnit::Milliseconds | RowUnit::Seconds => digits3(value),
    }
}

pub(super) fn with_unit(value: f64, unit: RowUnit) -> String {
    let suffix = match unit {
        RowUnit::Count | RowUnit::Ratio => "",
        RowUnit::Nanoseconds => "ns",
        RowUnit::Microseconds => "us",
        RowUnit::Milliseconds => "ms",
        RowUnit::Seconds => "s",
    };
    format!("{}{suffix}", number(value, unit))
}

/// Where the lines of a sweep over two variants cross.
fn crossing_lines(experiment: &ReproducedExperiment) -> String {
    let Some(sweep) = &experiment.sweep else { return String::new() };
    let line = |crossing: &Crossing<'_>| {
        let [a, b] = crossing.between;
        let at = crossing.at.map_or("nowhere".to_owned(), |at| format!("at {sweep} {at:.0}"));
        wrap(&format!("{}: {a} and {b} cross {at}", crossing.what), "", "  ")
    };
    crossings(experiment).iter().map(line).collect()
}

/// How many figures agree, and the requirements.
fn verdict(experiment: &ReproducedExperiment) -> String {
    let judged = experiment.judged().count();
    let agree = experiment.judged().filter(|row| row.agrees == Some(true)).count();
    let rows = experiment.variants.iter().flat_map(|variant| &variant.rows);
    let reported = rows.filter(|row| row.agrees.is_none() && row.wanted.is_none()).count();
    let mut out = format!("{agree} of {judged} figures agree");
    if reported > 0 {
        out += &format!("; only reported: {reported}");
    }
    out.push('\n');
    for requirement in &experiment.requirements {
        let met = agreement(requirement.met, requirement.unreached.is_some());
        out +=
            &wrap(&format!("{}: {}", requirement.what, share(requirement)), &format!("{met:5} "), "      ");
    }
    out
}

fn share(requirement: &ReproducedRequirement) -> String {
    let ReproducedRequirement { agree, of, share, .. } = requirement;
    let percent = if *of == 0 { 0.0 } else { *agree as f64 * 100.0 / *of as f64 };
    format!("{agree} of {of} ({percent:.0} %; wanted {:.0} %)", share * 100.0)
}

/// Disagreements that are known, by reason.
fn known(experiment: &ReproducedExperiment) -> String {
    let rows = experiment.variants.iter().flat_map(|variant| {
        let disagree = variant.rows.iter().filter(|row| row.agrees == Some(false));
        disagree.map(move |row| (format!("{}, {}", variant.name, row.what), row.unreached.as_ref()))
    });
    let requirements = experiment.requirements.iter().filter(|r| r.met == Some(false));
    let requirements = requirements.map(|r| (r.what.clone(), r.unreached.as_ref()));
    let mut by_reason: Vec<(&String, Vec<String>)> = Vec::new();
    for (what, reason) in rows.chain(requirements) {
        let Some(reason) = reason else { continue };
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, figures)) => figures.push(what),
            None => by_reason.push((reason, vec![what])),
        }
    }
    let paragraph = |(reason, figures): &(&String, Vec<String>)| {
        wrap(&format!("{}: {reason}", figures.join("; ")), "known: ", "       ")
    };
    by_reason.iter().map(paragraph).collect()
}

/// Parameters that no document gives, and how the outcome moves with each.
fn free(experiment: &ReproducedExperiment) -> String {
    let mut out = String::new();
    for parameter in &experiment.free {
        let text = format!("{} = {}: {}", parameter.name, parameter.value, parameter.reason);
        out += &wrap(&text, "free: ", "      ");
        for change in experiment.sensitivity.iter().filter(|s| s.parameter == parameter.name) {
            out += &wrap(&sensitivity(change, &experiment.variants), "      ", "        ");
        }
    }
    out
}

/// One change of a free parameter in a sentence: how many figures still agree, and which moved most.
fn sensitivity(change: &Sensitivity, variants: &[ReproducedVariant]) -> String {
    let of_role = |role: Role| {
        let has_role = |name: &str| variants.iter().any(|v| v.name == name && v.role == role);
        let rows = change.rows.iter().filter(|row| has_role(&row.variant));
        let judged: Vec<bool> = rows.filter_map(|row| row.agrees).collect();
        let agree = judged.iter().filter(|agrees| **agrees).count();
        (!judged.is_empty()).then(|| format!("{agree} of {}", judged.len()))
    };
    let judged = match (of_role(Role::Fitted), of_role(Role::Prediction)) {
        (Some(fitted), Some(predicted)) => format!("{fitted} fitted and {predicted} predicted"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => "0 of 0".to_owned(),
    };
    let mut text = format!("x{}: {judged} single figures agree", change.factor);
    if !change.requirements.is_empty() {
        let sum =
            |count: fn(&ReproducedRequirement) -> u64| change.requirements.iter().map(count).sum::<u64>();
        text += &format!(", {} of {} in groups", sum(|r| r.agree), sum(|r| r.of));
    }
    // What is only reported is named where nothing is wanted of any figure.
    let nothing_wanted = change.rows.iter().all(|row| row.agrees.is_none());
    let counts = |row: &&SensitivityRow| nothing_wanted || row.agrees.is_some();
    let mut moved: Vec<&SensitivityRow> =
        change.rows.iter().filter(counts).filter(|row| row.simulated != row.unchanged).collect();
    // Both are positive or zero; one step added keeps "0 to 1" behind "100 to 400".
    let size = |row: &SensitivityRow| ((row.simulated + 1.0) / (row.unchanged + 1.0)).ln().abs();
    moved.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let named: Vec<String> = moved.iter().take(MOVED).map(|row| moved_row(row)).collect();
    if named.is_empty() { text + "; nothing moves" } else { format!("{text}; most: {}", named.join("; ")) }
}

fn moved_row(row: &SensitivityRow) -> String {
    let at = row.at.map_or(String::new(), |at| format!(" at {at}"));
    let (from, to) = (digits3(row.unchanged), digits3(row.simulated));
    format!("{}, {}{at} {from} to {to}", row.variant, row.what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::WIDTH;
    use schema::example::reproduction as example;

    #[test]
    fn a_report_reads_like_the_document_beside_the_simulation() {
        insta::assert_snapshot!(reproduction(&example::reproduction()));
    }

    #[test]
    fn a_sweep_over_two_variants_says_where_they_cross() {
        let mut swept = example::swept();
        assert_eq!(crossing_lines(&swept), "search cost: before and after cross at cpus 6\n");
        swept.variants[1].rows = swept.variants[0].rows.clone();
        assert_eq!(crossing_lines(&swept), "search cost: before and after cross nowhere\n");
    }

    #[test]
    fn only_disagreements_without_a_reason_are_failures() {
        let failures: Vec<String> =
            example::reproduction().experiments.iter().flat_map(|e| e.failures()).collect();
        assert_eq!(failures, ["after: waiters is 12"]);
    }

    #[test]
    fn a_report_survives_the_round_trip_through_json() {
        let report = example::reproduction();
        assert_eq!(Reproduction::from_json(&report.to_json()).expect("our own JSON"), report);
        let other = report.to_json().replace("schedlab-reproduce/1", "schedlab-reproduce/2");
        assert!(Reproduction::from_json(&other).is_err());
    }

    #[test]
    fn lines_fit_the_width() {
        let mut wide = example::reproduction();
        for row in wide.experiments.iter_mut().flat_map(|e| &mut e.variants).flat_map(|v| &mut v.rows) {
            (row.low, row.high) = (123_456.0, 1_234_567.0);
        }
        for line in [example::reproduction(), wide].iter().map(reproduction).collect::<String>().lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
