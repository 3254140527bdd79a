//! Does a task that has just been queued take the CPU at once? (eevdf-class 3.5)

use super::delay::finish_delayed_dequeue;
use super::pick::{Regard, pick_eevdf};
use super::protect;
use crate::class::PreemptCause;
use crate::fair::discipline::policy_of_woken;
use crate::fair::queue::{EntityId, FairEntity, update_curr};
use crate::fair::scale;
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::{Feature, ForkPreempts, IdleProtection, ShortWakeup, Trim, WakeBuddy};
use crate::rq::RqGuard;
use crate::{Nanos, Policy, Reason, TaskId};

/// Asks for a reschedule if `woken`, which is `p`, just queued here, or a group above it, should run before
/// the entity that runs.
pub(in crate::fair) fn check_preempt_wakeup<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    woken: EntityId,
    p: TaskId,
    cause: PreemptCause,
) {
    let me = rq.me;
    let Some(curr) = rq.fair.curr.filter(|curr| *curr != woken) else { return };
    if me.k.config.rules.wake_buddy.get() == WakeBuddy::Every
        && me.has(Feature::NextBuddy)
        && cause != PreemptCause::Fork
    {
        set_next_buddy(rq, woken);
    }
    let policy = policy_of_woken(me, woken, p);
    let reason = verdict(rq, curr, woken, policy, cause);
    me.decide(p, reason);
    if matches!(reason, Reason::PreemptIdlePolicy | Reason::PreemptShort | Reason::PreemptDeadline) {
        rq.resched_lazy();
    }
}

/// Steps 3 to 9 of 3.5.
fn verdict<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    curr: EntityId,
    woken: EntityId,
    theirs: Policy,
    cause: PreemptCause,
) -> Reason {
    let me = rq.me;
    let ours = me.task(curr.task()).policy.get();
    let idle_policy_goes = ours == Policy::Idle && theirs != Policy::Idle;
    let rules = &me.k.config.rules;
    // 6.6 asks for the policies first.
    let switch_comes_first = rules.short_wakeup.get() != ShortWakeup::None || !idle_policy_goes;
    if rq.need_resched() {
        Reason::PreemptPending
    } else if !me.has(Feature::WakeupPreemption) && switch_comes_first {
        Reason::NoPreemptOff
    } else if idle_policy_goes {
        if rules.idle_protection.get() == IdleProtection::Cancelled {
            protect::cancel_protect_slice(me, me.entity(curr));
        }
        Reason::PreemptIdlePolicy
    } else if theirs != Policy::Normal {
        Reason::NoPreemptPolicy
    } else {
        update_curr(rq);
        match rules.short_wakeup.get() {
            ShortWakeup::None => asked(rq, woken, Regard::REQUESTS),
            ShortWakeup::Cancel => {
                cancel_for_short(rq, me.entity(curr), me.entity(woken));
                asked(rq, woken, Regard::REQUESTS)
            }
            ShortWakeup::Pick => by_pick(rq, curr, woken, cause),
        }
    }
}

impl Regard {
    /// The question before the pick itself became the question: without buddies.
    const REQUESTS: Regard = Regard { protection: true, buddy: false };
}

/// Whether the pick would choose the woken entity.
fn asked<P: Platform>(rq: &RqGuard<'_, P>, woken: EntityId, regard: Regard) -> Reason {
    match pick_eevdf(rq, regard) {
        Some(choice) if choice.entity == woken => Reason::PreemptDeadline,
        _ => Reason::NoPreemptDeadline,
    }
}

/// `short_wakeup=cancel`: a woken entity with a shorter slice ends the protection, even if it does not win.
fn cancel_for_short<P: Platform>(rq: &RqGuard<'_, P>, ours: &FairEntity, theirs: &FairEntity) {
    let sums = super::average::sums(rq);
    let is_before = lag(theirs.eevdf.deadline.get(), ours.eevdf.deadline.get()) < 0;
    if is_shorter(rq, ours, theirs)
        && sums.eligible(theirs.vruntime.get())
        && (is_before || !sums.eligible(ours.vruntime.get()))
    {
        protect::cancel_protect_slice(rq.me, ours);
    }
}

fn is_shorter<P: Platform>(rq: &RqGuard<'_, P>, ours: &FairEntity, theirs: &FairEntity) -> bool {
    rq.me.has(Feature::PreemptShort) && theirs.eevdf.slice.get() < ours.eevdf.slice.get()
}

/// `short_wakeup=pick`.
fn by_pick<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    curr: EntityId,
    woken: EntityId,
    cause: PreemptCause,
) -> Reason {
    let me = rq.me;
    let rules = &me.k.config.rules;
    let (ours, theirs) = (me.entity(curr), me.entity(woken));
    let short = is_shorter(rq, ours, theirs);
    if rules.fork_preempts.get() == ForkPreempts::No
        && !short
        && (cause == PreemptCause::Fork || theirs.eevdf.sched_delayed.get())
    {
        return Reason::NoPreemptNew;
    }
    if rules.wake_buddy.get() == WakeBuddy::Deadline
        && !short
        && me.has(Feature::NextBuddy)
        && let Some(decided) = record_by_deadline(rq, curr, woken, cause)
    {
        return decided;
    }
    match ask_the_pick(rq, woken, !short) {
        Reason::PreemptDeadline if short => {
            protect::cancel_protect_slice(me, ours);
            Reason::PreemptShort
        }
        Reason::PreemptDeadline => Reason::PreemptDeadline,
        refused => {
            let trims = match rules.trim.get() {
                Trim::Short => short,
                Trim::Always => true,
                Trim::Never => false,
            };
            if trims && me.has(Feature::RunToParity) {
                protect::update_protect_slice(rq, ours);
            }
            refused
        }
    }
}

/// Under `wake_buddy=deadline` the question is the pick itself: the next buddy counts, and whoever stayed in
/// the queue asleep and would be picked is let go.
fn ask_the_pick<P: Platform>(rq: &mut RqGuard<'_, P>, woken: EntityId, protection: bool) -> Reason {
    let itself = rq.me.k.config.rules.wake_buddy.get() == WakeBuddy::Deadline;
    let regard = Regard { protection, buddy: itself };
    while itself
        && let Some(choice) = pick_eevdf(rq, regard)
        && rq.me.entity(choice.entity).eevdf.sched_delayed.get()
    {
        finish_delayed_dequeue(rq, choice.entity);
    }
    asked(rq, woken, regard)
}

/// `wake_buddy=deadline`: the woken entity becomes the next buddy unless that is before it. A waker that is
/// about to sleep then decides at once, if it has run for long enough.
fn record_by_deadline<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    curr: EntityId,
    woken: EntityId,
    cause: PreemptCause,
) -> Option<Reason> {
    let me = rq.me;
    let deadline = |entity: EntityId| me.entity(entity).eevdf.deadline.get();
    if rq.fair.buddies.next.is_some_and(|next| lag(deadline(next), deadline(woken)) < 0) {
        return None;
    }
    set_next_buddy(rq, woken);
    if cause != (PreemptCause::Wakeup { sync: true }) {
        return None;
    }
    let is_before = lag(deadline(woken), deadline(curr)) < 0;
    let charged_for = rq.clock_task().saturating_sub(me.task(curr.task()).stats.exec_start.get());
    let chosen = !me.task(woken.task()).is_pinned();
    let cost = scale::migration_cost(me.k);
    let enough = if chosen { Nanos(cost.0 / 4) } else { cost };
    Some(if is_before && charged_for >= enough { Reason::PreemptDeadline } else { Reason::NoPreemptDeadline })
}

/// The next pick prefers this entity if it is eligible; never a SCHED_IDLE one, nor one that sleeps in its
/// queue.
fn set_next_buddy<P: Platform>(rq: &mut RqGuard<'_, P>, entity: EntityId) {
    let task = rq.me.task(entity.task());
    if task.policy.get() != Policy::Idle && !task.se.eevdf.sched_delayed.get() {
        rq.fair.buddies.next = Some(entity);
    }
}
