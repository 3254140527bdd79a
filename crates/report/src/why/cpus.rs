//! What each CPU does at each time, from the log of a run.

use schema::{CpuId, LogEvent, LogInterrupt, LogIpi, LogLock, LogRecord, Nanos, Pid, Prio};
use std::collections::VecDeque;

/// The state of a CPU that has left idle.
const NO_STATE: u32 = u32::MAX;

/// What a CPU does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Doing {
    /// It executes the task, in user space or in a system call.
    Task(Runs),
    Idle,
    /// It wakes up from idle, from the state of this number where it has several.
    IdleExit(Option<u32>),
    /// It is on the way into an interrupt, works in it, or leaves it.
    Interrupt(LogInterrupt),
    Softirq,
    /// An interrupt waits that its path does not let in.
    Off,
    /// It chooses whom it executes.
    Chooses,
    /// It switches to the task that it has chosen.
    Switches,
    /// It spins for a lock.
    Spins(Spin),
}

/// A task that has a CPU.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Runs {
    pub pid: Pid,
    pub prio: Prio,
    pub since: Nanos,
}

/// A wait for a lock of the kernel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spin {
    pub lock: LogLock,
    pub holder: CpuId,
    pub waiters: u16,
    pub since: Nanos,
}

/// An interrupt that a CPU serves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Served {
    pub irq: LogInterrupt,
    pub raised: Nanos,
    pub entered: Nanos,
}

/// From a time on, until the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since<T> {
    pub from: Nanos,
    pub is: T,
}

/// A time with one state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<T> {
    pub from: Nanos,
    pub to: Nanos,
    pub is: T,
}

/// A time in which a task executes beside a busy hardware thread of its core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slowed {
    pub from: Nanos,
    pub to: Nanos,
    /// So much less would have been enough.
    pub lost: Nanos,
    pub sibling: CpuId,
}

/// One CPU.
#[derive(Debug)]
pub(super) struct Cpu {
    does: Vec<Since<Doing>>,
    /// Who has it, path or not.
    runs: Vec<Since<Runs>>,
    /// When somebody's request to look at its queue arrived.
    kicks: Vec<Nanos>,
    /// When it began to choose.
    choices: Vec<Nanos>,
    /// When its task was asked lazily to make room.
    lazy_requests: Vec<Nanos>,
    slowed: Vec<Slowed>,
    /// The idle state that it is in, by number.
    idle_state: Option<u32>,
    /// Raised, and not yet served.
    pending: VecDeque<(LogInterrupt, Nanos)>,
    serves: Option<Served>,
    in_softirq: bool,
}

impl Cpu {
    pub fn new() -> Cpu {
        let idle = Runs { pid: Pid::IDLE, prio: Prio::IDLE, since: Nanos(0) };
        Cpu {
            does: vec![Since { from: Nanos(0), is: Doing::Idle }],
            runs: vec![Since { from: Nanos(0), is: idle }],
            kicks: Vec::new(),
            choices: Vec::new(),
            lazy_requests: Vec::new(),
            slowed: Vec::new(),
            idle_state: None,
            pending: VecDeque::new(),
            serves: None,
            in_softirq: false,
        }
    }

    /// The interrupt that it serves now.
    pub fn serves(&self) -> Option<Served> {
        self.serves
    }

    /// A record of this CPU's.
    pub fn see(&mut self, record: &LogRecord) {
        let now = record.time;
        match &record.event {
            LogEvent::SchedSwitch { next, .. } => {
                let is = Runs { pid: next.pid, prio: next.prio, since: now };
                self.runs.push(Since { from: now, is });
                self.turns(now, Doing::Switches);
            }
            LogEvent::Schedule {} => {
                self.choices.push(now);
                self.turns(now, Doing::Chooses);
            }
            // What its task does now, it does before it lets the interrupt in that waits.
            LogEvent::Executes {} if !self.pending.is_empty() => self.turns(now, Doing::Off),
            LogEvent::Executes {} => self.turns(now, self.plain()),
            LogEvent::IrqRaise { irq, held_off } => self.raised(now, *irq, held_off.is_some()),
            LogEvent::IrqEnter { idle_exit } => {
                let awake = Nanos(now.0 + idle_exit.map_or(0, |exit| exit.0));
                if awake > now {
                    self.turns(now, Doing::IdleExit(self.idle_state));
                }
                if let Some((irq, _)) = self.pending.front().copied() {
                    self.turns(awake, Doing::Interrupt(irq));
                }
            }
            LogEvent::CpuIdle { state, .. } => self.idle_state = (*state != NO_STATE).then_some(*state),
            LogEvent::IrqHandlerEntry { irq } => {
                let raised = self.pending.pop_front().map_or(now, |(_, raised)| raised);
                self.serves = Some(Served { irq: *irq, raised, entered: now });
                self.turns(now, Doing::Interrupt(*irq));
            }
            LogEvent::IrqHandlerExit {} => {
                self.serves = None;
                if self.in_softirq {
                    self.turns(now, Doing::Softirq);
                }
            }
            LogEvent::SoftirqEntry {} => {
                self.in_softirq = true;
                self.turns(now, Doing::Softirq);
            }
            LogEvent::SoftirqExit {} => self.in_softirq = false,
            LogEvent::SlowedBySibling { since, lost, sibling } => {
                self.slowed.push(Slowed { from: *since, to: now, lost: *lost, sibling: *sibling });
            }
            // A task spins in its own time, with interrupts on: the CPU runs it.
            LogEvent::LockWait { lock: LogLock::Pipe { .. }, .. } => {}
            LogEvent::LockWait { lock, since, holder, waiters } => {
                let before = self.now();
                let (lock, holder, waiters, since) = (*lock, *holder, *waiters, *since);
                self.turns(since, Doing::Spins(Spin { lock, holder, waiters, since }));
                self.turns(now, before);
            }
            _ => {}
        }
    }

    fn raised(&mut self, now: Nanos, irq: LogInterrupt, held_off: bool) {
        self.pending.push_back((irq, now));
        if asks_to_look(irq) {
            self.kicks.push(now);
        }
        match self.now() {
            Doing::Task(_) | Doing::Idle if held_off => self.turns(now, Doing::Off),
            Doing::Task(_) | Doing::Idle | Doing::Softirq if !held_off => {
                self.turns(now, Doing::Interrupt(irq));
            }
            _ => {}
        }
    }

    /// A task's priority changes while it has this CPU.
    pub fn prio_changes(&mut self, now: Nanos, prio: Prio) {
        let is = Runs { prio, ..self.running() };
        self.runs.push(Since { from: now, is });
        if let Doing::Task(_) = self.now() {
            self.turns(now, Doing::Task(is));
        }
    }

    /// Its task is to make room, but not at once. While it chooses, that comes to nothing: whoever it chooses
    /// has not been asked.
    pub fn is_asked_lazily(&mut self, now: Nanos) {
        if self.now() != Doing::Chooses {
            self.lazy_requests.push(now);
        }
    }

    /// Who has it as of the latest record.
    pub fn running(&self) -> Runs {
        self.runs[self.runs.len() - 1].is
    }

    fn now(&self) -> Doing {
        self.does[self.does.len() - 1].is
    }

    fn plain(&self) -> Doing {
        let runs = self.running();
        if runs.pid == Pid::IDLE { Doing::Idle } else { Doing::Task(runs) }
    }

    fn turns(&mut self, from: Nanos, is: Doing) {
        let last = self.does.len() - 1;
        let from = from.max(self.does[last].from);
        if self.does[last].from == from {
            self.does[last].is = is;
        } else if self.does[last].is != is {
            self.does.push(Since { from, is });
        }
    }

    /// What it does from one time to another.
    pub fn does(&self, from: Nanos, to: Nanos) -> Vec<Piece<Doing>> {
        pieces(&self.does, from, to)
    }

    /// Who has it then.
    pub fn runs_at(&self, time: Nanos) -> Runs {
        at(&self.runs, time).map_or(self.runs[0].is, |since| since.is)
    }

    /// Who has it from one time to another.
    pub fn runs(&self, from: Nanos, to: Nanos) -> Vec<Piece<Runs>> {
        pieces(&self.runs, from, to)
    }

    /// What its tasks lose to its siblings from one time to another: of what begins or ends outside, the
    /// share of the time that is inside.
    pub fn slowed(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = Slowed> + '_ {
        let first = self.slowed.partition_point(|one| one.to <= from);
        self.slowed[first..].iter().take_while(move |one| one.from < to).map(move |one| {
            let inside = Slowed { from: one.from.max(from), to: one.to.min(to), ..*one };
            let lost = u128::from(one.lost.0) * u128::from(inside.to.0 - inside.from.0);
            Slowed { lost: Nanos((lost / u128::from(one.to.0 - one.from.0)) as u64), ..inside }
        })
    }

    /// When its task is asked lazily to make room, between two times.
    pub fn lazy_requests(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = Nanos> + '_ {
        let first = self.lazy_requests.partition_point(|time| *time <= from);
        self.lazy_requests[first..].iter().copied().take_while(move |time| *time < to)
    }

    /// Whether its task has been asked lazily to make room, and has not done so yet.
    pub fn has_been_asked_lazily(&self, time: Nanos) -> bool {
        let last = |times: &[Nanos]| times[..times.partition_point(|t| *t <= time)].last().copied();
        last(&self.lazy_requests).is_some_and(|asked| last(&self.choices).is_none_or(|chose| chose < asked))
    }

    /// Whether a request to look at its queue is on the way at this time: it arrives before the CPU chooses
    /// again.
    pub fn is_being_asked(&self, time: Nanos) -> bool {
        let next = |times: &[Nanos]| times.get(times.partition_point(|t| *t <= time)).copied();
        match (next(&self.kicks), next(&self.choices)) {
            (Some(kick), Some(choice)) => kick <= choice,
            (kick, None) => kick.is_some(),
            (None, Some(_)) => false,
        }
    }
}

/// Whether an interrupt asks a CPU to look at its queue.
pub(super) fn asks_to_look(irq: LogInterrupt) -> bool {
    let (LogInterrupt::Ipi { ipi } | LogInterrupt::Polled { ipi }) = irq else { return false };
    matches!(ipi, LogIpi::Reschedule {} | LogIpi::Wakeup {} | LogIpi::Nohz {})
}

/// The state of a time.
pub(super) fn at<T: Copy>(states: &[Since<T>], time: Nanos) -> Option<Since<T>> {
    states.partition_point(|since| since.from <= time).checked_sub(1).map(|place| states[place])
}

/// The states of a stretch, without a gap.
pub(super) fn pieces<T: Copy>(states: &[Since<T>], from: Nanos, to: Nanos) -> Vec<Piece<T>> {
    let first = states.partition_point(|since| since.from <= from).saturating_sub(1);
    let mut found = Vec::new();
    for (place, since) in states.iter().enumerate().skip(first) {
        let begins = if place == first { from } else { since.from };
        let ends = states.get(place + 1).map_or(to, |next| next.from.min(to));
        if begins < ends {
            found.push(Piece { from: begins, to: ends, is: since.is });
        }
        if ends >= to {
            break;
        }
    }
    found
}
