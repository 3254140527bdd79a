//! Recorded figures beside simulated ones: run by run, then how many of a kind are close enough.

use super::Rows;
use super::head::labelled;
use super::paragraph::{fit, wrap};
use super::table::{Align, Table};
use crate::numbers::{change, digits4, many};
use schema::validation::{
    Claim, ValidatedBound, ValidatedFigure, ValidatedReference, ValidatedRun, Validation,
};

/// Columns for what a figure is.
const WHAT_COLUMNS: u16 = 20;
/// Columns for what is wanted of it.
const BAND_COLUMNS: u16 = 11;
/// Columns for which figures a bound is about.
const BOUND_COLUMNS: u16 = 34;

/// The whole report. Figures that count together only are folded to a line for each run, unless all rows are
/// wanted.
#[must_use]
pub fn validation(validation: &Validation, rows: Rows) -> String {
    let mut head = format!("schedlab {}\n", validation.version);
    if let Some(command) = &validation.command {
        head += &labelled("command", command);
    }
    let mut sections = vec![head];
    sections.extend(validation.references.iter().map(|reference| of_reference(reference, rows)));
    sections.push(bounds(&validation.bounds));
    sections.push(known(validation));
    sections.push(
        "Input: given to the simulation. Reading: the recording, read by us and by the\nfield's own tools. \
         Inference: a replay, or a run with something chosen by the\nrecording. Prediction: no figure of it was used.\n"
            .to_owned(),
    );
    sections.retain(|section| !section.is_empty());
    fit(&sections.join("\n"))
}

fn of_reference(reference: &ValidatedReference, rows: Rows) -> String {
    let about = reference.about.as_ref().map_or(String::new(), |about| format!(": {about}"));
    let runs = reference.runs.iter().map(|run| of_run(run, rows));
    wrap(&format!("{}{about}", reference.name), "", "  ") + &runs.collect::<String>()
}

fn of_run(run: &ValidatedRun, rows: Rows) -> String {
    let seeds = if run.seeds.len() > 1 {
        format!(", {}", many(run.seeds.len() as u64, "seed"))
    } else {
        String::new()
    };
    let mut out = wrap(&format!("{} ({}{seeds})", run.name, run.mode.name()), "  ", "    ");
    if run.loads != [run.name.clone()] {
        out += &wrap(&run.loads.join(" + "), "    ", "      ");
    }
    if !run.settings.is_empty() {
        out += &wrap(&run.settings, "    ", "      ");
    }
    let shown: Vec<&ValidatedFigure> =
        run.figures.iter().filter(|figure| rows == Rows::All || figure.within.is_some()).collect();
    let folded = run.figures.len() - shown.len();
    if let Some(what) = &run.inferred {
        out += &wrap(&format!("inferred: {what}"), "    ", "      ");
    }
    if !shown.is_empty() {
        out += &figures(&shown, rows);
    }
    if folded > 0 {
        out += &wrap(&fold(run, folded), "    ", "      ");
    }
    out
}

/// `32 more figures: 8 input, 4 reading, 20 inference`
fn fold(run: &ValidatedRun, folded: usize) -> String {
    let claims = [Claim::Input, Claim::Reading, Claim::Inference, Claim::Prediction];
    let of = |claim: Claim| {
        let count = run.figures.iter().filter(|f| f.claim == claim && f.within.is_none()).count();
        (count > 0).then(|| format!("{count} {}", claim.name()))
    };
    let parts: Vec<String> = claims.into_iter().filter_map(of).collect();
    format!("{} that count with others of their kind: {}", many(folded as u64, "figure"), parts.join(", "))
}

/// A line for each; with all rows also the least and the most of repetitions and seeds, where there were
/// several.
fn figures(figures: &[&ValidatedFigure], rows: Rows) -> String {
    let mut table = Table::new(&[
        ("figure", Align::Left),
        ("recorded", Align::Right),
        ("simulated", Align::Right),
        ("off", Align::Right),
        ("band", Align::Left),
        ("claim", Align::Left),
        ("", Align::Left),
    ]);
    table.limit(0, WHAT_COLUMNS);
    table.limit(4, BAND_COLUMNS);
    for figure in figures {
        let unit = if figure.unit.is_empty() { String::new() } else { format!(", {}", figure.unit) };
        let verdict = match figure.within {
            None => "",
            Some(true) if figure.unreached.is_some() => "WITHIN",
            Some(true) => "within",
            Some(false) if figure.unreached.is_some() => "known",
            Some(false) => "MISSED",
        };
        table.row([
            format!("{}{unit}", figure.name()),
            recorded(figure),
            digits4(figure.simulated),
            figure.off.map_or(String::new(), change),
            figure.band.clone().unwrap_or_default(),
            figure.claim.name().to_owned(),
            verdict.to_owned(),
        ]);
        if rows == Rows::All && (figure.recorded_low.is_some() || figure.low < figure.high) {
            let seeds = |value: f64| Some(value).filter(|_| figure.low < figure.high);
            table.row(spread("  least", figure.recorded_low, seeds(figure.low)));
            table.row(spread("  most", figure.recorded_high, seeds(figure.high)));
        }
    }
    table.render()
}

fn spread(what: &str, recorded: Option<f64>, simulated: Option<f64>) -> [String; 7] {
    let [recorded, simulated] = [recorded, simulated].map(|value| value.map_or_else(String::new, digits4));
    let nothing = String::new;
    [what.to_owned(), recorded, simulated, nothing(), nothing(), nothing(), nothing()]
}

fn recorded(figure: &ValidatedFigure) -> String {
    figure.recorded.map_or("-".to_owned(), digits4)
}

fn bounds(bounds: &[ValidatedBound]) -> String {
    let judged: Vec<&ValidatedBound> = bounds.iter().filter(|bound| bound.of > 0).collect();
    if judged.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("figures of a kind", Align::Left),
        ("within", Align::Left),
        ("wanted", Align::Right),
        ("reached", Align::Right),
        ("of", Align::Right),
        ("", Align::Left),
    ]);
    table.limit(0, BOUND_COLUMNS);
    table.limit(1, BAND_COLUMNS);
    for bound in judged {
        let verdict = match bound.met {
            Some(false) if bound.unreached.is_some() => "known",
            Some(false) => "MISSED",
            _ => "",
        };
        table.row([
            bound.what.clone(),
            bound.within.clone(),
            format!("{:.0}%", 100.0 * bound.wanted),
            format!("{:.1}%", 100.0 * bound.share()),
            bound.of.to_string(),
            verdict.to_owned(),
        ]);
    }
    table.render()
}

/// Why what is not as wanted is known not to be.
fn known(validation: &Validation) -> String {
    let of_figures = validation.figures().filter(|(_, _, figure)| figure.within == Some(false));
    let figures = of_figures.filter_map(|(reference, run, figure)| {
        let why = figure.unreached.as_ref()?;
        Some(format!("{reference}, {}, {}: {why}", run.name, figure.name()))
    });
    let missed = validation.bounds.iter().filter(|bound| bound.met == Some(false));
    let bounds = missed.filter_map(|bound| Some(format!("{}: {}", bound.what, bound.unreached.as_ref()?)));
    let lines: Vec<String> = figures.chain(bounds).map(|line| wrap(&line, "  ", "    ")).collect();
    if lines.is_empty() { String::new() } else { format!("Known not to be as wanted:\n{}", lines.concat()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn the_report_fits_the_width_and_says_each_claim_and_verdict() {
        let example = example::validation::validation();
        for rows in [Rows::Folded, Rows::All] {
            let text = validation(&example, rows);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            for word in ["inference", "known", "56 to 68", "85%", "75.0%", "nobody knows the fourth"] {
                assert!(text.contains(word), "no {word} in\n{text}");
            }
            assert!(!text.contains("I/O"), "nothing was judged: {text}");
            assert_eq!(text.contains("rr1:8039"), rows == Rows::All, "{text}");
            let spread = |row: &str| text.lines().find(|line| line.trim_start().starts_with(row));
            let has = |row, figures: [&str; 2]| {
                spread(row).is_some_and(|line| line.split_whitespace().skip(1).eq(figures))
            };
            let all = has("least ", ["60", "76"]) && has("most ", ["68", "84"]);
            assert_eq!(all, rows == Rows::All, "of repetitions and of seeds: {text}");
        }
        let mut missed = example.clone();
        missed.references[0].runs[0].figures[0].unreached = None;
        assert!(validation(&missed, Rows::Folded).contains("MISSED"));
        assert_eq!(missed.failures().len(), 1);
        let mut outdated = example;
        outdated.references[0].runs[0].figures[0].within = Some(true);
        assert!(validation(&outdated, Rows::Folded).contains("WITHIN"));
        assert!(outdated.failures()[0].ends_with("the reference says why it is not"));
    }
}
