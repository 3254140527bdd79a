//! A replay that cannot go on: every task that has not finished waits for something that only another one of
//! them brings. A recording does not lead to that, for whatever ended a wait in it came before. A file that
//! somebody has changed may, and inferred mutexes that are taken in another order.

use super::load::{FromOutside, ReplayedTask};
use super::player::{PlayedTask, Shared};
use super::recording::{Begin, Recording, ReplayStep, TaskIndex, Waking};
use super::roles::Role;
use super::work::Bench;
use scheduler::{MutexId, Nanos};
use std::collections::BTreeMap;

/// What a task is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stand {
    /// Another task has yet to make it.
    Unborn,
    /// It runs, or will without anybody's help.
    Busy,
    /// It sleeps until somebody wakes it.
    Waits,
    /// It wants this mutex.
    Locks(MutexId),
    /// Its program is over.
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    stand: Stand,
    /// The next step of its program.
    next: usize,
    /// Wakeups that have been made or are certain to come, and that it has not waited for yet.
    to_come: u64,
}

impl Task {
    /// It has begun, and not finished.
    fn is_left(&self) -> bool {
        !matches!(self.stand, Stand::Over | Stand::Unborn)
    }
}

/// Who waits in a replay, and who could wake whom.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    tasks: Vec<Task>,
    owners: BTreeMap<MutexId, TaskIndex>,
    busy: usize,
    stuck_since: Option<Nanos>,
}

impl Watch {
    /// Of a recording and its parts; `None` for told programs, which may wait for what the recording does not
    /// contain.
    pub fn of(recording: &Recording, played_tasks: &[PlayedTask]) -> Option<Watch> {
        let stand = |played: &PlayedTask, begin| match begin {
            _ if played.absent => Stand::Over,
            Begin::Forked => Stand::Unborn,
            _ => Stand::Busy,
        };
        let to_come = |played: &PlayedTask| played.steps.iter().filter_map(FromOutside::of).count() as u64;
        let begins = recording.tasks.iter().map(|task| task.begin);
        let task = |(played, begin)| Task { stand: stand(played, begin), next: 0, to_come: to_come(played) };
        let tasks: Vec<Task> = played_tasks.iter().zip(begins).map(task).collect();
        let busy = tasks.iter().filter(|task| task.stand == Stand::Busy).count();
        (!recording.is_told()).then_some(Watch { tasks, owners: BTreeMap::new(), busy, stuck_since: None })
    }

    /// A task is made.
    pub fn is_born(&mut self, child: TaskIndex) {
        if self.tasks[child.index()].stand == Stand::Unborn {
            self.stands(child, Stand::Busy);
        }
    }

    /// A wakeup will come to this task, whatever happens.
    pub fn will_wake(&mut self, task: TaskIndex) {
        let sleeper = &mut self.tasks[task.index()];
        if sleeper.stand == Stand::Waits {
            self.stands(task, Stand::Busy);
        } else {
            sleeper.to_come += 1;
        }
    }

    /// A task waits for a wakeup; `next` is its step after that.
    pub fn waits(&mut self, task: TaskIndex, next: usize, now: Nanos) {
        let sleeper = &mut self.tasks[task.index()];
        sleeper.next = next;
        match sleeper.to_come.checked_sub(1) {
            Some(rest) => sleeper.to_come = rest,
            None => {
                self.stands(task, Stand::Waits);
                self.look(now);
            }
        }
    }

    /// A task wants a mutex; `next` is its step after that.
    pub fn locks(&mut self, task: TaskIndex, mutex: MutexId, next: usize, now: Nanos) {
        self.tasks[task.index()].next = next;
        self.stands(task, Stand::Locks(mutex));
        self.look(now);
    }

    /// A task takes its next step: it has got the mutex that it wanted.
    pub fn goes_on(&mut self, task: TaskIndex) {
        if let Stand::Locks(mutex) = self.tasks[task.index()].stand {
            self.owners.insert(mutex, task);
            self.stands(task, Stand::Busy);
        }
    }

    /// A mutex is free.
    pub fn unlocks(&mut self, mutex: MutexId) {
        self.owners.remove(&mutex);
    }

    /// A program is over.
    pub fn ends(&mut self, task: TaskIndex, now: Nanos) {
        self.stands(task, Stand::Over);
        self.look(now);
    }

    /// Nothing can happen any more, since then.
    pub fn stuck_since(&self) -> Option<Nanos> {
        self.stuck_since
    }

    fn stands(&mut self, task: TaskIndex, stand: Stand) {
        let before = std::mem::replace(&mut self.tasks[task.index()].stand, stand);
        self.busy -= usize::from(before == Stand::Busy);
        self.busy += usize::from(stand == Stand::Busy);
    }

    /// Who wants a mutex that nobody has will get it.
    fn look(&mut self, now: Nanos) {
        let gets_it =
            |task: &Task| matches!(task.stand, Stand::Locks(mutex) if !self.owners.contains_key(&mutex));
        if self.busy == 0 && self.tasks.iter().any(Task::is_left) && !self.tasks.iter().any(gets_it) {
            self.stuck_since.get_or_insert(now);
        }
    }

    /// A task that waits, one of those that `matter` if possible, the one that is to wake it, the one that is
    /// to wake that one, and so on: up to the first that is there a second time, or for which nobody is to do
    /// anything any more.
    fn chain(
        &self,
        played_tasks: &[PlayedTask],
        benches: &BTreeMap<TaskIndex, Bench>,
        matter: impl Fn(TaskIndex) -> bool,
    ) -> Vec<TaskIndex> {
        let left =
            || (0u32..).map(TaskIndex).zip(&self.tasks).filter(|(_, task)| task.is_left()).map(|(n, _)| n);
        let first = left().find(|task| matter(*task)).or_else(|| left().next());
        let mut last = first.map(|task| Doer { task, piece: None });
        let mut chain = Vec::new();
        while let Some(doer) = last {
            let again = chain.contains(&doer.task);
            chain.push(doer.task);
            last = if again { None } else { self.waits_for(played_tasks, benches, doer) };
        }
        chain
    }

    /// Who is to do what a task waits for, or a piece of its work.
    fn waits_for(
        &self,
        played_tasks: &[PlayedTask],
        benches: &BTreeMap<TaskIndex, Bench>,
        doer: Doer,
    ) -> Option<Doer> {
        let Doer { task, piece } = doer;
        let whole = |task| Doer { task, piece: None };
        let piece = piece.zip(benches.get(&task)).map(|(piece, bench)| bench.missing(piece));
        if let Stand::Locks(mutex) = self.tasks[task.index()].stand {
            return self.owners.get(&mutex).copied().map(whole);
        }
        let unborn = self.tasks[task.index()].stand == Stand::Unborn;
        let does = |step: &ReplayStep| match step {
            ReplayStep::Fork { child, .. } => unborn && *child == task,
            ReplayStep::Wake { task: whom, work, .. } | ReplayStep::Submit { task: whom, work, .. } => {
                !unborn && *whom == task && (piece.is_none() || *work == piece)
            }
            _ => false,
        };
        let of = |(n, played): (u32, &PlayedTask)| -> Option<(usize, Doer)> {
            let by = TaskIndex(n);
            let stand = &self.tasks[by.index()];
            if stand.stand == Stand::Over {
                return None;
            }
            let Some(bench) = benches.get(&by) else {
                return Some((played.steps[stand.next..].iter().position(does)?, whole(by)));
            };
            let ends = |step: &ReplayStep| {
                matches!(step, ReplayStep::Sleep(Waking::Work { .. } | Waking::Rest { .. }))
            };
            let pieces = bench.left().filter_map(|(number, begins)| {
                let mut steps = played.steps[begins..].iter().take_while(|step| !ends(step));
                Some((steps.position(does)?, Doer { task: by, piece: Some(number) }))
            });
            pieces.min_by_key(|(steps, _)| *steps)
        };
        let all = (0u32..).zip(played_tasks).filter(|(_, played)| !played.absent).filter_map(of);
        all.min_by_key(|(steps, _)| *steps).map(|(_, doer)| doer)
    }
}

/// Who is to do something for somebody.
#[derive(Clone, Copy, Debug)]
struct Doer {
    task: TaskIndex,
    /// In this piece of its work, if it is a worker.
    piece: Option<u32>,
}

/// If no task can go on any more: since when, and who waits for whom, tasks of the recorded command first.
pub(super) fn told(shared: &Shared, tasks: &[ReplayedTask]) -> Option<String> {
    let (watch, benches) = (shared.watch.borrow(), shared.benches.borrow());
    let (watch, since) = watch.as_ref().and_then(|watch| Some((watch, watch.stuck_since?)))?;
    let is_command = |task: TaskIndex| tasks[task.index()].role == Role::Command;
    let chain = watch.chain(&shared.played_tasks, &benches, is_command);
    let name = |task: &TaskIndex| {
        let ReplayedTask { comm, recorded, .. } = &tasks[task.index()];
        format!("{comm} ({recorded})")
    };
    let mut names: Vec<String> = chain.iter().map(name).collect();
    let (last, before) = chain.split_last()?;
    if !before.contains(last) {
        names.push("a wakeup that no task is left to make".to_owned());
    }
    let sleep = match watch.tasks.iter().filter(|task| task.is_left()).count() {
        1 => "its last task sleeps".to_owned(),
        tasks => format!("its last {tasks} tasks sleep"),
    };
    Some(format!(
        "deadlock of the replay at {} s: {sleep} for good; {} waits for {}",
        since.saturating_sub(shared.lead_in),
        names[0],
        names[1..].join(", which waits for ")
    ))
}
