//! The threads that do what interrupts leave (machine.md 1.7, 1.8, 2.2): ksoftirqd/N, a fair task; where
//! timers have a thread of their own, ktimers/N, FIFO 1; where interrupts of devices have, one of those, FIFO
//! 50 ([`super::irq_threads`]).
//!
//! Without PREEMPT_RT ksoftirqd does what a round in the interrupt has left, in rounds of the same kind:
//! while one goes on, nobody preempts it. With PREEMPT_RT the threads do everything, one piece after the
//! other, and whoever is higher comes in between. Whoever serves takes all that is there.
//!
//! Up to 6.17 a thread has its CPU's lock while it serves (`softirq_lock=per_cpu`): another one that comes
//! waits until that round is over, and lends its priority.

use super::interrupts::FROM_INTERRUPT;
use super::sim::Sim;
use crate::behaviour::{Behaviour, Env, TaskSpec};
use crate::engine::hardware::{CpuThreads, Hw, SoftWork, Softirq};
use crate::engine::userland::{Activity, Caller, Rest, Resume, Slow};
use crate::setup::{Setup, Spawn};
use crate::softirq::{Piece, Visits};
use crate::spec::MachineSpec;
use crate::step::Step;
use scheduler::fork::wake_up_new_task_on;
use scheduler::mutex::{FastPath, LockError, LockOutcome, lock_fast, unlock_fast};
use scheduler::registry::{Config, HrtimerContext, IrqThreads, SoftirqLock, SoftirqWhere, TimerThread};
use scheduler::wakeup::{WakeFlags, try_to_wake_up};
use scheduler::{CpuId, CpuMask, MutexId, Nanos, Policy, RtPriority, TaskId, TaskState, ThisCpu};

/// Which of these threads each CPU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CpuThreadPlan {
    has_ktimers: bool,
    has_irq: bool,
    excludes: bool,
    /// They appear with the first work, so that they cost nothing where there is none.
    on_demand: bool,
}

impl CpuThreadPlan {
    /// `None` in a run in which nothing is ever left to one.
    pub fn of(config: &Config, setup: &Setup, spec: &MachineSpec) -> Option<CpuThreadPlan> {
        let rules = &config.rules;
        let in_tasks = rules.softirq_where.get() == SoftirqWhere::Task;
        let raises = !setup.softirqs.is_empty() || rules.hrtimer_context.get() == HrtimerContext::ByPolicy;
        let has_irq = rules.irq_threads.get() == IrqThreads::Forced;
        let from_start = in_tasks || raises || has_irq;
        (from_start || spec.rcu_callback.is_some()).then(|| CpuThreadPlan {
            on_demand: !from_start,
            has_irq,
            has_ktimers: in_tasks && rules.timer_thread.get() == TimerThread::Ktimers,
            excludes: in_tasks && rules.softirq_lock.get() == SoftirqLock::PerCpu,
        })
    }

    /// The tasks, those of a CPU next to each other.
    pub fn spawns(self, cpus: usize) -> Vec<Spawn> {
        let fifo = |priority| RtPriority::new(priority).map_or(Policy::Normal, Policy::Fifo);
        let at = if self.on_demand { Nanos::NEVER } else { Nanos::ZERO };
        let of_cpu = |cpu: CpuId| {
            let irq = FIRST_IRQ + cpu.0;
            let all = [
                Some((format!("ksoftirqd/{cpu}"), Policy::Normal)),
                self.has_ktimers.then(|| (format!("ktimers/{cpu}"), fifo(1))),
                self.has_irq.then(|| (format!("irq/{irq}-dev"), fifo(50))),
            ];
            all.into_iter().flatten().map(move |(comm, policy)| thread(at, comm, policy, cpu))
        };
        (0..cpus as u16).map(CpuId).flat_map(of_cpu).collect()
    }
}

/// Number of the first CPU's interrupt of devices: as on a PC, below it are those of old hardware.
const FIRST_IRQ: u16 = 24;

fn thread(at: Nanos, comm: String, policy: Policy, cpu: CpuId) -> Spawn {
    let mut spec = TaskSpec::new(comm, Unasked);
    spec.kernel_thread = true;
    spec.policy = policy;
    spec.cpus = Some(CpuMask::single(cpu));
    Spawn { at, cpu: Some(cpu), thread: None, spec }
}

/// Their program is here, and not a behaviour's.
#[derive(Debug)]
struct Unasked;

impl Behaviour for Unasked {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        Step::Exit
    }
}

impl Sim {
    /// Tells the CPUs who their threads are: the tasks of [`CpuThreadPlan::spawns`], which begin at
    /// `first`.
    pub fn has_threads(&self, plan: CpuThreadPlan, first: TaskId) {
        let mut ids = (first.0..).map(TaskId);
        let mut take = || ids.next().unwrap_or(first);
        for cpu in self.k.online.iter() {
            let ksoftirqd = take();
            let ktimers = plan.has_ktimers.then(&mut take);
            let irq = plan.has_irq.then(&mut take);
            for thread in [Some(ksoftirqd), ktimers, irq].into_iter().flatten() {
                self.user.tasks.set_activity(thread, Activity::InCall(Resume::Softirq));
            }
            let lock = plan.excludes.then(|| self.k.mutexes.create_rtlock());
            self.hw().cpu(cpu).threads.set(Some(CpuThreads { ksoftirqd, ktimers, irq, lock }));
        }
    }

    /// Whether no soft interrupt is served on the way out of an interrupt.
    pub fn softirqs_are_in_tasks(&self) -> bool {
        self.k.config.rules.softirq_where.get() == SoftirqWhere::Task
    }

    /// An interrupt of the executing CPU ends, and has put work into the list: who is to do it is woken,
    /// unless the interrupt does it itself. A thread whose round is under way does it in that round, as long
    /// as no other one can come in between; but a thread of timers is woken, and lends it its priority.
    pub async fn wakes_softirq_threads(&self, me: ThisCpu<'_, Hw>) {
        let hw = self.hw().cpu(me.id);
        let Some(threads) = hw.threads.get().filter(|_| self.softirqs_are_in_tasks()) else { return };
        hw.softirq.set(Softirq::LeftToThread);
        let timers = hw.softirq_list.borrow().iter().any(|work| work.is_timer());
        let others = hw.softirq_list.borrow().iter().any(|work| !work.is_timer());
        let in_round =
            threads.lock.is_some_and(|lock| self.k.mutexes.living_owner(lock, &self.k.tasks).is_some());
        if timers && let Some(ktimers) = threads.ktimers {
            try_to_wake_up(me, ktimers, FROM_INTERRUPT).await;
        }
        if !in_round && (others || threads.ktimers.is_none()) {
            try_to_wake_up(me, threads.ksoftirqd, FROM_INTERRUPT).await;
        }
    }

    /// A round has left something.
    pub(super) async fn wake_ksoftirqd(&self, me: ThisCpu<'_, Hw>) {
        let Some(CpuThreads { ksoftirqd, .. }) = self.hw().cpu(me.id).threads.get() else { return };
        if me.task(ksoftirqd).state.get() == TaskState::New {
            wake_up_new_task_on(me, ksoftirqd, Some(me.id)).await;
        } else {
            try_to_wake_up(me, ksoftirqd, FROM_INTERRUPT).await;
        }
    }

    /// A thread has nothing under way: it begins a round, or sleeps.
    pub(super) fn looks_for_softirqs(&self, call: Caller<'_>) -> Rest {
        let hw = self.hw().cpu(call.me.id);
        let handles = self.handles_irqs(call);
        let nothing =
            if handles { hw.irq_list.borrow().is_empty() } else { hw.softirq_list.borrow().is_empty() };
        if nothing {
            return call.sleeps(TaskState::Interruptible, Resume::Softirq);
        }
        if !self.softirqs_are_in_tasks() && !handles {
            call.does(Activity::InCall(Resume::Softirq));
            return call.slowly(Slow::SoftirqRound);
        }
        match self.softirq_lock_of(call) {
            Some(lock) if lock_fast(call.me, call.p, lock) == FastPath::EnterKernel => {
                call.slowly(Slow::SoftirqLock(lock))
            }
            _ => self.begins_round(call),
        }
    }

    /// Whether it is the thread of the interrupts of devices.
    pub(super) fn handles_irqs(&self, call: Caller<'_>) -> bool {
        self.hw().cpu(call.me.id).threads.get().is_some_and(|threads| threads.irq == Some(call.p))
    }

    fn softirq_lock_of(&self, call: Caller<'_>) -> Option<MutexId> {
        self.hw().cpu(call.me.id).threads.get().and_then(|threads| threads.lock)
    }

    fn begins_round(&self, call: Caller<'_>) -> Rest {
        call.does(Activity::InCall(Resume::SoftirqRound));
        Rest::Nothing
    }

    /// It has come to the lock, or again.
    pub(super) async fn softirq_lock(&self, call: Caller<'_>, outcome: Result<LockOutcome, LockError>) {
        match outcome {
            Ok(LockOutcome::Acquired) => call.does(Activity::InCall(Resume::SoftirqRound)),
            // Who has the lock is of the same CPU, and does not run.
            Ok(LockOutcome::Sleep | LockOutcome::Spin) => {
                call.does(Activity::InCall(Resume::SoftirqLock));
                call.schedule().await;
            }
            // It waits for this lock alone, and does not have it.
            Err(error) => unreachable!("{error}"),
        }
    }

    pub(super) fn locks_softirqs_again(&self, call: Caller<'_>) -> Rest {
        match self.softirq_lock_of(call) {
            Some(lock) => call.slowly(Slow::SoftirqLockAgain(lock)),
            None => self.begins_round(call),
        }
    }

    /// The next piece of a round, or its end.
    pub(super) fn serves_softirq(&self, call: Caller<'_>) -> Rest {
        if let Some(rest) = self.handles_irq(call) {
            return rest;
        }
        let hw = self.hw().cpu(call.me.id);
        let next = if self.softirqs_are_in_tasks() { hw.softirq_list.borrow_mut().pop_front() } else { None };
        let Some(work) = next else { return self.ends_round(call) };
        if hw.softirq_list.borrow().is_empty() {
            hw.softirq.set(Softirq::Empty);
        }
        call.does(Activity::InCall(Resume::SoftirqRound));
        match work {
            SoftWork::Timer(task) => {
                self.hw().charge_work(self.hw().spec.costs.timer_expiry);
                Rest::Wake { task, flags: WakeFlags { sync: false, interrupt: true, exiting: false } }
            }
            SoftWork::Message(message) => call.slowly(Slow::Message(message)),
            SoftWork::Balance(balancing) => call.slowly(Slow::Balance(balancing)),
            SoftWork::Tasklet(timer) => {
                let left = self.surroundings.softirqs[timer as usize].work;
                let then = Resume::TaskletDone { timer, began: self.hw().local_now() };
                call.does(Activity::Kernel { left, then });
                Rest::Nothing
            }
            SoftWork::Callbacks => {
                let left = self.takes_callbacks(call.me);
                call.does(Activity::in_kernel(left, Resume::SoftirqRound));
                Rest::Nothing
            }
        }
    }

    fn ends_round(&self, call: Caller<'_>) -> Rest {
        call.does(Activity::InCall(Resume::Softirq));
        match self.softirq_lock_of(call) {
            Some(lock) if unlock_fast(call.me, call.p, lock) == Ok(FastPath::EnterKernel) => {
                call.slowly(Slow::SoftirqUnlock(lock))
            }
            _ => Rest::Nothing,
        }
    }

    /// The work of a timer of the setup is done; others may have run in between.
    pub(super) fn tasklet_is_done(&self, call: Caller<'_>, timer: u32, began: Nanos) -> Rest {
        let (ended, visits) = (self.hw().local_now(), Visits::default());
        let piece = Piece { pass_began: began, began, ended, visits };
        self.surroundings.softirqs[timer as usize].tally.done(piece);
        self.begins_round(call)
    }
}
