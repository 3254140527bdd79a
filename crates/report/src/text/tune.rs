//! What a tuning says: the answer in words, how to set it, what it costs elsewhere, then what was tried.

use super::compare::{configuration, ranges, variant_section};
use super::head::labelled;
use super::paragraph::{fit, wrap};
use super::table::{Align, Table};
use super::{Rows, notes};
use crate::numbers::{change, count, duration, many};
use schema::{
    Metric, TuneDirection, TuneEffect, TuneFigure, TuneHeld, TuneResult, TuneRound, TuneState, TuneStep,
    TuneTrial, TuneVerdict, Unit,
};

/// So many values and combinations are shown where not all are wanted.
const FOLDED: usize = 12;
/// Columns for settings.
const SETTING_COLUMNS: u16 = 36;

/// Head, answer, how to set it, how far to trust it, what changes elsewhere, what each value does, what
/// combinations do.
#[must_use]
pub fn tuning(result: &TuneResult, rows: Rows) -> String {
    let mut sections = vec![head(result), answer(result), how_to(&result.how_to), trust(&result.trust)];
    sections.extend(elsewhere(result, rows));
    sections.push(screen(result, rows));
    sections.push(rounds(result, rows));
    sections.push(method());
    sections.push(notes(&result.notes));
    sections.retain(|section| !section.is_empty());
    fit(&sections.join("\n"))
}

fn head(result: &TuneResult) -> String {
    let mut out = format!("schedlab {}, {}\n", result.version, many(result.runs, "run"));
    for load in &result.base.loads {
        out += &labelled("load", load);
    }
    out += &labelled("base", &configuration(&result.base));
    out += &labelled(
        "goal",
        &format!("{} {}", direction(result.goal.direction), named(&result.goal.text, &result.goal.metric)),
    );
    for constraint in &result.constraints {
        out += &labelled("provided", &named(&constraint.text, &constraint.metric));
    }
    let values: usize = result.knobs.iter().map(|knob| knob.values.len()).sum();
    out += &labelled(
        "over",
        &format!("{}, {}", many(result.knobs.len() as u64, "knob"), many(values as u64, "value")),
    );
    if let Some(command) = &result.command {
        out += &labelled("command", command);
    }
    out
}

/// As it was given, and in brackets what it means, where that is something else.
pub(super) fn named(text: &str, metric: &Metric) -> String {
    if text.contains(&metric.label) || text.contains(&metric.key) {
        text.to_owned()
    } else {
        format!("{text} ({})", metric.label)
    }
}

pub(super) fn direction(direction: TuneDirection) -> &'static str {
    match direction {
        TuneDirection::Minimize => "minimize",
        TuneDirection::Maximize => "maximize",
    }
}

fn answer(result: &TuneResult) -> String {
    let settings = result.chosen.join(" and ");
    let first = match result.verdict {
        TuneVerdict::Found => format!("set {settings}"),
        TuneVerdict::NothingHelps => {
            "nothing helps: no value of any knob brings the goal nearer than chance could".to_owned()
        }
        TuneVerdict::BreaksConstraints => "nothing: what helps breaks a constraint".to_owned(),
        TuneVerdict::NotConfirmed => {
            format!("nothing that is sure: {settings} looked best, and fresh seeds do not confirm it")
        }
    };
    let mut out = wrap(&format!("answer: {first}"), "", "  ");
    let Some(confirmed) = &result.confirmed else { return out };
    if let Some(figure) = &confirmed.goal {
        let seeds =
            format!("{} ({})", many(confirmed.seeds.len() as u64, "fresh seed"), ranges(&confirmed.seeds));
        out += &wrap(&format!("{}, over {seeds}", sentence(&result.goal.metric, figure)), "  ", "    ");
    }
    for (constraint, held) in result.constraints.iter().zip(&confirmed.constraints) {
        out += &wrap(&format!("{}: {}", constraint.text, of_bound(&constraint.metric, held)), "  ", "    ");
    }
    out
}

/// `cyclictest worst latency: from 606us to 410us, -32.3% (95% interval of the difference ...)`.
fn sentence(metric: &Metric, figure: &TuneFigure) -> String {
    let value = |value| value_of(metric, value);
    let share = share(figure).map_or(String::new(), |share| format!(", {share}"));
    let interval = figure.interval.map_or_else(
        || "the same difference under every seed".to_owned(),
        |interval| {
            format!(
                "95% interval of the difference {} to {}",
                signed(metric, interval.low),
                signed(metric, interval.high)
            )
        },
    );
    format!("{}: from {} to {}{share} ({interval})", metric.label, value(figure.base), value(figure.with))
}

fn of_bound(metric: &Metric, held: &TuneHeld) -> String {
    let state = match held.state {
        TuneState::Met => "holds",
        TuneState::Open => "not sure",
        TuneState::Broken => "broken",
    };
    let (with, bound) = (value_of(metric, held.figure.with), value_of(metric, held.bound));
    format!("{state}, {with} where the bound is {bound}")
}

fn how_to(steps: &[TuneStep]) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let mut out = "to set it on such a kernel, as root:\n".to_owned();
    for (number, step) in steps.iter().enumerate() {
        for command in &step.commands {
            out += &wrap(command, "  ", "    ");
        }
        // What holds of several, one below the other, is said once.
        if steps.get(number + 1).is_some_and(|next| next.note == step.note && !next.commands.is_empty()) {
            continue;
        }
        let subject = if step.commands.is_empty() { format!("{}: ", step.setting) } else { "  ".to_owned() };
        if let Some(note) = &step.note {
            out += &wrap(&format!("{subject}{note}"), "  ", "    ");
        }
    }
    out
}

fn trust(sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let mut out = "how far to trust it (docs/accuracy.md):\n".to_owned();
    for sentence in sentences {
        out += &wrap(sentence, "  ", "  ");
    }
    out
}

fn elsewhere(result: &TuneResult, rows: Rows) -> Option<String> {
    let comparison = result.comparison.as_ref()?;
    let variant = comparison.variants.first()?;
    Some(variant_section(comparison, variant, rows))
}

fn screen(result: &TuneResult, rows: Rows) -> String {
    let mut shown: Vec<&TuneTrial> = result.screen.iter().collect();
    let told = |trial: &&TuneTrial| matches!(trial.effect, TuneEffect::Helps | TuneEffect::Harms);
    if rows == Rows::Folded {
        shown.retain(told);
    }
    shown.sort_by(|a, b| towards(result, a).total_cmp(&towards(result, b)));
    if rows == Rows::Folded {
        shown.truncate(FOLDED);
    }
    // They were run with fewer seeds, and the base's figure under these is another one.
    let inert: Vec<&TuneTrial> = shown.extract_if(.., |trial| trial.effect == TuneEffect::Inert).collect();
    let seeds = result.screen.iter().map(|trial| trial.seeds.len()).max().unwrap_or(0);
    let mut out = format!("each value alone, {}:\n", many(seeds as u64, "seed"));
    if !shown.is_empty() {
        out += &table(&result.goal.metric, result, &shown);
    }
    if let Some(seeds) = inert.iter().map(|trial| trial.seeds.len()).max() {
        let names: Vec<String> = inert.iter().map(|trial| trial.settings.join(" and ")).collect();
        let told = format!("changed no figure at all, {}: {}", many(seeds as u64, "seed"), names.join(", "));
        out += &wrap(&told, "", "  ");
    }
    let number = |effect: TuneEffect| result.screen.iter().filter(|trial| trial.effect == effect).count();
    let rest = [
        (result.screen.iter().filter(told).count().saturating_sub(shown.len()), "more that help or harm"),
        (number(TuneEffect::NotTold), "not told from chance"),
        (number(TuneEffect::Inert), "changed no figure at all"),
        (number(TuneEffect::Failed), "could not be run"),
    ];
    let rest: Vec<String> = rest
        .iter()
        .filter(|(n, _)| *n > 0 && rows == Rows::Folded)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
    if !rest.is_empty() {
        out += &wrap(&format!("{}; --full shows them", rest.join(", ")), "", "  ");
    }
    out
}

fn rounds(result: &TuneResult, rows: Rows) -> String {
    let shown: Vec<&TuneRound> = match rows {
        Rows::All => result.rounds.iter().collect(),
        Rows::Folded => result.rounds.last().into_iter().collect(),
    };
    let mut out = String::new();
    for round in shown {
        let most = if rows == Rows::All { round.trials.len() } else { FOLDED };
        let trials: Vec<&TuneTrial> = round.trials.iter().take(most).collect();
        out += &format!("combinations, {}, the best first:\n", many(round.seeds, "seed"));
        out += &table(&result.goal.metric, result, &trials);
    }
    out
}

fn method() -> String {
    wrap(
        "+ helps, - harms, ! breaks a constraint, ? may break one. Differences are paired by seed, with a 95% interval. \
         Helps, alone: the interval excludes 0, and the finding is among those of which 5% are expected to be chance \
         (Benjamini-Hochberg, over all values). The answer counts on fresh seeds only.",
        "",
        "",
    )
}

/// The change of the goal, smaller where it is better.
fn towards(result: &TuneResult, trial: &TuneTrial) -> f64 {
    let difference = trial.goal.as_ref().map_or(f64::INFINITY, |figure| figure.difference);
    match result.goal.direction {
        TuneDirection::Minimize => difference,
        TuneDirection::Maximize if difference.is_finite() => -difference,
        TuneDirection::Maximize => difference,
    }
}

fn table(metric: &Metric, result: &TuneResult, trials: &[&TuneTrial]) -> String {
    use Align::{Left, Right};
    let columns = [
        ("", Left),
        ("setting", Left),
        ("base", Right),
        ("with", Right),
        ("95% interval", Right),
        ("change", Right),
    ];
    let mut table = Table::new(&columns);
    table.limit(1, SETTING_COLUMNS);
    for trial in trials {
        let cells = |figure: &TuneFigure| {
            let interval = figure.interval.map_or("-".to_owned(), |interval| {
                format!("{} to {}", signed(metric, interval.low), signed(metric, interval.high))
            });
            let share = share(figure).unwrap_or_else(|| "-".to_owned());
            vec![value_of(metric, figure.base), value_of(metric, figure.with), interval, share]
        };
        let none = || vec!["-".to_owned(); 4];
        let of_goal = trial.goal.as_ref().map_or_else(none, cells);
        let setting = match &trial.error {
            Some(error) => format!("{}: {error}", trial.settings.join(", ")),
            None => trial.settings.join(", "),
        };
        table.row([mark(trial, result), setting].into_iter().chain(of_goal));
    }
    table.render()
}

fn mark(trial: &TuneTrial, result: &TuneResult) -> String {
    let worst = trial.constraints.iter().map(|held| held.state).max();
    let effect = match trial.effect {
        TuneEffect::Helps => "+",
        TuneEffect::Harms => "-",
        TuneEffect::NotTold | TuneEffect::Inert | TuneEffect::Failed => "",
    };
    let held = match worst.filter(|_| !result.constraints.is_empty()) {
        Some(TuneState::Broken) => "!",
        Some(TuneState::Open) => "?",
        Some(TuneState::Met) | None => "",
    };
    format!("{effect}{held}")
}

fn share(figure: &TuneFigure) -> Option<String> {
    (figure.base > 0.0).then(|| change(figure.difference / figure.base))
}

fn value_of(metric: &Metric, value: f64) -> String {
    match metric.unit {
        Unit::Count => count(value),
        Unit::Nanoseconds => duration(value),
    }
}

fn signed(metric: &Metric, difference: f64) -> String {
    let text = value_of(metric, difference);
    if difference > 0.0 { format!("+{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::WIDTH;
    use schema::example;

    #[test]
    fn a_tuning_begins_with_the_answer() {
        insta::assert_snapshot!(tuning(&example::tuning(), Rows::All));
    }

    /// What changed nothing was run with two seeds, so the base has another figure there.
    #[test]
    fn a_table_has_one_base_and_one_number_of_seeds() {
        let mut result = example::tuning();
        let mut goal = result.screen[0].goal.clone().expect("it was run");
        (goal.base, goal.with, goal.difference, goal.interval) = (762_000.0, 762_000.0, 0.0, None);
        let inert = &mut result.screen[1];
        (inert.goal, inert.seeds) = (Some(goal), vec![1, 2]);
        let text = tuning(&result, Rows::All);
        assert!(text.contains("changed no figure at all, 2 seeds: NO_TTWU_QUEUE\n"), "{text}");
        assert!(!text.contains("762us"), "{text}");
        assert!(tuning(&result, Rows::Folded).contains("1 changed no figure at all, "), "{text}");
    }

    #[test]
    fn every_verdict_fits_the_width() {
        let mut result = example::tuning();
        result.chosen = vec!["sched_migration_cost_ns=2000000".to_owned(); 4];
        result.screen.iter_mut().for_each(|trial| trial.settings = result.chosen.clone());
        for (verdict, said) in [
            (TuneVerdict::Found, "answer: set sched_migration_cost_ns"),
            (TuneVerdict::NothingHelps, "answer: nothing helps"),
            (TuneVerdict::BreaksConstraints, "answer: nothing: what helps breaks"),
            (TuneVerdict::NotConfirmed, "fresh seeds do not"),
        ] {
            result.verdict = verdict;
            for rows in [Rows::All, Rows::Folded] {
                let text = tuning(&result, rows);
                assert!(text.contains(said), "{text}");
                assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
            }
        }
    }
}
