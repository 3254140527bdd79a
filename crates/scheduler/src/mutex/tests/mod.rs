//! Tests of rt-class 7 and machine.md 3.4. A [`Bench`] carries out the lock and unlock steps of tasks as a
//! machine does.

mod chain;
mod deadline;
mod deadlock;
mod kernel;
mod pi;
mod plain;
mod race;
mod rt_groups;
mod rtlock;
mod rwsem;
mod spin;

use super::{
    FastPath, LockError, LockOutcome, MutexKind, WaitsFor, lock_fast, lock_resume, lock_slow, unlock_fast,
    unlock_slow,
};
use crate::registry::RtmutexSpin;
use crate::schedule::{Entry, schedule};
use crate::testing::{Lab, TestPlatform, cpus, fifo};
use crate::{Event, MutexId, Policy, Prio, TaskId, ThisCpu};
use alloc::vec::Vec;
use core::cell::RefCell;

struct Bench {
    lab: Lab,
    /// Tasks that [`Bench::settle`] lets go on locking when they run again.
    waiting: RefCell<Vec<WaitsFor>>,
}

impl Bench {
    fn new(cpus: usize, profile: &str, settings: &[&str]) -> Bench {
        Bench { lab: Lab::new(cpus, profile, settings), waiting: RefCell::default() }
    }

    /// Under 6.1, but waiters sleep at once: what they inherit and who comes first does not depend on how
    /// they wait.
    fn sleeping(cpus: usize, settings: &[&str]) -> Bench {
        let bench = Bench::new(cpus, "6.1.y", settings);
        bench.lab.k.config.rules.rtmutex_spin.set(RtmutexSpin::Never);
        bench
    }

    /// A machine with a CPU for each of these tasks, FIFO at the given priorities and pinned, all running.
    fn pinned<const N: usize>(priorities: [u8; N]) -> (Bench, [TaskId; N]) {
        let bench = Bench::sleeping(N, &["NO_TTWU_QUEUE"]);
        let mut cpu = 0..;
        let tasks = priorities.map(|p| {
            let c = cpu.next().expect("endless");
            bench.lab.spawn_allowed(fifo(p), c, cpus(&[c]))
        });
        (bench, tasks)
    }

    fn pi(&self) -> MutexId {
        self.lab.k.mutexes.create(MutexKind::Pi)
    }

    fn plain(&self) -> MutexId {
        self.lab.k.mutexes.create(MutexKind::Plain)
    }

    /// The CPU that executes `p`.
    fn on_cpu(&self, p: TaskId) -> ThisCpu<'_, TestPlatform> {
        let cpu = self.lab.cpu_of(p);
        assert_eq!(self.lab.running(cpu), p, "{p:?} does not run");
        self.lab.cpu(cpu)
    }

    /// `p` tries to lock; if it has to sleep it has not called schedule yet.
    fn try_lock(&self, p: TaskId, m: MutexId) -> Result<LockOutcome, LockError> {
        let me = self.on_cpu(p);
        if lock_fast(me, p, m) == FastPath::Done {
            return Ok(LockOutcome::Acquired);
        }
        self.lab.run(lock_slow(me, p, m))
    }

    /// `p` locks; if it has to, it goes to sleep. Whether it has the mutex.
    fn lock(&self, p: TaskId, m: MutexId) -> bool {
        let outcome = self.try_lock(p, m).expect("a legal lock");
        if outcome == LockOutcome::Sleep {
            self.waiting.borrow_mut().push(WaitsFor { task: p, mutex: m });
            self.sleep(p);
        }
        self.settle();
        outcome == LockOutcome::Acquired
    }

    /// `p`, running again after its sleep, tries once more; if it fails it sleeps again.
    fn resume(&self, p: TaskId, m: MutexId) -> bool {
        let outcome = self.lab.run(lock_resume(self.on_cpu(p), p, m)).expect("a legal lock");
        if outcome == LockOutcome::Sleep {
            self.sleep(p);
        }
        outcome == LockOutcome::Acquired
    }

    fn sleep(&self, p: TaskId) {
        self.lab.run(schedule(self.on_cpu(p), Entry::Call));
    }

    /// `p` unlocks; nothing that follows has happened yet. Whether it entered the kernel.
    fn unlock_unsettled(&self, p: TaskId, m: MutexId) -> bool {
        let me = self.on_cpu(p);
        let kernel = unlock_fast(me, p, m).expect("its own mutex") == FastPath::EnterKernel;
        if kernel {
            self.lab.run(unlock_slow(me, p, m));
        }
        kernel
    }

    /// `p` unlocks, and everything that follows has happened.
    fn unlock(&self, p: TaskId, m: MutexId) {
        self.unlock_unsettled(p, m);
        self.settle();
    }

    /// Until nothing is pending and every task that was woken for a mutex has it or sleeps again.
    fn settle(&self) {
        for _ in 0..1000 {
            self.lab.settle();
            let runs = |w: &WaitsFor| self.lab.k.task_running(w.task);
            let Some(at) = self.waiting.borrow().iter().position(runs) else { return };
            let woken = self.waiting.borrow_mut().remove(at);
            if !self.resume(woken.task, woken.mutex) {
                self.waiting.borrow_mut().push(woken);
            }
        }
        panic!("a waiter does not sleep");
    }

    /// Who has the mutex.
    fn owner(&self, m: MutexId) -> Option<TaskId> {
        super::owner(self.lab.cpu(0), m)
    }

    /// Effective priority on the user's scale, 1 to 99; 0 for a normal one.
    fn prio(&self, p: TaskId) -> u8 {
        (99 - self.lab.k.task(p).prio.get().0).max(0) as u8
    }

    /// The effective priorities given by inheritance since the events were last forgotten.
    fn setprios(&self) -> Vec<(TaskId, Prio)> {
        let event = |e: &Event| match *e {
            Event::PiSetprio { task, new, .. } => Some((task, new)),
            _ => None,
        };
        self.lab.k.platform.events.borrow().iter().filter_map(event).collect()
    }

    fn voluntary_switches(&self, p: TaskId) -> u64 {
        self.lab.k.task(p).stats.nr_voluntary_switches.get()
    }

    fn involuntary_switches(&self, p: TaskId) -> u64 {
        self.lab.k.task(p).stats.nr_involuntary_switches.get()
    }
}

/// A FIFO task with this policy's kernel priority.
fn kernel_prio(policy: Policy) -> Prio {
    policy.normal_prio(crate::Nice::default())
}
