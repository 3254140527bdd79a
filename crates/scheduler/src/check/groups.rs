//! deadline-groups GB1 to GB4: the queues of the groups hang together, weights stay within the shares, and
//! what queues have published adds up.

use super::{Findings, Moment, Queue};
use crate::TaskId;
use crate::platform::Platform;
use alloc::format;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, cpu) = (moment.k, queue.rq.cpu);
    for level in queue.levels(k) {
        let below: u32 = level.queued(k).map(|p| tasks_of(moment, queue, p)).sum();
        let counted = level.fair.h_nr_running;
        found.expect("deadline-groups GB2", counted == below, || {
            format!("CPU {cpu}: {below} tasks are below {:?}, {counted} are counted", level.fair.group())
        });
    }
    for group in k.groups.ids() {
        let entity = k.task(TaskId::of_group(group, cpu, k.cpus()));
        let (queued, members) = (entity.on_rq.get(), queue.rq.queue(group).nr_running);
        // One without members works its debt off.
        let right = if members > 0 { queued } else { !queued || entity.se.eevdf.sched_delayed.get() };
        found.expect("deadline-groups GB1", right, || {
            format!("CPU {cpu}: {group:?} has {members} members here, its entity is queued: {queued}")
        });
        let (weight, shares) = (entity.se.weight.get(), k.groups.get(group).shares);
        found.expect("deadline-groups GB3", (1..=shares).contains(&weight), || {
            format!("CPU {cpu}: {group:?} weighs {weight}, of {shares} shares")
        });
    }
}

/// How many tasks an entity stands for.
fn tasks_of<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, p: TaskId) -> u32 {
    if p.is_of_group() { queue.rq.queue(p.group(moment.k.cpus())).h_nr_running } else { 1 }
}

/// GB4: a group's load is the sum of what its queues have published.
pub(super) fn sums<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    for group in k.groups.ids() {
        let of = k.groups.get(group);
        let published: u64 = k.online.iter().map(|cpu| of.queue(cpu).contrib.get()).sum();
        let counted = of.load_avg.get();
        found.expect("deadline-groups GB4", published == counted, || {
            format!("the queues of {group:?} have published {published}, it has a load of {counted}")
        });
    }
}
