//! Processes and threads: how tasks are made, become others, and leave.

use super::activity::{Activity, Resume};
use super::caller::Caller;
use super::cpuset::within_cpuset;
use super::family::{Family, Parent};
use super::in_sections::SectionsOfTask;
use super::rest::Rest;
use super::sched_calls;
use super::tasks::{LocksHeld, TaskCtx, Tasks};
use super::warmth::Warmth;
use crate::behaviour::{ForkKind, TaskSpec};
use crate::engine::hardware::{Hw, Source};
use crate::engine::record::words;
use crate::outcome::{RunError, TaskOrigin};
use crate::rng::{Rng, TaskStream};
use crate::setup::FIRST_PID;
use crate::spec::Operation;
use crate::told::TaskStart;
use scheduler::dl::NotAdmitted;
use scheduler::fork::{NewTask, do_exit, new_task, sched_fork, wake_up_new_task};
use scheduler::wakeup::{WakeFlags, try_to_wake_up};
use scheduler::{Class, CpuId, CpuMask, GroupId, Nanos, Pid, Policy, Scheduler, TaskId, TaskState, ThisCpu};
use schema::LogEvent;
use std::cell::Cell;

/// Which tasks there are and have been.
#[derive(Debug)]
pub(crate) struct Processes {
    /// The tasks' random streams derive from it.
    pub seed: Cell<u64>,
    next_pid: Cell<i32>,
    /// Tasks that have not exited.
    pub live: Cell<usize>,
}

/// A task that the scheduler has just created.
pub(crate) struct Newcomer {
    pub id: TaskId,
    pub pid: Pid,
    pub family: Family,
    pub origin: TaskOrigin,
}

/// What the scheduler has to know about a task to be. If it is to bind itself to one CPU, it says from here
/// on to which.
///
/// # Errors
/// An affinity without a CPU of this machine or of its cpuset, or a group that the setup does not have.
pub(crate) fn as_new_task(
    k: &Scheduler<Hw>,
    pid: Pid,
    spec: &mut TaskSpec,
    parent: Option<TaskId>,
) -> Result<NewTask, RunError> {
    let asked = spec.cpus.unwrap_or(CpuMask::ALL);
    let cpus_allowed = asked.and(&k.online);
    if cpus_allowed.is_empty() {
        let (comm, cpus) = (spec.comm.as_str().into(), k.cpus());
        return Err(RunError::EmptyAffinity { pid, comm, asked, cpus });
    }
    let group = spec.group.or(parent.map(|p| k.task(p).se.group.get())).unwrap_or(GroupId::ROOT);
    if group.index() > k.groups.len() {
        let (comm, groups) = (spec.comm.as_str().into(), k.groups.len());
        return Err(RunError::NoSuchGroup { pid, comm, group: group.0, groups });
    }
    let mut cpus_allowed = match spec.cpus {
        _ if spec.kernel_thread && cpus_allowed.weight() == 1 => cpus_allowed,
        None => cpus_allowed.and(&k.cpusets.of(group).by_default),
        Some(asked) => within_cpuset(k, group, asked).map_err(|cpus| {
            let comm = spec.comm.as_str().into();
            RunError::OutsideCpuset { pid, comm, asked: asked.into(), cpus }
        })?,
    };
    if let Some(number) = spec.nth_cpu.take() {
        let nth = cpus_allowed.iter().nth((number % cpus_allowed.weight().max(1)) as usize);
        cpus_allowed = nth.map_or(cpus_allowed, CpuMask::single);
        spec.cpus = Some(cpus_allowed);
    }
    Ok(NewTask {
        pid,
        policy: spec.policy,
        nice: spec.nice,
        cpus_allowed,
        kernel_thread: spec.kernel_thread,
        group,
    })
}

/// Notes how a task begins: at a time, or with a fork.
pub(crate) fn note_start(hw: &Hw, pid: Pid, spec: &TaskSpec, at: Option<Nanos>, cpu: Option<CpuId>) {
    hw.recorder.start(|| TaskStart {
        pid,
        at,
        cpu,
        comm: spec.comm.as_str().into(),
        policy: spec.policy,
        nice: spec.nice,
        cpus: spec.cpus,
        working_set_bytes: spec.working_set_bytes,
        reads_bytes_per_us: spec.reads_bytes_per_us,
        timer_slack: spec.timer_slack,
        recorded_work: spec.recorded_work,
        kernel_thread: spec.kernel_thread,
    });
}

impl Processes {
    /// `spawned` tasks have the first pids.
    pub fn new(seed: u64, spawned: usize) -> Processes {
        Processes {
            seed: Cell::new(seed),
            next_pid: Cell::new(FIRST_PID + spawned as i32),
            live: Cell::new(0),
        }
    }

    /// Makes the machine's side of a task, for whom `me` asks.
    pub fn register(&self, me: ThisCpu<'_, Hw>, tasks: &Tasks, new: Newcomer, spec: TaskSpec) {
        let (k, hw, Newcomer { id, pid, family, origin }) = (me.k, &me.k.platform, new);
        hw.recorder.has_pid(id, pid);
        let comm: Box<str> = spec.comm.as_str().into();
        hw.note(me.id, || LogEvent::Comm { of: words::pid(pid), comm: comm.clone() });
        let allowed = k.task(id).cpus_allowed.get();
        if !k.online.is_subset(&allowed) {
            hw.note_detail(me.id, || words::cpus_allowed(pid, allowed));
        }
        let timer = tasks.with_known(id, |former| former.timer).unwrap_or_else(|| {
            // No timer wakes an idle task or a stopper. Fewer slots make a lower tree of events.
            match k.task(id).class.get() {
                Class::Idle | Class::Stop => hw.work_slot(k.task(id).cpu.get()),
                Class::Deadline | Class::Rt | Class::Fair => hw.add_slot(Source::Timer(id)),
            }
        });
        let of_parent = family.parent.and_then(|parent| {
            tasks.with_known(parent.task, |parent| {
                parent.forks += 1;
                // A thread belongs to its creator's process.
                let process = if family.thread { parent.process } else { pid };
                (parent.stream.of_child(parent.forks.into()), process)
            })
        });
        let (stream, process) = of_parent.unwrap_or_else(|| (TaskStream::of_first(pid), pid));
        let ctx = TaskCtx {
            pid,
            comm,
            behaviour: spec.behaviour,
            activity: Activity::Ready,
            sections: SectionsOfTask::default(),
            done_ahead: spec.recorded_work.then_some(Nanos::ZERO),
            rng: Rng::of_task(self.seed.get(), stream),
            stream,
            forks: 0,
            requests: 0,
            iterations: 0,
            time_under: Vec::new(),
            exited: None,
            last_child: None,
            timer,
            timer_slack: spec.timer_slack,
            timer_is_soft: false,
            timer_base: CpuId(0),
            working_set_bytes: spec.working_set_bytes,
            reads_bytes_per_us: spec.reads_bytes_per_us,
            warmth: Warmth::default(),
            family,
            kernel_lock: None,
            had_channel_lock: false,
            for_mutex: None,
            locks_held: LocksHeld::default(),
            stepped_at: Nanos::ZERO,
            idle_steps: 0,
            origin,
            process,
        };
        tasks.insert(id, ctx);
        if origin != TaskOrigin::Machine {
            self.live.set(self.live.get() + 1);
        }
    }

    /// fork, vfork or pthread_create.
    pub async fn fork(&self, call: Caller<'_>, mut spec: TaskSpec, kind: ForkKind) {
        let (me, hw) = (call.me, call.hw());
        // deadline-groups A2: without SCHED_FLAG_RESET_ON_FORK, which no load has.
        if matches!(me.task(call.p).policy.get(), Policy::Deadline(_)) {
            return call.refused(NotAdmitted::Fork);
        }
        let pid = Pid(self.next_pid.get());
        self.next_pid.set(pid.0 + 1);
        let new = match as_new_task(me.k, pid, &mut spec, Some(call.p)) {
            Ok(new) => new,
            Err(error) => return hw.recorder.fail(error),
        };
        // Before the fork lets time pass, in which others may fork: slots are filled in the order of their
        // ids.
        let child = new_task(me.k, new);
        let parent = Parent { task: call.p, pid: me.task(call.p).pid.get() };
        let (vfork, thread) = (kind == ForkKind::Vfork, kind == ForkKind::Thread);
        let family = Family {
            parent: Some(parent),
            vfork_parent: vfork.then_some(parent),
            thread,
            ..Family::default()
        };
        note_start(hw, pid, &spec, None, None);
        let newcomer = Newcomer { id: child, pid, family, origin: TaskOrigin::Forked };
        self.register(me, call.tasks, newcomer, spec);
        sched_fork(me, child).await;
        hw.note(me.id, || LogEvent::SchedProcessFork {
            parent: words::pid(parent.pid),
            child: words::pid(pid),
        });
        let costs = &hw.spec.costs;
        let (operation, cost) =
            if thread { (Operation::Thread, costs.thread_create) } else { (Operation::Fork, costs.fork) };
        let cost = call.with_locks(operation, cost);
        call.with(|t| {
            t.last_child = Some(child);
            t.family.children += 1;
            t.activity = Activity::Kernel { left: cost, then: Resume::Forked { child, vfork } };
        });
    }

    /// execve: the old image goes; [`scheduler::fork::sched_exec`] follows.
    pub fn exec(&self, call: Caller<'_>, comm: Box<str>) {
        let hw = call.hw();
        call.syscall();
        let left = call.with_locks(Operation::Exec, hw.spec.costs.exec);
        let pid = call.with(|t| {
            t.comm = comm.clone();
            t.warmth = Warmth::default();
            t.activity = Activity::Kernel { left, then: Resume::Execed };
            t.pid
        });
        let of = words::pid(pid);
        hw.note(call.me.id, || LogEvent::Comm { of, comm });
        hw.note(call.me.id, || LogEvent::SchedProcessExec { of });
    }

    /// exit, after everything has been given back. The task's counters are complete then, and its slot can be
    /// used again.
    pub async fn exit(&self, call: Caller<'_>) {
        let me = call.me;
        if let Some(parent) = vfork_ends(call) {
            call.wake(parent).await;
        }
        call.hw().note(me.id, || LogEvent::SchedProcessExit { task: words::task_ref(me, call.p) });
        let parent = call.with(|t| t.family.parent).filter(|parent| parent.is_still_there(me.k));
        if let Some(parent) = parent {
            let waiting = call.tasks.with(parent.task, |t| {
                t.family.children -= 1;
                t.family.zombies += 1;
                std::mem::take(&mut t.family.waiting)
            });
            if waiting {
                let flags = WakeFlags { sync: true, interrupt: false, exiting: true };
                try_to_wake_up(me, parent.task, flags).await;
            }
        }
        self.live.set(self.live.get() - 1);
        call.hw().note_detail(me.id, || LogEvent::Schedule {});
        do_exit(me).await;
    }
}

/// The child has been copied: it starts, and a parent in vfork sleeps until it execs or exits.
pub(crate) async fn forked(call: Caller<'_>, child: TaskId, vfork: bool) {
    let me = call.me;
    if !sched_calls::is_let_in(Caller { p: child, ..call }) {
        return;
    }
    wake_up_new_task(me, child).await;
    // The child may be through already, and its slot have a new user.
    let me_as_parent = Parent { task: call.p, pid: me.task(call.p).pid.get() };
    if vfork && call.tasks.with(child, |t| t.family.vfork_parent == Some(me_as_parent)) {
        call.with(|t| t.family.in_vfork = true);
        call.sleeps(TaskState::Uninterruptible, Resume::Return);
        call.schedule().await;
    }
}

/// The task has its own memory now, or leaves: the parent that sleeps in vfork, and may go on.
fn vfork_ends(call: Caller<'_>) -> Option<TaskId> {
    let parent = call.with(|t| t.family.vfork_parent.take())?;
    let sleeps = parent.is_still_there(call.me.k)
        && call.tasks.with(parent.task, |t| std::mem::take(&mut t.family.in_vfork));
    sleeps.then_some(parent.task)
}

/// The new image is there.
pub(crate) fn execed(call: Caller<'_>) -> Rest {
    vfork_ends(call).map_or(Rest::Nothing, Rest::wake)
}

/// wait(2) for any child.
pub(crate) fn wait_child(call: Caller<'_>) -> Rest {
    call.syscall();
    let sleeps = call.with(|t| {
        t.family.waiting = t.family.zombies == 0 && t.family.children > 0;
        t.family.zombies = t.family.zombies.saturating_sub(1);
        t.family.waiting
    });
    if sleeps {
        return call.sleeps(TaskState::Interruptible, Resume::WaitChild);
    }
    call.hw().charge_work(call.hw().spec.costs.wait);
    Rest::Nothing
}

/// exit begins; how long giving everything back takes.
pub(crate) fn exit_begins(call: Caller<'_>) -> Nanos {
    let now = call.hw().local_now();
    let thread = call.with(|t| {
        t.exited = Some(now);
        t.family.thread
    });
    let costs = &call.hw().spec.costs;
    let (operation, cost) =
        if thread { (Operation::Thread, costs.thread_exit) } else { (Operation::Exit, costs.exit) };
    call.with_locks(operation, cost)
}
