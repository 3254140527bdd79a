//! P4 and P5: a queue's RT part agrees with itself and with what it publishes.

use super::{Findings, Moment, Queue, rt_groups};
use crate::Class;
use crate::platform::Platform;
use crate::rt::is_hidden;
use crate::{GroupId, Prio, TaskId};
use alloc::format;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    counts_equal_contents(moment, queue, found);
    lists_hold_queued_tasks_in_order(moment, queue, found);
    published_is_what_is_protected(queue, found);
    pushable_list(moment, queue, found);
    next_is_first_pushable(moment, queue, found);
    rt_groups::look(moment, queue, found);
}

/// P4: `rt_nr_total`, `rt_nr_migratory` and `nr_running` count what is there.
fn counts_equal_contents<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, rq) = (moment.k, &*queue.rq);
    // A list that has become a ring would never end.
    let limit = rq.rt.nr_queued() as usize + 1;
    let queued = || rq.rt.queued(&k.tasks).take(limit);
    let (n, migratory) = (queued().count(), queued().filter(|p| !k.task(*p).is_pinned()).count());
    found.expect("rt-class P4", n == rq.rt.nr_queued() as usize, || {
        format!("CPU {}: rt_nr_total is {}, its lists hold {n}", rq.cpu, rq.rt.nr_queued())
    });
    found.expect("rt-class P4", migratory == rq.rt.nr_migratory() as usize, || {
        format!(
            "CPU {}: rt_nr_migratory is {}, {migratory} queued tasks may move",
            rq.cpu,
            rq.rt.nr_migratory()
        )
    });
    let stopper = k.rq(rq.cpu).stop.thread.get().filter(|p| k.task(*p).on_rq.get());
    let (stop, dl) = (u32::from(stopper.is_some()), rq.dl.nr_running());
    let left_out = queue.published.rt_left_out.get();
    found.expect("rt-class P4", !left_out || rq.rt.is_throttled(), || {
        format!("CPU {}: real-time tasks are left out of nr_running, and not throttled", rq.cpu)
    });
    let (rt, fair) = (rt_counted(moment, queue), rq.fair.h_nr_running);
    found.expect("rt-class P4", rq.nr_running == stop + dl + rt + fair, || {
        let counted = rq.nr_running;
        format!(
            "CPU {}: nr_running is {counted}, but {stop} stopper, {dl} deadline, {rt} RT and {fair} fair \
             tasks are",
            rq.cpu
        )
    });
    found.expect("rt-class P4", queue.published.stop_nr_running.get() == stop, || {
        format!("CPU {}: stop_nr_running is not {stop}", rq.cpu)
    });
}

/// How many real-time tasks `nr_running` contains.
pub(super) fn rt_counted<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>) -> u32 {
    match moment.k.rt_bandwidth.has_groups() {
        true => rt_groups::counted(moment, queue),
        false if queue.published.rt_left_out.get() => 0,
        false => queue.rq.rt.nr_queued(),
    }
}

/// P4: each task is on the list of its priority, and `highest_prio.curr` is the priority of the first.
fn lists_hold_queued_tasks_in_order<P: Platform>(
    moment: &Moment<'_, P>,
    queue: &Queue<'_>,
    found: &mut Findings,
) {
    let (k, rq) = (moment.k, &*queue.rq);
    let mut last: Option<(GroupId, Prio)> = None;
    for p in rq.rt.queued(&k.tasks).take(rq.rt.nr_queued() as usize) {
        let task = k.task(p);
        found.expect(
            "rt-class P4",
            task.class.get() == Class::Rt && task.nr_cpus_allowed.get() == task.cpus_allowed.get().weight(),
            || {
                format!(
                    "CPU {}: RT list holds {p:?} of class {:?} with {} CPUs",
                    rq.cpu,
                    task.class,
                    task.nr_cpus_allowed.get()
                )
            },
        );
        let (group, prio) = (k.rt_group(task), task.prio.get());
        found.expect("rt-class P4", last.is_none_or(|(of, l)| of != group || !prio.beats(l)), || {
            format!("CPU {}: {p:?} of prio {prio} is queued behind prio {:?}", rq.cpu, last)
        });
        last = Some((group, prio));
    }
    // Those of groups that have used up their time do not count.
    let competes = |p: &TaskId| !is_hidden(k, rq, *p);
    let prios = rq.rt.queued(&k.tasks).filter(competes).map(|p| k.task(p).prio.get());
    let first = prios.min().unwrap_or(Prio::NO_RT);
    found.expect("rt-class P4", rq.rt.highest() == first, || {
        format!("CPU {}: highest_prio.curr is {}, the best queued has {first}", rq.cpu, rq.rt.highest())
    });
}

/// P4: the cells beside the lock say what the lock protects.
fn published_is_what_is_protected(queue: &Queue<'_>, found: &mut Findings) {
    let (rq, published) = (&*queue.rq, queue.published);
    let outside = (
        published.curr.get(),
        published.nr_running.get(),
        published.rt_highest.get(),
        published.rt_next.get(),
        published.rt_nr_running.get(),
        published.load.get(),
    );
    let inside = (rq.curr, rq.nr_running, rq.rt.highest(), rq.rt.next(), rq.rt.nr_running(), rq.fair.load);
    found.expect("rt-class P4", outside == inside, || {
        format!(
            "CPU {}: published curr, nr_running, highest_prio.curr, .next, rt_nr_running, load {outside:?} \
             are {inside:?}",
            rq.cpu
        )
    });
}

/// P5: the pushable list holds exactly the queued, waiting tasks that may move, by priority. Under
/// `drop_and_continue` some may be missing.
fn pushable_list<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, rq) = (moment.k, &*queue.rq);
    let may_be_pushed = |p: TaskId| {
        let task = k.task(p);
        task.on_rq.get() && task.cpu.get() == rq.cpu && p != rq.curr && !task.is_pinned()
    };
    let limit = rq.rt.nr_queued() as usize;
    let listed = || rq.rt.pushable(&k.tasks).take(limit + 1);
    let stranger = listed().find(|p| !may_be_pushed(*p));
    found.expect("rt-class P5", stranger.is_none(), || {
        format!("CPU {}: {stranger:?} is on the pushable list, but waits not here or may not move", rq.cpu)
    });
    let prios = || listed().map(|p| k.task(p).prio.get());
    found
        .expect("rt-class P5", prios().is_sorted(), || format!("CPU {}: pushable list out of order", rq.cpu));
    let waiting = rq.rt.queued(&k.tasks).take(limit).filter(|p| may_be_pushed(*p)).count();
    let n = listed().count();
    found.expect("rt-class P5", n == waiting || (moment.past.dropped && n < waiting), || {
        format!("CPU {}: pushable list holds {n} tasks, but {waiting} wait here and may move", rq.cpu)
    });
    found.expect("rt-class P5", queue.published.rt_pushable.get() == (n > 0), || {
        format!("CPU {}: publishes pushable {}, list holds {n}", rq.cpu, queue.published.rt_pushable.get())
    });
}

/// rt-class 1.5: since 3.1, `highest_prio.next` is the priority of the first pushable task.
fn next_is_first_pushable<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, rq) = (moment.k, &*queue.rq);
    let first = rq.rt.pushable(&k.tasks).next().map_or(Prio::NO_RT, |p| k.task(p).prio.get());
    found.expect("rt-class P5", moment.past.second_best || rq.rt.next() == first, || {
        format!("CPU {}: highest_prio.next is {}, the first pushable has {first}", rq.cpu, rq.rt.next())
    });
}
