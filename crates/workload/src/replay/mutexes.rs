//! Mutexes with priority inheritance, where a trace shows them.
//!
//! `sched_pi_setprio` in the context of a task that asks for a mutex names the mutex's owner. That makes both of them users of
//! such mutexes, and a wakeup of one by the other a hand-over: the owner unlocks, the other one has the mutex. The sleeper may
//! even be running: since 5.15 the first in line spins while the owner runs, so that the wakeup finds it on its CPU.
//!
//! A replay with the mutex in place of the wakeup can come to it in another order: whoever is first has it, the others spin,
//! sleep and lend their priority. What a trace does not show is assumed:
//!
//! - A task has one such mutex at a time, and none while it sleeps for something else.
//! - Locks and unlocks for which nobody waited are invisible. Where a hand-over proves one of them, its place follows from the
//!   median time for which that task had a mutex otherwise; where none is known, it is the end of the last sleep or the
//!   beginning of the next one.
//! - Hand-overs that follow from each other are one mutex; so are those that could be, as they did not overlap.

use super::recording::{Recorded, TaskIndex};
use super::track::{By, Draft, Place, Track};
use machine::{MutexKind, MutexSpec, ToldStep};
use scheduler::{MutexId, Nanos};
use std::collections::{BTreeMap, BTreeSet};

/// A wakeup of one task by another.
#[derive(Clone, Copy, Debug)]
struct Wakeup {
    at_ns: u64,
    /// The step of the waker.
    by: Place,
    /// The step at which the other one goes on: its sleep, or where it ran.
    to: Place,
    spun: bool,
}

/// What a trace says of mutexes, while its events go by.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    users: BTreeSet<TaskIndex>,
    /// The drafted steps at which each task asks.
    asks: BTreeMap<TaskIndex, Vec<usize>>,
    wakeups: Vec<Wakeup>,
}

impl Evidence {
    /// A task, at this step of its, lends its priority to the owner.
    pub fn asks(&mut self, place: Place, owner: TaskIndex) {
        self.users.extend([place.task, owner]);
        self.asks.entry(place.task).or_default().push(place.step);
    }

    /// A step ends a sleep.
    pub fn wakes_sleeper(&mut self, at_ns: u64, by: By, sleeper: Place) {
        if let By::Task { place, certain: true } = by {
            self.wakeups.push(Wakeup { at_ns, by: place, to: sleeper, spun: false });
        }
    }

    /// A step wakes a task that runs.
    pub fn wakes_runner(&mut self, at_ns: u64, by: Place, runner: Place) {
        self.wakeups.push(Wakeup { at_ns, by, to: runner, spun: true });
    }

    /// Whether anybody lent a priority: without that, nothing is known of mutexes.
    pub fn is_any(&self) -> bool {
        !self.users.is_empty()
    }
}

/// A step at a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MutexStep {
    Lock(MutexId),
    Unlock(MutexId),
}

/// What becomes of drafted steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Mutexes {
    /// How many there are.
    pub count: u32,
    /// How often one was handed over.
    pub handed_over: u64,
    edits: BTreeMap<(TaskIndex, usize), Edit>,
}

/// What becomes of one of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Edit {
    /// What takes its place; `Some(None)`: nothing.
    pub instead: Option<Option<MutexStep>>,
    /// Of a run: what comes after so much of it, ns.
    pub within: Vec<(u64, MutexStep)>,
    /// Of a run: it ends here, ns; the rest was spinning.
    pub cut: Option<u64>,
}

impl Mutexes {
    /// Finds the mutexes, if there are any.
    pub fn find(tasks: &[Track], evidence: &Evidence) -> Mutexes {
        if !evidence.is_any() {
            return Mutexes::default();
        }
        Search::new(tasks, evidence).run()
    }

    /// What becomes of a drafted step.
    pub fn edit(&self, task: TaskIndex, step: usize) -> Option<&Edit> {
        self.edits.get(&(task, step))
    }
}

impl Mutexes {
    /// What they are like.
    pub fn specs(&self) -> Vec<MutexSpec> {
        (0..self.count).map(|n| MutexSpec { name: format!("inferred {n}"), kind: MutexKind::Pi }).collect()
    }
}

impl Edit {
    /// Takes the steps that the draft becomes.
    pub fn apply(&self, draft: Draft, steps: &mut Vec<Recorded>) {
        if let Draft::Run(ns) = draft {
            let end = self.cut.unwrap_or(ns);
            let mut within = self.within.clone();
            within.sort_unstable_by_key(|(at, _)| *at);
            let mut from = 0;
            for (at, step) in within {
                let at = at.min(end);
                steps.push(Recorded::Run(Nanos(at - from)));
                steps.push(step.recorded());
                from = at;
            }
            steps.push(Recorded::Run(Nanos(end - from)));
        }
        steps.extend(self.instead.flatten().map(MutexStep::recorded));
    }
}

impl MutexStep {
    fn recorded(self) -> Recorded {
        Recorded::Told(match self {
            MutexStep::Lock(mutex) => ToldStep::Lock(mutex),
            MutexStep::Unlock(mutex) => ToldStep::Unlock(mutex),
        })
    }
}

/// Makes a program out of inferred locks and unlocks that never has two mutexes, nor one while it sleeps or after its end, and
/// unlocks only what it has.
pub(super) fn one_at_a_time(steps: &mut Vec<Recorded>) {
    let mut held = None;
    let mut mended = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        let unlocks = match &step {
            Recorded::Told(ToldStep::Unlock(mutex)) => {
                if held != Some(*mutex) {
                    continue;
                }
                held = None;
                false
            }
            Recorded::Told(ToldStep::Lock(_)) | Recorded::Sleep(_) | Recorded::Exit => true,
            _ => false,
        };
        if let Some(mutex) = held.filter(|_| unlocks) {
            mended.push(MutexStep::Unlock(mutex).recorded());
            held = None;
        }
        if let Recorded::Told(ToldStep::Lock(mutex)) = &step {
            held = Some(*mutex);
        }
        mended.push(step);
    }
    mended.extend(held.map(|mutex| MutexStep::Unlock(mutex).recorded()));
    *steps = mended;
}

/// Until when a mutex is taken, and by whom as far as that is a hand-over.
#[derive(Clone, Copy, Debug)]
struct Chain {
    last_owner: TaskIndex,
    /// The last hand-over, ns.
    last_ns: u64,
}

/// One side of a hand-over.
#[derive(Clone, Copy, Debug)]
struct Side {
    step: usize,
    handover: usize,
    gives: bool,
}

struct Search<'a> {
    tasks: &'a [Track],
    evidence: &'a Evidence,
    /// By time.
    handovers: Vec<Wakeup>,
    /// Those of each user, by its steps.
    sides: BTreeMap<TaskIndex, Vec<Side>>,
    /// CPU time before each step of the users.
    cpu_before: BTreeMap<TaskIndex, Vec<u64>>,
    /// Median CPU time for which each user had a mutex, ns.
    usual: BTreeMap<TaskIndex, u64>,
    found: Mutexes,
    chains: Vec<Chain>,
}

impl<'a> Search<'a> {
    fn new(tasks: &'a [Track], evidence: &'a Evidence) -> Search<'a> {
        // A wakeup may have found its task running on the way to sleep: then it ended that sleep.
        let slept: BTreeSet<(TaskIndex, usize)> =
            evidence.wakeups.iter().filter(|w| !w.spun).map(|w| (w.by.task, w.by.step)).collect();
        let is_handover = |wakeup: &&Wakeup| {
            let [by, to] = [wakeup.by.task, wakeup.to.task];
            let users = evidence.users.contains(&by) && evidence.users.contains(&to) && by != to;
            users && !(wakeup.spun && slept.contains(&(by, wakeup.by.step)))
        };
        let mut handovers: Vec<Wakeup> = evidence.wakeups.iter().filter(is_handover).copied().collect();
        handovers.sort_by_key(|wakeup| wakeup.at_ns);
        let mut sides: BTreeMap<TaskIndex, Vec<Side>> = BTreeMap::new();
        for (handover, Wakeup { by, to, .. }) in handovers.iter().enumerate() {
            sides.entry(by.task).or_default().push(Side { step: by.step, handover, gives: true });
            sides.entry(to.task).or_default().push(Side { step: to.step, handover, gives: false });
        }
        for sides in sides.values_mut() {
            sides.sort_by_key(|side| side.step);
        }
        let before = |task: &TaskIndex| {
            let mut sum = 0;
            let before = tasks[task.index()].steps.iter().map(|step| {
                let own = if let Draft::Run(ns) = step { *ns } else { 0 };
                sum += own;
                sum - own
            });
            (*task, before.collect())
        };
        let cpu_before = evidence.users.iter().map(before).collect();
        Search {
            tasks,
            evidence,
            handovers,
            sides,
            cpu_before,
            usual: BTreeMap::new(),
            found: Mutexes::default(),
            chains: Vec::new(),
        }
    }

    fn run(mut self) -> Mutexes {
        self.usual = self.usual_holds();
        for n in 0..self.handovers.len() {
            let wakeup = self.handovers[n];
            let mutex = self.mutex(n);
            self.hand_over(wakeup, mutex, self.received_before(n).is_some());
            self.release_alone(n, mutex);
        }
        self.found.count = self.chains.len() as u32;
        self.found.handed_over = self.handovers.len() as u64;
        self.found
    }

    /// The last side of a hand-over that a task has before this step.
    fn side_before(&self, task: TaskIndex, step: usize) -> Option<Side> {
        let sides = self.sides.get(&task)?;
        let before = sides.partition_point(|side| side.step < step);
        sides.get(before.checked_sub(1)?).copied()
    }

    /// The first one after it.
    fn side_after(&self, task: TaskIndex, step: usize) -> Option<Side> {
        let sides = self.sides.get(&task)?;
        sides.get(sides.partition_point(|side| side.step <= step)).copied()
    }

    /// Whether a task sleeps between two of its steps.
    fn sleeps_between(&self, task: TaskIndex, from: usize, to: usize) -> bool {
        let between = self.tasks[task.index()].steps.get(from + 1..to).unwrap_or_default();
        between.iter().any(|step| matches!(step, Draft::Sleep(_)))
    }

    /// The hand-over by which the owner of the `n`th got the mutex, if it did so and has kept it.
    fn received_before(&self, n: usize) -> Option<usize> {
        let by = self.handovers[n].by;
        let side = self.side_before(by.task, by.step).filter(|side| !side.gives)?;
        (!self.sleeps_between(by.task, side.step, by.step)).then_some(side.handover)
    }

    /// Median CPU times from getting a mutex by a hand-over to handing it on.
    fn usual_holds(&self) -> BTreeMap<TaskIndex, u64> {
        let mut holds: BTreeMap<TaskIndex, Vec<u64>> = BTreeMap::new();
        for n in 0..self.handovers.len() {
            let by = self.handovers[n].by;
            if let Some(received) = self.received_before(n) {
                let cpu = &self.cpu_before[&by.task];
                let from = cpu[self.handovers[received].to.step];
                holds.entry(by.task).or_default().push(cpu[by.step] - from);
            }
        }
        let median = |(task, mut holds): (TaskIndex, Vec<u64>)| {
            let middle = holds.len() / 2;
            (task, *holds.select_nth_unstable(middle).1)
        };
        holds.into_iter().map(median).collect()
    }

    /// Which mutex the `n`th hand-over passes on: the one that its owner was handed; else one that is free by then.
    fn mutex(&mut self, n: usize) -> MutexId {
        let wakeup = self.handovers[n];
        let now = Chain { last_owner: wakeup.to.task, last_ns: wakeup.at_ns };
        let received = self.received_before(n).map(|earlier| self.handovers[earlier]);
        let known = received.and_then(|received| {
            self.chains.iter().position(|c| c.last_owner == wakeup.by.task && c.last_ns == received.at_ns)
        });
        let begins_ns = wakeup.at_ns.saturating_sub(self.usual.get(&wakeup.by.task).copied().unwrap_or(0));
        let is_free = |chain: &Chain| {
            chain.last_ns + self.usual.get(&chain.last_owner).copied().unwrap_or(0) <= begins_ns
        };
        match known.or_else(|| self.chains.iter().position(is_free)) {
            Some(number) => {
                self.chains[number] = now;
                MutexId(number as u32)
            }
            None => {
                self.chains.push(now);
                MutexId(self.chains.len() as u32 - 1)
            }
        }
    }

    /// The owner unlocks, the other one has had to wait since it asked.
    fn hand_over(&mut self, wakeup: Wakeup, mutex: MutexId, owner_was_handed_it: bool) {
        if !owner_was_handed_it {
            self.lock_alone(wakeup.by, mutex);
        }
        self.instead(wakeup.by, Some(MutexStep::Unlock(mutex)));
        let asked = self.asked_at(wakeup.to);
        match asked {
            Some(step) => {
                let place = Place { step, ..wakeup.to };
                self.instead(place, Some(MutexStep::Lock(mutex)));
                self.instead(wakeup.to, None);
                self.cut_runs(wakeup.to.task, step, wakeup.to.step);
            }
            None => {
                self.instead(wakeup.to, Some(MutexStep::Lock(mutex)));
                if wakeup.spun {
                    self.cut_spinning(wakeup);
                }
            }
        }
    }

    /// Where a task asked for what it is given at this step, if that shows: since its last sleep or hand-over.
    fn asked_at(&self, to: Place) -> Option<usize> {
        let asks = self.evidence.asks.get(&to.task)?;
        let since = self.last_boundary(to).map_or(0, |step| step + 1);
        // The first: as the chain of owners grows, later ones are lent the priority, too.
        let first = asks.get(asks.partition_point(|step| *step < since))?;
        (*first < to.step).then_some(*first)
    }

    /// The last step before this one at which the task slept, or unlocked or was given a mutex.
    fn last_boundary(&self, place: Place) -> Option<usize> {
        let side = self.side_before(place.task, place.step).map(|side| side.step);
        let steps = &self.tasks[place.task.index()].steps;
        let since = side.unwrap_or(0);
        let slept = steps[since..place.step].iter().rposition(|step| matches!(step, Draft::Sleep(_)));
        slept.map(|slept| since + slept).max(side)
    }

    /// The owner of a mutex that nobody handed to it has locked it some time before.
    fn lock_alone(&mut self, unlock: Place, mutex: MutexId) {
        let since = self.last_boundary(unlock).map_or(0, |step| step + 1);
        let cpu = &self.cpu_before[&unlock.task];
        let usual = self.usual.get(&unlock.task).copied().unwrap_or(u64::MAX);
        let at = cpu[unlock.step].saturating_sub(usual).max(cpu[since.min(unlock.step)]);
        self.at_cpu_time(unlock.task, since, unlock.step, at, MutexStep::Lock(mutex));
    }

    /// Whoever has been given a mutex and hands it to nobody unlocks it by itself.
    fn release_alone(&mut self, n: usize, mutex: MutexId) {
        let Wakeup { to, .. } = self.handovers[n];
        let next = self.side_after(to.task, to.step);
        let hands_on =
            next.is_some_and(|next| next.gives && !self.sleeps_between(to.task, to.step, next.step));
        let Some(usual) = self.usual.get(&to.task).copied().filter(|_| !hands_on) else { return };
        let cpu = &self.cpu_before[&to.task];
        let end = next.map_or(cpu.len(), |next| next.step);
        self.at_cpu_time(to.task, to.step + 1, end, cpu[to.step] + usual, MutexStep::Unlock(mutex));
    }

    /// Takes a step at a point of a task's CPU time, between two of its steps.
    fn at_cpu_time(&mut self, task: TaskIndex, from: usize, to: usize, at: u64, step: MutexStep) {
        let steps = &self.tasks[task.index()].steps;
        let cpu = &self.cpu_before[&task];
        for n in from..to.min(steps.len()) {
            match steps[n] {
                Draft::Run(ns) if cpu[n] <= at && at <= cpu[n] + ns => {
                    self.found.edits.entry((task, n)).or_default().within.push((at - cpu[n], step));
                    return;
                }
                // A sleep ends what one has of a mutex: the step is taken there by itself.
                Draft::Sleep(_) => return,
                _ => {}
            }
        }
    }

    /// All that the task ran between asking and getting was spinning.
    fn cut_runs(&mut self, task: TaskIndex, asked: usize, given: usize) {
        for n in asked..given {
            if let Draft::Run(_) = self.tasks[task.index()].steps[n] {
                self.found.edits.entry((task, n)).or_default().cut = Some(0);
            }
        }
    }

    /// A task that spun, and when it began to do so does not show: no earlier than its owner had the mutex.
    fn cut_spinning(&mut self, wakeup: Wakeup) {
        let had_ns = self.usual.get(&wakeup.by.task).copied().unwrap_or(0);
        let Some(before) = wakeup.to.step.checked_sub(1) else { return };
        if let Draft::Run(ns) = self.tasks[wakeup.to.task.index()].steps[before] {
            let edit = self.found.edits.entry((wakeup.to.task, before)).or_default();
            edit.cut = Some(ns.saturating_sub(had_ns));
        }
    }

    fn instead(&mut self, place: Place, step: Option<MutexStep>) {
        self.found.edits.entry((place.task, place.step)).or_default().instead = Some(step);
    }
}
