//! A mutex, the table of all of them, and a task's part in inheritance.

use super::spin::look_again;
use super::waiters::Waiters;
use crate::chunks::Chunks;
use crate::platform::{Lock, Platform};
use crate::registry::{KernelLocks, Rules};
use crate::{DlParams, MutexId, Nanos, Pid, Prio, TaskId, TaskState, TaskTable, ThisCpu};
use alloc::collections::VecDeque;
use core::cell::{Cell, Ref, RefCell, RefMut};

/// What a mutex does for its owner and its waiters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MutexKind {
    /// PTHREAD_PRIO_INHERIT (rt-class 7.1 to 7.5).
    Pi,
    /// A plain futex mutex (rt-class 7.6).
    #[default]
    Plain,
}

/// By which rules a mutex is locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Form {
    /// [`MutexKind::Pi`].
    Pi,
    /// [`MutexKind::Plain`].
    #[default]
    Plain,
    /// Those of the kernel itself, whose waiters may spin (machine.md 3.4).
    Kernel,
}

/// The word in user space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Word {
    /// Nobody has it: 0.
    #[default]
    Free,
    /// Taken, and its owner may unlock it in user space. Plain: 1; PI: the owner's thread id.
    Locked,
    /// Its owner has to unlock it through the kernel. Plain: 2; PI: a thread id and the waiters bit. The bit
    /// stays until the kernel clears it, even when the last waiter has become the owner.
    Waiters,
}

/// Who owns a mutex. The pid tells it from a later task in the same slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    pub task: TaskId,
    pub pid: Pid,
}

impl Owner {
    pub fn new<P: Platform>(me: ThisCpu<'_, P>, task: TaskId) -> Owner {
        Owner { task, pid: me.task(task).pid.get() }
    }
}

/// What a top waiter lends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Loan {
    pub prio: Prio,
    /// A deadline task lends its parameters, until its deadline (deadline-groups A10).
    pub deadline: Option<(Nanos, DlParams)>,
}

/// A mutex. Cells say what protects them; all may be read without.
#[derive(Debug, Default)]
pub(super) struct Mutex {
    /// Set at creation.
    pub form: Cell<Form>,
    /// Set at creation: see [`MutexTable::create_rtlock`].
    pub rtlock: Cell<bool>,
    /// Set at creation: see [`MutexTable::create_rwsem`].
    pub rwsem: Cell<bool>,
    /// Set at creation: it is one of the kernel, and who sleeps for it is in state D.
    pub in_kernel: Cell<bool>,
    /// Changed atomically, in user space too.
    pub word: Cell<Word>,
    /// With the word. `None` between unlock and take. The kernel does not know the owner of a plain mutex;
    /// the model does, to find errors.
    pub owner: Cell<Option<Owner>>,
    /// PI: the waiter that the word named at the latest unlock; wait_lock.
    pub handed_to: Cell<Option<TaskId>>,
    /// PI: what the top waiter lends to the owner, [`Prio::IDLE`] where nobody waits; the owner's pi_lock.
    pub lends: Cell<Loan>,
    /// PI: next in the owner's list of mutexes that lend it something; the owner's pi_lock.
    pub next_lender: Cell<Option<MutexId>>,
    /// PI, kernel: the first waiter, for those who look without the lock; wait_lock.
    pub top: Cell<Option<TaskId>>,
    /// Kernel: the first waiter gets the mutex next, as it was woken in vain; wait_lock.
    pub handoff: Cell<bool>,
    /// Kernel: who spins and is not among the waiters, in the order of coming; changed atomically.
    pub spinners: RefCell<VecDeque<TaskId>>,
    waiters: RefCell<Waiters>,
}

impl Mutex {
    /// Who waits; `None` while somebody holds the wait_lock.
    pub fn waiters(&self) -> Option<Ref<'_, Waiters>> {
        self.waiters.try_borrow().ok()
    }
}

/// Every mutex.
#[derive(Debug, Default)]
pub struct MutexTable(Chunks<Mutex>);

impl MutexTable {
    /// A new mutex, free.
    pub fn create(&self, kind: MutexKind) -> MutexId {
        self.create_form(match kind {
            MutexKind::Pi => Form::Pi,
            MutexKind::Plain => Form::Plain,
        })
    }

    /// A new sleeping lock, a spinlock of a kernel with PREEMPT_RT, free: a PI mutex, but who waits is in
    /// state D, and fair tasks take it before others that wait (machine.md 1.3).
    pub fn create_rtlock(&self) -> MutexId {
        let id = self.create_in_kernel(Form::Pi);
        self.get(id).rtlock.set(true);
        id
    }

    /// A new mutex of the kernel, free: as `mutex_spin` says, or with PREEMPT_RT one with inheritance
    /// (machine.md 1.2). Who sleeps for it is in state D.
    pub fn create_of_kernel(&self, rules: &Rules) -> MutexId {
        self.create_in_kernel(match rules.kernel_locks.get() {
            KernelLocks::Spin => Form::Kernel,
            KernelLocks::Sleeping => Form::Pi,
        })
    }

    /// A new semaphore of the kernel for readers and writers, free, which only writers take here: a mutex of
    /// the kernel with rules of its own (`rwsem.rs`), or with PREEMPT_RT one with inheritance.
    pub fn create_rwsem(&self, rules: &Rules) -> MutexId {
        let id = self.create_of_kernel(rules);
        self.get(id).rwsem.set(true);
        id
    }

    fn create_in_kernel(&self, form: Form) -> MutexId {
        let id = self.create_form(form);
        self.get(id).in_kernel.set(true);
        id
    }

    fn create_form(&self, form: Form) -> MutexId {
        let id = MutexId(self.0.grow());
        self.get(id).form.set(form);
        id
    }

    /// Whether who spins for it cannot be preempted: for a mutex of the kernel without PREEMPT_RT.
    pub fn is_spun_for_atomically(&self, id: MutexId) -> bool {
        self.get(id).form.get() == Form::Kernel
    }

    /// Whether nobody has it, and nobody waits for it.
    pub fn is_free(&self, id: MutexId) -> bool {
        self.get(id).word.get() == Word::Free
    }

    /// Number of mutexes; ids are below it.
    pub fn len(&self) -> usize {
        self.0.len() as usize
    }

    /// Whether no mutex was ever created.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The form of `m`.
    pub(crate) fn form(&self, m: MutexId) -> Form {
        self.get(m).form.get()
    }

    /// Who owns `m` and still lives. A mutex whose owner died has none, but is not free.
    pub fn living_owner(&self, m: MutexId, tasks: &TaskTable) -> Option<TaskId> {
        let owner = self.get(m).owner.get()?;
        let task = tasks.get(owner.task);
        let lives = !matches!(task.state.get(), TaskState::Dead | TaskState::Free);
        (lives && task.pid.get() == owner.pid).then_some(owner.task)
    }

    pub(super) fn get(&self, id: MutexId) -> &Mutex {
        self.0.get(id.0)
    }
}

/// What a task has to do with a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Part {
    #[default]
    Nothing,
    /// It is on the list of waiters; the mutex's wait_lock.
    Waits,
    /// It is among the spinners of a mutex of the kernel; its own.
    Spins,
    /// It owns a mutex of the kernel; with the mutex's owner.
    Has,
}

/// A task's part in waiting and inheritance.
#[derive(Debug, Default)]
pub struct PiState {
    /// Its part in `mutex`: in one at a time, but for those of user space that it owns.
    part: Cell<Part>,
    /// Means nothing where it has no part in it. (Beside `part`, not within: a task has to stay small.)
    mutex: Cell<MutexId>,
    /// First of the PI mutexes that it owns and others wait for; pi_lock.
    pub(super) lenders: Cell<Option<MutexId>>,
    /// It waits for a mutex by spinning, and what it watches has not changed since it looked; its own, and
    /// that of whoever changes that.
    pub(super) spins: Cell<bool>,
}

impl PiState {
    pub(crate) fn reset(&self) {
        self.lenders.set(None);
        self.part.set(Part::Nothing);
        self.spins.set(false);
    }

    /// Its part in a mutex from now on; what it was before.
    pub(super) fn takes_part(&self, part: Part, m: MutexId) -> Part {
        self.mutex.set(m);
        self.part.replace(part)
    }

    /// Whether it neither waits nor spins for a mutex, nor has one of the kernel.
    #[inline]
    pub(super) fn has_no_part(&self) -> bool {
        self.part.get() == Part::Nothing
    }

    /// It waits no more.
    pub(super) fn waits_no_more(&self) {
        if self.part.get() == Part::Waits {
            self.part.set(Part::Nothing);
        }
    }

    /// The mutex in which it has this part.
    pub(super) fn mutex(&self, part: Part) -> Option<MutexId> {
        (self.part.get() == part).then_some(self.mutex.get())
    }

    /// The mutex for which it spins, unless it has been told to look again.
    pub(crate) fn spins_for(&self) -> Option<MutexId> {
        self.mutex(Part::Spins).or(self.blocked_on()).filter(|_| self.spins.get())
    }

    /// The mutex that the task waits for, also while it is woken but has not taken it yet.
    pub fn blocked_on(&self) -> Option<MutexId> {
        self.mutex(Part::Waits)
    }
}

/// A held wait_lock; dropping it releases the lock.
pub(super) struct WaitGuard<'k, P: Platform> {
    pub me: ThisCpu<'k, P>,
    pub id: MutexId,
    pub mutex: &'k Mutex,
    pub waiters: RefMut<'k, Waiters>,
}

impl<'k, P: Platform> ThisCpu<'k, P> {
    /// Takes the wait_lock of `m`.
    pub(super) async fn wait_lock(self, m: MutexId) -> WaitGuard<'k, P> {
        self.k.platform.acquire(self.id, Lock::MutexWait(m)).await;
        let mutex = self.k.mutexes.get(m);
        WaitGuard { me: self, id: m, mutex, waiters: mutex.waiters.borrow_mut() }
    }
}

impl<P: Platform> WaitGuard<'_, P> {
    /// The list has changed: shows who is first now, and tells who was.
    pub fn show_top(&self) {
        let top = self.waiters.top().map(|top| top.task);
        if let Some(before) = self.mutex.top.replace(top).filter(|before| Some(*before) != top) {
            look_again(self.me, before);
        }
    }
}

impl<P: Platform> Drop for WaitGuard<'_, P> {
    fn drop(&mut self) {
        self.me.k.platform.release(self.me.id, Lock::MutexWait(self.id));
    }
}
