//! How RCU callbacks that are ready ([`super::rcu`]) are called (machine.md 2.4).
//!
//! Each tick of their CPU raises the soft interrupt, in which they are called, so many at a go. Up to a
//! certain backlog that is a handful, so that nobody is held up; beyond it, whatever can be done in some
//! milliseconds, in which the CPU does nothing else. With PREEMPT_RT a thread calls them, and others preempt
//! it.

use super::rcu::CallbacksOf;
use super::sim::Sim;
use crate::engine::hardware::{Hw, SoftWork};
use scheduler::{Nanos, ThisCpu};

/// A go of more than this many also ends by the clock,
const UNTIMED: u64 = 100;

/// after this time,
const LONGEST: Nanos = Nanos::from_millis(3);

/// at which it looks after each so many callbacks.
const CLOCK_EVERY: u64 = 32;

impl Sim {
    /// The task that runs on the executing CPU leaves callbacks.
    pub fn leaves_callbacks(&self, me: ThisCpu<'_, Hw>, of: CallbacksOf) {
        if self.rcu.callback.is_some() {
            self.rcu.leave(me.id, of);
            self.keep_ticking(me.id);
        }
    }

    /// The executing CPU ticks: a grace period may begin or end.
    pub(super) fn rcu_tick(&self, me: ThisCpu<'_, Hw>) {
        if self.rcu.callback.is_some() && self.rcu.tick(me.id, self.jiffies(self.hw().local_now())) {
            self.raise_softirq(me.id, SoftWork::Callbacks);
        }
    }

    /// A go in the soft interrupt. The clock is read, and who wants an idle CPU looked for, after each 32
    /// callbacks.
    pub(super) async fn calls_back(&self, me: ThisCpu<'_, Hw>) {
        let (rcu, own) = (&self.rcu, &self.rcu.cpus[me.id.index()]);
        let most = own.borrow().most();
        let ready = own.borrow_mut().begin();
        let until = self.hw().local_now() + LONGEST;
        let idles = me.curr() == self.k.idle_task(me.id);
        let mut called = 0;
        while called < ready {
            let is_wanted = !idles || self.k.rq(me.id).published.is_asked();
            let is_long = most > UNTIMED && called % CLOCK_EVERY == 0 && self.hw().local_now() >= until;
            if (called >= most && is_wanted) || is_long {
                break;
            }
            let mut some = (CLOCK_EVERY - called % CLOCK_EVERY).min(ready - called);
            if called < most {
                some = some.min(most - called);
            }
            self.executes_in_softirq(me, rcu.callback.unwrap_or_default() * some).await;
            called += some;
        }
        own.borrow_mut().end(called);
        if own.borrow().ready() > 0 {
            self.raise_softirq(me.id, SoftWork::Callbacks);
        }
    }

    /// How long a thread of the executing CPU is to work on all callbacks that are ready, where soft
    /// interrupts are served in threads: there neither their number nor a clock ends that (machine.md 1.9).
    pub(super) fn takes_callbacks(&self, me: ThisCpu<'_, Hw>) -> Nanos {
        let mut own = self.rcu.cpus[me.id.index()].borrow_mut();
        let ready = own.begin();
        own.end(ready);
        self.rcu.callback.unwrap_or_default() * ready
    }
}
