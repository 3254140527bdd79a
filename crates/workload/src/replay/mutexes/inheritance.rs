//! Mutexes with priority inheritance: what the events of a trace say of them.
//!
//! `sched_pi_setprio` in the context of a task that asks for a mutex names the mutex's owner: both use such
//! mutexes. Among users, a wakeup is a hand-over, the owner's unlock and the sleeper's lock, unless the
//! sleeper outranks the waker and lent it nothing: who waits for a mutex lends.

use super::holds::Handover;
use crate::replay::recording::TaskIndex;
use crate::replay::track::{By, DraftStep};
use std::collections::{BTreeMap, BTreeSet};

/// See the module's head.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct Evidence {
    users: BTreeSet<TaskIndex>,
    /// The drafted steps at which each task asks, in order.
    asks: BTreeMap<TaskIndex, Vec<usize>>,
    wakeups: Vec<Wakeup>,
}

/// A wakeup of one task by another.
#[derive(Clone, Copy, Debug)]
struct Wakeup {
    at_ns: u64,
    by: DraftStep,
    to: DraftStep,
    spun: bool,
    /// The woken task is more important than its waker.
    outranks: bool,
}

impl Evidence {
    /// Whether anybody lent a priority: without that, nothing is known of mutexes.
    pub fn is_any(&self) -> bool {
        !self.users.is_empty()
    }

    /// Whoever lends or borrows.
    pub(super) fn users(&self) -> &BTreeSet<TaskIndex> {
        &self.users
    }

    /// A task, at this step of its, lends its priority to the owner.
    pub fn asks(&mut self, place: DraftStep, owner: TaskIndex) {
        self.users.extend([place.task, owner]);
        self.asks.entry(place.task).or_default().push(place.step);
    }

    /// A step ends a sleep.
    pub fn wakes_sleeper(&mut self, at_ns: u64, by: By, sleeper: DraftStep, outranks: bool) {
        if let By::Task { place, certain: true } = by {
            self.wakeups.push(Wakeup { at_ns, by: place, to: sleeper, spun: false, outranks });
        }
    }

    /// A step wakes a task that runs.
    pub fn wakes_runner(&mut self, at_ns: u64, by: DraftStep, runner: DraftStep, outranks: bool) {
        self.wakeups.push(Wakeup { at_ns, by, to: runner, spun: true, outranks });
    }

    /// The hand-overs, by time.
    pub(super) fn handovers(&self) -> Vec<Handover> {
        // A wakeup may have found its task running on the way to sleep: then it ended that sleep.
        let ended: BTreeSet<(TaskIndex, usize)> =
            self.wakeups.iter().filter(|w| !w.spun).map(|w| (w.by.task, w.by.step)).collect();
        let between_users = |w: &&Wakeup| {
            let users = [w.by.task, w.to.task].iter().all(|task| self.users.contains(task));
            users && w.by.task != w.to.task && !(w.spun && ended.contains(&(w.by.task, w.by.step)))
        };
        let mut wakeups: Vec<Wakeup> = self.wakeups.iter().filter(between_users).copied().collect();
        wakeups.sort_by_key(|wakeup| wakeup.at_ns);
        let mut last_of: BTreeMap<TaskIndex, usize> = BTreeMap::new();
        let mut handovers = Vec::with_capacity(wakeups.len());
        for Wakeup { at_ns, by, to, spun, outranks } in wakeups {
            // What it asked for before it was last woken, or woke others, is over.
            let since = last_of.get(&to.task).copied();
            let asked = self.asked(to, since);
            last_of.insert(by.task, by.step);
            last_of.insert(to.task, to.step);
            if asked.is_some() || !outranks {
                handovers.push(Handover { at_ns, by, to, spun, asked });
            }
        }
        handovers
    }

    /// Where a task asked for what it is given at this step. The first time: as the chain of owners grows, it
    /// lends again.
    fn asked(&self, to: DraftStep, since: Option<usize>) -> Option<usize> {
        let asks = self.asks.get(&to.task)?;
        let first = *asks.get(asks.partition_point(|step| since.is_some_and(|since| *step <= since)))?;
        (first < to.step).then_some(first)
    }
}
