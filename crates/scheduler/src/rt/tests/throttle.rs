//! RT throttling: rt-class 8.1, E18.

use super::check_invariants;
use crate::affinity::set_cpus_allowed;
use crate::platform::{Line, Lock};
use crate::testing::{Lab, cpus, deadline, fifo, sched_setscheduler};
use crate::tick::scheduler_tick;
use crate::{CpuId, CpuMask, Nanos, Policy, Reason};

const STRICT: &str = "NO_RT_RUNTIME_SHARE";

/// `ms` of busy ticks on CPUs that run something.
fn run_ms(lab: &Lab, ms: u64) {
    for _ in 0..ms {
        lab.advance(Nanos::from_millis(1));
        (0..lab.k.cpus() as u16).filter(|cpu| !lab.idle(*cpu)).for_each(|cpu| lab.tick(cpu));
        expire(lab);
    }
}

/// Lets the period timer expire if it is due.
fn expire(lab: &Lab) {
    let timer = &lab.k.platform.period_timer_at;
    if timer.get().is_some_and(|at| at <= lab.k.platform.now.get()) {
        timer.set(lab.run(super::super::sched_rt_period_timer(lab.cpu(0))));
        lab.settle();
    }
}

fn throttled(lab: &Lab, cpu: u16) -> bool {
    lab.k.rq(CpuId(cpu)).inspect().is_some_and(|rq| rq.rt.is_throttled())
}

#[test]
fn a_queue_that_used_its_share_is_passed_over_until_the_period_ends() {
    let lab = Lab::new(1, "6.1.y", &[STRICT]);
    let p = lab.spawn(fifo(50), 0);
    assert_eq!(lab.k.platform.period_timer_at.get(), Some(Nanos::from_secs(1)));
    run_ms(&lab, 950);
    assert_eq!(lab.running(0), p);
    run_ms(&lab, 1);
    assert!(lab.idle(0) && throttled(&lab, 0), "above 950 ms");
    assert_eq!(lab.count(Reason::Throttled), 1);
    check_invariants(&lab);
    run_ms(&lab, 48);
    assert!(lab.idle(0));
    run_ms(&lab, 1);
    assert_eq!((lab.running(0), lab.count(Reason::Unthrottled)), (p, 1));
    assert_eq!(lab.k.rt_bandwidth.rt_time(CpuId(0)), Nanos::from_millis(1), "what was used above the share");
}

/// rt-class 8.1: what is left over of a period must be less than the share.
#[test]
fn a_queue_that_is_at_its_share_stays_throttled() {
    let lab = Lab::new(1, "6.1", &[STRICT, "sched_rt_runtime_us=400000"]);
    lab.spawn(fifo(50), 0);
    lab.advance(Nanos::from_millis(800));
    lab.tick(0);
    for (ms, left, stays) in [(1000, 400, true), (2000, 0, false)] {
        lab.advance(Nanos::from_millis(ms) - lab.k.platform.now.get());
        expire(&lab);
        let used = lab.k.rt_bandwidth.rt_time(CpuId(0));
        assert_eq!((used, throttled(&lab, 0)), (Nanos::from_millis(left), stays), "at {ms} ms");
    }
}

#[test]
fn minus_one_switches_it_off_and_it_can_change_at_run_time() {
    let lab = Lab::new(1, "6.1.y", &[STRICT, "sched_rt_runtime_us=-1"]);
    let p = lab.spawn(fifo(50), 0);
    assert_eq!(lab.k.platform.period_timer_at.get(), None);
    run_ms(&lab, 3000);
    assert_eq!((lab.running(0), lab.count(Reason::Throttled)), (p, 0));
    lab.k.config.set("sched_rt_runtime_us=500000").expect("a legal setting");
    lab.block(0);
    lab.wake(0, p);
    run_ms(&lab, 501);
    assert!(lab.idle(0));
    lab.k.config.set("sched_rt_runtime_us=-1").expect("a legal setting");
    run_ms(&lab, 500);
    // Nothing ticks on an idle CPU: the timer lets it run again.
    assert_eq!(lab.running(0), p);
    assert_eq!(lab.k.platform.period_timer_at.get(), None);
}

/// The timer stops when there is nothing left to account, and starts with the next RT task.
#[test]
fn the_timer_runs_only_while_there_is_something_to_account() {
    let lab = Lab::new(1, "6.1.y", &[STRICT]);
    let p = lab.spawn(fifo(50), 0);
    run_ms(&lab, 300);
    lab.block(0);
    run_ms(&lab, 700);
    let timer = &lab.k.platform.period_timer_at;
    assert_eq!(timer.get(), None, "all of it was given back");
    lab.wake(0, p);
    assert_eq!(timer.get(), Some(lab.k.platform.now.get() + Nanos::from_secs(1)));
}

/// RT_RUNTIME_SHARE: one CPU of two borrows half of what the other does not use, and runs on.
#[test]
fn rt_runtime_share() {
    for (share, throttles) in [("RT_RUNTIME_SHARE", 0), (STRICT, 1)] {
        let lab = Lab::new(2, "6.1.y", &[share]);
        let p = lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        run_ms(&lab, 960);
        assert_eq!(
            (lab.running(0) == p, lab.count(Reason::Throttled)),
            (throttles == 0, throttles),
            "{share}"
        );
    }
    let lab = Lab::new(2, "6.1.y", &["RT_RUNTIME_SHARE"]);
    for cpu in [0, 1] {
        lab.spawn_allowed(fifo(50), cpu, cpus(&[cpu]));
    }
    run_ms(&lab, 951);
    assert!(throttled(&lab, 0) && throttled(&lab, 1), "nobody has anything to lend");
    let total: Nanos = [0, 1].map(|cpu| lab.k.rt_bandwidth.rt_runtime(CpuId(cpu))).into_iter().sum();
    assert_eq!(total, Nanos::from_millis(1900), "borrowing moves shares, it makes none");
}

/// E18: tasks of a throttled queue may be taken by others.
#[test]
fn e18_a_throttled_cpu_gives_its_tasks_away() {
    let lab = Lab::new(2, "6.1.y", &[STRICT, "sched_rt_runtime_us=500000"]);
    lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    let other = lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let waiting = lab.spawn_allowed(fifo(20), 0, CpuMask::ALL);
    run_ms(&lab, 501);
    assert!(lab.idle(0) && throttled(&lab, 0) && lab.cpu_of(waiting) == 0);
    // CPU 1 is throttled too; with the next period it runs again, and then lowers its priority.
    run_ms(&lab, 498);
    lab.k.config.set("sched_rt_runtime_us=500001").expect("a legal setting");
    run_ms(&lab, 1);
    assert_eq!(lab.running(1), other);
    run_ms(&lab, 501);
    assert!(throttled(&lab, 0));
    check_invariants(&lab);
    lab.k.config.set("sched_rt_runtime_us=900000").expect("a legal setting");
    run_ms(&lab, 500);
    lab.block(1);
    assert_eq!(lab.running(1), waiting);
}

/// Found by random runs: nobody started the timer, and the queue was never let go.
#[test]
fn throttling_that_is_switched_on_while_a_task_runs_ends_too() {
    let lab = Lab::new(1, "6.1.y", &[STRICT, "sched_rt_runtime_us=-1"]);
    let p = lab.spawn(fifo(50), 0);
    lab.k.config.set("sched_rt_runtime_us=500000").expect("legal");
    run_ms(&lab, 501);
    assert!(lab.idle(0) && throttled(&lab, 0));
    run_ms(&lab, 1200);
    assert_eq!((lab.count(Reason::Unthrottled), lab.running(0)), (1, p));
}

/// 8.1: since 3.16 throttled tasks do not count as running, so that the CPU is idle without others and looks
/// for work: fair tasks that wait elsewhere come.
#[test]
fn a_throttled_cpu_is_idle_and_fetches_fair_tasks() {
    for (rule, fetches) in [("throttled_count=left_out", true), ("throttled_count=counted", false)] {
        let settings = [STRICT, "sched_rt_runtime_us=500000", "NO_NI_RANDOM", rule];
        let lab = Lab::new(2, "6.1.y", &settings);
        lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        let hogs = [0, 1].map(|_| lab.spawn_allowed(Policy::Normal, 1, cpus(&[1])));
        for p in hogs {
            lab.run(set_cpus_allowed(lab.cpu(1), p, CpuMask::ALL));
        }
        let nr = |cpu| lab.k.rq(CpuId(cpu)).published.nr_running.get();
        assert_eq!((nr(0), nr(1)), (1, 2), "{rule}");
        lab.advance(Nanos::from_millis(501));
        lab.run(scheduler_tick(lab.cpu(0)));
        assert!(throttled(&lab, 0));
        assert_eq!((nr(0), lab.k.nr_fair(CpuId(0))), (u32::from(!fetches), 0), "{rule}");
        lab.settle();
        assert_eq!((lab.idle(0), nr(1)), (!fetches, if fetches { 1 } else { 2 }), "{rule}");
        check_invariants(&lab);
        lab.advance(Nanos::from_millis(499));
        expire(&lab);
        assert!(!throttled(&lab, 0));
        assert_eq!(nr(0) + nr(1), 3, "{rule}: it counts again");
        check_invariants(&lab);
    }
}

/// The same for a task that comes to a throttled queue, or leaves it.
#[test]
fn who_comes_to_a_throttled_queue_does_not_count_either() {
    let lab = Lab::new(1, "6.1.y", &[STRICT, "sched_rt_runtime_us=500000"]);
    let p = lab.spawn(fifo(50), 0);
    let other = lab.spawn(fifo(40), 0);
    lab.block(0);
    lab.block(0);
    lab.wake(0, p);
    run_ms(&lab, 501);
    let nr = || lab.k.rq(CpuId(0)).published.nr_running.get();
    assert!(lab.idle(0) && nr() == 0);
    lab.wake(0, other);
    assert_eq!((nr(), lab.idle(0)), (0, true));
    check_invariants(&lab);
    lab.run(sched_setscheduler(lab.cpu(0), other, Policy::Normal));
    lab.settle();
    assert_eq!((nr(), lab.running(0)), (1, other), "a fair task does");
    check_invariants(&lab);
    run_ms(&lab, 499);
    assert_eq!((nr(), lab.running(0)), (2, p));
    check_invariants(&lab);
}

/// 8.1: the CPU reschedules when its queue is let go, whoever runs there.
#[test]
fn a_queue_that_is_let_go_reschedules_in_any_case() {
    let lab = Lab::new(1, "6.1.y", &[STRICT, "sched_rt_runtime_us=500000"]);
    lab.spawn(fifo(50), 0);
    run_ms(&lab, 501);
    let higher = lab.spawn(deadline(400, 1000, 1000), 0);
    assert_eq!(lab.running(0), higher);
    lab.advance(Nanos::from_millis(499));
    lab.run(super::super::sched_rt_period_timer(lab.cpu(0)));
    assert!(!throttled(&lab, 0) && lab.k.rq(CpuId(0)).published.is_asked());
}

fn shares_ms(lab: &Lab) -> [u64; 2] {
    [0, 1].map(|cpu| lab.k.rt_bandwidth.rt_runtime(CpuId(cpu)).0 / 1_000_000)
}

/// A CPU borrows when it has used up its share: 1/n of what each other has not used, up to a whole period.
#[test]
fn how_much_is_borrowed() {
    let lab = Lab::new(2, "6.1.y", &["RT_RUNTIME_SHARE", "sched_rt_runtime_us=100000"]);
    lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    run_ms(&lab, 100);
    assert_eq!(shares_ms(&lab), [100, 100]);
    run_ms(&lab, 1);
    assert_eq!(shares_ms(&lab), [150, 50]);
    run_ms(&lab, 50);
    assert_eq!(shares_ms(&lab), [175, 25]);
    run_ms(&lab, 100);
    assert!(throttled(&lab, 0), "there is less and less to borrow");
    let before = lab.k.rt_bandwidth.rt_runtime(CpuId(0));
    run_ms(&lab, 749);
    assert!(
        lab.k.rt_bandwidth.rt_runtime(CpuId(0)) > before,
        "the timer borrows for a throttled CPU once more"
    );

    let lab = Lab::new(2, "6.1.y", &["RT_RUNTIME_SHARE"]);
    lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    run_ms(&lab, 951);
    assert_eq!(shares_ms(&lab), [1000, 900]);

    // Used up to the nanosecond: half of the other's 100 ms were enough.
    let lab = Lab::new(2, "6.1.y", &["RT_RUNTIME_SHARE", "sched_rt_runtime_us=100000"]);
    lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    lab.advance(Nanos::from_millis(150));
    lab.tick(0);
    assert_eq!((shares_ms(&lab), throttled(&lab, 0)), ([150, 50], false));
}

/// It borrows from each other CPU, until it has a whole period: whoever is left is not even asked.
#[test]
fn from_whom_is_borrowed() {
    let written = |runtime_ms: u64, share: &str| {
        let runtime = alloc::format!("sched_rt_runtime_us={}", runtime_ms * 1000);
        let lab = Lab::new(3, "6.1.y", &[share, &runtime]);
        lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        lab.advance(Nanos::from_millis(runtime_ms + 1));
        lab.forget();
        lab.run(scheduler_tick(lab.cpu(0)));
        [1, 2].map(|cpu| lab.lines_touched(|line| line == Line::Rq(CpuId(cpu))))
    };
    for (runtime_ms, asked) in [(100, [1, 1]), (950, [1, 0])] {
        // A tick looks at other CPUs for other reasons, too.
        let [with, without] = ["RT_RUNTIME_SHARE", STRICT].map(|share| written(runtime_ms, share));
        assert_eq!([0, 1].map(|cpu| with[cpu] - without[cpu]), asked, "{runtime_ms}");
    }
}

/// The timer gives back one share for each period that passed, and goes on while an RT task is queued.
#[test]
fn a_late_timer_makes_up_for_it() {
    let lab = Lab::new(1, "6.1.y", &[STRICT, "sched_rt_runtime_us=1000000"]);
    lab.spawn(fifo(50), 0);
    for _ in 0..2500 {
        lab.advance(Nanos::from_millis(1));
        lab.tick(0);
    }
    assert_eq!(lab.count(Reason::Throttled), 0, "a whole period is no limit");
    expire(&lab);
    assert_eq!(lab.k.rt_bandwidth.rt_time(CpuId(0)), Nanos::from_millis(500));
    assert_eq!(lab.k.platform.period_timer_at.get(), Some(Nanos::from_secs(3)));
    run_ms(&lab, 500);
    assert_eq!(lab.k.rt_bandwidth.rt_time(CpuId(0)), Nanos::ZERO);
    assert_eq!(lab.k.platform.period_timer_at.get(), Some(Nanos::from_secs(4)), "the task still runs");
}

/// The task that the throttling stopped may be taken by others: everybody is told that it is pushable.
#[test]
fn the_stopped_task_is_pushable() {
    let lab = Lab::new(2, "6.1.y", &[STRICT]);
    let p = lab.spawn_allowed(fifo(50), 0, CpuMask::ALL);
    run_ms(&lab, 951);
    assert!(throttled(&lab, 0) && lab.idle(0) && lab.cpu_of(p) == 0);
    assert!(lab.k.rq(CpuId(0)).published.rt_pushable.get());
    check_invariants(&lab);
}

/// What was used while throttling was on does not count when it comes back.
#[test]
fn switching_off_forgives() {
    let lab = Lab::new(1, "6.1.y", &[STRICT]);
    let p = lab.spawn(fifo(50), 0);
    run_ms(&lab, 951);
    assert!(lab.idle(0));
    lab.k.config.set("sched_rt_runtime_us=-1").expect("a legal setting");
    run_ms(&lab, 49);
    assert_eq!((lab.running(0), lab.k.rt_bandwidth.rt_time(CpuId(0))), (p, Nanos::ZERO));
}

/// Without a limit nothing is passed over, even before the timer has let the queue go.
#[test]
fn switching_off_counts_at_once() {
    let lab = Lab::new(1, "6.1.y", &[STRICT]);
    let p = lab.spawn(fifo(50), 0);
    run_ms(&lab, 951);
    lab.k.config.set("sched_rt_runtime_us=-1").expect("a legal setting");
    lab.spawn(fifo(40), 0);
    assert_eq!((lab.running(0), lab.count(Reason::Unthrottled)), (p, 0));
}

/// 8.1: only −1 disables it. Whoever may run for no time at all is throttled as soon as it has run.
#[test]
fn a_runtime_of_zero_is_a_limit() {
    let lab = Lab::new(1, "6.1.y", &[STRICT, "sched_rt_runtime_us=0"]);
    lab.spawn(fifo(50), 0);
    run_ms(&lab, 1);
    assert!(lab.idle(0) && throttled(&lab, 0));
}

/// 8.1: the timer looks at CPUs that used something or have something queued, and takes only their locks.
#[test]
fn where_the_timer_looks() {
    let lab = Lab::new(4, "6.1.y", &[STRICT, "sched_rt_runtime_us=400000"]);
    // CPU 1: used, nothing queued. CPU 2: queued, but nothing used. CPU 3: both.
    for cpu in [1, 3] {
        lab.spawn_allowed(fifo(50), cpu, CpuMask::single(CpuId(cpu)));
    }
    run_ms(&lab, 300);
    lab.block(1);
    lab.spawn_unsettled(fifo(50), 0, 2, cpus(&[2]));
    lab.forget();
    lab.advance(Nanos::from_millis(700));
    lab.run(super::super::sched_rt_period_timer(lab.cpu(0)));
    let locked: alloc::vec::Vec<_> = lab.k.platform.locks.borrow().iter().copied().collect();
    assert_eq!(locked, [1, 2, 3].map(|cpu| Lock::Rq(CpuId(cpu))));
    assert_eq!([1, 2, 3].map(|cpu| lab.k.rt_bandwidth.rt_time(CpuId(cpu))), [Nanos::ZERO; 3]);
    assert_eq!(lab.count(Reason::Unthrottled), 0, "none was throttled");
}

/// 8.1: it goes on until everything is given back, though nobody is left who runs.
#[test]
fn the_timer_goes_on_while_time_is_left_over() {
    let lab = Lab::new(1, "6.1.y", &[STRICT, "sched_rt_runtime_us=400000"]);
    lab.spawn(fifo(50), 0);
    lab.advance(Nanos::from_millis(800));
    lab.block(0);
    let timer = &lab.k.platform.period_timer_at;
    for (ms, left, next) in [(1000, 400, Some(Nanos::from_secs(2))), (2000, 0, None)] {
        lab.advance(Nanos::from_millis(ms) - lab.k.platform.now.get());
        expire(&lab);
        assert_eq!((lab.k.rt_bandwidth.rt_time(CpuId(0)), timer.get()), (Nanos::from_millis(left), next));
    }
}

/// 8.1, eevdf-class 3.1: where the queue is passed over, a fair task that is picked again is left as it is.
#[test]
fn a_fair_task_beside_a_throttled_queue_goes_on_untouched() {
    let lab = Lab::new(1, "6.6", &[STRICT]);
    lab.spawn(fifo(50), 0);
    let p = lab.spawn(Policy::Normal, 0);
    run_ms(&lab, 951);
    assert!(lab.running(0) == p && throttled(&lab, 0));
    let vprot = &lab.k.task(p).se.eevdf.vprot;
    vprot.set(12_345);
    lab.k.rq(CpuId(0)).published.resched.overwrite(crate::rq::Resched::Full);
    lab.settle();
    assert_eq!((lab.running(0), vprot.get()), (p, 12_345));
}
