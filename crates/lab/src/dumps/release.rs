//! Which kernel's files are shown: what a release wrote differently from the one before (fair-class 11.6).

use scheduler::registry::{FairPolicy, Profile};

/// The numbers of a release, 0 where its name has none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Release(pub [u16; 3]);

impl Release {
    /// No averages of wakeups any more; the statistics of a task are called se.statistics.
    pub const STATISTICS: Release = Release([2, 6, 35]);
    /// "v0.10": clocks in the header, real-time queues, no columns of seed 003.
    pub const CLOCKS: Release = Release([3, 0, 0]);
    /// "v0.11": all tasks of a CPU, not only the runnable ones; 45 columns for names of /proc/PID/sched.
    pub const ALL_TASKS: Release = Release([3, 13, 0]);
    /// A block for the queue of deadline tasks.
    pub const DEADLINE_QUEUES: Release = Release([3, 19, 0]);
    /// The time that a task has waited, in place of its virtual time once more.
    pub const WAIT_TIME: Release = Release([4, 0, 0]);
    /// How long a CPU idles stands before the statistics, which can be switched off.
    pub const IDLE_TIMES_APART: Release = Release([4, 6, 0]);
    /// Weights are shown as they are counted with: 1024 times as large. Migrations before the statistics.
    pub const FINE_WEIGHTS: Release = Release([4, 7, 0]);
    /// The state of each task.
    pub const TASK_STATES: Release = Release([4, 18, 0]);
    /// "logarithmic" has its second h.
    pub const SPELT: Release = Release([5, 0, 0]);
    /// A blank between the state of a task and its name.
    pub const STATES_APART: Release = Release([5, 10, 0]);
    /// Statistics of every class: their names have no prefix.
    pub const ALL_CLASSES: Release = Release([5, 16, 0]);
    /// EEVDF.
    pub const EEVDF: Release = Release([6, 6, 0]);
    /// Those that wait are ordered by their deadlines.
    pub const BY_DEADLINE: Release = Release([6, 8, 0]);
    /// Run time of a queue is not counted any more.
    pub const NO_EXEC_CLOCK: Release = Release([6, 8, 0]);
    /// schedstat 16: busy, idle, newly idle, in that order.
    pub const SCHEDSTAT_16: Release = Release([6, 10, 0]);
    /// The limit of real-time tasks is shown by kernels only that have one: with RT_GROUP_SCHED.
    pub const NO_RT_LIMIT: Release = Release([6, 12, 0]);
    /// Columns of EEVDF with headings of their own.
    pub const TIDY_ROWS: Release = Release([6, 12, 0]);
    /// schedstat 17: names of domains, four kinds of imbalance.
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

/// Releases that have something, one after the other, and stable branches that got it besides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Releases {
    from: Release,
    /// The first that has it no more.
    before: Release,
    stable: &'static [&'static str],
}

impl Releases {
    pub const fn since(from: [u16; 3]) -> Releases {
        Releases { from: Release(from), before: Release([u16::MAX; 3]), stable: &[] }
    }

    pub const fn before(self, release: [u16; 3]) -> Releases {
        Releases { before: Release(release), ..self }
    }

    pub const fn and_in(self, stable: &'static [&'static str]) -> Releases {
        Releases { stable, ..self }
    }

    pub fn hold(&self, release: Release, profile: &str) -> bool {
        self.from <= release && release < self.before || self.stable.contains(&profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_end_before_the_one_that_is_told_and_stable_branches_may_be_among_them() {
        let releases = Releases::since([4, 4, 0]).before([4, 9, 0]).and_in(&["6.1.y"]);
        let hold = |release, profile| releases.hold(Release(release), profile);
        assert!(hold([4, 4, 0], "4.4") && hold([4, 8, 0], "4.8") && hold([6, 1, 0], "6.1.y"));
        assert!(!hold([4, 3, 0], "4.3") && !hold([4, 9, 0], "4.9") && !hold([6, 1, 0], "6.1"));
    }

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
