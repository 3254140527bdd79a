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

use crate::model::{Cpu, Event, EventKind, Pid, Provenance, Trace};
use crate::occupancy::{Occupancy, Since, Stay};
use crate::pidmap::PidMap;
use crate::stretch::Stretch;
use crate::strings::StrId;
use crate::windows::{MachineWindow, TaskWindow, WindowedSummary, Windows};

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

/// A task while events come in.
#[derive(Clone, Debug)]
struct Progress {
    summary: TaskSummary,
    /// Time of a wakeup after which it has not run yet.
    woken_ns: Option<u64>,
    on_cpu: bool,
    ended: bool,
    windows: Vec<TaskWindow>,
}

struct Summariser<'a> {
    trace: &'a Trace,
    wakeups_from: WakeupEvent,
    stretch: Stretch,
    tasks: Vec<Progress>,
    /// The entry of the current task with an id.
    by_pid: PidMap<u32>,
    cpus: Vec<CpuSummary>,
    windows: Windows,
    machine: Vec<MachineWindow>,
}

impl<'a> Summariser<'a> {
    fn new(trace: &'a Trace, wakeups_from: WakeupEvent, stretch: Stretch, windows: Windows) -> Self {
        let cpu = |n| CpuSummary { cpu: Cpu(n), switches: 0, idle_ns: 0, busy_ns: 0, unknown_ns: 0 };
        let cpus = (0..trace.cpus).map(cpu).collect();
        let machine = windows.empty();
        let (tasks, by_pid) = (Vec::new(), PidMap::new());
        Summariser { trace, wakeups_from, stretch, tasks, by_pid, cpus, windows, machine }
    }

    fn event(&mut self, event: &Event, left: Option<Stay>) {
        let now = event.time_ns;
        let windows = self.windows;
        let counted = u64::from(self.stretch.holds(now));
        if let Some(pid) = event.kind.ended() {
            self.task(pid).ended = true;
        }
        match &event.kind {
            EventKind::SchedSwitch(switch) => {
                self.cpus[event.cpu.index()].switches += counted;
                if let Some(window) = windows.at(&mut self.machine, now) {
                    window.switches += 1;
                }
                if let Some(stay) = left {
                    self.interval(event.cpu, stay, now);
                }
                if switch.prev.pid != Pid::IDLE {
                    let task = self.named(switch.prev.pid, switch.prev.comm, Some(switch.prev.prio));
                    let (voluntary, involuntary) = match switch.prev_state.is_runnable() {
                        true => (0, counted),
                        false => (counted, 0),
                    };
                    task.summary.voluntary_switches += voluntary;
                    task.summary.involuntary_switches += involuntary;
                    if let Some(window) = windows.at(&mut task.windows, now) {
                        window.voluntary_switches += voluntary;
                        window.involuntary_switches += involuntary;
                    }
                    let unseen = left.is_some_and(|stay| stay.since == Since::Unseen);
                    task.summary.unseen_switches += u64::from(unseen) * counted;
                    (task.on_cpu, task.woken_ns) = (false, None);
                }
                if switch.next.pid != Pid::IDLE {
                    let task = self.named(switch.next.pid, switch.next.comm, Some(switch.next.prio));
                    task.summary.switches_in += counted;
                    let woken = task.woken_ns.take();
                    task.summary.effective_wakeups += u64::from(woken.is_some()) * counted;
                    // An inferred switch has the earliest possible time: its latency would be no measurement.
                    let known = switch.provenance == Provenance::Recorded && counted > 0;
                    if let Some(woken) = woken.filter(|_| known) {
                        task.summary.wake_latency.samples_ns.push(now - woken);
                    }
                    task.on_cpu = true;
                }
            }
            EventKind::SchedWaking(wakeup)
            | EventKind::SchedWakeup(wakeup)
            | EventKind::SchedWakeupNew(wakeup) => {
                let counts = match &event.kind {
                    EventKind::SchedWaking(_) => self.wakeups_from == WakeupEvent::Waking,
                    EventKind::SchedWakeup(_) => self.wakeups_from == WakeupEvent::Wakeup,
                    _ => true,
                };
                let task = self.named(wakeup.task.pid, wakeup.task.comm, Some(wakeup.task.prio));
                task.summary.wakeups += u64::from(counts) * counted;
                if let Some(window) = windows.at(&mut task.windows, now) {
                    window.wakeups += u64::from(counts);
                }
                if counts && !task.on_cpu {
                    task.woken_ns = Some(now);
                }
            }
            EventKind::SchedMigrateTask(moved) => {
                let task = self.named(moved.task.pid, moved.task.comm, Some(moved.task.prio));
                task.summary.migrations += counted;
                if let Some(window) = windows.at(&mut task.windows, now) {
                    window.migrations += 1;
                }
            }
            EventKind::SchedProcessFork(fork) => {
                self.named(fork.parent_pid, fork.parent_comm, None);
                self.forked(fork.child_pid);
                self.named(fork.child_pid, fork.child_comm, None);
            }
            EventKind::SchedProcessExit(task) => {
                self.named(task.pid, task.comm, Some(task.prio));
            }
            EventKind::SchedPiSetprio(pi) => {
                self.named(pi.pid, pi.comm, Some(pi.newprio));
            }
            EventKind::SchedStatRuntime(stat) => {
                self.named(stat.pid, stat.comm, None);
            }
            EventKind::SchedProcessExec(_) | EventKind::Marker(_) | EventKind::Activity(_) => {}
        }
    }

    /// A task is no longer on its CPU, and nobody saw it go.
    fn vanished(&mut self, stay: Stay, now: u64) {
        if stay.pid != Pid::IDLE {
            let counted = u64::from(self.stretch.holds(now));
            let task = self.task(stay.pid);
            task.on_cpu = false;
            task.summary.unseen_switches += counted;
        }
    }

    /// A stay has ended by a recorded switch.
    fn interval(&mut self, cpu: Cpu, stay: Stay, end_ns: u64) {
        let start_ns = match stay.since {
            Since::Seen(ns) => ns,
            Since::Start => self.trace.start_ns(),
            Since::Unseen => return,
        };
        let length = self.spend(cpu, stay.pid, start_ns, end_ns);
        if stay.pid != Pid::IDLE {
            let summary = &mut self.task(stay.pid).summary;
            // A damaged file may have one task on many CPUs for centuries.
            let time = match stay.since {
                Since::Seen(_) => &mut summary.cpu_time_ns,
                _ => &mut summary.edge_time_ns,
            };
            *time = time.saturating_add(length);
        }
    }

    /// Books what of an interval lies in the stretch, and says how long that is, ns.
    fn spend(&mut self, cpu: Cpu, pid: Pid, from_ns: u64, to_ns: u64) -> u64 {
        let Stretch { from_ns, to_ns } = self.stretch.and(from_ns, to_ns);
        let (windows, cpu) = (self.windows, &mut self.cpus[cpu.index()]);
        if pid == Pid::IDLE {
            cpu.idle_ns += to_ns - from_ns;
            windows.spread(&mut self.machine, from_ns, to_ns, |window, ns| {
                window.idle_ns = window.idle_ns.saturating_add(ns);
            });
        } else {
            cpu.busy_ns += to_ns - from_ns;
            windows.spread(&mut self.machine, from_ns, to_ns, |window, ns| {
                window.busy_ns = window.busy_ns.saturating_add(ns);
            });
            windows.spread(&mut self.task(pid).windows, from_ns, to_ns, |window, ns| {
                window.cpu_time_ns = window.cpu_time_ns.saturating_add(ns);
            });
        }
        to_ns - from_ns
    }

    fn task(&mut self, pid: Pid) -> &mut Progress {
        let n = match self.by_pid.get(pid) {
            Some(n) => n,
            None => self.add(pid, 0),
        };
        &mut self.tasks[n as usize]
    }

    fn named(&mut self, pid: Pid, comm: StrId, prio: Option<i32>) -> &mut Progress {
        let task = self.task(pid);
        task.summary.comm = Some(comm);
        task.summary.prio = prio.or(task.summary.prio);
        task
    }

    /// A child has the id `pid`, which another task may have had before.
    fn forked(&mut self, pid: Pid) {
        if self.task(pid).ended {
            let incarnation = self.task(pid).summary.incarnation + 1;
            self.add(pid, incarnation);
        }
    }

    fn add(&mut self, pid: Pid, incarnation: u32) -> u32 {
        let n = self.tasks.len() as u32;
        let summary = TaskSummary {
            pid,
            incarnation,
            comm: self.trace.threads.get(&pid).map(|thread| thread.comm),
            prio: None,
            cpu_time_ns: 0,
            edge_time_ns: 0,
            switches_in: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            migrations: 0,
            wakeups: 0,
            effective_wakeups: 0,
            wake_latency: WakeLatency::default(),
            unseen_switches: 0,
        };
        let windows = self.windows.empty();
        self.tasks.push(Progress { summary, woken_ns: None, on_cpu: false, ended: false, windows });
        self.by_pid.insert(pid, n);
        n
    }

    /// `last` says who runs on each CPU at the end.
    fn finish(mut self, last: &[Option<Stay>]) -> WindowedSummary {
        let (start_ns, end_ns) = (self.trace.start_ns(), self.trace.end_ns());
        for (n, stay) in last.iter().enumerate() {
            let Some(stay) = stay else { continue };
            let from_ns = match stay.since {
                Since::Seen(ns) => ns,
                Since::Start => start_ns,
                Since::Unseen => continue,
            };
            let length = self.spend(Cpu(n as u32), stay.pid, from_ns, end_ns);
            if stay.pid != Pid::IDLE {
                let time = &mut self.task(stay.pid).summary.edge_time_ns;
                *time = time.saturating_add(length);
            }
        }
        let Stretch { from_ns, to_ns } = self.stretch.and(start_ns, end_ns);
        let duration_ns = to_ns - from_ns;
        for cpu in &mut self.cpus {
            cpu.unknown_ns = duration_ns.saturating_sub(cpu.idle_ns + cpu.busy_ns);
        }
        self.tasks.retain(|task| task.summary.pid != Pid::IDLE);
        self.tasks.sort_by_key(|task| (task.summary.pid, task.summary.incarnation));
        let (tasks, windows) = self.tasks.into_iter().map(|task| (task.summary, task.windows)).unzip();
        let summary = Summary { wakeups_from: self.wakeups_from, duration_ns, tasks, cpus: self.cpus };
        WindowedSummary { summary, tasks: windows, machine: self.machine }
    }
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
