//! Things that tasks share: channels, futexes, barriers, user spinlocks, devices (mutexes are the
//! scheduler's).

use crate::setup::MutexSpec;
use scheduler::Nanos;

/// A pipe or socket, see [`ChannelSpec`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct ChannelId(pub u32);

/// A futex word to wait on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FutexId(pub u32);

/// A pthread barrier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct BarrierId(pub u32);

/// A user-space spinlock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct SpinlockId(pub u32);

/// A device that serves requests, see [`DeviceSpec`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct DeviceId(pub u32);

/// What a device is like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceSpec {
    /// How many requests it serves at once, at least 1; later ones wait for the first that is done.
    pub at_once: u32,
    /// What people call it.
    pub name: String,
}

/// What a task does that has spun for a user-space spinlock in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backoff {
    /// It sleeps for a growing time (PostgreSQL, fair-class 12.4).
    Sleep,
    /// It sleeps until the release, which wakes all that do (the mutexes of MySQL's storage engine).
    Event,
}

/// What the objects of a run are like, by the numbers of their ids.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Objects {
    /// Channels.
    pub channels: Vec<ChannelSpec>,
    /// Mutexes.
    pub mutexes: Vec<MutexSpec>,
    /// Barriers: how many tasks each waits for.
    pub barriers: Vec<u32>,
    /// How many futexes there are.
    pub futexes: u32,
    /// User spinlocks.
    pub spinlocks: Vec<Backoff>,
    /// Devices.
    pub devices: Vec<DeviceSpec>,
}

/// What a channel is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelSpec {
    /// What it holds before a writer blocks, and when that one goes on.
    pub room: Room,
    /// Whether its wakeups carry the sync hint ("the waker is about to sleep", fair-class 12.2).
    pub sync: bool,
    /// Whether its wakeups happen in the soft interrupt that delivers the message, as those of TCP over
    /// loopback do: they say nothing about the habits of the task that sends (fair-class 6.6, 12.2).
    pub softirq: bool,
    /// Kernel CPU time of one send beyond the bare system call.
    pub send_cost: Nanos,
    /// Kernel CPU time of one receive beyond the bare system call.
    pub receive_cost: Nanos,
}

impl ChannelSpec {
    /// Holds this many messages, at least 1, and wakes a blocked writer at every read; its wakeups give no
    /// hint, and its messages cost the bare system calls.
    pub const fn new(capacity: u32) -> ChannelSpec {
        ChannelSpec {
            room: Room::Messages { capacity, writers_wake_at: capacity.saturating_sub(1) },
            sync: false,
            softirq: false,
            send_cost: Nanos::ZERO,
            receive_cost: Nanos::ZERO,
        }
    }
}

/// How much a channel holds (fair-class 12.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// A socket's: when there is room, all writers that wait are woken, and try again.
    Messages {
        /// Messages it holds, at least 1.
        capacity: u32,
        /// Writers are woken once at most so many messages are left, below `capacity`: of a UNIX socket when
        /// three quarters are free.
        writers_wake_at: u32,
    },
    /// A pipe's: its writers wait for a page, in the order of their coming, and each lets the next one go on.
    Pages {
        /// How many there are, at least 1.
        pages: u32,
        /// Messages of a page, at least 1.
        per_page: u32,
    },
}
