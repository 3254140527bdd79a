//! deadline-groups DA1 to DA3, DA5, DA6 and DA8: the deadline class agrees with itself, the earliest deadline
//! runs, and nobody does who is throttled.

use super::{Findings, Moment, Queue};
use crate::dl::DlId;
use crate::platform::Platform;
use crate::{Class, Nanos, Policy};
use alloc::format;
use alloc::vec::Vec;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    tree_holds_what_competes(moment, queue, found);
    pushable_list(moment, queue, found);
    others_see_it(moment, queue, found);
    bandwidth_in_use(moment, queue, found);
}

/// DA2: who is in the tree is not throttled, stands there by its deadline, and is counted.
fn tree_holds_what_competes<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, rq) = (moment.k, &*queue.rq);
    let (mut tasks, mut movable, mut last) = (0, 0, Nanos::ZERO);
    for queued in rq.dl.queued() {
        found.expect("deadline-groups DA2", last <= queued.deadline, || {
            format!("CPU {}: {queued:?} is queued behind a deadline of {last}", rq.cpu)
        });
        last = queued.deadline;
        let DlId::Task(p) = queued.id else { continue };
        let e = &k.task(p).dl;
        let right = e.is_queued() && !e.is_throttled() && e.deadline() == queued.deadline;
        found.expect("deadline-groups DA2", right, || {
            let (throttled, deadline) = (e.is_throttled(), e.deadline());
            format!("CPU {}: {queued:?} has throttled {throttled} and deadline {deadline}", rq.cpu)
        });
        tasks += 1;
        movable += u32::from(!k.task(p).is_pinned());
    }
    let counted = (rq.dl.nr_running(), rq.dl.nr_migratory());
    found.expect("deadline-groups DA2", counted == (tasks, movable), || {
        format!("CPU {}: {tasks} deadline tasks, {movable} movable, are counted as {counted:?}", rq.cpu)
    });
}

/// Pushable is who is in the tree, waits and may move (deadline-groups A9).
fn pushable_list<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, rq) = (moment.k, &*queue.rq);
    let waits = |p| p != rq.curr && !k.task(p).is_pinned();
    let mut expected: Vec<_> =
        rq.dl.queued().filter_map(|queued| queued.id.task()).filter(|p| waits(*p)).collect();
    let mut listed: Vec<_> = rq.dl.pushable().collect();
    let in_order = listed.is_sorted_by_key(|p| k.task(*p).dl.deadline());
    // Equals stand as they came here, and there.
    expected.sort();
    listed.sort();
    found.expect("deadline-groups DA2", in_order && listed == expected, || {
        format!("CPU {}: the pushable deadline tasks are not those that wait and may move", rq.cpu)
    });
}

/// DA5: cpudl, the published cells and the overload mask say what is in the tree.
fn others_see_it<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (rq, published) = (&*queue.rq, queue.published);
    let (cpu, root) = (rq.cpu, &moment.k.root_domain(rq.cpu).dl);
    let earliest = rq.dl.earliest();
    found.expect("deadline-groups DA5", root.cpudl_deadline(cpu) == earliest, || {
        format!("CPU {cpu}: its first deadline is {earliest:?}, cpudl has {:?}", root.cpudl_deadline(cpu))
    });
    let outside = (published.dl_nr_running.get(), published.dl_earliest.get(), published.dl_next.get());
    let inside = (rq.dl.nr_running(), earliest, rq.dl.earliest_pushable());
    found.expect("deadline-groups DA5", outside == inside, || {
        format!("CPU {cpu}: published dl_nr_running, earliest.curr, .next {outside:?} are {inside:?}")
    });
    let in_mask = root.dlo_mask().contains(cpu);
    found.expect("deadline-groups DA5", in_mask == rq.dl.is_overloaded(), || {
        format!("CPU {cpu}: overloaded is {}, its bit in dlo_mask {in_mask}", rq.dl.is_overloaded())
    });
}

/// DA3: what is in use of a CPU is part of what is assigned to it.
fn bandwidth_in_use<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (cpu, root) = (queue.rq.cpu, &moment.k.dl_cpus);
    let (running, this) = (root.running_bw(cpu), root.this_bw(cpu));
    found.expect("deadline-groups DA3", running <= this, || {
        format!("CPU {cpu}: running_bw {running} is above this_bw {this}")
    });
}

/// DA6, on one CPU: no deadline task waits while a later one, or none, runs.
pub(super) fn earliest_runs<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let rq = &*queue.rq;
    // Whom a server stands for, the fair class decides.
    let Some(first) = rq.dl.queued().next().filter(|first| first.id.task().is_some()) else { return };
    let curr = moment.k.task(rq.curr);
    let right = curr.class.get() == Class::Deadline && curr.dl.deadline() <= first.deadline;
    found.expect("deadline-groups DA6", right, || {
        format!("CPU {} runs {:?}, but {first:?} waits there", rq.cpu, rq.curr)
    });
}

/// DA2, DA3 and DA8 of all tasks, at rest.
pub(super) fn tasks<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    let mut own = 0;
    for p in moment.tasks() {
        let (task, e) = (k.task(p), &k.task(p).dl);
        // A task that is lent less than it has keeps what it has.
        let Some(most) =
            [e.params(), e.own_params()].into_iter().flatten().map(|p| p.runtime().0 as i64).max()
        else {
            continue;
        };
        found.expect("deadline-groups DA2", e.runtime_ns() <= most, || {
            format!("{p:?} has {} ns left of a run time of {most} ns", e.runtime_ns())
        });
        found.expect("deadline-groups DA8", !e.is_boosted() || !e.is_throttled(), || {
            format!("{p:?} is boosted and throttled")
        });
        let is_own = matches!(task.policy.get(), Policy::Deadline(_));
        own += if is_own { e.reserved_bw() } else { 0 };
    }
    let mut all = 0;
    for root in k.root_domains() {
        let assigned = root.span.iter().map(|cpu| k.dl_cpus.this_bw(cpu)).sum::<u64>();
        all += assigned;
        found.expect("deadline-groups DA3", assigned <= root.dl.total_bw(), || {
            let total = root.dl.total_bw();
            format!("CPUs {} are assigned {assigned}, {total} are promised", root.span)
        });
    }
    found.expect("deadline-groups DA3", own <= all, || {
        format!("deadline tasks have {own}, CPUs are assigned {all}")
    });
}

/// DA1: who is throttled does not run, where nothing keeps it from stopping. How much who is not may have run
/// for [`super::budgets`] asks.
pub(super) fn throttled_stops<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let curr = moment.k.task(queue.rq.curr);
    let runs_on = curr.class.get() == Class::Deadline && curr.dl.is_throttled();
    found.expect("deadline-groups DA1", !runs_on, || {
        format!("CPU {} runs {:?}, which is throttled", queue.rq.cpu, queue.rq.curr)
    });
}
