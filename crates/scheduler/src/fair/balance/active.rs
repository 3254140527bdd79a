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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, cpus};
    use crate::{CpuMask, Policy};

    /// 8.5 step 7: once asked, a CPU is not asked for another one before it has answered; and only where its
    /// running task may go.
    #[test]
    fn who_is_asked_to_push() {
        let asked = |allowed: &[u16], dests: &[u16]| {
            let lab = Lab::new(3, "6.1.y", &[]);
            lab.spawn_allowed(Policy::Normal, 0, cpus(allowed));
            for dest in dests {
                lab.run(request_push(lab.cpu(1), CpuId(0), CpuId(*dest)));
            }
            lab.k.rq(CpuId(0)).published.balance.push_to.get()
        };
        assert_eq!(asked(&[0, 1, 2], &[1, 2]), Some(CpuId(1)));
        assert_eq!(asked(&[0, 2], &[1]), None);
        assert_eq!(asked(&[0, 2], &[1, 2]), Some(CpuId(2)));
    }

    /// fair-placement 4.9: what was pushed makes up for the failures, since the passes of 4.x.
    #[test]
    fn a_push_makes_up_for_failures() {
        let failures = |profile: &str, allowed: CpuMask| {
            let lab = Lab::new(2, profile, &[]);
            lab.spawn_allowed(Policy::Normal, 0, allowed);
            let state = &lab.k.domains(CpuId(1))[0].balance;
            state.nr_balance_failed.set(5);
            lab.k.rq(CpuId(0)).published.balance.push_to.set(Some(CpuId(1)));
            lab.run(active_load_balance(lab.cpu(0)));
            let counts = &state.other_counts;
            (state.nr_balance_failed.get(), counts.active_pushed.get(), counts.active_failed.get())
        };
        assert_eq!(failures("6.1.y", CpuMask::first_n(2)), (0, 1, 0));
        assert_eq!(failures("6.1.y", cpus(&[0])), (5, 0, 1));
        assert_eq!(failures("2.6.36", CpuMask::first_n(2)), (5, 1, 0));
    }
}
