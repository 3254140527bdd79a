//! What a task remembers of where it ran and whom it wakes (fair-placement 2.5, 2.7).

use crate::fair::cpu_load::tick_period;
use crate::platform::Platform;
use crate::registry::WakeWide;
use crate::shared::Kept;
use crate::task::Task;
use crate::{CpuId, Nanos, TaskId, ThisCpu};

/// A task's habits in waking others.
#[derive(Clone, Debug, Default)]
pub struct WakeHabits {
    /// Whom it woke last.
    last_wakee: Kept<Option<TaskId>>,
    /// How often that was another one than before, halved each second.
    flips: Kept<u32>,
    /// When that was halved.
    halved_at: Kept<Nanos>,
    /// The CPU before its last one.
    pub(super) recent_used_cpu: Kept<CpuId>,
}

impl WakeHabits {
    /// A child starts with its parent's habits, and comes from the CPU that its parent runs on.
    fn inherit(&self, parent: &WakeHabits, cpu: CpuId) {
        self.last_wakee.set(parent.last_wakee.get());
        self.flips.set(parent.flips.get());
        self.halved_at.set(parent.halved_at.get());
        self.recent_used_cpu.set(cpu);
    }

    pub(in crate::fair) fn reset(&self) {
        self.inherit(&WakeHabits::default(), CpuId::default());
    }

    #[cfg(test)]
    pub(in crate::fair) fn set_recent_used_cpu(&self, cpu: CpuId) {
        self.recent_used_cpu.set(cpu);
    }

    #[cfg(test)]
    pub(in crate::fair) fn recent_used_cpu(&self) -> CpuId {
        self.recent_used_cpu.get()
    }

    #[cfg(test)]
    pub(in crate::fair) fn set_flips(&self, flips: u32) {
        self.flips.set(flips);
    }

    fn wakes(&self, woken: TaskId, now: Nanos, tick: Nanos) {
        // More than a second's worth of ticks later; once, however long ago that was.
        let ticks = |at: Nanos| at.0 / tick.0;
        if ticks(now) > ticks(self.halved_at.get()) + 1_000_000_000 / tick.0 {
            self.flips.set(self.flips.get() / 2);
            self.halved_at.set(now);
        }
        if self.last_wakee.replace(Some(woken)) != Some(woken) {
            self.flips.set(self.flips.get() + 1);
        }
    }
}

/// The running task forks: `child` has its habits.
pub(crate) fn inherit_habits<P: Platform>(me: ThisCpu<'_, P>, child: &Task) {
    child.se.habits.inherit(&me.task(me.curr()).se.habits, me.id);
}

/// The running task, or the one that an interrupt found running, wakes `p`: counted, and whether the two wake
/// so many others that drawing them together would crowd the cache.
pub(super) fn wakes_widely<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> bool {
    if me.k.config.rules.wake_wide.get() == WakeWide::Off {
        return false;
    }
    record_wakee(me, p);
    let waker = me.task(me.curr());
    wake_wide(waker.se.habits.flips.get(), me.task(p).se.habits.flips.get(), me.k.llc_size(me.id))
}

/// The running task, or the one that an interrupt found running, wakes `p`.
pub(super) fn record_wakee<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) {
    if me.k.config.rules.wake_wide.get() != WakeWide::Off {
        me.task(me.curr()).se.habits.wakes(p, me.now(), tick_period(me));
    }
}

/// Whether a waker of many and one of its many woken are too many for a cache of so many CPUs.
fn wake_wide(waker_flips: u32, woken_flips: u32, cpus: u32) -> bool {
    let (most, least) = (waker_flips.max(woken_flips), waker_flips.min(woken_flips));
    least >= cpus && most >= least * cpus
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Nanos = Nanos::from_millis(4);

    #[test]
    fn a_server_and_its_clients_are_wide() {
        let of_eight = |a, b| wake_wide(a, b, 8);
        assert!(of_eight(64, 8) && of_eight(8, 64));
        assert!(!of_eight(63, 8), "the larger must be so many times the smaller");
        assert!(!of_eight(1000, 7), "the smaller must reach the number of CPUs");
        assert!(wake_wide(1, 1, 1), "no cache is shared");
    }

    #[test]
    fn only_another_partner_counts_and_counts_fade() {
        let habits = WakeHabits::default();
        let wakes = |task, ms| habits.wakes(TaskId(task), Nanos::from_millis(ms), TICK);
        for task in [1, 1, 2, 1, 2, 2] {
            wakes(task, 1);
        }
        assert_eq!(habits.flips.get(), 4);
        wakes(2, 1000);
        assert_eq!(habits.flips.get(), 4, "not more than a second");
        wakes(2, 5000);
        assert_eq!(habits.flips.get(), 2, "once, although five seconds passed");
        let child = WakeHabits::default();
        child.inherit(&habits, CpuId(3));
        assert_eq!((child.flips.get(), child.recent_used_cpu.get()), (2, CpuId(3)));
    }
}
