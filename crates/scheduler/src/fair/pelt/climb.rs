//! The averages of a group's entity follow those of its group's queue, and the queue in which it competes
//! follows them (deadline-groups B4).

use super::average::{Average, FULL, MIN_DIVIDER};
use crate::shared::Kept;

/// What has joined or left the queue of a group.
#[derive(Clone, Copy, Debug)]
pub(in crate::fair) struct Change<'k> {
    /// The sum of the times, in units, that what has joined was runnable; negative: what has left.
    pub joined: i64,
    /// The load sum of the group's queue.
    pub of_queue: u64,
    /// Sum of the weights that are queued there.
    pub weight_of_queue: u64,
    /// What the group's entity weighs.
    pub weight: u64,
    /// The queue in which it competes.
    pub to: &'k Average,
}

impl Average {
    /// The entity of a group uses what its queue uses, and so does `to`, in which it competes.
    pub(in crate::fair) fn follow_use(&self, queue: &Average, to: &Average) {
        follow([&self.util_avg, &self.util_sum], queue.util_avg.get(), [&to.util_avg, &to.util_sum], to);
        let own = [&self.runnable_avg, &self.runnable_sum];
        follow(own, queue.runnable_avg.get(), [&to.runnable_avg, &to.runnable_sum], to);
    }

    /// The load of a group's entity follows what has joined: that was runnable besides what was there. What
    /// has left was as runnable as what stays; and who ran was runnable.
    pub(in crate::fair) fn follow_load(&self, change: Change<'_>) {
        if change.joined == 0 {
            return;
        }
        let (before, divider) = (self.load_sum.get(), change.to.divider());
        let runnable = if change.joined > 0 {
            (before + change.joined as u64).min(divider)
        } else {
            before.min(change.of_queue.checked_div(change.weight_of_queue).unwrap_or(0))
        };
        let runnable = runnable.max(self.util_sum.get() / FULL);
        let load = change.weight * runnable / divider;
        let by = load as i64 - self.load_avg.get() as i64;
        let sum_by = change.weight as i64 * (runnable as i64 - before as i64);
        self.load_sum.set(runnable);
        self.load_avg.set(load);
        shift([&change.to.load_avg, &change.to.load_sum], by, sum_by);
    }
}

/// An average and its sum become this average; those of the queue above move as far.
fn follow([own, own_sum]: [&Kept<u64>; 2], target: u64, above: [&Kept<u64>; 2], to: &Average) {
    let by = target as i64 - own.get() as i64;
    if by == 0 {
        return;
    }
    let sum = target * to.divider();
    let sum_by = sum as i64 - own_sum.get() as i64;
    own.set(target);
    own_sum.set(sum);
    shift(above, by, sum_by);
}

/// Moves an average and its sum, of which enough is left for the average.
fn shift([average, sum]: [&Kept<u64>; 2], by: i64, sum_by: i64) {
    average.set(average.get().saturating_add_signed(by));
    sum.set(sum.get().saturating_add_signed(sum_by).max(average.get() * MIN_DIVIDER));
}
