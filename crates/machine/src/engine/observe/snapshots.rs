//! Takes the snapshots that a run was asked for.

use super::view::View;
use crate::snapshot::{BudgetSnapshot, CpuSnapshot, DomainSnapshot, Snapshot, SnapshotPlan, TaskSnapshot};
use scheduler::fair::Granularities;
use scheduler::rq::{RqState, RunQueue};
use scheduler::{Class, GroupId, Nanos, Pid, Policy, TaskId, TaskState};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What has been taken so far.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    plan: SnapshotPlan,
    /// Begun and waiting for queues whose lock is held.
    begun: RefCell<Vec<Begun>>,
    done: RefCell<Vec<Snapshot>>,
    exited: RefCell<Vec<TaskSnapshot>>,
}

/// A snapshot that lacks the CPUs which are `None`.
#[derive(Debug)]
struct Begun {
    snapshot: Snapshot,
    cpus: Vec<Option<CpuSnapshot>>,
}

impl Snapshots {
    pub fn new(plan: SnapshotPlan) -> Snapshots {
        Snapshots { plan, ..Snapshots::default() }
    }

    /// Begins the snapshot of this moment.
    pub fn begin(&self, view: View<'_>, at: Nanos) {
        let threads = view.threads();
        let known = view.user.tasks.known(view.k);
        let mut tasks: Vec<TaskSnapshot> = known.map(|p| view.task_snapshot(p, &threads)).collect();
        tasks.sort_by_key(|t| t.pid);
        let config = view.k.config.clone();
        let granularities = Granularities::new(&config, view.k.cpus());
        let snapshot = Snapshot { at, config, granularities, cpus: Vec::new(), tasks };
        let cpus = (0..view.k.cpus()).map(|_| None).collect();
        self.begun.borrow_mut().push(Begun { snapshot, cpus });
    }

    /// Whether one has begun and lacks queues.
    #[inline]
    pub fn is_under_way(&self) -> bool {
        !self.begun.borrow().is_empty()
    }

    /// Adds those queues to the snapshots that have begun whose lock is free now. Called between two events.
    pub fn go_on(&self, view: View<'_>) {
        let mut begun = self.begun.borrow_mut();
        for Begun { cpus, .. } in begun.iter_mut() {
            for (slot, rq) in cpus.iter_mut().zip(view.k.rqs()).filter(|(slot, _)| slot.is_none()) {
                *slot = rq.inspect().map(|state| view.cpu_snapshot(rq, &state));
            }
        }
        let complete = |b: &mut Begun| b.cpus.iter().all(Option::is_some);
        for Begun { mut snapshot, cpus } in begun.extract_if(.., complete) {
            snapshot.cpus = cpus.into_iter().flatten().collect();
            self.done.borrow_mut().push(snapshot);
        }
    }

    /// At the end of the run, when no lock is held.
    pub fn end(&self, view: View<'_>, end: Nanos) {
        if self.plan.at_end {
            self.begin(view, end);
        }
        self.go_on(view);
    }

    /// A task that is about to give its slot back is kept, if somebody asked for it.
    pub fn keep_exited(&self, view: View<'_>, p: TaskId) {
        if self.plan.exited.contain(view.k.task(p).pid.get()) {
            let task = view.task_snapshot(p, &view.threads());
            self.exited.borrow_mut().push(task);
        }
    }

    /// Hands out the snapshots in the order in which they were completed.
    pub fn take(&self) -> Vec<Snapshot> {
        self.done.take()
    }

    /// Hands out the exited tasks that were kept.
    pub fn take_exited(&self) -> Vec<TaskSnapshot> {
        self.exited.take()
    }
}

impl View<'_> {
    /// Living threads of each process, by the pid of its first thread.
    fn threads(self) -> BTreeMap<Pid, u32> {
        let mut threads = BTreeMap::new();
        for p in self.user.tasks.known(self.k) {
            *threads.entry(self.user.tasks.with(p, |t| t.process)).or_default() += 1;
        }
        threads
    }

    fn task_snapshot(self, p: TaskId, threads: &BTreeMap<Pid, u32>) -> TaskSnapshot {
        let task = self.k.task(p);
        self.user.tasks.with(p, |t| TaskSnapshot {
            pid: t.pid,
            comm: t.comm.clone(),
            threads: threads.get(&t.process).copied().unwrap_or(1),
            cpu: task.cpu.get(),
            on_rq: task.on_rq.get(),
            running: task.class.get() != Class::Idle && self.k.task_running(p),
            state: task.state.get(),
            policy: task.policy.get(),
            prio: task.prio.get(),
            weight: task.se.weight(),
            vruntime: task.se.vruntime.get(),
            group: task.se.group.get(),
            budget: matches!(task.policy.get(), Policy::Deadline(_))
                .then(|| BudgetSnapshot { runtime_ns: task.dl.runtime_ns(), deadline: task.dl.deadline() }),
            average: task.se.pelt.average.clone(),
            estimate: task.se.pelt.estimate.clone(),
            deadline: task.se.eevdf.deadline.get(),
            slice: task.se.eevdf.slice.get(),
            custom_slice: task.se.eevdf.custom_slice.get(),
            penalty: task.se.penalty.get(),
            pen_timeout: task.se.pen_timeout.get(),
            averages: task.se.averages.clone(),
            stats: task.stats.clone(),
        })
    }

    fn cpu_snapshot(self, rq: &RunQueue, state: &RqState) -> CpuSnapshot {
        let published = &rq.published;
        let asleep = |p: &TaskId| {
            let task = self.k.task(*p);
            task.state.get() == TaskState::Uninterruptible && task.cpu.get() == rq.cpu && !task.on_rq.get()
        };
        let domain = |d: &scheduler::SchedDomain| DomainSnapshot {
            kind: d.kind,
            span: d.span,
            balancing: d.balance.counts.clone(),
            counts: d.balance.other_counts.clone(),
        };
        CpuSnapshot {
            cpu: rq.cpu,
            curr: self.k.task(state.curr).pid.get(),
            clock: state.clock,
            clock_task: state.clock.saturating_sub(published.left_out.get()),
            nr_running: state.nr_running,
            load: published.load.get(),
            nr_switches: state.nr_switches,
            nr_uninterruptible: self.user.tasks.known(self.k).filter(asleep).count() as u64,
            next_balance: published.balance.next_balance.get(),
            cpu_load: published.cpu_load.each_ref().map(|c| c.get()),
            avg_idle: published.balance.avg_idle(),
            max_idle_balance_cost: published.balance.max_idle_balance_cost.get(),
            counts: published.counts.clone(),
            fair: self.fair_queue(rq, state, GroupId::ROOT),
            fair_groups: self.fair_group_queues(rq, state),
            rt: self.rt_queue(rq, state),
            rt_groups: self.rt_group_queues(rq, state),
            dl: self.dl_queue(rq, state),
            domains: self.k.domains(rq.cpu).iter().map(domain).collect(),
        }
    }
}
