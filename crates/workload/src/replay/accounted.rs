//! What the tasks of a trace used of the CPUs, who followed whom, and when they exited.
//!
//! The kernel says itself how long a task ran (`sched_stat_runtime`). Where it does, that is believed rather
//! than the time between two switches: some recordings lack switches, mostly of idle tasks, and then a burst
//! seems to last until the next one. Kernels before 6.8 say so of fair tasks only: there, a task that is seen
//! with a real-time priority is timed by its switches.

use super::lives::{Lives, TraceTask};
use super::recording::FIRST_FAIR_PRIO;
use scheduler::Nanos;
use std::collections::BTreeMap;
use trace::{
    Cpu, EventKind, Pid, SchedSwitch, Stretch, Summary, TaskRef, TaskSummary, Trace, WakeupEvent,
    summarise_within,
};

/// Who follows whom on a CPU: how often, by the ids of both. Id 0 is the idle task.
pub(super) type Follows = BTreeMap<(Pid, Pid), u64>;

/// What a trace says of its tasks.
#[derive(Clone, Debug)]
pub(super) struct Accounted {
    /// Its figures.
    pub summary: Summary,
    /// CPU time of each task of the summary.
    cpu_times: Vec<CpuTime>,
    /// The part of their sum that the kernel does not tell, so that it is only as right as the switches are.
    timed_ns: u64,
    /// When each task of the summary exited, if it did.
    exits: Vec<Option<Nanos>>,
    /// Its switches.
    pub follows: Follows,
}

/// CPU time of a task, by both ways to know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct CpuTime {
    /// Between its switches, ns.
    by_switches_ns: u64,
    /// What the kernel says, ns; `None` where it does not, or not of all.
    told_ns: Option<u64>,
}

impl CpuTime {
    /// The kernel's word, if there is one.
    pub fn ns(self) -> u64 {
        self.told_ns.unwrap_or(self.by_switches_ns)
    }

    /// The same, known in the same way as another one with which it is to be compared: switches lie a little
    /// behind the moments to which the kernel charges.
    pub fn known_as(self, other: CpuTime) -> u64 {
        if other.told_ns.is_some() { self.ns() } else { self.by_switches_ns }
    }
}

/// What events say of one task's CPU time.
#[derive(Clone, Copy, Default)]
struct Reported {
    runtime_ns: u64,
    /// Whether the kernel says it.
    says: bool,
    realtime: bool,
}

/// Whether the kernel says how long real-time tasks ran.
#[derive(Clone, Debug, Default)]
struct RealTimeStays {
    /// The real-time task that runs on each CPU, and whether its present stay has been told of.
    running: BTreeMap<Cpu, (Pid, bool)>,
    told: u64,
    ended: u64,
}

impl RealTimeStays {
    fn switch(&mut self, cpu: Cpu, switch: &SchedSwitch) {
        let left = self.running.remove(&cpu).filter(|(pid, _)| *pid == switch.prev.pid);
        if let Some((_, told)) = left.filter(|_| switch.prev.prio < FIRST_FAIR_PRIO) {
            self.ended += 1;
            self.told += u64::from(told);
        }
        if switch.next.prio < FIRST_FAIR_PRIO {
            self.running.insert(cpu, (switch.next.pid, false));
        }
    }

    fn told(&mut self, cpu: Cpu, pid: Pid) {
        if let Some((_, told)) = self.running.get_mut(&cpu).filter(|(running, _)| *running == pid) {
            *told = true;
        }
    }

    /// Nearly every stay: a task that has just become a fair one is told of in any case.
    fn are_told(&self) -> bool {
        self.told * 2 > self.ended
    }
}

impl Accounted {
    /// Of a stretch of a trace.
    pub fn of(trace: &Trace, stretch: Stretch) -> Accounted {
        Accounted::counting(trace, WakeupEvent::of(trace), stretch)
    }

    /// The same, with wakeups counted by this event, as in the trace with which it is to be compared.
    pub fn counting(trace: &Trace, wakeups_from: WakeupEvent, stretch: Stretch) -> Accounted {
        let summary = summarise_within(trace, wakeups_from, stretch);
        let mut told: BTreeMap<TraceTask, Reported> = BTreeMap::new();
        let mut follows = Follows::new();
        let mut realtime = RealTimeStays::default();
        let (mut lives, mut exits) = (Lives::default(), BTreeMap::new());
        for event in &trace.events {
            let mut seen = |task: &TaskRef, lives: &Lives| {
                if task.prio < FIRST_FAIR_PRIO {
                    told.entry(lives.now(task.pid)).or_default().realtime = true;
                }
            };
            match &event.kind {
                EventKind::SchedSwitch(switch) => {
                    seen(&switch.prev, &lives);
                    seen(&switch.next, &lives);
                    realtime.switch(event.cpu, switch);
                    if stretch.holds(event.time_ns) {
                        *follows.entry((switch.prev.pid, switch.next.pid)).or_insert(0) += 1;
                    }
                }
                EventKind::SchedStatRuntime(stat) => {
                    // The first of a task may reach back beyond the beginning of the trace.
                    let from_ns = event.time_ns.saturating_sub(stat.runtime_ns);
                    let counted = stretch.and(from_ns, event.time_ns);
                    let told = told.entry(lives.now(stat.pid)).or_default();
                    told.runtime_ns = told.runtime_ns.saturating_add(counted.to_ns - counted.from_ns);
                    told.says = true;
                    realtime.told(event.cpu, stat.pid);
                }
                _ => {}
            }
            if let Some(task) = lives.observe(&event.kind) {
                exits.entry(task).or_insert(Nanos(event.time_ns - trace.start_ns()));
            }
        }
        let mut timed_ns: u64 = 0;
        let cpu_time = |task: &TaskSummary| {
            let by_switches_ns = task.cpu_time_ns.saturating_add(task.edge_time_ns);
            let told = told.get(&id(task)).copied().unwrap_or_default();
            let of_all = !told.realtime || realtime.are_told();
            let told_ns = (told.says && of_all).then_some(told.runtime_ns);
            if told_ns.is_none() {
                timed_ns = timed_ns.saturating_add(by_switches_ns);
            }
            CpuTime { by_switches_ns, told_ns }
        };
        Accounted {
            cpu_times: summary.tasks.iter().map(cpu_time).collect(),
            timed_ns,
            exits: summary.tasks.iter().map(|task| exits.get(&id(task)).copied()).collect(),
            summary,
            follows,
        }
    }

    /// The summary of a task, if the trace has it.
    pub fn task(&self, task: TraceTask) -> Option<&TaskSummary> {
        Some(&self.summary.tasks[self.index(task)?])
    }

    /// The last task that had this id.
    pub fn last(&self, pid: Pid) -> Option<TraceTask> {
        let tasks = &self.summary.tasks;
        let after = tasks.partition_point(|task| task.pid <= pid);
        tasks[..after].last().filter(|task| task.pid == pid).map(id)
    }

    /// CPU time of a task; none if the trace does not have it.
    pub fn cpu_time(&self, task: TraceTask) -> CpuTime {
        self.index(task).map_or(CpuTime::default(), |index| self.cpu_times[index])
    }

    /// By how much the CPU times may be wrong in all, ns, where the times of switches are uncertain by so
    /// much.
    pub fn uncertain_ns(&self, of_switches_ns: u64) -> u64 {
        of_switches_ns.min(self.timed_ns)
    }

    /// When a task exited, since the first event: the time of `sched_process_exit`, and where that was not
    /// recorded, that at which it left its CPU for good; `None` if it did not.
    pub fn exit(&self, task: TraceTask) -> Option<Nanos> {
        self.exits[self.index(task)?]
    }

    /// The summary has its tasks in order.
    fn index(&self, task: TraceTask) -> Option<usize> {
        self.summary.tasks.binary_search_by_key(&task, id).ok()
    }
}

fn id(task: &TaskSummary) -> TraceTask {
    (task.pid, task.incarnation)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task runs for 100 µs, then its CPU is idle for 900 µs, and no event tells of the switch to the idle
    /// task.
    fn trace(prio: i32, runtime: &str) -> Trace {
        let text = format!(
            " <idle>-0 [000] d... 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=7 next_prio={prio}\n\
             {runtime}\
             a-7 [000] d... 1.001000: sched_switch: prev_comm=a prev_pid=7 prev_prio={prio} prev_state=S ==> next_comm=b next_pid=8 next_prio=120\n\
             b-8 [000] d... 1.001100: sched_switch: prev_comm=b prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=a next_pid=7 next_prio={prio}\n"
        );
        trace::read(text.as_bytes()).expect("a trace")
    }

    const RUNTIME: &str = " a-7 [000] d... 1.000100: sched_stat_runtime: comm=a pid=7 runtime=100000 [ns] \
                           vruntime=100000 [ns]\n";

    fn us(trace: &Trace, pid: i32) -> u64 {
        Accounted::of(trace, Stretch::of(trace)).cpu_time((Pid(pid), 0)).ns() / 1_000
    }

    #[test]
    fn the_kernel_is_believed_of_fair_tasks() {
        assert_eq!(us(&trace(120, RUNTIME), 7), 100);
        assert_eq!(us(&trace(120, ""), 7), 1_000);
        assert_eq!(us(&trace(120, RUNTIME), 8), 100, "of whom the kernel says nothing");
    }

    #[test]
    fn the_kernel_is_believed_of_real_time_tasks_if_it_tells_of_nearly_every_stay() {
        assert_eq!(us(&trace(19, RUNTIME), 7), 100, "Linux 6.8 and later");
        // An older one tells of a task that becomes a fair one: it was one for a moment before, with the last
        // stay.
        let mut older = trace(19, RUNTIME);
        let untold = trace(19, "");
        let (length_ns, stays) = (2_000_000, 3);
        for n in 1..=stays {
            older.events.extend(untold.events.iter().cloned().map(|mut event| {
                event.time_ns += n * length_ns;
                event
            }));
        }
        assert!(us(&older, 7) >= 1_000 * (stays + 1), "{} us", us(&older, 7));
    }

    /// The kernel's CPU times are right however uncertain the switches are.
    #[test]
    fn uncertain_switches_make_only_those_cpu_times_uncertain_that_the_kernel_does_not_tell() {
        let uncertain = |runtime: &str, switches_ns: u64| {
            let trace = trace(120, runtime);
            Accounted::of(&trace, Stretch::of(&trace)).uncertain_ns(switches_ns)
        };
        assert_eq!(uncertain("", 900_000), 900_000);
        assert_eq!(uncertain(RUNTIME, 900_000), 100_000, "all that the second task ran");
        assert_eq!(uncertain(RUNTIME, 30_000), 30_000);
    }

    #[test]
    fn runtime_before_the_trace_does_not_count() {
        let early = RUNTIME.replace("runtime=100000", "runtime=4000000");
        assert_eq!(us(&trace(120, &early), 7), 100);
    }

    #[test]
    fn what_the_kernel_says_is_cut_at_the_ends_of_a_stretch() {
        let trace = trace(120, RUNTIME);
        let us = |from: u64, to: u64| {
            let start = trace.start_ns();
            let stretch = Stretch { from_ns: start + from * 1000, to_ns: start + to * 1000 };
            let accounted = Accounted::of(&trace, stretch);
            (accounted.cpu_time((Pid(7), 0)).ns() / 1000, accounted.follows.len())
        };
        assert_eq!([us(30, 70), us(70, 500), us(500, 900)], [(40, 0), (30, 0), (0, 0)]);
        assert_eq!(us(900, 1000), (0, 1), "the switch to the other task");
    }

    #[test]
    fn switches_are_counted_by_who_follows_whom() {
        let trace = trace(120, "");
        let follows = Accounted::of(&trace, Stretch::of(&trace)).follows;
        let found: Vec<_> = follows.iter().map(|((a, b), n)| (a.0, b.0, *n)).collect();
        assert_eq!(found, [(0, 7, 1), (7, 8, 1), (8, 7, 1)]);
    }

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
        let accounted = Accounted::of(&trace, Stretch::of(&trace));
        let exit_us = |pid, n| accounted.exit((Pid(pid), n)).map(|at| at.0 / 1000);
        assert_eq!((exit_us(7, 0), exit_us(8, 0), exit_us(8, 1)), (Some(300), Some(100), Some(400)));
        assert_eq!((exit_us(7, 1), accounted.last(Pid(8))), (None, Some((Pid(8), 1))));
    }
}
