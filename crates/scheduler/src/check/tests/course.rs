//! Events that may not follow each other.

use super::{Watched, lab, two_normal, waiting};
use crate::class::{EnqueueKind, activate_task};
use crate::fork::{NewTask, new_task};
use crate::migrate::migrate_disable;
use crate::platform::{Ipi, Lock};
use crate::schedule::{Entry, sched_yield, schedule};
use crate::testing::{Lab, fifo};
use crate::{CpuId, CpuMask, Event, Nanos, Nice, Pid, Prio, Reason, SwitchState, TaskId, TaskState};
use alloc::vec;
use core::pin::pin;

/// A FIFO task that does not run yet.
fn new_fifo(lab: &Lab, priority: u8) -> TaskId {
    let new = NewTask {
        pid: Pid(77),
        policy: fifo(priority),
        nice: Nice::default(),
        cpus_allowed: CpuMask::first_n(lab.k.cpus()),
        kernel_thread: false,
        group: crate::GroupId::ROOT,
    };
    new_task(&lab.k, new)
}

/// It becomes runnable on CPU 0, and no push follows.
fn enqueue_without_push(lab: &Lab, p: TaskId) {
    lab.k.task(p).state.overwrite(TaskState::Running);
    activate_task(&mut lab.run(lab.cpu(0).lock(CpuId(0))), p, EnqueueKind::New);
}

#[test]
fn p2_a_push_that_is_skipped() {
    let lab = lab();
    lab.spawn(fifo(9), 0);
    let p = new_fifo(&lab, 5);
    let mut watched = Watched::new(&lab);
    assert_eq!(watched.alarms(), [""; 0]);
    enqueue_without_push(&lab, p);
    assert_eq!(watched.alarms(), ["rt-class P2"]);
}

/// CPUs 0 and 1 lower at the same time, and both pull from CPU 2. CPU 0 is quicker, which makes it
/// overloaded, but CPU 1 has passed it by already. What waits on CPU 0 was dropped from the pushable list:
/// nobody takes it to CPU 1.
#[test]
fn p2_excuses_a_dropped_task_behind_the_quicker_of_two_pulls() {
    let lab = Lab::new(3, "2.6.36", &["double_lock=fair"]);
    for (cpu, priority) in [(0, 90), (1, 80), (2, 95)] {
        lab.spawn(fifo(priority), cpu);
    }
    let (dropped, pulled) = (lab.spawn(fifo(5), 0), lab.spawn(fifo(7), 2));
    let (mut told, mut untold) = (Watched::new(&lab), Watched::new(&lab));
    assert_eq!((told.alarms(), untold.alarms()), (vec![], vec![]));
    for cpu in [0, 1] {
        lab.k.task(lab.running(cpu)).state.overwrite(TaskState::Interruptible);
    }
    let mut quicker = pin!(schedule(lab.cpu(0), Entry::Call));
    let mut slower = pin!(schedule(lab.cpu(1), Entry::Call));
    let before_cpu_2 = |lock| lock == Lock::Rq(CpuId(2));
    assert!(lab.run_up_to(before_cpu_2, quicker.as_mut()).is_err());
    assert!(lab.run_up_to(before_cpu_2, slower.as_mut()).is_err());
    lab.run(quicker);
    lab.run(slower);
    lab.settle();
    assert_eq!((lab.running(0), lab.cpu_of(dropped), lab.idle(1)), (pulled, 0, true));
    told.tell_best_run(Event::Decision { task: pulled, reason: Reason::Pulled });
    // Neither was told of the switches (P15).
    assert_eq!(untold.alarms(), ["rt-class P15", "rt-class P15", "rt-class P2"]);
    assert_eq!(told.alarms(), ["rt-class P15", "rt-class P15"]);
}

#[test]
fn p2_is_not_excused_by_a_pull_that_leaves_nobody_behind() {
    let lab = Lab::new(2, "2.6.36", &[]);
    let runs = lab.spawn(fifo(9), 0);
    let p = new_fifo(&lab, 5);
    let mut watched = Watched::new(&lab);
    watched.tell_best_run(Event::Decision { task: runs, reason: Reason::Pulled });
    enqueue_without_push(&lab, p);
    assert_eq!(watched.alarms(), ["rt-class P2"]);
}

#[test]
fn p8_a_wakeup_that_never_began_or_begins_twice() {
    let (lab, p) = waiting(5);
    let mut watched = Watched::new(&lab);
    let (waking, wakeup) =
        (Event::Waking { task: p, target: CpuId(0) }, Event::Wakeup { task: p, target: CpuId(0) });
    watched.tell(waking);
    watched.tell(wakeup);
    assert_eq!(watched.alarms(), [""; 0]);
    watched.tell(wakeup);
    assert_eq!(watched.alarms(), ["rt-class P8"]);
    watched.tell(waking);
    watched.tell(waking);
    assert_eq!(watched.alarms(), ["rt-class P8"]);
}

#[test]
fn p9_an_equal_that_overtakes() {
    let lab = Lab::new(1, "6.1.y", &[]);
    for _ in 0..3 {
        lab.spawn(fifo(5), 0);
    }
    let mut watched = Watched::new(&lab);
    assert_eq!(watched.alarms(), [""; 0]);
    // Nobody told that the running task yielded.
    lab.run(sched_yield(lab.cpu(0)));
    assert!(watched.alarms().contains(&"rt-class P9"));
}

/// Found by random runs, with locks so dear that somebody looked in between.
#[test]
fn p9_excuses_a_running_task_that_has_yielded_and_not_left_yet() {
    let lab = Lab::new(1, "6.1.y", &[]);
    for _ in 0..2 {
        lab.spawn(fifo(5), 0);
    }
    let mut watched = Watched::new(&lab);
    assert_eq!(watched.alarms(), [""; 0]);
    let mut yields = pin!(sched_yield(lab.cpu(0)));
    let queues = |lock| lock == Lock::Rq(CpuId(0));
    assert!(lab.run_up_to(queues, yields.as_mut()).is_err(), "before it moves");
    assert!(lab.run_up_to(queues, yields.as_mut()).is_err(), "before schedule()");
    assert_eq!(watched.alarms(), [""; 0]);
}

#[test]
fn p11_and_p12_moves_that_help_nobody() {
    let (lab, p) = waiting(5);
    let mut watched = Watched::new(&lab);
    let migrate = Event::Migrate { task: p, orig: CpuId(0), dest: CpuId(1) };
    watched.tell(migrate);
    watched.tell(Event::Decision { task: p, reason: Reason::Pushed });
    assert_eq!(
        watched.alarms(),
        ["rt-class P11", "rt-class P16"],
        "CPU 1 runs something better, and the counter did not move"
    );
    lab.k.task(p).prio.overwrite(Prio(0));
    lab.k.task(p).stats.nr_migrations.set(1);
    watched.tell(migrate);
    watched.tell(Event::Decision { task: p, reason: Reason::Pulled });
    assert_eq!(watched.alarms().first(), Some(&"rt-class P12"), "it beats the task that runs where it was");
}

#[test]
fn mi6_a_task_that_may_not_migrate_does() {
    let (lab, runs, _) = two_normal();
    let mut watched = Watched::new(&lab);
    let migrate = Event::Migrate { task: runs, orig: CpuId(0), dest: CpuId(0) };
    watched.tell(migrate);
    assert!(!watched.alarms().contains(&"machine.md MI6"));
    migrate_disable(lab.cpu(0));
    watched.tell(migrate);
    assert!(watched.alarms().contains(&"machine.md MI6"));
}

#[test]
fn p14_two_walkers_at_once() {
    let lab = Lab::new(2, "6.1-rt", &[]);
    let mut watched = Watched::new(&lab);
    watched.checker.ipi_sent(CpuId(1), Ipi::Push(CpuId(0)));
    assert_eq!(watched.alarms(), [""; 0]);
    watched.checker.ipi_sent(CpuId(0), Ipi::Push(CpuId(1)));
    assert_eq!(watched.alarms(), ["rt-class P14"]);
}

#[test]
fn p15_p16_and_i11_counters_that_do_not_count() {
    let (lab, runs, waits) = two_normal();
    let mut watched = Watched::new(&lab);
    watched.tell(Event::Switch { prev: runs, prev_state: SwitchState::Preempted, next: waits });
    assert!(watched.alarms().contains(&"rt-class P15"));
    watched.tell(Event::Migrate { task: waits, orig: CpuId(0), dest: CpuId(0) });
    assert!(watched.alarms().contains(&"rt-class P16"));
    watched.tell(Event::StatRuntime { task: runs, runtime: Nanos(5), vruntime: 5 });
    assert!(watched.alarms().contains(&"fair-class I11"));
}

#[test]
fn i4_and_i7_virtual_time_that_goes_back() {
    let (lab, ..) = two_normal();
    lab.block(0);
    let sleeps = lab.block(0);
    let mut watched = Watched::new(&lab);
    assert_eq!(watched.alarms(), [""; 0]);
    let (floor, own) = (&lab.k.rq(CpuId(0)).published.min_vruntime, &lab.k.task(sleeps).se.vruntime);
    floor.overwrite(floor.get() - 1);
    own.overwrite(own.get() - 1);
    assert_eq!(watched.alarms(), ["fair-class I4", "fair-class I7"]);
}

#[test]
fn i8_i9_and_i10_tasks_that_enter_in_the_wrong_place() {
    let (lab, runs, _) = two_normal();
    let mut watched = Watched::new(&lab);
    let se = &lab.k.task(runs).se;
    se.vruntime.set(se.vruntime.get().wrapping_sub(3_000_001));
    watched.tell(Event::Waking { task: runs, target: CpuId(0) });
    watched.tell(Event::Wakeup { task: runs, target: CpuId(0) });
    assert!(watched.alarms().starts_with(&["fair-class I8"]));
    watched.tell(Event::WakeupNew { task: runs, target: CpuId(0) });
    assert!(watched.alarms().starts_with(&["fair-class I9"]));
    se.penalty.set(1);
    watched.tell(Event::Switch { prev: runs, prev_state: SwitchState::Interruptible, next: TaskId(0) });
    assert!(watched.alarms().contains(&"fair-class I10"));
}
