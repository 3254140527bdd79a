//! State that everybody reads and few may write.
//!
//! As on the real machine, reading takes no lock, and what is read may be stale. Outside this crate nobody
//! writes. Inside, writing what a lock protects ([`Shared`]) takes a `Proof` that the lock is held: a
//! reference to its guard, which costs nothing when the program runs. A proof says which kind of lock it is,
//! not whose; that the right one is held is for the invariants of [`crate::check`].

use crate::Nanos;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

/// The run-queue lock of the CPU that the state belongs to.
#[derive(Debug)]
pub enum RqLock {}

/// The task's pi_lock and the run-queue lock of its CPU, both.
#[derive(Debug)]
pub enum PiAndRqLock {}

/// The run-queue lock while the task is queued, its pi_lock otherwise; or nobody else can find the task.
#[derive(Debug)]
pub enum Residence {}

/// The task itself while it runs, and whoever wakes it: under its pi_lock, or as old kernels do under the
/// run-queue lock.
#[derive(Debug)]
pub enum Wakefulness {}

/// Whoever has one holds what it takes to write what is protected by `L`.
pub(crate) trait Proof<L> {}

/// Nobody else knows of the task: it is being created, or a path has taken it off its queue and carries it
/// elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unseen;

impl Proof<RqLock> for Unseen {}
impl Proof<PiAndRqLock> for Unseen {}
impl Proof<Residence> for Unseen {}
impl Proof<Wakefulness> for Unseen {}

/// State protected by a lock of the kind `L`: all read it, and with a proof of the lock one writes it.
pub struct Shared<T, L> {
    value: Cell<T>,
    lock: PhantomData<L>,
}

impl<T, L> Shared<T, L> {
    pub(crate) fn new(value: T) -> Shared<T, L> {
        Shared { value: Cell::new(value), lock: PhantomData }
    }
}

impl<T: Default, L> Default for Shared<T, L> {
    fn default() -> Shared<T, L> {
        Shared::new(T::default())
    }
}

impl<T: Copy + fmt::Debug, L> fmt::Debug for Shared<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<T: Copy, L> Shared<T, L> {
    /// What it is now, or was a moment ago.
    #[inline]
    pub fn get(&self) -> T {
        self.value.get()
    }

    #[inline]
    pub(crate) fn set(&self, _held: &impl Proof<L>, value: T) {
        self.value.set(value);
    }

    #[inline]
    pub(crate) fn replace(&self, _held: &impl Proof<L>, value: T) -> T {
        self.value.replace(value)
    }

    /// Breaks the rule, for tests of those who check it.
    #[cfg(any(test, feature = "overwrite"))]
    pub fn overwrite(&self, value: T) {
        self.value.set(value);
    }
}

/// What only the scheduler writes: counters, and what its classes keep of a task.
#[derive(Default)]
pub struct Kept<T>(Cell<T>);

impl<T: Copy> Clone for Kept<T> {
    fn clone(&self) -> Kept<T> {
        Kept(Cell::new(self.get()))
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<T> Kept<T> {
    pub(crate) fn new(value: T) -> Kept<T> {
        Kept(Cell::new(value))
    }
}

impl<T: Copy> Kept<T> {
    /// What it is now.
    #[inline]
    pub fn get(&self) -> T {
        self.0.get()
    }

    #[inline]
    pub(crate) fn set(&self, value: T) {
        self.0.set(value);
    }

    #[inline]
    pub(crate) fn replace(&self, value: T) -> T {
        self.0.replace(value)
    }

    /// Breaks the rule, for tests of those who check what it says.
    #[cfg(any(test, feature = "overwrite"))]
    pub fn overwrite(&self, value: T) {
        self.0.set(value);
    }
}

/// A time, or none, that only the scheduler writes: in eight bytes, for there may be very many tasks. The
/// last moment that [`Nanos`] can say, after 584 years, stands for none.
#[derive(Clone)]
pub struct KeptSince(Kept<Nanos>);

impl KeptSince {
    const NONE: Nanos = Nanos::NEVER;

    /// What it is now.
    #[inline]
    pub fn get(&self) -> Option<Nanos> {
        Some(self.0.get()).filter(|since| *since != Self::NONE)
    }

    #[inline]
    pub(crate) fn set(&self, since: Option<Nanos>) {
        self.0.set(since.unwrap_or(Self::NONE));
    }

    #[inline]
    pub(crate) fn take(&self) -> Option<Nanos> {
        let since = self.get();
        self.0.set(Self::NONE);
        since
    }

    #[inline]
    pub(crate) fn replace(&self, since: Option<Nanos>) -> Option<Nanos> {
        let before = self.get();
        self.set(since);
        before
    }
}

impl Default for KeptSince {
    fn default() -> KeptSince {
        KeptSince(Kept::new(Self::NONE))
    }
}

impl fmt::Debug for KeptSince {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<T: Default> Kept<T> {
    #[inline]
    pub(crate) fn take(&self) -> T {
        self.0.take()
    }
}
