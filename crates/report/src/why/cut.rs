//! Cuts the ways of a wakeup where a CPU begins something else, and names the cause of each piece.

use super::course::{Course, Stopped};
use super::cpus::{Doing, Piece, Runs, Slowed, asks_to_look};
use super::mutexes;
use super::wakeup::{Along, Decided, Wakeup};
use schema::why::{Cause, IrqsOffPath, Precedence, WhyDecision, WhyShare, WhyStretch, WhyTask};
use schema::{CpuId, LogInterrupt, LogIpi, Nanos, Pid, Prio};

/// A wakeup in pieces.
pub(super) struct Cut<'c> {
    pub course: &'c Course,
    pub wakeup: &'c Wakeup,
    pub stretches: Vec<WhyStretch>,
}

impl Cut<'_> {
    /// The stretches of a wakeup: without a gap, from when it was due to its first instruction.
    pub fn of(course: &Course, wakeup: &Wakeup, meaning: impl Fn(&str) -> &'static str) -> Vec<WhyStretch> {
        let mut cut = Cut { course, wakeup, stretches: Vec::new() };
        let mut from = wakeup.due_at;
        for way in &wakeup.ways {
            cut.along(from, way.to, way.along);
            from = way.to;
        }
        cut.shares();
        cut.decisions(meaning);
        cut.stretches
    }

    fn along(&mut self, from: Nanos, to: Nanos, along: Along) {
        match along {
            Along::Timer => self.push(from, to, None, Cause::TimerLate {}),
            Along::Mutex(mutex) => mutexes::cut(self, from, to, mutex),
            Along::Path { cpu, irq } => {
                self.each(from, to, cpu, |cut, piece| cut.on_path(piece, cpu, irq));
            }
            Along::WakerWaits { cpu, waker } => {
                let waker = self.who(waker, from);
                self.push(from, to, Some(cpu), Cause::WakerWaits { waker });
            }
            Along::Flight { from: asks, to: cpu } => {
                self.push(from, to, Some(cpu), Cause::InFlight { from: asks });
            }
            Along::Queue { cpu, by } => {
                let mut ends = self.course.throttle_times(from, to, cpu, self.wakeup.pid);
                ends.extend(self.course.cpu(cpu).lazy_requests(from, to));
                ends.push(to);
                ends.sort();
                let mut from = from;
                for to in ends {
                    self.each(from, to, cpu, |cut, piece| cut.queued(piece, cpu, by));
                    from = to;
                }
            }
            Along::Move { by, from: orig, to: dest } => self.each(from, to, by, |_, piece| match piece.is {
                Doing::Spins(_) => None,
                _ => Some(Cause::HandOver { from: orig, to: dest }),
            }),
            Along::Arrival { cpu } => self.each(from, to, cpu, |cut, piece| match piece.is {
                Doing::Task(runs) if runs.pid == cut.wakeup.pid => Some(Cause::Switch {}),
                _ => None,
            }),
        }
    }

    /// Each thing that a CPU does has the cause that is given, or the usual one.
    fn each(
        &mut self,
        from: Nanos,
        to: Nanos,
        cpu: CpuId,
        cause: impl Fn(&Self, Piece<Doing>) -> Option<Cause>,
    ) {
        for piece in self.course.cpu(cpu).does(from, to) {
            let cause = cause(self, piece).unwrap_or_else(|| self.usual(piece, cpu));
            self.push(piece.from, piece.to, Some(cpu), cause);
        }
    }

    /// What it means that a CPU does this, for a task that waits for it.
    fn usual(&self, piece: Piece<Doing>, cpu: CpuId) -> Cause {
        match piece.is {
            Doing::Task(runs) => self.running(runs, Precedence::NotPreempted),
            Doing::Idle => Cause::Idle {},
            Doing::IdleExit(state) => Cause::IdleExit { state: self.course.idle_state_name(state) },
            Doing::Interrupt(LogInterrupt::IrqsOff { .. }) => self.off(IrqsOffPath::Noise, piece.from, cpu),
            Doing::Interrupt(irq) if asks_to_look(irq) || self.is_own(irq) => Cause::WakePath {},
            Doing::Interrupt(irq) => Cause::Interrupt { irq: Some(irq) },
            Doing::Softirq => Cause::Softirq {},
            Doing::Off => {
                let noise = self.course.cpu(cpu).runs_at(piece.from).pid == Pid::IDLE;
                self.off(if noise { IrqsOffPath::Noise } else { IrqsOffPath::Kernel }, piece.from, cpu)
            }
            Doing::Chooses | Doing::Switches => Cause::Switch {},
            Doing::Spins(spin) => {
                let behalf = self.course.cpu(spin.holder).runs_at(spin.since).pid;
                Cause::LockWait {
                    lock: spin.lock,
                    holder: spin.holder,
                    on_behalf_of: (behalf != Pid::IDLE).then(|| self.who(behalf, spin.since)),
                    waiters: spin.waiters,
                }
            }
        }
    }

    /// On the way of the interrupt, or the task, that wakes it.
    fn on_path(&self, piece: Piece<Doing>, cpu: CpuId, own: Option<LogInterrupt>) -> Option<Cause> {
        match (piece.is, own) {
            (Doing::Interrupt(irq), Some(own)) if irq == own => Some(Cause::WakePath {}),
            (Doing::Task(_) | Doing::Idle, _) => Some(Cause::WakePath {}),
            (Doing::Chooses | Doing::Switches, Some(_)) => {
                Some(self.off(IrqsOffPath::Schedule, piece.from, cpu))
            }
            (Doing::Chooses | Doing::Switches, None) => Some(Cause::WakePath {}),
            _ => None,
        }
    }

    /// In the queue of a CPU.
    fn queued(&self, piece: Piece<Doing>, cpu: CpuId, by: CpuId) -> Option<Cause> {
        if let Some(throttled) = self.throttled(piece.from, cpu) {
            return Some(throttled);
        }
        let asked =
            || self.course.cpu(cpu).is_being_asked(piece.from).then_some(Cause::InFlight { from: by });
        match piece.is {
            // It has not noticed yet that it is awake.
            Doing::Task(runs) if runs.pid == self.wakeup.pid => Some(Cause::Switch {}),
            Doing::Task(runs) => match precedence(runs.prio, self.prio(piece.from)) {
                Some(Precedence::Fair) if self.course.cpu(cpu).has_been_asked_lazily(piece.from) => {
                    Some(self.running(runs, Precedence::AskedLazily))
                }
                Some(precedence) => Some(self.running(runs, precedence)),
                None => asked(),
            },
            Doing::Idle => asked(),
            _ => None,
        }
    }

    fn throttled(&self, time: Nanos, cpu: CpuId) -> Option<Cause> {
        let Stopped { budget, until } = self.course.stopped(time, cpu, self.wakeup.pid, self.prio(time))?;
        Some(Cause::Throttled { budget, until })
    }

    fn is_own(&self, irq: LogInterrupt) -> bool {
        irq == LogInterrupt::Timer { pid: self.wakeup.pid }
            || irq == LogInterrupt::Ipi { ipi: LogIpi::Stop {} }
    }

    fn off(&self, path: IrqsOffPath, time: Nanos, cpu: CpuId) -> Cause {
        let runs = self.course.cpu(cpu).runs_at(time).pid;
        let during = (runs != Pid::IDLE).then(|| self.who(runs, time));
        Cause::InterruptsOff { path, during }
    }

    fn running(&self, runs: Runs, precedence: Precedence) -> Cause {
        let task = WhyTask { prio: runs.prio, ..self.who(runs.pid, runs.since) };
        Cause::Running { task, since: runs.since, precedence }
    }

    fn prio(&self, time: Nanos) -> Prio {
        self.course.tasks.get(&self.wakeup.pid).map_or(self.wakeup.prio, |task| task.prio_at(time))
    }

    /// A task, as it was then.
    pub fn who(&self, pid: Pid, time: Nanos) -> WhyTask {
        self.course.who(pid, time)
    }

    /// Goes on behind the last one; with the same cause, that becomes longer.
    pub fn push(&mut self, from: Nanos, to: Nanos, cpu: Option<CpuId>, cause: Cause) {
        if from >= to {
            return;
        }
        match self.stretches.last_mut() {
            Some(last) if last.cause == cause && last.cpu == cpu => last.to = to,
            _ => self.stretches.push(WhyStretch::new(from, to, cpu, cause)),
        }
    }

    /// While another hardware thread of the core is busy, whoever executes takes longer.
    fn shares(&mut self) {
        for stretch in &mut self.stretches {
            let depends = matches!(
                stretch.cause,
                Cause::Running { .. } | Cause::Mutex { .. } | Cause::WakePath {} | Cause::WakerWaits { .. }
            );
            let Some(cpu) = stretch.cpu.filter(|_| depends) else { continue };
            for Slowed { from, lost, sibling, .. } in self.course.cpu(cpu).slowed(stretch.from, stretch.to) {
                let busy = self.course.cpu(sibling).runs_at(from);
                let task = WhyTask { prio: busy.prio, ..self.course.who(busy.pid, busy.since) };
                let cause = Cause::Sibling { cpu: sibling, task };
                match stretch.shares.iter_mut().find(|share| share.cause == cause) {
                    _ if lost == Nanos(0) => {}
                    Some(share) => share.length.0 += lost.0,
                    None => stretch.shares.push(WhyShare { cause, length: lost }),
                }
            }
        }
    }

    /// Each decision stands in the stretch in which it fell, the last one's at the end in the last.
    fn decisions(&mut self, meaning: impl Fn(&str) -> &'static str) {
        let Some(last) = self.stretches.len().checked_sub(1) else { return };
        for Decided { at, reason } in self.wakeup.decisions.iter().copied() {
            let place = self.stretches.partition_point(|stretch| stretch.to <= at);
            let (meaning, alternatives) = (meaning(reason), Vec::new());
            let decision = WhyDecision { at, reason, meaning, alternatives, more_alternatives: 0 };
            self.stretches[place.min(last)].decisions.push(decision);
        }
    }
}

impl Course {
    /// A task, as it was then.
    pub fn who(&self, pid: Pid, time: Nanos) -> WhyTask {
        let task = self.tasks.get(&pid);
        WhyTask {
            pid,
            comm: task.map_or("?", |task| task.comm_at(time)).into(),
            prio: task.map_or(Prio::IDLE, |task| task.prio_at(time)),
        }
    }
}

/// Why a task of one priority that runs goes before a task of another that waits, if it does.
pub(super) fn precedence(runs: Prio, waits: Prio) -> Option<Precedence> {
    let class = |prio: Prio| match prio.0 {
        ..0 => 0,
        0..100 => 1,
        _ => 2,
    };
    match (class(runs), class(waits)) {
        (mine, others) if mine < others => Some(Precedence::Class),
        (mine, others) if mine > others => None,
        (0, _) => Some(Precedence::EarlierDeadline),
        (1, _) if runs < waits => Some(Precedence::HigherPriority),
        (1, _) if runs == waits => Some(Precedence::SamePriority),
        (1, _) => None,
        _ => Some(Precedence::Fair),
    }
}
