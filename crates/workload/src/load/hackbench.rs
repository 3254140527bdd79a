//! hackbench: groups of senders that pass messages to all receivers of their group.
//!
//! Main creates receivers and senders, group by group; all wait until every one is there, then each sender
//! passes `loops` messages to each receiver, and main waits for them to end. The result is the time in
//! between.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::{Remaining, Stopwatch};
use super::shown::seconds;
use super::spawn::{PolicyName, program, spawn};
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::program::{Block, Child, Template, Times};
use crate::units::step_nanos;
use machine::{BarrierId, ChannelId, ChannelSpec, ForkKind, Room, Setup};
use scheduler::Nanos;
use schema::{HackbenchMode, HackbenchResult, LoadResult};

const NAME: &str = "hackbench";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Groups of senders and receivers that pass small messages through sockets or pipes.",
    ends: "When all messages are passed; the time that takes is its result.",
    source: "hackbench of rt-tests 2.x; costs measured on the recorded native-6.18 machine",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Number of groups (10).
    #[arg(
        short = 'g',
        long,
        value_name = "NUM",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1_000),
    )]
    groups: u32,
    /// Senders, and receivers, of each group (20).
    #[arg(
        short = 'f',
        long,
        value_name = "NUM",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=1_000),
    )]
    fds: u32,
    /// Messages of each sender to each receiver (100).
    #[arg(
        short = 'l',
        long,
        value_name = "LOOPS",
        default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..),
    )]
    loops: u64,
    /// Size of a message in bytes (100).
    #[arg(
        short = 's',
        long,
        visible_alias = "datasize",
        value_name = "SIZE",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=65_536),
    )]
    data_size: u32,
    /// Pipes in place of socket pairs.
    #[arg(short = 'p', long)]
    pipe: bool,
    /// Processes (the default).
    #[arg(short = 'P', long, overrides_with = "threads")]
    process: bool,
    /// Threads.
    #[arg(short = 'T', long, overrides_with = "process")]
    threads: bool,
    /// SCHED_FIFO of priority 1 for main, and so for all tasks, which inherit it.
    #[arg(short = 'F', long)]
    fifo: bool,
    /// Model: kernel time of a send beyond the bare system call, nanoseconds without a unit (pipe 255, socket
    /// 900).
    ///
    /// Measured for 100 bytes on a 2-CPU machine with kernel 6.18; larger messages take 0.1 ns a byte more
    /// (assumed).
    #[arg(long, value_name = "TIME", value_parser = step_nanos)]
    send_cost: Option<Nanos>,
    /// Model: kernel time of a receive beyond the bare system call, likewise (pipe 255, socket 670).
    #[arg(long, value_name = "TIME", value_parser = step_nanos)]
    receive_cost: Option<Nanos>,
}

/// Tasks that one machine can reasonably be asked for.
const MOST_TASKS: u32 = 100_000;

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let options: Options = options(NAME, words)?;
    let tasks = options.groups * options.fds * 2;
    if tasks > MOST_TASKS {
        return Err(usage(NAME, format!("{tasks} tasks are too many: at most {MOST_TASKS}")));
    }
    Ok(Box::new(Hackbench { options }))
}

#[derive(Debug)]
struct Hackbench {
    options: Options,
}

/// CPU time per message, from the recorded runs of 100-byte messages on the native-6.18 machine (2 busy
/// CPUs): `-p -P -g 4 -l 2000`, 3.2 million messages in 1.26 s, and `-T -g 2 -l 2000` (sockets), 1.6 million
/// in 1.49 s. Two bare system calls (117 ns each, microcosts) and the switches (1 µs each) are taken off.
/// Halved for pipes; sockets allocate their buffer on sending, so more of it is put there (assumed).
const PIPE_SEND: Nanos = Nanos(255);
const PIPE_RECEIVE: Nanos = Nanos(255);
const SOCKET_SEND: Nanos = Nanos(900);
const SOCKET_RECEIVE: Nanos = Nanos(670);
/// Message size of those runs; further bytes are copied at 10 GB/s (assumed).
const MEASURED_BYTES: u32 = 100;

impl Options {
    fn mode(&self) -> HackbenchMode {
        if self.threads { HackbenchMode::Thread } else { HackbenchMode::Process }
    }

    /// Its tasks run this.
    fn template(&self, block: Block) -> Result<Template, LoadError> {
        let mut task = Template::new(NAME, program(NAME, block)?);
        if self.fifo {
            task.policy = PolicyName::Fifo.policy(NAME, "main", 1)?;
        }
        Ok(task)
    }

    fn channel(&self) -> ChannelSpec {
        let room = if self.pipe { pipe_room(self.data_size) } else { socket_room(self.data_size) };
        let (send, receive) =
            if self.pipe { (PIPE_SEND, PIPE_RECEIVE) } else { (SOCKET_SEND, SOCKET_RECEIVE) };
        let copy = Nanos(u64::from(self.data_size.saturating_sub(MEASURED_BYTES)) / 10);
        ChannelSpec {
            room,
            sync: true,
            softirq: false,
            send_cost: self.send_cost.unwrap_or(send + copy),
            receive_cost: self.receive_cost.unwrap_or(receive + copy),
        }
    }
}

/// A pipe holds 16 pages, each with whole messages only, or messages of several pages.
pub(super) fn pipe_room(size: u32) -> Room {
    const PAGE: u32 = 4_096;
    const PAGES: u32 = 16;
    Room::Pages { pages: PAGES / size.div_ceil(PAGE), per_page: (PAGE / size).max(1) }
}

/// On a UNIX socket the sender may go on while its buffers take less than the default limit, and is woken
/// when they take a quarter of it. A buffer takes its header and the next power of two that holds the message
/// and the trailer (Linux on 64 bits).
pub(super) fn socket_room(size: u32) -> Room {
    const LIMIT: u32 = 212_992;
    const HEADER: u32 = 256;
    const TRAILER: u32 = 320;
    let buffer = HEADER + (size + TRAILER).next_power_of_two();
    Room::Messages { capacity: LIMIT.div_ceil(buffer), writers_wake_at: LIMIT / 4 / buffer }
}

/// What the tasks of one build share.
struct Shared {
    start: BarrierId,
    clock: Stopwatch,
    remaining: Remaining,
}

impl Hackbench {
    /// Children of one group in the order of their creation: receivers, each with a channel of its own, then
    /// senders.
    fn group(&self, shared: &Shared, setup: &mut Setup) -> Result<Vec<Template>, LoadError> {
        let fds = self.options.fds;
        let channels: Vec<ChannelId> = (0..fds).map(|_| setup.channel(self.options.channel())).collect();
        let all = u64::from(fds).saturating_mul(self.options.loops);
        let mut tasks = Vec::new();
        for channel in &channels {
            let receive = Block::new().repeat(Times::Count(all), Block::new().receive(*channel));
            tasks.push(self.child(receive, shared)?);
        }
        let round = channels.iter().fold(Block::new(), |block, channel| block.send(*channel));
        let send = Block::new().repeat(Times::Count(self.options.loops), round);
        let sender = self.child(send, shared)?;
        tasks.extend((0..fds).map(|_| sender.clone()));
        Ok(tasks)
    }

    fn child(&self, work: Block, shared: &Shared) -> Result<Template, LoadError> {
        let block = Block::new()
            .barrier(shared.start)
            .observe(shared.clock.clone())
            .then(work)
            .observe(shared.clock.clone())
            .observe(shared.remaining.clone());
        self.options.template(block)
    }
}

impl Load for Hackbench {
    fn length(&self) -> Length {
        Length::Work
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let tasks = self.options.groups * self.options.fds * 2;
        let shared = Shared {
            start: setup.barrier(tasks),
            clock: Stopwatch::default(),
            remaining: Remaining::new(tasks),
        };
        let kind = match self.options.mode() {
            HackbenchMode::Process => ForkKind::Fork,
            HackbenchMode::Thread => ForkKind::Thread,
        };
        let mut main = Block::new();
        for _ in 0..self.options.groups {
            for task in self.group(&shared, setup)? {
                main = main.fork(Child::from(task), kind);
            }
        }
        main = main.repeat(Times::Count(u64::from(tasks)), Block::new().wait_child());
        spawn(setup, &self.options.template(main)?);
        let Shared { clock, remaining, .. } = shared;
        let result = Progress { options: self.options.clone(), clock, remaining: remaining.clone() };
        Ok(BuiltLoad::new(remaining, result))
    }
}

#[derive(Debug)]
struct Progress {
    options: Options,
    clock: Stopwatch,
    remaining: Remaining,
}

impl Results for Progress {
    fn result(&self, load: String) -> LoadResult {
        LoadResult::Hackbench(HackbenchResult {
            load,
            mode: self.options.mode(),
            groups: self.options.groups,
            fds_per_group: self.options.fds * 2,
            tasks: self.options.groups * self.options.fds * 2,
            loops: self.options.loops,
            data_size_bytes: u64::from(self.options.data_size),
            time_s: seconds(self.clock.elapsed().filter(|_| self.remaining.is_zero())),
        })
    }
}
