//! fair-class 11.1, 11.4: what is counted where.

use super::q6600;
use crate::stats::{BalanceCounts, DomainCounts};
use crate::testing::{Lab, cpus};
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, CpuMask, Nanos, Policy};

/// Counters of a wakeup of a sleeper of CPU 2 by CPU `waker`, in the order of [`crate::stats::WakeupCounts`].
fn woken(profile: &str, hogs: [usize; 4], waker: u16, sync: bool) -> [u32; 8] {
    let lab = Lab::on(&q6600(), profile, &[]);
    let sleeper = lab.spawn(Policy::Normal, 2);
    lab.block(2);
    for (cpu, hogs) in hogs.iter().enumerate() {
        for _ in 0..*hogs {
            lab.spawn_allowed(Policy::Normal, cpu as u16, CpuMask::single(CpuId(cpu as u16)));
        }
    }
    let flags = WakeFlags { sync, interrupt: false, exiting: false };
    lab.run(try_to_wake_up(lab.cpu(waker), sleeper, flags));
    let stats = &lab.k.task(sleeper).stats;
    assert_eq!(stats.nr_wakeups.get(), 1);
    let c = &stats.woken;
    [&c.sync, &c.migrate, &c.local, &c.remote, &c.affine_attempts, &c.affine, &c.passive, &c.idle]
        .map(|cell| cell.get())
}

#[test]
fn wakeups_are_counted_by_kind() {
    // sync, migrate, local, remote, affine attempts, affine, passive, idle.
    assert_eq!(woken("2.6.32", [1, 0, 2, 0], 0, false), [0, 1, 1, 0, 1, 1, 0, 0], "drawn by the loads");
    assert_eq!(woken("2.6.32", [1, 0, 1, 0], 0, false), [0, 0, 0, 1, 1, 0, 0, 0], "asked, and not drawn");
    assert_eq!(
        woken("2.6.32", [1, 0, 0, 0], 0, true),
        [1, 1, 1, 0, 0, 0, 0, 0],
        "drawn by the hint: no attempt"
    );
    assert_eq!(woken("2.6.32", [0, 0, 1, 0], 2, false), [0, 0, 1, 0, 0, 0, 0, 0], "nothing to choose");
    assert_eq!(woken("2.6.36", [1, 0, 1, 0], 0, false), [0, 1, 0, 1, 1, 0, 0, 1], "to an idle sibling");
    assert_eq!(woken("2.6.31", [0, 0, 1, 0], 0, false)[6], 1, "drawn passively");
}

#[test]
fn a_cpu_counts_its_wakeups_and_a_domain_the_remote_ones() {
    let lab = Lab::on(&q6600(), "2.6.32", &[]);
    let sleeper = lab.spawn(Policy::Normal, 2);
    lab.block(2);
    lab.spawn_allowed(Policy::Normal, 2, cpus(&[2]));
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let before = lab.k.rq(CpuId(2)).published.counts.wakeups.get();
    lab.wake(0, sleeper);
    let counts = &lab.k.rq(CpuId(2)).published.counts;
    assert_eq!((counts.wakeups.get() - before, counts.local_wakeups.get()), (1, 0));
    let remote = |level: usize| lab.k.domains(CpuId(0))[level].balance.other_counts.wake_remote.get();
    assert_eq!([remote(0), remote(1)], [0, 1], "the smallest domain with both CPUs");
}

#[test]
fn a_cpu_counts_stints_and_their_time() {
    let lab = Lab::new(1, "2.6.36", &[]);
    let counts = &lab.k.rq(CpuId(0)).published.counts;
    let p = lab.spawn(Policy::Normal, 0);
    assert_eq!((counts.slices.get(), counts.went_idle.get()), (1, 0));
    lab.charge(0, 3.0);
    lab.run(crate::schedule::sched_yield(lab.cpu(0)));
    assert_eq!((counts.yields.get(), counts.slices.get()), (1, 1), "alone, it goes on");
    lab.block(0);
    assert_eq!((counts.went_idle.get(), counts.run_time_ns.get()), (1, 3_000_000));
    lab.advance(Nanos::from_millis(5));
    lab.wake_unsettled(0, p);
    lab.advance(Nanos::from_millis(2));
    lab.settle();
    assert_eq!((counts.wait_time_ns.get(), counts.slices.get()), (2_000_000, 2));
    assert_eq!(lab.k.task(p).stats.nr_slices.get(), 2);
    assert_eq!(counts.schedules.get(), 4);
}

fn numbers(c: &BalanceCounts) -> [u64; 8] {
    let all = [
        &c.attempts,
        &c.balanced,
        &c.failed,
        &c.imbalance_load,
        &c.pulled,
        &c.hot_pulled,
        &c.no_busier_queue,
        &c.no_busier_group,
    ];
    all.map(|cell| cell.get())
}

/// CPU 1 of two becomes idle while CPU 0 has these tasks; the counters of its domain for that situation.
fn newly_idle(hogs: usize, settings: &[&str]) -> ([u64; 8], Lab) {
    let lab = Lab::new(2, "4.0", settings);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    for _ in 0..hogs {
        lab.spawn(Policy::Normal, 0);
    }
    lab.charge(0, 1.0);
    lab.advance(Nanos::from_millis(1));
    lab.block(1);
    (numbers(&lab.k.domains(CpuId(1))[0].balance.counts[2]), lab)
}

#[test]
fn balancing_is_counted_by_its_outcome() {
    // attempts, balanced, failed, imbalance, pulled, hot pulled, no busier queue, no busier group.
    assert_eq!(newly_idle(4, &[]).0, [1, 0, 0, 2048, 2, 0, 0, 0]);
    let (failed, lab) = newly_idle(4, &["sched_migration_cost_ns=-1", "newidle_stop=on_busiest"]);
    assert_eq!(failed, [1, 0, 1, 2048, 0, 0, 0, 0], "all are hot");
    let left = |p: crate::TaskId| lab.k.task(p).stats.balanced.failed_hot.get();
    assert_eq!(lab.k.tasks.iter().map(left).sum::<u32>(), 3);
    let running = lab.k.task(lab.running(0)).stats.balanced.failed_running.get();
    assert_eq!(running, 1);
}

#[test]
fn a_hot_task_that_moves_after_failures_is_counted_as_forced() {
    let lab = Lab::new(2, "4.0", &["sched_migration_cost_ns=-1", "newidle_stop=on_busiest"]);
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    for _ in 0..4 {
        lab.spawn(Policy::Normal, 0);
    }
    lab.advance(Nanos::from_millis(1));
    lab.k.domains(CpuId(1))[0].balance.nr_balance_failed.set(2);
    lab.block(1);
    assert_eq!(numbers(&lab.k.domains(CpuId(1))[0].balance.counts[2])[4..6], [2, 2]);
    let forced = |p: crate::TaskId| lab.k.task(p).stats.balanced.forced.get();
    assert_eq!(lab.k.tasks.iter().map(forced).sum::<u32>(), 2);
}

/// 8.5 step 7: a busy CPU is asked to push.
#[test]
fn active_balancing_is_counted_for_the_domain_that_asked() {
    let lab = Lab::on(&q6600(), "2.6.32", &["NO_LB_BIAS"]);
    for cpu in [2, 3] {
        lab.spawn_allowed(Policy::Normal, cpu, CpuMask::ALL);
    }
    let domain = &lab.k.domains(CpuId(0))[1];
    domain.balance.nr_balance_failed.set(4);
    for ms in 0..10 {
        lab.advance(Nanos::from_millis(1 + ms));
        lab.run(crate::fair::rebalance_domains(lab.cpu(0)));
        lab.settle();
    }
    let DomainCounts { active, active_pushed, active_failed, .. } = &domain.balance.other_counts;
    let counted = [active.get(), active_pushed.get() + active_failed.get()];
    assert_eq!(counted[0], counted[1], "each request has its answer");
}
