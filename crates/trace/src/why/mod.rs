//! Why tasks waited for a CPU in a recording, without any simulation: each wait from what should have ended
//! it to the switch to the task, in stretches that add up.
//!
//! 1. [`course`] reads the events once: what each CPU does ([`cpus`]), and each wait with its places.
//! 2. [`cut`] cuts one wait where its CPU begins something else, and names the cause of each piece.
//! 3. [`wakers`] follows who woke the waker.
//! 4. [`quota`] finds when groups have used up limits that the recording names, [`limits`] tasks that
//!    behave as if they had one.
//!
//! What an explanation says is evidence, not inference, with two steps. A CPU that chooses the idle task, or
//! one of a lower class, while a task is in its queue may not choose that task, so its budget is used up: the
//! kernel's rule is that the highest class that has a task goes first (deadline-groups A1). And whether a
//! group has used up the limit that the recording names follows from what its tasks have had ([`quota`]).

mod course;
mod cpus;
mod cut;
mod handlers;
mod limits;
mod quota;
mod wait;
mod wakers;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Pid, Trace};
use course::Course;
pub use limits::SuspectedLimit;
use quota::Quotas;
use schema::why::{Due, Explanation, WhyLeft, WhyRecorded, WhyTask, Woken};
use schema::{CpuId, Nanos, Prio};
use wait::{Began, Left, Wait, Waker};

/// The waits of a recording whose beginning and end it shows.
#[derive(Debug)]
pub struct RecordedWaits<'t> {
    trace: &'t Trace,
    course: Course,
    quotas: Quotas,
}

/// Which waits are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WaitsMeant {
    /// Those that begin with a wakeup.
    #[default]
    Wakeups,
    /// Those of preempted tasks, too.
    Runnable,
    /// All times away from a CPU, also those whose end was not recorded to be asked for by a wakeup: what of
    /// them was sleep, nobody knows.
    Away,
}

/// What a recording lacks that explanations need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordedLacks {
    /// Tracepoints of interrupts: what they take is part of the time of whoever ran.
    pub interrupts: bool,
    /// `sched_wakeup`: when a task comes into a queue.
    pub queued: bool,
    /// `sched_migrate_task`: where it waits, if it moves.
    pub moves: bool,
    /// So many waits whose end no event shows.
    pub ends: u64,
    /// So many whose wakeup none does.
    pub wakeups: u64,
}

impl<'t> RecordedWaits<'t> {
    /// Of all tasks of a trace.
    #[must_use]
    pub fn of(trace: &'t Trace) -> Self {
        let course = Course::of(trace);
        RecordedWaits { trace, quotas: Quotas::of(trace, &course), course }
    }

    /// What the recording lacks.
    #[must_use]
    pub fn lacks(&self) -> RecordedLacks {
        self.course.lacks
    }

    /// Limits of CPU time that the recording does not name, and that nothing else explains, by pid.
    #[must_use]
    pub fn suspected_limits(&self) -> Vec<SuspectedLimit> {
        let mut suspected = limits::suspected(&self.course.waits);
        suspected.retain(|limit| !self.quotas.limits(limit.pid));
        suspected
    }

    /// Numbers of the waits that are meant, of the tasks that are: by pid and command name at that time.
    #[must_use]
    pub fn numbers(&self, meant: WaitsMeant, is: impl Fn(Pid, &str) -> bool) -> Vec<usize> {
        let wanted = |wait: &Wait| {
            let began = match wait.began {
                _ if !self.course.is_whole(wait) => meant == WaitsMeant::Away,
                Began::Woken | Began::New => true,
                Began::Preempted => meant != WaitsMeant::Wakeups,
                Began::Unseen => meant == WaitsMeant::Away,
            };
            began && is(wait.task.pid, &self.trace.strings[wait.task.comm])
        };
        let all = self.course.waits.iter().enumerate();
        all.filter(|(_, wait)| wanted(wait)).map(|(number, _)| number).collect()
    }

    /// Every task of the recording with each of its names, the idle task left out.
    #[must_use]
    pub fn tasks(&self) -> BTreeMap<Pid, BTreeSet<&'t str>> {
        let mut tasks: BTreeMap<Pid, BTreeSet<&str>> = BTreeMap::new();
        for (pid, comm) in &self.course.named {
            tasks.entry(*pid).or_default().insert(&self.trace.strings[*comm]);
        }
        tasks
    }

    /// When a wait is due to end, nanoseconds on the trace's clock.
    #[must_use]
    pub fn due_ns(&self, number: usize) -> u64 {
        self.course.waits[number].due_ns()
    }

    /// When the task is switched to, nanoseconds on the trace's clock.
    #[must_use]
    pub fn first_ns(&self, number: usize) -> u64 {
        self.course.waits[number].first_ns
    }

    /// How long it takes from the one to the other, nanoseconds.
    #[must_use]
    pub fn latency_ns(&self, number: usize) -> u64 {
        self.first_ns(number) - self.due_ns(number)
    }

    /// Explains one.
    #[must_use]
    pub fn explain(&self, number: usize) -> Explanation {
        let wait = &self.course.waits[number];
        let due = match (wait.began, wait.waker) {
            (Began::Unseen, _) => Due::Unknown {},
            (Began::Preempted, _) => Due::Preempted { by: self.next_on(wait) },
            (Began::New, Waker::Task(by)) => Due::Start { parent: self.task(by) },
            (_, _) if wait.timer.is_some() => Due::Timer {},
            (_, Waker::Task(by)) => Due::Task { by: self.task(by) },
            (_, Waker::Interrupt(handled)) => {
                Due::Handler { handler: handled.map(|one| one.named(&self.trace.strings)) }
            }
            (_, Waker::Unknown) => Due::Unknown {},
        };
        let by = match wait.waker {
            Waker::Task(by) => Some(self.task(by)),
            Waker::Interrupt(_) | Waker::Unknown => None,
        };
        let (wakers, origin) = wakers::wakers(self, wait);
        Explanation {
            task: self.task(wait.task),
            due,
            due_at: Nanos(wait.due_ns()),
            woken: Woken {
                at: Nanos(wait.woken_ns),
                cpu: id(wait.waker_cpu),
                by,
                queued: wait.queued_ns.map(Nanos),
                queue: Some(id(wait.placed)),
            },
            first: Nanos(wait.first_ns),
            cpu: id(wait.cpu),
            latency: Nanos(self.latency_ns(number)),
            stretches: cut::stretches(self, wait),
            afterwards: Vec::new(),
            recorded: Some(Box::new(WhyRecorded {
                left: wait.left.map(left),
                wait: wait.left.map(|left| Nanos(wait.first_ns - left.at_ns)),
                delay: Nanos(wait.delay_ns()),
                wakers,
                origin,
            })),
            remedies: None,
        }
    }

    /// Who ran when a task was preempted, in its place.
    fn next_on(&self, wait: &Wait) -> WhyTask {
        match self.course.cpus.at(wait.waker_cpu, wait.woken_ns).base {
            cpus::Base::Task(task) => self.task(task),
            cpus::Base::Idle | cpus::Base::Unknown => {
                WhyTask { pid: Pid::IDLE, comm: "idle".into(), prio: Prio::IDLE }
            }
        }
    }

    fn task(&self, task: crate::TaskRef) -> WhyTask {
        let prio = i16::try_from(task.prio).map_or(Prio::IDLE, Prio);
        WhyTask { pid: task.pid, comm: self.trace.strings[task.comm].into(), prio }
    }
}

fn left(left: Left) -> WhyLeft {
    WhyLeft { at: Nanos(left.at_ns), state: left.state.letters() }
}

/// CPU numbers of a trace are below [`MAX_CPUS`](crate::MAX_CPUS).
fn id(cpu: crate::Cpu) -> CpuId {
    CpuId(u16::try_from(cpu.0).unwrap_or(u16::MAX))
}
