//! A limit stops tasks one by one, where they return to user space (deadline-groups B7, rules 2, 4 and 5). In
//! these tests tasks are always in user space, so they park as soon as they run.

use super::groups::{hogs, limit};
use super::*;
use crate::fair::{GroupTimer, group_timer, is_hidden};
use crate::platform::{Ipi, Lock};
use crate::testing::{fifo, sched_setscheduler};
use crate::{GroupId, Standing};

/// The queue of the group is throttled on CPU 0, and its hog has parked.
fn parked(profile: &str, cpus: u16) -> (Lab, GroupId, TaskId) {
    let (lab, group) = hogs(cpus, profile, limit(10, 100));
    let hog = lab.running(0);
    lab.ticks(3);
    assert!(lab.is_throttled(group, 0));
    (lab, group, hog)
}

impl Lab {
    fn is_parked(&self, p: TaskId) -> bool {
        self.k.task(p).se.parked.get()
    }

    /// The period of a group's limit ends, on CPU 0; what follows on other CPUs is still to come.
    fn refill_unsettled(&self, group: GroupId) {
        self.run(group_timer(self.cpu(0), group, GroupTimer::Period));
    }

    fn refill(&self, group: GroupId) {
        self.advance(Nanos::from_millis(88));
        self.refill_unsettled(group);
        self.settle();
    }
}

/// Rule 2: it leaves the queue and counts nowhere; but it is no sleeper, whom somebody could wake.
#[test]
fn who_is_parked_is_runnable_and_on_no_queue() {
    let (lab, group, hog) = parked("6.18.y", 1);
    assert!(lab.is_parked(hog) && is_hidden(&lab.k, lab.k.task(hog)) && lab.idle(0));
    assert_eq!(lab.k.task(hog).standing(), Standing::Waiting);
    assert_eq!(lab.k.rq(CpuId(0)).published.nr_running.get(), 0);
    let entity = lab.k.task(TaskId::of_group(group, CpuId(0)));
    assert!(!entity.on_rq.get() && !lab.wake(0, hog));
    lab.refill(group);
    assert_eq!((lab.running(0), lab.is_parked(hog)), (hog, false));
}

/// `bw_throttle=entity`: the group's entity leaves, and the task stays inside.
#[test]
fn before_6_18_a_throttled_queue_keeps_its_tasks() {
    let (lab, group, hog) = parked("6.12.y", 1);
    assert!(!lab.is_parked(hog) && is_hidden(&lab.k, lab.k.task(hog)) && lab.idle(0));
    let state = lab.k.rq(CpuId(0)).inspect().expect("nobody holds the lock");
    assert_eq!(state.queue(group).nr_running, 1);
}

/// Rule 2: who wakes below a throttled queue is enqueued, runs, and parks then.
#[test]
fn a_sleeper_that_is_woken_parks_when_it_has_run() {
    let (lab, group) = hogs(1, "6.18.y", limit(10, 100));
    let sleeper = lab.spawn_in(group, 0);
    while lab.running(0) != sleeper {
        lab.ticks(1);
    }
    lab.block(0);
    while !lab.is_throttled(group, 0) {
        lab.ticks(1);
    }
    assert!(lab.wake_unsettled(0, sleeper));
    assert!(!lab.is_parked(sleeper) && lab.k.rq(CpuId(0)).published.nr_running.get() > 0);
    lab.settle();
    assert!(lab.is_parked(sleeper) && lab.idle(0));
}

/// Rule 2: threads of the kernel never park.
#[test]
fn a_thread_of_the_kernel_goes_on() {
    let (lab, group) = hogs(1, "6.18.y", limit(10, 100));
    let thread = lab.running(0);
    lab.k.task(thread).kernel_thread.set(true);
    lab.ticks(5);
    assert!(lab.is_throttled(group, 0) && lab.running(0) == thread);
}

/// The limit is one of the fair class: served by another one, a parked task goes on; and parks again when it
/// comes back.
#[test]
fn a_parked_task_that_another_class_serves_goes_on() {
    let (lab, _, hog) = parked("6.18.y", 1);
    lab.run(sched_setscheduler(lab.cpu(0), hog, fifo(10)));
    lab.settle();
    assert_eq!((lab.running(0), lab.is_parked(hog)), (hog, false));
    lab.run(sched_setscheduler(lab.cpu(0), hog, Policy::Normal));
    lab.settle();
    assert!(lab.is_parked(hog) && lab.idle(0));
}

/// A parked task that is sent to another CPU goes on there if its group has something left there.
#[test]
fn a_parked_task_can_be_moved() {
    let (lab, group, hog) = parked("6.18.y", 2);
    assert!(lab.is_throttled(group, 1), "both have used up their slices");
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), hog, cpus(&[1])));
    lab.settle();
    assert_eq!((lab.cpu_of(hog), lab.is_parked(hog)), (1, true));
    lab.advance(Nanos::from_millis(88));
    for _ in 0..3 {
        lab.refill_unsettled(group);
        lab.advance(Nanos::from_millis(100));
    }
    lab.settle();
    assert!(!lab.is_parked(hog) && !lab.is_throttled(group, 1));
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), hog, cpus(&[0])));
    lab.settle();
    assert_eq!((lab.cpu_of(hog), lab.running(0)), (0, hog));
}

/// Counters: the time of a queue of which nobody has parked yet has not begun; of one that is frozen it has.
#[test]
fn throttled_time_begins_with_the_first_who_parks() {
    let throttled = |profile| {
        let (lab, group) = hogs(1, profile, limit(10, 100));
        let hog = lab.running(0);
        // It works in the kernel for a long time.
        lab.k.task(hog).kernel_thread.set(true);
        lab.ticks(5);
        lab.k.task(hog).kernel_thread.set(false);
        lab.settle();
        lab.advance(Nanos::from_millis(10));
        lab.k.bandwidth_counts(group, lab.cpu(0).now()).expect("a limit").throttled_time
    };
    assert_eq!(["6.18.y", "6.12.y"].map(throttled), [10, 18].map(Nanos::from_millis));
}

/// Rule 4: under `bw_unthrottle=ipi` another CPU is called and does it itself, before 6.3 the timer does.
#[test]
fn another_cpu_is_called_to_go_on() {
    for (setting, called) in [("bw_unthrottle=ipi", true), ("bw_unthrottle=inline", false)] {
        for unit in ["bw_throttle=task", "bw_throttle=entity"] {
            let (lab, group) = hogs(2, "6.18.y", limit(20, 100));
            [setting, unit].iter().for_each(|s| lab.k.config.set(s).expect("a rule"));
            lab.ticks(4);
            assert!(lab.is_throttled(group, 0) && lab.is_throttled(group, 1));
            lab.advance(Nanos::from_millis(84));
            lab.refill_unsettled(group);
            assert_eq!([0, 1].map(|cpu| lab.is_throttled(group, cpu)), [false, called], "{setting}");
            assert_eq!(lab.remaining(group, 1), 1, "it has got what it owed");
            let sent = lab.k.platform.ipis.borrow().iter().filter(|sent| sent.ipi == Ipi::Unthrottle).count();
            assert_eq!(sent, usize::from(called));
            lab.settle();
            assert!(!lab.is_throttled(group, 1) && !lab.idle(1), "{setting} {unit}");
        }
    }
}

/// Rule 8: a timer that has to go on more than three times in one run, because handing out takes longer than
/// its period, doubles period, quota and burst.
#[test]
fn a_period_that_is_too_short_for_its_timer_doubles() {
    let doubled = |runs_over: u32| {
        let (lab, group) = hogs(1, "6.18.y", limit(1, 1));
        lab.ticks(40);
        let mut left = runs_over;
        let queues = |lock| matches!(lock, Lock::Rq(_));
        // The debt is so large that the timer has somebody to hand out to each time.
        lab.meanwhile(queues, group_timer(lab.cpu(0), group, GroupTimer::Period), |_| {
            if left > 0 {
                left -= 1;
                lab.advance(Nanos::from_millis(1));
            }
        });
        let params = lab.k.groups.get(group).pool.as_ref().expect("a limit").params.get();
        assert_eq!(params.quota, params.period);
        params.period
    };
    assert_eq!([0, 2, 3, 4].map(doubled), [1, 1, 2, 2].map(Nanos::from_millis));
}
