//! What tasks share besides mutexes: channels, futexes, barriers, user spinlocks, devices, and who waits at
//! each.

use crate::objects::{Backoff, ChannelSpec, DeviceSpec, Objects, SpinlockId};
use crate::setup::{MutexSpec, Setup};
use scheduler::{Nanos, Prio, TaskId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// All shared objects of a run.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub channels: Vec<Channel>,
    pub futexes: Vec<WaitQueue>,
    pub barriers: Vec<Barrier>,
    pub spinlocks: Vec<Spinlock>,
    pub devices: Vec<Device>,
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

/// A device and the requests that it serves, first come, first served.
#[derive(Debug)]
pub(crate) struct Device {
    spec: DeviceSpec,
    /// When each of its places gets free, as far as requests have been given out; at most `at_once`.
    busy_until: BinaryHeap<Reverse<Nanos>>,
}

impl Device {
    fn new(spec: DeviceSpec) -> Device {
        Device { spec, busy_until: BinaryHeap::new() }
    }

    /// Takes a request, and says when it will be served.
    pub fn serve(&mut self, now: Nanos, service: Nanos) -> Nanos {
        while self.busy_until.peek().is_some_and(|Reverse(free)| *free <= now) {
            self.busy_until.pop();
        }
        let is_full = self.busy_until.len() >= self.spec.at_once as usize;
        let begins = if is_full { self.busy_until.pop().map_or(now, |Reverse(free)| free) } else { now };
        let served = begins.saturating_add(service);
        self.busy_until.push(Reverse(served));
        served
    }

    /// Whether a request has not been served at `now`.
    pub fn is_busy(&self, now: Nanos) -> bool {
        self.busy_until.iter().any(|Reverse(free)| *free > now)
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
            devices: setup.devices.iter().cloned().map(Device::new).collect(),
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
            devices: self.devices.iter().map(|device| device.spec.clone()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(at_once: u32, requests: &[(u64, u64)]) -> Vec<u64> {
        let mut device = Device::new(DeviceSpec { at_once, name: "254,0".into() });
        requests.iter().map(|(now, service)| device.serve(Nanos(*now), Nanos(*service)).0).collect()
    }

    #[test]
    fn a_device_serves_so_many_at_once_and_the_others_in_the_order_in_which_they_came() {
        let requests = [(0, 10), (1, 10), (2, 10), (3, 10), (30, 10)];
        assert_eq!(served(u32::MAX, &requests), [10, 11, 12, 13, 40]);
        assert_eq!(served(2, &requests), [10, 11, 20, 21, 40]);
        assert_eq!(served(1, &requests), [10, 20, 30, 40, 50]);
    }
}
