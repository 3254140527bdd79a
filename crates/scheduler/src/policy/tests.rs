//! rt-class 2.1, 5.1, 7.3; E19, E20; fair-class 2.6.

use super::set_user_nice;
use crate::affinity::set_cpus_allowed;
use crate::fork::{NewTask, new_task, sched_fork, wake_up_new_task, wake_up_new_task_on};
use crate::mutex::{FastPath, LockOutcome, MutexKind, lock_fast, lock_slow, unlock_fast, unlock_slow};
use crate::testing::sched_setscheduler;
use crate::testing::{Lab, cpus, fifo, rr};
use crate::{Class, CpuId, CpuMask, Nanos, Nice, Pid, Policy, Prio, Reason, TaskId};
use alloc::vec::Vec;

fn set(lab: &Lab, p: TaskId, policy: Policy) {
    lab.run(sched_setscheduler(lab.cpu(0), p, policy));
}

/// The RT tasks of a CPU in the order in which they would run.
fn queued(lab: &Lab, cpu: u16) -> Vec<TaskId> {
    let rq = lab.k.rq(CpuId(cpu)).inspect().expect("no lock is held");
    rq.rt.queued(&lab.k.tasks).collect()
}

fn highest(lab: &Lab, cpu: u16) -> Prio {
    lab.k.rq(CpuId(cpu)).published.rt_highest.get()
}

/// CPU 0 with a running task at 90, and behind it pinned tasks at these priorities.
fn waiting<const N: usize>(settings: &[&str], priorities: [u8; N]) -> (Lab, TaskId, [TaskId; N]) {
    let lab = Lab::new(2, "6.1.y", settings);
    let running = lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
    let tasks = priorities.map(|p| lab.spawn_allowed(fifo(p), 0, cpus(&[0])));
    (lab, running, tasks)
}

#[test]
fn raised_goes_behind_its_new_equals() {
    let (lab, running, [a, b, raised]) = waiting(&[], [50, 50, 40]);
    set(&lab, raised, fifo(50));
    assert_eq!(queued(&lab, 0), [running, a, b, raised]);
}

#[test]
fn lowered_goes_before_its_new_equals() {
    let (lab, running, [a, b, lowered]) = waiting(&[], [50, 50, 60]);
    set(&lab, lowered, fifo(50));
    assert_eq!(queued(&lab, 0), [running, lowered, a, b]);
}

#[test]
fn lowered_goes_behind_them_under_setscheduler_place_tail() {
    let (lab, running, [a, b, lowered]) = waiting(&["setscheduler_place=tail"], [50, 50, 60]);
    set(&lab, lowered, fifo(50));
    assert_eq!(queued(&lab, 0), [running, a, b, lowered]);
}

#[test]
fn the_same_priority_under_another_policy_keeps_its_place() {
    let (lab, running, [a, changed, b]) = waiting(&[], [50, 50, 50]);
    set(&lab, changed, rr(50));
    assert_eq!(queued(&lab, 0), [running, a, changed, b]);
    assert_eq!(lab.k.task(changed).policy.get(), rr(50));
}

#[test]
fn a_boosted_task_keeps_its_place_and_remembers() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let m = lab.k.mutexes.create(MutexKind::Pi);
    let owner = lab.spawn_allowed(fifo(10), 0, cpus(&[0]));
    assert_eq!(lock_fast(lab.cpu(0), owner, m), FastPath::Done);
    let hog = lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
    let waiter = lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    assert_eq!(lab.run(lock_slow(lab.cpu(1), waiter, m)), Ok(LockOutcome::Sleep));
    let equal = lab.spawn_allowed(fifo(60), 0, cpus(&[0]));
    assert_eq!(queued(&lab, 0), [hog, owner, equal]);
    for policy in [fifo(30), rr(60), Policy::Normal] {
        set(&lab, owner, policy);
        assert_eq!(queued(&lab, 0), [hog, owner, equal]);
        assert_eq!(lab.k.task(owner).prio.get(), fifo(60).normal_prio(Nice::default()));
    }
    set(&lab, owner, fifo(70));
    set(&lab, owner, fifo(20));
    lab.block(0);
    assert_eq!(lab.running(0), owner);
    assert_eq!(unlock_fast(lab.cpu(0), owner, m), Ok(FastPath::EnterKernel));
    lab.run(unlock_slow(lab.cpu(0), owner, m));
    assert_eq!(lab.k.task(owner).prio.get(), fifo(20).normal_prio(Nice::default()));
}

#[test]
fn an_rt_task_only_remembers_its_nice_value() {
    let (lab, running, [a, b]) = waiting(&[], [50, 50]);
    let nice = Nice::new(-5).expect("a nice value");
    lab.run(set_user_nice(lab.cpu(1), a, nice));
    assert_eq!((queued(&lab, 0), lab.k.task(a).nice.get()), ([running, a, b].into(), nice));
    assert_eq!(lab.k.task(a).prio.get(), fifo(50).normal_prio(nice));
}

/// 7.3, running, up: at once visible to searches.
#[test]
fn the_running_task_rises_without_rescheduling() {
    let (lab, running, [_]) = waiting(&[], [50]);
    set(&lab, running, fifo(95));
    assert_eq!(highest(&lab, 0), fifo(95).normal_prio(Nice::default()));
    assert_eq!(lab.k.root_domain(CpuId(0)).rt.cpupri_level(CpuId(0)), 95);
    assert!(!lab.k.rq(CpuId(0)).published.is_asked());
}

/// 7.3, running, down: makes room for what is queued here.
#[test]
fn the_running_task_drops_below_a_waiting_one() {
    let (lab, running, [a]) = waiting(&[], [50]);
    set(&lab, running, fifo(60));
    assert!(!lab.k.rq(CpuId(0)).published.is_asked());
    set(&lab, running, fifo(40));
    assert_eq!(lab.count(Reason::PrioDropped), 1);
    lab.settle();
    assert_eq!(lab.running(0), a);
}

/// 7.3, running, down: pulls.
#[test]
fn the_running_task_drops_and_pulls() {
    let lab = Lab::new(2, "6.1.y", &["NO_RT_PUSH_IPI"]);
    let drops = lab.spawn_allowed(fifo(80), 0, cpus(&[0]));
    let hog = lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    let movable = lab.spawn(fifo(70), 1);
    assert_eq!((lab.running(0), lab.running(1), lab.cpu_of(movable)), (drops, hog, 1));
    set(&lab, drops, fifo(75));
    assert_eq!(lab.cpu_of(movable), 1);
    set(&lab, drops, fifo(10));
    lab.settle();
    assert_eq!((lab.running(0), lab.count(Reason::Pulled)), (movable, 1));
}

/// 7.3, queued: up past the running task reschedules its CPU, from afar with one interrupt.
#[test]
fn a_waiting_task_rises_above_the_running_one() {
    let (lab, _, [a]) = waiting(&[], [50]);
    lab.run(sched_setscheduler(lab.cpu(1), a, fifo(95)));
    assert_eq!(lab.count(Reason::PrioRaised), 1);
    assert_eq!(lab.k.platform.ipis.borrow().len(), 1);
    lab.settle();
    assert_eq!(lab.running(0), a);
}

/// E19: above what another CPU runs, but not above what runs here: nobody moves it.
#[test]
fn a_waiting_task_that_rises_is_not_pushed() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let hog = lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
    let low = lab.spawn_allowed(fifo(30), 1, cpus(&[1]));
    let p = lab.spawn_allowed(fifo(20), 0, CpuMask::ALL);
    assert_eq!(lab.cpu_of(p), 0);
    set(&lab, p, fifo(50));
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(0), lab.running(1)), (0, hog, low));
    // Until a CPU lowers.
    lab.block(1);
    assert_eq!(lab.running(1), p);
}

/// E20: the same for a pinned waiter whose affinity is widened.
#[test]
fn a_waiting_task_whose_affinity_widens_is_not_pushed() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let hog = lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
    let low = lab.spawn_allowed(fifo(30), 1, cpus(&[1]));
    let p = lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    let overloaded = || lab.k.rq(CpuId(0)).inspect().is_some_and(|rq| rq.rt.is_overloaded());
    assert!(!overloaded());
    lab.run(set_cpus_allowed(lab.cpu(1), p, CpuMask::ALL));
    lab.settle();
    assert!(overloaded());
    assert_eq!((lab.cpu_of(p), lab.running(0), lab.running(1)), (0, hog, low));
    lab.block(1);
    assert_eq!(lab.running(1), p);
}

#[test]
fn a_sleeping_task_changes_without_a_queue() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(fifo(50), 0);
    lab.block(0);
    set(&lab, p, Policy::Normal);
    assert_eq!((lab.k.task(p).class.get(), lab.k.task(p).prio.get()), (Class::Fair, Prio::NICE_0));
    set(&lab, p, rr(7));
    assert!(lab.idle(0));
    lab.wake(0, p);
    assert_eq!((lab.running(0), highest(&lab, 0)), (p, rr(7).normal_prio(Nice::default())));
}

#[test]
fn a_new_task_changes_before_it_first_runs() {
    for fork_path in ["fork_path=early", "fork_path=late"] {
        let lab = Lab::new(2, "6.1.y", &[fork_path]);
        let parent = lab.spawn(fifo(50), 0);
        let new = NewTask {
            pid: Pid(9),
            policy: Policy::Normal,
            nice: Nice::default(),
            cpus_allowed: CpuMask::single(CpuId(0)),
            kernel_thread: false,
            group: crate::GroupId::ROOT,
        };
        let child = new_task(&lab.k, new);
        lab.run(sched_fork(lab.cpu(0), child));
        set(&lab, child, fifo(60));
        assert_eq!(lab.running(0), parent);
        lab.run(wake_up_new_task(lab.cpu(0), child));
        lab.settle();
        assert_eq!(lab.running(0), child);
    }
}

fn nice(value: i8) -> Nice {
    Nice::new(value).expect("a nice value")
}

fn renice(lab: &Lab, p: TaskId, value: i8) {
    lab.run(set_user_nice(lab.cpu(0), p, nice(value)));
}

fn flagged(lab: &Lab, cpu: u16) -> bool {
    lab.k.rq(CpuId(cpu)).published.is_asked()
}

fn load(lab: &Lab, cpu: u16) -> u64 {
    lab.k.rq(CpuId(cpu)).published.load.get()
}

/// Whether a CPU is asked to reschedule when one of its two tasks gets another nice value. The waiting one is
/// so far left of the running one, in ms of virtual time.
fn asks_after_renice(profile: &str, waits: bool, value: i8, lead: u64) -> bool {
    let lab = Lab::new(1, profile, &[]);
    let tasks = [0, 1].map(|_| lab.spawn(Policy::Normal, 0));
    let runs = usize::from(lab.running(0) != tasks[0]);
    lab.advance(Nanos::from_millis(lead));
    renice(&lab, tasks[if waits { 1 - runs } else { runs }], value);
    assert_eq!(load(&lab, 0), 1024 + nice(value).weight());
    flagged(&lab, 0)
}

/// fair-class 2.6, renice.
#[test]
fn renice_reschedules_when_a_task_improves_or_the_running_one_worsens() {
    for profile in ["2.6.36", "4.4", "5.4"] {
        for (waits, value, reschedules) in
            [(true, -1, true), (true, 1, false), (false, -1, true), (false, 1, true)]
        {
            let asks = asks_after_renice(profile, waits, value, 0);
            assert_eq!(asks, reschedules, "{profile}: waits {waits}, to {value}");
        }
    }
}

/// fair-placement 3.4: a running task that improved goes on, a waiting one needs a lead of more than the
/// granularity, 1 ms divided by its weight.
#[test]
fn since_5_6_a_reniced_task_competes() {
    for profile in ["5.10", "6.1.y"] {
        for (waits, value, lead, reschedules) in [
            (false, -1, 0, false),
            (false, 1, 0, true),
            (true, -1, 0, false),
            (true, -1, 2, true),
            (true, 1, 2, true),
        ] {
            let asks = asks_after_renice(profile, waits, value, lead);
            assert_eq!(asks, reschedules, "{profile}: waits {waits}, to {value}, leads by {lead} ms");
        }
        let lab = Lab::new(1, profile, &[]);
        let p = lab.spawn(Policy::Normal, 0);
        renice(&lab, p, 5);
        assert!(!flagged(&lab, 0), "it is alone");
    }
}

/// fair-class 4.4, fair-placement 3.4: no placement; a new stint of a running task since 4.9.
#[test]
fn renice_keeps_virtual_time_and_up_to_4_8_the_stint() {
    for (profile, kept) in
        [("2.6.36", true), ("4.4", true), ("4.19", false), ("5.4", false), ("6.1.y", false)]
    {
        let lab = Lab::new(1, profile, &[]);
        for _ in 0..2 {
            lab.spawn(Policy::Normal, 0);
        }
        let p = lab.running(0);
        let task = lab.k.task(p);
        lab.advance(Nanos::from_micros(300));
        let ran = if kept { Nanos::from_micros(300) } else { Nanos::ZERO };
        renice(&lab, p, 5);
        assert_eq!(task.ran(), ran, "{profile}");
        let vruntime = task.se.vruntime.get();
        renice(&lab, p, -5);
        assert_eq!((task.se.vruntime.get(), task.ran()), (vruntime, ran), "{profile}");
    }
}

#[test]
fn policies_within_the_fair_class() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    for (policy, weight) in [(Policy::Idle, 3), (Policy::Batch, 1024), (Policy::Normal, 1024)] {
        set(&lab, p, policy);
        assert_eq!((load(&lab, 0), flagged(&lab, 0), lab.running(0)), (weight, false, p));
    }
}

/// 5.1: the last RT task of a CPU leaves the class: the CPU pulls.
#[test]
fn the_running_task_leaves_the_class_and_pulls() {
    let lab = Lab::new(2, "6.1.y", &["NO_RT_PUSH_IPI"]);
    let leaves = lab.spawn_allowed(fifo(80), 0, cpus(&[0]));
    lab.spawn_allowed(fifo(90), 1, cpus(&[1]));
    let movable = lab.spawn(fifo(70), 1);
    assert_eq!((lab.running(0), lab.cpu_of(movable)), (leaves, 1));
    set(&lab, leaves, Policy::Normal);
    lab.settle();
    assert_eq!((lab.running(0), lab.count(Reason::Pulled)), (movable, 1));
    lab.block(0);
    assert_eq!((lab.running(0), load(&lab, 0)), (leaves, 1024));
}

/// 5.1: it was not the last one: it makes room, nothing is pulled.
#[test]
fn the_running_task_leaves_the_class_in_company() {
    let (lab, leaves, [a]) = waiting(&["NO_RT_PUSH_IPI"], [50]);
    lab.forget();
    set(&lab, leaves, Policy::Normal);
    assert!(flagged(&lab, 0));
    lab.settle();
    assert_eq!(lab.running(0), a);
    lab.block(0);
    assert_eq!(lab.running(0), leaves);
}

/// 5.1: a waiting task enters the class on an overloaded CPU: it is pushed.
#[test]
fn a_waiting_task_enters_the_class_and_is_pushed() {
    for profile in ["6.1.y", "4.0"] {
        let lab = Lab::new(2, profile, &[]);
        let hog = lab.spawn_allowed(fifo(90), 0, cpus(&[0]));
        let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
        lab.run(set_cpus_allowed(lab.cpu(0), p, CpuMask::ALL));
        assert_eq!((lab.cpu_of(p), lab.running(0)), (0, hog));
        set(&lab, p, fifo(10));
        lab.settle();
        assert_eq!((lab.running(0), lab.running(1)), (hog, p), "{profile}");
    }
}

#[test]
fn a_waiting_task_enters_the_class_above_the_running_one() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let tasks = [0, 1].map(|_| lab.spawn(Policy::Normal, 0));
    let p = tasks[usize::from(lab.running(0) == tasks[0])];
    set(&lab, p, fifo(1));
    lab.settle();
    assert_eq!((lab.running(0), load(&lab, 0)), (p, 1024));
}

/// fair-class 4.4: while it is a real-time task, virtual time passes without it.
#[test]
fn a_task_keeps_its_distance_while_it_is_away() {
    let lab = Lab::new(1, "6.1.y", &[]);
    let p = lab.spawn(Policy::Normal, 0);
    let floor = |lab: &Lab| lab.k.rq(CpuId(0)).published.min_vruntime.get();
    let distance = |lab: &Lab| lab.k.task(p).se.vruntime.get().wrapping_sub(floor(lab));
    let before = distance(&lab);
    set(&lab, p, fifo(1));
    lab.block(0);
    let other = lab.spawn(Policy::Normal, 0);
    let start = floor(&lab);
    lab.advance(Nanos::from_millis(20));
    lab.tick(0);
    assert_eq!((lab.running(0), floor(&lab).wrapping_sub(start)), (other, 20_000_000));
    lab.wake(0, p);
    set(&lab, p, Policy::Normal);
    assert_eq!(distance(&lab), before);
}

/// Found by random runs: it took the floor of the CPU that it was created on along to another one.
#[test]
fn a_task_that_becomes_normal_before_its_first_wakeup_starts_at_the_floor() {
    let lab = Lab::new(2, "6.1.y", &[]);
    lab.spawn(Policy::Normal, 1);
    lab.advance(Nanos::from_millis(20));
    lab.tick(1);
    let p = new_task(
        &lab.k,
        NewTask {
            pid: Pid(9),
            policy: fifo(1),
            nice: Nice::default(),
            cpus_allowed: cpus(&[1]),
            kernel_thread: false,
            group: crate::GroupId::ROOT,
        },
    );
    set(&lab, p, Policy::Normal);
    lab.run(wake_up_new_task_on(lab.cpu(0), p, None));
    let floor = |cpu| lab.k.rq(CpuId(cpu)).published.min_vruntime.get();
    assert_ne!(floor(0), floor(1));
    assert_eq!(lab.k.task(p).se.vruntime.get(), floor(1));
}
