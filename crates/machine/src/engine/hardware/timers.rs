//! What a CPU remembers of the timers of tasks.

use super::winners::Slot;
use scheduler::{Nanos, TaskId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A task's timer that is set and has not been served. (In two words: there are as many as sleepers.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TaskTimer {
    /// By its slack later than what the task asked for: for that the clock is programmed.
    pub hard: Nanos,
    /// Its slack; of more than four seconds only that much counts.
    slack_ns: u32,
    /// Its own slot, in which it is in the queue of events as its hard expiry.
    pub slot: Slot,
}

impl TaskTimer {
    /// A sleep until then that may last so much longer.
    pub fn new(slot: Slot, until: Nanos, slack: Nanos) -> TaskTimer {
        TaskTimer { hard: until + slack, slack_ns: u32::try_from(slack.0).unwrap_or(u32::MAX), slot }
    }

    /// From then on any timer interrupt of the CPU serves it (machine.md 5.2).
    pub fn soft(self) -> Nanos {
        Nanos(self.hard.0 - u64::from(self.slack_ns))
    }
}

/// Those of a CPU, by their hard expiries; many tasks may sleep on it.
#[derive(Debug, Default)]
pub(crate) struct TaskTimers {
    set: BinaryHeap<Reverse<TaskTimer>>,
    /// Room for those that are passed over.
    aside: Vec<Reverse<TaskTimer>>,
}

impl TaskTimers {
    /// Adds one. Whether it is the first now.
    pub fn add(&mut self, timer: TaskTimer) -> bool {
        let is_first = self.set.peek().is_none_or(|Reverse(first)| timer.hard < first.hard);
        self.set.push(Reverse(timer));
        is_first
    }

    /// Takes out the one of this slot. (It has expired, or is in its slack: few are before it.)
    pub fn remove(&mut self, slot: Slot) -> Option<TaskTimer> {
        let found = self.find(Nanos::NEVER, Nanos::NEVER, |timer| timer.slot == slot);
        if found.is_some() {
            self.set.pop();
        }
        self.put_back();
        found
    }

    /// The first whose slack has begun, if a timer interrupt at `now` comes to it: that goes through all
    /// timers in the order of their hard expiries and stops at one which may not expire yet (machine.md 5.1),
    /// be it the CPU's next tick. What has no slack has an interrupt of its own, which is under way if the
    /// time has come.
    pub fn in_slack(&mut self, now: Nanos, next_tick: Nanos) -> Option<TaskTimer> {
        let found = self.find(now, next_tick, |timer| timer.slack_ns > 0);
        self.put_back();
        found
    }

    /// The first that `is_it`; those before it, which are few, are put aside.
    fn find(&mut self, now: Nanos, last: Nanos, is_it: impl Fn(&TaskTimer) -> bool) -> Option<TaskTimer> {
        loop {
            let Reverse(first) = *self.set.peek()?;
            if first.soft() > now || first.hard > last {
                return None;
            }
            if is_it(&first) {
                return Some(first);
            }
            self.aside.extend(self.set.pop());
        }
    }

    fn put_back(&mut self) {
        self.set.extend(self.aside.drain(..));
    }

    /// Those whose hard expiry lies before `now`, for who checks.
    pub fn late(&self, now: Nanos) -> impl Iterator<Item = &TaskTimer> {
        self.set.iter().map(|Reverse(timer)| timer).filter(move |timer| timer.hard < now)
    }
}

/// A task's timer that has expired, and whose interrupt is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expired {
    pub task: TaskId,
    /// The timer's own, in which the interrupt arrives.
    pub slot: Slot,
    /// When it arrives, unless something else brings it along.
    pub arrives: Nanos,
}

/// A time in which a CPU serves interrupts, or is with its hypervisor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fetched {
    pub from: Nanos,
    pub until: Nanos,
}
