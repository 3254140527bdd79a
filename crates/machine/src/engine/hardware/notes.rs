//! What the hardware tells the recorder.

use super::hw::Hw;
use super::locks::Ahead;
use crate::engine::record::words;
use scheduler::platform::Lock;
use scheduler::{CpuId, Event, Nanos, ThisCpu};
use schema::{LogEvent, LogLock};

impl Hw {
    /// Writes a record of who runs where and of who wakes, makes and moves whom into the log, if one is kept.
    /// What it says is only made then.
    pub fn note(&self, cpu: CpuId, event: impl FnOnce() -> LogEvent) {
        if self.recorder.is_traced() {
            self.record(cpu, event());
        }
    }

    /// Writes a record of something else into the log, if everything is in it.
    pub fn note_detail(&self, cpu: CpuId, event: impl FnOnce() -> LogEvent) {
        if self.recorder.tells_everything() {
            self.record(cpu, event());
        }
    }

    fn record(&self, cpu: CpuId, event: LogEvent) {
        let in_interrupt = self.cpu(cpu).in_interrupt.get();
        self.recorder.record(cpu, self.local_now(), in_interrupt, event);
    }

    /// The scheduler tells what happens.
    #[cold]
    #[inline(never)]
    pub(super) fn tell(&self, me: ThisCpu<'_, Hw>, event: Event) {
        match event {
            Event::StatRuntime { .. } | Event::Decision { .. } => {
                self.note_detail(me.id, || words::log_event(me, event));
            }
            _ => self.note(me.id, || words::log_event(me, event)),
        }
        if let Some(paths) = &self.paths {
            paths.event(me, &self.cpus, self.local_now(), event);
        }
        if let Some(watch) = self.watch() {
            watch.checker.borrow_mut().event(me, event);
        }
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

    fn lock(&self, lock: Lock) -> LogLock {
        match lock {
            Lock::Rq(cpu) => LogLock::Rq { cpu: words::cpu(cpu) },
            Lock::Pi(task) => LogLock::Pi { pid: self.recorder.pid(task) },
            Lock::MutexWait(mutex) => LogLock::MutexWait { mutex: mutex.0 },
            Lock::Rto => LogLock::Rto {},
            Lock::PushWalker(cpu) => LogLock::PushWalker { cpu: words::cpu(cpu) },
        }
    }
}
