//! RCU callbacks (machine.md 2.4): what tasks leave to be freed when no CPU can be looking at it any more.
//!
//! They wait on the CPU that they were left on for a grace period that begins after they were left; there is
//! one at a time for the whole machine, and ticks move it on. How they are called then is in
//! [`super::callbacks`].

use scheduler::{CpuId, Nanos};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// How long a grace period lasts while CPUs are busy: 2 to 4 ticks (machine.md 2.4 [I]).
const GRACE_PERIOD_JIFFIES: u64 = 3;

/// Callbacks in a go, at least.
const FEWEST: u64 = 10;

/// A go takes the backlog divided by this, if that is more.
const PART_OF_BACKLOG: u64 = 128;

/// Once more than this many wait, a go takes as many,
const FLOOD: u64 = 10_000;

/// until fewer than these are left.
const EBB: u64 = 100;

/// What leaves callbacks. (Their numbers were counted in a guest: machine.md 4.2, row `call_rcu`.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallbacksOf {
    /// A thread that was created and ends.
    Thread,
    /// A process that was forked and ends.
    Process,
    /// One that executes another program.
    Exec,
}

impl CallbacksOf {
    /// How many, in tenths. The 20 of a process that executes another program and ends are counted with those
    /// of its end.
    const fn tenths(self) -> u64 {
        match self {
            CallbacksOf::Thread => 20,
            CallbacksOf::Process => 26,
            CallbacksOf::Exec => 200 - CallbacksOf::Process.tenths(),
        }
    }
}

/// The callbacks of a machine.
#[derive(Debug)]
pub(crate) struct Rcu {
    /// What one takes; `None`: nobody leaves any.
    pub callback: Option<Nanos>,
    /// Grace periods that have begun. They are numbered from 1.
    begun: Cell<u64>,
    /// Those of them that are over: all, or all but the last.
    over: Cell<u64>,
    /// The jiffy in which the one under way is over.
    ends: Cell<u64>,
    /// The last one that callbacks wait for.
    wanted: Cell<u64>,
    pub cpus: Box<[RefCell<Callbacks>]>,
}

/// Those of a CPU.
#[derive(Debug, Default)]
pub(crate) struct Callbacks {
    /// By the grace period that they wait for: the one under way, and the next.
    waiting: VecDeque<Waiting>,
    ready_tenths: u64,
    /// Those of the go that is under way.
    in_go: u64,
    /// There were so many that goes are long.
    flooded: bool,
}

/// What waits for the end of a grace period.
#[derive(Debug)]
struct Waiting {
    grace_period: u64,
    tenths: u64,
}

impl Callbacks {
    /// Whole ones that can be called.
    pub fn ready(&self) -> u64 {
        self.ready_tenths / 10
    }

    /// All that are there.
    fn pending(&self) -> u64 {
        let waiting: u64 = self.waiting.iter().map(|waiting| waiting.tenths).sum();
        (self.ready_tenths + waiting) / 10 + self.in_go
    }

    fn leave(&mut self, tenths: u64, grace_period: u64) {
        match self.waiting.back_mut() {
            Some(last) if last.grace_period == grace_period => last.tenths += tenths,
            _ => self.waiting.push_back(Waiting { grace_period, tenths }),
        }
        self.flooded |= self.pending() > FLOOD;
    }

    /// All grace periods up to this one are over.
    fn are_over(&mut self, grace_period: u64) {
        while let Some(first) = self.waiting.front().filter(|first| first.grace_period <= grace_period) {
            self.ready_tenths += first.tenths;
            self.waiting.pop_front();
        }
    }

    /// How many a go takes while somebody wants the CPU.
    pub fn most(&self) -> u64 {
        let fewest = if self.flooded { FLOOD } else { FEWEST };
        fewest.max(self.pending() / PART_OF_BACKLOG)
    }

    /// A go begins, with all that are ready.
    pub fn begin(&mut self) -> u64 {
        self.in_go = self.ready();
        self.ready_tenths -= 10 * self.in_go;
        self.in_go
    }

    /// It is over; so many were called, and the others are ready again.
    pub fn end(&mut self, called: u64) {
        self.ready_tenths += 10 * (std::mem::take(&mut self.in_go) - called);
        self.flooded &= self.pending() >= EBB;
    }
}

impl Rcu {
    /// No callbacks yet, of which each takes so long.
    pub fn new(cpus: usize, callback: Option<Nanos>) -> Rcu {
        Rcu {
            callback,
            begun: Cell::new(0),
            over: Cell::new(0),
            ends: Cell::new(0),
            wanted: Cell::new(0),
            cpus: (0..cpus).map(|_| RefCell::default()).collect(),
        }
    }

    /// The task that runs there leaves callbacks.
    pub fn leave(&self, cpu: CpuId, of: CallbacksOf) {
        let next = self.begun.get() + 1;
        self.wanted.set(next);
        self.cpus[cpu.index()].borrow_mut().leave(of.tenths(), next);
    }

    /// A CPU ticks in this jiffy. Whether it has callbacks to call.
    pub fn tick(&self, cpu: CpuId, jiffy: u64) -> bool {
        if jiffy >= self.ends.get() {
            self.over.set(self.begun.get());
        }
        if self.over.get() == self.begun.get() && self.wanted.get() > self.begun.get() {
            self.begun.set(self.begun.get() + 1);
            self.ends.set(jiffy + GRACE_PERIOD_JIFFIES);
        }
        let mut own = self.cpus[cpu.index()].borrow_mut();
        own.are_over(self.over.get());
        own.ready() > 0
    }

    /// A CPU keeps its tick until it has called all of its callbacks (machine.md 5.3, fair-placement 5.1).
    pub fn needs_tick(&self, cpu: CpuId) -> bool {
        self.callback.is_some() && self.cpus[cpu.index()].borrow().pending() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: CpuId = CpuId(0);

    /// machine.md 2.4: a 128th of the backlog, but 10 at least; 10 000 of a flood, until it is under 100.
    #[test]
    fn a_go_takes_a_part_of_the_backlog_or_a_flood() {
        let mut callbacks = Callbacks { ready_tenths: 12_790, ..Callbacks::default() };
        assert_eq!(callbacks.most(), 10);
        callbacks.ready_tenths = 50_000;
        assert_eq!(callbacks.most(), 39);
        callbacks.leave(50_000, 1);
        assert_eq!(callbacks.most(), 78, "10 000 are not more than 10 000");
        callbacks.leave(10, 1);
        assert_eq!(callbacks.most(), 10_000);
        callbacks.are_over(1);
        callbacks.begin();
        callbacks.end(9_901);
        assert_eq!((callbacks.pending(), callbacks.most()), (100, 10_000));
        callbacks.begin();
        callbacks.end(1);
        assert_eq!((callbacks.pending(), callbacks.most()), (99, 10));
    }

    /// What is left during a grace period waits for the next one, which begins as that one ends.
    #[test]
    fn callbacks_wait_for_a_grace_period_that_begins_after_them() {
        let rcu = Rcu::new(2, Some(Nanos(1)));
        rcu.leave(CPU, CallbacksOf::Thread);
        let ticks = |rcu: &Rcu, from: u64, to: u64| -> Vec<u64> {
            (from..to).filter(|jiffy| rcu.tick(CPU, *jiffy)).collect()
        };
        assert!(ticks(&rcu, 5, 7).is_empty());
        rcu.leave(CPU, CallbacksOf::Process);
        assert_eq!(ticks(&rcu, 7, 9), [8], "three jiffies after 5");
        let call_all = || {
            let mut own = rcu.cpus[0].borrow_mut();
            let ready = own.begin();
            own.end(ready);
            ready
        };
        assert_eq!(call_all(), 2);
        assert_eq!(ticks(&rcu, 9, 12), [11], "three after 8");
        // Six tenths of a callback are none, and need no tick.
        assert_eq!(call_all(), 2);
        assert!(!rcu.needs_tick(CPU));
        assert!(ticks(&rcu, 12, 20).is_empty());
    }

    /// Ticks of any CPU move a grace period on, and each CPU sees to its own callbacks.
    #[test]
    fn a_grace_period_is_one_of_the_machine() {
        let (rcu, other) = (Rcu::new(2, Some(Nanos(1))), CpuId(1));
        rcu.leave(CPU, CallbacksOf::Thread);
        assert!((1..=4).all(|jiffy| !rcu.tick(other, jiffy)), "it has none");
        assert!(rcu.tick(CPU, 4));
        assert!(rcu.needs_tick(CPU) && !rcu.needs_tick(other));
    }
}
