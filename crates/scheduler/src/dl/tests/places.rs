//! Several CPUs: wakeups, pushes, pulls (deadline-groups A9).

use super::ms;
use crate::affinity::set_cpus_allowed;
use crate::testing::{Lab, cpus, deadline, fifo};
use crate::{CpuId, Partitions, Policy, Reason, TaskId, Topology};

/// Replenishment ping-pong: a hog alone changes its CPU once in each period; after a plain wakeup it stays.
#[test]
fn a9_a_lone_hog_migrates_once_a_period() {
    let lab = Lab::new(2, "6.1.y", &["dl_overload=pushable"]);
    let p = lab.spawn(deadline(10, 100, 100), 0);
    for period in 0..6 {
        let cpu = (period % 2) as u16;
        assert_eq!((lab.cpu_of(p), lab.running(cpu)), (cpu, p));
        lab.pass_until(ms(100 * period + 10));
        lab.tick(cpu);
        assert!(lab.idle(cpu));
        lab.pass_until(ms(100 * (period + 1)));
    }
    lab.block(0);
    lab.pass_until(ms(1_000));
    lab.wake(1, p);
    assert_eq!((lab.cpu_of(p), lab.running(0)), (0, p));
}

/// A wakeup behind an earlier deadline goes to a CPU without one; then to the latest, if that is later.
#[test]
fn a9_a_wakeup_is_routed_to_a_later_deadline() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let p = lab.spawn(deadline(1, 90, 90), 0);
    lab.block(0);
    let early = lab.spawn(deadline(1, 10, 10), 0);
    lab.wake(0, p);
    assert_eq!((lab.running(0), lab.running(1)), (early, p));
    lab.block(1);
    let late = lab.spawn(deadline(1, 200, 200), 1);
    lab.wake(0, p);
    // Routing asks with the deadline that p had: it is earlier than that of CPU 1.
    assert_eq!((lab.running(0), lab.running(1)), (early, p));
    assert!(lab.k.task(late).dl.is_queued());
    assert!(lab.count(Reason::DlWakeRouted) + lab.count(Reason::DlWakeStay) >= 2);
}

/// Who was preempted by an earlier deadline is pushed after the switch, to a CPU without deadline tasks;
/// whether a real-time task runs there is all the same.
#[test]
fn a9_the_preempted_task_is_pushed() {
    let lab = Lab::new(3, "6.1.y", &[]);
    let rt = lab.spawn_allowed(fifo(50), 1, cpus(&[1]));
    let late = lab.spawn(deadline(5, 100, 100), 0);
    let early = lab.spawn(deadline(5, 20, 20), 0);
    assert_eq!((lab.running(0), lab.running(1), lab.idle(2)), (early, late, true));
    assert_eq!(lab.count(Reason::DlPushed), 1);
    let third = lab.spawn(deadline(5, 50, 50), 0);
    assert_eq!((lab.running(0), lab.running(1), lab.running(2)), (early, late, third));
    // Real-time tasks see that CPUs with deadline tasks are above them all.
    assert_eq!(lab.k.root_domain(CpuId(1)).rt.cpupri_level(CpuId(1)), 100);
    assert!(lab.k.task(rt).on_rq.get());
}

/// A CPU whose deadline task blocks takes the earliest that waits elsewhere.
#[test]
fn a9_pull_when_a_deadline_task_leaves() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let [a, b] = [lab.spawn(deadline(5, 20, 20), 0), lab.spawn(deadline(5, 30, 30), 1)];
    let waits = lab.spawn(deadline(5, 100, 100), 0);
    let waits_too = lab.spawn(deadline(5, 90, 90), 0);
    assert_eq!((lab.running(0), lab.running(1)), (a, b));
    assert_eq!((lab.cpu_of(waits), lab.cpu_of(waits_too)), (0, 0));
    assert_eq!(lab.k.root_domain(CpuId(0)).dl.dlo_mask(), cpus(&[0]));
    lab.block(1);
    assert_eq!((lab.running(1), lab.count(Reason::DlPulled)), (waits_too, 1));
    // Throttling is leaving, too.
    lab.pass_until(ms(4));
    lab.pass_until(ms(5));
    lab.tick(1);
    assert_eq!(lab.running(1), waits);
}

/// A CPU that only has a throttled task takes what waits as a real-time task elsewhere.
#[test]
fn a_throttled_task_makes_room_for_real_time_tasks() {
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn_allowed(fifo(50), 1, cpus(&[1]));
    let p = lab.spawn(deadline(10, 100, 100), 0);
    let rt = lab.spawn(fifo(10), 1);
    assert_eq!(lab.running(0), p);
    lab.pass_until(ms(10));
    lab.tick(0);
    assert_eq!(lab.running(0), rt);
}

/// A real-time task that a deadline task preempts shows as pushable; but one alone makes no CPU overloaded
/// (rt-class 1.6), so only with a second one there is it pulled.
#[test]
fn a_preempted_real_time_task_is_seen() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let other = lab.spawn_allowed(fifo(50), 1, cpus(&[1]));
    let rt = lab.spawn(fifo(10), 0);
    lab.spawn(deadline(5, 100, 100), 0);
    assert!(lab.k.rq(CpuId(0)).published.rt_pushable.get() && lab.running(1) == other);
    lab.block(1);
    assert!(lab.idle(1) && lab.cpu_of(rt) == 0);
    lab.wake(1, other);
    let second = lab.spawn(fifo(5), 0);
    lab.block(1);
    assert_eq!((lab.running(1), lab.cpu_of(second)), (rt, 0));
}

/// A running deadline task that becomes a real-time one makes room for a higher one that waits.
#[test]
fn a_deadline_task_that_becomes_real_time_makes_room() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(deadline(5, 100, 100), 0);
    let rt = lab.spawn(fifo(50), 0);
    lab.run(crate::testing::sched_setscheduler(lab.cpu(0), p, fifo(10)));
    lab.settle();
    assert_eq!(lab.running(0), rt);
}

/// `count` calls a CPU overloaded that has two tasks of which the running one may move; `pushable` does not.
#[test]
fn a9_overload_by_rule() {
    for (rule, expected) in [("dl_overload=count", cpus(&[0])), ("dl_overload=pushable", cpus(&[]))] {
        let lab = Lab::new(2, "6.1.y", &[rule, "sched_rt_runtime_us=-1"]);
        lab.spawn(deadline(5, 20, 20), 0);
        lab.spawn_allowed(deadline(5, 100, 100), 0, cpus(&[0]));
        lab.spawn_allowed(deadline(1, 10, 10), 1, cpus(&[1]));
        assert_eq!(lab.k.root_domain(CpuId(0)).dl.dlo_mask(), expected, "{rule}");
    }
}

/// deadline-groups A14 example 12: 6 of 10 ms need a capacity of 614, 4 of 10 need 409. A CPU of 512 is
/// passed over for the former, also by a task that wakes there; where no CPU has enough, one of the best is
/// taken.
#[test]
fn a14_12_a_deadline_task_needs_a_cpu_that_is_worth_enough() {
    let wakes_on = |runtime: u64, capacities: [u16; 3], rule: &str| {
        let lab = Lab::on(&Topology::flat(3).with_capacities(capacities.into()), "6.1.y", &[rule]);
        let p = lab.spawn(deadline(runtime, 10, 10), 0);
        if lab.cpu_of(p) != 0 {
            return lab.cpu_of(p);
        }
        lab.block(0);
        lab.advance(ms(30));
        lab.wake(1, p);
        lab.cpu_of(p)
    };
    assert_eq!(wakes_on(4, [512, 512, 1024], "unequal_cpus=fit"), 0);
    assert_eq!(wakes_on(6, [512, 512, 1024], "unequal_cpus=fit"), 2);
    assert_eq!(wakes_on(8, [512, 512, 700], "unequal_cpus=fit"), 2, "nowhere enough");
    assert_eq!(wakes_on(6, [512, 512, 1024], "unequal_cpus=ignored"), 0);
}

/// A3, A7: on two CPUs of half the worth there is room for one CPU's bandwidth, and a budget of 2 ms lasts
/// for 4 ms of running.
#[test]
fn a_budget_is_of_the_best_cpu() {
    let lab =
        |rule: &str| Lab::on(&Topology::flat(3).with_capacities([512, 512, 1024].into()), "6.1.y", &[rule]);
    let let_in = |rule: &str| {
        let lab = lab(rule);
        let ask =
            |p: TaskId| lab.run(crate::policy::sched_setscheduler(lab.cpu(0), p, deadline(60, 100, 100)));
        let tasks: [TaskId; 6] = core::array::from_fn(|_| lab.spawn(Policy::Normal, 0));
        tasks.iter().filter(|p| ask(**p).is_ok()).count()
    };
    assert_eq!((let_in("unequal_cpus=fit"), let_in("unequal_cpus=ignored")), (3, 4));
    let throttled_after = |cpu: u16, rule: &str| {
        let lab = lab(rule);
        let p = lab.spawn(deadline(4, 100, 100), cpu);
        (1..20).find(|_| {
            lab.advance(ms(1));
            lab.tick(cpu);
            lab.running(cpu) != p
        })
    };
    assert_eq!(throttled_after(0, "unequal_cpus=fit"), Some(8));
    assert_eq!(throttled_after(2, "unequal_cpus=fit"), Some(4));
    assert_eq!(throttled_after(0, "unequal_cpus=ignored"), Some(4));
}

/// A task that waits for its next period goes at once where its affinity says, with its bandwidth, also into
/// another root domain; its timer stays where it is, and it competes where it is by then. (With the admission
/// test no deadline task may be kept from a CPU of its root domain: EBUSY.)
#[test]
fn a_throttled_task_goes_where_its_affinity_says() {
    for halves in [false, true] {
        let parts = if halves { Partitions::new([cpus(&[0]), cpus(&[1])]) } else { Partitions::whole(2) };
        let lab = Lab::divided(&Topology::flat(2), &parts, "6.1.y", &["sched_rt_runtime_us=-1"]);
        let p = lab.spawn_allowed(deadline(10, 100, 100), 0, cpus(&[0]));
        lab.pass_until(ms(10));
        lab.tick(0);
        let is_throttled = || lab.k.task(p).dl.is_throttled() && !lab.k.task(p).dl.is_queued();
        assert!(is_throttled() && lab.idle(0));
        lab.run(set_cpus_allowed(lab.cpu(0), p, cpus(&[1])));
        lab.settle();
        assert!(is_throttled() && lab.idle(1), "it still waits for its period");
        assert_eq!(lab.cpu_of(p), 1);
        let bandwidths = [0, 1].map(|cpu| {
            let cpus = &lab.k.dl_cpus;
            (cpus.this_bw(CpuId(cpu)), cpus.running_bw(CpuId(cpu)))
        });
        assert_eq!(bandwidths, [(0, 0), (104_857, 104_857)]);
        if halves {
            let total = |cpu| lab.k.root_domain(CpuId(cpu)).dl.total_bw();
            assert_eq!([total(0), total(1)], [0, 104_857]);
        }
        assert_eq!((lab.dl_timer_at(0), lab.dl_timer_at(1)), (Some(ms(100)), None));
        lab.pass_until(ms(100));
        assert_eq!(lab.running(1), p);
    }
}
