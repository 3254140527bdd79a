//! Deadline tasks lend their parameters (deadline-groups A10).

use super::Bench;
use crate::testing::{cpus, deadline, fifo};
use crate::{Class, MutexId, Nanos, Policy, Prio, Reason, TaskId};

const fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

/// A fair task on CPU 0 owns a mutex; a FIFO hog takes the CPU from it, a deadline task of 5/50 on CPU 1
/// wants the mutex.
fn starved() -> (Bench, MutexId, [TaskId; 3]) {
    let bench = Bench::sleeping(2, &["sched_rt_runtime_us=-1"]);
    let m = bench.pi();
    let holder = bench.lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    assert!(bench.lock(holder, m));
    let hog = bench.lab.spawn_allowed(fifo(99), 0, cpus(&[0]));
    let waiter = bench.lab.spawn_allowed(deadline(5, 50, 50), 1, cpus(&[1]));
    (bench, m, [holder, hog, waiter])
}

#[test]
fn a_fair_holder_is_served_as_a_deadline_task() {
    let (bench, m, [holder, hog, waiter]) = starved();
    assert_eq!(bench.lab.running(0), hog);
    bench.lab.pass_until(ms(3));
    assert!(!bench.lock(waiter, m));
    let task = bench.lab.k.task(holder);
    assert_eq!(
        (bench.lab.running(0), task.class.get(), task.prio.get()),
        (holder, Class::Deadline, Prio(-1))
    );
    // A period of the waiter's begins, with all its run time: its own budget of 2 ms is not what is lent.
    assert_eq!((task.dl.runtime_ns(), task.dl.deadline()), (5_000_000, ms(53)));
    // The parameters, not the budget: 40 ms at a stretch, a new period each 5 ms.
    for tick in 1..=40 {
        bench.lab.pass_until(ms(3 + tick));
        bench.lab.tick(0);
        assert_eq!(bench.lab.running(0), holder);
    }
    assert_eq!((bench.lab.count(Reason::DlThrottled), task.dl.deadline()), (0, ms(53 + 8 * 50)));
    bench.unlock(holder, m);
    assert_eq!((task.class.get(), task.dl.is_boosted()), (Class::Fair, false));
    assert_eq!((bench.lab.running(0), bench.owner(m)), (hog, Some(waiter)));
    // No bandwidth of the waiter was counted for the holder.
    let own = bench.lab.k.task(waiter).dl.bw();
    assert_eq!(bench.lab.k.dl_cpus.this_bw(crate::CpuId(0)), 0);
    assert_eq!(bench.lab.k.root_domain(crate::CpuId(0)).dl.total_bw(), own);
}

/// A throttled holder goes on; one whose own deadline is earlier keeps its own parameters.
#[test]
fn a_deadline_holder_borrows_from_an_earlier_one_only() {
    let bench = Bench::sleeping(2, &["sched_rt_runtime_us=-1"]);
    let m = bench.pi();
    let holder = bench.lab.spawn_allowed(deadline(10, 100, 100), 0, cpus(&[0]));
    assert!(bench.lock(holder, m));
    bench.lab.pass_until(ms(10));
    bench.lab.tick(0);
    assert!(bench.lab.idle(0));
    let late = bench.lab.spawn_allowed(deadline(5, 200, 200), 1, cpus(&[1]));
    assert!(!bench.lock(late, m));
    let e = &bench.lab.k.task(holder).dl;
    assert_eq!((e.is_boosted(), e.is_throttled()), (false, true));
    let early = bench.lab.spawn_allowed(deadline(5, 50, 50), 1, cpus(&[1]));
    assert!(!bench.lock(early, m));
    assert_eq!((e.is_boosted(), e.is_throttled(), bench.lab.running(0)), (true, false, holder));
    // The donor's period is added to its own deadline.
    assert_eq!((e.runtime_ns(), e.deadline()), (5_000_000, ms(150)));
    bench.unlock(holder, m);
    assert_eq!((e.is_boosted(), bench.owner(m)), (false, Some(early)));
}

/// Deadline waiters before real-time ones, among them by deadline.
#[test]
fn the_earliest_waiter_gets_the_mutex() {
    let bench = Bench::sleeping(4, &["sched_rt_runtime_us=-1"]);
    let m = bench.pi();
    let holder = bench.lab.spawn_allowed(fifo(1), 0, cpus(&[0]));
    assert!(bench.lock(holder, m));
    let waiters = [fifo(99), deadline(5, 100, 100), deadline(5, 50, 50)];
    let mut cpu = 1..;
    let [_, _, early] = waiters.map(|policy| {
        let cpu = cpu.next().expect("endless");
        let p = bench.lab.spawn_allowed(policy, cpu, cpus(&[cpu]));
        assert!(!bench.lock(p, m));
        p
    });
    assert_eq!(bench.lab.k.task(holder).dl.deadline(), ms(50));
    bench.unlock(holder, m);
    assert_eq!(bench.owner(m), Some(early));
}
