//! The blocks of a CPU's queues.

use super::line;
use crate::dumps::format::Msecs;
use crate::dumps::{Release, Show};
use machine::{
    CpuSnapshot, DlQueueSnapshot, EevdfQueueSnapshot, FairEntitySnapshot, FairGroupQueueSnapshot,
    FairQueueSnapshot, RtGroupQueueSnapshot, RtQueueSnapshot,
};
use scheduler::registry::{LoadTracking, RtThrottle};
use scheduler::{GroupId, Nanos};
use std::fmt::Write;

/// A block for each group in which somebody is, those below it first, the root's last.
pub(super) fn fair(show: &Show<'_>, cpu: &CpuSnapshot, first_floor: u64, out: &mut String) {
    for below in cpu.fair_groups.iter().rev() {
        fair_queue(show, cpu, below.group, &below.queue, first_floor, out);
        group_sums(show, below, out);
        entity(show, &below.entity, out);
    }
    fair_queue(show, cpu, GroupId::ROOT, &cpu.fair, first_floor, out);
    if show.since(Release::GROUP_LOADS) && !show.groups.is_empty() {
        // Linux does not keep these of the root.
        for name in ["tg_load_avg_contrib", "tg_load_avg", "throttled", "throttle_count"] {
            line(out, name, 0);
        }
    }
}

fn fair_queue(
    show: &Show<'_>,
    cpu: &CpuSnapshot,
    group: GroupId,
    queue: &FairQueueSnapshot,
    first_floor: u64,
    out: &mut String,
) {
    let path = show.path(group).unwrap_or_default();
    let _infallible = writeln!(out, "\ncfs_rq[{}]:{path}", cpu.cpu);
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

fn group_sums(show: &Show<'_>, queue: &FairGroupQueueSnapshot, out: &mut String) {
    if show.since(Release::GROUP_LOADS) {
        line(out, "tg_load_avg_contrib", queue.contrib);
        line(out, "tg_load_avg", queue.group_load);
        line(out, "throttled", u8::from(queue.throttled));
        line(out, "throttle_count", queue.throttle_count);
    }
}

/// What stands for a group in its parent's queue. Statistics of waiting are kept of tasks only.
fn entity(show: &Show<'_>, entity: &FairEntitySnapshot, out: &mut String) {
    line(out, "se->exec_start", Msecs::from(entity.exec_start));
    line(out, "se->vruntime", Msecs::of_vruntime(entity.vruntime));
    line(out, "se->sum_exec_runtime", Msecs::from(entity.sum_exec_runtime));
    let fine = show.since(Release::FINE_WEIGHTS);
    line(out, "se->load.weight", if fine { entity.weight.parts() } else { entity.weight.whole() });
    if show.since(Release::GROUP_LOADS) {
        line(out, "se->avg.load_avg", entity.average.load_avg.get());
        line(out, "se->avg.util_avg", entity.average.util_avg.get());
    }
    if show.since(Release::RUNNABLE) {
        line(out, "se->avg.runnable_avg", entity.average.runnable_avg.get());
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

fn counts(show: &Show<'_>, queue: &FairQueueSnapshot, out: &mut String) {
    if show.since(Release::SCHEDSTAT_17) {
        line(out, "nr_queued", queue.nr_running);
        line(out, "h_nr_runnable", queue.h_nr_running - queue.eevdf.nr_delayed);
        line(out, "h_nr_queued", queue.h_nr_running);
        line(out, "h_nr_idle", queue.nr_idle);
        return;
    }
    line(out, "nr_running", queue.nr_running);
    if show.since(Release::ALL_CLASSES) {
        line(out, "h_nr_running", queue.h_nr_running);
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
        let path = show.path(*group).unwrap_or_default();
        let _infallible = writeln!(out, "\nrt_rq[{}]:{path}", cpu.cpu);
        let has_all =
            show.group(*group).and_then(|group| group.rt).is_some_and(|rt| rt.limit.runtime.is_none());
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

/// What may be promised of a CPU, and is of all CPUs of its root domain (deadline-groups A3).
pub(super) fn deadline(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let DlQueueSnapshot { nr_running, nr_migratory, promises } = cpu.dl;
    let _infallible = writeln!(out, "\ndl_rq[{}]:", cpu.cpu);
    line(out, "dl_nr_running", nr_running);
    if !show.since(Release::NO_MIGRATORY) {
        line(out, "dl_nr_migratory", nr_migratory);
    }
    match promises.limit_per_cpu {
        Some(limit) => line(out, "dl_bw->bw", limit),
        None => line(out, "dl_bw->bw", -1),
    }
    line(out, "dl_bw->total_bw", promises.total);
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
