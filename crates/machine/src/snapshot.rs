//! The state of a machine at one moment, as the files under /proc show it (fair-class 11).

use scheduler::dl::Promises;
use scheduler::fair::{Average, Averages, Estimate, Granularities, Weight};
use scheduler::registry::Config;
use scheduler::stats::{BalanceCounts, CpuCounts, DomainCounts, TaskStats};
use scheduler::{CpuId, CpuMask, GroupId, LevelKind, Nanos, Pid, Policy, Prio, TaskState};

/// Which moments of a run to keep.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SnapshotPlan {
    /// Moments of the run. Those after its end are left out.
    pub at: Vec<Nanos>,
    /// Its end too.
    pub at_end: bool,
    /// Of which tasks to keep the state in which they exited, if they do before the end.
    pub exited: ExitedTasks,
}

/// Tasks that are looked at after they have exited.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ExitedTasks {
    /// None.
    #[default]
    None,
    /// Those with these pids.
    Of(Vec<Pid>),
    /// All, because it shows only later whose pid is meant.
    All,
}

impl ExitedTasks {
    pub(crate) fn contain(&self, pid: Pid) -> bool {
        match self {
            ExitedTasks::None => false,
            ExitedTasks::Of(pids) => pids.contains(&pid),
            ExitedTasks::All => true,
        }
    }
}

/// A moment. The queues are not all seen at the same instant: as on Linux, each is seen once its lock is
/// free.
#[derive(Debug)]
pub struct Snapshot {
    /// When it was asked for; the end of the run for the one at the end.
    pub at: Nanos,
    /// Features, rules and tunables of that moment.
    pub config: Config,
    /// Latency, granularities and slice in effect on so many CPUs.
    pub granularities: Granularities,
    /// Every CPU, by number.
    pub cpus: Vec<CpuSnapshot>,
    /// Every task that has not exited, by pid.
    pub tasks: Vec<TaskSnapshot>,
}

/// A CPU.
#[derive(Debug)]
pub struct CpuSnapshot {
    /// Which.
    pub cpu: CpuId,
    /// Pid of the task that it executes; 0: idle.
    pub curr: Pid,
    /// Clock of its queue.
    pub clock: Nanos,
    /// Its clock of tasks: without interrupts, where they are left out.
    pub clock_task: Nanos,
    /// Runnable tasks of all classes.
    pub nr_running: u32,
    /// Sum of the weights of the runnable fair tasks.
    pub load: u64,
    /// Picks of a different task.
    pub nr_switches: u64,
    /// Tasks that sleep uninterruptibly and ran here last.
    pub nr_uninterruptible: u64,
    /// When its tick looks for work elsewhere again.
    pub next_balance: Nanos,
    /// Averages of the load.
    pub cpu_load: [u64; 5],
    /// Average length of its idle times.
    pub avg_idle: Nanos,
    /// What a search for work by this CPU has cost at most; `None`: sched_migration_cost.
    pub max_idle_balance_cost: Option<Nanos>,
    /// Its counters.
    pub counts: CpuCounts,
    /// Its queue of fair tasks.
    pub fair: FairQueueSnapshot,
    /// Those of task groups in which somebody is or was lately, in the order in which the groups were made.
    pub fair_groups: Vec<FairGroupQueueSnapshot>,
    /// Its queue of real-time tasks.
    pub rt: RtQueueSnapshot,
    /// Those of task groups, in the order in which these were made; none without RT_GROUP_SCHED.
    pub rt_groups: Vec<RtGroupQueueSnapshot>,
    /// Its queue of deadline tasks.
    pub dl: DlQueueSnapshot,
    /// Its domains, smallest first.
    pub domains: Vec<DomainSnapshot>,
}

/// A queue of fair tasks.
#[derive(Debug)]
pub struct FairQueueSnapshot {
    /// CPU time used by tasks of this queue.
    pub exec_clock: Nanos,
    /// Floor of virtual time, in ns.
    pub min_vruntime: u64,
    /// Virtual time of the leftmost waiting task.
    pub leftmost: Option<u64>,
    /// Virtual time of the rightmost waiting task.
    pub rightmost: Option<u64>,
    /// What competes in it: tasks, and groups.
    pub nr_running: u32,
    /// Runnable tasks, those of groups below it included.
    pub h_nr_running: u32,
    /// Weight of what competes.
    pub load: u64,
    /// How often a task entered or left the CPU far from the floor.
    pub nr_spread_over: u64,
    /// Of the runnable tasks, those that are SCHED_IDLE.
    pub nr_idle: u32,
    /// Averages of what its tasks ask for and use.
    pub average: Average,
    /// Sum of the estimates of the queued tasks, in 1024ths of a CPU.
    pub estimated: u64,
    /// Sum of the loads of the queued tasks; the root's, others have 0.
    pub queued_load: u64,
    /// What has left its averages and is not subtracted yet.
    pub removed: RemovedSnapshot,
    /// What EEVDF keeps.
    pub eevdf: EevdfQueueSnapshot,
}

/// What tasks took along that left a queue asleep, until its averages are updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemovedSnapshot {
    /// Sum of their load averages.
    pub load: u64,
    /// Of their averages of running, in 1024ths of a CPU.
    pub util: u64,
    /// Of their averages of being runnable, in 1024ths.
    pub runnable: u64,
    /// What of a period that is, in the units of the averages' sums.
    pub runnable_units: u64,
}

/// What a queue of fair tasks keeps under EEVDF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EevdfQueueSnapshot {
    /// Earliest deadline of those that wait, in virtual ns.
    pub left_deadline: Option<u64>,
    /// Least virtual runtime of those that wait.
    pub left_vruntime: Option<u64>,
    /// Virtual runtime of who waits with the latest deadline.
    pub right_vruntime: Option<u64>,
    /// Greatest virtual runtime of those that wait.
    pub greatest_vruntime: Option<u64>,
    /// Virtual time from which the queue's sums count: its floor, or the zero-lag point as last evaluated.
    pub v0: u64,
    /// The zero-lag point (V).
    pub avg_vruntime: u64,
    /// Tasks that are queued and asleep.
    pub nr_delayed: u32,
}

/// A task group's queue of fair tasks on a CPU, and the entity that stands for it in its parent's.
#[derive(Debug)]
pub struct FairGroupQueueSnapshot {
    /// Whose it is.
    pub group: GroupId,
    /// What it is like.
    pub queue: FairQueueSnapshot,
    /// What of its load is in the sum of the group's queues.
    pub contrib: u64,
    /// That sum.
    pub group_load: u64,
    /// It has used up what it may have of the group's limit.
    pub throttled: bool,
    /// How many queues from here to the root's have.
    pub throttle_count: u32,
    /// The entity.
    pub entity: FairEntitySnapshot,
}

/// What stands for a group in its parent's queue.
#[derive(Debug)]
pub struct FairEntitySnapshot {
    /// When it was charged last.
    pub exec_start: Nanos,
    /// Its virtual runtime, in ns.
    pub vruntime: u64,
    /// CPU time that it was charged.
    pub sum_exec_runtime: Nanos,
    /// Its load weight: the CPU's part of the group's.
    pub weight: Weight,
    /// Its averages.
    pub average: Average,
}

/// A queue of deadline tasks (deadline-groups A3, A4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DlQueueSnapshot {
    /// Tasks that compete in it.
    pub nr_running: u32,
    /// Those of them that may run elsewhere.
    pub nr_migratory: u32,
    /// What may be promised, and is, in its root domain.
    pub promises: Promises,
}

/// A task group's queue of real-time tasks (deadline-groups B9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtGroupQueueSnapshot {
    /// Whose it is.
    pub group: GroupId,
    /// What it is like.
    pub queue: RtQueueSnapshot,
}

/// A queue of real-time tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtQueueSnapshot {
    /// Tasks that compete in it: those of groups below it, too, that have not used up their time.
    pub nr_running: u32,
    /// Of all queued tasks of a CPU, those that may run elsewhere; the root counts them, no group does.
    pub nr_migratory: u32,
    /// They have used up what they may have of the period.
    pub throttled: bool,
    /// What they have used of it.
    pub time: Nanos,
    /// What they may use.
    pub runtime: Nanos,
}

/// A domain of a CPU.
#[derive(Debug)]
pub struct DomainSnapshot {
    /// What its CPUs share.
    pub kind: LevelKind,
    /// Its CPUs.
    pub span: CpuMask,
    /// Balancing of an idle CPU, of a busy one, of one that is about to idle.
    pub balancing: [BalanceCounts; 3],
    /// What else was counted.
    pub counts: DomainCounts,
}

/// What a deadline task has left of its present period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BudgetSnapshot {
    /// Run time, in ns; below zero what it overran.
    pub runtime_ns: i64,
    /// Its absolute deadline.
    pub deadline: Nanos,
}

/// A task.
#[derive(Clone, Debug)]
pub struct TaskSnapshot {
    /// Its pid.
    pub pid: Pid,
    /// Its command name.
    pub comm: Box<str>,
    /// Threads of its process, itself included.
    pub threads: u32,
    /// The CPU that it is assigned to.
    pub cpu: CpuId,
    /// Whether it is runnable.
    pub on_rq: bool,
    /// Whether that CPU executes it.
    pub running: bool,
    /// Whether it runs, sleeps, or is being woken.
    pub state: TaskState,
    /// Its policy.
    pub policy: Policy,
    /// Its effective priority.
    pub prio: Prio,
    /// Its load weight.
    pub weight: u64,
    /// Virtual runtime in ns. On the way from one queue to another, and while the real-time class serves the
    /// task, it counts from a floor that is not known yet.
    pub vruntime: u64,
    /// The group that it is in.
    pub group: GroupId,
    /// What a task of SCHED_DEADLINE has left.
    pub budget: Option<BudgetSnapshot>,
    /// Its averages of what it asks for and uses.
    pub average: Average,
    /// What it is expected to use.
    pub estimate: Estimate,
    /// Virtual time by which EEVDF should have served its request; while it is off its queue, perhaps the
    /// distance from its virtual runtime.
    pub deadline: u64,
    /// Length of its requests.
    pub slice: Nanos,
    /// It chose that length.
    pub custom_slice: bool,
    /// START_NICE: left shift of its virtual time.
    pub penalty: u8,
    /// START_NICE: the CPU time after which the penalty ends.
    pub pen_timeout: Nanos,
    /// How it behaves when it wakes others and is woken.
    pub averages: Averages,
    /// Its counters.
    pub stats: TaskStats,
}
