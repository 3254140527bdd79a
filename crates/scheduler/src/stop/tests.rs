//! The stopper as a thread (fair-placement 5.5).

use crate::affinity::set_cpus_allowed;
use crate::fork::sched_exec;
use crate::platform::Lock;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, Event, Policy, SwitchState, TaskId, TaskState};
use alloc::vec::Vec;

/// The switches of all CPUs since the lab was built: who left and how, and who came.
fn switches(lab: &Lab) -> Vec<(TaskId, SwitchState, TaskId)> {
    let events = lab.k.platform.events.borrow();
    let switches = events.iter().filter_map(|event| match *event {
        Event::Switch { prev, prev_state, next } => Some((prev, prev_state, next)),
        _ => None,
    });
    switches.collect()
}

fn involuntary(lab: &Lab, p: TaskId) -> u64 {
    lab.k.task(p).stats.nr_involuntary_switches.get()
}

#[test]
fn an_exec_is_moved_by_the_stopper_of_its_own_cpu_which_interrupts_it() {
    let lab = Lab::new(2, "6.1.y", &["TTWU_QUEUE"]);
    let stoppers = lab.with_stoppers();
    let p = lab.spawn(Policy::Normal, 0);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    assert_eq!(lab.running(0), p);
    lab.k.platform.events.borrow_mut().clear();
    lab.run(sched_exec(lab.cpu(0)));
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(1)), (1, p));
    let seen = switches(&lab);
    assert_eq!(seen[0], (p, SwitchState::Preempted, stoppers[0]), "{seen:?}");
    let left = seen.iter().filter(|(prev, ..)| *prev == stoppers[0]).count();
    assert_eq!((left, involuntary(&lab, p)), (1, 1), "two switches on the CPU, one of them against its will");
}

/// Another CPU narrows the affinity of a task that has just asked to be moved: of the two pieces of work the
/// first one is that of the exec, and its CPU is still allowed.
#[test]
fn an_exec_goes_where_it_was_to_go_though_it_may_not_stay_either() {
    let lab = Lab::new(4, "6.1.y", &["TTWU_QUEUE"]);
    lab.with_stoppers();
    let p = lab.spawn(Policy::Normal, 0);
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    for cpu in [1, 2] {
        lab.spawn_allowed(Policy::Normal, cpu, cpus(&[cpu]));
    }
    assert_eq!((lab.running(0), lab.idle(3)), (p, true));
    let mut looks = 0;
    lab.meanwhile(
        |lock| lock == Lock::Rq(CpuId(0)),
        sched_exec(lab.cpu(0)),
        |_| {
            looks += 1;
            // The stopper is awake and the task about to make room for it.
            if looks == 2 {
                assert_eq!(lab.running(0), p);
                lab.run(set_cpus_allowed(lab.cpu(2), p, cpus(&[1, 3])));
            }
        },
    );
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(3)), (3, p), "not where the affinity alone would have it");
}

#[test]
fn who_narrows_the_affinity_of_a_task_that_runs_elsewhere_sleeps_until_the_stopper_has_moved_it() {
    let lab = Lab::new(3, "6.1.y", &["NO_TTWU_QUEUE"]);
    let stoppers = lab.with_stoppers();
    let p = lab.spawn(fifo(5), 0);
    let caller = lab.spawn_allowed(fifo(5), 1, cpus(&[1]));
    assert_eq!((lab.running(0), lab.running(1)), (p, caller));
    lab.k.platform.events.borrow_mut().clear();
    lab.run(set_cpus_allowed(lab.cpu(1), p, cpus(&[2])));
    assert_eq!(lab.k.task(caller).state.get(), TaskState::Uninterruptible);
    assert!(lab.idle(1), "it has left its CPU");
    lab.settle();
    assert_eq!((lab.cpu_of(p), lab.running(2), lab.running(1)), (2, p, caller));
    let seen = switches(&lab);
    assert!(seen.contains(&(caller, SwitchState::Uninterruptible, TaskId(1))), "{seen:?}");
    assert!(seen.contains(&(p, SwitchState::Preempted, stoppers[0])), "{seen:?}");
}

#[test]
fn who_narrows_its_own_affinity_makes_room_for_the_stopper_and_does_not_sleep() {
    let lab = Lab::new(2, "6.1.y", &[]);
    let stoppers = lab.with_stoppers();
    let p = lab.spawn(fifo(5), 0);
    lab.k.platform.events.borrow_mut().clear();
    lab.run(set_cpus_allowed(lab.cpu(0), p, cpus(&[1])));
    lab.settle();
    assert_eq!(lab.running(1), p);
    assert_eq!(switches(&lab)[0], (p, SwitchState::Preempted, stoppers[0]));
    assert_eq!(lab.k.task(p).stats.nr_voluntary_switches.get(), 0);
}

#[test]
fn a_balancing_cpu_gets_the_running_task_by_the_stopper() {
    let lab = Lab::new(2, "6.1.y", &["NO_TTWU_QUEUE"]);
    let stoppers = lab.with_stoppers();
    let p = lab.spawn_unsettled(Policy::Normal, 0, 0, cpus(&[0, 1]));
    lab.settle();
    lab.k.rq(CpuId(0)).published.balance.ask(CpuId(1));
    lab.run(super::wake_up_stopper(lab.cpu(1), CpuId(0)));
    lab.settle();
    assert_eq!((lab.cpu_of(p), involuntary(&lab, p)), (1, 1));
    assert_eq!(lab.k.task(stoppers[0]).stats.nr_slices.get(), 1);
}

/// Above RT, never preempted (deadline-groups A1).
#[test]
fn a_stopper_goes_before_fifo_99_and_a_woken_one_does_not_preempt_it() {
    let lab = Lab::new(2, "6.1.y", &["NO_TTWU_QUEUE"]);
    let stoppers = lab.with_stoppers();
    let urgent = lab.spawn_allowed(fifo(99), 0, cpus(&[0]));
    let other = lab.spawn_allowed(fifo(99), 1, cpus(&[1]));
    lab.block(1);
    lab.run(super::wake_up_stopper(lab.cpu(1), CpuId(0)));
    let asked = || lab.k.rq(CpuId(0)).published.is_asked();
    assert!(asked(), "the stopper preempts {urgent:?}");
    lab.run(crate::schedule::schedule(lab.cpu(0), crate::schedule::Entry::Preemption));
    assert_eq!(lab.running(0), stoppers[0]);
    lab.run(set_cpus_allowed(lab.cpu(1), other, cpus(&[0])));
    lab.wake_unsettled(1, other);
    assert!(!asked(), "a woken task of priority 99 waits");
    lab.settle();
    assert_eq!(lab.running(0), urgent);
}
