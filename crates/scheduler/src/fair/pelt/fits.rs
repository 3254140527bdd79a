//! Whether a task finds enough on a CPU, where CPUs are not worth the same (deadline-groups C1).

use super::average::FULL;
use super::capacity::capacity_of;
use super::load::{task_load, task_util_estimate};
use crate::platform::Platform;
use crate::registry::Uclamp;
use crate::rq::RqGuard;
use crate::{Clamps, CpuId, TaskId, ThisCpu};

/// A fifth stays free (fits_capacity).
fn fits(util: u64, capacity: u64) -> bool {
    1280 * util < 1024 * capacity
}

/// Whether a CPU has clearly more than another one, by a twentieth (capacity_greater).
pub(in crate::fair) fn greater(capacity: u64, other: u64) -> bool {
    1024 * capacity > 1078 * other
}

/// How well something fits a CPU; the later, the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::fair) enum Fit {
    /// It finds too little there.
    No,
    /// It finds what it uses, but not what its lower clamp asks for.
    NotAsAsked,
    /// It finds enough.
    Yes,
}

/// How well what uses so much within clamps fits a CPU of which so much is `left` and that is worth `full`
/// (util_fits_cpu).
fn fit_within(util: u64, Clamps { min, max }: Clamps, left: u64, full: u64) -> Fit {
    let (min, max) = (u64::from(min.min(max)), u64::from(max));
    // No upper clamp at all is none that the best CPU is worth.
    let is_capped = max <= full && !(full == FULL && max == FULL);
    match fits(util, left) || is_capped {
        true if util < min && min > full => Fit::NotAsAsked,
        true => Fit::Yes,
        false => Fit::No,
    }
}

/// How well so much, within clamps, fits a CPU in this kernel.
pub(in crate::fair) fn fit<P: Platform>(me: ThisCpu<'_, P>, util: u64, clamps: Clamps, cpu: CpuId) -> Fit {
    let left = capacity_of(me, cpu);
    match me.k.config.rules.uclamp.get() {
        Uclamp::Fits => fit_within(util, clamps, left, me.k.full_capacity(cpu)),
        Uclamp::Margin if fits(clamps.of(util), left) => Fit::Yes,
        Uclamp::Off if fits(util, left) => Fit::Yes,
        Uclamp::Margin | Uclamp::Off => Fit::No,
    }
}

/// How well a task fits a CPU.
pub(in crate::fair) fn task_fit<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpu: CpuId) -> Fit {
    fit(me, task_util_estimate(me, p), me.k.clamps_of(me.task(p)), cpu)
}

/// Whether a task finds enough on a CPU. Where CPUs are alike it is never asked.
#[inline]
pub(in crate::fair) fn task_fits<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpu: CpuId) -> bool {
    !me.k.tasks_must_fit() || task_fit(me, p, cpu) == Fit::Yes
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

    /// The examples of deadline-groups B11.
    #[test]
    fn clamps_decide_before_the_margin_does() {
        let fit = |util, min, max, full| fit_within(util, Clamps { min, max }, full, full);
        assert_eq!(fit(100, 600, 1024, 512), Fit::NotAsAsked);
        assert_eq!(fit(100, 600, 1024, 1024), Fit::Yes);
        assert_eq!(fit(500, 0, 300, 400), Fit::Yes, "capped");
        assert_eq!(fit(500, 0, 401, 400), Fit::No);
        assert_eq!(fit(500, 0, 400, 400), Fit::Yes, "what a CPU is worth is a cap");
        assert_eq!(fit(1000, 0, 300, 1024), Fit::Yes, "capped on the best CPU");
        assert_eq!(fit(1000, 0, 1024, 1024), Fit::No, "no clamp is none that the best CPU is worth");
        assert_eq!(fit(500, 600, 300, 400), Fit::Yes, "the lower one is no higher than the upper one");
    }

    #[test]
    fn a_twentieth_is_clearly_more() {
        assert_eq!([greater(1024, 972), greater(1024, 973)], [true, false]);
        assert!(!greater(539, 512), "1024 × 539 = 1078 × 512");
    }
}
