//! The least that a recording has to hold, as docs/recording.md says.

use crate::replay::{Replay, ReplayStep};
use scheduler::Nanos;
use trace::EventKind;

/// A shell that forks all the time, recorded with all events of `sched`.
const STORM: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/guest-6.1/debit-smp1/storm-START_DEBIT/trace.dat");

/// How many tasks a replay has, and how long all of them run.
fn replayed(is_kept: impl Fn(&EventKind) -> bool) -> (usize, Nanos) {
    let bytes = std::fs::read(STORM).expect("a recording");
    let mut trace = trace::read(bytes.as_slice()).expect("a trace");
    trace.events =
        std::mem::take(&mut trace.events).into_iter().filter(|event| is_kept(&event.kind)).collect();
    let replay = Replay::new(trace);
    let steps = replay.recording().tasks.iter().flat_map(|task| &task.steps);
    let runs = steps.filter_map(|step| if let ReplayStep::Run(length) = step { Some(*length) } else { None });
    (replay.recording().tasks.len(), runs.sum())
}

#[test]
fn switches_and_one_kind_of_wakeups_are_enough() {
    let (tasks, run) = replayed(|_| true);
    assert!(tasks > 100, "{tasks}");
    let waking = replayed(|kind| matches!(kind, EventKind::SchedSwitch(_) | EventKind::SchedWaking(_)));
    let wakeup = replayed(|kind| matches!(kind, EventKind::SchedSwitch(_) | EventKind::SchedWakeup(_)));
    for (name, (found, length)) in [("sched_waking", waking), ("sched_wakeup", wakeup)] {
        assert!(found.abs_diff(tasks) <= tasks / 50, "{name}: {found} of {tasks} tasks");
        assert!(length.0.abs_diff(run.0) <= run.0 / 50, "{name}: {length:?} of {run:?}");
    }
}
