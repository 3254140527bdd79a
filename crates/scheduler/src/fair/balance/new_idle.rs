//! A CPU that is about to idle looks for work (fair-class 8.6).

use super::{Outcome, Situation, load_balance};
use super::{nohz, typed};
use crate::Nanos;
use crate::class::EnqueueKind;
use crate::fair::averages::approach;
use crate::fair::queue::choose;
use crate::fair::scale;
use crate::platform::Platform;
use crate::registry::{Lb, NewIdleStop};
use crate::rq::RqGuard;
use crate::shared::Kept;

/// A CPU's idle times; written under its run-queue lock.
#[derive(Debug)]
pub(in crate::fair) struct IdleTimes {
    /// Average length.
    pub(in crate::fair) average: Kept<Nanos>,
    /// What is left of that for looking for idle CPUs, since a wakeup ended the last one (SIS_PROP).
    pub(in crate::fair) for_scans: Kept<Nanos>,
    /// When that was set, or faded.
    pub(in crate::fair) for_scans_at: Kept<Nanos>,
}

impl Default for IdleTimes {
    /// High at first: twice the default of sched_migration_cost.
    fn default() -> IdleTimes {
        let long = Nanos(1_000_000);
        IdleTimes { average: Kept::new(long), for_scans: Kept::new(long), for_scans_at: Kept::default() }
    }
}

/// Before a pick: whether this CPU has nothing to run, and looks for work before it idles.
#[inline]
pub(crate) fn wants_pre_schedule<P: Platform>(rq: &mut RqGuard<'_, P>) -> bool {
    finish_sleepers(rq);
    if rq.nr_running > 0 {
        return false;
    }
    let wants = match rq.me.k.config.rules.lb.get() {
        Lb::GroupType | Lb::GroupRoom | Lb::GroupRoomNewest => typed::wants_pre_schedule(rq),
        Lb::GroupLoad => wants_idle_balance(rq),
    };
    if !wants {
        rq.update_clock();
    }
    wants
}

/// Where all that is queued sleeps there, the pick will let everybody go: the CPU is about to idle.
fn finish_sleepers<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.nr_running > 0 && rq.nr_running == rq.published.nr_delayed.get() {
        let left = choose(rq);
        debug_assert!(left.is_none(), "nobody is awake");
    }
}

/// A CPU with nothing to run begins to idle: whether it looks for work first.
fn wants_idle_balance<P: Platform>(rq: &mut RqGuard<'_, P>) -> bool {
    let now = rq.clock;
    let since = &rq.published.balance.idle_since;
    since.set(since.get().or(Some(now)));
    let kick = &rq.published.balance.nohz_kick;
    if rq.curr != rq.idle {
        // Asked to balance on behalf of all idle CPUs, but it has been busy since.
        kick.set(false);
    }
    kick.get() || wants_search(rq)
}

/// Whether it would find anything, and have the time for it.
fn wants_search<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    let me = rq.me;
    // The cost of a search that cannot find anything is not modelled: it delays nobody but the idle CPU
    // itself.
    if me.k.root_domain(rq.cpu).waiting.get() == 0 {
        return false;
    }
    match me.k.config.rules.newidle_stop.get() {
        NewIdleStop::Never => false,
        NewIdleStop::OnMove => rq.published.balance.avg_idle() >= scale::migration_cost(me.k),
        NewIdleStop::OnBusiest => true,
    }
}

/// idle_balance: pulls from other CPUs, with this CPU's lock dropped meanwhile. A CPU that was asked to
/// balance on behalf of all idle ones does that instead.
pub(crate) async fn pre_schedule<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    let me = rq.me;
    if me.k.config.rules.lb.get() != Lb::GroupLoad {
        return typed::pre_schedule(rq).await;
    }
    let kicked = rq.published.balance.nohz_kick.take();
    drop(rq);
    if kicked {
        nohz::nohz_idle_balance(me).await;
        return me.lock(me.id).await;
    }
    let rule = me.k.config.rules.newidle_stop.get();
    for domain in me.k.domains(me.id) {
        let stop = match load_balance(me, me.id, domain, Situation::NewlyIdle).await {
            Outcome::Moved(_) => true,
            Outcome::Failed => rule == NewIdleStop::OnBusiest,
            Outcome::Balanced => false,
        };
        if stop || me.k.rq(me.id).published.nr_running.get() > 0 {
            break;
        }
    }
    me.lock(me.id).await
}

/// A task is activated on a CPU that had nothing to run: an idle time ends. It counts only if a wakeup ended
/// it.
pub(crate) fn update_avg_idle<P: Platform>(rq: &mut RqGuard<'_, P>, kind: EnqueueKind) {
    if rq.me.k.config.rules.lb.get() != Lb::GroupLoad {
        if kind == EnqueueKind::Wakeup {
            typed::end_idle_spell(rq);
        }
        return;
    }
    let Some(since) = rq.published.balance.idle_since.take() else { return };
    if kind != EnqueueKind::Wakeup {
        return;
    }
    let length = rq.clock.saturating_sub(since).0;
    let most = scale::migration_cost(rq.me.k).0.saturating_mul(2);
    let average = &rq.published.balance.idle.average;
    average.set(if length > most { Nanos(most) } else { approach(average.get(), Nanos(length)) });
}
