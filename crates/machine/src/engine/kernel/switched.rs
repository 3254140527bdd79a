//! A CPU executes another task than before: what that does to the caches, and whether a lock's holder had to
//! go.

use super::sim::Sim;
use crate::engine::hardware::{Fraction, Hw, Occupant};
use crate::engine::record::words;
use crate::engine::userland::{LastRun, Refill};
use scheduler::{CpuId, Nanos, TaskId, TaskState, ThisCpu};
use schema::LogEvent;

impl Sim {
    /// Whether the core executes at other rates once `curr` is set up.
    #[inline]
    pub fn changes_paces(&self, me: ThisCpu<'_, Hw>, curr: TaskId) -> bool {
        let hw = self.hw();
        hw.paces.vary && hw.paces.differ(hw.cpu(me.id).occupant.get(), self.occupant(me, curr))
    }

    fn occupant(&self, me: ThisCpu<'_, Hw>, curr: TaskId) -> Occupant {
        if curr == self.k.idle_task(me.id) {
            return Occupant::Idle;
        }
        self.user.tasks.with(curr, |t| match t.done_ahead {
            Some(_) => Occupant::RecordedWork,
            None => Occupant::Work { reads: t.reads_bytes_per_us },
        })
    }

    /// A task, or idle, is about to execute where another one did before.
    pub fn set_up(&self, me: ThisCpu<'_, Hw>, curr: TaskId) {
        let (cpu, idle) = (self.hw().cpu(me.id), self.k.idle_task(me.id));
        let previous = cpu.seen.replace(curr);
        if curr == idle {
            self.begins_to_idle(me.id);
        }
        if self.hw().paces.vary {
            cpu.fraction.set(Fraction::default());
            self.hw().occupy(me.id, self.occupant(me, curr));
        }
        self.hw().touched_by_another(me.id);
        let busy = cpu.busy.get();
        if previous != idle {
            self.left(me.id, previous, busy);
        }
        if curr != idle {
            let hw = self.hw();
            let Refill { from, cost } = self.user.tasks.with(curr, |t| {
                let here = LastRun { cpu: me.id, busy };
                let time_to_fetch = |alone| hw.paces.time_to_fetch(me.id, alone);
                t.warmth.cools(&hw.spec, t.working_set_bytes, here, time_to_fetch)
            });
            if cost > Nanos::ZERO {
                let refill = || LogEvent::CacheRefill { from: from.map(words::cpu), cost: words::time(cost) };
                self.hw().note_detail(me.id, refill);
            }
        }
    }

    /// The task that was set up on `cpu` leaves it.
    fn left(&self, cpu: CpuId, p: TaskId, busy: Nanos) {
        let tasks = &self.user.tasks;
        let holds = tasks.with(p, |t| {
            t.warmth.leaves(LastRun { cpu, busy });
            t.locks_held.any()
        });
        if holds && self.k.task(p).state.get() == TaskState::Running {
            tasks.lock_holder_preemptions.set(tasks.lock_holder_preemptions.get() + 1);
        }
    }
}
