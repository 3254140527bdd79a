//! What to know before trusting the events of a trace, noted from the events themselves.

use crate::model::{EventKind, Pid, Trace};
use crate::notes::{NoteKind, Position};
use crate::occupancy::{Occupancy, running};
use crate::pidmap::PidMap;
use std::collections::BTreeMap;

/// Notes it all.
pub(super) fn describe(trace: &mut Trace) {
    note_contexts(trace);
    note_breaks(trace);
    note_reused_pids(trace);
}

/// `sched_switch` is emitted by the task that leaves, so its context must be `prev`. A file where that fails
/// more than once in a hundred times has a task column that cannot be used to tell who runs.
fn note_contexts(trace: &mut Trace) {
    let (mut switches, mut contradictions, mut first) = (0u64, 0u64, None);
    for event in &trace.events {
        if let EventKind::SchedSwitch(switch) = &event.kind {
            switches += 1;
            if event.pid != Pid::UNKNOWN && event.pid != switch.prev.pid {
                contradictions += 1;
                first.get_or_insert(event.time_ns);
            }
        }
    }
    if let Some(first) = first.filter(|_| contradictions * 100 > switches) {
        trace.notes.add_many(NoteKind::ContextUnreliable, contradictions, Position::Time(first));
    }
}

fn note_breaks(trace: &mut Trace) {
    let mut leaves = PidMap::new();
    for event in &trace.events {
        if let EventKind::SchedSwitch(switch) = &event.kind {
            leaves.insert(switch.prev.pid, true);
        }
    }
    let mut occupancy = Occupancy::new(trace);
    let trust_context = occupancy.trusts_context();
    let mut breaks: BTreeMap<NoteKind, (u64, u64)> = BTreeMap::new();
    let mut wakeups = 0u64;
    for event in &trace.events {
        if let Some(gone) = occupancy.observe(event).displaced {
            let kind = match running(event, trust_context) {
                came if gone.pid == Pid::IDLE || came == Pid::IDLE => NoteKind::UntracedIdle,
                _ if leaves.get(gone.pid).is_none() => NoteKind::HiddenTask,
                _ => NoteKind::BrokenSwitchChain,
            };
            breaks.entry(kind).or_insert((0, event.time_ns)).0 += 1;
        }
        wakeups += u64::from(matches!(event.kind, EventKind::SchedWakeup(_) | EventKind::SchedWakeupNew(_)));
    }
    for (kind, (count, first_ns)) in breaks {
        trace.notes.add_many(kind, count, Position::Time(first_ns));
    }
    if wakeups == 0 {
        trace.notes.add(NoteKind::NoWakeups, Position::Whole);
    }
}

fn note_reused_pids(trace: &mut Trace) {
    let mut ended = PidMap::new();
    for event in &trace.events {
        if let Some(pid) = event.kind.ended() {
            ended.insert(pid, true);
        }
        if let EventKind::SchedProcessFork(fork) = &event.kind
            && ended.get(fork.child_pid) == Some(true)
        {
            ended.insert(fork.child_pid, false);
            trace.notes.add(NoteKind::PidReused, Position::Time(event.time_ns));
        }
    }
}
