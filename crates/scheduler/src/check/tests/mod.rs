//! Canaries: one thing is broken on purpose, and the alarm with the right number must go off.

mod course;
mod eevdf;
mod groups;
mod state;
mod tracking;

use super::{Checker, Past, violations};
use crate::testing::{Lab, fifo};
use crate::{Event, Policy, TaskId, ThisCpu};
use alloc::vec::Vec;

/// What the state checks find in a machine at rest.
pub(crate) fn state_alarms(lab: &Lab) -> Vec<&'static str> {
    violations(&lab.k, &lab.k.online, &Past::of(&lab.k)).iter().map(|v| v.invariant).collect()
}

fn lab() -> Lab {
    let lab = Lab::new(2, "6.1.y", &[]);
    assert_eq!(state_alarms(&lab), [""; 0]);
    lab
}

/// Two CPUs run FIFO 9, and this one waits on CPU 0.
fn waiting(priority: u8) -> (Lab, TaskId) {
    let lab = lab();
    lab.spawn(fifo(90), 0);
    lab.spawn(fifo(90), 1);
    let p = lab.spawn(fifo(priority), 0);
    assert!(lab.cpu_of(p) == 0 && lab.running(0) != p);
    (lab, p)
}

/// A normal task that runs on CPU 0 and one that waits there.
fn two_normal() -> (Lab, TaskId, TaskId) {
    let lab = Lab::new(1, "6.1.y", &[]);
    let pair = (lab.spawn(Policy::Normal, 0), lab.spawn(Policy::Normal, 0));
    (lab, pair.0, pair.1)
}

/// A checker that has looked at a machine, and is told of nothing but what the test tells it.
pub(crate) struct Watched<'l> {
    lab: &'l Lab,
    checker: Checker,
}

impl<'l> Watched<'l> {
    pub(crate) fn new(lab: &'l Lab) -> Watched<'l> {
        let mut watched = Watched { lab, checker: Checker::new(&lab.k) };
        let _before_the_first_look = watched.alarms();
        watched
    }

    fn me(&self) -> ThisCpu<'l, crate::testing::TestPlatform> {
        self.lab.cpu(0)
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.checker.event(self.me(), event);
    }

    fn tell_best_run(&mut self, event: Event) {
        self.checker.best_run.event(&Past::of(&self.lab.k), self.me(), event);
    }

    pub(crate) fn alarms(&mut self) -> Vec<&'static str> {
        let first = self.checker.look(&self.lab.k, &self.lab.k.online, &self.lab.k.online);
        let rest = core::iter::from_fn(|| self.checker.found.first());
        first.into_iter().chain(rest).map(|v| v.invariant).collect()
    }

    /// Whether this event, told now, raises this alarm.
    pub(crate) fn raises(&mut self, event: Event, invariant: &str) -> bool {
        self.tell(event);
        self.alarms().contains(&invariant)
    }
}
