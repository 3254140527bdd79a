//! Cache warmth of tasks (design 4, fair-class 12.1): running warms a task's working set on a CPU, others
//! that run there displace it, moving makes it cold by distance. Being cold costs extra work when it next
//! runs.

use crate::engine::kernel::sim::Sim;
use crate::fixed::exp_neg_q32;
use crate::spec::Distance;
use scheduler::{CpuId, Nanos, TaskId, TaskState};

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

#[derive(Clone, Copy, Debug)]
struct LastRun {
    cpu: CpuId,
    /// That CPU's busy time when the task left it.
    busy: Nanos,
}

impl Sim {
    /// `p` is going to execute on `cpu`, where something else was set up before.
    pub fn switched_in(&self, cpu: CpuId, p: TaskId) {
        let ctx = self.cpu(cpu);
        let previous = ctx.seen.replace(p);
        let busy = ctx.busy.get();
        if previous != self.k.idle_task(cpu) {
            self.left(cpu, previous, busy);
        }
        self.with(p, |t| {
            if t.working_set_bytes == 0 {
                return;
            }
            let lost = self.lost_q32(t.warmth.last, cpu, busy);
            let refill_ps =
                u128::from(t.working_set_bytes) * u128::from(self.hw().spec.cache.refill_ps_per_byte);
            let refill = |share: u64| Nanos(((refill_ps * u128::from(share)) >> 32) as u64 / 1000);
            // Short stints leave work undone, but there is never more to fetch than all.
            t.warmth.cold = (t.warmth.cold + refill(lost)).min(refill(ALL));
        });
    }

    /// The task that was set up on `cpu` leaves it.
    pub fn left(&self, cpu: CpuId, p: TaskId, busy: Nanos) {
        let holds = self.with(p, |t| {
            t.warmth.last = Some(LastRun { cpu, busy });
            t.locks_held > 0
        });
        if holds && self.k.task(p).state.get() == TaskState::Running {
            self.lock_holder_preemptions.set(self.lock_holder_preemptions.get() + 1);
        }
    }

    /// Extra work that `p` could not finish.
    pub fn put_back(&self, p: TaskId, left: Nanos) {
        self.with(p, |t| t.warmth.cold += left);
        self.cache_refill.set(self.cache_refill.get() - left);
    }

    /// The extra work that `p` has to do now.
    pub fn refill(&self, p: TaskId) -> Nanos {
        let cold = self.with(p, |t| std::mem::take(&mut t.warmth.cold));
        self.cache_refill.set(self.cache_refill.get() + cold);
        cold
    }

    /// Lost share of the working set, times 2³².
    fn lost_q32(&self, last: Option<LastRun>, cpu: CpuId, busy: Nanos) -> u64 {
        let cache = &self.hw().spec.cache;
        let Some(last) = last else { return ALL };
        if last.cpu == cpu {
            return ALL - exp_neg_q32(busy.saturating_sub(last.busy).0, cache.tau.0.max(1));
        }
        let percent = match self.hw().spec.distance(last.cpu, cpu) {
            Distance::Own => 0,
            Distance::Smt => cache.smt_lost_percent,
            Distance::SharedCache => cache.shared_cache_lost_percent,
            Distance::SameNode | Distance::OtherNode => 100,
        };
        ALL * u64::from(percent) / 100
    }
}
