//! A wait for a CPU.

use super::handlers::Handled;
use crate::model::{Cpu, TaskRef};
use crate::state::PrevState;

/// A wait of a task for a CPU that has come to its end.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Who, with the priority at the end.
    pub task: TaskRef,
    pub began: Began,
    /// How it had left its CPU before.
    pub left: Option<Left>,
    /// The priority with which it began to wait.
    pub began_prio: i32,
    /// When it was woken (`sched_waking`, else `sched_wakeup`), or was preempted.
    pub woken_ns: u64,
    /// Where that happened.
    pub waker_cpu: Cpu,
    pub waker: Waker,
    /// The waker's own latest wait, by number.
    pub wakers_wait: Option<u32>,
    /// For how long the waker has waited for CPUs since it was woken itself, in all.
    pub waker_waited_ns: u64,
    /// Its timer, if one woke it and its time is known.
    pub timer: Option<TimerDue>,
    /// From when on it is in a queue, as far as events tell.
    pub placed_ns: u64,
    /// In that of this CPU.
    pub placed: Cpu,
    /// Of `sched_wakeup`.
    pub queued_ns: Option<u64>,
    /// The CPU that put it there.
    pub queued_by: Cpu,
    /// Its moves from queue to queue, by number.
    pub moves: Moves,
    /// When it is switched to.
    pub first_ns: u64,
    /// Where.
    pub cpu: Cpu,
}

/// How a wait began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Began {
    Woken,
    /// A new task came into a queue.
    New,
    /// It left its CPU, although it could go on.
    Preempted,
    /// Its wakeup was not recorded: since it left its CPU, it slept or waited.
    Unseen,
}

/// How a task left its CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    pub at_ns: u64,
    pub state: PrevState,
}

/// Who woke a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waker {
    Task(TaskRef),
    Interrupt(Option<Handled>),
    Unknown,
}

/// A timer's expiry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerDue {
    /// The time that was asked for.
    pub due_ns: u64,
    /// When its interrupt began, or its function if that was not recorded.
    pub served_ns: u64,
}

/// Numbers of moves that follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moves {
    pub from: u32,
    pub to: u32,
}

/// A task that waits is given another queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    pub at_ns: u64,
    pub to: Cpu,
}

impl Wait {
    /// When the task should have gone on: at its timer's time, when it was woken, when it was preempted; of
    /// one that was woken on its way to sleep, when it left its CPU.
    pub fn due_ns(&self) -> u64 {
        let woken = self.left.map_or(self.woken_ns, |left| self.woken_ns.max(left.at_ns));
        let due = self.timer.map_or(woken, |timer| timer.due_ns.min(woken));
        self.left.map_or(due, |left| due.max(left.at_ns))
    }

    /// What perf sched timehist calls the scheduling delay.
    pub fn delay_ns(&self) -> u64 {
        let gone_before = self.left.is_none_or(|left| left.at_ns <= self.woken_ns);
        match self.began {
            Began::Preempted | Began::Unseen => 0,
            Began::Woken | Began::New if gone_before => self.first_ns - self.woken_ns,
            // Its wakeup came before it had left; perf forgets it, and takes what comes behind.
            Began::Woken | Began::New => self.queued_ns.map_or(0, |queued| self.first_ns - queued),
        }
    }
}
