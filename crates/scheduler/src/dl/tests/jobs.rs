//! Budgets of one task on one CPU.

use super::{left, ms};
use crate::schedule::sched_yield;
use crate::testing::{Lab, deadline, fifo, sched_setscheduler};
use crate::{Event, Nanos, Policy, Reason, TaskId, Throttled};

/// A job: `p` wakes at `at_us` and works for `work_us`; a tick falls on the moment at which its budget ends,
/// if it does, and on the end of what it is given later. When it is done, in µs, and what it has left then.
struct Jobs {
    lab: Lab,
    p: TaskId,
}

impl Jobs {
    fn of(policy: Policy, settings: &[&str]) -> Jobs {
        let lab = Lab::new(1, "6.1.y", settings);
        let p = lab.spawn(policy, 0);
        Jobs { lab, p }
    }

    fn runs(&self) -> bool {
        self.lab.running(0) == self.p
    }

    /// Works on from now; done at this time, with so much left of a period that ends then (all in µs).
    fn work(&self, mut work_us: u64) -> (u64, i64, u64) {
        let now = || self.lab.k.platform.now.get().0 / 1_000;
        loop {
            if !self.runs() {
                let at = self.lab.dl_timer_at(0).expect("a throttled task has a timer");
                self.lab.pass_until(at);
                assert!(self.runs());
            }
            let budget = left(&self.lab, self.p).0 as u64;
            let stint = work_us.min(budget);
            self.lab.pass_until(Nanos::from_micros(now() + stint));
            work_us -= stint;
            if work_us == 0 {
                break;
            }
            self.lab.tick(0);
        }
        self.lab.block(0);
        let (runtime, deadline) = left(&self.lab, self.p);
        (now(), runtime, deadline)
    }

    fn wake(&self, at_us: u64) -> (i64, u64) {
        self.lab.pass_until(Nanos::from_micros(at_us));
        self.lab.wake(0, self.p);
        left(&self.lab, self.p)
    }
}

/// deadline-groups A14 example 3: 10/100, job 4 ms, sleep 20 ms.
#[test]
fn a14_3_cbs_wakeups() {
    for settings in [&[] as &[&str], &["dl_wakeup=cbs"]] {
        let jobs = Jobs::of(deadline(10, 100, 100), settings);
        assert_eq!(jobs.work(4_000), (4_000, 6_000, 100_000));
        assert_eq!(jobs.wake(24_000), (6_000, 100_000));
        assert_eq!(jobs.work(4_000), (28_000, 2_000, 100_000));
        assert_eq!(jobs.wake(48_000), (2_000, 100_000));
        // Exhausted at 50, replenished at 100.
        assert_eq!(jobs.work(4_000), (102_000, 8_000, 200_000));
        assert_eq!(jobs.wake(122_000), (10_000, 222_000));
        assert_eq!(jobs.work(4_000), (126_000, 6_000, 222_000));
        assert_eq!(jobs.wake(146_000), (6_000, 222_000));
        assert_eq!(jobs.work(4_000), (150_000, 2_000, 222_000));
        jobs.wake(170_000);
        // Exhausted at 172 until 222.
        assert_eq!(jobs.work(4_000), (224_000, 8_000, 322_000));
        assert_eq!(jobs.lab.count(Reason::DlThrottled), 2);
        let told = jobs.lab.k.platform.events.borrow();
        let budget = told.iter().filter_map(|event| match event {
            Event::ThrottleBegins { whom: Throttled::Deadline(p), .. } => Some((true, *p)),
            Event::ThrottleEnds { whom: Throttled::Deadline(p), .. } => Some((false, *p)),
            _ => None,
        });
        assert!(budget.eq([(true, jobs.p), (false, jobs.p), (true, jobs.p), (false, jobs.p)]));
    }
}

/// deadline-groups A14 example 4: 5/20/50, job 3 ms, sleep 11 ms. The fixed point rounds 1.5 and 1.875 ms
/// down by some ns.
#[test]
fn a14_4_the_revised_rule() {
    let jobs = Jobs::of(deadline(5, 20, 50), &[]);
    assert_eq!(jobs.work(3_000), (3_000, 2_000, 20_000));
    assert_eq!(jobs.wake(14_000), (1_500, 20_000));
    // Exhausted at 15.5 until 50.
    assert_eq!(jobs.work(3_000), (51_500, 3_500, 70_000));
    assert_eq!(jobs.wake(62_500), (1_875, 70_000));
    assert_eq!(jobs.work(3_000), (101_125, 3_875, 120_000));
    assert_eq!(jobs.wake(112_125), (1_968, 120_000));
}

/// deadline-groups A14 example 5: 5/20/50 wakes at 30, behind its deadline and before its next period.
#[test]
fn a14_5_activation_after_the_deadline() {
    let woken_at_30 = |settings: &[&str]| {
        let jobs = Jobs::of(deadline(5, 20, 50), settings);
        jobs.work(3_000);
        (jobs.wake(30_000), jobs.runs(), jobs)
    };
    let (_, runs, jobs) = woken_at_30(&[]);
    assert_eq!((runs, jobs.lab.dl_timer_at(0)), (false, Some(ms(50))));
    jobs.lab.pass_until(ms(50));
    assert_eq!((jobs.runs(), left(&jobs.lab, jobs.p)), (true, (5_000, 70_000)));
    let (budget, runs, _jobs) = woken_at_30(&["dl_wakeup=cbs"]);
    assert_eq!((budget, runs), ((5_000, 50_000), true));
}

/// deadline-groups A14 example 6: 36 ms of a budget of 10 are charged in one go.
#[test]
fn a14_6_overshoot() {
    let jobs = Jobs::of(deadline(10, 100, 100), &[]);
    jobs.lab.pass_until(ms(36));
    jobs.lab.tick(0);
    assert_eq!((left(&jobs.lab, jobs.p), jobs.runs()), ((-26_000, 100_000), false));
    jobs.lab.pass_until(ms(100));
    assert_eq!(left(&jobs.lab, jobs.p), (4_000, 400_000));
    jobs.lab.pass_until(ms(104));
    jobs.lab.tick(0);
    assert_eq!(jobs.lab.dl_timer_at(0), Some(ms(400)));
}

/// deadline-groups A5, `dl-yield`: 3 ms of 10/50, then sched_yield: 3 ms each 50 ms exactly.
#[test]
fn a5_yield_ends_the_instance() {
    let jobs = Jobs::of(deadline(10, 50, 50), &[]);
    for period in 0..4 {
        assert_eq!((jobs.runs(), left(&jobs.lab, jobs.p)), (true, (10_000, 50_000 * (period + 1))));
        jobs.lab.pass_until(ms(50 * period + 3));
        jobs.lab.run(sched_yield(jobs.lab.cpu(0)));
        jobs.lab.settle();
        assert!(!jobs.runs());
        jobs.lab.pass_until(ms(50 * (period + 1)));
    }
}

/// deadline-groups A1: above all priorities; a task that is throttled is below all of them.
#[test]
fn a1_before_real_time_tasks_until_it_is_throttled() {
    let jobs = Jobs::of(deadline(10, 100, 100), &[]);
    let rt = jobs.lab.spawn(fifo(99), 0);
    assert!(jobs.runs());
    jobs.lab.pass_until(ms(10));
    jobs.lab.tick(0);
    assert_eq!(jobs.lab.running(0), rt);
    jobs.lab.pass_until(ms(100));
    assert!(jobs.runs());
    // Inside the class the earlier deadline goes first; an equal one waits.
    let later = jobs.lab.spawn(deadline(1, 100, 100), 0);
    assert!(jobs.runs() && jobs.lab.k.task(later).dl.is_queued());
    let earlier = jobs.lab.spawn(deadline(1, 20, 20), 0);
    assert_eq!(jobs.lab.running(0), earlier);
}

/// deadline-groups A5: changes of class. What is left of a period that goes on is kept.
#[test]
fn leaving_the_class_and_coming_back_gains_nothing() {
    let jobs = Jobs::of(deadline(10, 100, 100), &[]);
    let me = jobs.lab.cpu(0);
    jobs.lab.pass_until(ms(10));
    jobs.lab.tick(0);
    assert!(jobs.lab.idle(0));
    jobs.lab.run(sched_setscheduler(me, jobs.p, Policy::Normal));
    jobs.lab.settle();
    assert!(jobs.runs());
    jobs.lab.run(sched_setscheduler(me, jobs.p, deadline(10, 100, 100)));
    jobs.lab.settle();
    assert_eq!((jobs.lab.idle(0), jobs.lab.dl_timer_at(0)), (true, Some(ms(100))));
    jobs.lab.pass_until(ms(100));
    assert!(jobs.runs());
}
