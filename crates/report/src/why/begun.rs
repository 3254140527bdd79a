//! A wakeup on its way: it grows by a way whenever something happens to the task.

use super::cpus::Served;
use super::wakeup::{Along, Wakeup, Way};
use schema::{CpuId, LogRecord, Nanos};

/// A wakeup whose task does not execute yet.
#[derive(Debug)]
pub(super) struct Begun {
    pub wakeup: Wakeup,
    /// It has been handed over to the CPU that is to queue it, then.
    pub handed: Option<Nanos>,
    /// Where it is queued, and who has put it there.
    at: CpuId,
    by: CpuId,
    pub is_queued: bool,
    /// A CPU moves it.
    moves: Option<Along>,
}

/// Ways, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Ways(Vec<Way>);

impl Ways {
    pub fn go(&mut self, to: Nanos, along: Along) {
        self.0.push(Way { to, along });
    }

    /// Those of this time on.
    pub fn since(self, start: Nanos) -> Vec<Way> {
        let mut ways = Vec::new();
        self.0.into_iter().for_each(|way| push(&mut ways, start, way));
        ways
    }
}

/// Goes on behind what is there, if that leads anywhere.
fn push(ways: &mut Vec<Way>, start: Nanos, way: Way) {
    let now = ways.last().map_or(start, |last| last.to);
    match ways.last_mut() {
        _ if way.to <= now => {}
        Some(last) if last.along == way.along => last.to = way.to,
        _ => ways.push(way),
    }
}

impl Begun {
    /// One that begins on a CPU.
    pub fn on(cpu: CpuId, wakeup: Wakeup) -> Begun {
        Begun { wakeup, handed: None, at: cpu, by: cpu, is_queued: false, moves: None }
    }

    /// One that waits in the queue of a CPU, which has gone on with somebody else.
    pub fn waiting(wakeup: Wakeup) -> Begun {
        Begun { is_queued: true, ..Begun::on(wakeup.queue, wakeup) }
    }

    fn go(&mut self, to: Nanos, along: Along) {
        push(&mut self.wakeup.ways, self.wakeup.due_at, Way { to, along });
    }

    pub fn is_queued(&mut self, record: &LogRecord, target: CpuId, serves: Option<Served>) {
        let (now, cpu, waker) = (record.time, record.cpu, self.wakeup.waker);
        let path = Along::Path { cpu, irq: serves.map(|served| served.irq) };
        if cpu != waker {
            let handed = self.handed.unwrap_or(self.wakeup.waking);
            let begun = Along::Path { cpu: waker, irq: None };
            self.go(handed, begun);
            let raised = serves.map_or(now, |served| served.raised);
            self.go(raised, Along::Flight { from: waker, to: cpu });
        }
        self.go(now, path);
        (self.wakeup.queued, self.wakeup.queue) = (now, target);
        (self.at, self.by, self.is_queued) = (target, cpu, true);
    }

    /// A CPU switches to it.
    pub fn arrives(&mut self, now: Nanos, cpu: CpuId) {
        match self.moves.take() {
            Some(moves) => self.go(now, moves),
            None => self.waits(now),
        }
        self.at = cpu;
    }

    /// It has to go before its first instruction, or goes to sleep before it has noticed that it is woken.
    pub fn leaves(&mut self, now: Nanos, cpu: CpuId) {
        if self.is_queued {
            self.go(now, Along::Arrival { cpu });
        }
        (self.at, self.by) = (cpu, cpu);
    }

    fn waits(&mut self, now: Nanos) {
        self.go(now, Along::Queue { cpu: self.at, by: self.by });
    }

    pub fn migrates(&mut self, record: &LogRecord, from: CpuId, to: CpuId) {
        match self.moves.take() {
            Some(moves) => self.go(record.time, moves),
            None => self.waits(record.time),
        }
        self.moves = Some(Along::Move { by: record.cpu, from, to });
        (self.at, self.by) = (to, record.cpu);
    }

    pub fn has_moved(&mut self, now: Nanos) {
        if let Some(moves) = self.moves.take() {
            self.go(now, moves);
        }
    }

    /// It executes.
    pub fn executes(mut self, record: &LogRecord) -> Wakeup {
        self.go(record.time, Along::Arrival { cpu: record.cpu });
        (self.wakeup.first, self.wakeup.cpu) = (record.time, record.cpu);
        self.wakeup
    }
}
