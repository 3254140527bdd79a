//! deadline-groups B9: a group in which somebody is boosted goes on, whatever it has used.

use super::Bench;
use crate::fair::GroupParams;
use crate::fork::{NewTask, new_task, wake_up_new_task_on};
use crate::rt::RtLimit;
use crate::testing::{cpus, fifo, plain_group, sched_setscheduler};
use crate::{CpuId, GroupId, Nanos, Nice, Pid, Policy, Reason, TaskId};

/// CPU 0 of two, with a group that has so many ms of each second, and a task of it.
fn bench(runtime: u64, policy: Policy) -> (Bench, GroupId, TaskId) {
    let mut bench = Bench::sleeping(2, &["rt_throttle=groups", "NO_RT_RUNTIME_SHARE", "hz=1000"]);
    let rt = Some(RtLimit { runtime: Some(Nanos::from_millis(runtime)), period: Nanos::from_secs(1) });
    let parent = GroupId::ROOT;
    let params = GroupParams { rt, ..plain_group(parent) };
    let group = bench.lab.k.create_group(params);
    let (pid, nice, cpus_allowed) = (Pid(1_000), Nice::default(), cpus(&[0]));
    let p = new_task(&bench.lab.k, NewTask { pid, policy, nice, cpus_allowed, kernel_thread: false, group });
    bench.lab.run(wake_up_new_task_on(bench.lab.cpu(0), p, Some(CpuId(0))));
    bench.settle();
    (bench, group, p)
}

impl Bench {
    /// Busy ticks on CPU 0, of a ms each, while nobody's period ends.
    fn ticks(&self, n: u64) {
        for _ in 0..n {
            self.lab.advance(Nanos::from_millis(1));
            if !self.lab.idle(0) {
                self.lab.tick(0);
            }
        }
    }

    fn is_stopped(&self, group: GroupId) -> bool {
        self.lab.k.rq(CpuId(0)).inspect().expect("free").rt.is_stopped(group)
    }
}

/// A task of CPU 1 wants what `p` holds.
fn wants(bench: &Bench, p: TaskId, priority: u8) -> crate::MutexId {
    let m = bench.pi();
    assert!(bench.lock(p, m));
    let waiter = bench.lab.spawn_allowed(fifo(priority), 1, cpus(&[1]));
    assert!(!bench.lock(waiter, m));
    m
}

#[test]
fn who_is_boosted_keeps_its_group_running() {
    let (bench, group, p) = bench(100, fifo(50));
    bench.ticks(50);
    let m = wants(&bench, p, 80);
    bench.ticks(250);
    assert_eq!((bench.lab.running(0), bench.lab.count(Reason::Throttled)), (p, 0));
    bench.unlock(p, m);
    assert!(bench.is_stopped(group), "it has long used up its time");
    bench.ticks(1);
    assert!(bench.lab.idle(0));
}

/// One comes to a group that is stopped: it goes on.
#[test]
fn who_becomes_boosted_lets_its_group_go_on() {
    let (bench, group, p) = bench(100, fifo(50));
    let m = bench.pi();
    assert!(bench.lock(p, m));
    bench.ticks(101);
    assert!(bench.is_stopped(group) && bench.lab.idle(0));
    let waiter = bench.lab.spawn_allowed(fifo(80), 1, cpus(&[1]));
    assert!(!bench.lock(waiter, m));
    assert_eq!((bench.is_stopped(group), bench.lab.running(0)), (false, p));
    // It is boosted no longer where it gets that priority for itself.
    bench.lab.run(sched_setscheduler(bench.lab.cpu(0), p, fifo(80)));
    bench.settle();
    assert!(bench.is_stopped(group));
}

/// A fair task that inherits a priority runs in a group without any time, and is not stopped there.
#[test]
fn a_boosted_task_needs_no_runtime() {
    let (bench, group, p) = bench(0, Policy::Normal);
    let m = wants(&bench, p, 80);
    let hog = bench.lab.spawn_allowed(fifo(20), 0, cpus(&[0]));
    bench.ticks(500);
    let ran = bench.lab.k.task(p).stats.sum_exec_runtime.get();
    assert_eq!((ran, bench.lab.running(0)), (Nanos::from_millis(500), p));
    assert!(!bench.is_stopped(group));
    bench.unlock(p, m);
    assert_eq!(bench.lab.running(0), hog);
}

/// Without RT_GROUP_SCHED nobody is exempt (rt-class 8.1).
#[test]
fn without_groups_boosted_tasks_are_throttled_like_others() {
    for (rule, runs) in [("rt_throttle=groups", true), ("rt_throttle=root", false)] {
        let bench =
            Bench::sleeping(2, &[rule, "NO_RT_RUNTIME_SHARE", "sched_rt_runtime_us=100000", "hz=1000"]);
        let p = bench.lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        wants(&bench, p, 80);
        bench.ticks(200);
        assert_eq!(bench.lab.running(0) == p, runs, "{rule}");
    }
}
