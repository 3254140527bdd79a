//! A woken task and the running one in different groups: they meet where their ancestors are siblings
//! (deadline-groups B2, B6).

use super::bandwidth;
use crate::class::PreemptCause;
use crate::fair::discipline;
use crate::fair::queue::EntityId;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{GroupId, TaskId};

/// Asks for a reschedule if `p`, just queued here, should run before the fair task that runs.
#[inline(never)]
pub(in crate::fair) fn check_preempt_wakeup<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    p: TaskId,
    cause: PreemptCause,
) {
    let me = rq.me;
    if bandwidth::is_hidden(me.k, me.task(p)) {
        return;
    }
    let above = |entity: EntityId| EntityId::of_group(me.entity(entity).group.get(), rq.cpu);
    let level = |entity: EntityId| me.k.groups.depth(me.entity(entity).group.get());
    let (mut woken, mut runs) = (EntityId::of(p), EntityId::of(rq.curr));
    while me.entity(woken).group.get() != me.entity(runs).group.get() {
        let (ours, theirs) = (level(runs), level(woken));
        if theirs >= ours {
            woken = above(woken);
        }
        if ours >= theirs {
            runs = above(runs);
        }
    }
    rq.bring(me.entity(woken).group.get());
    discipline::check_preempt_siblings(rq, woken, p, cause);
    let (next, last) = (rq.fair.buddies.next == Some(woken), rq.fair.buddies.last == Some(runs));
    if next {
        mark(rq, EntityId::of(p), |rq, entity| rq.fair.buddies.next = Some(entity));
    }
    if last {
        mark(rq, runs, |rq, entity| rq.fair.buddies.last = Some(entity));
    }
    rq.bring(GroupId::ROOT);
}

/// A buddy is one at every level; SCHED_IDLE ones and `cpu.idle` groups never are.
fn mark<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    mut entity: EntityId,
    mut mark: impl FnMut(&mut RqGuard<'_, P>, EntityId),
) {
    let me = rq.me;
    loop {
        let group = me.entity(entity).group.get();
        let stands = me.task(entity.task());
        if stands.policy.get() == crate::Policy::Idle || stands.se.eevdf.sched_delayed.get() {
            return;
        }
        rq.bring(group);
        mark(rq, entity);
        if group == GroupId::ROOT {
            return;
        }
        entity = EntityId::of_group(group, rq.cpu);
    }
}
