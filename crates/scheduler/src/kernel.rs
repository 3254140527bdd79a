//! The scheduler as a whole, and the executing CPU that every path carries along.

use crate::dl::DlCpus;
use crate::domains::{SchedDomain, Topology};
use crate::fair::{FairRoot, Groups};
use crate::frequency::Frequencies;
use crate::mutex::MutexTable;
use crate::partitions::{Division, Partitions};
use crate::platform::{Access, Cost, Line, Platform};
use crate::registry::{ClusterLevel, Config, DelayedCount, Feature, IdleTick, UnequalCpus};
use crate::root_domain::RootDomain;
use crate::rq::RunQueue;
use crate::rt::Bandwidth;
use crate::select::Cursors;
use crate::shared::Kept;
use crate::stats::bump;
use crate::task::{Task, TaskTable};
use crate::{CpuId, CpuMask, Cpusets, Event, Nanos, Nice, Pid, Policy, Reason, TaskId};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

/// One Linux scheduler: all its run queues, tasks, mutexes and settings.
#[derive(Debug)]
pub struct Scheduler<P: Platform> {
    /// What it runs on.
    pub platform: P,
    /// Features, rules and tunables; they may change while the machine runs.
    pub config: Config,
    /// Every task. The idle task of CPU n is in slot n.
    pub tasks: TaskTable,
    /// Every mutex.
    pub mutexes: MutexTable,
    /// How much real-time tasks may use.
    pub rt_bandwidth: Bandwidth,
    /// Deadline bandwidth, timers and servers of each CPU.
    pub dl_cpus: DlCpus,
    /// What fair balancing shares between CPUs.
    pub fair_root: FairRoot,
    /// Task groups.
    pub groups: Groups,
    /// Frequencies at which CPUs can run, and run.
    pub frequencies: Frequencies,
    /// Which CPUs their tasks may use.
    pub cpusets: Cpusets,
    /// CPUs that stop their tick beside a single task (nohz_full=, deadline-groups B10).
    pub nohz_full: CpuMask,
    /// Totals since the start.
    pub totals: Totals,
    /// All CPUs.
    pub online: CpuMask,
    pub(crate) cursors: Cursors,
    pub(crate) roots: Box<[Rc<RootDomain>]>,
    /// That of each CPU: it is looked up often.
    pub(crate) root_of: Box<[Rc<RootDomain>]>,
    rqs: Box<[RunQueue]>,
    domains: Box<[Vec<SchedDomain>]>,
    llc: Box<[CpuMask]>,
    cache_ids: Box<[CpuId]>,
}

/// Machine-wide counters.
#[derive(Debug, Default)]
pub struct Totals {
    /// Successful wakeups, first ones after fork included.
    pub wakeups: Kept<u64>,
    /// Assignments of a task to another CPU.
    pub migrations: Kept<u64>,
    /// RT tasks pushed.
    pub pushes: Kept<u64>,
    /// RT tasks pulled.
    pub pulls: Kept<u64>,
    /// Interrupts that asked a CPU to push.
    pub push_ipis: Kept<u64>,
    /// Searches for the CPU of lowest RT priority.
    pub rt_searches: Kept<u64>,
    /// Time charged to them (rt-class 10.3).
    pub rt_search_time: Kept<Nanos>,
    /// Wakeups that preempted the running task (idle does not count).
    pub wakeup_preemptions: Kept<u64>,
    decisions: DecisionCounts,
}

#[derive(Debug)]
struct DecisionCounts([Kept<u64>; Reason::ALL.len()]);

impl Default for DecisionCounts {
    fn default() -> DecisionCounts {
        DecisionCounts(core::array::from_fn(|_| Kept::default()))
    }
}

impl Totals {
    /// How often a decision fell for this reason.
    pub fn decisions(&self, reason: Reason) -> u64 {
        self.decisions.0[reason as usize].get()
    }
}

impl<P: Platform> Scheduler<P> {
    /// A scheduler for a machine that is divided so; every CPU runs its idle task. `expected_tasks` more have
    /// their slots ready.
    ///
    /// # Panics
    /// With no CPU, or more than [`CpuId::LIMIT`]: the machine file's reader refuses those.
    pub fn new(
        platform: P,
        config: Config,
        topology: &Topology,
        partitions: &Partitions,
        expected_tasks: usize,
    ) -> Scheduler<P> {
        let cpus = topology.cpus;
        let rt_bandwidth = Bandwidth::new(cpus, &config);
        assert!((1..=CpuId::LIMIT).contains(&cpus), "1 to {} CPUs, not {cpus}", CpuId::LIMIT);
        let tasks = TaskTable::with_room_for(cpus + expected_tasks);
        let ids = || (0..cpus as u16).map(CpuId);
        for cpu in ids() {
            let idle = tasks.create(Pid(0), Policy::Normal, Nice::default(), CpuMask::single(cpu));
            tasks.get(idle).init_idle(cpu);
        }
        let seen = match config.rules.cluster_level.get() {
            ClusterLevel::On => topology.clone(),
            ClusterLevel::Off => topology.without_clusters(),
        };
        let Division { roots, root_of, domains, llc } = Division::of(&seen, partitions);
        Scheduler {
            platform,
            config,
            tasks,
            mutexes: MutexTable::default(),
            rt_bandwidth,
            dl_cpus: DlCpus::new(cpus),
            fair_root: FairRoot::new(&seen, &domains, &llc),
            groups: Groups::default(),
            frequencies: Frequencies::of(topology),
            cpusets: Cpusets::default(),
            nohz_full: CpuMask::EMPTY,
            totals: Totals::default(),
            online: CpuMask::first_n(cpus),
            cursors: Cursors::new(cpus),
            roots,
            root_of,
            rqs: ids().map(|c| RunQueue::new(c, TaskId(u32::from(c.0)), topology.capacity(c))).collect(),
            domains,
            cache_ids: ids().map(|c| llc[c.index()].first().unwrap_or(c)).collect(),
            llc,
        }
    }

    /// The run queue of `cpu`: its published side; the rest needs the lock.
    #[inline]
    pub fn rq(&self, cpu: CpuId) -> &RunQueue {
        &self.rqs[cpu.index()]
    }

    /// Every run queue, by CPU number.
    pub fn rqs(&self) -> &[RunQueue] {
        &self.rqs
    }

    pub(crate) fn rqs_mut(&mut self) -> impl Iterator<Item = &mut RunQueue> {
        self.rqs.iter_mut()
    }

    /// Number of CPUs.
    pub fn cpus(&self) -> usize {
        self.rqs.len()
    }

    /// The sched domains of `cpu`, smallest first.
    pub fn domains(&self, cpu: CpuId) -> &[SchedDomain] {
        &self.domains[cpu.index()]
    }

    /// Whether a CPU is in no sched domain (on_null_domain): it balances with nobody. A machine of one
    /// CPU has nobody to balance with, which is another matter.
    #[inline]
    pub(crate) fn is_on_null_domain(&self, cpu: CpuId) -> bool {
        self.domains(cpu).is_empty() && self.cpus() > 1
    }

    /// Whether two CPUs share a last-level cache, as far as the partition of the first one goes.
    pub fn cpus_share_cache(&self, a: CpuId, b: CpuId) -> bool {
        self.llc[a.index()].contains(b)
    }

    /// What a CPU is worth with all of its time, in 1024ths of the best one (arch_scale_cpu_capacity).
    #[inline]
    pub fn full_capacity(&self, cpu: CpuId) -> u64 {
        self.rq(cpu).published.pelt.capacity.full
    }

    /// The same at its present frequency.
    #[inline]
    pub fn present_capacity(&self, cpu: CpuId) -> u64 {
        self.rq(cpu).published.pelt.capacity.speed.get()
    }

    /// Whether the time of averages is not that of tasks on some CPU: it goes as fast as the CPU works.
    #[inline]
    pub(crate) fn has_pelt_clocks(&self) -> bool {
        self.fair_root.has_pelt_clocks
    }

    /// Whether tasks have to fit their CPUs, because these are not worth the same (deadline-groups C1).
    #[inline]
    pub(crate) fn tasks_must_fit(&self) -> bool {
        self.fair_root.is_asymmetric && self.config.rules.unequal_cpus.get() == UnequalCpus::Fit
    }

    /// Whether the platform's idle governor decides when the tick of an idle CPU stops (fair-placement 5.2).
    #[inline]
    pub fn idle_tick_is_governed(&self) -> bool {
        self.platform.has_idle_governor() && self.config.rules.idle_tick.get() != IdleTick::Always
    }

    /// The CPUs of its partition that share a last-level cache with `cpu`, itself included.
    pub fn llc_span(&self, cpu: CpuId) -> CpuMask {
        self.llc[cpu.index()]
    }

    /// How many these are (sd_llc_size).
    pub fn llc_size(&self, cpu: CpuId) -> u32 {
        self.fair_root.cache_size(self.cache_id(cpu))
    }

    /// Which last-level cache `cpu` has: the number of the lowest CPU that shares it.
    pub fn cache_id(&self, cpu: CpuId) -> CpuId {
        self.cache_ids[cpu.index()]
    }

    /// The task in a slot.
    #[inline]
    pub fn task(&self, id: TaskId) -> &Task {
        self.tasks.get(id)
    }

    /// Whether a task is the one that a CPU executes.
    pub fn task_running(&self, id: TaskId) -> bool {
        self.rq(self.task(id).cpu.get()).published.curr.get() == id
    }

    /// Whether `cpu` runs its idle task and nothing is queued there, nor handed over to it (idle_cpu).
    pub fn idle_cpu(&self, cpu: CpuId) -> bool {
        let rq = self.rq(cpu);
        rq.published.nr_running.get() == 0
            && rq.published.curr.get() == self.idle_task(cpu)
            && rq.wake_list.is_empty()
    }

    /// Runnable fair tasks of `cpu`, as balancing counts them.
    pub fn nr_fair(&self, cpu: CpuId) -> u32 {
        let rq = &self.rq(cpu).published;
        let rt = match self.rt_bandwidth.has_groups() {
            true => rq.rt_counted.get(),
            false if rq.rt_left_out.get() => 0,
            false => rq.rt_nr_running.get(),
        };
        let above = rt + rq.dl_nr_running.get() + rq.stop_nr_running.get();
        let queued = rq.nr_running.get() - above;
        match self.config.rules.delayed_count.get() {
            DelayedCount::LeftOut => queued - rq.nr_delayed.get(),
            DelayedCount::LeftOutAtWakeup | DelayedCount::Counted => queued,
        }
    }

    /// The idle task of `cpu`.
    pub fn idle_task(&self, cpu: CpuId) -> TaskId {
        TaskId(u32::from(cpu.0))
    }
}

/// The CPU that executes a kernel path: every path gets it first, and names it `me`.
#[derive(Debug)]
pub struct ThisCpu<'k, P: Platform> {
    /// The scheduler.
    pub k: &'k Scheduler<P>,
    /// Which CPU executes.
    pub id: CpuId,
}

impl<P: Platform> Clone for ThisCpu<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform> Copy for ThisCpu<'_, P> {}

impl<'k, P: Platform> ThisCpu<'k, P> {
    /// The executing CPU's clock.
    #[inline]
    pub fn now(self) -> Nanos {
        self.k.platform.now()
    }

    /// A task.
    #[inline]
    pub fn task(self, id: TaskId) -> &'k Task {
        self.k.tasks.get(id)
    }

    /// The task that this CPU executes.
    pub fn curr(self) -> TaskId {
        self.k.rq(self.id).published.curr.get()
    }

    /// Whether a feature is on.
    #[inline]
    pub fn has(self, feature: Feature) -> bool {
        self.k.config.has(feature)
    }

    /// Adds a cost to the path.
    #[inline]
    pub fn charge(self, cost: Cost) {
        self.k.platform.charge(cost);
    }

    /// Uses a shared cache line.
    #[inline]
    pub fn touch(self, line: Line, access: Access) {
        self.k.platform.touch(self.id, line, access);
    }

    /// Looks at what these CPUs publish.
    #[inline]
    pub fn scan(self, cpus: impl Iterator<Item = CpuId>) {
        self.k.platform.scan(self.id, cpus);
    }

    /// Tells about something that happened.
    #[inline]
    pub fn event(self, event: Event) {
        self.k.platform.event(self, event);
    }

    /// Counts and tells why a decision fell as it did.
    #[inline]
    pub fn decide(self, task: TaskId, reason: Reason) {
        if task.is_of_group() {
            // Decisions are about tasks; what a group's entity meets with, they meet with.
            return;
        }
        bump(&self.k.totals.decisions.0[reason as usize]);
        self.event(Event::Decision { task, reason });
    }
}
