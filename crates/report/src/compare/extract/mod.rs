//! The figures of a run, in a fixed order: what the loads report, tasks by class, the machine, tasks by name.

mod machine;
mod tasks;

use schema::{Figures, Measurement, RunResult};

/// All figures of a run that can be compared. Runs of the same loads give the same list, except for figures
/// that a run may lack (the time of a load that did not finish) and for tasks that only one of them has.
#[must_use]
pub fn measure(run: &RunResult) -> Vec<Measurement> {
    let mut figures = Figures::default();
    // What loads report is of the whole run.
    if run.window.is_none() {
        schema::measure_loads(run, &mut figures);
    }
    tasks::measure_classes(run, &mut figures);
    machine::measure(run, &mut figures);
    tasks::measure_names(run, &mut figures);
    figures.into_list()
}

#[cfg(test)]
mod tests;
