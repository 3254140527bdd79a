//! deadline-groups GB1 to GB4, GB7 and GB9: the queues of the groups hang together, weights stay within the
//! shares, what queues have published adds up, and who has used up a limit is known to it.

use super::{Findings, Moment, Queue};
use crate::fair;
use crate::platform::Platform;
use crate::{CpuId, GroupId, TaskId};
use alloc::format;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, cpu) = (moment.k, queue.rq.cpu);
    for level in queue.levels(k) {
        let below: u32 = level.queued(k).map(|p| tasks_of(queue, p)).sum();
        let counted = level.fair.h_nr_running;
        found.expect("deadline-groups GB2", counted == below, || {
            format!("CPU {cpu}: {below} tasks are below {:?}, {counted} are counted", level.fair.group())
        });
    }
    for group in k.groups.ids() {
        let entity = k.task(TaskId::of_group(group, cpu));
        let (queued, members) = (entity.on_rq.get(), queue.rq.queue(group).nr_running);
        let bandwidth = &k.group_queue(group, cpu).bandwidth;
        // One without members works its debt off. (Who is parked is no member.)
        let right = match (bandwidth.is_frozen(), members) {
            (true, _) => !queued,
            (false, 0) => !queued || entity.se.eevdf.sched_delayed.get(),
            (false, _) => queued,
        };
        found.expect("deadline-groups GB1", right, || {
            format!("CPU {cpu}: {group:?} has {members} members here, its entity is queued: {queued}")
        });
        parked(moment, queue, group, found);
        let (weight, shares) = (entity.se.exact_weight().parts(), 1024 * k.groups.get(group).shares);
        found.expect("deadline-groups GB3", (2..=shares).contains(&weight), || {
            format!("CPU {cpu}: {group:?} weighs {weight} of {shares} 1024ths")
        });
    }
}

/// GB9: who is parked is so beside the queue of its group on its CPU, which is below a throttled one.
fn parked<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, group: GroupId, found: &mut Findings) {
    let (k, cpu) = (moment.k, queue.rq.cpu);
    let below = k.group_queue(group, cpu).bandwidth.is_below_throttled();
    for p in fair::parked(k, queue.rq.queue(group)) {
        let task = k.task(p);
        let here = task.se.parked.get() && task.cpu.get() == cpu && task.se.group.get() == group;
        found.expect("deadline-groups GB9", below && here && task.on_rq.get(), || {
            format!("CPU {cpu}: {p:?} is parked in {group:?}, which is throttled: {below}; it knows: {here}")
        });
    }
}

/// GB9: and nobody thinks so who is not.
fn parked_once<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    let of_queue = |q: &Queue<'_>, group| fair::parked(k, q.rq.queue(group)).count();
    let listed: usize = moment.queues().map(|q| k.groups.ids().map(|g| of_queue(&q, g)).sum::<usize>()).sum();
    let waits = |p: &TaskId| k.task(*p).on_rq.get() && k.task(*p).se.parked.get();
    let parked = moment.tasks().filter(waits).count();
    found.expect("deadline-groups GB9", listed == parked, || {
        format!("{listed} tasks are listed as parked, {parked} are")
    });
}

/// How many tasks an entity stands for.
fn tasks_of(queue: &Queue<'_>, p: TaskId) -> u32 {
    if p.is_of_group() { queue.rq.queue(p.group()).h_nr_running } else { 1 }
}

/// GB4: a group's load is the sum of what its queues have published.
pub(super) fn sums<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    parked_once(moment, found);
    for group in k.groups.ids() {
        let of = k.groups.get(group);
        let published: u64 = k.online.iter().map(|cpu| k.group_queue(group, cpu).contrib.get()).sum();
        let counted = of.load_avg.get();
        found.expect("deadline-groups GB4", published == counted, || {
            format!("the queues of {group:?} have published {published}, it has a load of {counted}")
        });
        limit(moment, group, found);
    }
}

/// GB7: what the pool and the queues have is no more than a refill gave, and what each queue may have kept or
/// given back late. GB9: the pool knows the throttled queues, each once, and every queue how many are above
/// it.
fn limit<P: Platform>(moment: &Moment<'_, P>, group: GroupId, found: &mut Findings) {
    let k = moment.k;
    let of = k.groups.get(group);
    let above = |cpu: CpuId| {
        let from_here = k.groups.upwards(group);
        from_here.filter(|g| k.group_queue(*g, cpu).bandwidth.is_throttled()).count()
    };
    for cpu in k.online.iter() {
        let (counted, right) = (k.group_queue(group, cpu).bandwidth.above(), above(cpu));
        found.expect("deadline-groups GB9", counted as usize == right, || {
            format!("CPU {cpu}: {right} queues from {group:?} on are throttled, {counted} are counted")
        });
    }
    let Some(pool) = &of.pool else { return };
    for cpu in k.online.iter() {
        let is = k.group_queue(group, cpu).bandwidth.is_throttled();
        let listed = pool.throttled_on().filter(|other| *other == cpu).count();
        found.expect("deadline-groups GB9", listed == usize::from(is), || {
            format!("CPU {cpu}: {group:?} is throttled: {is}, and listed {listed} times")
        });
    }
    let drawn = |cpu: CpuId| k.group_queue(group, cpu).bandwidth.remaining.get().max(0) as u64;
    let has = pool.runtime.get().0 + k.online.iter().map(drawn).sum::<u64>();
    let late = u64::from(k.online.weight()) * moment.past.bandwidth_slice_us as u64 * 1_000;
    let params = pool.params.get();
    let most = params.quota.0 + params.burst.0 + late;
    found.expect("deadline-groups GB7", has <= most, || {
        format!("{group:?} may use {has} ns in this period, a refill and late returns give {most}")
    });
}
