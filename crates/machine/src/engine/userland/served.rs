//! CPU time by policy: a program may change its policy many times, and what it is like shows in where its
//! time went.

use super::tasks::Tasks;
use crate::engine::hardware::Hw;
use crate::outcome::TimeUnder;
use scheduler::{Nanos, Nice, Pid, Policy, Scheduler, TaskId};

/// How a task is served at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Served {
    /// Tells whether the slot has a new user.
    pid: Pid,
    policy: Policy,
    nice: Nice,
}

impl Served {
    /// Whether CPU time of this entry was used so. Real-time policies remember the nice value and do not use
    /// it.
    pub fn is_under(self, under: &TimeUnder) -> bool {
        under.policy == self.policy && (under.nice == self.nice || self.policy.is_rt())
    }

    /// Whether it is a real-time or a deadline task.
    pub fn is_realtime(self) -> bool {
        self.policy.is_rt()
    }

    /// Whether no other task has got the slot in between.
    pub fn is_same_task(self, before: Served) -> bool {
        self.pid == before.pid
    }
}

impl Tasks {
    /// How a task is served now.
    pub fn served(&self, k: &Scheduler<Hw>, p: TaskId) -> Served {
        let task = k.task(p);
        Served { pid: task.pid.get(), policy: task.policy.get(), nice: task.nice.get() }
    }

    /// Books the CPU time that has not been booked yet under how the task was served until now.
    pub fn account_under(&self, k: &Scheduler<Hw>, p: TaskId, before: Served) {
        let task = k.task(p);
        if task.pid.get() != before.pid {
            return;
        }
        let total = task.stats.sum_exec_runtime.get();
        self.with(p, |t| {
            let booked: Nanos = t.time_under.iter().map(|under| under.cpu_time).sum();
            let cpu_time = total.saturating_sub(booked);
            match t.time_under.iter_mut().find(|under| before.is_under(under)) {
                Some(under) => under.cpu_time = under.cpu_time.saturating_add(cpu_time),
                None => t.time_under.push(TimeUnder { policy: before.policy, nice: before.nice, cpu_time }),
            }
        });
    }
}
