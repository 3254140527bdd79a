//! A machine at rest in which something does not fit.

use super::{lab, state_alarms, two_normal, waiting};
use crate::fair::EntityId;
use crate::mutex::{FastPath, LockOutcome, MutexKind, OwnerSeen, lock_fast, lock_slow, spin_on_owner};
use crate::rq::Resched;
use crate::testing::{Lab, cpus, fifo};
use crate::{CpuId, Policy, Prio, TaskState};

#[test]
fn p1_a_lost_reschedule() {
    let lab = lab();
    lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.spawn_unsettled(fifo(9), 0, 0, cpus(&[0]));
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::No);
    assert_eq!(state_alarms(&lab), ["rt-class P1"]);
}

/// A fair task is reniced while its server stands for it: in 6.12 the server stops and starts anew, and
/// nobody asks it to make room. Found by random runs.
#[test]
fn p1_excuses_a_fair_task_whose_server_has_stopped() {
    for (profile, alarms) in [("6.12", [].as_slice()), ("6.18", ["rt-class P1"].as_slice())] {
        let lab = Lab::new(1, profile, &[]);
        lab.spawn(Policy::Normal, 0);
        lab.spawn_unsettled(fifo(9), 0, 0, cpus(&[0]));
        lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::No);
        assert_eq!(state_alarms(&lab), alarms, "{profile}");
    }
}

#[test]
fn i12_a_cpu_that_idles_with_work() {
    let lab = lab();
    lab.spawn_unsettled(Policy::Normal, 0, 0, cpus(&[0]));
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::No);
    assert_eq!(state_alarms(&lab), ["fair-class I12"]);
}

/// In a kernel that never preempts lazily; and at an idle CPU.
#[test]
fn e17_a_lazy_request_that_nobody_can_have_made() {
    let lab = lab();
    lab.spawn(Policy::Normal, 0);
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Lazy);
    assert_eq!(state_alarms(&lab), ["eevdf-class E17"]);
    let lab = Lab::new(1, "7.0", &[]);
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Lazy);
    assert_eq!(state_alarms(&lab), ["eevdf-class E17"]);
    lab.spawn(Policy::Normal, 0);
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Lazy);
    assert!(state_alarms(&lab).is_empty());
}

#[test]
fn p3_a_task_outside_its_affinity() {
    let lab = lab();
    let p = lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.k.task(p).cpus_allowed.overwrite(cpus(&[1]));
    assert_eq!(state_alarms(&lab), ["rt-class P3"]);
}

#[test]
fn p4_a_published_value_that_is_not_the_protected_one() {
    let (lab, _) = waiting(5);
    lab.k.rq(CpuId(0)).published.rt_highest.overwrite(Prio(50));
    assert_eq!(state_alarms(&lab), ["rt-class P4"]);
}

#[test]
fn p4_and_p5_a_task_that_is_pinned_in_passing() {
    let (lab, p) = waiting(5);
    lab.k.task(p).cpus_allowed.overwrite(cpus(&[0]));
    lab.k.task(p).nr_cpus_allowed.overwrite(1);
    let alarms = state_alarms(&lab);
    assert!(alarms.contains(&"rt-class P4") && alarms.contains(&"rt-class P5"), "{alarms:?}");
}

#[test]
fn p6_an_overload_that_nobody_told_of() {
    let lab = lab();
    for priority in [5, 6] {
        lab.spawn_allowed(fifo(priority), 0, cpus(&[0]));
    }
    // By the other rule, which this past does not know to be new, two pinned tasks are overload.
    lab.k.config.set("overload_rule=depth").expect("legal");
    assert_eq!(state_alarms(&lab), ["rt-class P6"]);
}

#[test]
fn p7_a_cpu_at_the_wrong_level() {
    let (lab, _) = waiting(5);
    lab.k.root_domain(CpuId(0)).rt.misplace_in_cpupri(lab.cpu(0), Prio(50));
    assert_eq!(state_alarms(&lab), ["rt-class P7"]);
}

#[test]
fn p8_and_p10_wakeups_that_nobody_finishes() {
    let lab = lab();
    let p = lab.spawn(fifo(5), 0);
    lab.block(0);
    lab.k.task(p).state.overwrite(TaskState::Waking);
    assert_eq!(state_alarms(&lab), ["rt-class P8"]);
    lab.k.task(p).state.overwrite(TaskState::Running);
    assert_eq!(state_alarms(&lab), ["rt-class P10"]);
}

#[test]
fn p13_a_boost_that_nobody_lends() {
    let lab = lab();
    let p = lab.spawn(fifo(5), 0);
    lab.block(0);
    lab.k.task(p).prio.overwrite(Prio(3));
    assert_eq!(state_alarms(&lab), ["rt-class P13"]);
}

#[test]
fn mi4_a_spinner_that_nobody_tells_of_the_unlock() {
    let lab = lab();
    let m = lab.k.mutexes.create(MutexKind::Pi);
    let [owner, waiter] = [0, 1].map(|cpu| lab.spawn_allowed(fifo(5), cpu, cpus(&[cpu])));
    assert_eq!(lock_fast(lab.cpu(0), owner, m), FastPath::Done);
    assert_eq!(lab.run(lock_slow(lab.cpu(1), waiter, m)), Ok(LockOutcome::Spin));
    assert_eq!(spin_on_owner(lab.cpu(1), waiter, m), OwnerSeen::Runs);
    assert_eq!(state_alarms(&lab), [""; 0]);
    lab.k.task(owner).on_cpu.overwrite(false);
    assert_eq!(state_alarms(&lab), ["rt-class P10", "machine.md MI4", "rt-class P10"]);
}

#[test]
fn p18_a_walker_whose_interrupt_is_lost() {
    let lab = Lab::new(2, "6.1-rt", &[]);
    lab.spawn(fifo(90), 0);
    lab.spawn(fifo(90), 1);
    lab.spawn(fifo(5), 0);
    lab.block_unsettled(1);
    assert!(lab.take_ipi(CpuId(0)).is_some());
    assert_eq!(state_alarms(&lab), ["rt-class P18"]);
}

#[test]
fn i1_and_i2_a_weight_that_does_not_add_up() {
    let (lab, _, waits) = two_normal();
    lab.k.task(waits).se.set_weight(15);
    assert_eq!(state_alarms(&lab), ["fair-class I1", "fair-class I1", "fair-class I2"]);
}

#[test]
fn i3_a_virtual_time_that_changes_in_the_timeline() {
    let (lab, _, waits) = two_normal();
    let vruntime = &lab.k.task(waits).se.vruntime;
    vruntime.set(vruntime.get() + 1);
    assert_eq!(state_alarms(&lab), ["fair-class I3"]);
}

#[test]
fn i5_a_task_far_left_of_the_floor() {
    let (lab, runs, _) = two_normal();
    let vruntime = &lab.k.task(runs).se.vruntime;
    vruntime.set(vruntime.get().wrapping_sub(3_000_001));
    assert_eq!(state_alarms(&lab), ["fair-class I5"]);
}

#[test]
fn i6_a_buddy_that_sleeps() {
    let (lab, ..) = two_normal();
    let sleeps = lab.block(0);
    lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies.next = Some(EntityId::of(sleeps));
    assert_eq!(state_alarms(&lab), ["fair-class I6"]);
}

#[test]
fn i10_a_penalty_beyond_eight() {
    let (lab, runs, _) = two_normal();
    lab.k.task(runs).se.penalty.set(9);
    assert_eq!(state_alarms(&lab), ["fair-class I10"]);
}

#[test]
fn a_lock_that_nobody_gives_back() {
    let lab = lab();
    let _held = lab.run(lab.cpu(0).lock(CpuId(0)));
    assert_eq!(state_alarms(&lab), ["lock"]);
}
