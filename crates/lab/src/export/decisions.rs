//! The scheduler's decisions and their reasons, which no event of Linux can tell.

use scheduler::Reason;
use schema::{LogEvent, LogRecord, Pid};
use std::collections::BTreeMap;
use trace::{Annotations, TrackId};

/// An instant for each decision, on the track of the task that it is about; those about an idle task on a
/// track of their own.
pub(super) fn annotations(records: &[LogRecord]) -> Annotations {
    let mut annotations = Annotations::new();
    let mut tracks: BTreeMap<Pid, TrackId> = BTreeMap::new();
    let meanings: BTreeMap<&str, &str> =
        Reason::ALL.iter().map(|reason| (reason.name(), reason.meaning())).collect();
    for record in records {
        let LogEvent::Decision { of: about, reason } = record.event else { continue };
        let track = *tracks.entry(about).or_insert_with(|| match about.0 {
            0 => annotations.track("decisions about idle CPUs", None),
            _ => annotations.task_track(about),
        });
        let cpu = record.cpu.to_string();
        let details = [("why", meanings[reason]), ("on CPU", &cpu)];
        annotations.instant(track, record.time.0, reason, &details);
    }
    annotations
}
