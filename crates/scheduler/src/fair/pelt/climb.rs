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

#[cfg(test)]
mod tests {
    use super::*;

    /// What counts everything up to the beginning of a period, and so has the divider 46718.
    const D: u64 = MIN_DIVIDER;

    fn average(load: [u64; 2], util: [u64; 2]) -> Average {
        let average = Average::default();
        average.load_avg.set(load[0]);
        average.load_sum.set(load[1]);
        average.util_avg.set(util[0]);
        average.util_sum.set(util[1]);
        average
    }

    fn load(of: &Average) -> [u64; 2] {
        [of.load_avg.get(), of.load_sum.get()]
    }

    fn used(of: &Average) -> [u64; 2] {
        [of.util_avg.get(), of.util_sum.get()]
    }

    /// B4: use is copied to the entity, and the difference added to the queue in which it competes; runnable
    /// tasks likewise.
    #[test]
    fn the_levels_above_use_what_the_queue_uses() {
        let (queue, own, above) =
            (average([0; 2], [300, 0]), average([0; 2], [100, 100 * D]), average([0; 2], [500, 500 * D]));
        queue.runnable_avg.set(700);
        own.follow_use(&queue, &above);
        assert_eq!((used(&own), used(&above)), ([300, 300 * D], [700, 700 * D]));
        assert_eq!([own.runnable_avg.get(), above.runnable_avg.get()], [700; 2]);
        // Where nothing has changed, a sum with more detail stays.
        own.util_sum.set(300 * D + 5);
        own.follow_use(&queue, &above);
        assert_eq!((used(&own), used(&above)), ([300, 300 * D + 5], [700, 700 * D]));
    }

    /// B4, attach: the sum of the times that it was runnable grows by what has joined, up to the divider;
    /// load = weight × sum / divider. The entity weighs 512.
    #[test]
    fn what_joins_was_runnable_besides_what_was_there() {
        let joins = |joined: u64| {
            let (own, above) = (average([128, D / 4], [0; 2]), average([1128, 1128 * D], [0; 2]));
            own.follow_load(Change {
                joined: joined as i64,
                of_queue: 0,
                weight_of_queue: 0,
                weight: 512,
                to: &above,
            });
            [load(&own), load(&above)]
        };
        let quarter = D / 4;
        let grown = 1128 * D + 512 * quarter;
        assert_eq!(joins(quarter), [[255, 2 * quarter], [1255, grown]], "512 × 23358 / 46718 = 255.99");
        assert_eq!(joins(5 * D)[0], [512, D], "not more than all the time");
        assert_eq!(joins(0), [[128, quarter], [1128, 1128 * D]]);
    }

    /// B4, detach: what is left was as runnable as the queue's load sum is of its weight, and not less than
    /// what ran.
    #[test]
    fn what_leaves_was_as_runnable_as_what_stays() {
        let leaves = |of_queue: u64, weight_of_queue: u64, ran: u64| {
            let (own, above) = (average([512, D], [0, ran * 1024]), average([1512, 1512 * D], [0; 2]));
            own.follow_load(Change { joined: -1, of_queue, weight_of_queue, weight: 512, to: &above });
            [load(&own), load(&above)]
        };
        assert_eq!(leaves(1024 * (D / 2), 1024, 0), [[256, D / 2], [1256, 1512 * D - 512 * (D / 2)]]);
        assert_eq!(leaves(1024 * D * 2, 1024, 0)[0], [512, D], "it does not grow by that");
        assert_eq!(leaves(0, 0, 0), [[0, 0], [1000, 1000 * D]], "nobody is left");
        assert_eq!(leaves(0, 0, D / 4)[0], [127, D / 4], "who ran was runnable");
    }
}
