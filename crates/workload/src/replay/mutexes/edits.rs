//! What becomes of drafted steps where mutexes take the place of wakeups.

use super::holds::{Edge, Hold, Holds};
use crate::replay::recording::{ReplayStep, TaskIndex};
use crate::replay::track::{Draft, Track};
use scheduler::{MutexId, Nanos};
use std::collections::BTreeMap;

/// All changes, by task and number of the step.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits(BTreeMap<(TaskIndex, usize), Edit>);

/// What becomes of one step.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct Edit {
    /// It is a sleep or a wakeup that is nothing any more.
    gone: bool,
    /// Of a run: it ends here, ns; the rest was spinning.
    cut_ns: Option<u64>,
    /// What comes into it, after so much CPU time.
    within: Vec<(u64, ReplayStep)>,
}

impl Edits {
    /// Adds those of the mutexes from number `first` on.
    pub fn add(&mut self, tasks: &[Track], holds: &Holds, named: &[MutexId], first: usize) {
        for (hold, mutex) in holds.all.iter().zip(named) {
            let mutex = MutexId(mutex.0 + first as u32);
            self.lock(tasks, holds, hold, mutex);
            self.unlock(holds, hold, mutex);
        }
    }

    pub fn of(&self, task: TaskIndex, step: usize) -> Option<&Edit> {
        self.0.get(&(task, step))
    }

    fn lock(&mut self, tasks: &[Track], holds: &Holds, hold: &Hold, mutex: MutexId) {
        let Edge::Handed(handover) = hold.from else {
            return self.insert(hold.task, hold.from, ReplayStep::Lock { mutex, waited: false });
        };
        let given = holds.handovers[handover].to.step;
        self.edit(hold.task, given).gone = true;
        let here = Edge::Alone { step: given, at_ns: 0 };
        let asked = holds.asked[handover].unwrap_or(here);
        self.insert(hold.task, asked, ReplayStep::Lock { mutex, waited: true });
        let Edge::Alone { step: from, at_ns } = asked else { return };
        for step in from..given {
            if let Draft::Run(_) = tasks[hold.task.index()].steps[step] {
                self.edit(hold.task, step).cut_ns = Some(if step == from { at_ns } else { 0 });
            }
        }
    }

    fn unlock(&mut self, holds: &Holds, hold: &Hold, mutex: MutexId) {
        match hold.to {
            Edge::Handed(handover) => {
                let step = holds.handovers[handover].by.step;
                self.edit(hold.task, step).gone = true;
                let here = Edge::Alone { step, at_ns: 0 };
                self.insert(hold.task, here, ReplayStep::Unlock { mutex, wakes: true });
            }
            alone => self.insert(hold.task, alone, ReplayStep::Unlock { mutex, wakes: false }),
        }
    }

    fn insert(&mut self, task: TaskIndex, at: Edge, what: ReplayStep) {
        if let Edge::Alone { step, at_ns } = at {
            self.edit(task, step).within.push((at_ns, what));
        }
    }

    fn edit(&mut self, task: TaskIndex, step: usize) -> &mut Edit {
        self.0.entry((task, step)).or_default()
    }
}

impl Edit {
    /// Takes the steps that the draft becomes; `as_it_was` is what it would be without mutexes.
    pub fn apply(&self, draft: Draft, as_it_was: Option<ReplayStep>, steps: &mut Vec<ReplayStep>) {
        let mut within = self.within.clone();
        within.sort_by_key(|(at_ns, _)| *at_ns);
        let Draft::Run(ns) = draft else {
            steps.extend(within.into_iter().map(|(_, step)| step));
            steps.extend(as_it_was.filter(|_| !self.gone));
            return;
        };
        let end_ns = self.cut_ns.unwrap_or(ns);
        // No work is no step: a file has none, either.
        let run = |ns| (ns > 0).then_some(ReplayStep::Run(Nanos(ns)));
        let mut from_ns = 0;
        for (at_ns, step) in within {
            let at_ns = at_ns.min(end_ns);
            steps.extend(run(at_ns - from_ns));
            steps.push(step);
            from_ns = at_ns;
        }
        steps.extend(run(end_ns - from_ns));
    }
}

/// Makes a program out of inferred locks and unlocks that never has two mutexes, nor one while it sleeps or
/// after its end, and unlocks only what it has.
pub(in crate::replay) fn one_at_a_time(steps: &mut Vec<ReplayStep>) {
    let mut held = None;
    let mut mended = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        let must_be_free = matches!(step, ReplayStep::Lock { .. } | ReplayStep::Sleep(_) | ReplayStep::Exit);
        if let Some(mutex) = held.take_if(|_| must_be_free) {
            mended.push(ReplayStep::Unlock { mutex, wakes: false });
        }
        match step {
            ReplayStep::Unlock { mutex, .. } if held != Some(mutex) => continue,
            ReplayStep::Unlock { .. } => held = None,
            ReplayStep::Lock { mutex, .. } => held = Some(mutex),
            _ => {}
        }
        mended.push(step);
    }
    mended.extend(held.map(|mutex| ReplayStep::Unlock { mutex, wakes: false }));
    *steps = mended;
}
