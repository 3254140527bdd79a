//! A task's priority, class or affinity changes (rt-class 5.1, 7.3, fair-class 2.6).

use super::{
    Class, DequeueKind, EnqueueKind, ListEnd, PutKind, activate_task, deactivate_task, put_prev_task,
    set_curr_task,
};
use crate::pi_lock::PiGuard;
use crate::platform::Platform;
use crate::registry::{AffinityStint, Renice};
use crate::rq::RqGuard;
use crate::task::Task;
use crate::{CpuId, CpuMask, DlParams, Nanos, NotAdmitted, Policy, Prio, Scheduler, TaskId, dl, fair, rt};

/// Why a task's priority is another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrioChange {
    /// It has a new policy or nice value.
    Parameters,
    /// It inherited a priority, or lost it.
    Inheritance,
}

/// Whether a task, which is on `cpu`, may have this policy (deadline-groups A2, A3, B9). Nothing is reserved
/// yet. Of a task that is made with it, whoever makes it asks, before its first wakeup: that reserves.
///
/// # Errors
/// What the kernel refuses.
pub fn admits<P: Platform>(
    k: &Scheduler<P>,
    task: &Task,
    cpu: CpuId,
    policy: Policy,
) -> Result<(), NotAdmitted> {
    rt::admits(k, task, policy)?;
    dl::fits(k, task, cpu, policy)
}

/// A queued task of this class got another policy, and keeps the priority that it inherits.
pub(crate) fn kept_priority<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    if rq.me.task(p).class.get() == Class::Rt {
        rt::boost_changed(rq, p);
    }
}

/// A task that is off its queue gets a policy that has been admitted; it still has its former one.
pub(crate) fn policy_changes<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, policy: Policy) {
    dl::policy_changes(rq, p, policy);
}

/// A task that is off its queue inherits the parameters of a deadline task, or no longer does.
pub(crate) fn lend<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, donor: Option<DlParams>) {
    dl::lend(rq, p, donor);
}

/// A task asks for other slices; it is off its queue.
pub(crate) fn set_custom_slice<P: Platform>(k: &Scheduler<P>, task: &Task, runtime: Nanos) {
    fair::set_custom_slice(k, &task.se, runtime);
}

impl Class {
    /// Whether a running task of this class begins a new stint with another nice value.
    pub(crate) fn renews_stint<P: Platform>(self, k: &Scheduler<P>) -> bool {
        match self {
            Class::Fair => fair::renice(k) != Renice::SameStint,
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => true,
        }
    }

    /// A task leaves this class for another. It is off its queue, in whatever state; its priority is still
    /// the old one.
    pub(crate) fn detach_task<P: Platform>(self, rq: &mut RqGuard<'_, P>, p: TaskId) {
        match self {
            Class::Fair => {
                fair::pelt::switched_from(rq, p);
                fair::detach_task_cfs_rq(rq, p);
            }
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
        }
    }

    /// A task enters this class. It is not yet on the queue; its priority is the new one.
    pub(crate) fn attach_task<P: Platform>(self, rq: &mut RqGuard<'_, P>, p: TaskId) {
        match self {
            Class::Fair => {
                fair::pelt::switched_to(rq, p);
                fair::attach_task_cfs_rq(rq, p);
            }
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
        }
    }

    /// What follows for a queued task that has entered this class. The lock may be dropped meanwhile.
    pub(crate) async fn switched_to<P: Platform>(self, mut rq: RqGuard<'_, P>, p: TaskId) -> RqGuard<'_, P> {
        match self {
            Class::Deadline => dl::switched_to(rq, p).await,
            Class::Rt => rt::switched_to(rq, p).await,
            Class::Fair => {
                fair::switched_to(&mut rq, p);
                rq
            }
            Class::Stop | Class::Idle => rq,
        }
    }

    /// What follows for the queue that a queued task of this class has left. Releases the lock.
    pub(crate) async fn switched_from<P: Platform>(self, mut rq: RqGuard<'_, P>) {
        match self {
            Class::Deadline => {
                rt::left_deadline_class(&mut rq);
                dl::switched_from(rq).await;
            }
            Class::Rt => rt::switched_from(rq).await,
            Class::Stop | Class::Fair | Class::Idle => {}
        }
    }

    /// What follows for a queued task of this class whose priority was `old`. Releases the lock.
    pub(crate) async fn prio_changed<P: Platform>(
        self,
        mut rq: RqGuard<'_, P>,
        p: TaskId,
        old: Prio,
        change: PrioChange,
    ) {
        match self {
            Class::Deadline => dl::prio_changed(rq, p).await,
            Class::Rt => rt::prio_changed(rq, p, old).await,
            Class::Fair => fair::prio_changed(&mut rq, p, old, change),
            Class::Stop | Class::Idle => {}
        }
    }

    /// Gives a task another load weight. It is off its queue, in whatever state; it keeps the weight while
    /// another class serves it.
    pub(crate) fn set_weight<P: Platform>(self, rq: &RqGuard<'_, P>, p: TaskId, weight: u64) {
        let task = rq.me.task(p);
        match self {
            Class::Fair => fair::pelt::reweight(rq, task, weight),
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
        }
        fair::reweight_task(rq.me.k, &task.se, weight);
    }

    /// Sets the affinity of a task of this class, queued or not. A queued fair one leaves its queue for that
    /// and comes back, so that a running one begins a new stint (rule `affinity_stint`).
    pub(crate) fn set_cpus_allowed<P: Platform>(
        self,
        rq: &mut RqGuard<'_, P>,
        pi: &PiGuard<'_, P>,
        cpus: CpuMask,
    ) {
        let task = rq.me.task(pi.task);
        let was_pinned = task.is_pinned();
        let renews = rq.me.k.config.rules.affinity_stint.get() == AffinityStint::New;
        match self {
            Class::Fair if renews => {
                off_and_on(rq, pi.task, ListEnd::Tail, |rq| task.set_cpus_allowed(&(pi, &*rq), cpus));
            }
            _ => task.set_cpus_allowed(&(pi, &*rq), cpus),
        }
        if task.is_pinned() == was_pinned {
            return;
        }
        match self {
            Class::Deadline => dl::pinned_changed(rq, pi.task),
            Class::Rt => rt::pinned_changed(rq, pi.task),
            Class::Stop | Class::Fair | Class::Idle => {}
        }
    }
}

/// Off the queue, no longer current, `change`, current again, back on to this end of its list (fair-class
/// 2.6).
pub(crate) fn off_and_on<P: Platform>(
    rq: &mut RqGuard<'_, P>,
    p: TaskId,
    place: ListEnd,
    change: impl FnOnce(&mut RqGuard<'_, P>),
) {
    let (queued, running) = (rq.me.task(p).on_rq.get(), rq.curr == p);
    if queued {
        deactivate_task(rq, p, DequeueKind::Restore);
    }
    if running {
        put_prev_task(rq, p, PutKind::Restore);
    }
    change(rq);
    if running {
        set_curr_task(rq, p);
    }
    if queued {
        activate_task(rq, p, EnqueueKind::Restore(place));
    }
}
