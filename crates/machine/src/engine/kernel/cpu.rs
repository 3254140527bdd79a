//! What a CPU does all its life: serve interrupts, reschedule when asked, run the current task, idle.

use super::sim::Sim;
use crate::engine::hardware::{Hw, Mode};
use crate::engine::userland::{Activity, Next, Rest};
use scheduler::registry::PreemptModel;
use scheduler::rq::Resched;
use scheduler::schedule::{Entry, schedule};
use scheduler::wakeup::try_to_wake_up;
use scheduler::{CpuId, Nanos, TaskId, ThisCpu};

/// The path of one CPU; it never ends, the engine drops it at the end of the run.
pub(crate) async fn cpu_main(sim: &Sim, id: CpuId) {
    let me = ThisCpu { k: &sim.k, id };
    let ctx = sim.hw().cpu(id);
    let idle = sim.k.idle_task(id);
    loop {
        sim.check();
        while !ctx.pending.borrow().is_empty() {
            sim.interrupts(me).await;
        }
        let curr = me.curr();
        let asked = sim.k.rq(id).published.resched.get();
        if asked != Resched::No && sim.may_preempt(me, curr, asked) {
            sim.take_the_way(me);
            schedule(me, Entry::Preemption).await;
            continue;
        }
        if ctx.seen.get() != curr {
            sim.set_up(me, curr);
        }
        if curr == idle {
            sim.idle(me).await;
        } else {
            sim.keep_ticking(id);
            let rest = match sim.next(me, curr) {
                Next::Follow(rest) => rest,
                Next::Execute(length) => {
                    let run = sim.begin(me, length);
                    if !run.is_over {
                        sim.hw().suspend(id, Mode::Interruptible).await;
                    }
                    sim.executed(me, curr, run)
                }
            };
            match rest {
                Rest::Nothing => {}
                Rest::Sleep => schedule(me, Entry::Call).await,
                Rest::Wake { task, flags } => {
                    try_to_wake_up(me, task, flags).await;
                }
                Rest::Slow(slow) => sim.follow(me, curr, slow).await,
            }
        }
    }
}

impl Sim {
    /// Whether the running task, which is asked to make room, can be taken off here: not inside the kernel
    /// unless that is preemptible, and the request is no lazy one. (One that spins for an owner sees the
    /// request itself, and sleeps.)
    fn may_preempt(&self, me: ThisCpu<'_, Hw>, curr: TaskId, asked: Resched) -> bool {
        let model = self.k.config.rules.preempt_model.get();
        curr == self.k.idle_task(me.id)
            || (asked == Resched::Full && model != PreemptModel::Voluntary)
            || self
                .user
                .tasks
                .with(curr, |t| !matches!(t.activity, Activity::Kernel { .. } | Activity::SpinOnOwner(_)))
    }

    /// Waits for an interrupt.
    async fn idle(&self, me: ThisCpu<'_, Hw>) {
        let hw = self.hw();
        let cpu = hw.cpu(me.id);
        cpu.ready_at.set(hw.local_now());
        hw.debt.set(Nanos::ZERO);
        cpu.polling.set(hw.idle_polls);
        cpu.halted.set(!hw.idle_polls);
        hw.suspend(me.id, Mode::Interruptible).await;
        cpu.polling.set(false);
    }
}
