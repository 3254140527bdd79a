//! Which mutex each stretch is about.

use super::holds::{Edge, Hold};
use scheduler::MutexId;
use std::collections::BTreeMap;

/// Edges of stretches that do not show are estimates: an overlap of this share of the shorter one is none.
const OVERLAP: u64 = 4;

/// One mutex from a lock without waiting to an unlock for nobody.
#[derive(Clone, Copy, Debug)]
struct Chain {
    ended_ns: u64,
    /// How long the first stretch of the next one may reach into this one, ns.
    slack_ns: u64,
}

/// The mutex of each of these stretches, which are in the order of their beginnings: that of the one before
/// it, if it was handed over; else the first that is free.
pub(super) fn name(holds: &[Hold]) -> Vec<MutexId> {
    // Of each hand-over, the stretch that it ended.
    let mut given: BTreeMap<usize, usize> = BTreeMap::new();
    for (n, hold) in holds.iter().enumerate() {
        if let Edge::Handed(handover) = hold.to {
            given.insert(handover, n);
        }
    }
    let mut mutexes: Vec<Chain> = Vec::new();
    let mut named: Vec<Option<MutexId>> = vec![None; holds.len()];
    for n in 0..holds.len() {
        let hold = holds[n];
        let length_ns = hold.ended_ns.saturating_sub(hold.began_ns);
        let now = Chain { ended_ns: hold.ended_ns, slack_ns: length_ns / OVERLAP };
        let before = match hold.from {
            Edge::Handed(handover) => given.get(&handover).and_then(|giver| named[*giver]),
            Edge::Alone { .. } => None,
        };
        let is_free =
            |chain: &Chain| chain.ended_ns <= hold.began_ns.saturating_add(now.slack_ns.min(chain.slack_ns));
        let free = || mutexes.iter().position(is_free).map(|free| MutexId(free as u32));
        let mutex = before.or_else(free).unwrap_or_else(|| {
            mutexes.push(now);
            MutexId(mutexes.len() as u32 - 1)
        });
        mutexes[mutex.index()] = now;
        named[n] = Some(mutex);
    }
    named.into_iter().flatten().collect()
}
