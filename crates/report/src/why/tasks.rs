//! Where each task is at each time, what it is called, and which mutexes it has.

use super::course::Stopped;
use super::cpus::{Piece, Since, at, pieces};
use schema::why::Budget;
use schema::{CpuId, LogPrevState, LogRecord, LogStep, Nanos, Prio};

/// Where a task is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// It has this CPU.
    Runs(CpuId),
    /// It waits for this CPU.
    Waits(CpuId),
    /// It sleeps for this mutex.
    WantsMutex(u32),
    /// It sleeps for something else, or is not there.
    Sleeps,
}

impl Place {
    /// Where it runs, or waits to.
    fn cpu(self) -> Option<CpuId> {
        match self {
            Place::Runs(cpu) | Place::Waits(cpu) => Some(cpu),
            Place::WantsMutex(_) | Place::Sleeps => None,
        }
    }
}

/// What a task does to a mutex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Owns {
    pub mutex: u32,
    pub owns: bool,
}

/// One task.
#[derive(Debug, Default)]
pub(super) struct Task {
    names: Vec<Since<usize>>,
    comms: Vec<Box<str>>,
    places: Vec<Since<Place>>,
    prios: Vec<Since<Prio>>,
    boosted: Vec<Since<bool>>,
    /// The CPUs that it may use; all, before there is one.
    allowed: Vec<(Nanos, Box<[CpuId]>)>,
    /// Since when its deadline budget keeps it away, and no longer does.
    pub throttled: Vec<Since<bool>>,
    pub steps: Steps,
    /// When the interrupt of its timer last arrived.
    pub timer_raised: Nanos,
    /// The mutexes that it takes and gives back, in the order of time.
    pub owns: Vec<Since<Owns>>,
}

/// The step of its program that it has taken last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// When.
    pub at: Nanos,
    pub last: Call,
    /// When it last left a CPU, and last executed behind that.
    pub left: Nanos,
    pub came: Nanos,
    /// It has slept since that step.
    pub slept: bool,
}

/// A step, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Call {
    /// It sleeps until this time.
    Sleep(Nanos),
    Lock(u32),
    /// It executes, or becomes another program: who is woken on the way was not what it set about.
    Work,
    #[default]
    Other,
}

impl Task {
    pub fn is_called(&mut self, now: Nanos, comm: &str) {
        self.names.push(Since { from: now, is: self.comms.len() });
        self.comms.push(comm.into());
    }

    /// Its command name then; the first one before it has one.
    pub fn comm_at(&self, time: Nanos) -> &str {
        let place = at(&self.names, time).map_or(0, |since| since.is);
        self.comms.get(place).map_or("?", |comm| comm)
    }

    pub fn is_at(&mut self, now: Nanos, is: Place) {
        self.places.push(Since { from: now, is });
    }

    pub fn place(&self) -> Place {
        self.places.last().map_or(Place::Sleeps, |since| since.is)
    }

    pub fn may_use(&mut self, now: Nanos, cpus: &[CpuId]) {
        self.allowed.push((now, cpus.into()));
    }

    /// Whether it may use a CPU then.
    pub fn is_allowed_on(&self, time: Nanos, cpu: CpuId) -> bool {
        let next = self.allowed.partition_point(|(from, _)| *from <= time);
        next.checked_sub(1).is_none_or(|last| self.allowed[last].1.contains(&cpu))
    }

    /// Where it is, or comes next, from a time on: on which CPU, or in whose queue.
    pub fn comes_to(&self, time: Nanos) -> Option<CpuId> {
        let next = self.places.partition_point(|since| since.from < time);
        self.places[next..].iter().find_map(|since| since.is.cpu())
    }

    /// When it is queued to run, from a time on.
    pub fn queued_from(&self, time: Nanos) -> Option<Nanos> {
        let next = self.places.partition_point(|since| since.from < time);
        self.places[next..].iter().find(|since| matches!(since.is, Place::Waits(_))).map(|since| since.from)
    }

    /// When it was last woken, as far as it has been.
    pub fn woken(&self) -> Option<Nanos> {
        let woken = |pair: &&[Since<Place>]| pair[0].is == Place::Sleeps && pair[1].is.cpu().is_some();
        self.places.windows(2).rev().find(woken).map(|pair| pair[1].from)
    }

    /// The queue in which it waits then, and since when.
    pub fn waits_at(&self, time: Nanos) -> Option<Since<CpuId>> {
        let place = at(&self.places, time)?;
        let Place::Waits(cpu) = place.is else { return None };
        Some(Since { from: place.from, is: cpu })
    }

    pub fn has_prio(&mut self, now: Nanos, is: Prio) {
        if self.prios.last().is_none_or(|since| since.is != is) {
            self.prios.push(Since { from: now, is });
        }
    }

    pub fn prio_at(&self, time: Nanos) -> Prio {
        let first = || self.prios.first().copied();
        at(&self.prios, time).or_else(first).map_or(Prio::IDLE, |since| since.is)
    }

    pub fn inherits(&mut self, now: Nanos, old: Prio, new: Prio) {
        self.boosted.push(Since { from: now, is: new < old });
        self.has_prio(now, new);
    }

    pub fn is_boosted_at(&self, time: Nanos) -> bool {
        at(&self.boosted, time).is_some_and(|since| since.is)
    }

    pub fn is_throttled(&mut self, now: Nanos, is: bool) {
        self.throttled.push(Since { from: now, is });
    }

    /// Until when its deadline budget keeps it away, if it does then.
    pub fn throttled_until(&self, time: Nanos) -> Option<Stopped> {
        let place = self.throttled.partition_point(|since| since.from <= time);
        let is = place.checked_sub(1).is_some_and(|last| self.throttled[last].is);
        let until = || self.throttled.get(place).map(|next| next.from);
        is.then(|| Stopped { budget: Budget::Deadline {}, until: until() })
    }

    pub fn places(&self, from: Nanos, to: Nanos) -> Vec<Piece<Place>> {
        pieces(&self.places, from, to)
    }

    /// It takes a step.
    pub fn steps(&mut self, record: &LogRecord, step: &LogStep) {
        let now = record.time;
        // It has gone on since, so it has what it wanted.
        if let Call::Lock(mutex) = self.steps.last {
            let since = if self.steps.slept { self.steps.came } else { self.steps.at };
            self.owns.push(Since { from: since, is: Owns { mutex, owns: true } });
        }
        self.steps.last = match (step.word(), step.number()) {
            ("sleep-until", Some(until)) => Call::Sleep(Nanos(until)),
            ("sleep-for", Some(span)) => Call::Sleep(Nanos(now.0.saturating_add(span))),
            ("lock", Some(mutex)) => Call::Lock(mutex as u32),
            ("unlock", Some(mutex)) => {
                let is = Owns { mutex: mutex as u32, owns: false };
                self.owns.push(Since { from: now, is });
                Call::Other
            }
            ("compute" | "compute-by-clock" | "kernel" | "spin-until" | "exec", _) => Call::Work,
            _ => Call::Other,
        };
        self.steps = Steps { at: now, slept: false, ..self.steps };
    }

    /// It leaves a CPU.
    pub fn leaves(&mut self, now: Nanos, state: LogPrevState, cpu: CpuId) {
        self.steps.left = now;
        let sleeps =
            matches!(state, LogPrevState::Interruptible | LogPrevState::Uninterruptible | LogPrevState::Dead);
        self.steps.slept |= sleeps;
        let is = match (sleeps, self.steps.last) {
            (false, _) => Place::Waits(cpu),
            (true, Call::Lock(mutex)) => Place::WantsMutex(mutex),
            (true, _) => Place::Sleeps,
        };
        self.is_at(now, is);
    }
}
