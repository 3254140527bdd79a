//! Things that tasks share: channels, futexes, barriers, user spinlocks, devices (mutexes are the
//! scheduler's).

use crate::setup::MutexSpec;

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
    /// Messages it holds before a writer blocks, at least 1.
    pub capacity: u32,
    /// A blocked writer is woken once at most this many messages are left, below `capacity`: a pipe when its
    /// reader has emptied a page, a UNIX socket when three quarters are free. `capacity` − 1 wakes at every
    /// read.
    pub writers_wake_at: u32,
    /// Messages of a page, if it is a pipe, whose writers wait for pages and let each other go on (fair-class
    /// 12.2): `writers_wake_at` says nothing then.
    pub per_page: Option<u32>,
    /// Whether its wakeups carry the sync hint ("the waker is about to sleep", fair-class 12.2).
    pub sync: bool,
    /// Whether its wakeups happen in the soft interrupt that delivers the message, as those of TCP over
    /// loopback do: they say nothing about the habits of the task that sends (fair-class 6.6, 12.2).
    pub softirq: bool,
    /// Kernel CPU time of one send beyond the bare system call.
    pub send_cost: scheduler::Nanos,
    /// Kernel CPU time of one receive beyond the bare system call.
    pub receive_cost: scheduler::Nanos,
}
