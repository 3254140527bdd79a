//! How far the replays of a sweep's recordings may be trusted.

use crate::plan::Plan;
use lab::{Experiment, ExperimentText, Sources};

/// A sentence for each recording among the loads, of its replay as it was recorded: no axis changes that, but
/// one that names another file.
pub fn of(plan: &Plan, files: &dyn Sources) -> Vec<String> {
    let mut seen: Vec<ExperimentText> = Vec::new();
    let mut verdicts: Vec<String> = Vec::new();
    for point in 0..plan.point_count() {
        let text = plan.work(point * plan.seeds().len()).experiment;
        if seen.iter().any(|known| known.loads == text.loads) {
            continue;
        }
        // What cannot be run has its error in the table.
        if let Ok(experiment) = Experiment::open(&text, files) {
            let new = lab::verdicts(&Experiment { fidelity: true, ..experiment });
            verdicts
                .extend(new.into_iter().filter(|verdict| !verdicts.contains(verdict)).collect::<Vec<_>>());
            seen.push(text);
        }
    }
    verdicts
}
