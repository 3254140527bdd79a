//! What real-time tasks leave of a CPU for fair ones (fair-placement 1.9).

use super::average::{Activity, Average, FULL};
use super::windows::Windows;
use crate::platform::Platform;
use crate::registry::CpuCapacity;
use crate::rq::RqGuard;
use crate::shared::Kept;
use crate::{CpuId, Nanos, ThisCpu};

/// A CPU's capacity for fair tasks.
#[derive(Debug)]
pub struct Capacity {
    /// What its real-time tasks use.
    pub(super) used_by_rt: Average,
    /// The same in windows of half a second.
    windows: Windows,
    /// As of the last refresh, in 1024ths: 1 to 1024.
    pub left: Kept<u64>,
}

impl Default for Capacity {
    fn default() -> Capacity {
        Capacity { used_by_rt: Average::default(), windows: Windows::default(), left: Kept::new(FULL) }
    }
}

impl Capacity {
    /// A real-time task has been running, or not, up to now.
    #[inline]
    pub(super) fn account(&self, now: Nanos, running: bool) {
        self.used_by_rt.update(now, if running { Activity::RUNNING } else { Activity::NONE }, 1);
    }
}

/// What is left of a CPU of which so much is used.
fn remaining(used: u64) -> u64 {
    FULL.saturating_sub(used).max(1)
}

/// A real-time task leaves the CPU, or has a tick.
#[inline]
pub(crate) fn real_time_ran<P: Platform>(rq: &RqGuard<'_, P>) {
    account(rq, true);
}

/// A real-time task takes the CPU from another class.
#[inline]
pub(crate) fn real_time_begins<P: Platform>(rq: &RqGuard<'_, P>) {
    account(rq, false);
}

/// A real-time task is charged so much CPU time.
#[inline]
pub(crate) fn real_time_charged<P: Platform>(rq: &RqGuard<'_, P>, ran: Nanos) {
    if rq.me.k.config.rules.cpu_capacity.get() == CpuCapacity::Windows {
        rq.published.pelt.capacity.windows.add(rq.clock, ran);
    }
}

#[inline]
fn account<P: Platform>(rq: &RqGuard<'_, P>, running: bool) {
    if rq.me.k.config.rules.cpu_capacity.get() == CpuCapacity::Pelt {
        rq.published.pelt.capacity.account(rq.clock, running);
    }
}

/// Computes a CPU's capacity anew (update_cpu_capacity).
pub(in crate::fair) fn refresh<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    let capacity = &me.k.rq(cpu).published.pelt.capacity;
    let used = match me.k.config.rules.cpu_capacity.get() {
        CpuCapacity::Pelt => capacity.used_by_rt.util_avg.get(),
        CpuCapacity::Windows => capacity.windows.used(me.now()),
        CpuCapacity::Ignored => 0,
    };
    let left = remaining(used);
    if (capacity.left.replace(left) < FULL) != (left < FULL) {
        let mut reduced = me.k.fair_root.reduced.borrow_mut();
        if left < FULL { reduced.insert(cpu) } else { reduced.remove(cpu) }
    }
}

/// What a CPU was worth to fair tasks at the last refresh, in 1024ths (capacity_of).
#[inline]
pub(in crate::fair) fn capacity_of<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    me.k.rq(cpu).published.pelt.capacity.left.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, fifo};

    #[test]
    fn e14_what_real_time_tasks_leave() {
        for (used, left) in [(0, 1024), (512, 512), (973, 51), (1023, 1), (1024, 1)] {
            assert_eq!(remaining(used), left, "{used} used");
        }
    }

    /// fair-placement E1, E3, 8.5: a FIFO hog drives a CPU's capacity to 1 in half a second, and gives it
    /// back as it leaves; without the rule nobody notices.
    #[test]
    fn a_real_time_hog_uses_its_cpu_up() {
        let left = |rule: &str| {
            let lab = Lab::new(2, "6.1.y", &["load_tracking=pelt", "sched_rt_runtime_us=-1", rule]);
            lab.spawn(fifo(1), 0);
            let refreshed = |ticks: u64| {
                for _ in 0..ticks {
                    lab.advance(Nanos::from_millis(4));
                    lab.tick(0);
                }
                refresh(lab.cpu(1), CpuId(0));
                capacity_of(lab.cpu(1), CpuId(0))
            };
            let all = [refreshed(0), refreshed(8), refreshed(125)];
            lab.block(0);
            lab.advance(Nanos::from_millis(32));
            lab.spawn(fifo(1), 0);
            [&all[..], &[refreshed(0)]].concat()
        };
        assert_eq!(left("cpu_capacity=pelt"), [1024, 529, 1, 496]);
        assert_eq!(left("cpu_capacity=ignored"), [1024; 4]);
        // Windows (8.5): 1024 × 32 / 532; (250 + 32) / 532; it runs no more: 282 / 564.
        assert_eq!(left("cpu_capacity=windows"), [1024, 1024 - 61, 1024 - 542, 512]);
    }
}
