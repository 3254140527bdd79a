//! How kernel spinlocks are handed over in time (rt-class 10.5): the three kinds that Linux had on
//! x86.

use super::transfers::Transfers;
use crate::spec::MachineSpec;
use scheduler::platform::Lock;
use scheduler::registry::LockKind;
use scheduler::{CpuId, MutexId, Nanos, TaskId};
use schema::RqLockStats;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// What hand-overs cost on a machine.
#[derive(Debug)]
pub(crate) struct LockTiming {
    /// Which kind of spinlock the kernel has; follows the rule of the same name.
    pub kind: Cell<LockKind>,
    pub transfers: Transfers,
    uncontended: Nanos,
    spinner_percent: u64,
}

impl LockTiming {
    pub fn new(spec: &MachineSpec, kind: LockKind) -> LockTiming {
        LockTiming {
            kind: Cell::new(kind),
            transfers: Transfers::new(spec),
            uncontended: spec.costs.lock_uncontended,
            spinner_percent: u64::from(spec.costs.ticket_spinner_percent),
        }
    }
}

/// Every lock of a machine.
#[derive(Debug)]
pub(crate) struct LockTable {
    pub timing: LockTiming,
    rq: Box<[RefCell<SpinState>]>,
    // The others are rarely contended. Each table grows to the largest number that is used.
    pi: RefCell<Vec<SpinState>>,
    mutex_wait: RefCell<Vec<SpinState>>,
    push_walker: RefCell<Vec<SpinState>>,
    rto: RefCell<Vec<SpinState>>,
}

impl LockTable {
    /// All free, with room for those of so many tasks.
    pub fn new(spec: &MachineSpec, kind: LockKind, tasks: usize) -> LockTable {
        LockTable {
            timing: LockTiming::new(spec, kind),
            rq: (0..spec.topology.cpus).map(|_| RefCell::default()).collect(),
            pi: RefCell::new(Vec::with_capacity(tasks)),
            mutex_wait: RefCell::default(),
            push_walker: RefCell::default(),
            rto: RefCell::default(),
        }
    }

    /// That of a CPU's run queue.
    #[inline]
    pub fn rq(&self, cpu: CpuId) -> &RefCell<SpinState> {
        &self.rq[cpu.index()]
    }

    /// A run queue whose lock `cpu` holds at `now`, its own before others.
    pub fn rq_held_by(&self, cpu: CpuId, now: Nanos) -> Option<CpuId> {
        let all = (0..self.rq.len() as u16).map(CpuId);
        [cpu].into_iter().chain(all).find(|of| self.rq(*of).borrow().is_held_at(cpu, now))
    }

    /// Looks at or changes a lock.
    #[inline]
    pub fn with<T>(&self, lock: Lock, f: impl FnOnce(&mut SpinState, &LockTiming) -> T) -> T {
        match lock {
            Lock::Rq(cpu) => f(&mut self.rq(cpu).borrow_mut(), &self.timing),
            other => self.with_other(other, f),
        }
    }

    /// One that is no run queue's: apart, so that the way to those is one comparison.
    #[inline(never)]
    fn with_other<T>(&self, lock: Lock, f: impl FnOnce(&mut SpinState, &LockTiming) -> T) -> T {
        let (table, index) = match lock {
            Lock::Rq(_) => return self.with(lock, f),
            Lock::Pi(TaskId(task)) => (&self.pi, task as usize),
            Lock::MutexWait(MutexId(mutex)) => (&self.mutex_wait, mutex as usize),
            Lock::PushWalker(cpu) => (&self.push_walker, cpu.index()),
            Lock::Rto(root) => (&self.rto, root.index()),
        };
        let mut table = table.borrow_mut();
        if index >= table.len() {
            table.resize_with(index + 1, SpinState::default);
        }
        f(&mut table[index], &self.timing)
    }

    /// The maxima of the run queues' locks count anew from now on.
    pub fn forget_maxima(&self) {
        for lock in &self.rq {
            if let Some(contention) = &mut lock.borrow_mut().contention {
                contention.forget_maxima();
            }
        }
    }
}

/// State of one spinlock.
#[derive(Debug, Default)]
pub(crate) struct SpinState {
    /// By somebody, who may be a waiter on its way: a lock that is not held has no waiters.
    held: bool,
    /// Until when the last holder keeps it: a release lies at the end of a path that has already been
    /// computed.
    free_at: Nanos,
    /// Who had its cache line last.
    last: CpuId,
    /// Who released it last.
    released_by: CpuId,
    /// How many wait: beside what every release looks at.
    waiting: u16,
    acquisitions: u64,
    /// In a box, which the first to wait makes: there is a lock for each task, and few see anybody wait.
    contention: Option<Box<Contention>>,
}

/// Who waits for a lock, and how others have.
#[derive(Debug, Default)]
struct Contention {
    waiters: VecDeque<Waiter>,
    /// All but the acquisitions, which the lock itself counts.
    stats: RqLockStats,
}

impl Contention {
    fn count_waiters(&mut self, waiting: u32, holding_own: u32) {
        let stats = &mut self.stats;
        stats.waiters_max = stats.waiters_max.max(waiting);
        stats.waiters_holding_own_max = stats.waiters_holding_own_max.max(holding_own);
    }

    fn count_wait(&mut self, wait: Nanos) {
        let stats = &mut self.stats;
        stats.contended += 1;
        stats.wait_max_ns = stats.wait_max_ns.max(wait.0);
        stats.wait_sum_ns += wait.0;
    }

    fn forget_maxima(&mut self) {
        let stats = &mut self.stats;
        (stats.wait_max_ns, stats.waiters_max, stats.waiters_holding_own_max) = (0, 0, 0);
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    cpu: CpuId,
    since: Nanos,
    /// It holds the lock of its own run queue meanwhile.
    holds_own: bool,
}

/// What becomes of an attempt to take a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    /// Taken; it costs this much.
    Taken {
        /// Transfer of the line, and the instruction.
        cost: Nanos,
    },
    /// Reserved: the last holder is on its way out, the lock is ours at this time.
    TakenAt(Nanos),
    /// In the queue: the releaser will say when.
    Queued,
}

/// Who is before a CPU that wants the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ahead {
    /// Who holds it.
    pub holder: CpuId,
    /// How many wait for it already.
    pub waiters: u16,
}

/// Who gets the lock, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HandOver {
    pub to: CpuId,
    pub at: Nanos,
}

impl SpinState {
    /// Whether `cpu` holds the lock.
    pub fn is_held_by(&self, cpu: CpuId) -> bool {
        self.held && self.last == cpu
    }

    /// The same at `now`, which may lie before the end of a path that has been computed already.
    fn is_held_at(&self, cpu: CpuId, now: Nanos) -> bool {
        if self.free_at > now { self.released_by == cpu } else { self.is_held_by(cpu) }
    }

    /// Who is before a CPU that comes at `now` and finds the lock taken.
    pub fn ahead(&self, now: Nanos) -> Ahead {
        let waiters = self.waiting;
        if self.free_at <= now {
            return Ahead { holder: self.last, waiters };
        }
        // The last holder has not left yet; who has the lock after it still waits.
        Ahead { holder: self.released_by, waiters: waiters + u16::from(self.held) }
    }

    /// `me` tries to take the lock at its local time `now`; `holds_own` says whether it holds that of its own
    /// run queue.
    pub fn acquire(&mut self, me: CpuId, now: Nanos, holds_own: bool, timing: &LockTiming) -> Attempt {
        self.acquisitions += 1;
        if !self.held {
            self.held = true;
            let transfer = self.transfer(me, timing);
            if self.free_at <= now {
                self.last = me;
                return Attempt::Taken { cost: timing.uncontended + transfer };
            }
            // One waiter, with nobody in front of it but the leaving holder.
            let at = self.free_at + self.hand_over_time(me, 0, timing);
            self.last = me;
            let contention = self.contention.get_or_insert_default();
            contention.count_waiters(1, u32::from(holds_own));
            contention.count_wait(at - now);
            return Attempt::TakenAt(at);
        }
        let contention = self.contention.get_or_insert_default();
        contention.waiters.push_back(Waiter { cpu: me, since: now, holds_own });
        let holding_own = contention.waiters.iter().filter(|w| w.holds_own).count() as u32;
        contention.count_waiters(contention.waiters.len() as u32, holding_own);
        self.waiting += 1;
        Attempt::Queued
    }

    /// Takes the lock if it is free at `now`; what that costs.
    #[inline]
    pub fn try_acquire(&mut self, me: CpuId, now: Nanos, timing: &LockTiming) -> Option<Nanos> {
        if self.held || self.free_at > now {
            return None;
        }
        self.held = true;
        self.acquisitions += 1;
        let cost = timing.uncontended + self.transfer(me, timing);
        self.last = me;
        Some(cost)
    }

    /// The holder gives the lock up at its local time `now`; who gets it, if anybody waits.
    #[inline]
    pub fn release(&mut self, now: Nanos, timing: &LockTiming) -> Option<HandOver> {
        debug_assert!(self.held);
        self.held = false;
        self.free_at = now;
        self.released_by = self.last;
        if self.waiting == 0 { None } else { self.hand_over(now, timing) }
    }

    #[inline(never)]
    fn hand_over(&mut self, now: Nanos, timing: &LockTiming) -> Option<HandOver> {
        let waiters = &mut self.contention.as_mut()?.waiters;
        let next = match timing.kind.get() {
            LockKind::Queued | LockKind::Ticket => 0,
            // Everybody's write races for the line; the nearest wins, then the one who spun longest.
            LockKind::TestAndSet => {
                let distance = |i: &usize| timing.transfers.get(self.last, waiters[*i].cpu);
                (0..waiters.len()).min_by_key(|i| (distance(i), *i)).unwrap_or(0)
            }
        };
        let waiter = waiters.remove(next)?;
        self.waiting -= 1;
        let spinners = waiters.len() as u64;
        // A waiter that came with time still to settle cannot have the lock before it came.
        let at = (now + self.hand_over_time(waiter.cpu, spinners, timing)).max(waiter.since);
        self.held = true;
        self.last = waiter.cpu;
        self.contention.as_mut()?.count_wait(at.saturating_sub(waiter.since));
        Some(HandOver { to: waiter.cpu, at })
    }

    /// Line transfer to the next holder; with a lock word that all spin on, dearer with each further spinner.
    fn hand_over_time(&self, to: CpuId, spinners: u64, timing: &LockTiming) -> Nanos {
        let transfer = self.transfer(to, timing);
        match timing.kind.get() {
            LockKind::Queued => transfer,
            LockKind::Ticket | LockKind::TestAndSet => {
                Nanos(transfer.0 + transfer.0 * spinners * timing.spinner_percent / 100)
            }
        }
    }

    fn transfer(&self, to: CpuId, timing: &LockTiming) -> Nanos {
        if self.last == to { Nanos::ZERO } else { timing.transfers.get(self.last, to) }
    }

    /// Its counters.
    pub fn stats(&self) -> RqLockStats {
        let contended = self.contention.as_ref().map(|contention| contention.stats).unwrap_or_default();
        RqLockStats { acquisitions: self.acquisitions, ..contended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(kind: LockKind) -> LockTiming {
        LockTiming::new(&crate::engine::hardware::four_nodes(), kind)
    }

    /// Three CPUs of other nodes wait; how long after the release the first of them has the lock.
    fn hand_over(kind: LockKind) -> HandOver {
        let timing = timing(kind);
        let mut lock = SpinState::default();
        assert!(matches!(lock.acquire(CpuId(0), Nanos(0), false, &timing), Attempt::Taken { .. }));
        for cpu in [30, 20, 1] {
            assert_eq!(lock.acquire(CpuId(cpu), Nanos(10), cpu < 25, &timing), Attempt::Queued);
        }
        let to = lock.release(Nanos(1000), &timing).expect("three wait");
        let stats = lock.stats();
        assert_eq!((stats.waiters_max, stats.waiters_holding_own_max), (3, 2));
        to
    }

    #[test]
    fn queued_and_ticket_locks_are_first_come_first_served() {
        assert_eq!(hand_over(LockKind::Queued).to, CpuId(30));
        assert_eq!(hand_over(LockKind::Ticket).to, CpuId(30));
    }

    #[test]
    fn a_ticket_hand_over_gets_dearer_with_each_spinner() {
        assert!(hand_over(LockKind::Ticket).at > hand_over(LockKind::Queued).at);
    }

    #[test]
    fn test_and_set_goes_to_the_nearest() {
        assert_eq!(hand_over(LockKind::TestAndSet).to, CpuId(1));
    }

    #[test]
    fn a_lock_is_not_free_before_its_release_time() {
        let timing = timing(LockKind::Queued);
        let mut lock = SpinState::default();
        lock.acquire(CpuId(0), Nanos(0), false, &timing);
        assert_eq!(lock.release(Nanos(500), &timing), None);
        assert_eq!(lock.try_acquire(CpuId(1), Nanos(400), &timing), None);
        let Attempt::TakenAt(at) = lock.acquire(CpuId(1), Nanos(400), true, &timing) else {
            panic!("reserved")
        };
        assert!(at > Nanos(500));
        let stats = lock.stats();
        assert_eq!((stats.contended, stats.waiters_holding_own_max), (1, 1));
    }

    #[test]
    fn until_the_holder_leaves_who_has_the_lock_after_it_waits() {
        let timing = timing(LockKind::Queued);
        let mut lock = SpinState::default();
        let ahead = |holder, waiters| Ahead { holder: CpuId(holder), waiters };
        lock.acquire(CpuId(3), Nanos(0), false, &timing);
        assert_eq!(lock.ahead(Nanos(10)), ahead(3, 0));
        lock.acquire(CpuId(1), Nanos(10), false, &timing);
        assert_eq!(lock.ahead(Nanos(20)), ahead(3, 1));
        lock.release(Nanos(500), &timing);
        assert_eq!(lock.ahead(Nanos(400)), ahead(3, 1));
        assert_eq!(lock.ahead(Nanos(500)), ahead(1, 0));
        assert!(lock.is_held_at(CpuId(3), Nanos(400)) && lock.is_held_at(CpuId(1), Nanos(500)));
    }
}
