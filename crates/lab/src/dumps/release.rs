//! Which kernel's files are shown: what a release wrote differently from the one before (fair-class 11.6).

use scheduler::registry::{FairPolicy, Profile};

/// The numbers of a release, 0 where its name has none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Release(pub [u16; 3]);

impl Release {
    /// sched_tunable_scaling and avg_idle.
    pub const TUNABLE_SCALING: Release = Release([2, 6, 33]);
    /// No averages of wakeups any more; the statistics of a task are called se.statistics.
    pub const STATISTICS: Release = Release([2, 6, 35]);
    /// "v0.10": clocks in the header, real-time queues, no columns of seed 003.
    pub const CLOCKS: Release = Release([3, 0, 0]);
    /// "v0.11": all tasks of a CPU, not only the runnable ones; 45 columns for names of /proc/PID/sched.
    pub const ALL_TASKS: Release = Release([3, 13, 0]);
    /// The time that a task has waited, in place of its virtual time once more.
    pub const WAIT_TIME: Release = Release([4, 0, 0]);
    /// What a queue adds to the load of its group; deadline queues with what is promised of them.
    pub const GROUP_LOADS: Release = Release([4, 3, 0]);
    /// Run time and deadline of deadline tasks.
    pub const DEADLINES: Release = Release([4, 13, 0]);
    /// Weights are shown as they are counted with: 1024 times as large. Migrations before the statistics.
    pub const FINE_WEIGHTS: Release = Release([4, 7, 0]);
    /// The state of each task.
    pub const TASK_STATES: Release = Release([4, 18, 0]);
    /// No load and no averages of it for each CPU any more.
    pub const NO_CPU_LOAD: Release = Release([5, 3, 0]);
    /// Averages of being runnable.
    pub const RUNNABLE: Release = Release([5, 7, 0]);
    /// Statistics of every class: their names have no prefix. SCHED_IDLE is counted apart.
    pub const ALL_CLASSES: Release = Release([5, 16, 0]);
    /// EEVDF.
    pub const EEVDF: Release = Release([6, 6, 0]);
    /// Real-time and deadline tasks that may move are not counted any more.
    pub const NO_MIGRATORY: Release = Release([6, 7, 0]);
    /// One estimate of use in place of two.
    pub const ONE_ESTIMATE: Release = Release([6, 8, 0]);
    /// schedstat 16: busy, idle, newly idle, in that order.
    pub const SCHEDSTAT_16: Release = Release([6, 10, 0]);
    /// The limit of real-time tasks is shown by kernels only that have one: with RT_GROUP_SCHED.
    pub const NO_RT_LIMIT: Release = Release([6, 12, 0]);
    /// Columns of EEVDF with headings of their own.
    pub const TIDY_ROWS: Release = Release([6, 12, 0]);
    /// schedstat 17: names of domains, four kinds of imbalance. Tasks that are queued and asleep are not
    /// counted as runnable.
    pub const SCHEDSTAT_17: Release = Release([6, 14, 0]);

    /// That of a profile. One without a number of its own (`tip`) shows the files of the one that it changes.
    /// What its fair class does not have, no file can show.
    pub fn of(profile: &str, policy: FairPolicy) -> Release {
        let release = Release::of_name(profile).unwrap_or(Release([2, 6, 36]));
        match policy {
            FairPolicy::Cfs => release.min(Release([6, 5, 0])),
            FairPolicy::Eevdf => release.max(Release::EEVDF),
        }
    }

    fn of_name(profile: &str) -> Option<Release> {
        let number = |part: &str| {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..digits].parse().ok()
        };
        let mut parts = profile.split('.').map_while(number);
        match parts.next() {
            Some(first) => Some(Release([first, parts.next().unwrap_or(0), parts.next().unwrap_or(0)])),
            None => Release::of_name(Profile::find(profile)?.base?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_the_numbers_of_its_name_or_those_of_the_one_that_it_changes() {
        let of = |profile| Release::of(profile, FairPolicy::Cfs).0;
        assert_eq!(of("2.6.35.2+D"), [2, 6, 35]);
        assert_eq!(of("2.6.23-rt5-gh"), [2, 6, 23]);
        assert_eq!(of("tipx"), [2, 6, 32]);
        assert_eq!(of("3.3"), [3, 3, 0]);
        assert_eq!((of("6.1"), of("6.1.y"), of("6.1-rt")), ([6, 1, 0], [6, 1, 0], [6, 1, 0]));
        assert_eq!(Release::of("6.12.y", FairPolicy::Eevdf).0, [6, 12, 0]);
    }

    #[test]
    fn a_discipline_is_shown_as_a_kernel_shows_it_that_has_it() {
        assert_eq!(Release::of("6.1", FairPolicy::Eevdf), Release::EEVDF);
        assert!(Release::of("6.18", FairPolicy::Cfs) < Release::EEVDF);
    }
}
