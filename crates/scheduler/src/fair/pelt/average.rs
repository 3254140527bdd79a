//! One set of averages, of a task or of a queue (fair-placement 1.1, 1.3, 1.4).

use super::decay::{MAX_SUM, decay};
use crate::Nanos;
use crate::shared::Kept;

/// Units of a period; a unit is 1024 ns, so a period is 1.05 ms.
const PERIOD: u64 = 1024;

/// What being active all the time comes to, and what runnable and running are counted in.
pub(super) const FULL: u64 = 1024;

/// The smallest divisor from a sum to its average: at the very beginning of a period.
pub(super) const MIN_DIVIDER: u64 = MAX_SUM - PERIOD;

/// Decaying averages of load, of being runnable and of running.
#[derive(Clone, Debug, Default)]
pub struct Average {
    /// Up to when it is counted; whole units from where it started.
    pub last_update_time: Kept<Nanos>,
    /// Units of the present period that are counted, 0 to 1023.
    pub period_contrib: Kept<u64>,
    /// What `load_avg` is computed from: units, of a queue times weight.
    pub load_sum: Kept<u64>,
    /// The same of `runnable_avg`, in 1024ths of a unit.
    pub runnable_sum: Kept<u64>,
    /// The same of `util_avg`, in 1024ths of a unit.
    pub util_sum: Kept<u64>,
    /// Weight, as far as it was runnable: for a task at most its weight, for a queue the sum of its tasks'.
    pub load_avg: Kept<u64>,
    /// Runnable tasks in 1024ths: at most 1024 for a task.
    pub runnable_avg: Kept<u64>,
    /// Part of the time that it ran, in 1024ths.
    pub util_avg: Kept<u64>,
}

/// What was going on since the last update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::fair) struct Activity {
    /// What counts as load: 1 for a task that is runnable, the weight of a queue.
    pub load: u64,
    /// Number of runnable tasks.
    pub runnable: u64,
    /// Whether one of them ran.
    pub running: bool,
}

impl Activity {
    /// Asleep, or an empty queue.
    pub const NONE: Activity = Activity { load: 0, runnable: 0, running: false };
    /// A task that waits.
    pub const WAITING: Activity = Activity { load: 1, runnable: 1, running: false };
    /// A task that runs.
    pub const RUNNING: Activity = Activity { load: 1, runnable: 1, running: true };
}

impl Average {
    /// Forgets everything.
    pub(super) fn clear(&self) {
        self.last_update_time.set(Nanos::ZERO);
        self.period_contrib.set(0);
        for sum in [&self.load_sum, &self.runnable_sum, &self.util_sum] {
            sum.set(0);
        }
        for average in [&self.load_avg, &self.runnable_avg, &self.util_avg] {
            average.set(0);
        }
    }

    /// Counts what was going on up to `now`; whether the averages were computed anew, which happens at most
    /// once a period. `factor` is what a load sum stands for: a task's weight, 1 for a queue.
    #[inline]
    pub(in crate::fair) fn update(&self, now: Nanos, active: Activity, factor: u64) -> bool {
        let last = self.last_update_time.get();
        let Some(passed) = now.0.checked_sub(last.0) else {
            self.last_update_time.set(now);
            return false;
        };
        let units = passed >> 10;
        if units == 0 {
            return false;
        }
        self.last_update_time.set(last + Nanos(units << 10));
        let crossed = self.accumulate(units, active);
        if crossed {
            self.recompute(factor);
        }
        crossed
    }

    /// Adds so many units to the sums; whether a period ended.
    fn accumulate(&self, units: u64, active: Activity) -> bool {
        let before = self.period_contrib.get();
        let (periods, rest) = ((units + before) / PERIOD, (units + before) % PERIOD);
        self.period_contrib.set(rest);
        let mut counted = units;
        if periods > 0 {
            for sum in [&self.load_sum, &self.runnable_sum, &self.util_sum] {
                sum.set(decay(sum.get(), periods));
            }
            if active.load > 0 {
                let between = MAX_SUM - decay(MAX_SUM, periods) - PERIOD;
                counted = decay(PERIOD - before, periods) + between + rest;
            }
        }
        if active.load > 0 {
            self.load_sum.set(self.load_sum.get() + active.load * counted);
            self.runnable_sum.set(self.runnable_sum.get() + active.runnable * counted * FULL);
            if active.running {
                self.util_sum.set(self.util_sum.get() + counted * FULL);
            }
        }
        periods > 0
    }

    fn recompute(&self, factor: u64) {
        let divider = self.divider();
        self.load_avg.set(factor * self.load_sum.get() / divider);
        self.runnable_avg.set(self.runnable_sum.get() / divider);
        self.util_avg.set(self.util_sum.get() / divider);
    }

    /// Whether the sums of running and of being runnable are as large as the averages need.
    pub(crate) fn sums_suffice(&self) -> bool {
        self.util_sum.get() >= self.util_avg.get() * MIN_DIVIDER
            && self.runnable_sum.get() >= self.runnable_avg.get() * MIN_DIVIDER
    }

    /// The largest sum at this point of the period.
    pub(super) fn divider(&self) -> u64 {
        MIN_DIVIDER + self.period_contrib.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Activity as A;

    const WEIGHT: u64 = 1024;

    fn us(us: u64) -> Nanos {
        Nanos::from_micros(us)
    }

    /// A task goes on like this for so long, in steps.
    fn spend(task: &Average, active: Activity, total: Nanos, step: Nanos) {
        let from = task.last_update_time.get();
        for n in 1..=total.0 / step.0 {
            task.update(from + step * n, active, WEIGHT);
        }
    }

    /// A task that has run for a second, looked at every 4 ms.
    fn hog() -> Average {
        let task = Average::default();
        (1..=250).for_each(|n| _ = task.update(Nanos::from_millis(4) * n, A::RUNNING, WEIGHT));
        task
    }

    #[test]
    fn e1_utilisation_rises_to_one_half_in_32_periods() {
        let rows = [
            (1, 0),
            (2, 41),
            (4, 81),
            (8, 156),
            (10, 191),
            (16, 288),
            (32, 495),
            (64, 751),
            (100, 894),
            (345, 1023),
            (1000, 1024),
        ];
        for (ms, util) in rows {
            let task = Average::default();
            task.update(Nanos::from_millis(ms), A::RUNNING, WEIGHT);
            assert_eq!(task.util_avg.get(), util, "after {ms} ms");
        }
    }

    #[test]
    fn e2_a_hog_is_counted_whole() {
        let task = hog();
        let all = [task.util_avg.get(), task.load_avg.get(), task.runnable_avg.get()];
        assert_eq!(all, [1024, 1023, 1024]);
    }

    #[test]
    fn e3_what_is_asleep_fades() {
        for (ms, util) in [(1, 1003), (4, 942), (10, 832), (32, 528), (64, 272), (100, 129), (320, 1)] {
            let task = hog();
            task.update(Nanos::from_millis(1000 + ms), A::NONE, WEIGHT);
            assert_eq!(task.util_avg.get(), util, "after {ms} ms");
            // Its sum is kept 1024 times coarser.
            assert!([util, util - 1].contains(&task.load_avg.get()), "after {ms} ms");
        }
    }

    #[test]
    fn e4_e5_periodic_tasks_swing_around_their_share() {
        let periodic = |runs_ms: u64, sleeps_ms: u64| {
            let (task, mut now, mut ends) = (Average::default(), Nanos::ZERO, (0, 0));
            while now < Nanos::from_secs(4) {
                now += Nanos::from_millis(runs_ms);
                task.update(now, A::RUNNING, WEIGHT);
                ends.0 = task.util_avg.get();
                now += Nanos::from_millis(sleeps_ms);
                task.update(now, A::NONE, WEIGHT);
                ends.1 = task.util_avg.get();
            }
            ends
        };
        assert_eq!(periodic(5, 5), (538, 485));
        assert_eq!(periodic(2, 18).0, 122);
    }

    #[test]
    fn e6_two_hogs_share_utilisation_but_not_load() {
        let (a, b) = (Average::default(), Average::default());
        for n in 0..500 {
            let now = Nanos::from_millis(4) * (n + 1);
            let of_a = n % 2 == 1;
            a.update(now, if of_a { A::RUNNING } else { A::WAITING }, WEIGHT);
            b.update(now, if of_a { A::WAITING } else { A::RUNNING }, WEIGHT);
        }
        let ended = [a.util_avg.get(), a.runnable_avg.get(), a.load_avg.get()];
        assert_eq!(ended, [533, 1024, 1023]);
    }

    #[test]
    fn e7_e8_a_queue_counts_all_its_tasks() {
        let queue = |load, runnable| {
            let queue = Average::default();
            let active = Activity { load, runnable, running: true };
            (1..=500).for_each(|n| _ = queue.update(Nanos::from_millis(4) * n, active, 1));
            [queue.load_avg.get(), queue.runnable_avg.get(), queue.util_avg.get()]
        };
        assert_eq!(queue(3072, 3), [3072, 3072, 1024]);
        assert_eq!(queue(15, 1), [15, 1024, 1024]);
    }

    #[test]
    fn e9_averages_move_at_the_end_of_a_period() {
        let task = Average::default();
        let state = || [task.util_avg.get(), task.period_contrib.get(), task.util_sum.get()];
        assert!(!task.update(us(500), A::RUNNING, WEIGHT));
        assert_eq!(state(), [0, 488, 499_712]);
        assert!(task.update(us(1100), A::RUNNING, WEIGHT));
        assert_eq!(state(), [23, 50, 1_076_780]);
    }

    /// 1.3: who has no load is neither runnable nor running.
    #[test]
    fn without_load_nothing_is_counted() {
        let queue = Average::default();
        queue.update(us(5_000), Activity { load: 0, runnable: 2, running: true }, 1);
        assert_eq!([queue.load_sum.get(), queue.runnable_sum.get(), queue.util_sum.get()], [0; 3]);
    }

    /// I3: each sum is at least its average times 46718.
    #[test]
    fn both_sums_have_to_suffice() {
        let suffice = |running, runnable| {
            let queue = Average::default();
            queue.util_avg.set(2);
            queue.runnable_avg.set(3);
            queue.util_sum.set(running);
            queue.runnable_sum.set(runnable);
            queue.sums_suffice()
        };
        assert!(suffice(2 * 46_718, 3 * 46_718));
        assert!(!suffice(2 * 46_718 - 1, 3 * 46_718) && !suffice(2 * 46_718, 3 * 46_718 - 1));
    }

    /// 1.4: what is left of a unit is counted next time, and a clock that goes back counts nothing.
    #[test]
    fn no_time_is_lost_between_units() {
        let (often, once) = (Average::default(), Average::default());
        spend(&often, A::RUNNING, us(10_000), Nanos(700));
        once.update(Nanos(10_000_000 / 700 * 700), A::RUNNING, WEIGHT);
        assert_eq!(often.last_update_time.get(), once.last_update_time.get());
        let sum = often.util_sum.get();
        assert!(!often.update(us(5), A::RUNNING, WEIGHT));
        assert_eq!((often.util_sum.get(), often.last_update_time.get()), (sum, us(5)));
    }
}
