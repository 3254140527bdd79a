//! What a CPU does all its life: serve interrupts, reschedule when asked, run the current task, idle.

use super::sim::Sim;
use crate::engine::hardware::{Mode, Softirq};
use crate::engine::userland::{Next, Rest};
use scheduler::fair::parks_on_return;
use scheduler::rq::Resched;
use scheduler::schedule::{Entry, schedule};
use scheduler::stop::cpu_stopper_thread;
use scheduler::wakeup::try_to_wake_up;
use scheduler::{Class, CpuId, Nanos, ThisCpu};
use schema::LogEvent;

/// The path of one CPU; it never ends, the engine drops it at the end of the run.
pub(crate) async fn cpu_main(sim: &Sim, id: CpuId) {
    let me = ThisCpu { k: &sim.k, id };
    let ctx = sim.hw().cpu(id);
    let idle = sim.k.idle_task(id);
    loop {
        sim.check();
        while !ctx.pending.borrow().is_empty() {
            sim.interrupts(me).await;
            sim.may_stop_ticking(id);
            if ctx.softirq.get() == Softirq::Raised {
                sim.softirq(me).await;
            }
        }
        let curr = me.curr();
        let asked = sim.k.rq(id).published.resched.get();
        let goes_on = if asked == Resched::No { Nanos::NEVER } else { sim.makes_room_in(me, curr, asked) };
        if goes_on == Nanos::ZERO {
            sim.take_the_way(me);
            sim.hw().note_detail(id, || LogEvent::Schedule {});
            schedule(me, Entry::Preemption).await;
            continue;
        }
        if ctx.seen.get() != curr {
            if sim.changes_paces(me, curr) {
                // Siblings notice at the time of this path, not before; and others may act until then.
                sim.hw().settled(id).await;
                sim.set_up(me, curr);
                continue;
            }
            sim.set_up(me, curr);
        }
        if curr == idle {
            sim.idle(me).await;
        } else if me.task(curr).class.get() == Class::Stop {
            sim.hw().note_executes(id);
            cpu_stopper_thread(me).await;
        } else if parks_on_return(me, curr) && sim.is_in_user_space(curr) {
            sim.hw().note_detail(id, || LogEvent::Schedule {});
            schedule(me, Entry::Park).await;
        } else {
            sim.hw().note_executes(id);
            sim.keep_ticking(id);
            let rest = match sim.next(me, curr) {
                Next::Follow(rest) => rest,
                Next::Execute(length) => {
                    let run = sim.begin(me, length.at_most(goes_on));
                    if !run.is_over {
                        sim.hw().suspend(id, Mode::Interruptible).await;
                    }
                    sim.executed(me, curr, run)
                }
            };
            match rest {
                Rest::Nothing => {}
                Rest::Sleep => {
                    sim.hw().note_detail(id, || LogEvent::Schedule {});
                    schedule(me, Entry::Call).await;
                }
                Rest::Wake { task, flags } => {
                    try_to_wake_up(me, task, flags).await;
                }
                Rest::Slow => sim.follow(me, curr).await,
            }
        }
    }
}
