//! P14 and P18: push walkers are few, and end.

use super::{Findings, Moment};
use crate::platform::{Ipi, Platform};
use crate::registry::{Feature, PushIpiWalker};
use crate::{CpuId, RootId, Scheduler};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec;

/// P18 at rest: with nothing under way, no walker believes to be under way. One would swallow all later
/// requests.
pub(super) fn have_ended<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let ended = moment.k.root_domains().iter().all(|root| !root.rt.root_walker_active());
    found.expect("rt-class P18", ended, || {
        "nothing is under way, but a root domain's push walker has not ended".into()
    });
    let active = |cpu: &CpuId| moment.k.root_domain(*cpu).rt.source_walker_active(*cpu);
    let stuck = moment.k.online.iter().find(active);
    found.expect("rt-class P18", stuck.is_none(), || {
        format!("nothing is under way, but the push walker of {stuck:?} has not ended")
    });
}

/// Interrupts on their way from one CPU to another.
#[derive(Debug)]
pub(super) struct Flying {
    /// To each CPU, of any kind.
    to: Box<[u32]>,
    /// Push walkers, by the CPU that made the request.
    walkers: Box<[u32]>,
    /// The root domain of each CPU.
    root_of: Box<[RootId]>,
    limit: Limit,
    /// Walkers of another kind may still be under way since the settings changed.
    mixed: bool,
}

/// How many walkers may be on their way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    One,
    OnePerSource,
    None,
}

impl Limit {
    fn of<P: Platform>(k: &Scheduler<P>) -> Limit {
        match k.config.rules.push_ipi_walker.get() {
            _ if !k.config.has(Feature::RtPushIpi) => Limit::None,
            PushIpiWalker::RootDomain => Limit::One,
            PushIpiWalker::PerSource => Limit::OnePerSource,
            PushIpiWalker::Broadcast => Limit::None,
        }
    }
}

impl Flying {
    pub fn new<P: Platform>(k: &Scheduler<P>) -> Flying {
        let zeros = || vec![0; k.cpus()].into();
        let root_of = k.rqs().iter().map(|rq| k.root_domain(rq.cpu).id).collect();
        Flying { to: zeros(), walkers: zeros(), root_of, limit: Limit::of(k), mixed: false }
    }

    /// P14: at most one item per source (2015), or for the root domain (2017), has been sent and not arrived.
    pub fn sent(&mut self, to: CpuId, ipi: Ipi, found: &mut Findings) {
        self.to[to.index()] += 1;
        let Ipi::Push(source) = ipi else { return };
        self.walkers[source.index()] += 1;
        let root = self.root_of[source.index()];
        let of_root = self.walkers.iter().zip(&self.root_of).filter(|(_, of)| **of == root);
        let (own, all) = (self.walkers[source.index()], of_root.map(|(walkers, _)| walkers).sum::<u32>());
        let few = match self.limit {
            _ if self.mixed => true,
            Limit::One => all == 1,
            Limit::OnePerSource => own == 1,
            Limit::None => true,
        };
        found.expect("rt-class P14", few, || {
            format!("{own} push walkers of CPU {source}, {all} of its root domain, are on their way at once")
        });
    }

    /// The interrupt's handler starts.
    pub fn arrived(&mut self, at: CpuId, ipi: Ipi) {
        self.to[at.index()] -= 1;
        if let Ipi::Push(source) = ipi {
            self.walkers[source.index()] -= 1;
        }
    }

    /// Whether an interrupt is on its way to `cpu`.
    pub fn is_coming(&self, cpu: CpuId) -> bool {
        self.to[cpu.index()] > 0
    }

    pub fn settings_changed<P: Platform>(&mut self, k: &Scheduler<P>) {
        let limit = Limit::of(k);
        self.mixed |= limit != self.limit;
        self.limit = limit;
    }

    /// Once every walker of before the change has ended, the new limit holds.
    pub fn look<P: Platform>(&mut self, k: &Scheduler<P>) {
        let under_way = |cpu| {
            let root = &k.root_domain(cpu).rt;
            root.root_walker_active() || root.source_walker_active(cpu) || self.walkers[cpu.index()] > 0
        };
        self.mixed = self.mixed && k.online.iter().any(under_way);
    }
}
