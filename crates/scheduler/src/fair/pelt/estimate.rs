//! What a task will use when it wakes: its utilisation as it fell asleep, and a slow average of that
//! (UTIL_EST, fair-placement 1.10).

use crate::shared::Kept;

/// A change of less than this is none.
const MARGIN: u64 = 10;

/// One over this is what the last activation weighs.
const WEIGHT: i64 = 4;

/// A task's estimate.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// Utilisation at the end of the last activation, in 1024ths of a CPU.
    pub enqueued: Kept<u64>,
    /// The slow average of it.
    pub ewma: Kept<u64>,
    /// Its averages were not computed anew since this was written.
    unchanged: Kept<bool>,
    /// What its queue's sum contains of it.
    pub(super) counted: Kept<u64>,
}

impl Estimate {
    pub(super) fn clear(&self) {
        self.enqueued.set(0);
        self.ewma.set(0);
        self.unchanged.set(false);
        self.counted.set(0);
    }

    /// What its queue's sum contains of it.
    pub(crate) fn counted_in_queue(&self) -> u64 {
        self.counted.get()
    }

    /// The estimate, but for what the task uses at the moment.
    #[inline]
    pub(super) fn of_last_activations(&self) -> u64 {
        self.ewma.get().max(self.enqueued.get())
    }

    /// The task's averages were computed anew.
    #[inline]
    pub(super) fn averages_changed(&self) {
        self.unchanged.set(false);
    }

    /// An activation ends with this utilisation, on a CPU that is worth so much. `fast_up`: the average
    /// follows a rise at once.
    pub(super) fn fall_asleep(&self, util: u64, capacity: u64, fast_up: bool) {
        if self.unchanged.get() {
            return;
        }
        let (ewma, before) = (self.ewma.get(), self.enqueued.get());
        if fast_up && ewma < util {
            self.store(util, util);
            return;
        }
        let apart = util as i64 - ewma as i64;
        if apart.unsigned_abs() >= MARGIN {
            // A CPU that never idled did not give it what it wanted.
            if util > capacity {
                return;
            }
            self.store(util, ((WEIGHT * ewma as i64 + apart) / WEIGHT) as u64);
        } else if before.abs_diff(util) >= MARGIN {
            self.store(util, ewma);
        }
    }

    fn store(&self, enqueued: u64, ewma: u64) {
        self.enqueued.set(enqueued);
        self.ewma.set(ewma);
        self.unchanged.set(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeps(estimate: &Estimate, util: u64, fast_up: bool) -> (u64, u64) {
        estimate.averages_changed();
        estimate.fall_asleep(util, 1024, fast_up);
        (estimate.enqueued.get(), estimate.ewma.get())
    }

    #[test]
    fn e13_fast_up_slowly_down() {
        let estimate = Estimate::default();
        for (util, ewma) in [(300, 300), (200, 275), (200, 256), (195, 240), (100, 205), (400, 400)] {
            assert_eq!(sleeps(&estimate, util, true), (util, ewma), "util {util}");
        }
        assert_eq!(estimate.of_last_activations(), 400);
    }

    /// Up to 5.4 the average rises as slowly as it falls.
    #[test]
    fn without_fastup_it_rises_slowly() {
        let estimate = Estimate::default();
        assert_eq!(sleeps(&estimate, 300, false), (300, 75));
        assert_eq!(estimate.of_last_activations(), 300);
    }

    /// 1.10: a difference of 10 is a change, one of 9 is none: from the average first, else from the last
    /// activation. An average that has been reached does not rise.
    #[test]
    fn ten_is_a_change() {
        let after = |enqueued, ewma, util, fast_up| {
            let estimate = Estimate::default();
            estimate.store(enqueued, ewma);
            sleeps(&estimate, util, fast_up)
        };
        assert_eq!([after(300, 300, 291, false), after(300, 300, 290, false)], [(300, 300), (290, 297)]);
        assert_eq!([after(261, 275, 270, true), after(260, 275, 270, true)], [(261, 275), (270, 275)]);
        assert_eq!([after(295, 300, 300, true), after(295, 300, 301, true)], [(295, 300), (301, 301)]);
    }

    #[test]
    fn small_changes_and_short_activations_are_no_news() {
        let estimate = Estimate::default();
        sleeps(&estimate, 300, true);
        assert_eq!(sleeps(&estimate, 295, true), (300, 300), "less than 10 away from both");
        sleeps(&estimate, 200, true);
        assert_eq!(sleeps(&estimate, 270, true), (270, 275), "near the average only");
        estimate.fall_asleep(0, 1024, true);
        assert_eq!(estimate.enqueued.get(), 270, "it ran for less than a period");
    }
}
