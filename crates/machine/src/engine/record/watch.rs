//! The checker at work ([`crate::RunOptions::check`]): what it has to be told as it happens, and what it
//! remembers from one look to the next.

use crate::spec::{Costs, MachineSpec, Noise};
use scheduler::check::{Checker, Violation};
use scheduler::platform::Platform;
use scheduler::{Nanos, Scheduler};
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

/// What watches a run.
#[derive(Debug)]
pub(crate) struct Watch {
    pub checker: RefCell<Checker>,
    /// Only the state is looked at, after every so many events; `None`: state and course, after each.
    every: Option<NonZeroU32>,
    events: Cell<u32>,
    /// Nothing costs time on this machine, so time is either idle or some task's.
    pub nothing_costs: bool,
    /// Since when the running task of each CPU has been asked to make room, where a request acts at once.
    pub asked_since: Box<[Cell<Option<Nanos>>]>,
    /// Virtual time at the latest look, and looks since it last moved.
    at: Cell<Nanos>,
    looks_at_once: Cell<u32>,
}

/// Looks without virtual time passing after which CPUs are taken to keep each other busy for ever.
const ENDLESS_LOOKS: u32 = 1_000_000;

impl Watch {
    /// For a scheduler that has not run yet, on this machine.
    pub fn new<P: Platform>(k: &Scheduler<P>, spec: &MachineSpec, every: Option<NonZeroU32>) -> Watch {
        Watch {
            checker: RefCell::new(Checker::new(k)),
            every,
            events: Cell::new(0),
            nothing_costs: nothing_costs(spec),
            asked_since: k.rqs().iter().map(|_| Cell::default()).collect(),
            at: Cell::new(Nanos::ZERO),
            looks_at_once: Cell::new(0),
        }
    }

    /// Whether the course of events is followed, too.
    pub fn is_complete(&self) -> bool {
        self.every.is_none()
    }

    /// Here is an event: whether to look at the state.
    pub fn is_due(&self) -> bool {
        let Some(every) = self.every else { return true };
        let count = self.events.get() + 1;
        self.events.set(count % every.get());
        count == every.get()
    }

    /// Somebody looks at `now`: does time pass at all?
    pub fn time_passes(&self, now: Nanos) -> Option<Violation> {
        if self.at.replace(now) != now {
            self.looks_at_once.set(0);
        }
        self.looks_at_once.set(self.looks_at_once.get() + 1);
        (self.looks_at_once.get() == ENDLESS_LOOKS).then(|| Violation {
            invariant: "rt-class P18",
            what: format!("{ENDLESS_LOOKS} events without time passing: CPUs keep each other busy for ever"),
        })
    }
}

fn nothing_costs(spec: &MachineSpec) -> bool {
    spec.costs == Costs::default()
        && spec.noise == Noise::default()
        && spec.cache.refill_ps_per_byte == 0
        && spec.idle.is_none()
}
