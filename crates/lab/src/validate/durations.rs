//! How long tasks of a recording waited and stayed, there and in the replay, to look at.

use super::distribution::coarse;
use super::replay::LEAST_COUNT;
use crate::error::Error;
use crate::experiment::Logged;
use crate::inspect::{Inspection, open};
use crate::sources::Sources;
use schema::validation::{Durations, ValidatedDistribution};
use std::collections::{BTreeMap, BTreeSet};
use trace::{EventKind, Stretch, Trace, WakeupEvent, summarise_within};
use workload::run_trace;

/// Both sides of the tasks with these recorded pids. What happened seldom has no distribution.
pub(super) fn of_tasks(
    recording: &str,
    replay: &Logged,
    whom: &BTreeSet<u32>,
    files: &dyn Sources,
) -> Result<Vec<ValidatedDistribution>, Error> {
    let recorded = open(recording, &Inspection::default(), files)?.trace;
    let simulated = run_trace(&replay.log.records, replay.log.head.machine.cpus as usize);
    let is_recorded = |pid: trace::Pid| whom.contains(&pid.0.unsigned_abs());
    let pid_there = |pid: trace::Pid| replay.recorded_pids.get(&scheduler::Pid(pid.0));
    let is_simulated = |pid: trace::Pid| pid_there(pid).is_some_and(|pid| whom.contains(pid));
    // A replay goes on until its tasks have done what they did: what is later was not recorded.
    let there = Stretch::of(&recorded);
    let from_ns = replay.start.0;
    let here = Stretch { from_ns, to_ns: from_ns + (there.to_ns - there.from_ns) };
    let of_recorded = |of: Lengths| of(&recorded, there, &is_recorded);
    let of_simulated = |of: Lengths| of(&simulated, here, &is_simulated);
    let both = [("wakeup latency", latencies as Lengths), ("time on a CPU", stays)]
        .map(|(what, of)| (what, of_recorded(of), of_simulated(of)));
    let is_often = |lengths: &[u64]| lengths.len() as f64 >= LEAST_COUNT;
    let often = both.into_iter().filter(|(_, there, here)| is_often(there) && is_often(here));
    let beside = |(what, there, here): (&str, Vec<u64>, Vec<u64>)| ValidatedDistribution {
        what: what.to_owned(),
        recorded: counts(&there),
        simulated: counts(&here),
    };
    Ok(often.map(beside).collect())
}

/// Lengths of one kind in a stretch of a trace, of the tasks that are meant.
type Lengths = fn(&Trace, Stretch, &dyn Fn(trace::Pid) -> bool) -> Vec<u64>;

/// From wakeups to the switches to the tasks.
fn latencies(trace: &Trace, stretch: Stretch, is_meant: &dyn Fn(trace::Pid) -> bool) -> Vec<u64> {
    let summary = summarise_within(trace, WakeupEvent::of(trace), stretch);
    let tasks = summary.tasks.into_iter().filter(|task| is_meant(task.pid));
    tasks.flat_map(|task| task.wake_latency.samples_ns).collect()
}

/// From a switch to a task to the next one on its CPU, where both were recorded.
fn stays(trace: &Trace, stretch: Stretch, is_meant: &dyn Fn(trace::Pid) -> bool) -> Vec<u64> {
    let (mut since, mut stays) = (BTreeMap::new(), Vec::new());
    for event in trace.events.iter().filter(|event| stretch.holds(event.time_ns)) {
        let EventKind::SchedSwitch(switch) = &event.kind else { continue };
        if let Some((pid, start)) = since.insert(event.cpu, (switch.next.pid, event.time_ns))
            && pid == switch.prev.pid
            && is_meant(pid)
        {
            stays.push(event.time_ns - start);
        }
    }
    stays
}

fn counts(lengths: &[u64]) -> Durations {
    let mut counts = BTreeMap::new();
    lengths.iter().for_each(|ns| *counts.entry(*ns).or_insert(0) += 1);
    Durations::from(coarse(counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Pid;

    /// `a` is woken at 1 ms, runs from 1.3 ms to 2 ms and, again, for a millisecond in which nothing was
    /// recorded of CPU 1.
    #[test]
    fn a_stay_ends_where_the_task_leaves_the_cpu_to_which_it_was_switched() {
        let idle = "swapper/0 prev_pid=0 prev_prio=120 prev_state=R";
        let switch = |cpu: u32, at: &str, from: &str, to: &str| {
            format!("x-1 [00{cpu}] d... {at}: sched_switch: prev_comm={from} ==> next_comm={to}\n")
        };
        let (a, a_next) = ("a prev_pid=7 prev_prio=120 prev_state=S", "a next_pid=7 next_prio=120");
        let idle_next = "swapper/0 next_pid=0 next_prio=120";
        let text = [
            "x-1 [000] d... 1.001000: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n".to_owned(),
            switch(0, "1.001300", idle, a_next),
            switch(0, "1.002000", a, idle_next),
            switch(1, "1.003000", a, idle_next),
            switch(0, "1.004000", idle, a_next),
        ];
        let files = crate::Files::from([("it.txt".to_owned(), text.concat().into_bytes())]);
        let trace = open("it.txt", &Inspection::default(), &files).expect("a trace").trace;
        let (all, is_a) = (Stretch::of(&trace), &|pid| pid == Pid(7));
        assert_eq!(stays(&trace, all, is_a), [700_000]);
        assert_eq!(latencies(&trace, all, is_a), [300_000]);
        assert_eq!(stays(&trace, all, &|pid| pid == Pid(8)), [0; 0]);
        let short = Stretch { to_ns: all.from_ns + 500_000, ..all };
        assert_eq!(stays(&trace, short, is_a), [0; 0], "its end is behind that of the stretch");
    }
}
