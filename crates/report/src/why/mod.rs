//! Why tasks were late, from the log of a run alone: each wakeup from what should have brought it to the
//! task's first instruction, in stretches that add up.
//!
//! 1. `reader` reads the log once into a `course`: what each CPU does (`cpus`) and where each task is
//!    (`tasks`) at each time, and the ways that each `wakeup` takes: its timer, an interrupt, the waker's
//!    path, the queue of a CPU.
//! 2. `cut` cuts the ways of one wakeup where the CPU that it depends on begins something else, and names
//!    the cause of each piece.

mod alternatives;
mod begun;
mod blame;
mod course;
mod cpus;
mod cut;
mod kind;
mod mutexes;
mod reader;
mod tasks;
mod wakeup;

pub use blame::{Blamed, due_to};
use course::Course;
use cut::Cut;
pub use kind::CauseKind;
use schema::why::{Cause, Due, Explanation, WhyStretch, Woken};
use schema::{Log, Nanos, Pid};
use wakeup::{Wakeup, Wants};

/// Which waits are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Waits {
    /// Those that begin with a wakeup.
    #[default]
    Wakeups,
    /// Those of tasks that wanted to go on, too: preempted, or throttled.
    Runnable,
}

/// The wakeups of a log, or all waits.
#[derive(Debug)]
pub struct Wakeups {
    course: Course,
}

impl Wakeups {
    /// The wakeups of the tasks that are `meant`, by pid and command name at that time.
    #[must_use]
    pub fn of(log: &Log, meant: impl Fn(Pid, &str) -> bool) -> Wakeups {
        Wakeups::of_waits(log, Waits::Wakeups, meant)
    }

    /// Such waits of theirs.
    #[must_use]
    pub fn of_waits(log: &Log, waits: Waits, meant: impl Fn(Pid, &str) -> bool) -> Wakeups {
        Wakeups { course: reader::read(log, waits, &meant) }
    }

    /// How many there are, each of which has come to its first instruction.
    #[must_use]
    pub fn len(&self) -> usize {
        self.course.wakeups.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.course.wakeups.is_empty()
    }

    /// Numbers of those that end from one time to another.
    #[must_use]
    pub fn ending(&self, from: Nanos, to: Nanos) -> Vec<usize> {
        let is_meant = |wakeup: &Wakeup| (from..=to).contains(&wakeup.first);
        (0..self.len()).filter(|number| is_meant(&self.course.wakeups[*number])).collect()
    }

    /// Some of them by their latencies, the longest first; of equal ones the earlier.
    #[must_use]
    pub fn worst_of(&self, mut numbers: Vec<usize>) -> Vec<usize> {
        numbers.sort_by_key(|number| std::cmp::Reverse(self.latency(*number)));
        numbers
    }

    /// Whether one is on its way at a time: due before it or then, and not yet executing.
    #[must_use]
    pub fn is_on_its_way(&self, number: usize, time: Nanos) -> bool {
        let wakeup = &self.course.wakeups[number];
        (wakeup.due_at..=wakeup.first).contains(&time)
    }

    /// When it is due, by its number.
    #[must_use]
    pub fn due_at(&self, number: usize) -> Nanos {
        self.course.wakeups[number].due_at
    }

    /// Which wakeup of its task it is, or comes before it, from 0 on.
    #[must_use]
    pub fn nth_of_its_task(&self, number: usize) -> usize {
        let pid = self.course.wakeups[number].pid;
        self.course.wakeups[..number].iter().filter(|wakeup| wakeup.is_wakeup_of(pid)).count()
    }

    /// The number of the nth wakeup of a task.
    #[must_use]
    pub fn nth_of(&self, pid: Pid, nth: usize) -> Option<usize> {
        let all = self.course.wakeups.iter().enumerate();
        all.filter(|(_, wakeup)| wakeup.is_wakeup_of(pid)).nth(nth).map(|(number, _)| number)
    }

    /// How long a task waits at most from one time to another.
    #[must_use]
    pub fn longest_between(&self, pid: Pid, from: Nanos, to: Nanos) -> Nanos {
        let own = self.course.wakeups.iter().filter(|wakeup| wakeup.pid == pid);
        let inside = |wakeup: &Wakeup| wakeup.first.min(to).0.saturating_sub(wakeup.due_at.max(from).0);
        Nanos(own.map(inside).max().unwrap_or(0))
    }

    /// The longest latency of those that are due at a time or later.
    #[must_use]
    pub fn worst_from(&self, time: Nanos) -> Nanos {
        let later = (0..self.len()).filter(|number| self.course.wakeups[*number].due_at >= time);
        later.map(|number| self.latency(number)).max().unwrap_or_default()
    }

    /// Its latency, by its number.
    #[must_use]
    pub fn latency(&self, number: usize) -> Nanos {
        let wakeup = &self.course.wakeups[number];
        Nanos(wakeup.first.0 - wakeup.due_at.0)
    }

    /// Explains one, by its number, with the alternatives that the scheduler had. `meaning` says what a
    /// decision means, by its name.
    #[must_use]
    pub fn explain(&self, number: usize, meaning: impl Fn(&str) -> &'static str) -> Explanation {
        let mut one = self.account(number, meaning);
        alternatives::add(&self.course, &self.course.wakeups[number], &mut one.stretches);
        one
    }

    /// The same without alternatives: all that the sums over many wakeups need.
    #[must_use]
    pub fn account(&self, number: usize, meaning: impl Fn(&str) -> &'static str) -> Explanation {
        let (course, wakeup) = (&self.course, &self.course.wakeups[number]);
        let who = |pid| course.who(pid, wakeup.waking);
        let due = match wakeup.due {
            Wants::Timer => Due::Timer {},
            Wants::Interrupt(irq) => Due::Interrupt { irq },
            Wants::Task(by) => Due::Task { by: who(by) },
            Wants::Mutex(mutex) => Due::Mutex { mutex: course.mutex_name(mutex) },
            Wants::Start(parent) => Due::Start { parent: who(parent) },
            Wants::Preempted(by) => {
                match course.stopped(wakeup.due_at, wakeup.queue, wakeup.pid, wakeup.prio) {
                    Some(stopped) => Due::Throttled { budget: stopped.budget },
                    None => Due::Preempted { by: who(by) },
                }
            }
            Wants::Nothing => Due::Unknown {},
        };
        let refill = wakeup.refill.map(|refill| {
            let (first, cause) = (wakeup.first, Cause::CacheRefill { from: refill.from });
            WhyStretch::new(first, Nanos(first.0 + refill.cost.0), Some(wakeup.cpu), cause)
        });
        Explanation {
            task: course.who(wakeup.pid, wakeup.waking),
            due,
            due_at: wakeup.due_at,
            woken: Woken {
                at: wakeup.waking,
                cpu: wakeup.waker,
                by: wakeup.by.map(who),
                queued: Some(wakeup.queued),
                queue: Some(wakeup.queue),
            },
            first: wakeup.first,
            cpu: wakeup.cpu,
            latency: self.latency(number),
            stretches: Cut::of(course, wakeup, meaning),
            afterwards: refill.into_iter().collect(),
            recorded: None,
            remedies: None,
        }
    }
}
