//! Who is let in, and what is in use (deadline-groups A3, deadline-groups A6, deadline-groups A7).

use super::ms;
use crate::dl::{NotAdmitted, fits, may_take_affinity, promises_hold};
use crate::policy::sched_setscheduler;
use crate::testing::{Lab, cpus, deadline, fifo};
use crate::{CpuId, Policy, TaskId};
use alloc::format;

fn asks(lab: &Lab, p: TaskId, policy: Policy) -> Result<(), NotAdmitted> {
    let answer = lab.run(sched_setscheduler(lab.cpu(0), p, policy));
    lab.settle();
    answer
}

/// How many fair tasks of a machine are let in with this policy, of ten.
fn let_in(lab: &Lab, policy: Policy) -> usize {
    let tasks: [TaskId; 10] = core::array::from_fn(|_| lab.spawn(Policy::Normal, 0));
    tasks.iter().filter(|p| asks(lab, **p, policy).is_ok()).count()
}

/// deadline-groups A14 example 2, without servers: floor(996147 × 2) = 1992294 holds 6 × 314572 = 1887432.
#[test]
fn a14_2_admission() {
    let lab = Lab::new(2, "6.1.y", &[]);
    assert_eq!(let_in(&lab, deadline(30, 100, 100)), 6);
    assert_eq!(lab.k.root_domain(CpuId(0)).dl.total_bw(), 1_887_432);
    assert_eq!(let_in(&Lab::new(2, "6.1.y", &[]), deadline(25, 100, 100)), 7);
    for (runtime, expected) in [(95, 1), (96, 0)] {
        assert_eq!(let_in(&Lab::new(1, "6.1.y", &[]), deadline(runtime, 100, 100)), expected);
    }
    let off = Lab::new(1, "6.1.y", &["sched_rt_runtime_us=-1"]);
    assert_eq!(let_in(&off, deadline(60, 100, 100)), 10);
}

/// The refusal says the numbers, and changes nothing.
#[test]
fn a_refusal_says_the_numbers() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let [a, b] = [lab.spawn(Policy::Normal, 0), lab.spawn(fifo(1), 0)];
    assert_eq!(asks(&lab, a, deadline(50, 100, 100)), Ok(()));
    let refused = NotAdmitted::Bandwidth { limit: 996_147, taken: 524_288, asked: 524_288 };
    assert_eq!(asks(&lab, b, deadline(50, 100, 100)), Err(refused));
    assert_eq!((lab.k.task(b).policy.get(), lab.k.root_domain(CpuId(0)).dl.total_bw()), (fifo(1), 524_288));
    // Its own reservation makes room for a smaller and a larger one.
    assert_eq!(asks(&lab, a, deadline(95, 100, 100)), Ok(()));
    assert_eq!(asks(&lab, a, deadline(20, 100, 100)), Ok(()));
    assert_eq!(lab.k.root_domain(CpuId(0)).dl.total_bw(), 209_715);
}

/// deadline-groups A3: a limit below what is promised is EBUSY; the servers of 6.12 on hold 52428 of a CPU.
#[test]
fn what_is_promised_is_kept() {
    let holds = |profile: &str, runtime_us: i64| {
        let lab = Lab::new(2, profile, &[]);
        let p = lab.spawn(Policy::Normal, 0);
        assert_eq!(asks(&lab, p, deadline(50, 100, 100)), Ok(()));
        lab.k.config.set(&alloc::format!("sched_rt_runtime_us={runtime_us}")).expect("a setting");
        promises_hold(&lab.k)
    };
    // 2 × 262144 are the 524288 that it holds.
    assert_eq!((holds("6.1.y", 250_000), holds("6.1.y", -1)), (Ok(()), Ok(())));
    let less = NotAdmitted::Promised { limit: 2 * 262_142, taken: 524_288 };
    assert_eq!(holds("6.1.y", 249_999), Err(less));
    let taken = 524_288 + 2 * 52_428;
    assert_eq!(holds("6.18.y", 300_000), Ok(()), "314572 each, and 629144 are taken");
    assert_eq!(holds("6.18.y", 299_999), Err(NotAdmitted::Promised { limit: 2 * 314_571, taken }));
}

/// deadline-groups A2, as the recording dl-errors has it: EBUSY, and not the EPERM of check 9.
#[test]
fn the_affinity_of_a_deadline_task_is_not_narrowed() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    let may = |policy: Policy, allowed: &[u16]| {
        lab.k.task(p).policy.overwrite(policy);
        may_take_affinity(&lab.k, lab.k.task(p), cpus(allowed))
    };
    let narrowed = may(deadline(10, 100, 100), &[0]).expect_err("EBUSY");
    assert!(matches!(narrowed, NotAdmitted::Narrowed { .. }) && format!("{narrowed}").contains("EBUSY"));
    assert_eq!((may(deadline(10, 100, 100), &[0, 1]), may(Policy::Normal, &[0])), (Ok(()), Ok(())));
}

/// deadline-groups A2 check 9, and kernels that have no such class or flag.
#[test]
fn affinity_and_older_kernels() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let answer = asks(&lab, p, deadline(10, 100, 100));
    assert!(matches!(answer, Err(NotAdmitted::Affinity { .. })), "{answer:?}");
    let old = Lab::new(1, "3.3", &[]);
    let p = old.spawn(Policy::Normal, 0);
    assert_eq!(asks(&old, p, deadline(10, 100, 100)), Err(NotAdmitted::NoClass));
    let old = Lab::new(1, "4.0", &[]);
    let p = old.spawn(Policy::Normal, 0);
    let Policy::Deadline(params) = deadline(10, 100, 100) else { return };
    assert_eq!(asks(&old, p, Policy::Deadline(params.reclaiming())), Err(NotAdmitted::NoReclaim));
    assert_eq!(fits(&old.k, old.k.task(p), CpuId(0), Policy::Deadline(params)), Ok(()));
}

/// deadline-groups A14 example 11: 6 of 10 left at a block, T = 100, deadline 100: in use until 40.
#[test]
fn a14_11_zero_lag() {
    let bw = 104_857;
    let in_use = |lab: &Lab| (lab.k.dl_cpus.running_bw(CpuId(0)), lab.k.dl_cpus.this_bw(CpuId(0)));
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(deadline(10, 100, 100), 0);
    lab.pass_until(ms(4));
    lab.block(0);
    lab.pass_until(ms(40) - crate::Nanos(1));
    assert_eq!(in_use(&lab), (bw, bw));
    lab.pass_until(ms(40));
    assert_eq!(in_use(&lab), (0, bw));
    // A wakeup after it adds the bandwidth again; a block at 45 subtracts it at once.
    lab.pass_until(ms(45));
    lab.wake(0, p);
    assert_eq!(in_use(&lab), (bw, bw));
    lab.block(0);
    assert_eq!(in_use(&lab), (0, bw));
}

/// A wakeup before the zero-lag time cancels the timer.
#[test]
fn a_wakeup_in_time_keeps_the_bandwidth() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(deadline(10, 100, 100), 0);
    lab.pass_until(ms(4));
    lab.block(0);
    assert_eq!(lab.dl_timer_at(0), Some(ms(40)));
    lab.pass_until(ms(30));
    lab.wake(0, p);
    assert_eq!((lab.dl_timer_at(0), lab.k.dl_cpus.running_bw(CpuId(0))), (None, 104_857));
}

/// deadline-groups A6: what was promised to one that leaves the class, or exits, is free at its zero-lag
/// time.
#[test]
fn a6_release_at_zero_lag() {
    for (rule, kept) in [("dl_bw_release=zero_lag", 524_288), ("dl_bw_release=immediate", 0)] {
        for exits in [false, true] {
            let lab = Lab::new(1, "6.1.y", &[rule]);
            let p = lab.spawn(deadline(50, 100, 100), 0);
            lab.pass_until(ms(10));
            if exits {
                lab.run(crate::fork::do_exit(lab.cpu(0)));
                lab.k.tasks.reap(p);
            } else {
                assert_eq!(asks(&lab, p, Policy::Normal), Ok(()));
            }
            let other = lab.spawn(Policy::Normal, 0);
            assert_eq!(lab.k.root_domain(CpuId(0)).dl.total_bw(), kept, "{rule}");
            assert_eq!(asks(&lab, other, deadline(50, 100, 100)).is_ok(), kept == 0, "{rule}");
            // 40 of 50 left, at half a CPU: 80 ms before the deadline.
            lab.pass_until(ms(20));
            let left = lab.k.root_domain(CpuId(0)).dl.total_bw();
            assert_eq!(left, if kept == 0 { 524_288 } else { 0 }, "{rule}");
        }
    }
}

/// deadline-groups A7: how much of 100 ms of execution is charged to 10/100 that reclaims: without servers
/// and alone, u_max gives max(0.1, 0.95 − (0.95 − 0.1)) × 1.0508 = 0.1051; `one` 1 − (0.95 − 0.1) = 0.15;
/// here u is 0.25.
#[test]
fn a7_rates_of_reclaiming() {
    let charged = |settings: &[&str], reclaims: bool, others: bool| {
        let lab = Lab::new(1, "6.6", settings);
        if others {
            // 50 of 100, asleep beyond its zero-lag time: inactive.
            lab.spawn(deadline(50, 100, 100), 0);
            lab.block(0);
            lab.pass_until(ms(500));
        }
        let Policy::Deadline(params) = deadline(25, 100, 100) else { return 0 };
        let params = if reclaims { params.reclaiming() } else { params };
        let p = lab.spawn(Policy::Deadline(params), 0);
        lab.advance(ms(10));
        lab.tick(0);
        (25_000_000 - lab.k.task(p).dl.runtime_ns()) / 1_000
    };
    assert_eq!(charged(&[], false, true), 10_000);
    // The last row of the table: u 0.25, the others' 0.5 inactive: 0.2627.
    assert_eq!(charged(&[], true, true), 2_626);
    assert_eq!(charged(&[], true, false), 2_626);
    assert_eq!(charged(&["dl_grub=one"], true, true), 3_000);
    assert_eq!(charged(&["dl_grub=off"], true, true), 10_000);
}
