//! Who comes to a semaphore of the kernel that the task of another CPU has (machine.md 1.12, 3.5).

use super::sim::Sim;
use crate::engine::hardware::Hw;
use crate::engine::userland::{Activity, Caller, Elsewhere, Meeting, Rest, Resume, Stage};
use scheduler::{CpuId, Nanos, TaskId, ThisCpu};

impl Sim {
    /// The operations that other CPUs execute which take semaphores, by CPU.
    pub(super) fn operations_elsewhere(&self, me: ThisCpu<'_, Hw>) -> impl Iterator<Item = Elsewhere> {
        let cpus = if self.user.kernel_locks.has_rwsems() { self.k.cpus() } else { 0 };
        let others = (0..cpus as u16).map(CpuId).filter(move |cpu| *cpu != me.id);
        others.filter_map(|cpu| self.operation_of(cpu))
    }

    /// That of a CPU, if its task neither has a lock nor has come to one.
    fn operation_of(&self, cpu: CpuId) -> Option<Elsewhere> {
        let task = self.k.rq(cpu).published.curr.get();
        if task == self.k.idle_task(cpu) {
            return None;
        }
        let (stretch, process, forks) = self.user.tasks.with(task, |t| {
            let stretch = match (t.activity, t.kernel_lock.as_deref()) {
                (Activity::Kernel { left, then }, None) => Some((left, then)),
                (Activity::Kernel { left, then: Resume::KernelLock }, Some(comes)) => {
                    Some((left + comes.rest, comes.then))
                }
                _ => None,
            };
            (stretch, t.process, t.forks)
        });
        let (left, then) = stretch?;
        let piece = self.piece(task, left, then)?;
        let meeting = Meeting { cpu, task, operation: piece.lasting.operation, forks };
        Some(Elsewhere { meeting, process, piece })
    }

    /// The task comes to a semaphore that one of another CPU has, if that is still at it: so that one is
    /// found with it, unless somebody else has it by now.
    pub(super) async fn meets(&self, call: Caller<'_>) {
        let Some((lock, Stage::Meets(meeting))) =
            call.with(|t| t.kernel_lock.as_ref().map(|l| (l.lock, l.stage)))
        else {
            return;
        };
        // The other CPU has come as far by then.
        call.hw().settled(call.me.id).await;
        let locks = &self.user.kernel_locks;
        let other = || self.operation_of(meeting.cpu).filter(|other| other.meeting == meeting);
        let found = || other().map(|other| locks.is_found(call, other, lock));
        let Some(mutex) = locks.live_mutex(lock).or_else(found) else { return };
        call.with(|t| {
            if let Some(want) = &mut t.kernel_lock {
                want.stage = Stage::Wants(mutex);
            }
        });
    }

    /// A piece of what the task does in the kernel is over. If it was found with a lock at the very end, it
    /// has that up to here.
    #[inline]
    pub(super) fn piece_is_over(&self, me: ThisCpu<'_, Hw>, p: TaskId, then: Resume) -> Rest {
        let locks = &self.user.kernel_locks;
        if locks.any() && locks.was_found(self.caller(me, p)) {
            locks.keeps_found(self.caller(me, p), Nanos::ZERO, &mut self.request_dice(p));
            return Rest::Nothing;
        }
        self.resume(me, p, then)
    }
}
