//! What the hardware tells the recorder.

use super::cpu::{Irq, Mode, Softirq};
use super::hw::Hw;
use super::locks::Ahead;
use super::winners::Slot;
use crate::engine::record::words;
use crate::objects::ChannelId;
use crate::outcome::RunError;
use scheduler::platform::{Ipi, Lock};
use scheduler::registry::StopperForm;
use scheduler::{CpuId, Event, Nanos, TaskId, ThisCpu};
use schema::{LogEvent, LogHeldOff, LogInterrupt, LogLock};

impl Hw {
    /// Writes a record of who runs where and of who wakes, makes and moves whom into the log, if one is kept.
    /// What it says is only made then.
    #[inline]
    pub fn note(&self, cpu: CpuId, event: impl FnOnce() -> LogEvent) {
        if self.recorder.is_traced() {
            self.record(cpu, self.local_now(), event());
        }
    }

    /// Writes a record of something else into the log, if everything is in it.
    #[inline]
    pub fn note_detail(&self, cpu: CpuId, event: impl FnOnce() -> LogEvent) {
        if self.recorder.tells_everything() {
            self.record(cpu, self.local_now(), event());
        }
    }

    /// The same, of what the CPU does at another time of its path.
    pub fn note_detail_at(&self, cpu: CpuId, time: Nanos, event: impl FnOnce() -> LogEvent) {
        if self.recorder.tells_everything() {
            self.record(cpu, time, event());
        }
    }

    #[cold]
    #[inline(never)]
    fn record(&self, cpu: CpuId, time: Nanos, event: LogEvent) {
        let in_interrupt = self.cpu(cpu).in_interrupt.get();
        self.recorder.record(cpu, time, in_interrupt, event);
    }

    /// The scheduler tells what happens.
    #[cold]
    #[inline(never)]
    pub(super) fn tell(&self, me: ThisCpu<'_, Hw>, event: Event) {
        let is_wanted = match event {
            Event::Decision { .. }
            | Event::Frequency { .. }
            | Event::ThrottleBegins { .. }
            | Event::ThrottleEnds { .. } => self.recorder.tells_everything(),
            _ => self.recorder.is_traced(),
        };
        if is_wanted && let Some(told) = words::log_event(me, event) {
            self.record(me.id, self.local_now(), told);
        }
        if let Some(paths) = &self.paths {
            paths.event(me, &self.cpus, self.local_now(), event);
        }
        if let Some(watch) = self.watch().filter(|watch| watch.is_complete()) {
            if matches!(event, Event::Switch { .. }) {
                self.switches_outside_interrupts(me);
            }
            watch.checker.borrow_mut().event(me, event);
        }
    }

    /// MI2: no switch between the entry of an interrupt and its exit. (A stopper that is no thread moves the
    /// running task in one.)
    fn switches_outside_interrupts(&self, me: ThisCpu<'_, Hw>) {
        let is_interrupt = me.k.config.rules.stopper.get() == StopperForm::Interrupt;
        if self.cpu(me.id).in_interrupt.get() && !is_interrupt {
            self.violates("machine.md MI2", format!("CPU {} switches inside an interrupt", me.id));
        }
    }

    /// MI10: a CPU that waits for a write is not interrupted, but written to. (One that serves a soft
    /// interrupt has left its idle loop.)
    pub(super) fn wakes_without_interrupt(&self, to: CpuId, ipi: Ipi) {
        let cpu = self.cpu(to);
        let idles = cpu.seen.get() == TaskId(u32::from(to.0))
            && cpu.mode.get() == Mode::Interruptible
            && cpu.softirq.get() != Softirq::Running;
        let state = self.idle.as_ref().and_then(|idle| idle.state_of(to));
        let watches = state.map_or(self.idle_monitor, |state| state.by).sees_writes();
        if idles && watches && ipi == Ipi::Reschedule {
            self.violates("machine.md MI10", format!("CPU {to} idles, watches its flag, and is interrupted"));
        }
    }

    /// MI7: a timer is served that is not set, or whose soft expiry has not come.
    #[cold]
    pub(super) fn is_early(&self, me: CpuId, slot: Slot) {
        let what = format!("CPU {me} serves the timer of {:?}, which is not due", self.source(slot));
        self.violates("machine.md MI7", what);
    }

    /// An invariant of machine.md 8.2 is broken.
    fn violates(&self, invariant: &'static str, what: String) {
        self.recorder.fail(RunError::Invariant { invariant, at: self.local_now(), what });
    }

    /// A CPU has spun for a lock and has it now.
    pub(super) fn waited(&self, me: CpuId, lock: Lock, since: Nanos, ahead: Ahead) {
        let Ahead { holder, waiters } = ahead;
        self.note_detail(me, || LogEvent::LockWait {
            lock: self.lock(lock),
            since: words::time(since),
            holder: words::cpu(holder),
            waiters,
        });
    }

    /// A task has spun for the mutex of a pipe and has it now.
    pub fn waited_for_pipe(&self, me: CpuId, channel: ChannelId, since: Nanos, ahead: Ahead) {
        self.note_detail(me, || LogEvent::LockWait {
            lock: LogLock::Pipe { channel: channel.0 },
            since: words::time(since),
            holder: words::cpu(ahead.holder),
            waiters: ahead.waiters,
        });
    }

    /// An interrupt arrives at a CPU: now, however far the path has been charged that notices it.
    #[inline]
    pub(super) fn note_raised(&self, cpu: CpuId, irq: Irq) {
        if self.recorder.tells_everything() {
            let (irq, held_off) = (self.log_interrupt(irq), self.held_off(cpu));
            self.record(cpu, self.now.get(), LogEvent::IrqRaise { irq, held_off });
        }
    }

    /// Why a CPU does not take an interrupt now.
    fn held_off(&self, cpu: CpuId) -> Option<LogHeldOff> {
        let (hw, now) = (self.cpu(cpu), self.now.get());
        if hw.mode.get() == Mode::Interruptible && hw.ready_at.get() <= now {
            return None;
        }
        Some(match self.locks.rq_held_by(cpu, now) {
            _ if hw.mode.get() == Mode::Spinning => LogHeldOff::LockWait {},
            Some(of) => LogHeldOff::RqLock { cpu: words::cpu(of) },
            None if hw.in_interrupt.get() => LogHeldOff::Interrupt {},
            None => LogHeldOff::InterruptsOff {},
        })
    }

    /// A CPU begins to serve an interrupt.
    #[inline]
    pub fn note_served(&self, cpu: CpuId, irq: Irq) {
        self.note_detail(cpu, || LogEvent::IrqHandlerEntry { irq: self.log_interrupt(irq) });
    }

    /// A CPU begins to take interrupts, and wakes up for that, as long as this takes.
    #[inline]
    pub fn note_taking(&self, cpu: CpuId, idle_exit: Option<Nanos>) {
        if self.recorder.tells_everything() && (self.recorder.was_held_off(cpu) || idle_exit.is_some()) {
            let idle_exit = idle_exit.map(words::time);
            self.record(cpu, self.local_now(), LogEvent::IrqEnter { idle_exit });
        }
    }

    /// A CPU executes its task, or idles.
    #[inline]
    pub fn note_executes(&self, cpu: CpuId) {
        if self.recorder.tells_everything() && self.recorder.comes_back(cpu) {
            self.record(cpu, self.local_now(), LogEvent::Executes {});
        }
    }

    fn log_interrupt(&self, irq: Irq) -> LogInterrupt {
        match irq {
            Irq::Ipi(ipi) => LogInterrupt::Ipi { ipi: words::ipi(ipi) },
            Irq::Notice(ipi) => LogInterrupt::Polled { ipi: words::ipi(ipi) },
            Irq::Timer(task) => LogInterrupt::Timer { pid: self.recorder.pid(task) },
            Irq::Tick => LogInterrupt::Tick {},
            Irq::Hrtick => LogInterrupt::Hrtick {},
            Irq::Deadline => LogInterrupt::Deadline {},
            Irq::RtPeriod => LogInterrupt::RtPeriod {},
            Irq::Spawn(index) => {
                LogInterrupt::Start { pid: self.recorder.pid(TaskId(self.cpus.len() as u32 + index)) }
            }
            Irq::Outside { channel, .. } => LogInterrupt::Message { channel: channel.0 },
            Irq::Served(channel) => LogInterrupt::Device { channel: channel.0 },
            Irq::Softirq(timer) => LogInterrupt::SoftirqTimer { timer },
            Irq::Settings | Irq::Change(_) => LogInterrupt::Settings {},
            Irq::Off { source, length } => LogInterrupt::IrqsOff { source, length: words::time(length) },
        }
    }

    /// A CPU asks another one for something, which gets there at `arrives`.
    #[inline]
    pub(super) fn note_sent(&self, from: CpuId, to: CpuId, ipi: Ipi, arrives: Nanos) {
        self.note_detail(from, || LogEvent::IpiSend {
            target_cpu: words::cpu(to),
            ipi: words::ipi(ipi),
            arrives: words::time(arrives),
        });
    }

    /// The same of an idle CPU that watches its flag, and notices it then.
    #[inline]
    pub(super) fn note_polled(&self, from: CpuId, to: CpuId, ipi: Ipi, noticed: Nanos) {
        self.note_detail(from, || LogEvent::SchedWakeIdleWithoutIpi {
            target_cpu: words::cpu(to),
            ipi: words::ipi(ipi),
            noticed: words::time(noticed),
        });
    }

    fn lock(&self, lock: Lock) -> LogLock {
        match lock {
            Lock::Rq(cpu) => LogLock::Rq { cpu: words::cpu(cpu) },
            Lock::Pi(task) => LogLock::Pi { pid: self.recorder.pid(task) },
            Lock::MutexWait(mutex) => LogLock::MutexWait { mutex: mutex.0 },
            Lock::Rto(_) => LogLock::Rto {},
            Lock::PushWalker(cpu) => LogLock::PushWalker { cpu: words::cpu(cpu) },
        }
    }
}
