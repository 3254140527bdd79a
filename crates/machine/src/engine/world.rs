//! What tasks share besides mutexes: channels, futexes, barriers, user spinlocks, and who waits at each.

use crate::objects::{Backoff, ChannelSpec, Objects, SpinlockId};
use crate::setup::{MutexSpec, Setup};
use scheduler::{Nanos, Prio, TaskId};
use std::collections::VecDeque;

/// All shared objects of a run.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub channels: Vec<Channel>,
    pub futexes: Vec<WaitQueue>,
    pub barriers: Vec<Barrier>,
    pub spinlocks: Vec<Spinlock>,
}

/// A pipe or socket with its messages.
#[derive(Debug)]
pub(crate) struct Channel {
    pub spec: ChannelSpec,
    pub messages: u32,
    pub readers: VecDeque<TaskId>,
    pub writers: VecDeque<TaskId>,
    /// Who read last, hence where a message from outside should interrupt.
    pub last_reader: Option<TaskId>,
}

/// Futex waiters: RT ones by their own priority, all others behind them; first come first served among equals
/// (rt-class 7.6).
#[derive(Debug, Default)]
pub(crate) struct WaitQueue(VecDeque<Waiting>);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    task: TaskId,
    prio: Prio,
}

impl WaitQueue {
    pub fn push(&mut self, task: TaskId, normal_prio: Prio) {
        let prio = normal_prio.min(Prio::NO_RT);
        let at = self.0.partition_point(|w| w.prio <= prio);
        self.0.insert(at, Waiting { task, prio });
    }

    pub fn pop(&mut self) -> Option<TaskId> {
        self.0.pop_front().map(|w| w.task)
    }
}

/// A pthread barrier.
#[derive(Debug)]
pub(crate) struct Barrier {
    pub parties: u32,
    pub waiting: Vec<TaskId>,
}

/// A user-space spinlock (fair-class 12.4).
#[derive(Debug)]
pub(crate) struct Spinlock {
    pub owner: Option<TaskId>,
    /// Tries before the first sleep; learns between 10 and 1000.
    pub spins_per_delay: u32,
    /// Sleeps so far: the counter to watch for lock-holder preemption.
    pub sleeps: u64,
    /// What a task does that has spun in vain.
    pub backoff: Backoff,
    /// Who sleeps until the release.
    pub waiters: Vec<TaskId>,
    /// Who is going to hold it, and when.
    pub plans: Vec<super::sections::Plan>,
}

impl Spinlock {
    fn new(backoff: Backoff) -> Spinlock {
        Spinlock {
            owner: None,
            spins_per_delay: 100,
            sleeps: 0,
            backoff,
            waiters: Vec::new(),
            plans: Vec::new(),
        }
    }
}

/// How far a task is with taking a spinlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SpinAttempt {
    pub lock: SpinlockId,
    /// Tries left before it sleeps.
    pub tries_left: u32,
    /// Last sleep; zero before the first.
    pub slept: Nanos,
}

impl World {
    pub fn new(setup: &Setup) -> World {
        let channel = |spec: &ChannelSpec| Channel {
            spec: *spec,
            messages: 0,
            readers: VecDeque::new(),
            writers: VecDeque::new(),
            last_reader: None,
        };
        World {
            channels: setup.channels.iter().map(channel).collect(),
            futexes: (0..setup.futexes).map(|_| WaitQueue::default()).collect(),
            barriers: setup.barriers.iter().map(|n| Barrier { parties: *n, waiting: Vec::new() }).collect(),
            spinlocks: setup.spinlocks.iter().copied().map(Spinlock::new).collect(),
        }
    }

    /// What they are like; the mutexes themselves are the scheduler's.
    pub fn objects(&self, mutexes: &[MutexSpec]) -> Objects {
        Objects {
            channels: self.channels.iter().map(|channel| channel.spec).collect(),
            mutexes: mutexes.to_vec(),
            barriers: self.barriers.iter().map(|barrier| barrier.parties).collect(),
            futexes: self.futexes.len() as u32,
            spinlocks: self.spinlocks.iter().map(|lock| lock.backoff).collect(),
        }
    }
}
