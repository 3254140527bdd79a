//! Task groups as a setup asks for them, and what became of them (deadline-groups B).

use crate::outcome::RunError;
use scheduler::rt::RtLimit;
use scheduler::{Clamps, CpuMask, GroupId, Nanos};

/// A task group to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupSpec {
    /// Its path below the root, without a leading slash: `system.slice/web`.
    pub name: String,
    /// The group that it is part of; [`GroupId::ROOT`]: of none but the machine.
    pub parent: GroupId,
    /// Weight of the whole group among its siblings, 2 to 262,144, as `cpu.shares` counts it; 1024 is
    /// the default.
    pub shares: u64,
    /// `cpu.idle`: all of it together weighs 3 and makes room for everybody else (deadline-groups B6).
    pub idle: bool,
    /// `cpu.max`; `None`: no limit.
    pub quota: Option<QuotaSpec>,
    /// `cpu.uclamp.min` and `cpu.uclamp.max`, in 1024ths (deadline-groups B11).
    pub clamps: Clamps,
    /// What its real-time tasks may use, where the kernel has groups of these (deadline-groups B9); `None`:
    /// it is a session (autogroup), whose real-time tasks are the root's.
    pub rt: Option<RtLimitSpec>,
    /// `cpuset.cpus`; `None`: those of its parent.
    pub cpus: Option<CpuMask>,
    /// `cpuset.cpus.partition`.
    pub partition: PartitionKind,
}

/// What a group's cpuset is to the sched domains (deadline-groups B10).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PartitionKind {
    /// Nothing: it narrows the affinity of its tasks.
    #[default]
    Member,
    /// Its CPUs balance among each other and with nobody else.
    Root,
    /// Its CPUs are in no sched domain.
    Isolated,
}

impl GroupSpec {
    /// A group of the root with the default weight and no limit.
    pub fn new(name: impl Into<String>) -> GroupSpec {
        GroupSpec {
            name: name.into(),
            parent: GroupId::ROOT,
            shares: 1024,
            idle: false,
            quota: None,
            clamps: Clamps::NONE,
            rt: Some(RtLimitSpec::default()),
            cpus: None,
            partition: PartitionKind::Member,
        }
    }
}

impl GroupSpec {
    /// Whether it may be the group of a setup that has `before` groups already.
    ///
    /// # Errors
    /// What the kernel refuses (deadline-groups B1, B7), and a parent that comes later.
    pub(crate) fn check(&self, before: usize) -> Result<(), RunError> {
        let refuse = |why: &str| Err(RunError::Group { name: self.name.clone(), why: why.to_owned() });
        let ms = Nanos::from_millis;
        if self.parent.index() > before {
            return refuse("its parent has to be there before it");
        } else if !(2..=262_144).contains(&self.shares) {
            return refuse("its shares have to be 2 to 262144");
        }
        match self.quota {
            Some(limit) if limit.quota < ms(1) => refuse("its quota has to be at least 1 ms"),
            Some(limit) if limit.period < ms(1) || limit.period > ms(1_000) => {
                refuse("its period has to be 1 ms to 1 s")
            }
            Some(limit) if limit.burst > limit.quota => refuse("its burst may be no more than its quota"),
            Some(_) | None => Ok(()),
        }
    }
}

/// How much CPU time a group may use (deadline-groups B7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuotaSpec {
    /// CPU time in each period, summed over all CPUs; at least 1 ms.
    pub quota: Nanos,
    /// How often it is refilled; 1 ms to 1 s.
    pub period: Nanos,
    /// How much of what was not used may be used later; at most the quota.
    pub burst: Nanos,
}

/// How much of each CPU the real-time tasks of a group may use (deadline-groups B9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtLimitSpec {
    /// `cpu.rt_runtime_us`: in each period; `None`: all of it (-1). Zero, as the kernel makes a group: none
    /// of its tasks may become a real-time task.
    pub runtime: Option<Nanos>,
    /// `cpu.rt_period_us`: how often it is given; `None`, as the kernel makes a group: sched_rt_period_us.
    pub period: Option<Nanos>,
}

impl Default for RtLimitSpec {
    fn default() -> RtLimitSpec {
        RtLimitSpec { runtime: Some(Nanos::ZERO), period: None }
    }
}

/// What a group came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GroupOutcome {
    /// What was asked for.
    pub spec: GroupSpec,
    /// CPU time of its tasks and of those of the groups below it, whatever their class is.
    pub usage: Nanos,
    /// What its limit did; `None` without one.
    pub quota: Option<QuotaOutcome>,
    /// What the limit of its real-time tasks did; `None` where the kernel has none.
    pub rt: Option<RtLimitOutcome>,
}

/// What the limit of a group's real-time tasks did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtLimitOutcome {
    /// What it was.
    pub limit: RtLimit,
    /// How often its queue on a CPU was stopped.
    pub nr_throttled: u64,
    /// How long its queues were, summed over CPUs.
    pub throttled: Nanos,
    /// CPU time of its real-time tasks and of those of the groups below it.
    pub usage: Nanos,
}

/// What a limit did, as `cpu.stat` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QuotaOutcome {
    /// Periods that passed while anybody in the group ran or waited.
    pub nr_periods: u64,
    /// Periods in which a CPU's part of the group was throttled.
    pub nr_throttled: u64,
    /// How long the group's queues were throttled, summed over CPUs.
    pub throttled: Nanos,
    /// Periods in which more than the quota was used.
    pub nr_bursts: u64,
    /// CPU time above the quota in those periods.
    pub burst: Nanos,
}
