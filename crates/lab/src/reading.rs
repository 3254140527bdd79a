//! How loads are read from files.

use crate::error::Error;
use crate::loads::LoadSpec;
use crate::task_options::TaskOptions;
use machine::Window;
use schema::{FileText, RecordedGroups, RecordedLocks, RtAppDialect, WakeupCosts};
use workload::replay::Replay;

/// How to read files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// Dialect of rt-app files.
    pub dialect: RtAppDialect,
    /// What waits for locks are in replays of recordings.
    pub locks: RecordedLocks,
    /// Whether tasks of recordings are in the groups in which they were.
    pub groups: RecordedGroups,
    /// What the user says of single tasks of recordings.
    pub tasks: TaskOptions,
    /// What decides how long replays take from a wakeup to the woken task.
    pub wakeup_costs: WakeupCosts,
    /// The stretch of a run that is told of, and of recordings with which it is compared.
    pub window: Option<Window>,
}

impl Reading {
    /// Makes sure that what is said of recordings is said of one that is there.
    ///
    /// # Errors
    /// A task that none of the loads has; mutexes are to be inferred, and none of them shows any.
    pub fn check(&self, loads: &[LoadSpec]) -> Result<(), Error> {
        if self.locks == RecordedLocks::Inferred && !loads.iter().any(LoadSpec::has_mutexes) {
            return Err(Error::NoMutexes);
        }
        self.tasks.check(loads)
    }

    /// As text, but for the window, which is that of the experiment.
    #[must_use]
    pub fn text(&self) -> FileText {
        let tasks = self.tasks.words();
        FileText {
            dialect: self.dialect,
            locks: self.locks,
            groups: self.groups,
            wakeup_costs: self.wakeup_costs,
            changes: if tasks.is_empty() { Vec::new() } else { vec![tasks] },
            ..FileText::default()
        }
    }

    /// A replay, read so.
    pub(crate) fn read(&self, replay: Replay) -> Replay {
        let replay = self.tasks.change(replay);
        // A trace is read so; a workload file has them all the same.
        let replay = if self.groups == RecordedGroups::Flat { replay.without_groups() } else { replay };
        match self.wakeup_costs {
            WakeupCosts::Recorded => replay,
            WakeupCosts::Machine => replay.without_paths(),
        }
    }
}
