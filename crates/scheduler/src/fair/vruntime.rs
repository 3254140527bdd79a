//! Virtual time: how real time becomes it, how the running task is charged, how the queue's floor moves
//! (fair-class 1.2, 1.3, 2.3, 2.4).

use super::entity::FairEntity;
use super::start_nice;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Event, NICE_0_LOAD, Nanos};

/// How far virtual time `a` is to the right of `b`, in ns; negative: to the left. Virtual times wrap around,
/// so this is the only way to compare them.
#[inline]
pub fn lag(a: u64, b: u64) -> i64 {
    a.wrapping_sub(b) as i64
}

/// The one further right.
#[inline]
pub(super) fn later(a: u64, b: u64) -> u64 {
    if lag(a, b) > 0 { a } else { b }
}

/// The one further left.
#[inline]
pub(super) fn earlier(a: u64, b: u64) -> u64 {
    if lag(a, b) < 0 { a } else { b }
}

/// `delta × weight / total`, rounded half up, at most `i64::MAX` (fair-class 1.2).
#[inline]
pub(super) fn proportion(delta: u64, weight: u64, total: u64) -> u64 {
    match delta.checked_mul(weight).and_then(|p| p.checked_add(total / 2)) {
        Some(product) => (product / total).min(i64::MAX as u64),
        None => {
            let wide = (u128::from(delta) * u128::from(weight) + u128::from(total / 2)) / u128::from(total);
            wide.min(i64::MAX as u128) as u64
        }
    }
}

impl FairEntity {
    /// Real time in ns to virtual time of this task, START_NICE penalty included (fair-class 1.3).
    #[inline]
    pub(super) fn vdelta(&self, delta: u64) -> u64 {
        let weight = self.weight.get();
        let scaled = if weight == NICE_0_LOAD { delta } else { proportion(delta, NICE_0_LOAD, weight) };
        self.penalised(scaled)
    }

    /// Shifts a time by the START_NICE penalty, whether the feature is on or not.
    #[inline]
    pub(super) fn penalised(&self, delta: u64) -> u64 {
        match self.penalty.get() {
            0 => delta,
            penalty => delta.saturating_mul(1 << penalty).min(i64::MAX as u64),
        }
    }
}

/// Accounts the running fair task's time up to the queue's clock (fair-class 2.3).
pub(crate) fn update_curr<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let Some(curr) = rq.fair.curr else { return };
    let task = rq.me.task(curr);
    let (stats, now) = (&task.stats, rq.clock);
    let delta = now.saturating_sub(stats.exec_start.get());
    if delta == Nanos::ZERO {
        return;
    }
    stats.exec_start.set(now);
    let sum = stats.sum_exec_runtime.get() + delta;
    stats.sum_exec_runtime.set(sum);
    if delta > stats.exec_max.get() {
        stats.exec_max.set(delta);
    }
    rq.fair.exec_clock += delta;

    // The interval that crosses the end of a penalty is still charged with it.
    let vdelta = task.se.vdelta(delta.0);
    start_nice::expire(&task.se, sum);
    let vruntime = task.se.vruntime.get().wrapping_add(vdelta);
    task.se.vruntime.set(vruntime);
    update_min_vruntime(rq);
    rq.me.event(Event::StatRuntime { task: curr, runtime: delta, vruntime });
}

/// Moves the queue's floor up to the leftmost of the running and the waiting tasks; never back (fair-class
/// 2.4). A running task that has just blocked counts until it is replaced, as up to 2.6.36.
pub(super) fn update_min_vruntime<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let left = rq.fair.timeline.leftmost().map(|w| w.vruntime);
    let curr = rq.fair.curr.map(|c| rq.me.task(c).se.vruntime.get());
    let Some(candidate) = left.into_iter().chain(curr).reduce(earlier) else { return };
    let floor = &rq.published.min_vruntime;
    floor.set(rq, later(floor.get(), candidate));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nice;

    fn entity(nice: i8, penalty: u8) -> FairEntity {
        let se = FairEntity::default();
        se.reset(Nice::new(nice).expect("-20 to 19").weight());
        se.penalty.set(penalty);
        se
    }

    /// fair-class 1.2: rounding half up, exact at any size.
    #[test]
    fn proportions_are_exact() {
        assert_eq!(proportion(5, 1, 2), 3);
        assert_eq!(proportion(4, 1, 3), 1);
        assert_eq!(proportion(6_000_000, 15, 1039), 86_622);
        assert_eq!(proportion(u64::MAX / 2, 88761, 88761), u64::MAX / 2);
        assert_eq!(proportion(u64::MAX, 88761, 15), i64::MAX as u64);
    }

    /// fair-class 1.3.
    #[test]
    fn virtual_time_passes_at_1024_over_weight() {
        assert_eq!(entity(0, 0).vdelta(1_000_000), 1_000_000);
        assert_eq!(entity(5, 0).vdelta(3_000_000), 9_170_149, "A6: 9.17 ms");
        assert_eq!(entity(-20, 0).vdelta(1_000_000), 11_537);
        assert_eq!(entity(0, 3).vdelta(1_000_000), 8_000_000);
        assert_eq!(entity(5, 2).vdelta(3_000_000), 4 * 9_170_149, "shifted after the weight");
        assert_eq!(entity(19, 8).vdelta(u64::MAX / 4), i64::MAX as u64);
    }

    #[test]
    fn comparisons_survive_the_wrap() {
        assert_eq!(lag(3, u64::MAX), 4);
        assert_eq!(later(3, u64::MAX), 3);
        assert_eq!(earlier(3, u64::MAX), u64::MAX);
    }
}
