//! Channels: pipes and sockets with their messages.

use super::activity::Resume;
use super::caller::{Caller, Rest};
use crate::engine::hardware::Hw;
use crate::objects::{ChannelId, ChannelSpec};
use scheduler::wakeup::{WakeFlags, try_to_wake_up};
use scheduler::{TaskId, TaskState, ThisCpu};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Every channel of a run.
#[derive(Debug)]
pub(crate) struct Channels {
    channels: RefCell<Vec<Channel>>,
    /// Messages from outside that found their channel full.
    pub outside_lost: Cell<u64>,
}

#[derive(Debug)]
struct Channel {
    spec: ChannelSpec,
    messages: u32,
    readers: VecDeque<TaskId>,
    writers: VecDeque<TaskId>,
    /// Who read last, hence where a message from outside should interrupt.
    last_reader: Option<TaskId>,
}

/// What became of a message.
enum Put {
    /// The channel is full.
    Full,
    /// It is in; this reader sleeps for it.
    Stored { wake: Option<TaskId> },
}

impl Channel {
    fn put(&mut self) -> Put {
        if self.messages >= self.spec.capacity {
            return Put::Full;
        }
        self.messages += 1;
        Put::Stored { wake: self.readers.pop_front() }
    }

    /// `task` waits for this channel, and is woken by who reads or writes.
    fn wakes(&self, task: TaskId) -> Rest {
        Rest::Wake { task, flags: WakeFlags { sync: self.spec.sync, interrupt: self.spec.softirq } }
    }
}

impl Channels {
    /// Empty ones, by number.
    pub fn new(specs: &[ChannelSpec]) -> Channels {
        let channel = |spec: &ChannelSpec| Channel {
            spec: *spec,
            messages: 0,
            readers: VecDeque::new(),
            writers: VecDeque::new(),
            last_reader: None,
        };
        let channels = specs.iter().map(channel).collect();
        Channels { channels: RefCell::new(channels), outside_lost: Cell::new(0) }
    }

    fn with<T>(&self, id: ChannelId, f: impl FnOnce(&mut Channel) -> T) -> T {
        f(&mut self.channels.borrow_mut()[id.0 as usize])
    }

    /// What a channel is like.
    pub fn spec(&self, id: ChannelId) -> ChannelSpec {
        self.with(id, |channel| channel.spec)
    }

    /// What they are like.
    pub fn specs(&self) -> Vec<ChannelSpec> {
        self.channels.borrow().iter().map(|channel| channel.spec).collect()
    }

    /// Who read last.
    pub fn last_reader(&self, id: ChannelId) -> Option<TaskId> {
        self.with(id, |channel| channel.last_reader)
    }

    /// write(2), in the kernel; sleeps while the channel is full.
    pub fn send(&self, call: Caller<'_>, id: ChannelId) -> Rest {
        self.with(id, |channel| match channel.put() {
            Put::Full => {
                channel.writers.push_back(call.p);
                call.sleeps(TaskState::Interruptible, Resume::Send(id))
            }
            Put::Stored { wake: Some(reader) } => channel.wakes(reader),
            Put::Stored { wake: None } => Rest::Nothing,
        })
    }

    /// read(2), in the kernel; sleeps while the channel is empty.
    pub fn receive(&self, call: Caller<'_>, id: ChannelId) -> Rest {
        self.with(id, |channel| {
            channel.last_reader = Some(call.p);
            if channel.messages == 0 {
                channel.readers.push_back(call.p);
                return call.sleeps(TaskState::Interruptible, Resume::Receive(id));
            }
            channel.messages -= 1;
            let room = channel.messages <= channel.spec.writers_wake_at;
            let writer = if room { channel.writers.pop_front() } else { None };
            writer.map_or(Rest::Nothing, |writer| channel.wakes(writer))
        })
    }

    /// Puts a message without waiting for room: a full channel loses it.
    pub fn try_send(&self, id: ChannelId) -> Rest {
        match self.with(id, Channel::put) {
            Put::Stored { wake: Some(reader) } => Rest::wake(reader),
            Put::Stored { wake: None } | Put::Full => Rest::Nothing,
        }
    }

    /// The same for one channel after the other.
    pub async fn try_send_all(&self, call: Caller<'_>, ids: Box<[ChannelId]>) {
        for id in ids {
            if let Put::Stored { wake: Some(reader) } = self.with(id, Channel::put) {
                call.wake(reader).await;
            }
        }
    }

    /// An interrupt on this CPU brings a message. A full channel loses it, which is counted.
    pub async fn message_by_interrupt(&self, me: ThisCpu<'_, Hw>, id: ChannelId) {
        match self.with(id, Channel::put) {
            Put::Full => self.outside_lost.set(self.outside_lost.get() + 1),
            Put::Stored { wake: Some(reader) } => {
                try_to_wake_up(me, reader, WakeFlags { sync: false, interrupt: true }).await;
            }
            Put::Stored { wake: None } => {}
        }
    }
}
