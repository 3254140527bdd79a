//! sched_yield (fair-class 6.7).

use crate::fair::queue::{EntityId, update_curr};
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::YieldMode;
use crate::rq::RqGuard;
use crate::{Policy, TaskId};

/// The running task offers the CPU. It keeps its virtual time, so it loses the CPU only to somebody left of
/// it; from 2.6.39 on it is passed over once for somebody near, before that SCHED_BATCH, and everybody under
/// sched_compat_yield, went behind all others.
pub(crate) fn yield_task<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.fair.nr_running == 1 {
        return;
    }
    let entity = EntityId::of(p);
    rq.fair.buddies.clear(entity);
    update_curr(rq);
    if rq.me.k.config.rules.yield_mode.get() == YieldMode::Skip {
        rq.fair.buddies.skip = Some(entity);
        return;
    }
    let task = rq.me.task(p);
    let compat = rq.me.k.config.tunables.sched_compat_yield.get() != 0;
    if !compat && task.policy.get() != Policy::Batch {
        return;
    }
    let Some(right) = rq.fair.timeline.rightmost() else { return };
    if lag(task.se.vruntime.get(), right.vruntime) <= 0 {
        task.se.vruntime.set(right.vruntime.wrapping_add(1));
    }
}
