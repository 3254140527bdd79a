//! Delayed dequeue: X12, X13, and each way out of a queue that a task sleeps in (3.7).

use crate::affinity::set_cpus_allowed;
use crate::fork::do_exit;
use crate::policy::set_user_nice;
use crate::testing::sched_setscheduler;
use crate::testing::{Lab, cpus, fifo};
use crate::wakeup::WakeFlags;
use crate::{CpuId, Nanos, Nice, Policy, Reason, Standing, TaskId};
use alloc::vec::Vec;

/// X12: A runs, ineligible, and B waits; then A has blocked.
fn blocked(settings: &[&str]) -> (Lab, TaskId, TaskId) {
    let lab = Lab::new(1, "6.18.y", settings);
    let tasks = lab.crowd(0, &[0, 0]);
    lab.stand(tasks[0], 12.0, 12.3);
    lab.stand(tasks[1], 10.0, 10.7);
    lab.forget();
    lab.block(0);
    assert_eq!(lab.running(0), tasks[1]);
    (lab, tasks[0], tasks[1])
}

impl Lab {
    fn queued(&self, cpu: u16) -> u32 {
        self.k.rq(CpuId(cpu)).published.nr_running.get()
    }

    fn vlag(&self, p: TaskId) -> i64 {
        self.k.task(p).se.eevdf.vlag.get()
    }

    fn delayed(&self, p: TaskId) -> bool {
        self.k.task(p).se.eevdf.sched_delayed.get()
    }

    /// B runs for so long, and the tick looks at it.
    fn runs_for(&self, time: f64) {
        self.charge(0, time);
        self.settle();
    }
}

#[test]
fn x12_who_overdrew_works_it_off_in_the_queue() {
    for (settings, kept) in [(&[][..], 0), (&["NO_DELAY_ZERO"], 50_000)] {
        let (lab, a, b) = blocked(settings);
        assert_eq!((lab.queued(0), lab.delayed(a), lab.zero_lag_point(0)), (2, true, 11_000_000));
        assert_eq!(lab.k.task(a).standing(), Standing::QueuedAsleep);
        assert_eq!(lab.k.task(a).stats.nr_voluntary_switches.get(), 1);
        let switches = || lab.k.task(b).stats.nr_involuntary_switches.get();
        for _ in 0..2 {
            lab.runs_for(0.7);
            assert!(lab.delayed(a) && lab.running(0) == b);
        }
        lab.runs_for(0.7);
        assert_eq!((lab.queued(0), lab.delayed(a), lab.vlag(a)), (1, false, kept));
        assert_eq!((lab.running(0), switches()), (b, 0), "no switch");
        assert_eq!(lab.k.task(a).standing(), Standing::Asleep);
        assert_eq!((lab.count(Reason::DelayedDequeue), lab.count(Reason::DelayedFinished)), (1, 1));
    }
}

#[test]
fn x12_without_the_feature_v_jumps_back() {
    let (lab, a, _) = blocked(&["NO_DELAY_DEQUEUE"]);
    assert_eq!((lab.queued(0), lab.delayed(a), lab.vlag(a)), (1, false, -1_000_000));
    assert_eq!(lab.zero_lag_point(0), 10_000_000);
}

/// 3.7 step 2: whoever is at V is eligible, and leaves.
#[test]
fn who_is_eligible_leaves_at_once() {
    for (v, stays) in [(10.0, false), (10.0 + 1e-6, true)] {
        let lab = Lab::new(1, "6.18.y", &[]);
        let tasks = lab.crowd(0, &[0, 0]);
        lab.stand(tasks[0], v, 10.7);
        lab.stand(tasks[1], 10.0, 10.7);
        lab.block(0);
        assert_eq!(lab.delayed(tasks[0]), stays, "{v}");
    }
}

#[test]
fn x13_woken_while_it_works_off_its_debt() {
    let lab = Lab::new(1, "6.18.y", &[]);
    let tasks = lab.crowd(0, &[0, 0, 0]);
    let [a, b, c] = [tasks[0], tasks[1], tasks[2]];
    lab.stand(a, 12.0, 12.3);
    lab.stand(b, 10.0, 10.7);
    lab.stand(c, 10.0, 10.9);
    lab.block(0);
    lab.charge(0, 0.6);
    let events = lab.count(Reason::WakePrevious) + lab.count(Reason::WakePinned);
    assert!(lab.wake_unsettled(0, a));
    assert_eq!((lab.zero_lag_point(0), lab.lag_of(a)), (10_866_666, -1_133_334));
    assert_eq!((lab.standing_at(a), lab.delayed(a)), ([12_000_000, 12_300_000], false));
    assert!(!lab.k.rq(CpuId(0)).published.is_asked(), "it does not preempt");
    assert_eq!((lab.running(0), lab.queued(0), lab.count(Reason::DelayedWoken)), (b, 3, 1));
    assert_eq!(lab.count(Reason::WakePrevious) + lab.count(Reason::WakePinned), events, "no CPU is chosen");
    assert_eq!(lab.k.task(a).standing(), Standing::Waiting);
}

/// 3.7: who was passed by V meanwhile comes out with nothing owed to it, by DELAY_ZERO; and by
/// `delay_lag=monotonic` with no more debt than it had.
#[test]
fn what_a_wakeup_in_the_queue_leaves_of_the_lag() {
    let lag = |settings: &[&str], a_at: f64| {
        let (lab, a, _) = blocked(settings);
        // V has come or gone without a pick.
        lab.stand(a, a_at, a_at + 1.0);
        lab.wake_unsettled(0, a);
        lab.lag_of(a)
    };
    assert_eq!(lag(&[], 9.0), 0);
    assert_eq!(lag(&["NO_DELAY_ZERO"], 9.0), 500_000);
    assert_eq!(lag(&[], 13.0), -1_500_000);
    assert_eq!(lag(&["delay_lag=monotonic"], 9.0), 0);
    assert_eq!(lag(&["delay_lag=monotonic"], 13.0), -1_000_000, "what it owed when it blocked");
    assert_eq!(lag(&["delay_lag=monotonic", "NO_DELAY_ZERO"], 9.0), 500_000);
}

/// 3.7: renice and affinity keep it asleep in its queue, wherever that is.
#[test]
fn a_change_of_nice_or_cpu_keeps_it_delayed() {
    let (lab, a, b) = blocked(&[]);
    lab.run(set_user_nice(lab.cpu(0), a, Nice::new(5).expect("-20 to 19")));
    lab.settle();
    assert_eq!((lab.queued(0), lab.delayed(a), lab.running(0)), (2, true, b));

    let lab = Lab::new(2, "6.18.y", &[]);
    let tasks: Vec<_> = (0..2).map(|_| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]))).collect();
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    lab.stand(tasks[0], 12.0, 12.3);
    lab.stand(tasks[1], 10.0, 10.7);
    lab.block(0);
    assert!(lab.delayed(tasks[0]));
    lab.run(set_cpus_allowed(lab.cpu(0), tasks[0], cpus(&[1])));
    assert_eq!((lab.cpu_of(tasks[0]), lab.delayed(tasks[0]), lab.queued(1)), (1, true, 2));
    lab.settle();
}

/// 3.7: another class cannot keep it in a queue that it has not got.
#[test]
fn a_change_of_class_lets_it_go_first() {
    let (lab, a, b) = blocked(&[]);
    lab.run(sched_setscheduler(lab.cpu(0), a, fifo(10)));
    lab.settle();
    assert_eq!((lab.queued(0), lab.delayed(a), lab.running(0)), (1, false, b));
    assert_eq!(lab.k.task(a).standing(), Standing::Asleep);
    lab.wake(0, a);
    assert_eq!(lab.running(0), a);
}

/// 3.7: who exits is gone at once, whatever it owes.
#[test]
fn an_exit_is_not_delayed() {
    let lab = Lab::new(1, "6.18.y", &[]);
    let tasks = lab.crowd(0, &[0, 0]);
    lab.stand(tasks[0], 12.0, 12.3);
    lab.stand(tasks[1], 10.0, 10.7);
    lab.run(do_exit(lab.cpu(0)));
    lab.settle();
    assert_eq!((lab.running(0), lab.queued(0)), (tasks[1], 1));
}

/// eevdf-class E15: a CPU whose fair tasks all sleep in its queue ends idle, with nobody in it.
#[test]
fn a_cpu_whose_tasks_are_all_asleep_ends_idle() {
    let (lab, a, b) = blocked(&[]);
    lab.block(0);
    assert!(lab.idle(0));
    assert_eq!((lab.queued(0), lab.delayed(a), lab.delayed(b)), (0, false, false));
    assert!(lab.vlag(a) <= 0, "eevdf-class E8");
}

/// A delayed task does not wait for the CPU.
#[test]
fn sleeping_in_the_queue_is_no_waiting_time() {
    let (lab, a, _) = blocked(&[]);
    lab.advance(Nanos::from_millis(1));
    lab.wake_unsettled(0, a);
    lab.advance(Nanos::from_millis(2));
    lab.block(0);
    lab.settle();
    assert_eq!(lab.running(0), a);
    assert_eq!(lab.k.task(a).stats.wait_max.get(), Nanos::from_millis(2));
}

/// 3.7, 4.2, 4.5: who sleeps in a queue is no task that could be moved (6.14 on), nor company for a waker
/// that is about to sleep (6.13 on; 6.12.y).
#[test]
fn who_sleeps_in_a_queue_is_not_counted() {
    let counted = |rule: &str| {
        let lab = Lab::new(2, "6.18.y", &[rule]);
        let tasks = lab.crowd(0, &[0, 0]);
        let woken = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        lab.block(1);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        lab.run(set_cpus_allowed(lab.cpu(1), woken, cpus(&[0, 1])));
        lab.stand(tasks[0], 12.0, 12.3);
        lab.stand(tasks[1], 10.0, 10.7);
        lab.block(0);
        assert!(lab.delayed(tasks[0]) && lab.running(0) == tasks[1]);
        let sync = WakeFlags { sync: true, interrupt: false, exiting: false };
        lab.run(crate::wakeup::try_to_wake_up(lab.cpu(0), woken, sync));
        lab.count(Reason::WaSync)
    };
    assert_eq!(counted("delayed_count=left_out"), 1);
    assert_eq!(counted("delayed_count=left_out_at_wakeup"), 1);
    assert_eq!(counted("delayed_count=counted"), 0);
    let (lab, ..) = blocked(&["delayed_count=left_out"]);
    assert_eq!((lab.k.nr_fair(CpuId(0)), lab.queued(0)), (1, 2));
    let (lab, ..) = blocked(&["delayed_count=left_out_at_wakeup"]);
    assert_eq!(lab.k.nr_fair(CpuId(0)), 2);
}

/// 4.5: whoever owes service stays, unless the rule is off; balancing then looks at the next.
#[test]
fn balancing_leaves_who_owes_service() {
    for (settings, stays) in
        [(&["lb_lag=on"][..], true), (&["lb_lag=off"], false), (&["NO_PLACE_LAG"], false)]
    {
        let settings: Vec<_> =
            settings.iter().copied().chain(["sched_migration_cost_ns=0", "lb=group_load"]).collect();
        let lab = Lab::new(2, "6.18.y", &settings);
        lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        let tasks: Vec<_> = (0..4).map(|_| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]))).collect();
        for (n, p) in tasks.iter().enumerate() {
            lab.run(set_cpus_allowed(lab.cpu(0), *p, cpus(&[0, 1])));
            // The one that was enqueued last, at which balancing looks first, owes service.
            let v = 10.0 + n as f64;
            lab.stand(*p, v, v + 1.4);
        }
        for _ in 0..500 {
            lab.advance(Nanos::from_millis(1));
            lab.run(crate::tick::scheduler_tick(lab.cpu(1)));
            if lab.count(Reason::BalancedPeriodic) > 0 {
                break;
            }
        }
        assert!(lab.count(Reason::BalancedPeriodic) > 0, "{settings:?}");
        assert_eq!(lab.cpu_of(tasks[3]) == 0, stays, "{settings:?}");
        assert_eq!(lab.count(Reason::NotMovedLag) > 0, stays, "{settings:?}");
    }
}
