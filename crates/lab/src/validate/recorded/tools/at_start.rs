//! What runs when a recording begins. No switch tells since when, and `perf sched` does not count it; but its
//! own events before it leaves its CPU do, and a replay has to have it.

use std::collections::BTreeMap;
use trace::{Cpu, EventKind, Trace};

/// By pid, how long the tasks that ran at first did so before they left their CPU, as far as their own events
/// show, microseconds.
pub(super) fn ran_at_start_us(trace: &Trace) -> BTreeMap<u32, f64> {
    let mut first: BTreeMap<Cpu, Option<(trace::Pid, u64)>> = BTreeMap::new();
    let mut ran = BTreeMap::new();
    for event in &trace.events {
        let seen = first.entry(event.cpu).or_insert(Some((event.pid, event.time_ns)));
        let EventKind::SchedSwitch(switch) = &event.kind else { continue };
        // Of later switches it is known who came before.
        let Some((pid, since_ns)) = seen.take() else { continue };
        if pid == switch.prev.pid && pid != trace::Pid::IDLE {
            let ran_us = (event.time_ns - since_ns) as f64 / 1e3;
            *ran.entry(pid.0.unsigned_abs()).or_insert(0.0) += ran_us;
        }
    }
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first thread of mix_lab runs from the exec on, with which the recording begins; who comes after
    /// it, and the idle task of the other CPU, do not count.
    #[test]
    fn what_ran_before_the_first_switch_counts_by_its_own_events() {
        let text = "\
            <idle>-0 [001] d.h1. 25.270000: sched_waking: comm=a pid=9 prio=120 target_cpu=001\n\
            mix_lab-306 [000] ..... 25.270032: sched_process_exec: filename=mix_lab pid=306 old_pid=306\n\
            <idle>-0 [001] d..2. 25.270100: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 \
            prev_state=R ==> next_comm=a next_pid=9 next_prio=120\n\
            mix_lab-306 [000] d..2. 25.272520: sched_switch: prev_comm=mix_lab prev_pid=306 prev_prio=1 \
            prev_state=S ==> next_comm=mix_lab next_pid=307 next_prio=1\n\
            mix_lab-307 [000] d..2. 25.273000: sched_switch: prev_comm=mix_lab prev_pid=307 prev_prio=1 \
            prev_state=S ==> next_comm=mix_lab next_pid=306 next_prio=1\n\
            mix_lab-306 [000] d..2. 25.274000: sched_switch: prev_comm=mix_lab prev_pid=306 prev_prio=1 \
            prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";
        let trace = trace::read(text.as_bytes()).expect("a trace");
        assert_eq!(ran_at_start_us(&trace), BTreeMap::from([(306, 2488.0)]));
    }
}
