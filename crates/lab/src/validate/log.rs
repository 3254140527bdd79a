//! A log, read event by event.

use schema::{Log, LogEvent, Nanos, Pid};
use std::collections::BTreeMap;
use workload::replay::TaskSelector;

/// The command names of the moment.
pub(super) struct Names<'l>(BTreeMap<Pid, &'l str>);

impl<'l> Names<'l> {
    /// As all tasks begin.
    pub fn of(log: &'l Log) -> Names<'l> {
        Names(log.head.tasks.iter().map(|task| (task.pid, task.comm.as_str())).collect())
    }

    /// Takes notice of a new name.
    pub fn see(&mut self, event: &'l LogEvent) {
        if let LogEvent::Comm { of, comm } = event {
            self.0.insert(*of, comm);
        }
    }

    /// Whether a task is meant by its name; the idle task never is.
    pub fn is(&self, whom: &TaskSelector, pid: Pid) -> bool {
        self.0.get(&pid).is_some_and(|comm| whom.matches(pid.0.unsigned_abs(), comm))
    }
}

/// Milliseconds since the start of the run.
pub(super) fn millis(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}
