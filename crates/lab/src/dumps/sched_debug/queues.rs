//! The blocks of a CPU's queues.

use super::Lines;
use crate::dumps::format::Msecs;
use crate::dumps::lines::Block;
use crate::dumps::{Release, Show};
use machine::{
    CpuSnapshot, DlQueueSnapshot, EevdfQueueSnapshot, FairEntitySnapshot, FairGroupQueueSnapshot,
    FairQueueSnapshot, RtGroupQueueSnapshot, RtQueueSnapshot,
};
use scheduler::registry::{LoadTracking, RtThrottle, VRef};
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
    if !show.groups.is_empty() {
        // Linux does not keep these of the root.
        let mut lines = Lines::of(show, Block::FairQueue, out);
        for name in ["tg_load_avg_contrib", "tg_load_avg", "throttled", "throttle_count"] {
            lines.line(name, 0);
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
    let mut lines = Lines::of(show, Block::FairQueue, out);
    // Once all classes count run time in one place, nothing counts it for a queue.
    let is_counted = !show.since(Release::NO_EXEC_CLOCK);
    lines.line("exec_clock", Msecs::from(if is_counted { queue.exec_clock } else { Nanos::ZERO }));
    if show.since(Release::EEVDF) {
        eevdf_times(&queue.eevdf, &mut lines);
    } else {
        cfs_times(queue, first_floor, &mut lines);
    }
    // Only CFS compares with what this counts.
    let spread_over = if show.since(Release::EEVDF) { 0 } else { queue.nr_spread_over };
    let is_last = !show.since(Release::CLOCKS);
    if !is_last {
        lines.line("nr_spread_over", spread_over);
    }
    counts(queue, &mut lines);
    lines.line("load", show.weight(queue.load));
    if is_last {
        lines.line("nr_spread_over", spread_over);
    }
    if show.snapshot.config.rules.load_tracking.get() == LoadTracking::Pelt {
        averages(group, queue, &mut lines);
    }
}

fn group_sums(show: &Show<'_>, queue: &FairGroupQueueSnapshot, out: &mut String) {
    let mut lines = Lines::of(show, Block::FairQueue, out);
    lines.line("tg_load_avg_contrib", queue.contrib);
    lines.line("tg_load_avg", queue.group_load);
    lines.line("throttled", u8::from(queue.throttled));
    lines.line("throttle_count", queue.throttle_count);
}

/// What stands for a group in its parent's queue. Statistics of waiting are kept of tasks only.
fn entity(show: &Show<'_>, entity: &FairEntitySnapshot, out: &mut String) {
    let mut lines = Lines::of(show, Block::Entity, out);
    lines.line("se->exec_start", Msecs::from(entity.exec_start));
    lines.line("se->vruntime", Msecs::of_vruntime(entity.vruntime));
    lines.line("se->sum_exec_runtime", Msecs::from(entity.sum_exec_runtime));
    let fine = show.since(Release::FINE_WEIGHTS);
    lines.line("se->load.weight", if fine { entity.weight.parts() } else { entity.weight.whole() });
    lines.line("se->avg.load_avg", entity.average.load_avg.get());
    lines.line("se->avg.util_avg", entity.average.util_avg.get());
    lines.line("se->avg.runnable_avg", entity.average.runnable_avg.get());
}

fn cfs_times(queue: &FairQueueSnapshot, first_floor: u64, lines: &mut Lines<'_>) {
    let nobody = lines.show.nobody();
    let end = |vruntime: Option<u64>| vruntime.map_or(nobody, Msecs::of_vruntime);
    let (left, right) = (end(queue.leftmost), end(queue.rightmost));
    lines.line("MIN_vruntime", left);
    lines.line("min_vruntime", Msecs::of_vruntime(queue.min_vruntime));
    lines.line("max_vruntime", right);
    lines.line("spread", Msecs(right.0.wrapping_sub(left.0)));
    lines.line("spread0", Msecs::of_vruntime(queue.min_vruntime.wrapping_sub(first_floor)));
}

fn eevdf_times(queue: &EevdfQueueSnapshot, lines: &mut Lines<'_>) {
    let nobody = lines.show.nobody();
    let end = |vruntime: Option<u64>| vruntime.map_or(nobody, Msecs::of_vruntime);
    let by_deadline = lines.show.since(Release::BY_DEADLINE);
    let last = if by_deadline { queue.right_vruntime } else { queue.greatest_vruntime };
    let (left, right) = (end(queue.left_vruntime), end(last));
    lines.line("left_deadline", end(queue.left_deadline));
    lines.line("left_vruntime", left);
    let from_zero = lines.show.snapshot.config.rules.v_ref.get() == VRef::Zero;
    lines.line(if from_zero { "zero_vruntime" } else { "min_vruntime" }, Msecs::of_vruntime(queue.v0));
    lines.line("avg_vruntime", Msecs::of_vruntime(queue.avg_vruntime));
    lines.line("right_vruntime", right);
    lines.line("spread", Msecs(right.0.wrapping_sub(left.0)));
}

fn counts(queue: &FairQueueSnapshot, lines: &mut Lines<'_>) {
    let delayed = queue.eevdf.nr_delayed;
    lines.line("nr_running", queue.nr_running);
    lines.line("h_nr_running", queue.h_nr_running);
    lines.line("h_nr_delayed", delayed);
    lines.line("idle_nr_running", queue.nr_idle);
    lines.line("idle_h_nr_running", queue.nr_idle);
    lines.line("nr_queued", queue.nr_running);
    lines.line("h_nr_runnable", queue.h_nr_running - delayed);
    lines.line("h_nr_queued", queue.h_nr_running);
    lines.line("h_nr_idle", queue.nr_idle);
}

fn averages(group: GroupId, queue: &FairQueueSnapshot, lines: &mut Lines<'_>) {
    // Entities of groups have a weight of their own for this, which is not modelled.
    if lines.show.groups.is_empty() {
        lines.line("runnable_weight", lines.show.weight(queue.load));
    }
    lines.line("load_avg", queue.average.load_avg.get());
    // Kept of the root's queue only.
    if group == GroupId::ROOT {
        lines.line("runnable_load_avg", queue.queued_load);
    }
    lines.line("runnable_avg", queue.average.runnable_avg.get());
    lines.line("util_avg", queue.average.util_avg.get());
    lines.line("util_est_enqueued", queue.estimated);
    lines.line("util_est", queue.estimated);
    let removed = queue.removed;
    lines.line("removed_load_avg", removed.load);
    lines.line("removed_util_avg", removed.util);
    lines.line("removed.load_avg", removed.load);
    lines.line("removed.util_avg", removed.util);
    lines.line("removed.runnable_sum", removed.runnable_units);
    lines.line("removed.runnable_avg", removed.runnable);
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
    let mut lines = Lines::of(show, Block::RealTimeQueue, out);
    lines.line("rt_nr_running", queue.nr_running);
    lines.line("rt_nr_migratory", queue.nr_migratory);
    let is_limited = show.snapshot.config.rules.rt_throttle.get() != RtThrottle::Off;
    if is_limited || !show.since(Release::NO_RT_LIMIT) {
        lines.line("rt_throttled", u8::from(queue.throttled));
        lines.line("rt_time", Msecs::from(queue.time));
        lines.line("rt_runtime", runtime);
    }
}

/// What may be promised of a CPU, and is of all CPUs of its root domain (deadline-groups A3).
pub(super) fn deadline(show: &Show<'_>, cpu: &CpuSnapshot, out: &mut String) {
    let DlQueueSnapshot { nr_running, nr_migratory, promises } = cpu.dl;
    let _infallible = writeln!(out, "\ndl_rq[{}]:", cpu.cpu);
    let mut lines = Lines::of(show, Block::DeadlineQueue, out);
    lines.line("dl_nr_running", nr_running);
    lines.line("dl_nr_migratory", nr_migratory);
    match promises.limit_per_cpu {
        Some(limit) => lines.line("dl_bw->bw", limit),
        None => lines.line("dl_bw->bw", -1),
    }
    lines.line("dl_bw->total_bw", promises.total);
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
