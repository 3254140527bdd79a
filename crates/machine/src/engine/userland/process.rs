//! Fork, exec, exit and wait from the tasks' side.

use super::warmth::Warmth;
use crate::behaviour::{ForkKind, TaskSpec};
use crate::engine::hardware::hw::{Hw, Source};
use crate::engine::kernel::sim::{CommOf, Family, Parent, Progress, Sim, TaskCtx, Then};
use crate::engine::record::recorder::{RecordKind, Who};
use crate::outcome::{RunError, TaskOrigin};
use crate::rng::{Rng, TaskStream};
use crate::told::TaskStart;
use scheduler::fork::{NewTask, do_exit, new_task, sched_exec, sched_fork, wake_up_new_task};
use scheduler::{CpuId, CpuMask, Nanos, Pid, TaskId, TaskState, ThisCpu};

impl Sim {
    /// What the scheduler has to know about a task to be; an affinity without a CPU of this machine is an
    /// error.
    pub fn new_task(&self, pid: Pid, spec: &TaskSpec) -> Result<NewTask, RunError> {
        let asked = spec.cpus.unwrap_or(CpuMask::ALL);
        let cpus_allowed = asked.and(&self.k.online);
        if cpus_allowed.is_empty() {
            let (comm, cpus) = (spec.comm.as_str().into(), self.k.cpus());
            return Err(RunError::EmptyAffinity { pid, comm, asked, cpus });
        }
        Ok(NewTask { pid, policy: spec.policy, nice: spec.nice, cpus_allowed })
    }

    /// Notes how a task begins: at a time, or with a fork.
    pub fn note_start(&self, pid: Pid, spec: &TaskSpec, at: Option<Nanos>, cpu: Option<CpuId>) {
        self.hw().recorder.start(|| TaskStart {
            pid,
            at,
            cpu,
            comm: spec.comm.as_str().into(),
            policy: spec.policy,
            nice: spec.nice,
            cpus: spec.cpus,
            working_set_bytes: spec.working_set_bytes,
            timer_slack: spec.timer_slack,
            recorded_work: spec.recorded_work,
        });
    }

    /// The machine's side of a task that the scheduler has just created.
    pub fn register(&self, id: TaskId, pid: Pid, spec: TaskSpec, family: Family, origin: TaskOrigin) {
        let mut tasks = self.tasks.borrow_mut();
        let comm: Box<str> = spec.comm.as_str().into();
        self.comms.borrow_mut().push(CommOf { pid, since: self.hw().local_now(), comm: comm.clone() });
        let timer = match tasks.get(id.index()) {
            Some(former) => former.timer,
            // An idle task never sleeps. Fewer slots make a lower tree of events.
            None if id.index() < self.k.cpus() => self.hw().work_slot(CpuId(id.0 as u16)),
            None => self.hw().add_slot(Source::Timer(id)),
        };
        let parent = family.parent.and_then(|parent| tasks.get_mut(parent.task.index()));
        let (stream, process) = match parent {
            Some(parent) => {
                parent.forks += 1;
                // A thread belongs to its creator's process.
                let process = if family.thread { parent.process } else { pid };
                (parent.stream.of_child(parent.forks), process)
            }
            None => (TaskStream::of_first(pid), pid),
        };
        let ctx = TaskCtx {
            pid,
            comm,
            behaviour: spec.behaviour,
            progress: Progress::Ready,
            sections: None,
            done_ahead: spec.recorded_work.then_some(Nanos::ZERO),
            rng: Rng::of_task(self.seed, stream),
            stream,
            forks: 0,
            iterations: 0,
            time_under: Vec::new(),
            exited: None,
            last_child: None,
            timer,
            timer_slack: spec.timer_slack,
            working_set_bytes: spec.working_set_bytes,
            warmth: Warmth::default(),
            family,
            locks_held: 0,
            stepped_at: Nanos::ZERO,
            idle_steps: 0,
            origin,
            process,
        };
        match tasks.get_mut(id.index()) {
            Some(slot) => *slot = ctx,
            None => tasks.push(ctx),
        }
        if origin != TaskOrigin::Machine {
            self.live.set(self.live.get() + 1);
        }
    }

    /// Where the setup wants its task number `index` to start.
    pub fn spawn_cpu(&self, index: u32) -> Option<CpuId> {
        self.spawn_cpus[index as usize]
    }

    pub async fn fork(&self, me: ThisCpu<'_, Hw>, p: TaskId, spec: TaskSpec, kind: ForkKind) {
        self.syscall();
        let pid = Pid(self.next_pid.get());
        self.next_pid.set(pid.0 + 1);
        let new = match self.new_task(pid, &spec) {
            Ok(new) => new,
            Err(error) => return self.fail(error),
        };
        // Before the fork lets time pass, in which others may fork: slots are filled in the order of their
        // ids.
        let child = new_task(&self.k, new);
        let parent = Parent { task: p, pid: me.task(p).pid.get() };
        let vfork = kind == ForkKind::Vfork;
        let family = Family {
            parent: Some(parent),
            vfork_parent: vfork.then_some(parent),
            thread: kind == ForkKind::Thread,
            ..Family::default()
        };
        self.note_start(pid, &spec, None, None);
        self.register(child, pid, spec, family, TaskOrigin::Forked);
        sched_fork(me, child).await;
        self.hw()
            .recorder
            .note(me, self.hw().local_now(), || RecordKind::Fork { parent: parent.pid, child: pid });
        let costs = &self.hw().spec.costs;
        let thread = kind == ForkKind::Thread;
        let cost = if thread { costs.thread_create } else { costs.fork };
        self.with(p, |t| {
            t.last_child = Some(child);
            t.family.children += 1;
            t.progress = Progress::Kernel { left: cost, then: Then::Forked { child, vfork } };
        });
    }

    pub async fn forked(&self, me: ThisCpu<'_, Hw>, p: TaskId, child: TaskId, vfork: bool) {
        wake_up_new_task(me, child).await;
        // The child may be through already, and its slot have a new user.
        let me_as_parent = Parent { task: p, pid: me.task(p).pid.get() };
        if vfork && self.with(child, |t| t.family.vfork_parent == Some(me_as_parent)) {
            self.with(p, |t| t.family.in_vfork = true);
            self.block(me, p, TaskState::Uninterruptible, Then::Return).await;
        }
    }

    pub async fn exec(&self, me: ThisCpu<'_, Hw>, p: TaskId, comm: Box<str>) {
        self.syscall();
        let pid = self.with(p, |t| {
            t.comm = comm.clone();
            t.warmth = Warmth::default();
            t.progress = Progress::Kernel { left: self.hw().spec.costs.exec, then: Then::Execed };
            t.pid
        });
        self.comms.borrow_mut().push(CommOf { pid, since: self.hw().local_now(), comm });
        self.hw().recorder.note(me, self.hw().local_now(), || RecordKind::Exec { pid });
        sched_exec(me).await;
    }

    /// The parent that sleeps in vfork may go on.
    pub async fn complete_vfork(&self, me: ThisCpu<'_, Hw>, p: TaskId) {
        let parent = self.with(p, |t| t.family.vfork_parent.take());
        let Some(parent) = parent.filter(|parent| self.still_there(*parent)) else { return };
        if self.with(parent.task, |t| std::mem::take(&mut t.family.in_vfork)) {
            self.wake(me, parent.task, false).await;
        }
    }

    pub async fn wait_child(&self, me: ThisCpu<'_, Hw>, p: TaskId) {
        self.syscall();
        let sleep = self.with(p, |t| {
            t.family.waiting = t.family.zombies == 0 && t.family.children > 0;
            t.family.zombies = t.family.zombies.saturating_sub(1);
            t.family.waiting
        });
        if sleep {
            self.block(me, p, TaskState::Interruptible, Then::WaitChild).await;
        } else {
            self.hw().charge_ns(self.hw().spec.costs.wait);
        }
    }

    pub async fn exit(&self, me: ThisCpu<'_, Hw>, p: TaskId) {
        self.complete_vfork(me, p).await;
        let task = Who { pid: me.task(p).pid.get(), prio: me.task(p).prio.get() };
        self.hw().recorder.note(me, self.hw().local_now(), || RecordKind::Exit { task });
        let parent = self.with(p, |t| t.family.parent).filter(|parent| self.still_there(*parent));
        if let Some(parent) = parent {
            let waiting = self.with(parent.task, |t| {
                t.family.children -= 1;
                t.family.zombies += 1;
                std::mem::take(&mut t.family.waiting)
            });
            if waiting {
                self.wake(me, parent.task, true).await;
            }
        }
        self.live.set(self.live.get() - 1);
        do_exit(me).await;
        // Its counters are complete now; nobody else looks at the slot before it is used again.
        self.bury(p);
        self.k.tasks.reap(p);
    }
}
