//! Whether a task finds enough on a CPU, where CPUs are not worth the same (deadline-groups C1).

use super::capacity::capacity_of;
use super::load::{task_load, task_util_estimate};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{CpuId, TaskId, ThisCpu};

/// A fifth stays free (fits_capacity).
fn fits(util: u64, capacity: u64) -> bool {
    1280 * util < 1024 * capacity
}

/// Whether a CPU has clearly more than another one, by a twentieth (capacity_greater).
pub(in crate::fair) fn greater(capacity: u64, other: u64) -> bool {
    1024 * capacity > 1078 * other
}

/// Whether a task finds enough on a CPU. Where CPUs are alike it is never asked.
#[inline]
pub(in crate::fair) fn task_fits<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpu: CpuId) -> bool {
    !me.k.tasks_must_fit() || fits(task_util_estimate(me, p), capacity_of(me, cpu))
}

/// `p` is about to run here, or has a tick: does it need a CPU that is worth more, and may it have one?
/// `None`: nobody runs (update_misfit_status).
#[inline]
pub(in crate::fair) fn update_misfit<P: Platform>(rq: &RqGuard<'_, P>, p: Option<TaskId>) {
    if rq.me.k.fair_root.is_asymmetric {
        note_misfit(rq, p);
    }
}

#[cold]
fn note_misfit<P: Platform>(rq: &RqGuard<'_, P>, p: Option<TaskId>) {
    let (me, cpu) = (rq.me, rq.cpu);
    let better = |p: &TaskId| {
        let here = me.k.full_capacity(cpu);
        let mut allowed = me.task(*p).cpus_allowed.get().and(&me.k.root_domain(cpu).span).iter();
        allowed.any(|other| me.k.full_capacity(other) > here)
    };
    let misfit = p.filter(|p| !task_fits(me, *p, cpu) && better(p));
    rq.published.pelt.misfit_load.set(misfit.map_or(0, |p| task_load(me, p).max(1)));
}

/// Load of the task on `cpu` that needs a CPU that is worth more; zero if there is none.
pub(in crate::fair) fn misfits<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    me.k.rq(cpu).published.pelt.misfit_load.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of deadline-groups C1.
    #[test]
    fn a_fifth_stays_free() {
        assert_eq!([fits(319, 400), fits(320, 400)], [true, false]);
        assert_eq!([fits(819, 1024), fits(820, 1024)], [true, false]);
    }

    #[test]
    fn a_twentieth_is_clearly_more() {
        assert_eq!([greater(1024, 972), greater(1024, 973)], [true, false]);
    }
}
