//! Run queues behind their locks.
//!
//! What a lock protects is reachable only through its guard ([`RqGuard`]); what the kernel reads without the
//! lock lies beside it as [`Published`] cells. Whoever needs a second lock gives the first guard away and
//! gets two new ones back (`double_lock.rs`): what was looked up before is gone and has to be looked up
//! again.

use crate::dl::DlRq;
use crate::fair::{CfsRq, CpuBalance, Living, QueuePelt};
use crate::platform::{Access, Cost, Line, Lock, Platform};
use crate::registry::PreemptModel;
use crate::rt::RtRq;
use crate::shared::{Proof, Residence, RqLock, Shared, Wakefulness};
use crate::stats::CpuCounts;
use crate::stop::Stopper;
use crate::uclamp::CpuClamps;
use crate::{CpuId, GroupId, Nanos, Prio, Reason, TaskId, ThisCpu};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::cell::{RefCell, RefMut};
use core::ops::{Deref, DerefMut};

/// [`ThisCpu::lock`] without a future of its own: a hot path suspends and goes on where it is, and the guard
/// is made where it stays.
macro_rules! lock_here {
    ($me:expr, $cpu:expr) => {{
        let (me, cpu) = ($me, $cpu);
        me.settle().await;
        let taken = match me.take_at_once(cpu) {
            Some(taken) => taken,
            None => me.take(cpu).await,
        };
        me.guard(taken)
    }};
}
pub(crate) use lock_here;

/// A CPU's run queue.
/// (In this order in memory, so that its parts begin where a cache line does.)
#[derive(Debug)]
#[repr(C)]
pub struct RunQueue {
    /// What others read without the lock.
    pub published: Published,
    state: RefCell<RqState>,
    /// Whose it is.
    pub cpu: CpuId,
    /// Wakeups that other CPUs handed over (rt-class 3.6).
    pub(crate) wake_list: HandedOver<TaskId>,
    /// Groups whose queues this CPU is to let go on (deadline-groups B7, rule 4).
    pub(crate) unthrottle_list: HandedOver<GroupId>,
    /// Groups whose averages fade here; only who holds the lock looks.
    pub(crate) living: Living,
    /// This CPU's stopper.
    pub(crate) stop: Stopper,
}

/// What is handed to this CPU, first come first served: lock-free.
#[derive(Debug)]
pub(crate) struct HandedOver<T>(RefCell<VecDeque<T>>);

impl<T> Default for HandedOver<T> {
    fn default() -> HandedOver<T> {
        HandedOver(RefCell::default())
    }
}

impl<T> HandedOver<T> {
    /// Adds one; whether there was none, so that an interrupt has to be sent.
    pub(crate) fn push(&self, one: T) -> bool {
        let mut list = self.0.borrow_mut();
        list.push_back(one);
        list.len() == 1
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.0.borrow_mut().pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

/// State of a run queue that is read without its lock, hence possibly stale.
///
/// In this order in memory: what choosing a CPU and balancing read of every CPU comes first. Of 512 CPUs no
/// cache holds more.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Published {
    /// Task that the CPU executes or has just selected.
    pub curr: Shared<TaskId, RqLock>,
    /// Runnable tasks, the running one included; not those that are throttled.
    pub nr_running: Shared<u32, RqLock>,
    /// Whether that task is to make room, and how soon.
    pub resched: Shared<Resched, RqLock>,
    /// Whether the list of pushable RT tasks holds any.
    pub rt_pushable: Shared<bool, RqLock>,
    /// Whether the RT tasks are left out of `nr_running`, because their class is throttled (rt-class 8.1).
    pub rt_left_out: Shared<bool, RqLock>,
    /// `highest_prio.curr` of the RT queue: best queued RT priority, or [`Prio::NO_RT`].
    pub rt_highest: Shared<Prio, RqLock>,
    /// `highest_prio.next` (rt-class 1.5).
    pub rt_next: Shared<Prio, RqLock>,
    /// Fair tasks among the runnable ones that work their debt off asleep (eevdf-class 3.7).
    pub nr_delayed: Shared<u32, RqLock>,
    /// Runnable fair tasks that are SCHED_IDLE.
    pub nr_idle_policy: Shared<u32, RqLock>,
    /// Whether the stopper is queued: 1 or 0.
    pub stop_nr_running: Shared<u32, RqLock>,
    /// Deadline tasks that compete here, the running one included.
    pub dl_nr_running: Shared<u32, RqLock>,
    /// RT tasks that compete, the running one included: not those of groups that have used up their time.
    pub rt_nr_running: Shared<u32, RqLock>,
    /// Sum of the weights of the runnable fair tasks.
    pub load: Shared<u64, RqLock>,
    /// Floor of virtual time of the fair queue.
    pub min_vruntime: Shared<u64, RqLock>,
    /// Since when the running task executes.
    pub(crate) switched_at: Shared<Nanos, RqLock>,
    /// Averages of what the fair tasks ask for and use, and what real-time ones leave of the CPU.
    pub pelt: QueuePelt,
    /// When and for whom this CPU balances fair tasks.
    pub balance: CpuBalance,
    /// With RT_GROUP_SCHED: how many RT tasks `nr_running` contains.
    pub rt_counted: Shared<u32, RqLock>,
    /// The first of the deadlines queued here (earliest.curr).
    pub dl_earliest: Shared<Option<Nanos>, RqLock>,
    /// The first of those that may be pushed (earliest.next).
    pub dl_next: Shared<Option<Nanos>, RqLock>,
    /// Averages over 1, 2, 4, 8 and 16 ticks of the CPU's load: `load`, and what RT tasks add (fair-class
    /// 8.2).
    pub cpu_load: [Shared<u64, RqLock>; 5],
    /// Clamps of utilisation of its tasks.
    pub clamps: CpuClamps,
    /// Time of interrupts that the task clock has left out so far (fair-placement 1.9).
    pub left_out: Shared<Nanos, RqLock>,
    /// What it counts.
    pub counts: CpuCounts,
}

/// What the running task of a CPU is asked: the kernel's two need-resched flags (eevdf-class 5.1). The later
/// value contains the earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Resched {
    /// Nothing.
    #[default]
    No,
    /// To make room when it returns to user mode. The next tick makes that [`Resched::Full`].
    Lazy,
    /// To make room at the next preemption point.
    Full,
}

impl Published {
    /// Whether the running task is asked to make room by the full flag: all that the kernel's own paths look
    /// at.
    #[inline]
    pub fn need_resched(&self) -> bool {
        self.resched.get() == Resched::Full
    }

    /// Whether it is asked by either flag.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.resched.get() != Resched::No
    }
}

/// What a run-queue lock protects.
/// (In this order in memory: [`Published`] says why.)
#[derive(Debug)]
#[repr(C)]
pub struct RqState {
    /// Whose queue it is.
    pub cpu: CpuId,
    /// Runnable tasks of all classes, the running one included; not those that are throttled.
    pub nr_running: u32,
    /// Task that the CPU executes or has just selected.
    pub curr: TaskId,
    /// The CPU's idle task.
    pub idle: TaskId,
    /// The queue's clock: time of the last [`RqGuard::update_clock`].
    pub clock: Nanos,
    /// Picks of a different task.
    pub nr_switches: u64,
    /// The fair class's part: of several queues the one that is in front, which between paths is the root's.
    pub fair: Box<CfsRq>,
    /// When the running task's turn ends, if a timer is set for that (HRTICK).
    pub hrtick: Option<Nanos>,
    /// The deadline class's part.
    pub dl: DlRq,
    /// The real-time class's part.
    pub rt: RtRq,
    /// Its queues of the groups, by their numbers. (In boxes, so that two change places without being
    /// copied.)
    #[expect(clippy::vec_box)]
    pub(crate) groups: Vec<Box<CfsRq>>,
}

impl RunQueue {
    pub(crate) fn new(cpu: CpuId, idle: TaskId, capacity: u64) -> RunQueue {
        RunQueue {
            cpu,
            published: Published {
                curr: Shared::new(idle),
                resched: Shared::new(Resched::No),
                nr_running: Shared::new(0),
                rt_highest: Shared::new(Prio::NO_RT),
                rt_next: Shared::new(Prio::NO_RT),
                rt_nr_running: Shared::new(0),
                rt_left_out: Shared::new(false),
                rt_counted: Shared::new(0),
                stop_nr_running: Shared::new(0),
                dl_nr_running: Shared::new(0),
                dl_earliest: Shared::new(None),
                dl_next: Shared::new(None),
                nr_delayed: Shared::new(0),
                rt_pushable: Shared::new(false),
                nr_idle_policy: Shared::new(0),
                load: Shared::new(0),
                cpu_load: Default::default(),
                pelt: QueuePelt::of(capacity),
                clamps: CpuClamps::default(),
                min_vruntime: Shared::new(CfsRq::INITIAL_MIN_VRUNTIME),
                balance: CpuBalance::default(),
                left_out: Shared::default(),
                counts: CpuCounts::default(),
                switched_at: Shared::default(),
            },
            wake_list: HandedOver::default(),
            unthrottle_list: HandedOver::default(),
            living: Living::default(),
            stop: Stopper::default(),
            state: RefCell::new(RqState {
                cpu,
                curr: idle,
                idle,
                nr_running: 0,
                clock: Nanos::ZERO,
                nr_switches: 0,
                hrtick: None,
                dl: DlRq::default(),
                rt: RtRq::default(),
                fair: Box::default(),
                groups: Vec::new(),
            }),
        }
    }

    /// A group more, before the machine runs.
    pub(crate) fn create_group(&mut self, group: GroupId, has_rt_groups: bool) {
        let state = self.state.get_mut();
        state.groups.push(Box::new(CfsRq::of_group(group)));
        if has_rt_groups {
            state.rt.create_group();
        }
    }

    /// The protected state, for checkers and reports; `None` while some path holds the lock.
    pub fn inspect(&self) -> Option<core::cell::Ref<'_, RqState>> {
        self.state.try_borrow().ok()
    }
}

/// Proof that the executing path holds the run-queue lock of this CPU, and has no guard of it yet: only what
/// takes the lock makes one. Whoever drops it instead of asking for the guard never gives the lock back.
#[must_use = "a lock that was taken is given back by its guard"]
pub(crate) struct Taken(CpuId);

/// A held run-queue lock; dropping it releases the lock.
pub struct RqGuard<'k, P: Platform> {
    /// The executing CPU, which need not be the queue's.
    pub me: ThisCpu<'k, P>,
    /// The queue's published side.
    pub published: &'k Published,
    state: RefMut<'k, RqState>,
}

impl<P: Platform> Deref for RqGuard<'_, P> {
    type Target = RqState;
    #[inline]
    fn deref(&self) -> &RqState {
        &self.state
    }
}

impl<P: Platform> DerefMut for RqGuard<'_, P> {
    #[inline]
    fn deref_mut(&mut self) -> &mut RqState {
        &mut self.state
    }
}

impl<P: Platform> Proof<RqLock> for RqGuard<'_, P> {}
impl<P: Platform> Proof<Residence> for RqGuard<'_, P> {}
impl<P: Platform> Proof<Wakefulness> for RqGuard<'_, P> {}

impl<P: Platform> Drop for RqGuard<'_, P> {
    #[inline]
    fn drop(&mut self) {
        self.me.k.platform.release(self.me.id, Lock::Rq(self.state.cpu));
    }
}

impl<'k, P: Platform> ThisCpu<'k, P> {
    /// Takes the run-queue lock of `cpu`; spins while another CPU holds it.
    #[inline]
    pub async fn lock(self, cpu: CpuId) -> RqGuard<'k, P> {
        lock_here!(self, cpu)
    }

    /// Takes the run-queue lock of the CPU that `task` is assigned to, trying again if the task moves
    /// meanwhile, and waiting while it is on its way to that queue.
    pub async fn task_rq_lock(self, task: TaskId) -> RqGuard<'k, P> {
        loop {
            let rq = self.lock(self.task(task).cpu.get()).await;
            let migrating = self.task(task).migrating.get();
            if rq.cpu == self.task(task).cpu.get() && !migrating {
                return rq;
            }
            drop(rq);
            if migrating {
                self.k.platform.relax(self.id).await;
            }
        }
    }

    /// The wait for the time that has been charged so far, in front of every run-queue lock.
    #[inline]
    pub(crate) fn settle(self) -> impl Future<Output = ()> {
        self.k.platform.settle(self.id)
    }

    /// Takes the lock if that is possible before any other CPU can act.
    #[inline]
    pub(crate) fn take_at_once(self, cpu: CpuId) -> Option<Taken> {
        self.k.platform.acquire_at_once(self.id, Lock::Rq(cpu)).then_some(Taken(cpu))
    }

    /// Takes the lock.
    pub(crate) async fn take(self, cpu: CpuId) -> Taken {
        self.k.platform.acquire(self.id, Lock::Rq(cpu)).await;
        Taken(cpu)
    }

    /// Takes the lock if it is free, and that shows before any other CPU can act; `None` if not.
    pub(crate) fn try_at_once(self, cpu: CpuId) -> Option<Result<Taken, Busy>> {
        Some(tried(cpu, self.k.platform.try_acquire_at_once(self.id, Lock::Rq(cpu))?))
    }

    /// Takes the lock if it is free.
    pub(crate) async fn try_take(self, cpu: CpuId) -> Result<Taken, Busy> {
        tried(cpu, self.k.platform.try_acquire(self.id, Lock::Rq(cpu)).await)
    }

    /// The guard of a lock that has been taken. (Always inline: a guard that is made elsewhere and moved here
    /// costs more than all else that happens at a lock.)
    #[inline(always)]
    pub(crate) fn guard(self, Taken(cpu): Taken) -> RqGuard<'k, P> {
        let rq = self.k.rq(cpu);
        self.k.fair_root.may_change(cpu);
        RqGuard { me: self, published: &rq.published, state: rq.state.borrow_mut() }
    }
}

/// Another CPU holds the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Busy;

fn tried(cpu: CpuId, taken: bool) -> Result<Taken, Busy> {
    if taken { Ok(Taken(cpu)) } else { Err(Busy) }
}

impl<'k, P: Platform> RqGuard<'k, P> {
    /// Asks the queue's CPU to reschedule: sets the flag of the running task and, for another CPU, sends one
    /// interrupt unless the flag was already set (rt-class 3.4).
    pub fn resched(&mut self) {
        if self.published.resched.replace(self, Resched::Full) == Resched::Full {
            return;
        }
        if self.cpu != self.me.id {
            self.me.k.platform.send_ipi(self.me.id, self.cpu, crate::platform::Ipi::Reschedule);
        }
    }

    /// The same on behalf of the fair class, which under `preempt_model=lazy` only asks by the lazy flag, and
    /// sends nobody an interrupt for that. An idle CPU is asked in full (eevdf-class 5.1).
    pub fn resched_lazy(&mut self) {
        if self.me.k.config.rules.preempt_model.get() != PreemptModel::Lazy || self.curr == self.idle {
            return self.resched();
        }
        if !self.published.is_asked() {
            self.published.resched.set(self, Resched::Lazy);
            self.me.decide(self.curr, Reason::AskedLazily);
        }
    }

    /// At a tick, before the classes look: who has been asked lazily since before it is asked in full now
    /// (eevdf-class 5.1).
    pub(crate) fn harden_resched(&mut self) {
        if self.published.resched.get() == Resched::Lazy {
            self.me.decide(self.curr, Reason::LazyHardened);
            self.resched();
        }
    }

    /// Whether the running task is already asked to make room, by the full flag.
    pub fn need_resched(&self) -> bool {
        self.published.need_resched()
    }

    /// A queued task begins to work its debt off asleep, or no longer does.
    pub(crate) fn count_delayed(&self, delayed: bool) {
        let nr = &self.published.nr_delayed;
        nr.set(self, if delayed { nr.get() + 1 } else { nr.get() - 1 });
    }

    pub(crate) fn set_nr_running(&mut self, n: u32) {
        self.nr_running = n;
        self.published.nr_running.set(self, n);
    }

    pub(crate) fn set_curr(&mut self, task: TaskId) {
        self.curr = task;
        self.published.curr.set(self, task);
    }

    pub(crate) fn charge(&self, cost: Cost) {
        self.me.charge(cost);
    }

    /// The queue's published line is written (by a holder of the lock).
    pub(crate) fn touch_published(&self) {
        self.me.touch(Line::Rq(self.cpu), Access::Write);
    }
}
