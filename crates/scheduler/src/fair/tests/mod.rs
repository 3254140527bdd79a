//! The decision tables and worked examples of the spec (fair-class 4 to 8, appendix A), by chapter.

mod balance;
mod buddies;
mod counters;
mod dynamics;
mod edges;
mod eevdf;
mod fork;
mod frozen;
pub mod groups;
mod habits;
mod levels;
mod limits;
mod modern;
mod parking;
mod placement;
mod profiles;
mod random;
mod select;
mod start_nice;
mod tick;
mod tracking;
mod wakeup;

use super::cfs::{leave_timeline, sched_slice, task_tick, wait_in_timeline};
use super::queue::{EntityId, update_curr};
use super::vruntime::lag;
use crate::fork::{NewTask, new_task, sched_fork, wake_up_new_task};
use crate::rq::Resched;
use crate::testing::{Lab, cpus};
use crate::{
    CpuId, CpuMask, Event, LevelKind, Nanos, Nice, Pid, Policy, Reason, TaskId, Topology, TopologyLevel,
};
use alloc::vec::Vec;

/// Milliseconds as ns.
fn ms(value: f64) -> u64 {
    (value * 1e6).round() as u64
}

/// The machine of seed 004: four cores, two pairs that share a cache.
pub(in crate::fair) fn q6600() -> Topology {
    let level =
        |kind, spans: &[&[u16]]| TopologyLevel { kind, spans: spans.iter().map(|s| cpus(s)).collect() };
    Topology::of(
        4,
        [level(LevelKind::Mc, &[&[0, 1], &[2, 3]]), level(LevelKind::Package, &[&[0, 1, 2, 3]])].into(),
    )
}

impl Lab {
    /// Sets a CPU's min_vruntime, in ms.
    fn set_floor(&self, cpu: u16, value: f64) {
        self.k.rq(CpuId(cpu)).published.min_vruntime.overwrite(ms(value));
    }

    fn floor(&self, cpu: u16) -> u64 {
        self.k.rq(CpuId(cpu)).published.min_vruntime.get()
    }

    /// Sets a task's virtual runtime, in ms; a waiting one moves in the timeline.
    fn set_vr(&self, p: TaskId, value: f64) {
        let task = self.k.task(p);
        let mut rq = self.run(self.cpu(0).lock(task.cpu.get()));
        let waits = task.se.in_timeline.get();
        leave_timeline(&mut rq, EntityId::of(p));
        task.se.vruntime.set(ms(value));
        task.se.relative.set(false);
        if waits {
            wait_in_timeline(&mut rq, EntityId::of(p));
        }
    }

    /// A task's virtual runtime, in ns.
    fn vr(&self, p: TaskId) -> u64 {
        self.k.task(p).se.vruntime.get()
    }

    /// Virtual runtime relative to the floor of the task's queue, in ns.
    fn distance(&self, p: TaskId) -> i64 {
        lag(self.vr(p), self.floor(self.cpu_of(p)))
    }

    /// CPU time of the running task since it was picked, in ms.
    fn set_ran(&self, cpu: u16, value: f64) {
        let stats = &self.k.task(self.running(cpu)).stats;
        stats.sum_exec_runtime.set(stats.prev_sum_exec_runtime.get() + Nanos(ms(value)));
    }

    /// The running task's slice on its queue, in ns.
    fn slice(&self, cpu: u16) -> u64 {
        let rq = self.run(self.cpu(cpu).lock(CpuId(cpu)));
        sched_slice(&rq, self.k.task(rq.curr))
    }

    /// Time passes on a CPU and is charged to the task running there.
    fn charge(&self, cpu: u16, value: f64) {
        self.advance(Nanos(ms(value)));
        let mut rq = self.run(self.cpu(cpu).lock(CpuId(cpu)));
        rq.update_clock();
        update_curr(&mut rq);
    }

    /// The fair part of a tick; whether it asks for a reschedule.
    fn tick_asks(&self, cpu: u16) -> bool {
        let mut rq = self.run(self.cpu(cpu).lock(CpuId(cpu)));
        let curr = rq.curr;
        task_tick(&mut rq, curr);
        rq.published.resched.replace(&rq, Resched::No) != Resched::No
    }

    /// The task running on `cpu` starts a fork.
    fn fork_start(&self, cpu: u16, nice: i8) -> TaskId {
        let nice = Nice::new(nice).expect("-20 to 19");
        let new = NewTask {
            pid: Pid(1000),
            policy: Policy::Normal,
            nice,
            cpus_allowed: CpuMask::ALL,
            kernel_thread: false,
            group: crate::GroupId::ROOT,
        };
        let child = new_task(&self.k, new);
        self.run(sched_fork(self.cpu(cpu), child));
        child
    }

    /// The task running on `cpu` forks; nothing is rescheduled yet.
    fn fork(&self, cpu: u16, nice: i8) -> TaskId {
        let child = self.fork_start(cpu, nice);
        self.run(wake_up_new_task(self.cpu(cpu), child));
        child
    }

    /// The reason of the first decision since the events were forgotten.
    fn first_decision(&self) -> Reason {
        let events = self.k.platform.events.borrow();
        let reason = events.iter().find_map(|e| match e {
            Event::Decision { reason, .. } => Some(*reason),
            _ => None,
        });
        reason.expect("something was decided")
    }

    /// All reasons since the events were forgotten.
    fn decisions(&self) -> Vec<Reason> {
        let events = self.k.platform.events.borrow();
        let reason = |e: &Event| match e {
            Event::Decision { reason, .. } => Some(*reason),
            _ => None,
        };
        events.iter().filter_map(reason).collect()
    }

    /// Whether this is the reason of the last decision.
    fn decided_last(&self, reason: Reason) -> bool {
        let decisions = |e: &Event| match e {
            Event::Decision { reason, .. } => Some(*reason),
            _ => None,
        };
        self.k.platform.events.borrow().iter().rev().find_map(decisions) == Some(reason)
    }

    /// Normal tasks of these nice values on `cpu`; the first one runs.
    fn crowd(&self, cpu: u16, nices: &[i8]) -> Vec<TaskId> {
        let all = nices.iter().map(|n| {
            let p = self.spawn_unsettled(Policy::Normal, *n, cpu, CpuMask::ALL);
            self.settle();
            p
        });
        all.collect()
    }
}
