//! The tick: is the running task's turn over? (fair-class 6.1 to 6.3)

use super::slice::sched_slice;
use crate::fair::queue::{EntityId, update_curr};
use crate::fair::scale;
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::{Feature, SliceCap, TickCheck, TickCmpUnsigned, TickLatencyCheck, TickVrtCmp};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Reason, TaskId};

/// Accounts the running task and asks for a reschedule if others should have the CPU.
pub(crate) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>, curr: TaskId) {
    update_curr(rq);
    if rq.fair.nr_running > 1 || preemption_is_off(rq) {
        check_preempt_tick(rq, curr);
    }
}

/// WAKEUP_PREEMPT is off, and concerns the tick too.
fn preemption_is_off<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    rq.me.k.config.rules.tick_check.get() == TickCheck::ByFeature && !rq.me.has(Feature::WakeupPreemption)
}

/// How long the running task may go on, in ns: its slice, and no longer than rule `slice_cap` allows.
fn turn<P: Platform>(rq: &RqGuard<'_, P>, task: &Task) -> u64 {
    let slice = sched_slice(rq, task);
    match rq.me.k.config.rules.slice_cap.get() {
        SliceCap::Off => slice,
        SliceCap::Latency => slice.min(scale::latency(rq.me.k)),
    }
}

fn check_preempt_tick<P: Platform>(rq: &mut RqGuard<'_, P>, curr: TaskId) {
    let me = rq.me;
    let task = me.task(curr);
    let (ran, ideal) = (task.ran().0, turn(rq, task));
    if ran > ideal {
        me.decide(curr, Reason::TickSlice);
        rq.fair.buddies.clear(EntityId::of(curr));
        rq.resched_lazy();
        return;
    }
    // Seed 004's bound on how long a task may stay ahead of the leftmost by virtue of a buddy or a near miss.
    let rules = &me.k.config.rules;
    if rules.tick_latency_check.get() == TickLatencyCheck::Off
        || preemption_is_off(rq)
        || ran < scale::min_granularity(me.k)
    {
        return;
    }
    let Some(left) = rq.fair.timeline.leftmost() else { return };
    let ahead = lag(task.se.vruntime.get(), left.vruntime);
    let limit = match rules.tick_vrt_cmp.get() {
        TickVrtCmp::Off => ideal,
        TickVrtCmp::On => task.se.vdelta(ideal),
    };
    let over = match rules.tick_cmp_unsigned.get() {
        TickCmpUnsigned::Off => ahead > limit as i64,
        TickCmpUnsigned::On => ahead as u64 > limit,
    };
    if over {
        me.decide(curr, Reason::TickLatency);
        rq.resched_lazy();
    }
}
