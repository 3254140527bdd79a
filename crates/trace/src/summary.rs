//! Figures per task and per CPU, read from a trace's events.
//!
//! The definitions are those of the kernel's counters where a trace can show them (rt-class 11.1):
//!
//! | figure | from |
//! |---|---|
//! | voluntary switch | `sched_switch` whose `prev_state` is a sleep (or death), counted for `prev` |
//! | involuntary switch | `sched_switch` whose `prev_state` is `R` or `R+` |
//! | migration | `sched_migrate_task` |
//! | wakeup | `sched_wakeup`, `sched_wakeup_new`; see [`WakeupEvent`] |
//! | effective wakeup | the last such event of a task that is not running, before a `sched_switch` brings it |
//! | wakeup to run | from the last such event of a task that is not running to the `sched_switch` that brings it |
//! | CPU time | from the `sched_switch` that brings a task to the one that takes it away |
//!
//! Where the trace has holes, what spans a hole is left out rather than guessed: an interval counts only if
//! both its ends were recorded. [`infer_missing_switches`](crate::infer_missing_switches) fills some holes
//! first.

mod summariser;

use crate::model::{Cpu, EventKind, Pid, Trace};
use crate::occupancy::Occupancy;
use crate::stretch::Stretch;
use crate::strings::StrId;
use crate::windows::{WindowedSummary, Windows};
use summariser::Summariser;

/// Times from a wakeup to the moment at which the task ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WakeLatency {
    /// Every latency in ns, in the order in which the tasks came to run.
    pub samples_ns: Vec<u64>,
}

impl WakeLatency {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.samples_ns.len() as u64
    }

    /// The shortest, ns; `None` without samples, as below.
    pub fn min_ns(&self) -> Option<u64> {
        self.samples_ns.iter().min().copied()
    }

    /// The arithmetic mean, ns, rounded down.
    pub fn mean_ns(&self) -> Option<u64> {
        let sum: u128 = self.samples_ns.iter().map(|ns| u128::from(*ns)).sum();
        u64::try_from(sum.checked_div(self.samples_ns.len() as u128)?).ok()
    }

    /// The longest, ns.
    pub fn max_ns(&self) -> Option<u64> {
        self.samples_ns.iter().max().copied()
    }

    /// The smallest sample that at least `permille` thousandths of the samples do not exceed (nearest rank):
    /// 500 for the median, 999 for p99.9. Sorts a copy.
    pub fn percentile_ns(&self, permille: u32) -> Option<u64> {
        let mut sorted = self.samples_ns.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() as u64 * u64::from(permille.min(1000))).div_ceil(1000).max(1);
        sorted.get(rank as usize - 1).copied()
    }
}

/// One task. A task id that was given out again makes a second entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskSummary {
    /// Thread id.
    pub pid: Pid,
    /// 0 for the first task with this id, 1 for the next.
    pub incarnation: u32,
    /// The last name under which an event mentions it; for threads known only from the file's list, that one.
    pub comm: Option<StrId>,
    /// The last priority that an event gives it (kernel numbers); `None` if none does.
    pub prio: Option<i32>,
    /// Time on a CPU, whole intervals only, ns.
    pub cpu_time_ns: u64,
    /// Time on a CPU at the edges of the trace, ns: it ran when the trace began, or still runs at its end.
    pub edge_time_ns: u64,
    /// How often a recorded switch brought it onto a CPU.
    pub switches_in: u64,
    /// How often it left to sleep.
    pub voluntary_switches: u64,
    /// How often it left runnable.
    pub involuntary_switches: u64,
    /// How often it was given another CPU.
    pub migrations: u64,
    /// How often it was woken.
    pub wakeups: u64,
    /// How often it was woken while it was not on a CPU, and ran then.
    pub effective_wakeups: u64,
    /// From wakeup to run, where the switch that brought it was recorded.
    pub wake_latency: WakeLatency,
    /// How often it ran without its arrival or left without its departure having been recorded.
    pub unseen_switches: u64,
}

/// One CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuSummary {
    /// The CPU.
    pub cpu: Cpu,
    /// Switches on it.
    pub switches: u64,
    /// Time in the idle task, ns.
    pub idle_ns: u64,
    /// Time in other tasks, ns.
    pub busy_ns: u64,
    /// The rest of the trace's duration, ns: nothing was recorded that tells who ran.
    pub unknown_ns: u64,
}

/// Which event says that a task was woken, beside `sched_wakeup_new`. The kernel emits both for each wakeup,
/// the one when it begins, in the waker's context, the other when the task is on a queue; some recorders, as
/// `perf sched record` on kernels that have it, keep only the former. Figures from different events must not
/// be compared: counts agree, but latencies from `sched_waking` contain the wakeup itself, an interrupt to
/// another CPU included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeupEvent {
    /// `sched_wakeup`.
    Wakeup,
    /// `sched_waking`.
    Waking,
}

impl WakeupEvent {
    /// `sched_waking` for a trace that has it and no `sched_wakeup`.
    pub fn of(trace: &Trace) -> Self {
        let mut waking = false;
        for event in &trace.events {
            match &event.kind {
                EventKind::SchedWakeup(_) => return WakeupEvent::Wakeup,
                EventKind::SchedWaking(_) => waking = true,
                _ => {}
            }
        }
        if waking { WakeupEvent::Waking } else { WakeupEvent::Wakeup }
    }
}

/// Figures of a whole trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// What was counted as a wakeup, and from what latencies were measured.
    pub wakeups_from: WakeupEvent,
    /// From the first event to the last, ns.
    pub duration_ns: u64,
    /// All tasks that events mention, by pid and incarnation, the idle task left out.
    pub tasks: Vec<TaskSummary>,
    /// All CPUs of the machine.
    pub cpus: Vec<CpuSummary>,
}

impl Summary {
    /// The last task that had this id.
    pub fn task(&self, pid: Pid) -> Option<&TaskSummary> {
        self.tasks.iter().rev().find(|task| task.pid == pid)
    }
}

/// Summarises a trace by the event that it has for wakeups.
pub fn summarise(trace: &Trace) -> Summary {
    summarise_from(trace, WakeupEvent::of(trace))
}

/// Summarises a trace, to be compared with another one, by the event that both have for wakeups.
pub fn summarise_from(trace: &Trace, wakeups_from: WakeupEvent) -> Summary {
    summarise_in_windows(trace, wakeups_from, 0).summary
}

/// Summarises a stretch of a trace: CPU time is cut at its ends, a latency counts where it ends, and what
/// happened before it tells who ran when it began.
pub fn summarise_within(trace: &Trace, wakeups_from: WakeupEvent, stretch: Stretch) -> Summary {
    in_windows(trace, wakeups_from, stretch, Windows::of(trace, 0)).summary
}

/// Summarises a trace as [`summarise_from`] does, and once more in `count` equal windows.
pub fn summarise_in_windows(trace: &Trace, wakeups_from: WakeupEvent, count: u32) -> WindowedSummary {
    in_windows(trace, wakeups_from, Stretch::of(trace), Windows::of(trace, count))
}

fn in_windows(
    trace: &Trace,
    wakeups_from: WakeupEvent,
    stretch: Stretch,
    windows: Windows,
) -> WindowedSummary {
    let mut summariser = Summariser::new(trace, wakeups_from, stretch, windows);
    let mut occupancy = Occupancy::new(trace);
    for event in &trace.events {
        let observed = occupancy.observe(event);
        for stay in [observed.displaced, observed.lost].into_iter().flatten() {
            summariser.vanished(stay, event.time_ns);
        }
        summariser.event(event, observed.left);
    }
    let last: Vec<_> = occupancy.current().collect();
    summariser.finish(&last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// Summary of an ftrace text; times are in µs since second 0.
    fn check(lines: &str) -> Summary {
        summarise(&read(lines.as_bytes()).expect("a trace"))
    }

    fn row(summary: &Summary, pid: i32) -> (u64, u64, u64, u64, u64, u64) {
        let t = summary.task(Pid(pid)).expect("the task occurs");
        (
            t.cpu_time_ns,
            t.edge_time_ns,
            t.voluntary_switches,
            t.involuntary_switches,
            t.wakeups,
            t.unseen_switches,
        )
    }

    #[test]
    fn run_times_switches_and_latencies_of_a_preemption() {
        let summary = check(
            " <idle>-0 [000] d... 0.000100: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
             <idle>-0 [000] d... 0.000110: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
             a-7 [000] d... 0.000200: sched_wakeup: comm=b pid=8 prio=10 target_cpu=000\n\
             a-7 [000] d... 0.000203: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=8 next_prio=10\n\
             b-8 [000] d... 0.000303: sched_switch: prev_comm=b prev_pid=8 prev_prio=10 prev_state=S ==> next_comm=a next_pid=7 next_prio=120\n\
             a-7 [000] d... 0.000403: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
             <idle>-0 [000] d... 0.000500: sched_waking: comm=a pid=7 prio=120 target_cpu=000\n",
        );
        assert_eq!(row(&summary, 7), (193_000, 0, 1, 1, 1, 0));
        assert_eq!(row(&summary, 8), (100_000, 0, 1, 0, 1, 0));
        assert_eq!(summary.task(Pid(7)).map(|t| t.wake_latency.samples_ns.clone()), Some(vec![10_000]));
        assert_eq!(summary.task(Pid(8)).map(|t| t.wake_latency.samples_ns.clone()), Some(vec![3_000]));
        let cpu = summary.cpus[0];
        assert_eq!((cpu.switches, cpu.idle_ns, cpu.busy_ns, cpu.unknown_ns), (4, 107_000, 293_000, 0));
        assert_eq!(summary.duration_ns, 400_000);
    }

    /// A task sleeps and is woken; the switch from the idle task that brings it was not traced, but what it
    /// does then was.
    #[test]
    fn a_wakeup_whose_switch_was_not_traced_is_one_without_a_latency() {
        let mut trace = read(
            " a-7 [000] d... 0.000100: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
             b-8 [001] d... 0.000200: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
             a-7 [000] d... 0.000300: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
             b-8 [001] d... 0.000400: sched_wakeup: comm=b pid=8 prio=120 target_cpu=001\n"
                .as_bytes(),
        )
        .expect("a trace");
        crate::infer_missing_switches(&mut trace);
        let of = |pid| {
            let task = summarise(&trace).task(Pid(pid)).cloned().expect("it occurs");
            (task.wakeups, task.effective_wakeups, task.wake_latency.count())
        };
        assert_eq!(of(7), (1, 1, 0));
        assert_eq!(of(8), (1, 0, 0), "which was awake");
    }

    #[test]
    fn the_edges_of_the_trace_are_kept_apart() {
        let summary = check(
            " a-7 [000] d... 0.000100: sched_waking: comm=b pid=8 prio=120 target_cpu=000\n\
             a-7 [000] d... 0.000150: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 next_prio=120\n\
             b-8 [000] d... 0.000250: sched_waking: comm=a pid=7 prio=120 target_cpu=000\n",
        );
        assert_eq!(row(&summary, 7), (0, 50_000, 1, 0, 1, 0));
        assert_eq!(row(&summary, 8), (0, 100_000, 0, 0, 1, 0));
    }

    #[test]
    fn a_task_on_two_cpus_for_centuries_overflows_nothing() {
        let far = "0.000002";
        let switch = |cpu: u32, time: &str, prev: i32, next: i32| {
            format!(
                " a-{prev} [00{cpu}] d... {time}: sched_switch: prev_comm=a prev_pid={prev} prev_prio=120 prev_state=S ==> \
                 next_comm=a next_pid={next} next_prio=120\n"
            )
        };
        let lines = [
            switch(0, "0.000001", 0, 7),
            switch(1, "0.000001", 0, 7),
            switch(2, "0.000001", 8, 0),
            switch(0, far, 7, 0),
            switch(1, far, 7, 0),
            switch(3, far, 9, 0),
            switch(4, far, 9, 0),
        ];
        let near = read(lines.concat().as_bytes()).expect("a trace");
        let mut builder = crate::TraceBuilder::new(0);
        builder.strings = near.strings;
        for mut event in near.events {
            event.time_ns = if event.time_ns == 2000 { u64::MAX / 1000 * 1000 } else { event.time_ns };
            builder.push(event);
        }
        let mut trace = builder.finish();
        let summary = summarise(&trace);
        let task = |pid| summary.task(Pid(pid)).expect("the task occurs");
        assert_eq!((task(7).cpu_time_ns, task(9).edge_time_ns), (u64::MAX, u64::MAX));
        assert!(crate::sched_latency(&trace, crate::DelaysFrom::Waking).runtime_sum_ns() > 0);
        crate::infer_missing_switches(&mut trace);
    }

    #[test]
    fn a_wakeup_of_a_running_task_has_no_latency() {
        let summary = check(
            " <idle>-0 [000] d... 0.000110: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n\
             <idle>-0 [001] d... 0.000120: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n\
             a-7 [000] d... 0.000130: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=b next_pid=8 next_prio=120\n\
             b-8 [000] d... 0.000140: sched_switch: prev_comm=b prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=a next_pid=7 next_prio=120\n",
        );
        assert_eq!(summary.task(Pid(7)).map(|t| (t.wakeups, t.wake_latency.count())), Some((1, 0)));
    }

    /// The same text with both events, without the one, without the other.
    #[test]
    fn where_only_sched_waking_was_recorded_it_is_the_wakeup() {
        let waking = " <idle>-0 [001] d... 0.000100: sched_waking: comm=a pid=7 prio=120 target_cpu=000\n";
        let wakeup = " <idle>-0 [000] d... 0.000104: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000\n";
        let new = " b-8 [001] d... 0.000105: sched_wakeup_new: comm=c pid=9 prio=120 target_cpu=000\n";
        let switch = " <idle>-0 [000] d... 0.000110: sched_switch: prev_comm=swapper/0 prev_pid=0 \
                      prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n";
        for (text, from, latency_ns) in [
            ([waking, wakeup, new, switch].concat(), WakeupEvent::Wakeup, 6000),
            ([wakeup, new, switch].concat(), WakeupEvent::Wakeup, 6000),
            ([waking, new, switch].concat(), WakeupEvent::Waking, 10_000),
        ] {
            let summary = check(&text);
            let task = summary.task(Pid(7)).expect("the task occurs");
            assert_eq!(summary.wakeups_from, from, "{text}");
            assert_eq!((task.wakeups, &task.wake_latency.samples_ns[..]), (1, &[latency_ns][..]), "{text}");
            assert_eq!(summary.task(Pid(9)).map(|task| task.wakeups), Some(1), "{text}");
        }
        let both = read([waking, wakeup, new, switch].concat().as_bytes()).expect("a trace");
        let latency =
            |from| summarise_from(&both, from).task(Pid(7)).map(|task| task.wake_latency.samples_ns.clone());
        assert_eq!(
            latency(WakeupEvent::Waking),
            Some(vec![10_000]),
            "to compare with a trace of the third kind"
        );
    }

    #[test]
    fn an_arrival_that_was_not_recorded_counts_no_time() {
        let summary = check(
            " a-7 [000] d... 0.000100: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
             b-8 [000] d... 0.000200: sched_switch: prev_comm=b prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n\
             <idle>-0 [000] d... 0.000300: sched_waking: comm=a pid=7 prio=120 target_cpu=000\n",
        );
        assert_eq!(row(&summary, 8), (0, 0, 1, 0, 0, 1));
        let cpu = summary.cpus[0];
        assert_eq!((cpu.idle_ns, cpu.busy_ns, cpu.unknown_ns), (100_000, 0, 100_000));
    }

    /// `perf sched record` has no event for the exit: the last switch tells it, too.
    #[test]
    fn a_reused_id_is_another_task() {
        let exit = " a-7 [000] d... 0.000100: sched_process_exit: comm=a pid=7 prio=120\n";
        let rest = |state: &str| {
            format!(
                " a-7 [000] d... 0.000110: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state={state} ==> next_comm=b next_pid=8 next_prio=120\n\
                 b-8 [000] d... 0.000120: sched_process_fork: comm=b pid=8 child_comm=b child_pid=7\n\
                 b-8 [000] d... 0.000130: sched_wakeup_new: comm=b pid=7 prio=120 target_cpu=000\n\
                 b-8 [000] d... 0.000140: sched_switch: prev_comm=b prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=b next_pid=7 next_prio=120\n"
            )
        };
        for text in [rest("X"), rest("Z"), format!("{exit}{}", rest("S"))] {
            let summary = check(&text);
            let seven = summary.tasks.iter().filter(|t| t.pid == Pid(7));
            let figures: Vec<_> = seven.map(|t| (t.incarnation, t.wakeups, t.switches_in)).collect();
            assert_eq!(figures, [(0, 0, 0), (1, 1, 1)], "{text}");
        }
        assert_eq!(check(&rest("S")).tasks.iter().filter(|t| t.pid == Pid(7)).count(), 1);
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let latency = WakeLatency { samples_ns: vec![40, 10, 30, 20] };
        assert_eq!(latency.percentile_ns(500), Some(20));
        assert_eq!(latency.percentile_ns(501), Some(30));
        assert_eq!(latency.percentile_ns(0), Some(10));
        assert_eq!(latency.percentile_ns(1000), Some(40));
        assert_eq!((latency.min_ns(), latency.mean_ns(), latency.max_ns()), (Some(10), Some(25), Some(40)));
        assert_eq!(WakeLatency::default().percentile_ns(500), None);
        assert_eq!(WakeLatency::default().mean_ns(), None);
    }
}
