//! The figures of a run, in a fixed order: what the loads report, task groups, tasks by class, the machine,
//! tasks by name.

mod groups;
mod machine;
mod tasks;

use schema::why::LateBy;
use schema::{Better, Figure, Figures, Fold, Measurement, RunResult};
use std::collections::{BTreeMap, BTreeSet};

/// All figures of a run that can be compared. Runs of the same loads give the same list, except for figures
/// that a run may lack (the time of a load that did not finish) and for tasks that only one of them has.
#[must_use]
pub fn measure(run: &RunResult) -> Vec<Measurement> {
    let mut figures = Figures::default();
    // What loads report is of the whole run.
    if run.window.is_none() {
        schema::measure_loads(run, &mut figures);
    }
    groups::measure(run, &mut figures);
    tasks::measure_classes(run, &mut figures);
    machine::measure(run, &mut figures);
    tasks::measure_names(run, &mut figures);
    late_by(run, &mut figures);
    figures.into_list()
}

/// What latencies are due to, in the mean of a wakeup: a load that is through with more work in the same time
/// is woken more often.
fn late_by(run: &RunResult, figures: &mut Figures) {
    for one in &run.late_by {
        let LateBy { victim, due_to, .. } = one;
        figures.group(&format!("{LATE_BY}{victim}"), &format!("{victim} late, a wakeup, by"));
        figures.nanos(due_to, due_to, Better::Lower, one.per_wakeup_ns());
    }
}

/// So begin the keys of what latencies are due to.
const LATE_BY: &str = "late_by.";

/// A cause that one run has and another has not took no time in that other one: it gets a figure of 0 there.
pub(super) fn count_absent_causes(runs: &mut [&mut Vec<Measurement>]) {
    let is_cause = |figure: &&Measurement| figure.metric.key.starts_with(LATE_BY);
    let all = runs.iter().flat_map(|run| run.iter().filter(is_cause));
    let causes: BTreeMap<String, Measurement> =
        all.map(|figure| (figure.metric.key.clone(), Measurement { value: 0, ..figure.clone() })).collect();
    for run in runs {
        let there: BTreeSet<String> = run.iter().map(|figure| figure.metric.key.clone()).collect();
        run.extend(causes.values().filter(|figure| !there.contains(&figure.metric.key)).cloned());
    }
}

/// Those that are metrics by themselves, in their order, of all parts together.
fn add<T>(figures: &mut Figures, declared: &[Figure<T>], parts: &[&T]) {
    let mut declared: Vec<(u8, &Figure<T>)> =
        declared.iter().filter_map(|figure| Some((figure.place?, figure))).collect();
    declared.sort_by_key(|(place, _)| *place);
    for (_, figure) in declared {
        let values = parts.iter().map(|part| (figure.of)(part));
        let value = match figure.fold {
            Fold::Sum => values.sum(),
            Fold::Max => values.max().unwrap_or(0),
        };
        figures.declared(figure, value);
    }
}

#[cfg(test)]
mod tests;
