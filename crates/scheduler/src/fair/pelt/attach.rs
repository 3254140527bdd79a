//! A task's share in its queue's averages: it joins with the task, stays while the task sleeps, and leaves
//! with it (fair-placement 1.7).

use super::average::{Average, FULL, MIN_DIVIDER};
use crate::Nanos;
use crate::shared::Kept;

/// What tasks took along that left this queue asleep. They leave without its lock, so it is subtracted at the
/// queue's next update. (In this order in memory: each update looks at the first field.)
#[derive(Debug, Default)]
#[repr(C)]
pub struct Removed {
    tasks: Kept<u32>,
    /// Of their load averages the sum.
    pub load_avg: Kept<u64>,
    /// Of their runnable averages.
    pub runnable_avg: Kept<u64>,
    /// Of their averages of running.
    pub util_avg: Kept<u64>,
}

impl Removed {
    /// A task leaves.
    pub(super) fn add(&self, task: &Average) {
        self.tasks.set(self.tasks.get() + 1);
        self.load_avg.set(self.load_avg.get() + task.load_avg.get());
        self.runnable_avg.set(self.runnable_avg.get() + task.runnable_avg.get());
        self.util_avg.set(self.util_avg.get() + task.util_avg.get());
    }

    /// Of how much time that was runnable this is, in the units of the queue's sums.
    pub fn runnable_units(&self, queue: &Average) -> u64 {
        self.runnable_avg.get() * queue.divider() / FULL
    }

    /// Subtracts from the queue what has left, if anything has; of how much time that was runnable the sum
    /// is, in units.
    #[inline]
    pub(super) fn apply(&self, queue: &Average) -> Option<u64> {
        if self.tasks.get() == 0 {
            return None;
        }
        self.tasks.set(0);
        let divider = queue.divider();
        let runnable = self.runnable_units(queue);
        let pairs = [
            (&queue.load_avg, &queue.load_sum, self.load_avg.take()),
            (&queue.runnable_avg, &queue.runnable_sum, self.runnable_avg.take()),
            (&queue.util_avg, &queue.util_sum, self.util_avg.take()),
        ];
        for (average, sum, gone) in pairs {
            subtract(average, sum, gone, gone * divider);
        }
        Some(runnable)
    }
}

/// Takes a share out of an average and its sum. What is left of the sum is enough for what is left of the
/// average, however both were rounded.
fn subtract(average: &Kept<u64>, sum: &Kept<u64>, gone_average: u64, gone_sum: u64) {
    average.set(average.get().saturating_sub(gone_average));
    sum.set(sum.get().saturating_sub(gone_sum).max(average.get() * MIN_DIVIDER));
}

fn add(to: &Kept<u64>, share: u64) {
    to.set(to.get() + share);
}

/// A task joins a queue that is up to date: from now on both count the same periods.
pub(super) fn attach(queue: &Average, task: &Average, weight: u64) {
    let divider = queue.divider();
    task.last_update_time.set(queue.last_update_time.get());
    task.period_contrib.set(queue.period_contrib.get());
    task.util_sum.set(task.util_avg.get() * divider);
    task.runnable_sum.set(task.runnable_avg.get() * divider);
    let load_sum = task.load_avg.get() * divider;
    task.load_sum.set(if load_sum > weight { load_sum / weight } else { 1 });
    attach_load(queue, task, weight);
    add(&queue.util_avg, task.util_avg.get());
    add(&queue.util_sum, task.util_sum.get());
    add(&queue.runnable_avg, task.runnable_avg.get());
    add(&queue.runnable_sum, task.runnable_sum.get());
}

/// A task leaves its queue; both are up to date.
pub(super) fn detach(queue: &Average, task: &Average, weight: u64) {
    detach_load(queue, task, weight);
    subtract(&queue.util_avg, &queue.util_sum, task.util_avg.get(), task.util_sum.get());
    subtract(&queue.runnable_avg, &queue.runnable_sum, task.runnable_avg.get(), task.runnable_sum.get());
}

fn attach_load(queue: &Average, task: &Average, weight: u64) {
    add(&queue.load_avg, task.load_avg.get());
    add(&queue.load_sum, task.load_sum.get() * weight);
}

fn detach_load(queue: &Average, task: &Average, weight: u64) {
    subtract(&queue.load_avg, &queue.load_sum, task.load_avg.get(), task.load_sum.get() * weight);
}

/// The weight of a task changes, while its share stays in `queue`.
pub(super) fn reweight(queue: &Average, task: &Average, old: u64, new: u64) {
    detach_load(queue, task, old);
    task.load_avg.set(new * task.load_sum.get() / task.divider());
    attach_load(queue, task, new);
}

/// Utilisation at which a new task starts, with `queue` the one that it is about to enter: half of what is
/// free on that CPU, or less where the queue's utilisation is small for its load. The weight counts in the
/// kernel's finer unit (4.7 to 6.9).
pub(super) fn initial_utilisation(queue: &Average, weight: u64, capacity: u64) -> u64 {
    let cap = capacity.saturating_sub(queue.util_avg.get()) / 2;
    match queue.util_avg.get() {
        0 => cap,
        util => cap.min(util * weight * FULL / (queue.load_avg.get() + 1)),
    }
}

/// Averages of a new task: nothing is known but its weight.
pub(super) fn reset(task: &Average, weight: u64) {
    task.clear();
    task.load_avg.set(weight);
}

/// Not attached, and nothing has been counted since: the next queue decides where its periods start.
pub(super) fn forget_time(task: &Average) {
    task.last_update_time.set(Nanos::ZERO);
}

#[cfg(test)]
mod tests {
    use super::super::average::Activity;
    use super::*;

    fn queue(util: u64, load: u64) -> Average {
        let queue = Average::default();
        queue.util_avg.set(util);
        queue.load_avg.set(load);
        queue
    }

    fn new_task() -> Average {
        let task = Average::default();
        reset(&task, 1024);
        task
    }

    #[test]
    fn e11_a_new_task_gets_half_of_what_is_free() {
        for (util, load, starts_at) in
            [(0, 0, 512), (400, 1024, 312), (1000, 2048, 12), (1, 5000, 209), (1024, 1024, 0)]
        {
            assert_eq!(
                initial_utilisation(&queue(util, load), 1024, 1024),
                starts_at,
                "util {util}, load {load}"
            );
        }
    }

    #[test]
    fn e12_a_task_joins_with_sums_that_fit_its_averages() {
        let (queue, task) = (queue(0, 0), new_task());
        queue.period_contrib.set(300);
        task.util_avg.set(512);
        attach(&queue, &task, 1024);
        assert_eq!((task.load_sum.get(), task.util_sum.get()), (47_018, 24_073_216));
        assert_eq!(queue.load_sum.get(), 48_146_432);
        assert_eq!((queue.load_avg.get(), queue.util_avg.get()), (1024, 512));
    }

    #[test]
    fn a_light_share_is_not_rounded_to_nothing() {
        let (queue, task) = (queue(0, 0), new_task());
        task.load_avg.set(0);
        attach(&queue, &task, 88_761);
        assert_eq!(task.load_sum.get(), 1);
    }

    /// fair-placement I3, I22: what was attached can be detached, and leaves enough of every sum.
    #[test]
    fn what_joins_can_leave() {
        let (queue, first, second) = (queue(0, 0), new_task(), new_task());
        for (task, weight) in [(&first, 1024), (&second, 335)] {
            task.load_avg.set(weight);
            task.util_avg.set(300);
            attach(&queue, task, weight);
        }
        queue.update(Nanos::from_millis(7), Activity { load: 1359, runnable: 2, running: true }, 1);
        for task in [&first, &second] {
            task.update(Nanos::from_millis(7), Activity::WAITING, 1024);
        }
        detach(&queue, &first, 1024);
        let enough = |avg: &Kept<u64>, sum: &Kept<u64>| sum.get() >= avg.get() * MIN_DIVIDER;
        assert!(enough(&queue.load_avg, &queue.load_sum) && enough(&queue.util_avg, &queue.util_sum));
        assert!(queue.load_avg.get().abs_diff(335) <= 2, "{queue:?}");
        second.load_avg.set(5000);
        detach(&queue, &second, 335);
        assert_eq!(queue.load_avg.get(), 0, "never below zero");
    }

    #[test]
    fn a_sleeper_that_leaves_is_subtracted_at_the_next_update() {
        let (queue, task, removed) = (queue(0, 0), new_task(), Removed::default());
        attach(&queue, &task, 1024);
        assert_eq!(removed.apply(&queue), None);
        removed.add(&task);
        assert_eq!(queue.load_avg.get(), 1024, "not yet");
        assert!(removed.apply(&queue).is_some());
        assert_eq!((queue.load_avg.get(), queue.load_sum.get()), (0, 0));
        assert_eq!(removed.apply(&queue), None, "once");
    }

    #[test]
    fn a_new_weight_changes_the_share_at_once() {
        let (queue, task) = (queue(0, 0), new_task());
        attach(&queue, &task, 1024);
        reweight(&queue, &task, 1024, 335);
        assert_eq!((task.load_avg.get(), queue.load_avg.get()), (335, 335));
    }
}
