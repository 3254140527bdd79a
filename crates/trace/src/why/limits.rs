//! A limit of CPU time that the recording does not name, but that nothing else explains: a fair task that
//! gets the CPU back at even times, after as much CPU time each time, whoever else runs meanwhile.
//!
//! That is inference, so it is told as such. The rule is strict: fair tasks that share a CPU by weight wait
//! for a slice or some, again and again; only who has a quota runs for long without a long wait, and then
//! waits for long.

use std::collections::BTreeMap;

use super::wait::{Began, Wait};
use crate::model::{Pid, TaskRef};

/// A limit that a task seems to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SuspectedLimit {
    /// The task.
    pub pid: Pid,
    /// So much CPU time it gets in each period, about, nanoseconds.
    pub quota_ns: u64,
    /// The period, about, nanoseconds.
    pub period_ns: u64,
    /// How many waits end with a period.
    pub waits: u64,
}

/// So many long waits have to end evenly.
const FEWEST: usize = 5;

/// A shorter quota looks like a slice, ns.
const SHORTEST_NS: u64 = 10_000_000;

/// A limit is enforced, and its end noticed, within two ticks of 4 ms, ns.
const SLACK_NS: u64 = 8_000_000;

/// By task, in the order of pids.
pub fn suspected(waits: &[Wait]) -> Vec<SuspectedLimit> {
    let mut by_task: BTreeMap<Pid, Vec<&Wait>> = BTreeMap::new();
    for wait in waits {
        by_task.entry(wait.task.pid).or_default().push(wait);
    }
    by_task.into_values().filter_map(|waits| of_task(&waits)).collect()
}

/// The time between two long waits.
#[derive(Clone, Copy)]
struct Turn {
    /// From the end of the one to that of the other.
    period_ns: u64,
    /// CPU time in between.
    used_ns: u64,
}

fn of_task(waits: &[&Wait]) -> Option<SuspectedLimit> {
    let TaskRef { pid, prio, .. } = waits.first()?.task;
    let is_told = |wait: &&&Wait| wait.began == Began::Preempted || wait.began == Began::Woken;
    let length = |wait: &Wait| wait.first_ns - wait.due_ns();
    let mut lengths: Vec<u64> = waits.iter().filter(is_told).map(|wait| length(wait)).collect();
    lengths.sort_unstable_by_key(|length| std::cmp::Reverse(*length));
    // Of so many at least it is the shortest.
    let long = lengths.get(FEWEST - 1).filter(|_| prio >= 100).copied()? * 3 / 4;
    let is_long = |wait: &Wait| length(wait) >= long;
    if lengths.iter().any(|length| (long / 4..long).contains(length)) {
        return None;
    }
    let mut turns: Vec<Turn> = Vec::new();
    let (mut used_ns, mut ended_ns) = (0, None);
    for two in waits.windows(2) {
        let [before, wait] = two else { continue };
        if is_long(before) {
            (used_ns, ended_ns) = (0, Some(before.first_ns));
        }
        used_ns += wait.left?.at_ns.saturating_sub(before.first_ns);
        if let Some(ended_ns) = ended_ns.filter(|_| is_long(wait)) {
            turns.push(Turn { period_ns: wait.first_ns - ended_ns, used_ns });
        }
    }
    let period_ns = median(turns.iter().map(|turn| turn.period_ns))?;
    let quota_ns = median(turns.iter().map(|turn| turn.used_ns))?;
    let even = |turn: &Turn| {
        turn.period_ns.abs_diff(period_ns) <= SLACK_NS && turn.used_ns.abs_diff(quota_ns) <= SLACK_NS
    };
    let holds = turns.len() + 1 >= FEWEST && quota_ns >= SHORTEST_NS && turns.iter().all(even);
    holds.then_some(SuspectedLimit { pid, quota_ns, period_ns, waits: turns.len() as u64 + 1 })
}

fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
