//! Active balancing: after repeated failures to pull, a busy CPU is asked to give a task away itself, because
//! only its stopper can move the running one (fair-class 8.5, step 7).

use super::move_tasks::first_allowed;
use crate::class::{PreemptCause, check_preempt_curr, move_queued_task};
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::platform::Platform;
use crate::registry::Lb;
use crate::schedule::move_running_task;
use crate::stats::bump;
use crate::stop::{interrupt_stopper, wake_up_stopper};
use crate::{CpuId, Reason, ThisCpu};

/// Asks `busy` to push one task to `dest`, unless it is already asked, or its running task may not go there.
pub(super) async fn request_push<P: Platform>(me: ThisCpu<'_, P>, busy: CpuId, dest: CpuId) {
    let rq = me.lock(busy).await;
    let push_to = &rq.published.balance.push_to;
    let asks = push_to.get().is_none() && me.task(rq.curr).may_run_on(dest);
    if asks {
        push_to.set(Some(dest));
        if !interrupt_stopper(me, busy) {
            drop(rq);
            wake_up_stopper(me, busy).await;
        }
    }
}

/// The stopper's part: a task that may run there goes, perhaps the running one.
pub(crate) async fn active_load_balance<P: Platform>(me: ThisCpu<'_, P>) {
    let Some(dest) = me.k.rq(me.id).published.balance.push_to.take() else { return };
    let pushed = push_one(me, dest).await;
    if let Some(domain) = me.k.domains(dest).iter().find(|d| d.span.contains(me.id)) {
        let counts = &domain.balance.other_counts;
        if pushed && me.k.config.rules.lb.get() != Lb::GroupLoad {
            domain.balance.nr_balance_failed.set(0);
        }
        bump(if pushed { &counts.active_pushed } else { &counts.active_failed });
    }
}

/// Whether there was a task to go to `dest`.
async fn push_one<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId) -> bool {
    let rq = me.lock(me.id).await;
    let Some(p) = first_allowed(&rq, dest) else { return false };
    if rq.curr == p {
        drop(rq);
        me.decide(p, Reason::BalancedActive);
        move_running_task(me, dest).await;
        return true;
    }
    let DoubleLocked { own: mut from, other: mut to, .. } = double_lock_balance(rq, dest).await;
    // The lock may have been dropped: look again.
    let Some(p) = first_allowed(&from, dest).filter(|p| from.curr != *p) else { return false };
    from.update_clock();
    move_queued_task(&mut from, &mut to, p);
    me.decide(p, Reason::BalancedActive);
    check_preempt_curr(&mut to, p, PreemptCause::Migration);
    true
}
