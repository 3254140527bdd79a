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
    passed: Passed,
}

impl TaskTimers {
    /// Adds one. Whether it is the first now.
    pub fn add(&mut self, timer: TaskTimer) -> bool {
        let is_before = |Reverse(first): &Reverse<TaskTimer>| timer.hard < first.hard;
        let is_first = self.passed.live == 0 && self.set.peek().is_none_or(is_before);
        self.set.push(Reverse(timer));
        is_first
    }

    /// Takes out the one of this slot. (It has expired, or is in its slack.)
    pub fn remove(&mut self, slot: Slot) -> Option<TaskTimer> {
        if self.set.peek().is_some_and(|Reverse(first)| first.slot == slot) {
            return self.set.pop().map(|Reverse(timer)| timer);
        }
        if let Some(timer) = self.passed.remove(slot) {
            return Some(timer);
        }
        let found = loop {
            match self.set.pop() {
                Some(Reverse(timer)) if timer.slot == slot => break Some(timer),
                Some(Reverse(timer)) => self.passed.add(timer),
                None => break None,
            }
        };
        match found {
            Some(_) => self.passed.sort(),
            None => self.set.extend(self.passed.drain().map(Reverse)),
        }
        found
    }

    /// When the first of them expires, at the latest.
    pub fn first(&self) -> Option<Nanos> {
        let set = self.set.peek().map(|Reverse(timer)| timer.hard);
        self.passed.live().map(|timer| timer.hard).chain(set).min()
    }

    /// The first whose slack has begun, if a timer interrupt at `now` comes to it: that goes through all
    /// timers in the order of their hard expiries and stops at one which may not expire yet (machine.md 5.1),
    /// be it the CPU's next tick. What has no slack has an interrupt of its own, which is under way if the
    /// time has come: few are, as a pass ends with those that have come.
    pub fn in_slack(&mut self, now: Nanos, next_tick: Nanos) -> Option<TaskTimer> {
        self.set.extend(self.passed.drain().map(Reverse));
        let found = loop {
            match self.set.peek() {
                Some(Reverse(first)) if first.soft() > now || first.hard > next_tick => break None,
                Some(Reverse(first)) if first.slack_ns > 0 => break Some(*first),
                _ => {}
            }
            match self.set.pop() {
                Some(Reverse(first)) => self.passed.add(first),
                None => break None,
            }
        };
        self.set.extend(self.passed.drain().map(Reverse));
        found
    }

    /// Those whose hard expiry lies before `now`, for who checks.
    pub fn late(&self, now: Nanos) -> impl Iterator<Item = &TaskTimer> {
        let set = self.set.iter().map(|Reverse(timer)| timer);
        set.chain(self.passed.live()).filter(move |timer| timer.hard < now)
    }
}

/// Timers that lay before one which was served first: of those that expire at the same time, which may be
/// thousands, any may be. So that each is found without going through the others they are sorted, by slot.
#[derive(Debug, Default)]
struct Passed {
    /// One that has been served since expires never.
    by_slot: Vec<TaskTimer>,
    live: usize,
}

impl Passed {
    /// Until [`Passed::sort`] it is not found.
    fn add(&mut self, timer: TaskTimer) {
        self.by_slot.push(timer);
        self.live += 1;
    }

    fn sort(&mut self) {
        self.by_slot.sort_unstable_by_key(|timer| (timer.slot, timer.hard));
    }

    fn remove(&mut self, slot: Slot) -> Option<TaskTimer> {
        // A slot that has been served and passed again is there twice.
        let from = self.by_slot.partition_point(|timer| timer.slot < slot);
        let mut of_slot = self.by_slot[from..].iter_mut().take_while(|timer| timer.slot == slot);
        let place = of_slot.find(|timer| timer.hard != Nanos::NEVER)?;
        let found = *place;
        place.hard = Nanos::NEVER;
        self.live -= 1;
        if self.live == 0 {
            self.by_slot.clear();
        }
        Some(found)
    }

    fn live(&self) -> impl Iterator<Item = &TaskTimer> {
        self.by_slot.iter().filter(|timer| timer.hard != Nanos::NEVER)
    }

    fn drain(&mut self) -> impl Iterator<Item = TaskTimer> {
        self.live = 0;
        self.by_slot.drain(..).filter(|timer| timer.hard != Nanos::NEVER)
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

#[cfg(test)]
mod tests {
    use super::*;

    const HARD: Nanos = Nanos(1_000);

    /// Ten of one time; those with an even slot have a slack of 50 ns.
    fn ten() -> TaskTimers {
        let mut timers = TaskTimers::default();
        for slot in 0..10 {
            let slack = Nanos(if slot % 2 == 0 { 50 } else { 0 });
            let timer = TaskTimer::new(Slot(slot), Nanos(HARD.0 - slack.0), slack);
            assert_eq!(timers.add(timer), slot == 0);
        }
        timers
    }

    #[test]
    fn of_timers_that_expire_together_any_may_be_served_first() {
        for order in [[9, 0, 5, 4, 8, 1, 2, 7, 3, 6], [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]] {
            let mut timers = ten();
            for (served, slot) in order.into_iter().enumerate() {
                assert_eq!(timers.late(HARD + Nanos(1)).count(), 10 - served);
                assert_eq!(timers.remove(Slot(slot)).map(|timer| timer.slot), Some(Slot(slot)));
                assert_eq!(timers.remove(Slot(slot)), None);
            }
        }
    }

    #[test]
    fn a_new_timer_is_the_first_only_if_all_that_have_expired_are_served() {
        let mut timers = ten();
        timers.remove(Slot(9));
        let next = |slot| TaskTimer::new(Slot(slot), HARD + Nanos(500), Nanos::ZERO);
        assert!(!timers.add(next(9)));
        (0..9).for_each(|slot| assert!(timers.remove(Slot(slot)).is_some()));
        assert!(timers.remove(Slot(9)).is_some() && timers.add(next(3)));
    }

    /// machine.md 5.2: what has no slack is passed over, also if a later one of its time has been served.
    #[test]
    fn a_pass_takes_those_in_their_slack() {
        let mut timers = ten();
        let slot = |timer: Option<TaskTimer>| timer.map(|timer| timer.slot.0);
        assert_eq!(timers.in_slack(Nanos(949), Nanos::NEVER), None);
        assert_eq!(timers.in_slack(HARD, Nanos(999)), None);
        timers.remove(Slot(4));
        for expected in [0, 2, 6, 8] {
            assert_eq!(slot(timers.in_slack(HARD, Nanos::NEVER)), Some(expected));
            timers.remove(Slot(expected));
        }
        assert_eq!(timers.in_slack(HARD, Nanos::NEVER), None);
        assert_eq!(timers.late(Nanos::NEVER).count(), 5);
    }
}
