//! P1 and I12: a settled CPU runs the best that it has. And nobody holds a lock while nobody does anything.

use super::{Findings, Moment, Queue};
use crate::platform::Platform;
use crate::{Class, Policy};
use alloc::format;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    best_runs(moment, queue, found);
    works_while_there_is_work(moment, queue, found);
}

/// P1: nothing queued here beats the running task, unless the RT queue is throttled or a fair server is
/// queued. One that has stopped under the task for which it stood asks nobody to make room: that task,
/// boosted or not, goes on until somebody else does. (Among equals, which one runs is P9's.)
fn best_runs<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let rq = &queue.rq;
    let curr = moment.k.task(rq.curr);
    let highest = rq.rt.highest();
    let beaten = highest.is_rt() && highest.beats(curr.prio.get());
    // The fair class goes before it, by its server.
    let served = rq.dl.queued().any(|queued| queued.id.task().is_none());
    let fair = matches!(curr.policy.get(), Policy::Normal | Policy::Batch | Policy::Idle);
    let was_served = moment.past.server_left && fair;
    found.expect("rt-class P1", !beaten || rq.rt.is_throttled() || served || was_served, || {
        let (highest, prio) = (rq.rt.highest(), curr.prio.get());
        format!("CPU {} runs {:?} of prio {prio}, but prio {highest} waits there", rq.cpu, rq.curr)
    });
}

/// I12: a CPU with runnable tasks does not idle; tasks of a throttled RT queue do not count.
fn works_while_there_is_work<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let rq = &queue.rq;
    let idle = moment.k.task(rq.curr).class.get() == Class::Idle;
    let rt = if rq.rt.is_throttled() { 0 } else { rq.rt.nr_running() };
    let dl = rq.dl.nr_running();
    found.expect("fair-class I12", !idle || dl + rt + rq.fair.nr_running == 0, || {
        let fair = rq.fair.nr_running;
        format!("CPU {} idles with {dl} deadline, {rt} RT and {fair} fair tasks queued", rq.cpu)
    });
}

/// Design 3: a lock is held by a path that is under way.
pub(super) fn no_lock_is_held<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let held = moment.k.rqs().iter().find(|rq| rq.inspect().is_none()).map(|rq| rq.cpu);
    found.expect("lock", held.is_none(), || {
        format!("nothing is under way, but {held:?}'s run-queue lock is held")
    });
}
