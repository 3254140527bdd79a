//! Plain mutexes: what shows of them is who wakes whom.
//!
//! Who unlocks a mutex wakes one of those who wait for it. So do tasks that send each other messages; what
//! tells the users of mutexes from these:
//!
//! - **Anybody meets anybody.** Three tasks or more, nearly each of which has woken nearly each other.
//!   Messages go from certain tasks to certain others.
//! - **They meet by chance.** Between their waits for each other they sleep for other reasons. Who waits for
//!   messages sleeps for hardly anything else.
//! - **They stand in a queue** (rt-class 7.6): of two that wait at the same time, the more important one is
//!   woken first, among equals, and among fair tasks, the one that came first. Idle workers that are given
//!   something to do have no such order.
//!
//! A task that is woken by none of them may still be an owner: the least important one of a CPU never waits.

use super::circles::circles;
use super::holds::{Edge, Handover, Hold, Holds};
use crate::replay::recording::{FIRST_FAIR_PRIO, TaskIndex};
use crate::replay::track::{By, Draft, DraftStep, Prio, Sleep, Track};
use std::collections::{BTreeMap, BTreeSet};
use trace::PrevState;

/// So often must a task have woken another to be taken for one who has what the other waits for.
const OFTEN: usize = 10;
/// Fewer tasks than this may as well send each other messages.
const FEWEST_TASKS: usize = 3;
/// With fewer hand-overs than this between them, nothing is sure.
const FEWEST_HANDOVERS: usize = 100;
/// Of the pairs of tasks, this percentage has met.
const MET_PERCENT: usize = 67;
/// Of the sleeps, this percentage is for something else.
const ELSEWHERE_PERCENT: usize = 20;
/// Of those who were woken while others waited, this percentage may have been out of turn.
const OUT_OF_TURN_PERCENT: usize = 5;

/// What each group of tasks that share mutexes does with them; without those tasks whose mutexes are known.
pub(super) fn find(tasks: &[Track], known: &BTreeSet<TaskIndex>) -> Vec<Holds> {
    let mut waits = waits(tasks);
    waits.retain(|wait| !known.contains(&wait.by.task) && !known.contains(&wait.to.task));
    let met = Met::new(&waits);
    let groups = Groups::of(&met);
    let found = groups.handovers(&waits).into_iter().zip(&groups.all).filter_map(|(handovers, group)| {
        let enough = group.is_mixed() && handovers.len() >= FEWEST_HANDOVERS;
        if !enough || !sleeps_elsewhere(tasks, &group.circle, handovers.len()) {
            return None;
        }
        let holds = Holds::find(tasks, handovers);
        stand_in_a_queue(tasks, &holds).then_some(holds)
    });
    found.collect()
}

/// The sleeps that a step of another task ended, in the order of their ends.
fn waits(tasks: &[Track]) -> Vec<Handover> {
    let mut waits = Vec::new();
    for (task, track) in (0u32..).map(TaskIndex).zip(tasks) {
        for (step, draft) in track.steps.iter().enumerate() {
            let Draft::Sleep(number) = draft else { continue };
            let Sleep { state: PrevState::Interruptible, end: Some(end), timer: None, .. } =
                track.sleeps[*number]
            else {
                continue;
            };
            if let By::Task { place: by, .. } = end.by {
                let to = DraftStep { task, step };
                // Nobody spins: it asks, and sleeps.
                waits.push(Handover { at_ns: end.at_ns, by, to, spun: false, asked: Some(step) });
            }
        }
    }
    waits.sort_by_key(|wait| wait.at_ns);
    waits
}

/// How often each task has woken each other one.
struct Met(BTreeMap<(TaskIndex, TaskIndex), usize>);

impl Met {
    fn new(waits: &[Handover]) -> Met {
        let mut met = BTreeMap::new();
        for wait in waits.iter().filter(|wait| wait.by.task != wait.to.task) {
            *met.entry((wait.by.task, wait.to.task)).or_default() += 1;
        }
        Met(met)
    }

    /// Tasks from each of which one comes to each other by wakeups.
    fn circles(&self) -> Vec<BTreeSet<TaskIndex>> {
        let often = self.0.iter().filter(|(_, times)| **times >= OFTEN).map(|(pair, _)| *pair);
        let mut circles = circles(&often.collect());
        circles.retain(|circle| circle.len() >= FEWEST_TASKS);
        circles
    }
}

/// Tasks that may share mutexes.
#[derive(Clone, Debug)]
struct Group {
    /// Each waits.
    circle: BTreeSet<TaskIndex>,
    /// These only wake: who has often woken several of the circle.
    owners: BTreeSet<TaskIndex>,
    /// Pairs of the circle of which one has ever woken the other.
    pairs: usize,
}

impl Group {
    /// Anybody meets anybody.
    fn is_mixed(&self) -> bool {
        let possible = self.circle.len() * (self.circle.len() - 1);
        self.pairs * 100 >= possible * MET_PERCENT
    }
}

/// All of them. A task is in one circle at most.
struct Groups {
    all: Vec<Group>,
    circle_of: BTreeMap<TaskIndex, usize>,
}

impl Groups {
    fn of(met: &Met) -> Groups {
        let circles = met.circles();
        let mut circle_of: BTreeMap<TaskIndex, usize> = BTreeMap::new();
        for (n, circle) in circles.iter().enumerate() {
            circle_of.extend(circle.iter().map(|task| (*task, n)));
        }
        let new = |circle| Group { circle, owners: BTreeSet::new(), pairs: 0 };
        let mut all: Vec<Group> = circles.into_iter().map(new).collect();
        // Of whom each task from outside has often woken one, and has then woken another.
        let mut woken: BTreeSet<(TaskIndex, usize)> = BTreeSet::new();
        for ((by, to), times) in &met.0 {
            let Some(group) = circle_of.get(to) else { continue };
            if circle_of.get(by) == Some(group) {
                all[*group].pairs += 1;
            } else if *times >= OFTEN && !woken.insert((*by, *group)) {
                all[*group].owners.insert(*by);
            }
        }
        Groups { all, circle_of }
    }

    /// What each group hands over.
    fn handovers(&self, waits: &[Handover]) -> Vec<Vec<Handover>> {
        let mut handovers = vec![Vec::new(); self.all.len()];
        for wait in waits {
            let [by, to] = [wait.by.task, wait.to.task];
            let [gives, gets] = [by, to].map(|task| self.circle_of.get(&task).copied());
            let owned = |group: &usize, task| self.all[*group].owners.contains(&task);
            let group = if gives == gets {
                gives
            } else {
                gets.filter(|group| owned(group, by)).or(gives.filter(|group| owned(group, to)))
            };
            if let Some(group) = group {
                handovers[group].push(*wait);
            }
        }
        handovers
    }
}

fn sleeps_elsewhere(tasks: &[Track], circle: &BTreeSet<TaskIndex>, handovers: usize) -> bool {
    let sleeps: usize = circle.iter().map(|task| tasks[task.index()].sleeps.len()).sum();
    sleeps.saturating_sub(handovers) * 100 >= sleeps * ELSEWHERE_PERCENT
}

/// Whether those who are handed a mutex while others wait for it have the right to be first.
fn stand_in_a_queue(tasks: &[Track], holds: &Holds) -> bool {
    let rank = |place: DraftStep| {
        let track = &tasks[place.task.index()];
        let Draft::Sleep(number) = track.steps[place.step] else { return None };
        let prio = track.prio.map_or(FIRST_FAIR_PRIO, Prio::effective).min(FIRST_FAIR_PRIO);
        Some((prio, track.sleeps[number].slept_ns?))
    };
    let (mut in_turn, mut out_of_turn) = (0, 0);
    for Hold { from, to, began_ns, .. } in &holds.all {
        let (Edge::Handed(from), Edge::Handed(to)) = (*from, *to) else { continue };
        let [first, next] = [from, to].map(|handover| rank(holds.handovers[handover].to));
        let (Some(first), Some(next)) = (first, next) else { continue };
        if next.1 < *began_ns {
            in_turn += usize::from(first <= next);
            out_of_turn += usize::from(first > next);
        }
    }
    out_of_turn * 100 <= (in_turn + out_of_turn) * OUT_OF_TURN_PERCENT
}
