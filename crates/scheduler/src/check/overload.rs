//! P6: overload, its mask and its count.

use super::{Findings, Moment, Queue};
use crate::Class;
use crate::CpuMask;
use crate::platform::Platform;
use alloc::format;

/// P6: `overloaded` is what rt-class 1.6 says, by a rule that was in force when it was last looked at.
pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let rt = &queue.rq.rt;
    let by_depth = rt.nr_queued() > 1;
    let by_migratory = by_depth && rt.nr_migratory() >= 1;
    let by_pushable = rt.pushable(&moment.k.tasks).next().is_some();
    let (is, past) = (rt.is_overloaded(), &moment.past);
    let by_a_rule = [(past.depth, by_depth), (past.migratory, by_migratory), (past.by_pushable, by_pushable)];
    let right = by_a_rule.iter().any(|(was_in_force, wanted)| *was_in_force && is == *wanted);
    found.expect("rt-class P6", right, || {
        let (n, movable) = (rt.nr_queued(), rt.nr_migratory());
        format!(
            "CPU {}: overloaded is {is} with {n} RT tasks queued, {movable} of them movable",
            queue.rq.cpu
        )
    });
    let in_mask = moment.k.root_domain(queue.rq.cpu).rt.rto_mask().contains(queue.rq.cpu);
    found.expect("rt-class P6", in_mask == is, || {
        format!("CPU {}: overloaded is {is}, its bit in rto_mask {in_mask}", queue.rq.cpu)
    });
}

/// P6: rto_count is the number of bits in rto_mask, and only CPUs of the root domain are in it.
pub(super) fn mask_agrees<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    for root in moment.k.root_domains() {
        let (mask, count): (CpuMask, u32) = (root.rt.rto_mask(), root.rt.rto_count());
        found.expect("rt-class P6", mask.weight() == count && mask.is_subset(&root.span), || {
            format!("rto_count of {} is {count}, rto_mask {mask}", root.span)
        });
    }
}

/// P6: while an RT task runs, a pushable task means overload.
pub(super) fn pushable_means_overloaded<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    for queue in moment.queues() {
        let rq = &queue.rq;
        let rt_runs = moment.k.task(rq.curr).class.get() == Class::Rt;
        let pushable = rq.rt.pushable(&moment.k.tasks).next();
        found.expect("rt-class P6", !rt_runs || pushable.is_none() || rq.rt.is_overloaded(), || {
            format!(
                "CPU {}: {pushable:?} is pushable behind an RT task, but the CPU is not overloaded",
                rq.cpu
            )
        });
    }
}
