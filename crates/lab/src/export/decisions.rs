//! The scheduler's decisions and their reasons, which no event of Linux can tell.

use crate::experiment::Run;
use machine::RecordKind;
use std::collections::BTreeMap;
use trace::{Annotations, Pid, TrackId};

/// An instant for each decision, on the track of the task that it is about; those about an idle task on a
/// track of their own.
pub(super) fn annotations(run: &Run) -> Annotations {
    let mut annotations = Annotations::new();
    let mut tracks: BTreeMap<scheduler::Pid, TrackId> = BTreeMap::new();
    for record in &run.records {
        let RecordKind::Decision { pid: about, reason } = record.kind else { continue };
        let track = *tracks.entry(about).or_insert_with(|| match about.0 {
            0 => annotations.track("decisions about idle CPUs", None),
            _ => annotations.task_track(Pid(about.0)),
        });
        let cpu = record.cpu.to_string();
        let details = [("why", reason.meaning()), ("on CPU", &cpu)];
        annotations.instant(track, record.time.0, reason.name(), &details);
    }
    annotations
}
