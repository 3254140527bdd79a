//! When the tasks of a trace exited.

use scheduler::Nanos;
use std::collections::BTreeMap;
use trace::{EventKind, Pid, Trace};

/// A task of a trace: its id, and how many tasks had this id before it.
pub(super) type TraceTask = (Pid, u32);

/// The time of exit of every task that exited, since the trace's first event: that of `sched_process_exit`, and where that
/// was not recorded, that at which it left its CPU for good.
pub(super) fn of(trace: &Trace) -> BTreeMap<TraceTask, Nanos> {
    let mut exits = BTreeMap::new();
    let mut incarnations: BTreeMap<Pid, u32> = BTreeMap::new();
    for event in &trace.events {
        if let EventKind::SchedProcessFork(fork) = &event.kind {
            let incarnation = incarnations.entry(fork.child_pid).or_insert(0);
            *incarnation += u32::from(exits.contains_key(&(fork.child_pid, *incarnation)));
        }
        if let Some(pid) = event.kind.ended().filter(|pid| *pid != Pid::IDLE) {
            let incarnation = incarnations.get(&pid).copied().unwrap_or(0);
            exits.entry((pid, incarnation)).or_insert(Nanos(event.time_ns - trace.start_ns()));
        }
    }
    exits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_when_it_was_called_and_a_reused_id_makes_a_second_task() {
        let trace = trace::read(
            " a-7 [000] .... 1.000000: sched_process_fork: comm=a pid=7 child_comm=a child_pid=8\n\
             a-8 [000] .... 1.000100: sched_process_exit: comm=a pid=8 prio=120\n\
             a-8 [000] d... 1.000150: sched_switch: prev_comm=a prev_pid=8 prev_prio=120 prev_state=Z ==> next_comm=a next_pid=7 next_prio=120\n\
             a-7 [000] .... 1.000200: sched_process_fork: comm=a pid=7 child_comm=a child_pid=8\n\
             a-7 [000] d... 1.000300: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=X ==> next_comm=a next_pid=8 next_prio=120\n\
             a-8 [000] .... 1.000400: sched_process_exit: comm=a pid=8 prio=120\n"
                .as_bytes(),
        )
        .expect("a trace");
        let found: Vec<_> = of(&trace).into_iter().map(|((pid, n), at)| (pid.0, n, at.0 / 1000)).collect();
        assert_eq!(found, [(7, 0, 300), (8, 0, 100), (8, 1, 400)]);
    }
}
