//! eevdf-class E1 to E4, E6, E7, E9, E12 to E14 and E16: a queue that EEVDF serves agrees with itself.

use super::checker::Memory;
use super::{Findings, Level, Moment, Queue};
use crate::fair::{CUSTOM_SLICES, FairEntity, Sums, is_hidden, lag};
use crate::platform::Platform;
use crate::registry::{FairPolicy, Reweight, VRef};
use crate::{Event, TaskId, TaskState, ThisCpu};
use alloc::format;
use alloc::vec::Vec;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, found: &mut Findings) {
    sums(moment, level, found);
    zero_lag_point(moment, level, found);
    extremes(moment, level, found);
    level.queued(moment.k).for_each(|p| entity(moment, level, p, found));
    for waiting in level.fair.waiting() {
        let is_curr = level.fair.curr == Some(waiting);
        let competes = moment.k.task(waiting.task()).se.eevdf.on_rq.get();
        found.expect("eevdf-class E6", !is_curr && competes, || {
            format!("CPU {}: {waiting:?} waits; running {is_curr}, competes {competes}", level.cpu)
        });
    }
}

fn entities<'k, P: Platform>(
    moment: &Moment<'k, P>,
    tasks: impl Iterator<Item = TaskId>,
) -> Vec<&'k FairEntity> {
    tasks.map(|p| &moment.k.task(p).se).collect()
}

/// The sum of weight × (virtual runtime − `from`).
fn weighted_keys(entities: &[&FairEntity], from: u64) -> i128 {
    entities.iter().map(|se| i128::from(se.weight()) * i128::from(lag(se.vruntime.get(), from))).sum()
}

/// eevdf-class E1 and E2: the sums are those of the entities that wait, exactly; sleepers in the queue count.
fn sums<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, found: &mut Findings) {
    let (cpu, kept) = (level.cpu, &level.fair.eevdf);
    let waiting = entities(moment, level.fair.waiting().map(|e| e.task()));
    let weights: u64 = waiting.iter().map(|se| se.weight()).sum();
    found.expect("eevdf-class E1", kept.sum_w == weights, || {
        format!("CPU {cpu}: the weights of those that wait are {weights}, not {}", kept.sum_w)
    });
    let keys = weighted_keys(&waiting, kept.v0);
    found.expect("eevdf-class E2", kept.sum_wv == keys, || {
        format!("CPU {cpu}: the weighted keys add up to {keys}, not to {}", kept.sum_wv)
    });
}

/// eevdf-class E1: those that are queued asleep are counted, groups without a task not.
pub(super) fn sleepers_are_counted<P: Platform>(
    moment: &Moment<'_, P>,
    queue: &Queue<'_>,
    found: &mut Findings,
) {
    let k = moment.k;
    let asleep = |p: &TaskId| {
        let task = k.task(*p);
        !p.is_of_group() && task.se.eevdf.sched_delayed.get() && !is_hidden(k, task)
    };
    let asleep: usize = queue.levels(k).map(|level| level.queued(k).filter(asleep).count()).sum();
    let counted = queue.published.nr_delayed.get();
    found.expect("eevdf-class E1", counted as usize == asleep, || {
        format!("CPU {}: {asleep} tasks are queued and asleep, not {counted}", queue.rq.cpu)
    });
}

/// eevdf-class E3 and E4: the lags add up to nothing, within rounding; and so somebody is eligible.
fn zero_lag_point<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, found: &mut Findings) {
    let competing = entities(moment, level.queued(moment.k));
    let sums = Sums::of(&moment.k.tasks, level.fair);
    let Some(v) = sums.zero_lag_point() else { return };
    let weights: i128 = competing.iter().map(|se| i128::from(se.weight())).sum();
    let lags = -weighted_keys(&competing, v);
    found.expect("eevdf-class E3", -weights < lags && lags <= 0, || {
        format!("CPU {}: the weighted lags add up to {lags}, the weights to {weights}", level.cpu)
    });
    let eligible = competing.iter().any(|se| sums.eligible(se.vruntime.get()));
    found.expect("eevdf-class E4", eligible, || format!("CPU {}: nobody is eligible", level.cpu));
}

/// eevdf-class E16: the tree knows the extremes of those that wait.
fn extremes<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, found: &mut Findings) {
    let tree = &level.fair.eevdf.tree;
    let waiting = entities(moment, level.fair.waiting().map(|e| e.task()));
    let slices = || waiting.iter().map(|se| se.eevdf.slice.get());
    let right = tree.shortest_slice() == slices().min() && tree.longest_slice() == slices().max();
    found.expect("eevdf-class E16", right, || {
        let (shortest, longest) = (tree.shortest_slice(), tree.longest_slice());
        format!("CPU {}: slices from {shortest:?} to {longest:?} are remembered", level.cpu)
    });
    let least = waiting.iter().map(|se| se.vruntime.get()).reduce(|a, b| if lag(a, b) < 0 { a } else { b });
    found.expect("eevdf-class E16", tree.least_vruntime() == least, || {
        format!("CPU {}: the least vruntime is {least:?}, not {:?}", level.cpu, tree.least_vruntime())
    });
}

/// eevdf-class E7, E9, E13 and E14 of one that is queued.
fn entity<P: Platform>(moment: &Moment<'_, P>, level: &Level<'_>, p: TaskId, found: &mut Findings) {
    let (task, fair) = (moment.k.task(p), level.fair);
    let (v, kept) = (task.se.vruntime.get(), &task.se.eevdf);
    let asleep = kept.sched_delayed.get();
    let next = fair.buddies.next.is_some_and(|next| next.task() == p);
    found.expect("eevdf-class E7", !asleep || (task.state.get() != TaskState::Running && !next), || {
        format!("{p:?} is queued asleep, in state {:?}; next buddy: {next}", task.state.get())
    });
    // There the lag of a group's entity is clamped before it is scaled, and its deadline is not.
    let outdistanced = p.is_of_group() && moment.k.config.rules.reweight.get() == Reweight::AboutV;
    found.expect("eevdf-class E9", lag(v, kept.deadline.get()) <= 0 || outdistanced, || {
        format!("{p:?} has vruntime {v}, and its deadline {} is past", kept.deadline.get())
    });
    let slice = kept.slice.get();
    let custom = kept.custom_slice.get();
    let may_have =
        if custom { CUSTOM_SLICES.contains(&slice) } else { moment.past.base_slices.contains(&slice) };
    // A group has that of one of its tasks.
    let may_have = may_have || p.is_of_group();
    found.expect("eevdf-class E13", may_have, || {
        let whose = if custom { "chosen" } else { "not chosen, and never that of all" };
        format!("{p:?} has a slice of {slice}, {whose}")
    });
    found.expect("eevdf-class E14", !kept.rel_deadline.get(), || {
        format!("{p:?} is queued with a relative deadline")
    });
}

/// eevdf-class E7: nobody switches to a sleeper.
pub(super) fn event<P: Platform>(me: ThisCpu<'_, P>, event: Event, found: &mut Findings) {
    if let Event::Switch { next, .. } = event {
        let asleep = me.task(next).se.eevdf.sched_delayed.get();
        found.expect("eevdf-class E7", !asleep, || {
            format!("CPU {} switches to {next:?}, which is asleep", me.id)
        });
    }
}

/// eevdf-class E12: under `v_ref=min` the reference never moves back.
pub(super) fn references_only_rise<P: Platform>(
    memory: &mut Memory,
    moment: &Moment<'_, P>,
    found: &mut Findings,
) {
    let rules = &moment.k.config.rules;
    let rises = rules.fair_policy.get() == FairPolicy::Eevdf && rules.v_ref.get() == VRef::Min;
    for queue in moment.queues() {
        let now = queue.rq.fair.eevdf.v0;
        let remembered = &mut memory.queues[queue.rq.cpu.index()].v0;
        let before = core::mem::replace(remembered, rises.then_some(now));
        found.expect("eevdf-class E12", before.is_none_or(|before| !rises || lag(now, before) >= 0), || {
            format!("CPU {}: v0 went back from {before:?} to {now}", queue.rq.cpu)
        });
    }
}
