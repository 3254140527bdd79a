//! Whether fair tasks are placed by energy, and whether some CPU has too little for what its tasks use, so
//! that they are not for now (deadline-groups C1, C4).

use super::pelt::{Fit, cpu_util, fit, task_fit};
use crate::platform::Platform;
use crate::registry::{EnergyAware, Governor, LoadTracking};
use crate::rq::RqGuard;
use crate::{CpuId, Scheduler, TaskId, ThisCpu};

impl<P: Platform> Scheduler<P> {
    /// Whether fair tasks are placed by energy where that is possible: the rule, an energy model of all CPUs,
    /// several kinds of these, one thread a core, and a governor that follows utilisation.
    #[inline]
    pub(in crate::fair) fn places_by_energy(&self) -> bool {
        let rules = &self.config.rules;
        self.fair_root.has_energy_model
            && rules.energy_aware.get() != EnergyAware::Off
            && rules.governor.get() == Governor::Schedutil
            && rules.load_tracking.get() == LoadTracking::Pelt
            && self.tasks_must_fit()
    }
}

/// Tasks have been queued here, or there was a tick: does the CPU still have enough for what its tasks use?
/// If not, the root domain is overutilised until a balancing of all of it finds otherwise.
#[inline]
pub(in crate::fair) fn check_overutilised<P: Platform>(rq: &RqGuard<'_, P>) {
    if rq.me.k.fair_root.has_energy_model {
        note_overutilised(rq);
    }
}

#[cold]
fn note_overutilised<P: Platform>(rq: &RqGuard<'_, P>) {
    let flag = &rq.me.k.root_domain(rq.cpu).overutilised;
    if rq.me.k.places_by_energy() && !flag.get() && is_overutilised(rq.me, rq.cpu) {
        flag.set(true);
    }
}

/// Whether a task fits a CPU, though perhaps not as its lower clamp asks.
pub(crate) fn finds_what_it_uses<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpu: CpuId) -> bool {
    task_fit(me, p, cpu) != Fit::No
}

/// Whether what a CPU's tasks use, within their clamps, does not fit it.
pub(in crate::fair) fn is_overutilised<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let clamps = me.k.rq(cpu).published.clamps.in_force();
    fit(me, cpu_util(me, cpu), clamps, cpu) == Fit::No
}
