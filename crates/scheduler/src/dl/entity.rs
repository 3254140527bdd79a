//! What the class keeps: of an entity, of a queue, of all CPUs (deadline-groups A4).

use super::cbs::Budget;
use super::counts::Counting;
use super::cpudl::Cpudl;
use super::overload::Overload;
use super::params::DlParams;
use super::server::Server;
use super::timer::{Armed, Timers};
use super::tree::{Queued, Tree};
use crate::shared::Kept;
use crate::{CpuId, CpuMask, Nanos, Policy, RootId, TaskId};
use alloc::boxed::Box;
use core::cell::OnceCell;
use core::ops::Deref;

/// A task's, or a server's, fields of this class. The run-queue lock of its CPU protects them.
#[derive(Debug, Default)]
pub struct DlEntity {
    /// What it asked for itself; also after it has left the class, until its bandwidth is free.
    pub(super) own: Kept<Option<DlParams>>,
    /// What it inherited from whoever waits for it (pi_se).
    pub(super) donor: Kept<Option<DlParams>>,
    runtime: Kept<i64>,
    deadline: Kept<Nanos>,
    pub(super) throttled: Kept<bool>,
    pub(super) yielded: Kept<bool>,
    /// It sleeps, and its bandwidth still counts as in use.
    pub(super) non_contending: Kept<bool>,
    /// It is in the tree.
    pub(super) queued: Kept<bool>,
    /// The CPU in whose this_bw its bandwidth is.
    pub(super) counted_on: Kept<Option<CpuId>>,
    /// Its bandwidth is in that CPU's running_bw, too.
    pub(super) active: Kept<bool>,
    /// The root domain in whose total_bw its bandwidth is.
    pub(super) reserved: Kept<Option<RootId>>,
    /// The timer of its next period, if it is set (dl_timer).
    pub(super) replenish: Kept<Option<Armed>>,
    /// The timer of its zero-lag time, if it is set (inactive_timer).
    pub(super) zero_lag: Kept<Option<Armed>>,
    pub(super) counting: Counting,
}

impl DlEntity {
    pub(crate) fn reset(&self, policy: Policy) {
        self.own.set(match policy {
            Policy::Deadline(params) => Some(params),
            _ => None,
        });
        self.donor.set(None);
        self.set_budget(Budget::default());
        self.throttled.set(false);
        self.yielded.set(false);
        self.non_contending.set(false);
        self.queued.set(false);
        self.counted_on.set(None);
        self.active.set(false);
        self.reserved.set(None);
        self.replenish.set(None);
        self.zero_lag.set(None);
        self.counting.reset();
    }

    /// What is left of its present period, in ns; below zero what it overran.
    pub fn runtime_ns(&self) -> i64 {
        self.runtime.get()
    }

    /// Its present absolute deadline.
    pub fn deadline(&self) -> Nanos {
        self.deadline.get()
    }

    /// Whether it has to wait for its next period.
    pub fn is_throttled(&self) -> bool {
        self.throttled.get()
    }

    /// Whether it has inherited its parameters.
    pub fn is_boosted(&self) -> bool {
        self.donor.get().is_some()
    }

    /// Its own parameters; also of a task that has left the class, until its bandwidth is free.
    pub fn own_params(&self) -> Option<DlParams> {
        self.own.get()
    }

    /// What it has inherited.
    pub(crate) fn donor(&self) -> Option<DlParams> {
        self.donor.get()
    }

    /// The parameters that count: inherited ones, or its own.
    pub fn params(&self) -> Option<DlParams> {
        self.donor.get().or(self.own.get())
    }

    /// What is promised to it of all that can be promised, in 2^20ths of a CPU.
    pub(crate) fn reserved_bw(&self) -> u64 {
        if self.reserved.get().is_some() { self.bw() } else { 0 }
    }

    /// dl_bw: what it was let in with, in 2^20ths of a CPU.
    pub fn bw(&self) -> u64 {
        self.own.get().map_or(0, DlParams::bw)
    }

    /// Whether it is in its CPU's tree.
    pub fn is_queued(&self) -> bool {
        self.queued.get()
    }

    pub(super) fn budget(&self) -> Budget {
        Budget { runtime: self.runtime.get(), deadline: self.deadline.get() }
    }

    pub(super) fn set_budget(&self, budget: Budget) {
        self.runtime.set(budget.runtime);
        self.deadline.set(budget.deadline);
    }
}

/// What this class keeps of a task: made when it is first needed, which for most of very many tasks is never.
#[derive(Debug, Default)]
pub struct DlOfTask(OnceCell<Box<DlEntity>>);

impl DlOfTask {
    pub(crate) fn reset(&self, policy: Policy) {
        if matches!(policy, Policy::Deadline(_)) || self.0.get().is_some() {
            DlEntity::reset(self, policy);
        }
    }

    /// What there is of it; without any the task has never had to do with this class.
    pub fn if_any(&self) -> Option<&DlEntity> {
        self.0.get().map(|entity| &**entity)
    }
}

impl Deref for DlOfTask {
    type Target = DlEntity;
    #[inline]
    fn deref(&self) -> &DlEntity {
        self.0.get_or_init(Box::default)
    }
}

/// A run queue's part of this class.
#[derive(Debug, Default)]
pub struct DlRq {
    /// Every queued entity, the running one included.
    pub(super) tree: Tree,
    /// Tasks that are queued, do not run and may move.
    pub(super) pushable: Tree,
    /// Tasks in the tree.
    pub(super) nr_running: u32,
    /// Those of them that may run on more than one CPU.
    pub(super) nr_migratory: u32,
    pub(super) overloaded: bool,
}

/// For checkers and reports.
impl DlRq {
    /// Queued entities, the running one included, in the order of their deadlines.
    pub fn queued(&self) -> impl Iterator<Item = Queued> + '_ {
        self.tree.iter()
    }

    /// Tasks that wait and may move, in the same order.
    pub fn pushable(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.pushable.iter().filter_map(|queued| queued.id.task())
    }

    /// How many tasks are queued (dl_nr_running).
    pub fn nr_running(&self) -> u32 {
        self.nr_running
    }

    /// How many of them may run on more than one CPU.
    pub fn nr_migratory(&self) -> u32 {
        self.nr_migratory
    }

    /// Whether this CPU has something to give away.
    pub fn is_overloaded(&self) -> bool {
        self.overloaded
    }

    /// earliest.curr: the first deadline of the tree.
    pub fn earliest(&self) -> Option<Nanos> {
        self.tree.first().map(|first| first.deadline)
    }

    /// earliest.next: that of the first task that may be pushed.
    pub fn earliest_pushable(&self) -> Option<Nanos> {
        self.pushable.first().map(|first| first.deadline)
    }
}

/// Bandwidth assigned to a CPU, in 2^20ths of it. In the kernel the run-queue lock protects it; a sleeper
/// that is woken elsewhere takes its share along under the locks of both, for which nothing is charged here.
#[derive(Debug, Default)]
pub(super) struct CpuBw {
    /// Of entities that compete, or may still claim something.
    pub running: Kept<u64>,
    /// Of all entities assigned here.
    pub this: Kept<u64>,
}

/// What the CPUs of a root domain share (deadline-groups A3, deadline-groups A9).
#[derive(Debug)]
pub struct DlDomain {
    /// Bandwidth that was let in, in 2^20ths; servers come on top.
    pub(super) total: Kept<u64>,
    /// What each of these adds to every CPU's share of it: the kernel divides one by one.
    pub(super) total_per_cpu: Kept<u64>,
    pub(super) cpudl: Cpudl,
    pub(super) overload: Overload,
}

impl DlDomain {
    pub(crate) fn new(root: RootId, span: CpuMask, cpus: usize) -> DlDomain {
        DlDomain {
            total: Kept::default(),
            total_per_cpu: Kept::default(),
            cpudl: Cpudl::new(root, span, cpus),
            overload: Overload::new(root),
        }
    }

    /// dl_bw->total_bw without that of the servers, in 2^20ths of a CPU.
    pub fn total_bw(&self) -> u64 {
        self.total.get()
    }

    /// The deadline by which cpudl knows a CPU; `None`: free of deadline entities.
    pub fn cpudl_deadline(&self, cpu: CpuId) -> Option<Nanos> {
        self.cpudl.deadline(cpu)
    }

    /// The CPUs that have something to give away.
    pub fn dlo_mask(&self) -> CpuMask {
        self.overload.mask()
    }
}

/// What the class keeps of each CPU beside its run queue.
#[derive(Debug)]
pub struct DlCpus {
    pub(super) cpus: Box<[CpuBw]>,
    pub(super) timers: Box<[Timers]>,
    pub(super) servers: Box<[Server]>,
}

impl DlCpus {
    pub(crate) fn new(cpus: usize) -> DlCpus {
        DlCpus {
            cpus: (0..cpus).map(|_| CpuBw::default()).collect(),
            timers: (0..cpus).map(|_| Timers::default()).collect(),
            servers: (0..cpus).map(|_| Server::default()).collect(),
        }
    }

    /// running_bw of a CPU without its server's: what is in use, in 2^20ths of it.
    pub fn running_bw(&self, cpu: CpuId) -> u64 {
        self.cpus[cpu.index()].running.get()
    }

    /// this_bw of a CPU without its server's: what is assigned to it, in 2^20ths of it.
    pub fn this_bw(&self, cpu: CpuId) -> u64 {
        self.cpus[cpu.index()].this.get()
    }

    /// The server of a CPU that stands for the fair class.
    pub fn fair_server(&self, cpu: CpuId) -> &Server {
        &self.servers[cpu.index()]
    }
}
