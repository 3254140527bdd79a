//! What a run leaves behind: counters, records, errors.

use crate::behaviour::TaskCounters;
use crate::cpusets::PartitionOutcome;
use crate::group::GroupOutcome;
use crate::objects::Objects;
use crate::snapshot::{Snapshot, TaskSnapshot};
use crate::told::TaskStart;
use crate::window::WindowOutcome;
use scheduler::dl::{DlCounts, NotAdmitted};
use scheduler::{CpuMask, GroupId, Nanos, Nice, Pid, Policy, Reason, TaskId};
use schema::{CpuFrequency, CpuIdle, CpuResult, Histogram, LogEvent, LogRecord, Totals};
use std::fmt;
use thiserror::Error;

/// Everything that one run measured.
#[derive(Debug)]
pub struct Outcome {
    /// Virtual time at the end.
    pub simulated: Nanos,
    /// Wakeups and context switches, those to idle included.
    pub events: u64,
    /// Every task, by pid: those that lived at the end and those that exited.
    pub tasks: Vec<TaskOutcome>,
    /// Every CPU.
    pub cpus: Vec<CpuResult>,
    /// Every task group of the setup, in its order.
    pub groups: Vec<GroupOutcome>,
    /// The parts of the machine, if it is divided (deadline-groups B10).
    pub partitions: Vec<PartitionOutcome>,
    /// CPUs that were in no sched domain from the start (isolcpus=).
    pub isolcpus: CpuMask,
    /// CPUs that stopped their tick beside a single task (nohz_full=).
    pub nohz_full: CpuMask,
    /// How fast each CPU ran that has several frequencies, and what that took; empty if none has.
    pub frequencies: Vec<CpuFrequency>,
    /// How each CPU used its idle states; empty where the machine has one.
    pub idle_states: Vec<CpuIdle>,
    /// Machine-wide counters.
    pub totals: Totals,
    /// How often each decision fell for each reason that occurred.
    pub decisions: Vec<DecisionCount>,
    /// Where every task that still lived at the end slept, and nothing could have woken any of them: each,
    /// and what it waited for. Empty otherwise. (A cycle of mutexes is an error instead:
    /// [`RunError::Deadlock`].)
    pub stalled: Vec<StuckTask>,
    /// How much of their shares of real-time run time CPUs took from each other, those of groups included
    /// (RT_RUNTIME_SHARE).
    pub rt_borrowed: Nanos,
    /// Messages from outside that found their channel full.
    pub outside_lost: u64,
    /// Idle CPUs polled ([`crate::Setup::hold_cpu_dma_latency`], or the machine's own way).
    pub idle_polls: bool,
    /// By CPU, one of its ticks, where the setup said so ([`crate::Setup::tick_at`]).
    pub ticks_at: Vec<Option<Nanos>>,
    /// What happened, if a log was asked for, in the order of time.
    pub log: Option<Vec<LogRecord>>,
    /// If the log has everything, what happened from the end on until the tasks were gone that were on their
    /// way out, a second at most. No figure counts it.
    pub aftermath: Vec<LogRecord>,
    /// What its tasks shared.
    pub objects: Objects,
    /// How each task began, if a log with everything was asked for, in the order of their pids.
    pub starts: Vec<TaskStart>,
    /// The moments that [`crate::SnapshotPlan`] asked for and the run reached, in their order.
    pub snapshots: Vec<Snapshot>,
    /// The exited tasks that it asked for.
    pub exited: Vec<TaskSnapshot>,
    /// The stretch that [`crate::RunOptions::window`] asked for, if the run reached it. Latencies and maxima
    /// of the rest of the outcome begin with it, too.
    pub window: Option<WindowOutcome>,
}

impl Outcome {
    /// Takes the log, with the last exits.
    pub fn take_whole_log(&mut self) -> Vec<LogRecord> {
        let mut records = self.log.take().unwrap_or_default();
        records.append(&mut self.aftermath);
        put_in_order(&mut records);
        records
    }
}

/// Puts records in the order of time. A name holds from its time on, so it comes first there; other records
/// of one time keep their order.
///
/// Nearly all are in order, or off by what a path of the kernel runs ahead of other CPUs: each goes back to
/// its place, which costs less than to sort them, and no memory. Where that is too far to go, they are
/// sorted.
pub(crate) fn put_in_order(records: &mut [LogRecord]) {
    let is_name = |r: &LogRecord| matches!(r.event, LogEvent::Comm { .. });
    let key = |r: &LogRecord| (r.time, !is_name(r));
    let mut moves_left = records.len().saturating_mul(MOVES_PER_RECORD);
    for last in 1..records.len() {
        let [before, this] = [&records[last - 1], &records[last]];
        if before.time < this.time || before.time == this.time && !is_name(this) {
            continue;
        }
        let own = key(this);
        let behind = records[..last].iter().rev().take(moves_left).take_while(|r| key(r) > own).count();
        if behind == moves_left {
            return records.sort_by_key(key);
        }
        moves_left -= behind;
        records[last - behind..=last].rotate_right(1);
    }
}

/// So many places back a record may have to go, on average.
const MOVES_PER_RECORD: usize = 16;

/// How often a decision fell for a reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecisionCount {
    /// The reason.
    pub reason: Reason,
    /// How often.
    pub count: u64,
}

/// Where a task comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskOrigin {
    /// It is part of the setup.
    Setup,
    /// Another task forked it in the run.
    Forked,
    /// It belongs to the machine: an idle task or a kernel thread of its background noise. The run does not
    /// wait for it to exit.
    Machine,
}

/// One task.
#[derive(Clone, Debug)]
pub struct TaskOutcome {
    /// Its slot while it lived.
    pub task: TaskId,
    /// Its pid.
    pub pid: Pid,
    /// Its last command name.
    pub comm: Box<str>,
    /// Its last policy.
    pub policy: Policy,
    /// Its last nice value.
    pub nice: Nice,
    /// CPU time under each policy and nice value that it had, in the order in which it first had them; empty
    /// if it never changed them.
    pub time_under: Vec<TimeUnder>,
    /// Its last affinity.
    pub cpus: CpuMask,
    /// Its task group.
    pub group: GroupId,
    /// Where it comes from.
    pub origin: TaskOrigin,
    /// When it called exit; `None` if it has not.
    pub exited: Option<Nanos>,
    /// Passes of its main loop.
    pub iterations: u64,
    /// Switches, migrations, CPU time.
    pub counters: TaskCounters,
    /// Time runnable but not running, up to the end of the run.
    pub wait_sum: Nanos,
    /// From wakeup to run; `None` if it was never woken. One that is under way when the run ends counts up to
    /// there, if it is longer than all others.
    pub wakeup_latency: Option<Box<Histogram>>,
    /// Those of a task that was both real-time and fair; `None` of others.
    pub latency_by_class: Option<LatencyByClass>,
    /// What became of its budgets and jobs, if it ever was a deadline task.
    pub deadline: Option<DlCounts>,
}

/// Wakeup latencies of a task that was both real-time and fair, by its policy when the wait began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LatencyByClass {
    /// With a real-time policy, or that of deadline tasks.
    pub realtime: LatencyTally,
    /// With a fair one.
    pub fair: LatencyTally,
}

impl LatencyByClass {
    /// All of them of one kind.
    pub(crate) fn of(is_realtime: bool, all: &Histogram) -> LatencyByClass {
        let (count, max) = (all.count(), Nanos(all.max_ns()));
        let of_kind = LatencyTally { count, sum: Nanos(all.mean_ns().saturating_mul(count)), max };
        let mut both = LatencyByClass::default();
        *both.kind(is_realtime) = of_kind;
        both
    }

    pub(crate) fn add(&mut self, is_realtime: bool, latency: Nanos) {
        let of_kind = self.kind(is_realtime);
        of_kind.count += 1;
        of_kind.sum = of_kind.sum.saturating_add(latency);
        of_kind.max = of_kind.max.max(latency);
    }

    fn kind(&mut self, is_realtime: bool) -> &mut LatencyTally {
        if is_realtime { &mut self.realtime } else { &mut self.fair }
    }
}

/// How many latencies there were, and how long they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LatencyTally {
    /// Their number.
    pub count: u64,
    /// All together.
    pub sum: Nanos,
    /// The longest.
    pub max: Nanos,
}

/// CPU time that a task used under one policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeUnder {
    /// The policy.
    pub policy: Policy,
    /// The nice value.
    pub nice: Nice,
    /// How long it ran under both.
    pub cpu_time: Nanos,
}

/// Why a run could not go on.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RunError {
    /// Tasks wait for each other's mutexes.
    #[error("deadlock at {at} s: {}", cycle_text(.cycle))]
    Deadlock {
        /// When it closed.
        at: Nanos,
        /// Each waits for the mutex that the next one owns; the last one's owner is the first.
        cycle: Vec<DeadlockLink>,
    },
    /// A task unlocked what it does not own.
    #[error("task {comm} ({pid}) unlocks {lock}, which it does not own")]
    NotOwner {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// Which lock.
        lock: String,
    },
    /// A task locked what it already owns.
    #[error("task {comm} ({pid}) locks {lock} a second time; it would wait for itself forever")]
    Relock {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// Which lock.
        lock: String,
    },
    /// A chain of owners that wait for each other's PI mutexes is too long.
    #[error("task {comm} ({pid}) locks {lock} at the end of a chain of more than 1024 waiting owners")]
    ChainTooLong {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// Which lock.
        lock: String,
    },
    /// A task may run on no CPU of the machine.
    #[error("task {comm} ({pid}) may run on CPUs {asked} only, but the machine has CPUs 0-{}", .cpus - 1)]
    EmptyAffinity {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// What was asked.
        asked: CpuMask,
        /// How many CPUs there are.
        cpus: usize,
    },
    /// A task asks for CPUs of which its cpuset has none.
    #[error("task {comm} ({pid}) asks for CPUs {asked}, but its cpuset has {cpus} (EINVAL)")]
    OutsideCpuset {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// What was asked.
        asked: Box<CpuMask>,
        /// What it may use.
        cpus: Box<CpuMask>,
    },
    /// CPUs that cannot be isolated.
    #[error("{option}={cpus}: {why}")]
    Isolation {
        /// The kernel's option that names them: isolcpus or nohz_full.
        option: &'static str,
        /// Which.
        cpus: CpuMask,
        /// What is wrong with them.
        why: String,
    },
    /// A task group that the kernel refuses.
    #[error("task group {name}: {why}")]
    Group {
        /// Its path.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Partitions of groups that together have all CPUs of the machine.
    #[error(
        "the partitions take all CPUs of the machine, which the kernel allows only where no task is outside of \
         them; leave it one"
    )]
    NoCpuLeft,
    /// A task is in a group that there is not.
    #[error("task {comm} ({pid}) is in task group {group}, but the setup has {groups} besides the root")]
    NoSuchGroup {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// Which group.
        group: u32,
        /// How many there are.
        groups: usize,
    },
    /// The kernel refuses a policy to a task, or an affinity to a deadline task.
    #[error("task {comm} ({pid}): {why}")]
    NotAdmitted {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// What the kernel says.
        why: NotAdmitted,
    },
    /// Less real-time run time is left (`sched_rt_runtime_us`) than deadline tasks and servers hold.
    #[error("{0}")]
    Promised(NotAdmitted),
    /// The kernel refuses clamps of utilisation to a task.
    #[error("task {comm} ({pid}) sets clamps of utilisation: {why}")]
    Clamps {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// What the kernel says.
        why: &'static str,
    },
    /// A program that makes no progress in time.
    #[error(
        "task {comm} ({pid}) takes a million steps at {at} s without spending time; give its loop something \
         to do"
    )]
    EndlessSteps {
        /// Which task.
        pid: Pid,
        /// Its name.
        comm: Box<str>,
        /// When.
        at: Nanos,
    },
    /// The checking mode found a broken invariant.
    #[error("invariant {invariant} broken at {at} s: {what}")]
    Invariant {
        /// Its document and number in the specification: `rt-class P4`.
        invariant: &'static str,
        /// When.
        at: Nanos,
        /// What was found.
        what: String,
    },
    /// A change of the settings in the middle of the run that is not legal.
    #[error("{0}")]
    Setting(String),
    /// A change of the settings in the middle of the run that the kernel refuses.
    #[error("`{setting}` at {at} s: {why}")]
    Refused {
        /// What was written.
        setting: String,
        /// When.
        at: Nanos,
        /// What is wrong with it.
        why: Box<RunError>,
    },
    /// A run of no length.
    #[error("a run needs a duration above zero")]
    NoDuration,
}

/// One edge of a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadlockLink {
    /// Who waits.
    pub pid: Pid,
    /// Its name.
    pub comm: Box<str>,
    /// For which mutex.
    pub mutex: String,
}

/// A task that waits forever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StuckTask {
    /// Which.
    pub pid: Pid,
    /// Its name.
    pub comm: Box<str>,
    /// For what.
    pub waits_for: String,
}

fn cycle_text(cycle: &[DeadlockLink]) -> impl fmt::Display {
    let links: Vec<String> =
        cycle.iter().map(|l| format!("{} ({}) waits for mutex {}", l.comm, l.pid, l.mutex)).collect();
    links.join(", owned by ") + ", owned by the first"
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{CpuId, Nanos, Pid};

    /// Records whose times go back by up to `back`; each has a number of its own.
    fn records(count: u64, back: u64) -> Vec<LogRecord> {
        let time = |n: u64| Nanos(1_000 + n - n.wrapping_mul(2_654_435_761) % (back + 1).min(n + 1));
        let event = |n: u64| match n % 7 {
            0 => LogEvent::Comm { of: Pid(n as i32), comm: "a".into() },
            _ => LogEvent::SchedProcessExec { of: Pid(n as i32) },
        };
        let record =
            |n| LogRecord { time: time(n), cpu: CpuId(0), pid: Pid(0), in_interrupt: false, event: event(n) };
        (0..count).map(record).collect()
    }

    #[test]
    fn records_go_back_to_their_place_however_far_that_is() {
        for (count, back) in [(0, 0), (1, 0), (500, 0), (500, 3), (500, 40), (500, 499), (3, 2)] {
            let mut ours = records(count, back);
            let mut sorted = ours.clone();
            put_in_order(&mut ours);
            sorted.sort_by_key(|r| (r.time, !matches!(r.event, LogEvent::Comm { .. })));
            assert_eq!(ours, sorted, "{count} records, back by {back}");
        }
    }
}
