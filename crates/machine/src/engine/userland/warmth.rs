//! Cache warmth of tasks (fair-class 12.1): running warms a task's working set on a CPU, others
//! that run there displace it, moving makes it cold by distance. Being cold costs extra work when it next
//! runs.

use crate::fixed::exp_neg_q32;
use crate::spec::{Distance, MachineSpec};
use scheduler::{CpuId, Nanos};

/// The whole working set, as a share times 2³².
const ALL: u64 = 1 << 32;

/// Where a task's working set is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Warmth {
    /// Where it last ran.
    last: Option<LastRun>,
    /// Extra work still to be done.
    pub cold: Nanos,
}

/// A task leaves a CPU, or comes to one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastRun {
    pub cpu: CpuId,
    /// How long tasks have executed there by then.
    pub busy: Nanos,
}

/// What a task has to fetch before its working set is whole again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refill {
    /// Where it last ran.
    pub from: Option<CpuId>,
    /// Extra work for it.
    pub cost: Nanos,
}

impl Warmth {
    /// Its task stops executing.
    pub fn leaves(&mut self, last: LastRun) {
        self.last = Some(last);
    }

    /// Its task, with a working set of so many bytes, is going to execute on a CPU on which tasks have
    /// executed for `busy`, and which needs `time_to_fetch` for what takes so long alone. What it has to
    /// fetch.
    pub fn cools(
        &mut self,
        spec: &MachineSpec,
        working_set_bytes: u64,
        LastRun { cpu, busy }: LastRun,
        time_to_fetch: impl Fn(Nanos) -> Nanos,
    ) -> Refill {
        let from = self.last.map(|last| last.cpu);
        if working_set_bytes == 0 {
            return Refill { from, cost: Nanos::ZERO };
        }
        let lost = self.lost_q32(spec, cpu, busy);
        let refill_ps = u128::from(working_set_bytes) * u128::from(spec.cache.refill_ps_per_byte);
        let refill = |share: u64| time_to_fetch(Nanos(((refill_ps * u128::from(share)) >> 32) as u64 / 1000));
        // Short stints leave work undone, but there is never more to fetch than all.
        self.cold = (self.cold + refill(lost)).min(refill(ALL));
        Refill { from, cost: self.cold }
    }

    /// Lost share of the working set, times 2³².
    fn lost_q32(&self, spec: &MachineSpec, cpu: CpuId, busy: Nanos) -> u64 {
        let cache = &spec.cache;
        let Some(last) = self.last else { return ALL };
        if last.cpu == cpu {
            return ALL - exp_neg_q32(busy.saturating_sub(last.busy).0, cache.tau.0.max(1));
        }
        let percent = match spec.distance(last.cpu, cpu) {
            Distance::Own => 0,
            Distance::Smt => cache.smt_lost_percent,
            Distance::SharedCache => cache.shared_cache_lost_percent,
            Distance::SameNode | Distance::OtherNode => 100,
        };
        ALL * u64::from(percent) / 100
    }
}
