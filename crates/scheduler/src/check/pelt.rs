//! Load tracking and balancing agree with themselves: fair-placement I1 to I3, I5, I6, I13, I17, I18 and
//! I23; deadline-groups CF6, and CF4 as far as it can be seen at any moment: where the task may run can have
//! changed since it was noted.

use super::{Findings, Moment, Queue};
use crate::Class;
use crate::fair::Average;
use crate::platform::Platform;
use crate::rq::RqState;
use crate::task::Task;
use crate::{CpuId, Nanos, TaskId};
use alloc::format;

/// What the averages may add up to: all the time, and one that is rounded up.
const MOST: u64 = 1025;

/// Balancing waits no longer than this between two passes over a level, before the factor of a busy CPU, in
/// ms.
const LONGEST_INTERVAL_MS: u64 = 1024;

pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (rq, pelt) = (&*queue.rq, &queue.published.pelt);
    average(rq, &pelt.average, found, "its queue");
    found.expect("fair-placement I3", pelt.average.sums_suffice(), || {
        format!("CPU {}: the sums of {:?} are less than its averages", rq.cpu, pelt.average)
    });
    let (left, full) = (pelt.capacity.left.get(), pelt.capacity.full);
    found.expect("fair-placement I18", (1..=full).contains(&left), || {
        format!("CPU {} has capacity {left} of {full}", rq.cpu)
    });
    let is_better = |cpu: CpuId| moment.k.full_capacity(cpu) > full;
    let looks_in_vain =
        pelt.misfit_load.get() > 0 && !moment.k.root_domain(rq.cpu).span.iter().any(is_better);
    found.expect("deadline-groups CF4", !looks_in_vain, || {
        format!("CPU {} is worth {full}, no CPU more, and its task looks for a better one", rq.cpu)
    });
    if let Some(running) = moment.k.frequencies.domain_of(rq.cpu) {
        let (speed, right) =
            (pelt.capacity.speed.get(), running.domain.part_at(running.level(), full).max(1));
        found.expect("deadline-groups CF6", speed == right, || {
            format!("CPU {} counts as worth {speed}, at its frequency it is {right}", rq.cpu)
        });
    }
    for domain in moment.k.domains(rq.cpu) {
        let interval = domain.balance.balance_interval_ms.get();
        found.expect("fair-placement I13", interval <= LONGEST_INTERVAL_MS, || {
            format!("CPU {}: {} is balanced every {interval} ms", rq.cpu, domain.span)
        });
    }
}

/// What concerns tasks, seen from the queues that they are assigned to.
pub(super) fn tasks<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    for queue in moment.queues() {
        let of_this_cpu = |p: &TaskId| k.task(*p).cpu.get() == queue.rq.cpu;
        let (mut estimated, mut queued_load, mut clamped) = (0, 0, 0);
        for p in moment.tasks().filter(of_this_cpu) {
            let task = k.task(p);
            clamped += u32::from(task.clamps.counted.get().is_some());
            if task.is_in_queue() {
                estimated += task.se.pelt.estimate.counted_in_queue();
                queued_load += task.se.pelt.counted_load();
            }
            attached(moment, &queue.rq, p, task, found);
        }
        let has = queue.published.pelt.estimated.get();
        found.expect("fair-placement I5", has == estimated, || {
            format!("CPU {}: estimates add up to {has}, those of its tasks to {estimated}", queue.rq.cpu)
        });
        let has = queue.published.clamps.tasks();
        found.expect("deadline-groups CF6", has == clamped, || {
            format!("CPU {}: the clamps of {has} tasks count, {clamped} are there", queue.rq.cpu)
        });
        let has = queue.published.pelt.queued_load.get();
        found.expect("fair-placement I23", has == queued_load, || {
            format!("CPU {}: {has} of load is queued, by its tasks {queued_load}", queue.rq.cpu)
        });
    }
}

fn attached<P: Platform>(moment: &Moment<'_, P>, rq: &RqState, p: TaskId, task: &Task, found: &mut Findings) {
    let (pelt, fair) = (&task.se.pelt, task.class.get() == Class::Fair);
    let (attached, queued) = (pelt.attached.get(), fair && task.is_in_queue());
    found.expect("fair-placement I6", attached || !queued || moment.past.untracked, || {
        format!("{p:?} is queued on CPU {} and no part of its averages", rq.cpu)
    });
    found.expect("fair-placement I6", fair || !attached, || {
        format!("{p:?} is served by another class and still attached")
    });
    if attached {
        average(rq, &pelt.average, found, "a task");
        let (util, runnable) = (pelt.average.util_avg.get(), pelt.average.runnable_avg.get());
        found.expect("fair-placement I2", util <= runnable + 1 && runnable < MOST, || {
            format!("{p:?} ran {util} and was runnable {runnable} 1024ths of the time")
        });
    }
}

/// fair-placement I1: no time is counted that has not passed.
fn average(rq: &RqState, average: &Average, found: &mut Findings, whose: &str) {
    let (upto, contrib) = (average.last_update_time.get(), average.period_contrib.get());
    // A unit is 1024 ns, and an unlocked clock may be older than what was counted.
    let passed = upto <= rq.clock.max(Nanos(1024));
    found.expect("fair-placement I1", passed && contrib < 1024, || {
        let clock = rq.clock;
        format!("CPU {} at {clock}: {whose} is counted up to {upto:?} and {contrib} units", rq.cpu)
    });
}

/// fair-placement I17: each cache knows how many of its CPUs have no tick.
pub(super) fn idle_cpus_are_counted<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    let idle = k.fair_root.idle_cpus();
    for cache in (0..k.cpus() as u16).map(CpuId).filter(|c| k.cache_id(*c) == *c) {
        let (has, right) = (k.fair_root.idle_in_cache(cache), k.llc_span(cache).and(&idle).weight());
        found.expect("fair-placement I17", has == right, || {
            format!("the cache of CPU {cache} counts {has} CPUs without tick, there are {right}")
        });
    }
}
