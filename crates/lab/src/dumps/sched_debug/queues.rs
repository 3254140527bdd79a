//! The blocks of a CPU's queues.

use super::line;
use crate::dumps::format::Msecs;
use crate::dumps::{Release, Show};
use machine::{CpuSnapshot, EevdfQueueSnapshot, FairQueueSnapshot, RtGroupQueueSnapshot, RtQueueSnapshot};
use scheduler::Nanos;
use scheduler::registry::{LoadTracking, RtThrottle};
use std::fmt::Write;

pub(super) fn fair(show: &Show<'_>, cpu: &CpuSnapshot, first_floor: u64, out: &mut String) {
    let queue = &cpu.fair;
    let _infallible = writeln!(out, "\ncfs_rq[{}]:", cpu.cpu);
    if show.since(Release::EEVDF) {
        eevdf_times(show, &queue.eevdf, out);
    } else {
        cfs_times(show, queue, first_floor, out);
    }
    counts(show, queue, out);
    line(out, "load", show.weight(queue.load));
    if !show.since(Release::CLOCKS) {
        line(out, "nr_spread_over", queue.nr_spread_over);
    }
    if show.snapshot.config.rules.load_tracking.get() == LoadTracking::Pelt {
        averages(show, queue, out);
    }
}

fn cfs_times(show: &Show<'_>, queue: &FairQueueSnapshot, first_floor: u64, out: &mut String) {
    let end = |vruntime: Option<u64>| vruntime.map_or(show.nobody(), Msecs::of_vruntime);
    let (left, right) = (end(queue.leftmost), end(queue.rightmost));
    line(out, "exec_clock", Msecs::from(queue.exec_clock));
    line(out, "MIN_vruntime", left);
    line(out, "min_vruntime", Msecs::of_vruntime(queue.min_vruntime));
    line(out, "max_vruntime", right);
    line(out, "spread", Msecs(right.0.wrapping_sub(left.0)));
    line(out, "spread0", Msecs::of_vruntime(queue.min_vruntime.wrapping_sub(first_floor)));
    if show.since(Release::CLOCKS) {
        line(out, "nr_spread_over", queue.nr_spread_over);
    }
}

fn eevdf_times(show: &Show<'_>, queue: &EevdfQueueSnapshot, out: &mut String) {
    let end = |vruntime: Option<u64>| vruntime.map_or(show.nobody(), Msecs::of_vruntime);
    let (left, right) = (end(queue.left_vruntime), end(queue.right_vruntime));
    line(out, "left_deadline", end(queue.left_deadline));
    line(out, "left_vruntime", left);
    let from_zero = show.snapshot.config.rules.v_ref.get() == scheduler::registry::VRef::Zero;
    line(out, if from_zero { "zero_vruntime" } else { "min_vruntime" }, Msecs::of_vruntime(queue.v0));
    line(out, "avg_vruntime", Msecs::of_vruntime(queue.avg_vruntime));
    line(out, "right_vruntime", right);
    line(out, "spread", Msecs(right.0.wrapping_sub(left.0)));
}

/// Without groups, the tasks of the hierarchy are those of the queue.
fn counts(show: &Show<'_>, queue: &FairQueueSnapshot, out: &mut String) {
    if show.since(Release::SCHEDSTAT_17) {
        line(out, "nr_queued", queue.nr_running);
        line(out, "h_nr_runnable", queue.nr_running - queue.eevdf.nr_delayed);
        line(out, "h_nr_queued", queue.nr_running);
        line(out, "h_nr_idle", queue.nr_idle);
        return;
    }
    line(out, "nr_running", queue.nr_running);
    if show.since(Release::ALL_CLASSES) {
        line(out, "h_nr_running", queue.nr_running);
        line(out, "idle_nr_running", queue.nr_idle);
        line(out, "idle_h_nr_running", queue.nr_idle);
    }
}

fn averages(show: &Show<'_>, queue: &FairQueueSnapshot, out: &mut String) {
    let runnable = show.since(Release::RUNNABLE);
    line(out, "load_avg", queue.average.load_avg.get());
    if runnable {
        line(out, "runnable_avg", queue.average.runnable_avg.get());
    }
    line(out, "util_avg", queue.average.util_avg.get());
    if show.since(Release::TASK_STATES) {
        let name = if show.since(Release::ONE_ESTIMATE) { "util_est" } else { "util_est_enqueued" };
        line(out, name, queue.estimated);
    }
    let [load, util, was_runnable] = queue.removed;
    line(out, "removed.load_avg", load);
    line(out, "removed.util_avg", util);
    if runnable {
        line(out, "removed.runnable_avg", was_runnable);
    }
}

/// With RT_GROUP_SCHED a block for each group, the newest first, the root's last (fair-class 11.6).
pub(super) fn real_time(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let has_groups = show.snapshot.config.rules.rt_throttle.get() == RtThrottle::Groups;
    for RtGroupQueueSnapshot { group, queue } in cpu.rt_groups.iter().rev() {
        let group = group.index().checked_sub(1).and_then(|place| show.groups.get(place));
        let path = group.map_or("", |group| group.spec.name.as_str());
        let _infallible = writeln!(out, "\nrt_rq[{}]:/{path}", cpu.cpu);
        let has_all = group.and_then(|group| group.rt).is_some_and(|rt| rt.limit.runtime.is_none());
        let runtime = if has_all { show.nobody() } else { Msecs::from(queue.runtime) };
        real_time_queue(show, queue, runtime, out);
    }
    let _infallible = writeln!(out, "\nrt_rq[{}]:{}", cpu.cpu, if has_groups { "/" } else { "" });
    real_time_queue(show, &cpu.rt, rt_runtime(show, cpu.rt.runtime), out);
}

fn real_time_queue(show: &Show<'_>, queue: &RtQueueSnapshot, runtime: Msecs, out: &mut String) {
    line(out, "rt_nr_running", queue.nr_running);
    if show.since(Release::WAIT_TIME) && !show.since(Release::NO_MIGRATORY) {
        line(out, "rt_nr_migratory", queue.nr_migratory);
    }
    let is_limited = show.snapshot.config.rules.rt_throttle.get() != RtThrottle::Off;
    if is_limited || !show.since(Release::NO_RT_LIMIT) {
        line(out, "rt_throttled", u8::from(queue.throttled));
        line(out, "rt_time", Msecs::from(queue.time));
        line(out, "rt_runtime", runtime);
    }
}

/// That of the root: until the first real-time task runs, nobody has looked at the limit.
fn rt_runtime(show: &Show<'_>, runtime: Nanos) -> Msecs {
    let limit = show.snapshot.config.tunables.sched_rt_runtime_us.get();
    match u64::try_from(limit) {
        Ok(us) if runtime == Nanos::ZERO => Msecs::from(Nanos::from_micros(us)),
        Ok(_) => Msecs::from(runtime),
        Err(_) => show.nobody(),
    }
}
