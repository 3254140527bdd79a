//! The threads of schbench.

use super::rounds::Rounds;
use crate::latency::LatencyRecorder;
use machine::{ChannelId, Env, Step};
use scheduler::{CpuId, MutexId, Nanos};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// What is counted, between two times of the run.
#[derive(Debug)]
pub(super) struct Statistics {
    begin: Nanos,
    end: Nanos,
    /// The last request that was counted.
    last: Cell<Nanos>,
    pub requests: Cell<u64>,
    /// From a worker's message until it runs.
    pub wakeups: LatencyRecorder,
    /// From the begin of a request to its end.
    pub latencies: LatencyRecorder,
    /// From when a request was handed out until it was done, without what it spins.
    pub delays: LatencyRecorder,
}

impl Statistics {
    pub fn from(begin: Nanos, end: Nanos) -> Statistics {
        let [wakeups, latencies, delays] = std::array::from_fn(|_| LatencyRecorder::new());
        let (last, requests) = (Cell::new(begin), Cell::new(0));
        Statistics { begin, end, last, requests, wakeups, latencies, delays }
    }

    fn is_counting(&self, now: Nanos) -> bool {
        (self.begin..self.end).contains(&now)
    }

    fn woken(&self, posted: Nanos, now: Nanos) {
        if self.is_counting(now) {
            self.wakeups.record(now.saturating_sub(posted));
        }
    }

    fn done(&self, began: Nanos, now: Nanos) {
        if self.is_counting(now) {
            self.requests.set(self.requests.get() + 1);
            self.latencies.record(now.saturating_sub(began));
            self.last.set(self.last.get().max(now));
        }
    }

    /// A request that `spins` for so long is done: never less than a microsecond late, as the program counts.
    fn delayed(&self, handed_out: Nanos, spins: Nanos, now: Nanos) {
        if self.is_counting(now) {
            let late = now.saturating_sub(handed_out + spins);
            self.delays.record(late.max(Nanos::from_micros(1)));
        }
    }

    /// Requests a second: of all the time that is counted, or where the load `is_over` only later, up to the
    /// last one.
    pub fn rps(&self, is_over: bool) -> u64 {
        let time = if is_over { self.end } else { self.last.get() } - self.begin;
        (self.requests.get() * 1_000_000_000).checked_div(time.0).unwrap_or(0)
    }
}

/// A message thread and its workers: what they tell each other.
#[derive(Debug)]
pub(super) struct Crew {
    messenger: ChannelId,
    /// Somebody has told the message thread to look, since it looked last.
    posted: Cell<bool>,
    workers: Vec<WorkerState>,
    /// Workers that are free and not woken yet, the newest last.
    free: RefCell<Vec<usize>>,
}

#[derive(Debug)]
struct WorkerState {
    channel: ChannelId,
    /// When it was last told to go on.
    posted_at: Cell<Nanos>,
    /// When requests at a rate were handed out that it has not taken over yet.
    pending: RefCell<VecDeque<Nanos>>,
    /// It sleeps, or is about to.
    waits: Cell<bool>,
}

impl Crew {
    pub fn new(messenger: ChannelId, workers: Vec<ChannelId>) -> Rc<Crew> {
        let state = |channel| WorkerState {
            channel,
            posted_at: Cell::default(),
            pending: RefCell::default(),
            waits: Cell::default(),
        };
        Rc::new(Crew {
            messenger,
            posted: Cell::default(),
            workers: workers.into_iter().map(state).collect(),
            free: RefCell::default(),
        })
    }

    /// A request at a rate for a worker, who is told of it if it sleeps.
    fn hand_out(&self, worker: usize, now: Nanos, steps: &mut VecDeque<Step>) {
        let worker = &self.workers[worker];
        worker.pending.borrow_mut().push_back(now);
        worker.posted_at.set(now);
        if worker.waits.replace(false) {
            steps.push_back(Step::TrySend(worker.channel));
        }
    }
}

/// A message thread.
#[derive(Debug)]
pub(super) struct Messenger {
    crew: Rc<Crew>,
    pace: Pace,
}

#[derive(Debug)]
enum Pace {
    /// Whoever is free gets the next request.
    Answers {
        /// After so long.
        after: Nanos,
    },
    /// Requests at a rate.
    Rate {
        per_second: u32,
        /// As before 1.0: eight requests, then a sleep.
        in_batches: bool,
        /// Of this second.
        handed_out: u32,
        since: Nanos,
        next_worker: usize,
    },
    /// Requests at a rate, so many at a time: as in 2016 to 2020.
    Batches {
        size: u32,
        /// The sleep before each.
        every: Nanos,
        /// Of this batch.
        left: u32,
        next_worker: usize,
    },
}

/// Requests between two sleeps, and the most that may wait for a worker: before 1.0, and since.
const BATCH: u32 = 8;
const MOST_PENDING: u32 = 128;
/// How long the message thread lets pass where a worker has that many.
const FULL: Nanos = Nanos::from_micros(100);
const SECOND: Nanos = Nanos::from_secs(1);

impl Messenger {
    pub fn answering(crew: Rc<Crew>, after: Nanos) -> Messenger {
        Messenger { crew, pace: Pace::Answers { after } }
    }

    pub fn at_rate(crew: Rc<Crew>, per_second: u32, in_batches: bool) -> Messenger {
        let (handed_out, since, next_worker) = (0, Nanos::ZERO, 0);
        Messenger { crew, pace: Pace::Rate { per_second, in_batches, handed_out, since, next_worker } }
    }

    /// As many batches in a second as the rate takes, the last one perhaps beyond it.
    pub fn in_batches(crew: Rc<Crew>, per_second: u32, size: u32) -> Messenger {
        let every = Nanos(SECOND.0 / u64::from(per_second.div_ceil(size)));
        Messenger { crew, pace: Pace::Batches { size, every, left: 0, next_worker: 0 } }
    }
}

impl Rounds for Messenger {
    fn plan(&mut self, env: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        let crew = &self.crew;
        match &mut self.pace {
            Pace::Answers { after } => {
                crew.posted.set(false);
                for worker in crew.free.take().into_iter().rev() {
                    crew.workers[worker].posted_at.set(env.now);
                    steps.push_back(Step::TrySend(crew.workers[worker].channel));
                }
                steps.push_back(Step::Receive(crew.messenger));
                if *after > Nanos::ZERO {
                    steps.push_back(Step::SleepFor(*after));
                }
            }
            Pace::Rate { per_second, in_batches, handed_out, since, next_worker } => {
                if *handed_out == 0 {
                    *since = env.now;
                }
                while steps.is_empty() {
                    if *handed_out == *per_second {
                        *handed_out = 0;
                        return steps.push_back(Step::SleepUntil(*since + SECOND));
                    }
                    *handed_out += 1;
                    let worker = *next_worker;
                    *next_worker = (worker + 1) % crew.workers.len();
                    let most = if *in_batches { BATCH } else { MOST_PENDING };
                    if crew.workers[worker].pending.borrow().len() > most as usize {
                        // This request is not handed out at all.
                        if !*in_batches {
                            steps.push_back(Step::SleepFor(FULL));
                        }
                        continue;
                    }
                    crew.hand_out(worker, env.now, steps);
                    if *in_batches && handed_out.is_multiple_of(BATCH) {
                        let each = SECOND.0 / u64::from(*per_second);
                        steps.push_back(Step::SleepFor(Nanos(each) * u64::from(BATCH)));
                    }
                }
            }
            Pace::Batches { size, every, left, next_worker } => {
                while steps.is_empty() {
                    if *left == 0 {
                        *left = *size;
                        return steps.push_back(Step::SleepFor(*every));
                    }
                    *left -= 1;
                    crew.hand_out(*next_worker, env.now, steps);
                    *next_worker = (*next_worker + 1) % crew.workers.len();
                }
            }
        }
    }
}

/// What a request costs its worker.
#[derive(Debug)]
pub(super) enum Request {
    /// It looks at the clock until so long has passed.
    Spin(Nanos),
    /// It sleeps, then multiplies.
    Multiply { sleep: Nanos, matrices: Multiplications },
}

/// The multiplications of a request.
#[derive(Debug)]
pub(super) struct Multiplications {
    pub time: Nanos,
    /// The lock of each CPU; none: they are done without.
    pub locks: Vec<MutexId>,
}

/// A worker thread.
#[derive(Debug)]
pub(super) struct Worker {
    crew: Rc<Crew>,
    number: usize,
    request: Rc<Request>,
    statistics: Rc<Statistics>,
    /// Requests come at a rate.
    at_rate: bool,
    /// When the requests were handed out that it has taken over.
    left: VecDeque<Nanos>,
    began: Nanos,
    stage: Stage,
}

/// What it has just done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Its requests: it is free.
    AllRequests,
    /// It has slept until a message came.
    Wait,
    /// It has slept for a request, or waited in vain for the lock of a CPU that it is no longer on.
    Sleep,
    /// It has got the lock of this CPU.
    Lock(CpuId),
    /// The request.
    Request,
}

impl Worker {
    pub fn new(
        crew: Rc<Crew>,
        number: usize,
        request: Rc<Request>,
        statistics: Rc<Statistics>,
        at_rate: bool,
    ) -> Worker {
        let (left, began, stage) = (VecDeque::new(), Nanos::ZERO, Stage::AllRequests);
        Worker { crew, number, request, statistics, at_rate, left, began, stage }
    }

    /// It waits for a message, unless a request has come already.
    fn asks(&mut self, now: Nanos, steps: &mut VecDeque<Step>) {
        let own = &self.crew.workers[self.number];
        if self.at_rate {
            if !own.pending.borrow().is_empty() {
                return self.takes_over(now, steps);
            }
            own.waits.set(true);
        } else {
            self.crew.free.borrow_mut().push(self.number);
            if !self.crew.posted.replace(true) {
                steps.push_back(Step::TrySend(self.crew.messenger));
            }
        }
        steps.push_back(Step::Receive(own.channel));
        self.stage = Stage::Wait;
    }

    /// The requests that have come, or the one that its message stands for.
    fn takes_over(&mut self, now: Nanos, steps: &mut VecDeque<Step>) {
        let own = &self.crew.workers[self.number];
        self.left = own.pending.take();
        if !self.at_rate {
            self.left.push_back(own.posted_at.get());
        }
        self.stage = Stage::AllRequests;
        if !self.left.is_empty() {
            self.begins(now, steps);
        }
    }

    /// A request begins.
    fn begins(&mut self, now: Nanos, steps: &mut VecDeque<Step>) {
        self.began = now;
        match &*self.request {
            Request::Spin(time) => {
                steps.push_back(Step::SpinUntil(now + *time));
                self.stage = Stage::Request;
            }
            Request::Multiply { sleep, .. } => {
                if *sleep > Nanos::ZERO {
                    steps.push_back(Step::SleepFor(*sleep));
                }
                self.stage = Stage::Sleep;
            }
        }
    }

    /// It multiplies, under the lock of the CPU on which it got it.
    fn multiplies(&mut self, cpu: CpuId, locked: Option<CpuId>, steps: &mut VecDeque<Step>) {
        let Request::Multiply { matrices, .. } = &*self.request else { return };
        let unlock = match (locked, matrices.locks.get(cpu.index())) {
            (Some(on), _) if on != cpu => {
                // It was moved while it waited.
                steps.push_back(Step::Unlock(matrices.locks[on.index()]));
                self.stage = Stage::Sleep;
                return;
            }
            (None, Some(lock)) => {
                steps.push_back(Step::Lock(*lock));
                self.stage = Stage::Lock(cpu);
                return;
            }
            (_, lock) => lock.map(|lock| Step::Unlock(*lock)),
        };
        if matrices.time > Nanos::ZERO {
            steps.push_back(Step::Compute(matrices.time));
        }
        steps.extend(unlock);
        self.stage = Stage::Request;
    }
}

impl Rounds for Worker {
    fn plan(&mut self, env: &mut Env<'_>, steps: &mut VecDeque<Step>) {
        while steps.is_empty() {
            match self.stage {
                Stage::AllRequests => self.asks(env.now, steps),
                Stage::Wait => {
                    self.statistics.woken(self.crew.workers[self.number].posted_at.get(), env.now);
                    self.takes_over(env.now, steps);
                }
                Stage::Sleep => self.multiplies(env.cpu, None, steps),
                Stage::Lock(on) => self.multiplies(env.cpu, Some(on), steps),
                Stage::Request => {
                    self.statistics.done(self.began, env.now);
                    let handed_out = self.left.pop_front();
                    if let (Some(handed_out), Request::Spin(time), true) =
                        (handed_out, &*self.request, self.at_rate)
                    {
                        self.statistics.delayed(handed_out, *time, env.now);
                    }
                    if !self.left.is_empty() {
                        self.begins(env.now, steps);
                    } else {
                        self.stage = Stage::AllRequests;
                    }
                }
            }
        }
    }
}
