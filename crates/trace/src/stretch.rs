//! A stretch of a trace.

use crate::model::Trace;

/// A stretch of a trace, by the trace's own clock. An event at either end is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Where it begins, ns.
    pub from_ns: u64,
    /// Where it ends, ns; not before it begins.
    pub to_ns: u64,
}

impl Stretch {
    /// A whole trace, from its first event to its last.
    pub fn of(trace: &Trace) -> Stretch {
        Stretch { from_ns: trace.start_ns(), to_ns: trace.end_ns() }
    }

    /// Whether something of this time is in it.
    pub fn holds(&self, time_ns: u64) -> bool {
        (self.from_ns..=self.to_ns).contains(&time_ns)
    }

    /// What an interval has in common with it; of no length if that is nothing.
    pub fn and(&self, from_ns: u64, to_ns: u64) -> Stretch {
        let from_ns = from_ns.max(self.from_ns);
        Stretch { from_ns, to_ns: to_ns.min(self.to_ns).max(from_ns) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pid, WakeupEvent, read, summarise, summarise_within};

    /// Task 7 runs from 100 to 350 us and from 380 to 400 us, the second time 20 us after its wakeup.
    const TRACE: &str = " <idle>-0 [000] d... 0.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
         a-7 [000] d... 0.000350: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
         <idle>-0 [000] d... 0.000360: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
         <idle>-0 [000] d... 0.000380: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
         a-7 [000] d... 0.000400: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=swapper/0 next_pid=0 next_prio=120\n";

    /// CPU time, switches to sleep, wakeups and latencies of task 7, and idle time of the CPU, in us.
    fn figures(from_us: u64, to_us: u64) -> [u64; 5] {
        let trace = read(TRACE.as_bytes()).expect("a trace");
        let stretch = Stretch { from_ns: from_us * 1000, to_ns: to_us * 1000 };
        let summary = summarise_within(&trace, WakeupEvent::Wakeup, stretch);
        let task = summary.task(Pid(7)).expect("it occurs");
        let cpu_time = (task.cpu_time_ns + task.edge_time_ns) / 1000;
        let idle = summary.cpus[0].idle_ns / 1000;
        [cpu_time, task.voluntary_switches, task.wakeups, task.wake_latency.count(), idle]
    }

    #[test]
    fn time_is_cut_at_the_ends_and_a_latency_counts_where_it_ends() {
        assert_eq!(figures(150, 250), [100, 0, 0, 0, 0], "no event tells so there, but one before");
        assert_eq!(figures(340, 370), [10, 1, 1, 0, 20]);
        assert_eq!(figures(370, 390), [10, 0, 0, 1, 10]);
    }

    #[test]
    fn the_whole_trace_is_a_stretch() {
        let trace = read(TRACE.as_bytes()).expect("a trace");
        let whole = summarise_within(&trace, WakeupEvent::Wakeup, Stretch::of(&trace));
        assert_eq!(whole, summarise(&trace));
    }
}
