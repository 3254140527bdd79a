//! A child enters virtual time (step C of fair-class 5.1; 5.2).

use super::place::place_new;
use super::start_nice;
use crate::fair::queue::{EntityId, update_curr};
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::{Feature, ForkPath};
use crate::rq::RqGuard;
use crate::{Reason, TaskId};

/// Places a forked child against this queue and the task that runs there: the parent's queue under
/// `fork_path=early`, the destination under `late`, where the running task may be a stranger.
pub(crate) fn task_fork<P: Platform>(rq: &mut RqGuard<'_, P>, child: TaskId) {
    let me = rq.me;
    update_curr(rq);
    let se = &me.task(child).se;
    se.make_absolute(rq.floor().get());
    let parent = rq.fair.curr.map(EntityId::task);
    if let Some(parent) = parent {
        se.vruntime.set(me.task(parent).se.vruntime.get());
        if me.has(Feature::StartNice) {
            start_nice::impose(rq, parent, child);
        }
    }
    place_new(rq, me.task(child));
    if let Some(parent) = parent {
        child_runs_first(rq, parent, child);
    }
    if me.k.config.rules.fork_path.get() == ForkPath::Early {
        se.make_relative(rq.floor().get());
    }
}

/// sched_child_runs_first: a parent that is left of its child changes places with it, so that the parent pays
/// the debit. Only where the forking task itself runs on this queue.
fn child_runs_first<P: Platform>(rq: &mut RqGuard<'_, P>, parent: TaskId, child: TaskId) {
    let me = rq.me;
    let (ours, theirs) = (&me.task(parent).se.vruntime, &me.task(child).se.vruntime);
    let on = me.k.config.tunables.sched_child_runs_first.get() != 0;
    if on && rq.cpu == me.id && lag(ours.get(), theirs.get()) < 0 {
        theirs.set(ours.replace(theirs.get()));
        me.decide(child, Reason::ForkChildFirst);
        rq.resched();
    }
}

/// A task that comes from outside the model has no parent: it starts at min_vruntime.
pub(crate) fn place_orphan<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) {
    update_curr(rq);
    rq.me.task(p).se.make_absolute(rq.floor().get());
}
