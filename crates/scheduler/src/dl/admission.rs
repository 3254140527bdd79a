//! Whether there is room for one more (deadline-groups A2 checks 1, 9 and 10, deadline-groups A3).

use super::entity::DlDomain;
use super::params::{DlParams, ratio};
use super::server::server_bw;
use crate::platform::Platform;
use crate::registry::{DlClass, DlGrub};
use crate::rt::RtLimit;
use crate::task::Task;
use crate::{CpuId, CpuMask, FULL_CAPACITY, Policy, RootDomain, RootId, Scheduler, ThisCpu};
use alloc::boxed::Box;
use core::fmt;

/// Why the kernel refuses a policy, or an affinity of a deadline task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAdmitted {
    /// This kernel has no such class (EINVAL).
    NoClass,
    /// This kernel knows no SCHED_FLAG_RECLAIM (EINVAL).
    NoReclaim,
    /// A deadline task has a child, which would be one, too (EAGAIN).
    Fork,
    /// The task's group has no time for SCHED_FIFO and SCHED_RR (EPERM; deadline-groups B9).
    NoRtRuntime,
    /// The task may not run on all CPUs of the root domain (EPERM).
    Affinity {
        /// Where it may run.
        allowed: Box<CpuMask>,
        /// Where it would have to.
        needed: Box<CpuMask>,
    },
    /// A deadline task cannot be restricted to some CPUs of its root domain (EBUSY).
    Narrowed {
        /// Where it would run.
        allowed: Box<CpuMask>,
        /// Where it has to.
        needed: Box<CpuMask>,
    },
    /// All CPUs of the root domain together have no such bandwidth left (EBUSY). All in 2^20ths of a CPU.
    Bandwidth {
        /// What may be promised.
        limit: u64,
        /// What is promised already, to others and to the fair servers.
        taken: u64,
        /// What was asked for.
        asked: u64,
    },
    /// A root domain has promised more than it would be allowed to (EBUSY). In 2^20ths of a CPU.
    Promised {
        /// What might be promised.
        limit: u64,
        /// What is promised already, to tasks and to the fair servers.
        taken: u64,
    },
}

/// A bandwidth in per mille of a CPU, for people.
fn per_mille(bw: u64) -> u64 {
    (bw * 1_000) >> super::params::BW_SHIFT
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAdmitted::NoClass => {
                f.write_str(
                    "this kernel has no SCHED_DEADLINE: Linux has it since 3.14, and 3.14 to 3.19 are run as 3.3, \
                     without it; the oldest profile that has it is 4.0",
                )
            }
            NotAdmitted::NoReclaim => {
                f.write_str("this kernel has no SCHED_FLAG_RECLAIM (Linux has it since 4.13)")
            }
            NotAdmitted::Fork => f.write_str(
                "a task of SCHED_DEADLINE makes no other one (fork, pthread_create: EAGAIN); let it begin under another \
                 policy and change that afterwards",
            ),
            NotAdmitted::NoRtRuntime => f.write_str(
                "its task group has no time for SCHED_FIFO and SCHED_RR (EPERM): write cpu.rt_runtime_us \
                 above 0 there, or leave the task in the root",
            ),
            NotAdmitted::Affinity { allowed, needed } => write!(
                f,
                "SCHED_DEADLINE needs an affinity with all CPUs, {needed}, but the task may run on {allowed} \
                 only (EPERM); leave the affinity out, or set sched_rt_runtime_us=-1"
            ),
            NotAdmitted::Narrowed { allowed, needed } => write!(
                f,
                "a task of SCHED_DEADLINE keeps an affinity with all CPUs, {needed}, and takes none to {allowed} \
                 only (EBUSY); leave the affinity out, or set sched_rt_runtime_us=-1"
            ),
            NotAdmitted::Bandwidth { limit, taken, asked } => {
                let (of_limit, of_taken, of_asked) =
                    (per_mille(*limit), per_mille(*taken), per_mille(*asked));
                write!(
                    f,
                    "SCHED_DEADLINE finds no room (EBUSY): {taken} + {asked} are above {limit}, in 2^20ths of a CPU \
                     ({of_taken} + {of_asked} of {of_limit} per mille); ask for less, or set \
                     sched_rt_runtime_us=-1"
                )
            }
            NotAdmitted::Promised { limit, taken } => write!(
                f,
                "deadline tasks and fair servers hold {taken} of the {limit} 2^20ths of a CPU that there would be \
                 ({} of {} per mille; EBUSY); leave them more",
                per_mille(*taken),
                per_mille(*limit)
            ),
        }
    }
}

impl core::error::Error for NotAdmitted {}

/// L: what may be promised of each CPU; `None`: everything (deadline-groups A3).
fn limit<P: Platform>(k: &Scheduler<P>) -> Option<u64> {
    let RtLimit { runtime, period } = RtLimit::of_root(&k.config.tunables);
    Some(ratio(period, runtime?))
}

/// What may be promised of each CPU of a root domain, and what of all of them together is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promises {
    /// In 2^20ths of a CPU; `None`: everything (dl_bw->bw).
    pub limit_per_cpu: Option<u64>,
    /// In 2^20ths of a CPU, servers included (dl_bw->total_bw).
    pub total: u64,
}

/// For reports: the promises of the root domain that a CPU is part of.
pub fn promises<P: Platform>(k: &Scheduler<P>, cpu: CpuId) -> Promises {
    Promises { limit_per_cpu: limit(k), total: total(k, k.root_domain(cpu)) }
}

/// How many CPUs share what is promised.
fn cpus_of(root: &RootDomain) -> u64 {
    u64::from(root.span.weight())
}

/// What they are worth together, in 1024ths of the best CPU: kernels before 5.9 counted CPUs.
fn capacity_of<P: Platform>(k: &Scheduler<P>, root: &RootDomain) -> u64 {
    match k.tasks_must_fit() {
        true => root.span.iter().map(|cpu| k.full_capacity(cpu)).sum(),
        false => FULL_CAPACITY * cpus_of(root),
    }
}

/// What is promised in a root domain, servers included.
fn total<P: Platform>(k: &Scheduler<P>, root: &RootDomain) -> u64 {
    root.dl.total.get() + cpus_of(root) * server_bw(k)
}

/// What `cpu` has to bear of what is promised in its root domain, as the kernel divides it.
pub(super) fn total_per_cpu<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    let root = me.k.root_domain(cpu);
    let cpus = cpus_of(root);
    root.dl.total_per_cpu.get() + cpus * (server_bw(me.k) / cpus)
}

/// Whether `task`, which is on `cpu`, may have this policy. Nothing is reserved yet. Of a task that is
/// made with it, whoever makes it asks, before its first wakeup: that reserves.
///
/// # Errors
/// What the kernel refuses.
pub fn fits<P: Platform>(
    k: &Scheduler<P>,
    task: &Task,
    cpu: CpuId,
    policy: Policy,
) -> Result<(), NotAdmitted> {
    let Policy::Deadline(params) = policy else { return Ok(()) };
    if k.config.rules.dl_class.get() == DlClass::Off {
        return Err(NotAdmitted::NoClass);
    }
    if params.reclaims() && k.config.rules.dl_grub.get() == DlGrub::Off {
        return Err(NotAdmitted::NoReclaim);
    }
    let Some(limit) = limit(k) else { return Ok(()) };
    let root = k.root_domain(cpu);
    let allowed = task.cpus_allowed.get();
    if !root.span.is_subset(&allowed) {
        return Err(NotAdmitted::Affinity { allowed: allowed.into(), needed: root.span.into() });
    }
    let limit = limit * capacity_of(k, root) / FULL_CAPACITY;
    // What a task has not given back yet since it left the class counts against it.
    let old = match task.policy.get() {
        Policy::Deadline(_) => task.dl.reserved_bw(),
        _ => 0,
    };
    let (taken, asked) = (total(k, root) - old, params.bw());
    if taken + asked <= limit { Ok(()) } else { Err(NotAdmitted::Bandwidth { limit, taken, asked }) }
}

/// Whether every root domain still may promise what it has promised, as the kernel asks before it takes a
/// lower `sched_rt_runtime_us` (deadline-groups A3).
///
/// # Errors
/// The first root domain that has promised more; nothing was asked for there.
pub fn promises_hold<P: Platform>(k: &Scheduler<P>) -> Result<(), NotAdmitted> {
    let Some(per_cpu) = limit(k) else { return Ok(()) };
    for root in k.root_domains() {
        let (limit, taken) = (per_cpu * capacity_of(k, root) / FULL_CAPACITY, total(k, root));
        if taken > limit {
            return Err(NotAdmitted::Promised { limit, taken });
        }
    }
    Ok(())
}

/// Whether `task` may be restricted to these CPUs (deadline-groups A2: EBUSY).
///
/// # Errors
/// It is a deadline task, and they are not all of its root domain.
pub fn may_take_affinity<P: Platform>(
    k: &Scheduler<P>,
    task: &Task,
    allowed: CpuMask,
) -> Result<(), NotAdmitted> {
    let bound = matches!(task.policy.get(), Policy::Deadline(_)) && limit(k).is_some();
    let span = k.root_domain(task.cpu.get()).span;
    if bound && !span.is_subset(&allowed) {
        return Err(NotAdmitted::Narrowed { allowed: allowed.into(), needed: span.into() });
    }
    Ok(())
}

/// A task on `cpu` was let in with these parameters; in which root domain.
pub(super) fn reserve<P: Platform>(k: &Scheduler<P>, cpu: CpuId, params: DlParams) -> RootId {
    let root = k.root_domain(cpu);
    let DlDomain { total, total_per_cpu, .. } = &root.dl;
    total.set(total.get() + params.bw());
    total_per_cpu.set(total_per_cpu.get() + params.bw() / cpus_of(root));
    root.id
}

/// This bandwidth of a root domain is free again.
pub(super) fn give_back<P: Platform>(k: &Scheduler<P>, root: RootId, bw: u64) {
    let root = &k.root_domains()[root.index()];
    let DlDomain { total, total_per_cpu, .. } = &root.dl;
    total.set(total.get() - bw);
    total_per_cpu.set(total_per_cpu.get() - bw / cpus_of(root));
}
