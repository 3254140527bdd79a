//! Workers of the kernel (`kworker/…`): threads that do pieces of work for others, one after the other, in
//! the order in which these come. In a what-if that is another order than the recorded one, so a worker has
//! no program of its own but one for each piece, and whoever woke it in the recording brings the piece for
//! which it did.
//!
//! A worker that is awake already is not woken for the next piece. Where the events of disks show that it is
//! for another one who had asked, it is a piece of its own all the same (`walk/pieces`): else everybody would
//! wait for what came first.
//!
//! Where a piece waits, for a disk or a lock, the kernel lets another worker of the pool do the next one.
//! Here the same worker does it, and takes the rest of the first when that can go on. If it waited instead, a
//! replay in another order might never end: the piece may wait for something that one behind it leads to.

use super::load::FromOutside;
use super::recording::{ReplayStep, TaskIndex, Waking};
use super::track::{By, Sleep, Track};
use scheduler::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use trace::PrevState;

/// Whether a task of this name is such a thread.
pub(super) fn is_worker(comm: &str) -> bool {
    comm.starts_with("kworker/")
}

/// Whether it is one of high priority, which serve disks: those have an H behind their number,
/// `kworker/1:2H-kblockd`.
pub(super) fn serves_disks(comm: &str) -> bool {
    is_worker(comm) && comm.split('-').next().is_some_and(|number| number.ends_with('H'))
}

/// Whether a worker that sleeps so waits for work. (Inside of a piece of work it waits for devices and
/// locks.)
pub(super) fn awaits_work(sleep: &Sleep) -> bool {
    sleep.state != PrevState::Uninterruptible
}

/// Which piece of work a step brings or lets go on, by the task and the number of the drafted step.
pub(super) fn brought_by_steps(tasks: &[Track], workers: &[bool]) -> BTreeMap<(TaskIndex, usize), u32> {
    let mut brought = BTreeMap::new();
    for (track, _) in tasks.iter().zip(workers).filter(|(_, worker)| **worker) {
        for (number, sleep) in (0u32..).zip(&track.sleeps) {
            if let Some(By::Task { place, .. }) = sleep.end.map(|end| end.by) {
                brought.insert((place.task, place.step), number);
            }
        }
    }
    brought
}

/// The pieces of work of one worker in a replay.
#[derive(Clone, Debug, Default)]
pub(super) struct Bench {
    /// For each piece and each rest of one that has not begun, the step after the sleep that it ends.
    begins: BTreeMap<u32, usize>,
    /// Those that have come, or of which is known when they will: the first is the next.
    queue: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// The rests that have not begun.
    rests: BTreeMap<u32, Rest>,
}

/// How far it is to the rest of a piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    /// The piece has not got there, and what it will have to wait for has not come.
    Ahead,
    /// The piece waits.
    Awaited,
    /// The piece will not have to wait.
    Come,
}

impl Bench {
    /// The pieces of a task's program, if it has any; interrupts from outside bring theirs at `lead_in` after
    /// their times.
    pub fn of(steps: &[ReplayStep], lead_in: Nanos) -> Option<Bench> {
        let mut bench = Bench::default();
        for (n, step) in steps.iter().enumerate() {
            let number = match step {
                ReplayStep::Sleep(Waking::Work { number, .. }) => number,
                ReplayStep::Sleep(Waking::Rest { number, .. }) => {
                    bench.rests.insert(*number, Rest::Ahead);
                    number
                }
                _ => continue,
            };
            bench.begins.insert(*number, n + 1);
            if let Some(interrupt) = FromOutside::of(step) {
                bench.bring(*number, lead_in.saturating_add(interrupt.at));
            }
        }
        (!bench.is_done()).then_some(bench)
    }

    /// A piece comes, or what a rest waits for, or will.
    pub fn bring(&mut self, number: u32, at: Nanos) {
        self.queue.push(Reverse((at, number)));
    }

    /// Takes what has come first; the step at which it begins. `None` if that is the rest of a piece that has
    /// not got there.
    pub fn take(&mut self) -> Option<usize> {
        let Reverse((_, number)) = self.queue.pop()?;
        if let Some(rest @ Rest::Ahead) = self.rests.get_mut(&number) {
            *rest = Rest::Come;
            return None;
        }
        self.begin(number)
    }

    /// The piece under way has got to this rest; whether it need not wait.
    pub fn reach(&mut self, rest: u32) -> bool {
        let has_come = self.rests.insert(rest, Rest::Awaited) == Some(Rest::Come);
        has_come && self.begin(rest).is_some()
    }

    fn begin(&mut self, number: u32) -> Option<usize> {
        self.rests.remove(&number);
        self.begins.remove(&number)
    }

    /// Nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.begins.is_empty()
    }

    /// What is left to do: numbers of pieces and rests, and the step at which each begins.
    pub fn left(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        self.begins.iter().map(|(number, step)| (*number, *step))
    }

    /// What has to come before this piece can begin: itself, or for a rest that has come, the first part of
    /// it.
    pub fn missing(&self, piece: u32) -> u32 {
        let has_come = self.rests.get(&piece) == Some(&Rest::Come);
        let before = self.begins.get(&piece).filter(|_| has_come).and_then(|step| {
            self.left().filter(|(_, before)| before < step).max_by_key(|(_, before)| *before)
        });
        before.map_or(piece, |(before, _)| self.missing(before))
    }
}
