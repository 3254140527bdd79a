//! docs/accuracy.md.

use schema::Question;
use schema::validation::{ValidatedBound, ValidatedFigure, ValidatedRun, Validation};
use std::fmt::Write;

use crate::numbers::{change, digits4};
use crate::replay::{Limits, limits};
use crate::reproduce::{Claims, FiguresOfVariant};

const HEAD: &str = "\
<!-- Made by `schedlab validate --save validation/results.json --page docs/accuracy.md`; change what it measures, not this. -->

# How true it is

What schedlab says beside what real kernels did: every figure of the recordings that come with it (`validation/`), and whether it is as
close as was wanted before the run. `schedlab validate` measures it anew, `schedlab validate FOLDER` does so on recordings of your own
([validation/README.md](../validation/README.md)).

What agreement says depends on what was known. An *input* was given to the simulation, or a parameter was chosen by it: nothing. A
*reading* is the recording as we read it beside the field's own tools. An *inference* is a replay, where what the recording does not say was
inferred, or the run of a program beside which something else ran that was chosen with its figures in view (which these are stands below the
bounds). A *prediction* used no figure of what it is compared with; but forms of the model were held against some of them before one stayed,
six of the timers' against cyclictest's figures ([validation/README.md](../validation/README.md)).

## Which questions you can trust it with today

Of the figures that answer a question, the median is so far off (of several bounds about it, the worst); the bounds below say which these
are. \"Yes\": all of these bounds are reached. Else the median decides: up to 15 % off, *mostly*; up to 30 %, *with care*.

| question | typically off | figures | answer |
|---|---|---|---|
";

const BOUNDS: &str = "
## Bounds

Of all figures of a kind, this share is to be this close. Where that is not reached, the reason stands below.

| figures | close is | wanted | reached | of | median off | |
|---|---|---|---|---|---|---|
";

const FIGURES: &str = "
## Figures with a band of their own

What was recorded, from where to where the simulation may be (stated in the reference, with the recorded spread), and where it is: the
median over the seeds.

| reference | run | figure | recorded | band | simulated | off | |
|---|---|---|---|---|---|---|---|
";

const CLAIMS: &str = "
## Published experiments: what is fitted, assumed and predicted

Of each file in `experiments/` ([how they are written](../experiments/README.md), [what came out](results/README.md)): the parameters that
were chosen by published figures, and by which; how many figures of predictions have a bound; how many figures and groups, of all, are
known to miss theirs; and the parameters that no document gives and no figure chose (`--sensitivity` halves and doubles them). `schedlab
reproduce NAME --fit` chooses again what is not said to be chosen by hand.

| experiment | fitted | by | predicted | known to miss | assumed |
|---|---|---|---|---|---|
";

const EXACT: &str = "
## What is exact

Some of the model is compared with what is known without a recording, in tests that run with all others:

| what | with what | how close |
|---|---|---|
| fixed priorities, partitioned | response-time analysis | to the nanosecond |
| global rate-monotonic priorities | Dhall's effect: late by three epsilon | to the nanosecond |
| SCHED_FIFO, SCHED_RR | closed forms | to the nanosecond |
| shares under EEVDF, CFS | lag bounds: a request; a period and a tick | within the bound at every switch |
| SCHED_DEADLINE | budgets of a constant bandwidth server; earliest deadline first | to the nanosecond where ticks divide the budget; no miss |
| profile 3.3, real-time | the kernel's 3.3 scheduler, compiled as a program (LinSched) | 0.2 % of wakeups, switches, migrations on 2 to 40 CPUs |
| every kernel from 2.6.25 on | rt-migrate-test, pi_stress, hackbench -F: their own rules | passed on 2 to 64 CPUs; the first two failed without push and pull, without inheritance |

They are in `crates/machine/tests/it/theory` and `crates/lab/tests/it` (`oracle.rs`, `rt_tests.rs`).
";

const VERDICT: &str = "
## The verdict on a replay

`run` and `compare` say of each replay how far it is from its recording, and what that is good for. These limits are those of the same
file as the bounds above, `validation/bounds.toml`; a bound may refer to them, so that both move together. Distances are relative to the recorded
figure and add up task by task. With less than this much in the recording, no answer is given.

| question | good up to | fair up to | least |
|---|---|---|---|
";

/// The page about this validation, and about what published experiments claim.
#[must_use]
pub fn page(validation: &Validation, experiments: &[Claims]) -> String {
    let mut out = HEAD.to_owned();
    questions(&mut out, &validation.bounds);
    out += BOUNDS;
    for bound in &validation.bounds {
        bound_line(&mut out, bound);
    }
    unreached(&mut out, validation);
    inferred(&mut out, validation);
    out += FIGURES;
    for (reference, run, figure) in validation.figures().filter(|(_, _, figure)| figure.within.is_some()) {
        figure_line(&mut out, reference, run, figure);
    }
    out += CLAIMS;
    experiments.iter().for_each(|claims| claims_line(&mut out, claims));
    outcomes(&mut out, experiments);
    out += EXACT;
    out += VERDICT;
    for question in Question::ALL {
        let Limits { good_permille, fair_permille, least } = limits(question);
        let percent = |permille: u64| digits4(permille as f64 / 10.0);
        let (name, good, fair) = (question.name(), percent(good_permille), percent(fair_permille));
        line(&mut out, &format!("| {name} | {good} % | {fair} % | {least} {} |", counted(question)));
    }
    out
}

fn claims_line(out: &mut String, claims: &Claims) {
    let Claims { name, fitted, by, by_hand, as_fitted_in, assumed, predicted, missed, .. } = claims;
    let mut chosen = fitted.clone();
    chosen.extend(by_hand.iter().map(|of| format!("{} (by hand)", of.parameter)));
    chosen.extend(as_fitted_in.iter().map(|other| format!("as in {other}")));
    let chosen = if chosen.is_empty() { "nothing".to_owned() } else { chosen.join("; ") };
    let figures = |of: &FiguresOfVariant| {
        let s = if of.figures == 1 { "" } else { "s" };
        format!("{} figure{s} of {}", of.figures, of.variant)
    };
    let mut by: Vec<String> = by.iter().map(figures).collect();
    by.extend(by_hand.iter().map(|of| of.to.clone()));
    by.dedup();
    let (by, assumed, missed) = (by.join("; "), assumed.join("; "), missed.len());
    line(out, &format!("| {name} | {chosen} | {by} | {predicted} | {missed} | {assumed} |"));
}

/// What came of the fits.
fn outcomes(out: &mut String, experiments: &[Claims]) {
    let told: Vec<(&str, &str)> =
        experiments.iter().filter_map(|of| Some((of.name.as_str(), of.outcome.as_deref()?))).collect();
    if told.is_empty() {
        return;
    }
    *out += "\nWhat came of the fits:\n\n";
    for (name, outcome) in told {
        line(out, &format!("- {name}: {outcome}"));
    }
}

fn line(out: &mut String, text: &str) {
    let _infallible = writeln!(out, "{text}");
}

/// What is counted to tell whether there is enough of it.
fn counted(question: Question) -> &'static str {
    match question {
        Question::CpuTime | Question::FinishingTime => "us",
        Question::Switches | Question::Order => "switches",
        Question::Latency => "wakeups",
    }
}

/// Each question once: with all bounds that are about it.
fn questions(out: &mut String, bounds: &[ValidatedBound]) {
    let mut told: Vec<&str> = Vec::new();
    for bound in bounds {
        let question = bound.question.as_str();
        if told.contains(&question) {
            continue;
        }
        told.push(question);
        let about: Vec<&ValidatedBound> =
            bounds.iter().filter(|bound| bound.question == question && bound.of > 0).collect();
        let figures: u64 = about.iter().map(|bound| bound.of).sum();
        let worst = about.iter().filter_map(|bound| bound.median_off).fold(0.0, f64::max);
        let off = if about.is_empty() { "-".to_owned() } else { format!("{:.1} %", 100.0 * worst) };
        line(out, &format!("| {question} | {off} | {figures} | {} |", answer(&about, worst)));
    }
}

/// Whether an answer can be trusted: where bounds are missed, by how far the typical figure is off, with the
/// limits by which the switches of a replay are called good and fair.
fn answer(bounds: &[&ValidatedBound], typically_off: f64) -> &'static str {
    let Limits { good_permille, fair_permille, .. } = limits(Question::Switches);
    let permille = 1e3 * typically_off;
    match bounds.iter().all(|bound| bound.met == Some(true)) {
        _ if bounds.is_empty() => "not measured",
        true => "yes, within the bounds",
        false if permille <= good_permille as f64 => "mostly: the typical figure is close, too many are not",
        false if permille <= fair_permille as f64 => "with care: large changes only",
        false => "**no**: order of magnitude only",
    }
}

fn bound_line(out: &mut String, bound: &ValidatedBound) {
    let verdict = match bound.met {
        None if bound.of == 0 => "not measured",
        None => "too few to tell",
        Some(true) => "reached",
        Some(false) => "**not reached**",
    };
    let share = if bound.of > 0 { format!("{:.1} %", 100.0 * bound.share()) } else { "-".to_owned() };
    let off = bound.median_off.map_or("-".to_owned(), |off| format!("{:.1} %", 100.0 * off));
    let ValidatedBound { what, within, wanted, of, .. } = bound;
    line(
        out,
        &format!("| {what} | {within} | {:.0} % | {share} | {of} | {off} | {verdict} |", 100.0 * wanted),
    );
}

/// Why bounds are missed, and by how much.
fn unreached(out: &mut String, validation: &Validation) {
    let missed: Vec<&ValidatedBound> =
        validation.bounds.iter().filter(|bound| bound.met == Some(false)).collect();
    if missed.is_empty() {
        return;
    }
    *out += "\nNot reached, and why:\n\n";
    for bound in missed {
        let why = bound.unreached.as_deref().unwrap_or("nobody knows yet");
        line(out, &format!("- {}: {why}", bound.what));
    }
}

/// Which programs were run with something that was chosen by the recording, those with the same together.
fn inferred(out: &mut String, validation: &Validation) {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for reference in &validation.references {
        for run in &reference.runs {
            let Some(what) = run.inferred.as_deref() else { continue };
            let name = if reference.runs.len() > 1 {
                format!("{}, {}", reference.name, run.name)
            } else {
                reference.name.clone()
            };
            match told.iter_mut().find(|(of_others, _)| *of_others == what) {
                Some((_, names)) => names.push(name),
                None => told.push((what, vec![name])),
            }
        }
    }
    if told.is_empty() {
        return;
    }
    *out += "\nInferences, no predictions, though a program was run (they count above with the others of \
             their kind):\n\n";
    for (what, names) in told {
        line(out, &format!("- {}: {what}", names.join("; ")));
    }
}

fn figure_line(out: &mut String, reference: &str, run: &ValidatedRun, figure: &ValidatedFigure) {
    let unit = if figure.unit.is_empty() { String::new() } else { format!(" {}", figure.unit) };
    let recorded = match (figure.recorded, figure.recorded_low, figure.recorded_high) {
        (_, Some(low), Some(high)) => format!("{} to {}{unit}", digits4(low), digits4(high)),
        (Some(recorded), ..) => format!("{}{unit}", digits4(recorded)),
        _ => "-".to_owned(),
    };
    let verdict = match (figure.within, &figure.unreached) {
        (Some(true), _) => "within".to_owned(),
        (_, Some(why)) => format!("**missed**: {why}"),
        _ => "**missed**".to_owned(),
    };
    let (name, band) = (figure.name(), figure.band.clone().unwrap_or_default());
    let (simulated, off) = (digits4(figure.simulated), figure.off.map_or(String::new(), change));
    let run = &run.name;
    line(
        out,
        &format!(
            "| {reference} | {run} | {name} | {recorded} | {band} | {simulated}{unit} | {off} | {verdict} |"
        ),
    );
}
