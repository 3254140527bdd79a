//! Who may not run because a budget is used up: queues of CPUs, tasks by their own budget, and tasks that
//! wait in such a queue.

use super::{State, Throttle, Throttled};
use schema::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// Whose time is used up on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Budget {
    /// That of the real-time tasks.
    RealTime,
    /// That of the real-time tasks of a task group and of the groups below it, by its number.
    RtGroup(u32),
    /// That of a task group and of the groups below it, by its number.
    Group(u32),
}

/// A task as its queue counts it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub task: u32,
    pub prio: i32,
    pub state: State,
    pub cpu: u32,
}

impl Waiting {
    fn waits(&self) -> bool {
        matches!(self.state, State::Runnable | State::Preempted)
    }
}

/// What is used up now, and since when.
#[derive(Debug, Default)]
pub(super) struct Throttling {
    /// By the number of a group: its tasks, and those of the groups below it.
    members: Vec<BTreeSet<u32>>,
    queues: BTreeMap<(u32, Budget), Nanos>,
    /// Tasks by their own budget.
    own: BTreeMap<u32, Nanos>,
    /// Tasks that wait in a queue that may not run.
    waiting: BTreeMap<u32, Nanos>,
    /// What is over.
    pub done: Vec<Throttle>,
}

/// A stretch that ends.
struct Ended {
    since: Nanos,
    now: Nanos,
    whom: Throttled,
}

impl Throttling {
    pub fn add_group(&mut self, members: BTreeSet<u32>) {
        self.members.push(members);
    }

    pub fn queue_begins(&mut self, now: Nanos, cpu: u32, budget: Budget) {
        self.queues.entry((cpu, budget)).or_insert(now);
    }

    pub fn queue_ends(&mut self, now: Nanos, cpu: u32, budget: Budget) {
        if let Some(since) = self.queues.remove(&(cpu, budget)) {
            self.end(Ended { since, now, whom: Throttled::Queue { cpu, budget } });
        }
    }

    pub fn task_begins(&mut self, now: Nanos, task: u32) {
        self.own.entry(task).or_insert(now);
    }

    pub fn task_ends(&mut self, now: Nanos, task: u32) {
        if let Some(since) = self.own.remove(&task) {
            self.end(Ended { since, now, whom: Throttled::Task(task) });
        }
    }

    /// A task, or its queue, has changed.
    pub fn follow(&mut self, now: Nanos, task: Waiting) {
        let is = task.waits() && self.is_stopped(task);
        if is {
            self.waiting.entry(task.task).or_insert(now);
        } else if let Some(since) = self.waiting.remove(&task.task) {
            self.end(Ended { since, now, whom: Throttled::Task(task.task) });
        }
    }

    fn is_stopped(&self, task: Waiting) -> bool {
        let of_cpu = (task.cpu, Budget::RealTime)..=(task.cpu, Budget::Group(u32::MAX));
        self.queues.range(of_cpu).any(|((_, budget), _)| match budget {
            Budget::RealTime => (0..100).contains(&task.prio),
            Budget::RtGroup(group) => (0..100).contains(&task.prio) && self.is_member(*group, task.task),
            Budget::Group(group) => task.prio >= 100 && self.is_member(*group, task.task),
        })
    }

    fn is_member(&self, group: u32, task: u32) -> bool {
        self.members.get(group as usize).is_some_and(|members| members.contains(&task))
    }

    /// All that still lasts, up to now.
    pub fn end_all(&mut self, now: Nanos) {
        let queues = std::mem::take(&mut self.queues);
        let whole =
            queues.into_iter().map(|((cpu, budget), since)| (since, Throttled::Queue { cpu, budget }));
        let tasks = std::mem::take(&mut self.own).into_iter().chain(std::mem::take(&mut self.waiting));
        let all: Vec<_> = whole.chain(tasks.map(|(task, since)| (since, Throttled::Task(task)))).collect();
        all.into_iter().for_each(|(since, whom)| self.end(Ended { since, now, whom }));
    }

    /// Times are those of the events still.
    fn end(&mut self, ended: Ended) {
        let Ended { since, now, whom } = ended;
        self.done.push(Throttle { from_ns: since.0, until_ns: now.0, whom });
    }
}
