//! A task's policy, nice value and effective priority change: sched_setscheduler, set_user_nice,
//! rt_mutex_setprio.
//!
//! All three do the same thing to a task in whatever state it is: off its queue, change, back on, then let
//! the classes draw their conclusions (`check_class_changed`). Where the task comes back (rt-class 2.1): a
//! task whose priority rose goes behind its new equals; one whose priority dropped goes before them, because
//! it must not lose its turn for having held a lock or for a change it did not ask for (rule
//! `deboost_place`). One whose effective priority stays as it was is not moved at all.

use crate::class::{
    self, Class, DequeueKind, EnqueueKind, ListEnd, PrioChange, activate_task, deactivate_task,
    finish_delayed, off_and_on, set_custom_slice,
};
use crate::mutex::{Inherited, inherited, rt_mutex_adjust_prio_chain};
use crate::pi_lock::PiGuard;
use crate::platform::{Cost, Platform};
use crate::registry::{CustomSlice, DeboostPlace, FairPolicy, SetschedulerPlace};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{Event, Nanos, Nice, NotAdmitted, Policy, Prio, Reason, TaskId, TaskState, ThisCpu};

/// Gives `p` a policy (with its parameters) in whatever state the task is; its nice value stays. If `p` waits
/// for a mutex, its place among the waiters and the owner's inherited priority follow (rt-class 7.3).
///
/// # Errors
/// SCHED_DEADLINE may be refused (deadline-groups A2, A3); then nothing has changed.
pub async fn sched_setscheduler<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    policy: Policy,
) -> Result<(), NotAdmitted> {
    let pi = me.pi_lock(p).await;
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    rq.charge(Cost::SetPrio);
    let task = me.task(p);
    if task.policy.get() == policy {
        return Ok(());
    }
    class::admits(me.k, task, task.cpu.get(), policy)?;
    let old = Served::by(task);
    let normal = policy.normal_prio(task.nice.get());
    let Inherited { prio, donor } = inherited(me, p, normal);
    let set = |held: &(&PiGuard<'_, P>, &RqGuard<'_, P>)| {
        class::policy_changes(held.1, p, policy);
        task.policy.set(held, policy);
        class::lend(held.1, p, donor);
        task.normal_prio.set(held, normal);
        old.class.set_weight(held.1, p, policy.weight(task.nice.get()));
    };
    if prio == old.prio && old.class.goes_by_priority() {
        set(&(&pi, &rq));
        class::kept_priority(&mut rq, p);
        return Ok(());
    }
    let drops_to = match me.k.config.rules.setscheduler_place.get() {
        SetschedulerPlace::Head => ListEnd::Head,
        SetschedulerPlace::Tail => ListEnd::Tail,
    };
    change(&mut rq, &pi, prio, drops_to, set);
    check_class_changed(rq, p, old, PrioChange::Parameters).await;
    drop(pi);
    rt_mutex_adjust_prio_chain(me, p).await;
    Ok(())
}

/// Gives `p` a nice value in whatever state the task is. A real-time task only remembers it; so does a normal
/// task that is boosted by a lock, which keeps its place (rt-class 2.1, fair-class 2.6).
pub async fn set_user_nice<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, nice: Nice) {
    let pi = me.pi_lock(p).await;
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    rq.charge(Cost::SetPrio);
    let task = me.task(p);
    if task.nice.get() == nice {
        return;
    }
    let old = Served::by(task);
    let policy = task.policy.get();
    let normal = policy.normal_prio(nice);
    let set = |held: &(&PiGuard<'_, P>, &RqGuard<'_, P>)| {
        task.nice.set(held, nice);
        task.normal_prio.set(held, normal);
        old.class.set_weight(held.1, p, policy.weight(nice));
    };
    if !old.class.goes_by_weight() {
        set(&(&pi, &rq));
        return;
    }
    let prio = inherited(me, p, normal).prio;
    if !old.class.renews_stint(me.k) {
        // Unlike a change of policy this is no new stint of a running task.
        let queued = task.on_rq.get();
        if queued {
            deactivate_task(&mut rq, p, DequeueKind::Restore);
        }
        set(&(&pi, &rq));
        task.set_prio(&(&pi, &rq), prio);
        if queued {
            activate_task(&mut rq, p, EnqueueKind::Restore(ListEnd::Tail));
        }
    } else {
        change(&mut rq, &pi, prio, ListEnd::Tail, set);
    }
    check_class_changed(rq, p, old, PrioChange::Parameters).await;
}

/// sched_setattr with a run time for a fair task: the slice that it asks EEVDF for, from 0.1 to 100 ms
/// (others become the nearer of these); zero takes it back (eevdf-class 0.6). Its share of the CPU stays.
/// Another class serves a task as before, and remembers it.
pub async fn sched_setattr_runtime<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, runtime: Nanos) {
    let pi = me.pi_lock(p).await;
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    rq.charge(Cost::SetPrio);
    let rules = &me.k.config.rules;
    if rules.custom_slice.get() == CustomSlice::Ignored || rules.fair_policy.get() == FairPolicy::Cfs {
        me.decide(p, Reason::SliceIgnored);
        return;
    }
    let task = me.task(p);
    let old = Served::by(task);
    if !old.class.goes_by_weight() {
        set_custom_slice(me.k, task, runtime);
        return;
    }
    change(&mut rq, &pi, old.prio, ListEnd::Tail, |_| set_custom_slice(me.k, task, runtime));
    check_class_changed(rq, p, old, PrioChange::Parameters).await;
}

/// Inheritance gives `p` an effective priority, and the parameters of a deadline task that waits
/// (deadline-groups A10). Nothing happens where it has them already; returns whether they changed. The caller
/// holds the pi_lock of `p` and follows up on the mutex that `p` may wait for.
pub(crate) async fn rt_mutex_setprio<P: Platform>(pi: &PiGuard<'_, P>, inherits: Inherited) -> bool {
    let (me, p) = (pi.me, pi.task);
    let task = me.task(p);
    let Inherited { prio, donor } = inherits;
    let old = Served::by(task);
    if old.prio == prio && task.dl.donor() == donor {
        return false;
    }
    let mut rq = me.task_rq_lock(p).await;
    rq.update_clock();
    rq.charge(Cost::SetPrio);
    me.event(Event::PiSetprio { task: p, old: old.prio, new: prio });
    let rises = prio.beats(old.prio) || prio == old.prio && donor.is_some();
    me.decide(p, if rises { Reason::Boosted } else { Reason::Deboosted });
    let drops_to = match me.k.config.rules.deboost_place.get() {
        DeboostPlace::Head => ListEnd::Head,
        DeboostPlace::Tail => ListEnd::Tail,
    };
    change(&mut rq, pi, prio, drops_to, |held| class::lend(held.1, p, donor));
    check_class_changed(rq, p, old, PrioChange::Inheritance).await;
    true
}

/// How a task was served before a change.
#[derive(Clone, Copy)]
struct Served {
    prio: Prio,
    class: Class,
}

impl Served {
    fn by(task: &Task) -> Served {
        Served { prio: task.prio.get(), class: task.class.get() }
    }
}

/// Changes the effective priority of a task, off its queue, and by `set` what else is to change; a task whose
/// priority drops comes back to the end `drops_to` of its list.
fn change<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    pi: &PiGuard<'_, P>,
    prio: Prio,
    drops_to: ListEnd,
    set: impl FnOnce(&(&PiGuard<'_, P>, &RqGuard<'_, P>)),
) {
    let p = pi.task;
    let task = rq.me.task(p);
    let old = Served::by(task);
    let class = Class::serving(prio);
    if class != old.class {
        finish_delayed(rq, p);
    }
    // A task that was never woken has no place in virtual time yet, only a distance to bring along.
    let other_class = class != old.class && task.state.get() != TaskState::New;
    let place = if old.prio.beats(prio) { drops_to } else { ListEnd::Tail };
    off_and_on(rq, p, place, |rq| {
        if other_class {
            old.class.detach_task(rq, p);
        }
        let held = (pi, &*rq);
        task.set_prio(&held, prio);
        set(&held);
        if other_class {
            class.attach_task(rq, p);
        }
    });
}

/// What follows from a change that has been made: rescheduling, pulling, pushing (rt-class 5.1 and 7.3,
/// fair-class 2.6). Nothing follows for a task that is not queued. Releases the run queue's lock, in between
/// too.
async fn check_class_changed<P: Platform>(rq: RqGuard<'_, P>, p: TaskId, old: Served, change: PrioChange) {
    let task = rq.me.task(p);
    if !task.on_rq.get() {
        return;
    }
    let class = task.class.get();
    if class == old.class {
        class.prio_changed(rq, p, old.prio, change).await;
    } else {
        // The class that was left pulls last: the lock may be dropped for that.
        let rq = class.switched_to(rq, p).await;
        old.class.switched_from(rq).await;
    }
}

#[cfg(test)]
mod tests;
