//! P13: what a task inherits is what its waiters have.

use super::{Findings, Moment};
use crate::mutex::Form;
use crate::platform::Platform;
use crate::{MutexId, Prio};
use alloc::{format, vec};

/// P13: effective priority is the best of the own one and of the top waiters of all PI mutexes that the task
/// owns. And waiters are in order, by the priority that they have now.
pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    let mutexes = || (0..k.mutexes.len() as u32).map(MutexId).filter(|m| k.mutexes.form(*m) == Form::Pi);
    // From the lists of waiters alone, without what the mutexes remember to have lent.
    let mut lent = vec![Prio::IDLE; k.tasks.len()];
    for m in mutexes() {
        if let (Some(owner), Some(prio)) = (k.mutexes.living_owner(m, &k.tasks), k.mutexes.top_waiter_prio(m))
        {
            lent[owner.index()] = lent[owner.index()].min(prio);
        }
        let stray = k.mutexes.misplaced_waiter(m, &k.tasks);
        found.expect("rt-class P13", stray.is_none(), || {
            format!("{stray:?} waits for mutex {} at a place that its priority does not give it", m.0)
        });
    }
    for p in moment.tasks() {
        let task = k.task(p);
        let (prio, normal, lent) = (task.prio.get(), task.normal_prio.get(), lent[p.index()]);
        found.expect("rt-class P13", prio == normal.min(lent), || {
            format!("{p:?} has prio {prio}, its own is {normal}, its top waiters lend {lent}")
        });
        let policy_prio = task.policy.get().normal_prio(task.nice.get());
        found.expect("rt-class P13", normal == policy_prio, || {
            format!("{p:?} has normal_prio {normal}, its policy and nice give {policy_prio}")
        });
    }
}
