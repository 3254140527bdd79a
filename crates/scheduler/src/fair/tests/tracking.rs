//! What becomes of averages as tasks come, go and change, and what is read of them (fair-placement 1.6 to
//! 1.9, deadline-groups B4).

use super::groups::{hogs, limit};
use super::*;
use crate::fair::pelt::{self, UtilWith, cpu_util_with, cpu_without};
use crate::policy::set_user_nice;
use crate::testing::{fifo, sched_setscheduler};
use crate::{GroupId, TaskState};

impl Lab {
    fn average(&self, p: TaskId) -> &pelt::Average {
        &self.k.task(p).se.pelt.average
    }

    fn queue_average(&self, cpu: u16) -> &pelt::Average {
        &self.k.rq(CpuId(cpu)).published.pelt.average
    }

    /// The average of a group's queue, and of what stands for it.
    fn group_averages(&self, group: GroupId, cpu: u16) -> [&pelt::Average; 2] {
        let cpu = CpuId(cpu);
        [&self.k.group_queue(group, cpu).average, self.average(TaskId::of_group(group, cpu))]
    }

    fn nice(&self, p: TaskId, nice: i8) {
        self.run(set_user_nice(self.cpu(0), p, Nice::new(nice).expect("a nice value")));
        self.settle();
    }
}

/// B4: what runs in a group counts in its queue, in what stands for it, and in the queue above; so does what
/// sleeps there. Each level counts by itself.
#[test]
fn every_level_counts_what_runs_below_it() {
    let (lab, group) = hogs(1, "6.1.y", None);
    let hog = lab.running(0);
    let levels = || {
        let [queue, entity] = lab.group_averages(group, 0);
        [lab.average(hog), queue, entity, lab.queue_average(0)]
    };
    assert_eq!(levels().map(|a| a.load_avg.get()), [1024; 4], "a new task brings its weight at once");
    lab.ticks(100);
    let near = |is: [u64; 4], right: u64| assert!(is.iter().all(|is| is.abs_diff(right) <= 25), "{is:?}");
    near(levels().map(|a| a.util_avg.get()), 1024);
    near(levels().map(|a| a.runnable_avg.get()), 1024);
    lab.block(0);
    lab.advance(Nanos::from_micros(33_600));
    let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    rq.update_clock();
    pelt::update_blocked_averages(&mut rq);
    drop(rq);
    near([1, 2, 3, 3].map(|n| levels()[n].util_avg.get()), 512);
    lab.wake(0, hog);
    lab.nice(hog, 5);
    let [queue, _] = lab.group_averages(group, 0);
    assert_eq!(queue.load_avg.get(), lab.average(hog).load_avg.get(), "335 by what it was runnable");
}

/// 1.7, removed set, and B4: what leaves a group's queue asleep is a change for the levels above, also where
/// no period has ended.
#[test]
fn what_has_left_a_group_leaves_the_levels_above() {
    let (lab, group) = hogs(2, "6.1.y", None);
    let hog = lab.running(0);
    lab.ticks(100);
    lab.block(0);
    let averages = || {
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        pelt::update_blocked_averages(&mut rq);
        drop(rq);
        let [queue, entity] = lab.group_averages(group, 0);
        [queue, entity, lab.queue_average(0)].map(|a| a.util_avg.get())
    };
    assert!(averages().iter().all(|util| *util > 990));
    pelt::migrate(lab.cpu(0), lab.k.task(hog), CpuId(0));
    assert_eq!(averages(), [0; 3]);
}

/// Fair-placement I4: the load of a queue that nobody has left is that of its tasks, all taken at one moment,
/// within one each and 1 %.
#[test]
fn a_queue_has_the_load_of_its_tasks() {
    let lab = Lab::new(1, "6.1.y", &["hz=250"]);
    let tasks = [0, 5, -5].map(|nice| {
        let p = lab.spawn(Policy::Normal, 0);
        lab.nice(p, nice);
        p
    });
    for n in 0..200_u64 {
        lab.advance(Nanos::from_millis(4));
        lab.tick(0);
        // Each sleeps at times, for a while.
        if n % 7 == 3 {
            let sleeper = lab.running(0);
            lab.block(0);
            lab.advance(Nanos::from_millis(n % 5));
            lab.wake(0, sleeper);
        }
    }
    (0..3).for_each(|_| _ = lab.block(0));
    for after_ms in [1, 20, 60] {
        lab.advance(Nanos::from_millis(after_ms));
        let mut rq = lab.run(lab.cpu(0).lock(CpuId(0)));
        rq.update_clock();
        pelt::update_blocked_averages(&mut rq);
        let now = lab.queue_average(0).last_update_time.get();
        let asleep = |p: &TaskId| {
            let average = lab.average(*p).clone();
            average.update(now, pelt::Activity::NONE, lab.k.task(*p).se.weight());
            average.load_avg.get()
        };
        let (queue, sum) = (lab.queue_average(0).load_avg.get(), tasks.iter().map(asleep).sum::<u64>());
        assert!(sum > 300 || after_ms == 60, "there is something to compare: {sum}");
        assert!(queue.abs_diff(sum) <= 3 + sum / 100, "{queue} and {sum}, {after_ms} ms later");
    }
}

/// Under `load_tracking=weights` nothing is counted.
#[test]
fn without_tracking_nothing_is_counted() {
    let lab = Lab::new(1, "6.1.y", &["load_tracking=weights", "hz=250"]);
    let (a, b) = (lab.spawn(fifo(1), 0), lab.spawn(Policy::Normal, 0));
    let c = lab.spawn(Policy::Normal, 0);
    lab.run(sched_setscheduler(lab.cpu(0), a, Policy::Normal));
    lab.settle();
    for _ in 0..20 {
        lab.advance(Nanos::from_millis(4));
        lab.tick(0);
    }
    for p in [a, b, c] {
        assert!(!lab.k.task(p).se.pelt.attached.get() && lab.average(p).util_avg.get() == 0);
    }
    assert_eq!((lab.queue_average(0).load_avg.get(), lab.queue_average(0).util_avg.get()), (0, 0));
}

/// 1.8: a CPU has blocked load while anything is left of load, of use, or of what others use.
#[test]
fn a_cpu_has_blocked_load_while_anything_is_left() {
    let has = |load, util, rt: bool| {
        let lab = Lab::new(1, "6.1.y", &[]);
        if rt {
            lab.spawn(fifo(1), 0);
            lab.advance(Nanos::from_millis(30));
            lab.block(0);
        }
        lab.queue_average(0).load_avg.set(load);
        lab.queue_average(0).util_avg.set(util);
        pelt::has_blocked_load(lab.cpu(0), CpuId(0))
    };
    assert!(has(1, 0, false) && has(0, 1, false) && has(0, 0, true) && !has(0, 0, false));
}

/// 1.7: who leaves another CPU asleep has faded up to that queue's last update; up to the present only where
/// that CPU is idle, since 6.0.
#[test]
fn a_sleeper_takes_along_what_its_queue_knows() {
    let left = |busy: bool, rule: &str| {
        let lab = Lab::new(2, "6.1.y", &["hz=250", rule]);
        let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        for _ in 0..100 {
            lab.advance(Nanos::from_millis(4));
            lab.tick(0);
        }
        lab.block(0);
        if busy {
            lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        }
        let before = lab.average(p).util_avg.get();
        lab.advance(Nanos::from_micros(33_600));
        pelt::migrate(lab.cpu(1), lab.k.task(p), CpuId(0));
        before - lab.average(p).util_avg.get()
    };
    assert!((490..=530).contains(&left(false, "pelt_lag=on")));
    assert_eq!([left(true, "pelt_lag=on"), left(false, "pelt_lag=off"), left(true, "pelt_lag=off")], [0; 3]);
}

/// 1.7: who comes from another class fades by the time away, if it was counted before: one that starts in
/// another class has the load of its weight still. It joins once.
#[test]
fn who_enters_the_class_joins_with_what_it_has() {
    let lab = Lab::new(1, "6.1.y", &["hz=250"]);
    lab.advance(Nanos::from_secs(1));
    let p = lab.spawn(fifo(1), 0);
    lab.advance(Nanos::from_millis(500));
    lab.block(0);
    lab.run(sched_setscheduler(lab.cpu(0), p, Policy::Normal));
    assert_eq!((lab.average(p).load_avg.get(), lab.queue_average(0).load_avg.get()), (1024, 1024));
    let rq = lab.run(lab.cpu(0).lock(CpuId(0)));
    pelt::switched_to(&rq, p);
    drop(rq);
    assert_eq!(lab.queue_average(0).load_avg.get(), 1024, "once");
    let away = |feature: &str| {
        lab.k.config.set(feature).expect("a feature");
        lab.average(p).load_avg.get();
        lab.wake(0, p);
        lab.advance(Nanos::from_millis(400));
        lab.tick(0);
        lab.block(0);
        let before = lab.average(p).load_avg.get();
        lab.run(sched_setscheduler(lab.cpu(0), p, fifo(1)));
        lab.advance(Nanos::from_micros(33_600));
        lab.run(sched_setscheduler(lab.cpu(0), p, Policy::Normal));
        before - lab.average(p).load_avg.get()
    };
    assert!((490..=530).contains(&away("ATTACH_AGE_LOAD")));
    assert_eq!(away("NO_ATTACH_AGE_LOAD"), 0);
}

/// 1.7: a new task has the load of its weight, and that of another weight if it gets one before it starts;
/// one of another class keeps what it has.
#[test]
fn only_who_has_not_begun_has_the_load_of_its_new_weight() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let new = lab.fork_start(0, 0);
    assert_eq!(lab.k.task(new).state.get(), TaskState::New);
    lab.nice(new, 5);
    assert_eq!(lab.average(new).load_avg.get(), 335);
    let other = lab.spawn(fifo(1), 0);
    lab.average(other).load_avg.set(77);
    lab.nice(other, 5);
    assert_eq!(lab.average(other).load_avg.get(), 77);
}

/// 1.6, 1.9: a CPU without a task that sleeps elsewhere, or is no part of its averages, is what it is.
#[test]
fn only_what_is_there_can_be_left_out() {
    let lab = Lab::new(2, "6.1.y", &["NO_UTIL_EST"]);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.block(0);
    lab.average(p).util_avg.set(300);
    lab.queue_average(0).util_avg.set(500);
    let util = |with| cpu_util_with(lab.cpu(1), CpuId(0), p, with);
    assert_eq!([util(UtilWith::WithoutIt), util(UtilWith::It)], [200, 500]);
    lab.k.task(p).se.pelt.attached.set(false);
    assert_eq!([util(UtilWith::WithoutIt), util(UtilWith::It)], [500, 800]);
}

/// 2.9: a CPU is idle without a task if nobody else runs or is about to be queued; who counts nowhere (B7) is
/// not left out a second time.
#[test]
fn a_cpu_without_a_task_is_idle_if_nobody_else_is_there() {
    let lab = Lab::new(2, "6.12.y", &[]);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    let without = |lab: &Lab, p| {
        let without = cpu_without(lab.cpu(1), CpuId(0), p);
        (without.nr_running, without.idle)
    };
    assert_eq!(without(&lab, p), (0, true));
    lab.k.rq(CpuId(0)).wake_list.push(p);
    assert_eq!(without(&lab, p), (0, false), "somebody is on its way");
    lab.k.rq(CpuId(0)).wake_list.pop();
    lab.spawn_allowed(fifo(1), 0, cpus(&[0]));
    assert_eq!(without(&lab, p), (1, false));

    let (lab, group) = hogs(2, "6.12.y", limit(10, 100));
    let hog = lab.running(0);
    lab.ticks(3);
    assert!(lab.is_throttled(group, 0));
    assert_eq!(without(&lab, hog), (0, true));
}

/// 1.6: a sleeper's load is part of its CPU's, up to 4.19 (`balance_load=queued`) that of queued tasks only.
#[test]
fn a_sleepers_load_is_left_out_where_it_counts() {
    let load = |rule: &str| {
        let lab = Lab::new(2, "6.1.y", &[rule]);
        let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        let queued = cpu_without(lab.cpu(1), CpuId(0), p).load;
        lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        lab.block(0);
        [queued, cpu_without(lab.cpu(1), CpuId(0), p).load]
    };
    assert_eq!([load("balance_load=all"), load("balance_load=queued")], [[0, 1024]; 2]);
}

/// Where nothing is tracked, a CPU is used whole while a fair task runs there, other than the one that is
/// left out.
#[test]
fn without_tracking_who_runs_uses_the_cpu() {
    let lab = Lab::new(2, "6.1.y", &["load_tracking=weights"]);
    let [a, b] = [(), ()].map(|()| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
    let util = |p| cpu_without(lab.cpu(1), CpuId(0), p).util;
    assert_eq!(lab.running(0), a);
    assert_eq!([util(a), util(b)], [0, 1024]);
    lab.spawn_allowed(fifo(1), 0, cpus(&[0]));
    assert_eq!([util(a), util(b)], [0, 0]);
}

/// 2.3: the longest stint of a task is one that others waited for.
#[test]
fn a_stint_without_competition_is_no_slice() {
    let longest = |tasks: u32| {
        let lab = Lab::new(1, "2.6.36", &["hz=250"]);
        let all: Vec<TaskId> = (0..tasks).map(|_| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]))).collect();
        for _ in 0..20 {
            lab.advance(Nanos::from_millis(4));
            lab.tick(0);
        }
        // A change of parameters sets the running task anew.
        lab.nice(lab.running(0), 0);
        lab.nice(lab.running(0), 1);
        all.iter().map(|p| lab.k.task(*p).stats.slice_max.get()).max()
    };
    assert_eq!(longest(1), Some(Nanos::ZERO));
    assert!(longest(2) >= Some(Nanos::from_millis(4)), "twice the weight of one");
}

/// 4.8: balancing that takes the newest tasks first goes by when they were queued; else by when they ran.
#[test]
fn the_list_of_tasks_is_in_order_of_queueing_or_of_running() {
    let newest = |lb: &str| {
        let lab = Lab::new(1, "6.1.y", &["hz=250", lb]);
        let [a, b] = [(), ()].map(|()| lab.spawn_allowed(Policy::Normal, 0, cpus(&[0])));
        while lab.running(0) == a {
            lab.advance(Nanos::from_millis(4));
            lab.tick(0);
        }
        while lab.running(0) == b {
            lab.advance(Nanos::from_millis(4));
            lab.tick(0);
        }
        let newest = lab.k.rq(CpuId(0)).inspect().expect("nobody holds the lock").fair.tasks.newest();
        if newest == Some(a) { "ran" } else { "queued" }
    };
    assert_eq!([newest("lb=group_room"), newest("lb=group_room_newest")], ["ran", "queued"]);
}
