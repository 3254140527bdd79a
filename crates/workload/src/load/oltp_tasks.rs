//! The two tasks of an oltp connection.

use super::progress::Remaining;
use super::rounds::Rounds;
use crate::latency::LatencyRecorder;
use machine::{ChannelId, Env, Rng, SpinlockId, Step};
use scheduler::{MutexId, Nanos};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// CPU times of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Work {
    /// Of the client, before it sends.
    pub client: Nanos,
    /// Of the server, for a read.
    pub server: Nanos,
    /// What many clients cost the server in addition.
    pub crowd: Nanos,
}

/// Requests of a transaction: BEGIN, 14 reads, COMMIT (fair-class 12.3).
const REQUESTS: u32 = 16;
/// BEGIN and COMMIT take this part of a read's server time (assumed: they touch no data).
const SHORT_REQUEST: u64 = 4;
/// User time after a send and after a receive, on either side (fair-class 12.4).
const AFTER_SEND: Nanos = Nanos(500);
const AFTER_RECEIVE: Nanos = Nanos(500);
/// Times vary by so many percent of themselves, up and down (fair-class 12.4).
const CLIENT_SPREAD: u64 = 30;
const SERVER_SPREAD: u64 = 40;
/// sysbench hands out a transaction under a mutex of the process (fair-class 12.4: once in 16 requests, 0.8
/// µs).
const HAND_OUT: Nanos = Nanos(800);

fn varied(time: Nanos, percent: u64, rng: &mut Rng) -> Nanos {
    let spread = time.0 * percent / 100;
    rng.between(Nanos(time.0 - spread), Nanos(time.0 + spread))
}

/// The locks of a database server, and how its requests use them.
#[derive(Debug)]
pub(super) struct Locks {
    spinlocks: Vec<SpinlockId>,
    mutexes: Vec<MutexId>,
    /// Of a read.
    read: Sections,
    /// Of BEGIN and COMMIT.
    short: Sections,
}

/// Critical sections of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sections {
    None,
    /// So many under user-space spinlocks, for so long each.
    Spinlock(u32, Nanos),
    /// Under mutexes.
    Mutex(u32, Nanos),
}

impl Locks {
    /// A read has six short sections under hot spinlocks. It takes the sleeping lock shared, which holds
    /// nobody up; the ends of a transaction take it alone (fair-class 12.4, where each request does).
    pub fn pgsql(spinlocks: Vec<SpinlockId>, mutexes: Vec<MutexId>, spin_hold: Nanos) -> Locks {
        let (read, short) = (Sections::Spinlock(6, spin_hold), Sections::Mutex(1, Nanos(2_000)));
        Locks { spinlocks, mutexes, read, short }
    }

    /// Four sections under mutexes in a read, one at the ends of a transaction (fair-class 12.5). All are
    /// taken for mutexes of the storage engine, which are spun for before a task sleeps.
    pub fn mysql(spinlocks: Vec<SpinlockId>) -> Locks {
        let (read, short) = (Sections::Spinlock(4, Nanos(1_200)), Sections::Spinlock(1, Nanos(1_200)));
        Locks { spinlocks, mutexes: Vec::new(), read, short }
    }

    /// A server without shared state.
    pub fn none() -> Locks {
        Locks { spinlocks: Vec::new(), mutexes: Vec::new(), read: Sections::None, short: Sections::None }
    }

    /// `before`, then `work` cut into equal parts by the sections; the time in the sections is part of it.
    fn request(&self, before: Nanos, work: Nanos, is_short: bool, rng: &mut Rng, steps: &mut VecDeque<Step>) {
        let sections = if is_short { self.short } else { self.read };
        let (number, hold) = match sections {
            Sections::None => (0, Nanos::ZERO),
            Sections::Spinlock(number, hold) | Sections::Mutex(number, hold) => (number, hold),
        };
        let part = Nanos(work.saturating_sub(hold * u64::from(number)).0 / u64::from(number + 1));
        let first = before + part;
        match sections {
            Sections::None => steps.push_back(Step::Compute(first)),
            Sections::Spinlock(..) => {
                let among = self.spinlocks.len() as u64;
                let locks = (0..number).map(|_| self.spinlocks[rng.below(among) as usize]);
                steps.push_back(Step::Sections(machine::Sections::new(locks, first, part, hold)));
            }
            Sections::Mutex(..) => {
                steps.push_back(Step::Compute(first));
                for _ in 0..number {
                    let mutex = self.mutexes[rng.below(self.mutexes.len() as u64) as usize];
                    let section = [Step::Lock(mutex), Step::Compute(hold), Step::Unlock(mutex)];
                    steps.extend(section.into_iter().chain([Step::Compute(part)]));
                }
            }
        }
    }
}

/// When to count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timing {
    pub begin: Nanos,
    pub end: Nanos,
}

/// What sysbench counts.
#[derive(Debug)]
pub(super) struct Statistics {
    timing: Timing,
    pub reads: Cell<u64>,
    pub others: Cell<u64>,
    pub transactions: Cell<u64>,
    /// The warm-up's too, BEGIN and COMMIT included.
    pub all_requests: Cell<u64>,
    /// Of transactions.
    pub latency: LatencyRecorder,
}

fn bump(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

impl Statistics {
    pub fn new(timing: Timing) -> Rc<Statistics> {
        Rc::new(Statistics {
            timing,
            reads: Cell::default(),
            others: Cell::default(),
            transactions: Cell::default(),
            all_requests: Cell::default(),
            latency: LatencyRecorder::new(),
        })
    }

    fn is_counting(&self, now: Nanos) -> bool {
        (self.timing.begin..self.timing.end).contains(&now)
    }

    fn answered(&self, now: Nanos, is_read: bool) {
        bump(&self.all_requests);
        if self.is_counting(now) {
            bump(if is_read { &self.reads } else { &self.others });
        }
    }

    fn committed(&self, began: Nanos, now: Nanos) {
        if self.is_counting(now) {
            bump(&self.transactions);
            self.latency.record(now.saturating_sub(began));
        }
    }
}

/// Whether request `number` of a transaction is BEGIN or COMMIT.
fn is_short(number: u32) -> bool {
    number == 0 || number == REQUESTS - 1
}

/// A thread of sysbench.
#[derive(Debug)]
pub(super) struct Client {
    requests: ChannelId,
    answers: ChannelId,
    work: Work,
    hand_out: MutexId,
    statistics: Rc<Statistics>,
    remaining: Remaining,
    /// Requests of the transaction under way that were answered; `None` before the first.
    answered: Option<u32>,
    began: Nanos,
}

impl Client {
    pub fn new(
        requests: ChannelId,
        answers: ChannelId,
        work: Work,
        hand_out: MutexId,
        statistics: Rc<Statistics>,
        remaining: Remaining,
    ) -> Client {
        let began = Nanos::ZERO;
        Client { requests, answers, work, hand_out, statistics, remaining, answered: None, began }
    }
}

impl Rounds for Client {
    fn plan(&mut self, env: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        let mut number = 0;
        if let Some(answered) = self.answered {
            self.statistics.answered(env.now, !is_short(answered));
            number = (answered + 1) % REQUESTS;
        }
        if number == 0 {
            if self.answered.is_some() {
                self.statistics.committed(self.began, env.now);
                *env.iterations += 1;
            }
            if env.now >= self.statistics.timing.end {
                return self.remaining.one_less();
            }
            self.began = env.now;
            steps.extend([Step::Lock(self.hand_out), Step::Compute(HAND_OUT), Step::Unlock(self.hand_out)]);
        }
        let before = if self.answered.is_some() { AFTER_RECEIVE } else { Nanos::ZERO };
        self.answered = Some(number);
        steps.extend([
            Step::Compute(before + varied(self.work.client, CLIENT_SPREAD, env.rng)),
            Step::Send(self.requests),
            Step::Compute(AFTER_SEND),
            Step::Receive(self.answers),
        ]);
    }
}

/// A process of PostgreSQL or a thread of MySQL.
#[derive(Debug)]
pub(super) struct Server {
    requests: ChannelId,
    answers: ChannelId,
    work: Work,
    locks: Rc<Locks>,
    /// Of the transaction under way.
    number: u32,
}

impl Server {
    pub fn new(requests: ChannelId, answers: ChannelId, work: Work, locks: Rc<Locks>) -> Server {
        Server { requests, answers, work, locks, number: 0 }
    }
}

impl Rounds for Server {
    fn plan(&mut self, env: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        steps.push_back(Step::Receive(self.requests));
        let work = varied(self.work.server, SERVER_SPREAD, env.rng);
        let is_short = is_short(self.number);
        let work = if is_short { Nanos(work.0 / SHORT_REQUEST) } else { work };
        self.locks.request(AFTER_RECEIVE, work + self.work.crowd, is_short, env.rng, steps);
        self.number = (self.number + 1) % REQUESTS;
        steps.extend([Step::Send(self.answers), Step::Compute(AFTER_SEND)]);
    }
}
