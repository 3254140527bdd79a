//! Task ids come back: which task has one now.

use std::collections::BTreeMap;
use trace::{EventKind, Pid};

/// A task of a trace: its id, and how many tasks had this id before it.
pub(super) type TraceTask = (Pid, u32);

/// Tells the tasks apart that have one id after the other.
#[derive(Debug, Default)]
pub(super) struct Lives {
    lives: BTreeMap<Pid, Life>,
}

#[derive(Debug, Default)]
struct Life {
    incarnation: u32,
    ended: bool,
}

impl Lives {
    /// The task that has this id now.
    pub fn now(&self, pid: Pid) -> TraceTask {
        (pid, self.lives.get(&pid).map_or(0, |life| life.incarnation))
    }

    /// Goes on by an event, and says which task it ends.
    pub fn observe(&mut self, event: &EventKind) -> Option<TraceTask> {
        if let EventKind::SchedProcessFork(fork) = event {
            let life = self.lives.entry(fork.child_pid).or_default();
            life.incarnation += u32::from(std::mem::take(&mut life.ended));
        }
        let ended = event.ended().filter(|pid| *pid != Pid::IDLE)?;
        self.lives.entry(ended).or_default().ended = true;
        Some(self.now(ended))
    }
}
