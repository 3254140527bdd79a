//! What became of a deadline task, for reports (deadline-groups A13). Nothing here decides anything.
//!
//! A job lasts from a wakeup to the next sleep, or to a sched_yield(), after which the next begins with the
//! next period. It is late if it takes longer than the deadline that the task asked for. Who wants to sleep
//! until a time that has passed, because a job took longer than that, is done with the job and has been in
//! the next one since that time.

use super::entity::DlEntity;
use super::params::DlParams;
use crate::shared::Kept;
use crate::{Nanos, Policy, Task};

/// What has been counted of a deadline task so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DlCounts {
    /// What it asked for last; `None`: it never was of this class.
    pub params: Option<DlParams>,
    /// Jobs that are done.
    pub jobs: u64,
    /// Those of them that took longer than its deadline.
    pub missed: u64,
    /// The longest job.
    pub longest_response: Nanos,
    /// How often it had used up its run time, and waited for its next period.
    pub throttles: u64,
    /// How long it waited for that; while it slept, too.
    pub throttled: Nanos,
    /// New periods that began with a timer, or at once because their time had come.
    pub replenishments: u64,
}

/// The counts of a task, and what is under way.
#[derive(Debug, Default)]
pub(super) struct Counting {
    counts: Kept<DlCounts>,
    job_since: Kept<Option<Nanos>>,
    throttled_since: Kept<Option<Nanos>>,
}

impl Counting {
    pub fn reset(&self) {
        self.counts.set(DlCounts::default());
        self.job_since.set(None);
        self.throttled_since.set(None);
    }

    fn change(&self, change: impl FnOnce(&mut DlCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// A task of this class, and not one that has inherited it, has something to do from now on.
    pub fn job_begins(&self, task: &Task, now: Nanos) {
        let Policy::Deadline(params) = task.policy.get() else { return };
        self.change(|counts| counts.params = Some(params));
        if self.job_since.get().is_none() {
            self.job_since.set(Some(now));
        }
    }

    /// It has done that.
    pub fn job_ends(&self, task: &Task, now: Nanos) {
        let Policy::Deadline(params) = task.policy.get() else { return };
        let Some(since) = self.job_since.take() else { return };
        let response = now.saturating_sub(since);
        self.change(|counts| {
            counts.jobs += 1;
            counts.missed += u64::from(response > params.deadline());
            counts.longest_response = counts.longest_response.max(response);
        });
    }

    /// It goes on with the next one, which has been due since then.
    fn next_job_begins(&self, task: &Task, due: Nanos, now: Nanos) {
        if self.job_since.get().is_some() {
            self.job_ends(task, now);
            self.job_begins(task, due);
        }
    }

    pub fn throttle_begins(&self, now: Nanos) {
        self.throttled_since.set(Some(now));
        self.change(|counts| counts.throttles += 1);
    }

    pub fn throttle_ends(&self, now: Nanos) {
        if let Some(since) = self.throttled_since.take() {
            self.change(|counts| counts.throttled += now.saturating_sub(since));
        }
    }

    pub fn replenished(&self) {
        self.change(|counts| counts.replenishments += 1);
    }
}

/// A task was to sleep until a time that has passed, and goes on at once.
pub fn does_not_sleep(task: &Task, until: Nanos, now: Nanos) {
    task.dl.counting.next_job_begins(task, until, now);
}

impl DlEntity {
    /// What has been counted up to now.
    pub fn counts(&self, now: Nanos) -> DlCounts {
        let mut counts = self.counting.counts.get();
        if let Some(since) = self.counting.throttled_since.get() {
            counts.throttled += now.saturating_sub(since);
        }
        counts
    }

    /// The longest job is forgotten: another stretch of the run begins, of which its own is to be told.
    pub fn forget_longest_response(&self) {
        self.counting.change(|counts| counts.longest_response = Nanos::ZERO);
    }
}
