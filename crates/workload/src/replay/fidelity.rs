//! How close a replay came to its recording, task by task.

use super::accounted::{Accounted, CpuTime, Follows};
use super::load::ReplayedTask;
use std::collections::BTreeMap;
use trace::{Pid, TaskSummary, WakeLatency};

/// One figure on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pair {
    /// In the recording.
    pub recorded: u64,
    /// In the replay.
    pub simulated: u64,
}

/// A replay beside its recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayFidelity {
    /// Every replayed task.
    pub tasks: Vec<TaskFidelity>,
    /// By how much the recorded CPU times may be wrong in all, because switches were not recorded and the
    /// kernel does not tell, ns.
    pub cpu_time_uncertain_ns: u64,
    /// 99th percentile of the wakeup latencies of all of them together, ns.
    pub latency_p99_ns: Pair,
    /// Who follows whom.
    pub order: Order,
}

/// Switches by the names of the tasks that go and come; those of tasks that are not replayed are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Order {
    /// In the recording.
    pub recorded: u64,
    /// In the replay.
    pub simulated: u64,
    /// Those of either for which the other has one of the same two names.
    pub common: u64,
}

/// One task on both sides. Both are read from traces with the definitions of [`trace::summarise`], except
/// that CPU time is what the kernel accounted, where it says so (`sched_stat_runtime`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskFidelity {
    /// Recorded task id.
    pub pid: Pid,
    /// Recorded name.
    pub comm: Box<str>,
    /// CPU time, ns.
    pub cpu_time_ns: Pair,
    /// Switches to sleep.
    pub voluntary_switches: Pair,
    /// Switches away while runnable.
    pub involuntary_switches: Pair,
    /// Changes of CPU.
    pub migrations: Pair,
    /// Wakeups of the task while it was off its CPU that made it run.
    pub wakeups: Pair,
    /// Those of them of which the switch to the task was recorded: the samples of the latencies.
    pub latencies: Pair,
    /// Mean wakeup latency, ns; 0 without samples, as below.
    pub latency_mean_ns: Pair,
    /// Its 99th percentile, ns.
    pub latency_p99_ns: Pair,
    /// The longest, ns.
    pub latency_max_ns: Pair,
}

impl TaskFidelity {
    /// Switches of both kinds.
    pub fn switches(&self) -> Pair {
        Pair {
            recorded: self.voluntary_switches.recorded + self.involuntary_switches.recorded,
            simulated: self.voluntary_switches.simulated + self.involuntary_switches.simulated,
        }
    }
}

/// Puts both sides of every replayed task together.
pub(super) fn compare(recorded: &Accounted, simulated: &Accounted, tasks: &[ReplayedTask]) -> ReplayFidelity {
    let mut all = [Vec::new(), Vec::new()];
    let rows = tasks.iter().map(|task| {
        let there = Some((task.recorded, task.incarnation));
        let here = task.pid.and_then(|pid| simulated.last(Pid(pid.0)));
        let sides = [(recorded, there), (simulated, here)];
        let summaries = sides.map(|(accounted, id)| accounted.task(id?));
        for (samples, side) in all.iter_mut().zip(summaries) {
            samples.extend(side.iter().flat_map(|side| &side.wake_latency.samples_ns));
        }
        let [recorded, simulated] =
            sides.map(|(accounted, id)| id.map_or(CpuTime::default(), |id| accounted.cpu_time(id)));
        let cpu_time = Pair { recorded: recorded.ns(), simulated: simulated.known_as(recorded) };
        row(task, cpu_time, summaries)
    });
    let rows = rows.collect();
    let [latency_recorded, latency_simulated] =
        all.map(|samples_ns| WakeLatency { samples_ns }.percentile_ns(990).unwrap_or(0));
    ReplayFidelity {
        tasks: rows,
        cpu_time_uncertain_ns: 0,
        latency_p99_ns: Pair { recorded: latency_recorded, simulated: latency_simulated },
        order: order(&recorded.follows, &simulated.follows, tasks),
    }
}

fn order(recorded: &Follows, simulated: &Follows, tasks: &[ReplayedTask]) -> Order {
    let names_there: BTreeMap<Pid, &str> = tasks.iter().map(|task| (task.recorded, &*task.comm)).collect();
    let names_here: BTreeMap<Pid, &str> =
        tasks.iter().filter_map(|task| Some((Pid(task.pid?.0), &*task.comm))).collect();
    let (there, here) = (by_name(recorded, &names_there), by_name(simulated, &names_here));
    let shared = |(pair, count): (_, &u64)| here.get(pair).map_or(0, |other| (*count).min(*other));
    Order {
        recorded: there.values().sum(),
        simulated: here.values().sum(),
        common: there.iter().map(shared).sum(),
    }
}

fn by_name<'a>(follows: &Follows, names: &BTreeMap<Pid, &'a str>) -> BTreeMap<(&'a str, &'a str), u64> {
    let name = |pid: Pid| if pid == Pid::IDLE { Some("idle") } else { names.get(&pid).copied() };
    let mut counts = BTreeMap::new();
    for ((goes, comes), count) in follows {
        if let Some(pair) = name(*goes).zip(name(*comes)) {
            *counts.entry(pair).or_insert(0) += count;
        }
    }
    counts
}

fn row(task: &ReplayedTask, cpu_time_ns: Pair, sides: [Option<&TaskSummary>; 2]) -> TaskFidelity {
    let pair = |figure: &dyn Fn(&TaskSummary) -> u64| {
        let [recorded, simulated] = sides.map(|side| side.map_or(0, figure));
        Pair { recorded, simulated }
    };
    TaskFidelity {
        pid: task.recorded,
        comm: task.comm.clone(),
        cpu_time_ns,
        voluntary_switches: pair(&|s| s.voluntary_switches),
        involuntary_switches: pair(&|s| s.involuntary_switches),
        migrations: pair(&|s| s.migrations),
        wakeups: pair(&|s| s.effective_wakeups),
        latencies: pair(&|s| s.wake_latency.count()),
        latency_mean_ns: pair(&|s| s.wake_latency.mean_ns().unwrap_or(0)),
        latency_p99_ns: pair(&|s| s.wake_latency.percentile_ns(990).unwrap_or(0)),
        latency_max_ns: pair(&|s| s.wake_latency.max_ns().unwrap_or(0)),
    }
}
