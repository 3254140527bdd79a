//! vmark: chat rooms over TCP loopback, as VolanoMark has them (fair-class 12.6).
//!
//! Each connection has four threads: the client's sender and receiver, the server's receiver and sender. A
//! message goes from a client's sender to its server receiver, which hands it to the server senders of all
//! others in the room, each of which passes it to its client receiver. Nobody waits for an answer.

use super::command::{options, parser, usage};
use super::error::LoadError;
use super::progress::{Remaining, Stopwatch, Tally};
use super::shown::seconds;
use super::spawn::program;
use super::{BuiltLoad, Entry, Length, Load, Results};
use crate::dist::Dist;
use crate::program::{Block, Template, Times};
use crate::units::{bytes, step_nanos};
use machine::{BarrierId, ChannelId, ChannelSpec, Setup};
use scheduler::Nanos;
use schema::{LoadResult, VmarkResult};

const NAME: &str = "vmark";

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    about: "Chat rooms over TCP loopback, four threads for each user, like VolanoMark; messages per \
            second.",
    ends: "When all messages are received; the time that takes is its result.",
    source: "seed 004 (fair-class 12.6)",
    command: parser::<Options>,
    parse,
};

/// As typed.
#[derive(Clone, Debug, clap::Args)]
struct Options {
    /// Chat rooms (10).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1_000),
    )]
    rooms: u32,
    /// Users of each room (20).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(2..=1_000),
    )]
    users: u32,
    /// Messages that each user sends (100).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
    )]
    count: u64,
    /// Model: messages that a connection holds in each direction before its sender waits (4).
    #[arg(
        long,
        value_name = "NUM",
        default_value_t = 4,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
    )]
    queue: u32,
    /// Model: CPU time of all steps, percent of those of fair-class 12.6 (100).
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 100,
        value_parser = clap::value_parser!(u64).range(1..=10_000),
    )]
    work: u64,
    /// Model: kernel time of a send over TCP loopback, its delivery included, nanoseconds without a unit
    /// (8us).
    #[arg(long, value_name = "TIME", default_value = "8us", value_parser = step_nanos)]
    send_cost: Nanos,
    /// Model: working set of each thread in bytes, K or M (30K).
    #[arg(long, value_name = "SIZE", default_value = "30K", value_parser = bytes)]
    working_set: u64,
}

/// Threads that one machine can reasonably be asked for.
const MOST_THREADS: u32 = 100_000;
const THREADS_PER_USER: u32 = 4;

fn parse(words: &[String]) -> Result<Box<dyn Load>, LoadError> {
    let options: Options = options(NAME, words)?;
    let threads = options.rooms * options.users * THREADS_PER_USER;
    if threads > MOST_THREADS {
        return Err(usage(NAME, format!("{threads} threads are too many: at most {MOST_THREADS}")));
    }
    Ok(Box::new(Vmark { options }))
}

#[derive(Debug)]
struct Vmark {
    options: Options,
}

/// CPU time of each step beyond the send, where it has one (fair-class 12.6: 12, 6 and 1.2 for each target,
/// 14, 9 µs, with sends of 8 and reads of 1.5).
const CLIENT_SENDER: Nanos = Nanos(4_000);
const SERVER_RECEIVER: Nanos = Nanos(4_500);
const EACH_TARGET: Nanos = Nanos(1_200);
const SERVER_SENDER: Nanos = Nanos(6_000);
const CLIENT_RECEIVER: Nanos = Nanos(7_500);
/// Kernel time of a small read (fair-class 12.1: 1 to 3 µs with the call).
const READ: Nanos = Nanos(1_500);
/// Times vary by this part of themselves, up and down (assumed).
const SPREAD: u64 = 4;
/// The server's own queues in memory grow as needed.
const UNLIMITED: u32 = u32::MAX;

/// What the threads of one build share.
#[derive(Debug)]
struct Shared {
    start: BarrierId,
    clock: Stopwatch,
    sent: Tally,
    received: Tally,
    remaining: Remaining,
}

/// The way of one user's messages.
struct Connection {
    /// From the client to the server.
    up: ChannelId,
    /// Messages that its server sender still has to pass on.
    outbox: ChannelId,
    /// From the server to the client.
    down: ChannelId,
}

impl Vmark {
    fn work(&self, time: Nanos) -> Dist {
        let mean = time.0 * self.options.work / 100;
        let spread = mean / SPREAD;
        Dist::up_to_longer(Nanos(mean - spread), Nanos(2 * spread))
    }

    fn connection(&self, setup: &mut Setup) -> Connection {
        let socket = ChannelSpec {
            sync: true,
            softirq: true,
            send_cost: Nanos(self.options.send_cost.0 * self.options.work / 100),
            receive_cost: READ,
            ..ChannelSpec::new(self.options.queue)
        };
        // A Java monitor is a futex: its wakeups give no hint.
        let monitor = ChannelSpec::new(UNLIMITED);
        Connection { up: setup.channel(socket), outbox: setup.channel(monitor), down: setup.channel(socket) }
    }

    /// The four threads of user number `own` of a room.
    fn threads(&self, room: &[Connection], own: usize, shared: &Shared) -> Result<Vec<Template>, LoadError> {
        let connection = &room[own];
        let (sent, others) = (self.options.count, room.len() as u64 - 1);
        let sends =
            Block::new().run(self.work(CLIENT_SENDER)).send(connection.up).observe(shared.sent.clone());
        let sender = Block::new()
            .barrier(shared.start)
            .observe(shared.clock.clone())
            .repeat(Times::Count(sent), sends);
        let mut takes = Block::new().receive(connection.up).run(self.work(SERVER_RECEIVER));
        for (number, target) in room.iter().enumerate() {
            if number != own {
                takes = takes.run(self.work(EACH_TARGET)).send(target.outbox);
            }
        }
        let server_receiver = Block::new().repeat(Times::Count(sent), takes);
        let passes =
            Block::new().receive(connection.outbox).run(self.work(SERVER_SENDER)).send(connection.down);
        let server_sender = Block::new().repeat(Times::Count(sent * others), passes);
        let reads = Block::new()
            .receive(connection.down)
            .run(self.work(CLIENT_RECEIVER))
            .observe(shared.received.clone())
            .iteration();
        let receiver = Block::new()
            .repeat(Times::Count(sent * others), reads)
            .observe(shared.clock.clone())
            .observe(shared.remaining.clone());
        let thread = |comm: &str, block| -> Result<Template, LoadError> {
            let program = program(NAME, block)?;
            Ok(Template { working_set_bytes: self.options.working_set, ..Template::new(comm, program) })
        };
        Ok(vec![
            thread("client-send", sender)?,
            thread("client-recv", receiver)?,
            thread("server-recv", server_receiver)?,
            thread("server-send", server_sender)?,
        ])
    }
}

impl Load for Vmark {
    fn length(&self) -> Length {
        Length::Work
    }

    fn build(&self, setup: &mut Setup) -> Result<BuiltLoad, LoadError> {
        let users = self.options.rooms * self.options.users;
        let shared = Shared {
            start: setup.barrier(users),
            clock: Stopwatch::default(),
            sent: Tally::default(),
            received: Tally::default(),
            remaining: Remaining::new(users),
        };
        for _ in 0..self.options.rooms {
            let room: Vec<Connection> = (0..self.options.users).map(|_| self.connection(setup)).collect();
            for own in 0..room.len() {
                for thread in self.threads(&room, own, &shared)? {
                    setup.spawn(Nanos::ZERO, thread.spec());
                }
            }
        }
        let remaining = shared.remaining.clone();
        Ok(BuiltLoad::new(
            remaining,
            Progress { rooms: self.options.rooms, users: self.options.users, shared },
        ))
    }
}

#[derive(Debug)]
struct Progress {
    rooms: u32,
    users: u32,
    shared: Shared,
}

impl Results for Progress {
    fn result(&self, load: String) -> LoadResult {
        let elapsed = self.shared.clock.elapsed().unwrap_or(Nanos::ZERO);
        LoadResult::Vmark(VmarkResult {
            load,
            rooms: self.rooms,
            users: self.users,
            sent: self.shared.sent.get(),
            received: self.shared.received.get(),
            seconds: seconds(self.shared.remaining.is_zero().then_some(elapsed)),
        })
    }
}
