//! Which lines of a name and a value the files have, by kernel.
//!
//! How each is known stands behind it: *recorded* is a recording of 6.1 or 6.18, a version an output of that
//! kernel which others have published (fair-class 11.6), *commit* the message and date of the change,
//! *recalled* what nothing but memory says. Where several lines have one source it stands behind the last of
//! them. Lines without one are as old as this file is (fair-class 11.2, 11.3).
//!
//! Left out: what depends on how a kernel is built and is no part of the scheduler (NUMA balancing, clamps,
//! core scheduling, sched_ext); sched_clock_stable, which tells of the clock; iowait_sum and iowait_count, as
//! waits for devices are not told from others; of a group's entity its statistics, and runnable_weight and
//! avg.runnable_load_avg (4.15 to 5.6), which are not modelled.

use super::release::{Release, Releases};

/// What a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Block {
    /// The head of sched_debug.
    Tunables,
    Cpu,
    FairQueue,
    /// What stands for a group in its parent's queue.
    Entity,
    RealTimeQueue,
    DeadlineQueue,
    /// /proc/PID/sched; statistics without the prefix of their era.
    Task,
}

struct Line {
    block: Block,
    name: &'static str,
    releases: Releases,
}

impl Line {
    const fn before(self, release: [u16; 3]) -> Line {
        Line { releases: self.releases.before(release), ..self }
    }

    const fn and_in(self, stable: &'static [&'static str]) -> Line {
        Line { releases: self.releases.and_in(stable), ..self }
    }
}

const fn since(from: [u16; 3], block: Block, name: &'static str) -> Line {
    Line { block, name, releases: Releases::since(from) }
}

const fn always(block: Block, name: &'static str) -> Line {
    since([0, 0, 0], block, name)
}

use Block::{Cpu, DeadlineQueue, Entity, FairQueue, RealTimeQueue, Task, Tunables};

const LINES: &[Line] = &[
    always(Tunables, "sysctl_sched_latency").before([6, 6, 0]),
    always(Tunables, "sysctl_sched_min_granularity").before([6, 6, 0]),
    since([5, 16, 0], Tunables, "sysctl_sched_idle_min_granularity").before([6, 6, 0]), // recorded; recalled
    always(Tunables, "sysctl_sched_wakeup_granularity").before([6, 6, 0]),
    since([6, 6, 0], Tunables, "sysctl_sched_base_slice"),
    always(Tunables, "sysctl_sched_child_runs_first").before([6, 7, 0]), // commit 17e7170645e3
    always(Tunables, "sysctl_sched_features"),
    since([2, 6, 33], Tunables, "sysctl_sched_tunable_scaling"),
    always(Cpu, "nr_running"),
    always(Cpu, "load").before([5, 3, 0]), // 4.19, not in 5.4
    always(Cpu, "nr_switches"),
    always(Cpu, "nr_load_updates").before([5, 7, 0]), // 5.4, not in 5.10
    always(Cpu, "nr_uninterruptible"),
    always(Cpu, "next_balance"),
    always(Cpu, "curr->pid"),
    always(Cpu, "clock"),
    since([4, 0, 0], Cpu, "clock_task"), // 4.4
    always(Cpu, "cpu_load[0]").before([5, 3, 0]),
    always(Cpu, "cpu_load[1]").before([5, 3, 0]),
    always(Cpu, "cpu_load[2]").before([5, 3, 0]),
    always(Cpu, "cpu_load[3]").before([5, 3, 0]),
    always(Cpu, "cpu_load[4]").before([5, 3, 0]), // 4.19, not in 5.4
    always(Cpu, "yld_count"),
    always(Cpu, "sched_switch").before([3, 0, 0]),
    always(Cpu, "sched_count"),
    always(Cpu, "sched_goidle"),
    // Behind sched_goidle in 4.4, before yld_count in 4.19; that it moved in 4.6 is recalled.
    since([2, 6, 33], Cpu, "avg_idle"),
    since([4, 0, 0], Cpu, "max_idle_balance_cost"),
    always(Cpu, "ttwu_count"),
    always(Cpu, "ttwu_local"),
    always(FairQueue, "exec_clock").before([6, 12, 0]), // commits 5d69eca542ee, 2c2d9624697f
    always(FairQueue, "MIN_vruntime").before([6, 6, 0]),
    since([6, 8, 0], FairQueue, "left_deadline"), // 6.8 and later, not in 6.7; commit 2227a957e1d5
    since([6, 6, 0], FairQueue, "left_vruntime"),
    always(FairQueue, "min_vruntime"),
    since([6, 6, 0], FairQueue, "zero_vruntime"), // with its rule: 6.19
    always(FairQueue, "max_vruntime").before([6, 6, 0]),
    since([6, 6, 0], FairQueue, "avg_vruntime"),
    since([6, 6, 0], FairQueue, "right_vruntime"),
    always(FairQueue, "spread"),
    always(FairQueue, "spread0").before([6, 6, 0]),
    // Counted by CFS only, which compares with its latency; the line went in 6.12: commit 2c2d9624697f.
    always(FairQueue, "nr_spread_over").before([6, 12, 0]),
    always(FairQueue, "nr_running").before([6, 14, 0]),
    since([5, 16, 0], FairQueue, "h_nr_running").before([6, 14, 0]),
    // 6.13; commit 76f2f783294d, which 6.12.7 got, too.
    since([6, 13, 0], FairQueue, "h_nr_delayed").before([6, 14, 0]).and_in(&["6.12.y"]),
    since([5, 16, 0], FairQueue, "idle_nr_running").before([6, 14, 0]),
    since([5, 16, 0], FairQueue, "idle_h_nr_running").before([6, 14, 0]), // recorded, not in 5.10
    since([6, 14, 0], FairQueue, "nr_queued"),
    since([6, 14, 0], FairQueue, "h_nr_runnable"),
    since([6, 14, 0], FairQueue, "h_nr_queued"),
    since([6, 14, 0], FairQueue, "h_nr_idle"), // 6.14 and later
    always(FairQueue, "load"),
    since([4, 15, 0], FairQueue, "runnable_weight").before([5, 7, 0]), // 4.19, 5.4
    since([4, 3, 0], FairQueue, "load_avg"),
    since([4, 3, 0], FairQueue, "runnable_load_avg").before([5, 7, 0]), // 4.4, 4.19, 5.4
    since([5, 7, 0], FairQueue, "runnable_avg"),                        // 5.10
    since([4, 3, 0], FairQueue, "util_avg"),
    since([4, 17, 0], FairQueue, "util_est_enqueued").before([6, 8, 0]), // 4.19 to 6.7
    since([6, 8, 0], FairQueue, "util_est"),                             // 6.9
    since([4, 3, 0], FairQueue, "removed_load_avg").before([4, 15, 0]),
    since([4, 3, 0], FairQueue, "removed_util_avg").before([4, 15, 0]), // 4.4
    since([4, 15, 0], FairQueue, "removed.load_avg"),
    since([4, 15, 0], FairQueue, "removed.util_avg"), // 4.19
    since([4, 15, 0], FairQueue, "removed.runnable_sum").before([5, 7, 0]), // 4.19, 5.4
    since([5, 7, 0], FairQueue, "removed.runnable_avg"), // 5.10
    since([4, 3, 0], FairQueue, "tg_load_avg_contrib"),
    since([4, 3, 0], FairQueue, "tg_load_avg"),
    since([4, 3, 0], FairQueue, "throttled"),
    since([4, 3, 0], FairQueue, "throttle_count"), // 4.4, 4.19
    always(Entity, "se->exec_start"),
    always(Entity, "se->vruntime"),
    always(Entity, "se->sum_exec_runtime"),
    always(Entity, "se->load.weight"),
    since([4, 3, 0], Entity, "se->avg.load_avg"),
    since([4, 3, 0], Entity, "se->avg.util_avg"),     // 4.4
    since([5, 7, 0], Entity, "se->avg.runnable_avg"), // 6.x
    always(RealTimeQueue, "rt_nr_running"),
    since([4, 13, 0], RealTimeQueue, "rt_nr_migratory").before([6, 7, 0]), // 4.19 on, not in 4.4; recalled
    always(RealTimeQueue, "rt_throttled"),
    always(RealTimeQueue, "rt_time"),
    always(RealTimeQueue, "rt_runtime"),
    always(DeadlineQueue, "dl_nr_running"),
    since([4, 13, 0], DeadlineQueue, "dl_nr_migratory").before([6, 7, 0]), // 4.19, not in 4.4; recalled
    since([4, 6, 0], DeadlineQueue, "dl_bw->bw"),
    since([4, 6, 0], DeadlineQueue, "dl_bw->total_bw"), // 4.19, not in 4.4; recalled
    always(Task, "se.exec_start"),
    always(Task, "se.vruntime"),
    always(Task, "se.sum_exec_runtime"),
    always(Task, "se.avg_overlap").before([2, 6, 35]),
    always(Task, "se.avg_wakeup").before([2, 6, 35]),
    always(Task, "se.avg_running").before([2, 6, 35]),
    since([4, 0, 0], Task, "sum_sleep_runtime"),  // 5.10
    since([5, 16, 0], Task, "sum_block_runtime"), // recorded
    always(Task, "wait_start"),
    always(Task, "sleep_start"),
    always(Task, "block_start"),
    always(Task, "sleep_max"),
    always(Task, "block_max"),
    always(Task, "exec_max"),
    always(Task, "slice_max"),
    always(Task, "wait_max"),
    always(Task, "wait_sum"),
    always(Task, "wait_count"),
    always(Task, "se.nr_migrations"),
    // No kernel counts in it: 0 in every output (2.6.39 to 6.1).
    always(Task, "nr_migrations_cold"),
    always(Task, "nr_failed_migrations_affine"),
    always(Task, "nr_failed_migrations_running"),
    always(Task, "nr_failed_migrations_hot"),
    always(Task, "nr_forced_migrations"),
    always(Task, "nr_wakeups"),
    always(Task, "nr_wakeups_sync"),
    always(Task, "nr_wakeups_migrate"),
    always(Task, "nr_wakeups_local"),
    always(Task, "nr_wakeups_remote"),
    always(Task, "nr_wakeups_affine"),
    always(Task, "nr_wakeups_affine_attempts"),
    always(Task, "nr_wakeups_passive"),
    always(Task, "nr_wakeups_idle"),
    always(Task, "avg_atom"),
    always(Task, "avg_per_cpu"),
    always(Task, "nr_switches"),
    always(Task, "nr_voluntary_switches"),
    always(Task, "nr_involuntary_switches"),
    always(Task, "se.load.weight"),
    since([4, 15, 0], Task, "se.runnable_weight").before([5, 7, 0]), // 5.4
    since([4, 3, 0], Task, "se.avg.load_sum"),
    since([4, 15, 0], Task, "se.avg.runnable_load_sum").before([5, 7, 0]), // 5.4
    since([5, 7, 0], Task, "se.avg.runnable_sum"),                         // 5.10
    since([4, 3, 0], Task, "se.avg.util_sum"),
    since([4, 3, 0], Task, "se.avg.load_avg"),
    since([4, 15, 0], Task, "se.avg.runnable_load_avg").before([5, 7, 0]), // 5.4
    since([5, 7, 0], Task, "se.avg.runnable_avg"),                         // 5.10
    since([4, 3, 0], Task, "se.avg.util_avg"),
    since([4, 3, 0], Task, "se.avg.last_update_time"),
    since([4, 17, 0], Task, "se.avg.util_est.ewma").before([6, 8, 0]),
    since([4, 17, 0], Task, "se.avg.util_est.enqueued").before([6, 8, 0]), // 5.4 to 6.1
    since([6, 8, 0], Task, "se.avg.util_est"),                             // recorded
    always(Task, "policy"),
    always(Task, "prio"),
    since([4, 13, 0], Task, "dl.runtime"),
    since([4, 13, 0], Task, "dl.deadline"), // recalled
    since([6, 6, 0], Task, "se.slice"),     // recorded
    always(Task, "clock-delta"),
];

/// Whether this kernel's file has the line.
pub(super) fn has(block: Block, name: &str, release: Release, profile: &str) -> bool {
    let is_it = |line: &&Line| line.block == block && line.name == name;
    LINES.iter().find(is_it).is_some_and(|line| line.releases.hold(release, profile))
}

/// The names of a block, in no particular order.
#[cfg(test)]
pub(super) fn names(block: Block, release: Release, profile: &str) -> Vec<&'static str> {
    let here = |line: &&Line| line.block == block && line.releases.hold(release, profile);
    LINES.iter().filter(here).map(|line| line.name).collect()
}
