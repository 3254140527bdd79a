//! Channels: pipes and sockets with their messages.

use super::activity::Resume;
use super::caller::Caller;
use super::pipe::{Pages, Writer};
use super::rest::{Rest, Slow};
use crate::engine::hardware::Hw;
use crate::objects::{ChannelId, ChannelSpec, Room};
use scheduler::wakeup::{WakeFlags, try_to_wake_up};
use scheduler::{MutexId, Nanos, Scheduler, TaskId, TaskState, ThisCpu};
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
    held: Held,
    readers: VecDeque<TaskId>,
    writers: VecDeque<TaskId>,
    /// A pipe's, which its reads and writes take.
    mutex: Option<MutexId>,
    /// Who read last, hence where a message from outside should interrupt.
    last_reader: Option<TaskId>,
}

/// The messages that nobody has read.
#[derive(Debug)]
enum Held {
    Messages { count: u32, capacity: u32, writers_wake_at: u32 },
    Pages(Pages),
}

impl Held {
    fn new(room: Room) -> Held {
        match room {
            Room::Messages { capacity, writers_wake_at } => {
                Held::Messages { count: 0, capacity, writers_wake_at }
            }
            Room::Pages { pages, per_page } => Held::Pages(Pages::new(pages, per_page)),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Held::Messages { count, .. } => *count == 0,
            Held::Pages(pages) => pages.is_empty(),
        }
    }

    /// Puts a message in, if there is room for this writer.
    fn put(&mut self, writer: Writer) -> bool {
        match self {
            Held::Messages { count, capacity, .. } => {
                let stored = *count < *capacity;
                *count += u32::from(stored);
                stored
            }
            Held::Pages(pages) => pages.put(writer),
        }
    }

    /// Takes a message out, of which there is one. Whether that makes room for those that sleep for it.
    fn take(&mut self) -> bool {
        match self {
            Held::Messages { count, writers_wake_at, .. } => {
                *count -= 1;
                *count <= *writers_wake_at
            }
            Held::Pages(pages) => pages.take(),
        }
    }
}

/// What became of a message.
enum Put {
    /// The channel is full.
    Full,
    /// It is in; this reader sleeps for it.
    Stored { wake: Option<TaskId> },
}

impl Channel {
    fn put(&mut self, writer: Writer) -> Put {
        if self.held.put(writer) { Put::Stored { wake: self.readers.pop_front() } } else { Put::Full }
    }

    /// There is room: one that waits for a pipe is woken, of those that wait for a socket all are.
    fn lets_in(&mut self, call: Caller<'_>, id: ChannelId, waiting: usize) -> Rest {
        if waiting > 1 && matches!(self.held, Held::Messages { .. }) {
            return call.slowly(Slow::WakeWriters { channel: id, waiting });
        }
        self.writers.pop_front().map_or(Rest::Nothing, |writer| self.wakes(writer))
    }

    /// Whom a writer lets go on that has slept itself.
    fn next_writer(&mut self) -> Option<TaskId> {
        match &self.held {
            Held::Pages(pages) if !pages.is_full() => self.writers.pop_front(),
            Held::Pages(_) | Held::Messages { .. } => None,
        }
    }

    /// `task` waits for this channel, and is woken by who reads or writes.
    fn wakes(&self, task: TaskId) -> Rest {
        Rest::Wake { task, flags: self.flags() }
    }

    fn flags(&self) -> WakeFlags {
        WakeFlags { sync: self.spec.sync, interrupt: self.spec.softirq, exiting: false }
    }

    fn waits_for_room(&mut self, call: Caller<'_>, id: ChannelId) -> Rest {
        self.writers.push_back(call.p);
        call.sleeps(TaskState::Interruptible, Resume::SendAgain(id))
    }
}

impl Channels {
    /// Empty ones, by number.
    pub fn new(specs: &[ChannelSpec]) -> Channels {
        let channel = |spec: &ChannelSpec| Channel {
            spec: *spec,
            held: Held::new(spec.room),
            readers: VecDeque::new(),
            writers: VecDeque::new(),
            mutex: None,
            last_reader: None,
        };
        let channels = specs.iter().map(channel).collect();
        Channels { channels: RefCell::new(channels), outside_lost: Cell::new(0) }
    }

    /// Gives each pipe its mutex.
    pub fn create_mutexes(&self, k: &Scheduler<Hw>) {
        for channel in self.channels.borrow_mut().iter_mut() {
            if matches!(channel.held, Held::Pages(_)) {
                channel.mutex = Some(k.mutexes.create_of_kernel(&k.config.rules));
            }
        }
    }

    /// The mutex that who reads or writes takes: sockets have none.
    #[inline]
    pub fn mutex(&self, id: ChannelId) -> Option<MutexId> {
        self.with(id, |channel| channel.mutex)
    }

    fn with<T>(&self, id: ChannelId, f: impl FnOnce(&mut Channel) -> T) -> T {
        f(&mut self.channels.borrow_mut()[id.0 as usize])
    }

    /// CPU time in the kernel of a write.
    #[inline]
    pub fn send_cost(&self, id: ChannelId) -> Nanos {
        self.with(id, |channel| channel.spec.send_cost)
    }

    /// That of a read.
    #[inline]
    pub fn receive_cost(&self, id: ChannelId) -> Nanos {
        self.with(id, |channel| channel.spec.receive_cost)
    }

    /// Whether who reads has to wait.
    pub fn is_empty(&self, id: ChannelId) -> bool {
        self.with(id, |channel| channel.held.is_empty())
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
        self.with(id, |channel| match channel.put(Writer::Comes) {
            Put::Full => channel.waits_for_room(call, id),
            Put::Stored { wake: Some(reader) } => channel.wakes(reader),
            Put::Stored { wake: None } => Rest::Nothing,
        })
    }

    /// The same after a sleep.
    pub fn send_again(&self, call: Caller<'_>, id: ChannelId) -> Rest {
        self.with(id, |channel| match channel.put(Writer::HasSlept) {
            Put::Full => channel.waits_for_room(call, id),
            Put::Stored { wake } => match (wake, channel.next_writer()) {
                (Some(reader), Some(writer)) => {
                    call.slowly(Slow::WakeBoth { first: reader, second: writer, flags: channel.flags() })
                }
                (one, other) => one.or(other).map_or(Rest::Nothing, |task| channel.wakes(task)),
            },
        })
    }

    /// read(2), in the kernel; sleeps while the channel is empty.
    pub fn receive(&self, call: Caller<'_>, id: ChannelId) -> Rest {
        self.with(id, |channel| {
            channel.last_reader = Some(call.p);
            if channel.held.is_empty() {
                channel.readers.push_back(call.p);
                return call.sleeps(TaskState::Interruptible, Resume::Receive(id));
            }
            let room = channel.held.take();
            match channel.writers.len() {
                waiting if room && waiting > 0 => channel.lets_in(call, id, waiting),
                _ => Rest::Nothing,
            }
        })
    }

    /// Wakes so many of those that wait for room, one after the other.
    pub async fn wake_writers(&self, me: ThisCpu<'_, Hw>, id: ChannelId, waiting: usize) {
        for _ in 0..waiting {
            let next = self.with(id, |channel| Some((channel.writers.pop_front()?, channel.flags())));
            let Some((writer, flags)) = next else { break };
            try_to_wake_up(me, writer, flags).await;
        }
    }

    /// Puts a message without waiting for room: a full channel loses it.
    pub fn try_send(&self, id: ChannelId) -> Rest {
        match self.with(id, |channel| channel.put(Writer::Comes)) {
            Put::Stored { wake: Some(reader) } => Rest::wake(reader),
            Put::Stored { wake: None } | Put::Full => Rest::Nothing,
        }
    }

    /// The same for one channel after the other.
    pub async fn try_send_all(&self, call: Caller<'_>, ids: Box<[ChannelId]>) {
        for id in ids {
            if let Put::Stored { wake: Some(reader) } = self.with(id, |channel| channel.put(Writer::Comes)) {
                call.wake(reader).await;
            }
        }
    }

    /// An interrupt on this CPU brings a message. A full channel loses it, which is counted.
    pub async fn message_by_interrupt(&self, me: ThisCpu<'_, Hw>, id: ChannelId) {
        match self.with(id, |channel| channel.put(Writer::Comes)) {
            Put::Full => self.outside_lost.set(self.outside_lost.get() + 1),
            Put::Stored { wake: Some(reader) } => {
                try_to_wake_up(me, reader, WakeFlags { sync: false, interrupt: true, exiting: false }).await;
            }
            Put::Stored { wake: None } => {}
        }
    }
}
