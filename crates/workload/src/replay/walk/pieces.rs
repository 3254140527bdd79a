//! Pieces of work for which no wakeup shows. A worker that is awake when a disk has answered another request
//! need not be woken for that: it takes what comes meanwhile, too. That this piece was for the one who had
//! asked shows when the worker wakes it.

use super::Walk;
use crate::replay::causes::{Answer, Cause};
use crate::replay::recording::TaskIndex;
use crate::replay::track::{By, Draft, Ending, Sleep};
use crate::replay::work;
use std::collections::BTreeMap;
use trace::{Event, PrevState};

/// Answers that tasks have got since somebody woke them.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<TaskIndex, Answered>);

/// A request of a task has been answered.
#[derive(Clone, Copy, Debug)]
struct Answered {
    answer: Answer,
    at_ns: u64,
    /// The CPU that was told.
    cpu: u32,
}

impl Answers {
    /// A device has answered.
    pub fn comes(&mut self, answer: Answer, event: &Event) {
        let answered = Answered { answer, at_ns: event.time_ns, cpu: event.cpu.0 };
        self.0.insert(answer.asked.task, answered);
    }
}

impl Walk<'_> {
    /// The worker that runs takes a piece of work, whether it was woken for that or not.
    pub(super) fn takes_piece(&mut self, event: &Event) {
        let cpu = event.cpu.index();
        let running = self.cpus[cpu].running.map(|(task, _)| task);
        let Some(worker) = running.filter(|task| self.tasks[task.index()].pid == event.pid) else { return };
        if self.name(worker).is_some_and(work::is_worker) {
            let place = self.draft(cpu, worker, event.time_ns, Draft::Nothing);
            self.tasks[worker.index()].piece = Some((place.step, event.time_ns));
        }
    }

    /// `worker` is about to wake `sleeper`. If a device has answered that one since the worker was last
    /// woken, it is for that: the piece of work that the answer brought.
    pub(super) fn divides(&mut self, event: &Event, worker: TaskIndex, sleeper: TaskIndex) {
        if !self.name(worker).is_some_and(work::is_worker) {
            return;
        }
        let Some(Answered { answer, at_ns, cpu }) = self.kernel.answers.0.remove(&sleeper) else { return };
        let woken = self.tasks[worker.index()].sleeps.last().and_then(|sleep| sleep.end);
        if woken.is_none_or(|woken| woken.at_ns >= at_ns) {
            return;
        }
        let place = self.draft(event.cpu.index(), worker, event.time_ns, Draft::Nothing).step;
        let track = &mut self.tasks[worker.index()];
        let number = track.sleeps.len();
        // What it has done for somebody else since is no part of it.
        let other = |step: &Draft| matches!(step, Draft::Sleep(_) | Draft::Wake { .. });
        let unshared = |from: usize| !track.steps[from..].iter().any(other);
        let began = track.piece.filter(|(step, began_ns)| *began_ns >= at_ns && unshared(*step));
        let (step, slept_ns) = began.unwrap_or((place, event.time_ns));
        track.steps[step] = Draft::Sleep(number);
        let end = Ending {
            at_ns,
            by: By::Interrupt { below: None },
            cause: Cause::Answer(answer),
            made_on: cpu,
            cpu: None,
        };
        track.take_piece(Sleep {
            slept_ns: Some(slept_ns),
            state: PrevState::Idle,
            end: Some(end),
            on_behalf: None,
            timer: None,
        });
    }
}
