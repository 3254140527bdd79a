//! Which mutex each stretch is about.

use super::holds::{Edge, Hold};
use crate::replay::recording::TaskIndex;
use scheduler::MutexId;
use std::collections::BTreeMap;

/// Edges of stretches that do not show are estimates: an overlap of this share of the shorter one is none.
const OVERLAP: u64 = 4;
/// So often must as many stretches be seen at once to be of as many mutexes: a wakeup may have been for
/// something else.
const SEEN_SO_OFTEN: u64 = 3;

/// How many mutexes there are at least: as many as are handed to and by somebody at the same time, 1 if none
/// is.
pub(super) fn least(holds: &[Hold]) -> usize {
    // Who gives one away at the time at which another gets it does so first.
    let mut edges: Vec<(u64, bool)> = Vec::new();
    for hold in holds.iter().filter(|hold| hold.is_exact() && hold.began_ns < hold.ended_ns) {
        edges.extend([(hold.began_ns, true), (hold.ended_ns, false)]);
    }
    edges.sort_unstable();
    // How often so many, and one more, were held.
    let mut seen: Vec<u64> = Vec::new();
    let mut now = 0;
    for (_, begins) in edges {
        if begins {
            now += 1;
            seen.resize(seen.len().max(now), 0);
            seen[now - 1] += 1;
        } else {
            now -= 1;
        }
    }
    seen.iter().take_while(|times| **times >= SEEN_SO_OFTEN).count().max(1)
}

/// The mutex of each of these stretches, which are in the order of their beginnings.
///
/// Those that follow each other by hand-overs are of one: a chain. A chain is of the mutex that is free when
/// it begins, or soonest; of several that are free of the one that its users mostly take after what each of
/// them had before: programs are loops.
pub(super) fn name(holds: &[Hold], mutexes: usize) -> Vec<MutexId> {
    let before = before(holds);
    let mut free_from = vec![Freed { at_ns: 0, slack_ns: u64::MAX }; mutexes];
    // Of each mutex, how often its user took which one next.
    let mut next: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let mut named: Vec<Option<usize>> = vec![None; holds.len()];
    for chain in chains(holds) {
        let (first, last) = (holds[chain[0]], holds[chain[chain.len() - 1]]);
        let mut habit: BTreeMap<usize, u64> = BTreeMap::new();
        for had in chain.iter().filter_map(|n| named[before[*n]?]) {
            for ((_, mutex), times) in next.range((had, 0)..=(had, mutexes)) {
                *habit.entry(*mutex).or_default() += times;
            }
        }
        let free = (0..mutexes).filter(|mutex| free_from[*mutex].is_before(&first));
        let soonest = || (0..mutexes).min_by_key(|mutex| free_from[*mutex].at_ns);
        let Some(mutex) = free.rev().max_by_key(|mutex| habit.get(mutex).copied()).or_else(soonest) else {
            break;
        };
        free_from[mutex] = Freed { at_ns: last.ended_ns, slack_ns: last.length_ns() / OVERLAP };
        for n in chain {
            named[n] = Some(mutex);
            if let Some(had) = before[n].and_then(|before| named[before]) {
                *next.entry((had, mutex)).or_default() += 1;
            }
        }
    }
    named.into_iter().flatten().map(|mutex| MutexId(mutex as u32)).collect()
}

/// When a mutex was given back with nobody waiting.
#[derive(Clone, Copy, Debug)]
struct Freed {
    at_ns: u64,
    /// How far the next stretch may reach into the last one, ns.
    slack_ns: u64,
}

impl Freed {
    fn is_before(&self, hold: &Hold) -> bool {
        let slack_ns = self.slack_ns.min(hold.length_ns() / OVERLAP);
        self.at_ns <= hold.began_ns.saturating_add(slack_ns)
    }
}

/// The numbers of the stretches that follow each other by hand-overs, in the order of their first ones.
fn chains(holds: &[Hold]) -> Vec<Vec<usize>> {
    // Of each hand-over, the chain that it continues.
    let mut given: BTreeMap<usize, usize> = BTreeMap::new();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for (n, hold) in holds.iter().enumerate() {
        let before = match hold.from {
            Edge::Handed(handover) => given.get(&handover).copied(),
            Edge::Alone { .. } => None,
        };
        let chain = before.unwrap_or_else(|| {
            chains.push(Vec::new());
            chains.len() - 1
        });
        chains[chain].push(n);
        if let Edge::Handed(handover) = hold.to {
            given.insert(handover, chain);
        }
    }
    chains
}

/// Of each stretch, the number of the one that its task had before.
fn before(holds: &[Hold]) -> Vec<Option<usize>> {
    let mut last: BTreeMap<TaskIndex, usize> = BTreeMap::new();
    holds.iter().enumerate().map(|(n, hold)| last.insert(hold.task, n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stretches with two hand-overs each, from and to these times.
    fn exact(times: &[(u64, u64)]) -> Vec<Hold> {
        let hold = |(n, (began_ns, ended_ns)): (usize, &(u64, u64))| Hold {
            task: TaskIndex(n as u32),
            from: Edge::Handed(2 * n),
            to: Edge::Handed(2 * n + 1),
            began_ns: *began_ns,
            ended_ns: *ended_ns,
        };
        times.iter().enumerate().map(hold).collect()
    }

    #[test]
    fn what_two_have_at_the_same_time_several_times_are_two_mutexes() {
        assert_eq!(least(&[]), 1);
        assert_eq!(least(&exact(&[(0, 10), (10, 20), (20, 30)])), 1, "one after the other");
        let pairs = |n: u64| (0..n).flat_map(|n| [(100 * n, 100 * n + 20), (100 * n + 10, 100 * n + 30)]);
        assert_eq!(least(&exact(&pairs(2).collect::<Vec<_>>())), 1, "twice may be something else");
        assert_eq!(least(&exact(&pairs(3).collect::<Vec<_>>())), 2);
    }

    #[test]
    fn of_two_free_mutexes_a_task_takes_the_one_that_usually_follows() {
        let hold = |task: u32, began_ns: u64, ended_ns: u64| {
            let [from, to] = [Edge::Alone { step: 0, at_ns: 0 }; 2];
            Hold { task: TaskIndex(task), from, to, began_ns, ended_ns }
        };
        let mut holds = Vec::new();
        for n in 0..10 {
            let t = 1000 * n;
            holds.push(hold(0, t, t + 100));
            // In the first rounds another task has the first mutex when task 0 comes for the second time.
            holds.extend((n < 5).then(|| hold(1, t + 490, t + 610)));
            holds.push(hold(0, t + 500, t + 600));
        }
        let named = name(&holds, 2);
        let of_task_0 = holds.iter().zip(&named).filter(|(hold, _)| hold.task == TaskIndex(0));
        let of_task_0: Vec<MutexId> = of_task_0.map(|(_, mutex)| *mutex).collect();
        assert!(of_task_0[10..].windows(2).all(|pair| pair[0] != pair[1]), "{of_task_0:?}");
        // Without habits the first free one is taken.
        let alone: Vec<Hold> = (0..4).map(|n| hold(n, u64::from(n) * 100, u64::from(n) * 100 + 10)).collect();
        assert_eq!(name(&alone, 2), [MutexId(0); 4]);
    }
}
