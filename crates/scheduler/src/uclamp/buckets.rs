//! The clamps of a run queue (deadline-groups B11): the highest of those of its tasks, from which the
//! frequency of the CPU follows.
//!
//! A queue does not know each of its tasks' values: it counts in five buckets, each of which remembers the
//! highest value that came in since it was empty. So what a task asked for may stay for a while after it has
//! gone. Counted is only on machines whose CPUs can change their frequency.

use super::Clamps;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::shared::Kept;
use crate::{FULL_CAPACITY, TaskId};

const BUCKETS: usize = 5;
/// Of values, rounded to the nearest.
const WIDTH: u16 = ((FULL_CAPACITY as usize + BUCKETS / 2) / BUCKETS) as u16;

/// Both clamps of a queue.
#[derive(Debug, Default)]
pub struct CpuClamps {
    min: Highest,
    max: Highest,
    /// Nobody is queued: the upper clamp is still that of who was.
    is_held: Kept<bool>,
    has_been_used: Kept<bool>,
}

/// The highest value of those that are counted.
#[derive(Debug, Default)]
struct Highest {
    buckets: [Bucket; BUCKETS],
    value: Kept<u16>,
}

#[derive(Debug, Default)]
struct Bucket {
    tasks: Kept<u32>,
    highest: Kept<u16>,
}

impl Highest {
    fn bucket(&self, value: u16) -> &Bucket {
        &self.buckets[usize::from(value / WIDTH).min(BUCKETS - 1)]
    }

    fn add(&self, value: u16) {
        let bucket = self.bucket(value);
        let others = bucket.tasks.replace(bucket.tasks.get() + 1);
        bucket.highest.set(if others == 0 { value } else { bucket.highest.get().max(value) });
        self.value.set(self.value.get().max(value));
    }

    /// Takes one out; `empty` is the value of none.
    fn remove(&self, value: u16, empty: impl FnOnce(u16) -> u16) {
        let bucket = self.bucket(value);
        bucket.tasks.set(bucket.tasks.get() - 1);
        if bucket.tasks.get() > 0 {
            return;
        }
        let filled = self.buckets.iter().rfind(|bucket| bucket.tasks.get() > 0);
        self.value.set(filled.map_or_else(|| empty(self.value.get()), |bucket| bucket.highest.get()));
    }
}

impl CpuClamps {
    /// Those that count now.
    pub(crate) fn in_force(&self) -> Clamps {
        if !self.has_been_used.get() {
            return Clamps::NONE;
        }
        Clamps { min: self.min.value.get(), max: self.max.value.get() }
    }

    /// Whether nobody is counted.
    pub(crate) fn are_of_nobody(&self) -> bool {
        self.is_held.get() || !self.has_been_used.get()
    }

    fn add(&self, clamps: Clamps) {
        if self.are_of_nobody() {
            self.has_been_used.set(true);
            self.is_held.set(false);
            self.max.value.set(0);
        }
        self.min.add(clamps.min);
        self.max.add(clamps.max);
    }

    fn remove(&self, clamps: Clamps) {
        self.min.remove(clamps.min, |_| 0);
        self.max.remove(clamps.max, |last| {
            self.is_held.set(true);
            last
        });
    }

    /// How many tasks it counts.
    pub(crate) fn tasks(&self) -> u32 {
        self.max.buckets.iter().map(|bucket| bucket.tasks.get()).sum()
    }
}

/// A task competes here: its clamps count (uclamp_rq_inc).
#[inline]
pub(crate) fn comes<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    if rq.me.k.frequencies.are_known() {
        count(rq, p);
    }
}

#[cold]
fn count<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    let task = rq.me.task(p);
    if task.class.get().has_clamps() && task.clamps.counted.get().is_none() {
        let clamps = rq.me.k.clamps_of(task);
        task.clamps.counted.set(Some(clamps));
        rq.published.clamps.add(clamps);
    }
}

/// It does no longer (uclamp_rq_dec).
#[inline]
pub(crate) fn goes<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) {
    if rq.me.k.frequencies.are_known()
        && let Some(clamps) = rq.me.task(p).clamps.counted.replace(None)
    {
        rq.published.clamps.remove(clamps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clamps(min: u16, max: u16) -> Clamps {
        Clamps { min, max }
    }

    /// The highest of each; a lower one lingers in its bucket's highest.
    #[test]
    fn the_highest_counts_until_its_bucket_is_empty() {
        let cpu = CpuClamps::default();
        assert_eq!(cpu.in_force(), Clamps::NONE);
        cpu.add(clamps(210, 300));
        cpu.add(clamps(400, 900));
        assert_eq!(cpu.in_force(), clamps(400, 900));
        cpu.remove(clamps(400, 900));
        assert_eq!(cpu.in_force(), clamps(400, 300), "205 to 409 are one bucket, 300 and 900 are not");
        cpu.remove(clamps(210, 300));
        assert_eq!(cpu.in_force(), clamps(0, 300), "the upper one is held");
        assert!(cpu.are_of_nobody());
        cpu.add(clamps(0, 100));
        assert_eq!(cpu.in_force(), clamps(0, 100), "until the next task");
        assert_eq!(cpu.tasks(), 1);
    }
}
