//! machine.md 1.5, M27 to M29.

use super::{migrate_disable, migrate_enable};
use crate::affinity::set_cpus_allowed;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuMask, Event, Policy, Reason, TaskId};
use alloc::vec::Vec;

/// CPU 1 runs FIFO 60. On CPU 0 a FIFO 50 may not migrate, and a FIFO 80 that may has preempted it.
fn preempted(settings: &[&str], who_runs: CpuMask) -> (Lab, TaskId, TaskId) {
    let lab = Lab::new(2, "6.1-rt", settings);
    lab.with_stoppers();
    lab.spawn_allowed(fifo(60), 1, cpus(&[1]));
    let held = lab.spawn_allowed(fifo(50), 0, CpuMask::ALL);
    assert_eq!(lab.running(0), held);
    migrate_disable(lab.cpu(0));
    let runs = lab.spawn_unsettled(fifo(80), 0, 0, cpus(&[0]));
    lab.settle();
    lab.run(set_cpus_allowed(lab.cpu(0), runs, who_runs));
    lab.settle();
    assert_eq!((lab.running(0), lab.cpu_of(held)), (runs, 0), "nothing was pushed");
    lab.k.platform.events.borrow_mut().clear();
    (lab, held, runs)
}

fn switches_on_0(lab: &Lab) -> Vec<(TaskId, TaskId)> {
    let events = lab.k.platform.events.borrow();
    let switch = |event: &Event| match *event {
        Event::Switch { prev, next, .. } => Some((prev, next)),
        _ => None,
    };
    events.iter().filter_map(switch).collect()
}

fn stopper(lab: &Lab, cpu: u16) -> TaskId {
    let thread = lab.k.rq(crate::CpuId(cpu)).stop.thread.get();
    thread.expect("there is one")
}

/// M27: CPU 1 lowers; asked to push, CPU 0 has its stopper move the task that runs, and the one that has to
/// stay goes on: B to migration/0 to A.
#[test]
fn m27_the_running_task_goes_so_that_the_one_with_the_lock_goes_on() {
    for walker in ["root_domain", "per_source"] {
        let (lab, held, runs) = preempted(&["RT_PUSH_IPI"], CpuMask::ALL);
        lab.k.config.set(&alloc::format!("push_ipi_walker={walker}")).expect("a legal setting");
        lab.block(1);
        assert_eq!((lab.running(0), lab.running(1)), (held, runs), "{walker}");
        let of_0 = stopper(&lab, 0);
        let seen: Vec<_> =
            switches_on_0(&lab).into_iter().filter(|(a, b)| [*a, *b].contains(&of_0)).collect();
        assert_eq!(seen, [(runs, of_0), (of_0, held)], "{walker}: two switches more");
        assert_eq!((lab.count(Reason::PushAway), lab.k.totals.pushes.get()), (1, 1), "{walker}");
        assert_eq!(lab.k.task(runs).stats.nr_migrations.get(), 1, "{walker}");
    }
}

/// M28: the task that runs is pinned.
#[test]
fn m28_nothing_happens_where_the_running_task_cannot_go() {
    for setting in ["RT_PUSH_IPI", "NO_RT_PUSH_IPI"] {
        let (lab, held, runs) = preempted(&[setting], cpus(&[0]));
        lab.block(1);
        assert_eq!((lab.running(0), lab.cpu_of(held)), (runs, 0), "{setting}");
        assert!(lab.idle(1), "{setting}");
        assert!(lab.count(Reason::PushAway) == 0 && lab.count(Reason::PushHeld) > 0, "{setting}");
    }
}

/// M29: with pull, CPU 1 asks the stopper of CPU 0 and picks what it has; the task arrives later.
#[test]
fn m29_a_pull_asks_the_stopper_of_the_source() {
    let (lab, held, runs) = preempted(&["NO_RT_PUSH_IPI"], CpuMask::ALL);
    lab.block_unsettled(1);
    assert!(lab.idle(1) && lab.running(0) == runs, "not yet");
    lab.settle();
    assert_eq!((lab.running(0), lab.running(1)), (held, runs));
    assert_eq!((lab.k.totals.pulls.get(), lab.count(Reason::PushAway)), (0, 1));
}

/// The same where migration is not disabled: the waiting task itself comes.
#[test]
fn without_it_the_one_that_waits_is_moved() {
    for setting in ["RT_PUSH_IPI", "NO_RT_PUSH_IPI"] {
        let (lab, held, runs) = preempted(&[setting], CpuMask::ALL);
        lab.k.task(held).migration.disabled.set(false);
        lab.block(1);
        assert_eq!((lab.running(0), lab.running(1)), (runs, held), "{setting}");
    }
}

/// The stopper comes for the task that runs when that has to stay itself: it goes once it may.
#[test]
fn a_task_that_was_to_go_goes_when_it_may() {
    let (lab, held, runs) = preempted(&["RT_PUSH_IPI"], CpuMask::ALL);
    lab.block_unsettled(1);
    // The interrupt asks for the task that runs; before the stopper has come, that takes a lock.
    let sent = lab.k.platform.ipis.borrow_mut().pop_front().expect("asked to push");
    lab.deliver(sent);
    lab.k.task(runs).migration.disabled.set(true);
    lab.settle();
    assert_eq!((lab.cpu_of(runs), lab.running(0)), (0, runs), "it stays");
    lab.run(migrate_enable(lab.cpu(0)));
    lab.settle();
    assert_eq!((lab.running(0), lab.running(1)), (held, runs));
}

/// A second candidate is not tried.
#[test]
fn what_waits_behind_it_stays_too() {
    let lab = Lab::new(2, "6.1-rt", &["NO_RT_PUSH_IPI"]);
    lab.with_stoppers();
    lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
    let held = lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
    migrate_disable(lab.cpu(0));
    lab.run(set_cpus_allowed(lab.cpu(0), held, CpuMask::ALL));
    lab.spawn_allowed(fifo(80), 0, cpus(&[0]));
    let behind = lab.spawn_unsettled(fifo(40), 0, 0, cpus(&[0]));
    lab.settle();
    lab.run(set_cpus_allowed(lab.cpu(0), behind, CpuMask::ALL));
    lab.settle();
    assert_eq!((lab.cpu_of(held), lab.cpu_of(behind)), (0, 0));
    assert!(lab.count(Reason::PushHeld) > 0);
}

#[test]
fn another_affinity_waits_until_it_may_leave() {
    let lab = Lab::new(2, "6.1-rt", &[]);
    lab.with_stoppers();
    let p = lab.spawn(Policy::Normal, 0);
    migrate_disable(lab.cpu(0));
    lab.run(set_cpus_allowed(lab.cpu(1), p, cpus(&[1])));
    lab.settle();
    assert_eq!(lab.running(0), p);
    lab.run(migrate_enable(lab.cpu(0)));
    lab.settle();
    assert_eq!((lab.running(1), lab.idle(0)), (p, true));
}

/// Balancing takes it for pinned, and a wakeup does not ask where it might go.
#[test]
fn neither_balancing_nor_a_wakeup_moves_it() {
    let lab = Lab::new(2, "6.1-rt", &[]);
    lab.with_stoppers();
    let p = lab.spawn(Policy::Normal, 0);
    migrate_disable(lab.cpu(0));
    let other = lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.tick(1);
    lab.settle();
    assert_eq!((lab.running(0), lab.cpu_of(p)), (other, 0));
    assert!(!lab.k.task(p).may_run_on(crate::CpuId(1)) && lab.k.task(p).is_allowed_on(crate::CpuId(1)));
    lab.block(0);
    lab.block(0);
    lab.spawn_allowed(fifo(7), 0, cpus(&[0]));
    lab.wake(1, p);
    assert_eq!(lab.cpu_of(p), 0, "CPU 1 is idle, and it waits here");
}
