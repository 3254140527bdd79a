//! Tasks, and the objects of the kernel that they share: a file for each object, with its data and what
//! system calls do to it.
//!
//! An object knows its callers as [`Caller`]: the task, the CPU on which it runs, and the tasks beside it.

mod activity;
mod barrier;
mod caller;
mod channel;
mod cpuset;
mod device;
mod family;
mod futex;
mod in_sections;
mod kernel_lock;
mod kernel_locks;
mod kernel_mutex;
mod kernel_mutexes;
mod mutex;
mod pipe;
pub(crate) mod process;
mod rest;
pub(crate) mod sched_calls;
mod sections;
mod served;
mod sleep;
mod spinlock;
mod tasks;
mod warmth;

pub(crate) use activity::{Activity, Resume};
pub(crate) use caller::Caller;
pub(crate) use family::Family;
pub(crate) use in_sections::InSections;
pub(crate) use kernel_lock::{Meeting, Stage};
pub(crate) use kernel_locks::{Elsewhere, KernelLocks, Piece};
pub(crate) use kernel_mutex::ForMutex;
pub(crate) use kernel_mutexes::KernelMutexes;
pub(crate) use rest::{Length, Next, Rest, Slow};
pub(crate) use sleep::sleep_until;
pub(crate) use tasks::{Tasks, counters};
pub(crate) use warmth::{LastRun, Refill};

use crate::engine::hardware::Hw;
use crate::objects::Objects;
use crate::rng::Rng;
use crate::setup::Setup;
use crate::spec::Rwsems;
use barrier::Barriers;
use channel::Channels;
use device::Devices;
use futex::Futexes;
use mutex::Mutexes;
use process::Processes;
use scheduler::Scheduler;
use spinlock::Spinlocks;

/// The tasks of a run, and all objects.
#[derive(Debug)]
pub(crate) struct Userland {
    pub tasks: Tasks,
    pub processes: Processes,
    pub mutexes: Mutexes,
    pub kernel_locks: KernelLocks,
    pub kernel_mutexes: KernelMutexes,
    pub channels: Channels,
    pub futexes: Futexes,
    pub barriers: Barriers,
    pub spinlocks: Spinlocks,
    pub devices: Devices,
}

impl Userland {
    /// The objects of a setup, and no task yet; `spawned` will be there from the start, beside the idle ones.
    pub fn new(setup: &mut Setup, seed: u64, spawned: usize, rwsems: Option<Rwsems>) -> Userland {
        Userland {
            // Each CPU has an idle task and a stopper.
            tasks: Tasks::with_room_for(2 * setup.cpus() + spawned),
            processes: Processes::new(seed, spawned),
            kernel_locks: KernelLocks::new(rwsems),
            kernel_mutexes: KernelMutexes::default(),
            mutexes: Mutexes { specs: std::mem::take(&mut setup.mutexes) },
            channels: Channels::new(&setup.channels),
            futexes: Futexes::new(setup.futexes),
            barriers: Barriers::new(&setup.barriers),
            spinlocks: Spinlocks::new(&setup.spinlocks),
            devices: Devices::new(&setup.devices),
        }
    }

    /// All streams of tasks, of those that come as well, derive from this seed from now on.
    pub fn redraw(&self, seed: u64, k: &Scheduler<Hw>) {
        self.processes.seed.set(seed);
        for task in self.tasks.known(k) {
            self.tasks.with(task, |ctx| ctx.rng = Rng::of_task(seed, ctx.stream));
        }
    }

    /// What the objects are like.
    pub fn objects(&self) -> Objects {
        Objects {
            channels: self.channels.specs(),
            mutexes: self.mutexes.specs.clone(),
            barriers: self.barriers.parties(),
            futexes: self.futexes.number(),
            spinlocks: self.spinlocks.backoffs(),
            devices: self.devices.specs(),
        }
    }
}
