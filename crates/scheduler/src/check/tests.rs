//! Canaries: one thing is broken on purpose, and the alarm with the right number must go off.

use super::{Checker, Past, violations};
use crate::class::{EnqueueKind, activate_task};
use crate::fair::{EntityId, Sums};
use crate::fork::{NewTask, new_task};
use crate::mutex::{FastPath, LockOutcome, MutexKind, OwnerSeen, lock_fast, lock_slow, spin_on_owner};
use crate::platform::{Ipi, Lock};
use crate::rq::Resched;
use crate::schedule::{Entry, sched_yield, schedule};
use crate::testing::{Lab, cpus, fifo};
use crate::{
    CpuId, CpuMask, Event, Nanos, Nice, Pid, Policy, Prio, Reason, SwitchState, TaskId, TaskState, ThisCpu,
};
use alloc::{vec, vec::Vec};
use core::pin::pin;

/// What the state checks find in a machine at rest.
fn state_alarms(lab: &Lab) -> Vec<&'static str> {
    violations(&lab.k, &lab.k.online, &Past::of(&lab.k)).iter().map(|v| v.invariant).collect()
}

fn lab() -> Lab {
    let lab = Lab::new(2, "6.1.y", &[]);
    assert_eq!(state_alarms(&lab), [""; 0]);
    lab
}

/// Two CPUs run FIFO 9, and this one waits on CPU 0.
fn waiting(priority: u8) -> (Lab, TaskId) {
    let lab = lab();
    lab.spawn(fifo(90), 0);
    lab.spawn(fifo(90), 1);
    let p = lab.spawn(fifo(priority), 0);
    assert!(lab.cpu_of(p) == 0 && lab.running(0) != p);
    (lab, p)
}

/// A normal task that runs on CPU 0 and one that waits there.
fn two_normal() -> (Lab, TaskId, TaskId) {
    let lab = Lab::new(1, "6.1.y", &[]);
    let pair = (lab.spawn(Policy::Normal, 0), lab.spawn(Policy::Normal, 0));
    (lab, pair.0, pair.1)
}

#[test]
fn p1_a_lost_reschedule() {
    let lab = lab();
    lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.spawn_unsettled(fifo(9), 0, 0, cpus(&[0]));
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::No);
    assert_eq!(state_alarms(&lab), ["P1"]);
}

/// A fair task is reniced while its server stands for it: in 6.12 the server stops and starts anew, and
/// nobody asks it to make room. Found by random runs.
#[test]
fn p1_excuses_a_fair_task_whose_server_has_stopped() {
    for (profile, alarms) in [("6.12", [].as_slice()), ("6.18", ["P1"].as_slice())] {
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
    assert_eq!(state_alarms(&lab), ["I12"]);
}

/// In a kernel that never preempts lazily; and at an idle CPU.
#[test]
fn e17_a_lazy_request_that_nobody_can_have_made() {
    let lab = lab();
    lab.spawn(Policy::Normal, 0);
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Lazy);
    assert_eq!(state_alarms(&lab), ["E17"]);
    let lab = Lab::new(1, "7.0", &[]);
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Lazy);
    assert_eq!(state_alarms(&lab), ["E17"]);
    lab.spawn(Policy::Normal, 0);
    lab.k.rq(CpuId(0)).published.resched.overwrite(Resched::Lazy);
    assert!(state_alarms(&lab).is_empty());
}

#[test]
fn p3_a_task_outside_its_affinity() {
    let lab = lab();
    let p = lab.spawn_allowed(fifo(5), 0, cpus(&[0]));
    lab.k.task(p).cpus_allowed.overwrite(cpus(&[1]));
    assert_eq!(state_alarms(&lab), ["P3"]);
}

#[test]
fn p4_a_published_value_that_is_not_the_protected_one() {
    let (lab, _) = waiting(5);
    lab.k.rq(CpuId(0)).published.rt_highest.overwrite(Prio(50));
    assert_eq!(state_alarms(&lab), ["P4"]);
}

#[test]
fn p4_and_p5_a_task_that_is_pinned_in_passing() {
    let (lab, p) = waiting(5);
    lab.k.task(p).cpus_allowed.overwrite(cpus(&[0]));
    lab.k.task(p).nr_cpus_allowed.overwrite(1);
    let alarms = state_alarms(&lab);
    assert!(alarms.contains(&"P4") && alarms.contains(&"P5"), "{alarms:?}");
}

#[test]
fn p6_an_overload_that_nobody_told_of() {
    let lab = lab();
    for priority in [5, 6] {
        lab.spawn_allowed(fifo(priority), 0, cpus(&[0]));
    }
    // By the other rule, which this past does not know to be new, two pinned tasks are overload.
    lab.k.config.set("overload_rule=depth").expect("legal");
    assert_eq!(state_alarms(&lab), ["P6"]);
}

#[test]
fn p7_a_cpu_at_the_wrong_level() {
    let (lab, _) = waiting(5);
    lab.k.root_domain.misplace_in_cpupri(lab.cpu(0), Prio(50));
    assert_eq!(state_alarms(&lab), ["P7"]);
}

#[test]
fn p8_and_p10_wakeups_that_nobody_finishes() {
    let lab = lab();
    let p = lab.spawn(fifo(5), 0);
    lab.block(0);
    lab.k.task(p).state.overwrite(TaskState::Waking);
    assert_eq!(state_alarms(&lab), ["P8"]);
    lab.k.task(p).state.overwrite(TaskState::Running);
    assert_eq!(state_alarms(&lab), ["P10"]);
}

#[test]
fn p13_a_boost_that_nobody_lends() {
    let lab = lab();
    let p = lab.spawn(fifo(5), 0);
    lab.block(0);
    lab.k.task(p).prio.overwrite(Prio(3));
    assert_eq!(state_alarms(&lab), ["P13"]);
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
    assert_eq!(state_alarms(&lab), ["P10", "MI4", "P10"]);
}

#[test]
fn p18_a_walker_whose_interrupt_is_lost() {
    let lab = Lab::new(2, "6.1-rt", &[]);
    lab.spawn(fifo(90), 0);
    lab.spawn(fifo(90), 1);
    lab.spawn(fifo(5), 0);
    lab.block_unsettled(1);
    assert!(lab.take_ipi(CpuId(0)).is_some());
    assert_eq!(state_alarms(&lab), ["P18"]);
}

#[test]
fn i1_and_i2_a_weight_that_does_not_add_up() {
    let (lab, _, waits) = two_normal();
    lab.k.task(waits).se.weight.set(15);
    assert_eq!(state_alarms(&lab), ["I1", "I1", "I2"]);
}

#[test]
fn i3_a_virtual_time_that_changes_in_the_timeline() {
    let (lab, _, waits) = two_normal();
    let vruntime = &lab.k.task(waits).se.vruntime;
    vruntime.set(vruntime.get() + 1);
    assert_eq!(state_alarms(&lab), ["I3"]);
}

#[test]
fn i5_a_task_far_left_of_the_floor() {
    let (lab, runs, _) = two_normal();
    let vruntime = &lab.k.task(runs).se.vruntime;
    vruntime.set(vruntime.get().wrapping_sub(3_000_001));
    assert_eq!(state_alarms(&lab), ["I5"]);
}

#[test]
fn i6_a_buddy_that_sleeps() {
    let (lab, ..) = two_normal();
    let sleeps = lab.block(0);
    lab.run(lab.cpu(0).lock(CpuId(0))).fair.buddies.next = Some(EntityId::of(sleeps));
    assert_eq!(state_alarms(&lab), ["I6"]);
}

#[test]
fn i10_a_penalty_beyond_eight() {
    let (lab, runs, _) = two_normal();
    lab.k.task(runs).se.penalty.set(9);
    assert_eq!(state_alarms(&lab), ["I10"]);
}

#[test]
fn a_lock_that_nobody_gives_back() {
    let lab = lab();
    let _held = lab.run(lab.cpu(0).lock(CpuId(0)));
    assert_eq!(state_alarms(&lab), ["lock"]);
}

/// A checker that has looked at a machine, and is told of nothing but what the test tells it.
struct Watched<'l> {
    lab: &'l Lab,
    checker: Checker,
}

impl<'l> Watched<'l> {
    fn new(lab: &'l Lab) -> Watched<'l> {
        let mut watched = Watched { lab, checker: Checker::new(&lab.k) };
        let _before_the_first_look = watched.alarms();
        watched
    }

    fn me(&self) -> ThisCpu<'l, crate::testing::TestPlatform> {
        self.lab.cpu(0)
    }

    fn tell(&mut self, event: Event) {
        self.checker.event(self.me(), event);
    }

    fn tell_best_run(&mut self, event: Event) {
        self.checker.best_run.event(&Past::of(&self.lab.k), self.me(), event);
    }

    fn alarms(&mut self) -> Vec<&'static str> {
        let first = self.checker.look(&self.lab.k, &self.lab.k.online);
        let rest = core::iter::from_fn(|| self.checker.found.first());
        first.into_iter().chain(rest).map(|v| v.invariant).collect()
    }
}

/// A FIFO task that does not run yet.
fn new_fifo(lab: &Lab, priority: u8) -> TaskId {
    let new = NewTask {
        pid: Pid(77),
        policy: fifo(priority),
        nice: Nice::default(),
        cpus_allowed: CpuMask::first_n(lab.k.cpus()),
        kernel_thread: false,
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
    assert_eq!(watched.alarms(), ["P2"]);
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
    assert_eq!(untold.alarms(), ["P15", "P15", "P2"]);
    assert_eq!(told.alarms(), ["P15", "P15"]);
}

#[test]
fn p2_is_not_excused_by_a_pull_that_leaves_nobody_behind() {
    let lab = Lab::new(2, "2.6.36", &[]);
    let runs = lab.spawn(fifo(9), 0);
    let p = new_fifo(&lab, 5);
    let mut watched = Watched::new(&lab);
    watched.tell_best_run(Event::Decision { task: runs, reason: Reason::Pulled });
    enqueue_without_push(&lab, p);
    assert_eq!(watched.alarms(), ["P2"]);
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
    assert_eq!(watched.alarms(), ["P8"]);
    watched.tell(waking);
    watched.tell(waking);
    assert_eq!(watched.alarms(), ["P8"]);
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
    assert!(watched.alarms().contains(&"P9"));
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
    assert_eq!(watched.alarms(), ["P11", "P16"], "CPU 1 runs something better, and the counter did not move");
    lab.k.task(p).prio.overwrite(Prio(0));
    lab.k.task(p).stats.nr_migrations.set(1);
    watched.tell(migrate);
    watched.tell(Event::Decision { task: p, reason: Reason::Pulled });
    assert_eq!(watched.alarms().first(), Some(&"P12"), "it beats the task that runs where it was");
}

#[test]
fn p14_two_walkers_at_once() {
    let lab = Lab::new(2, "6.1-rt", &[]);
    let mut watched = Watched::new(&lab);
    watched.checker.ipi_sent(CpuId(1), Ipi::Push(CpuId(0)));
    assert_eq!(watched.alarms(), [""; 0]);
    watched.checker.ipi_sent(CpuId(0), Ipi::Push(CpuId(1)));
    assert_eq!(watched.alarms(), ["P14"]);
}

#[test]
fn p15_p16_and_i11_counters_that_do_not_count() {
    let (lab, runs, waits) = two_normal();
    let mut watched = Watched::new(&lab);
    watched.tell(Event::Switch { prev: runs, prev_state: SwitchState::Preempted, next: waits });
    assert!(watched.alarms().contains(&"P15"));
    watched.tell(Event::Migrate { task: waits, orig: CpuId(0), dest: CpuId(0) });
    assert!(watched.alarms().contains(&"P16"));
    watched.tell(Event::StatRuntime { task: runs, runtime: Nanos(5), vruntime: 5 });
    assert!(watched.alarms().contains(&"I11"));
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
    assert_eq!(watched.alarms(), ["I4", "I7"]);
}

#[test]
fn i8_i9_and_i10_tasks_that_enter_in_the_wrong_place() {
    let (lab, runs, _) = two_normal();
    let mut watched = Watched::new(&lab);
    let se = &lab.k.task(runs).se;
    se.vruntime.set(se.vruntime.get().wrapping_sub(3_000_001));
    watched.tell(Event::Waking { task: runs, target: CpuId(0) });
    watched.tell(Event::Wakeup { task: runs, target: CpuId(0) });
    assert!(watched.alarms().starts_with(&["I8"]));
    watched.tell(Event::WakeupNew { task: runs, target: CpuId(0) });
    assert!(watched.alarms().starts_with(&["I9"]));
    se.penalty.set(1);
    watched.tell(Event::Switch { prev: runs, prev_state: SwitchState::Interruptible, next: TaskId(0) });
    assert!(watched.alarms().contains(&"I10"));
}

/// Two normal tasks on CPU 0 of two, under load tracking.
fn tracked() -> (Lab, TaskId) {
    let lab = Lab::new(2, "6.1.y", &["load_tracking=pelt", "UTIL_EST", "lb=group_type"]);
    let p = lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.spawn_allowed(Policy::Normal, 0, cpus(&[0]));
    lab.advance(Nanos::from_millis(20));
    lab.tick(0);
    assert_eq!(state_alarms(&lab), [""; 0]);
    (lab, p)
}

#[test]
fn fp1_time_that_has_not_passed() {
    let (lab, _) = tracked();
    let average = &lab.k.rq(CpuId(0)).published.pelt.average;
    average.last_update_time.overwrite(Nanos::from_secs(1));
    assert_eq!(state_alarms(&lab), ["FP1"]);
    average.last_update_time.overwrite(Nanos::from_millis(1));
    average.period_contrib.overwrite(1024);
    assert_eq!(state_alarms(&lab), ["FP1"]);
}

#[test]
fn fp2_a_task_that_ran_more_than_it_was_runnable() {
    let (lab, p) = tracked();
    let average = &lab.k.task(p).se.pelt.average;
    average.util_avg.overwrite(average.runnable_avg.get() + 2);
    assert_eq!(state_alarms(&lab), ["FP2"]);
}

#[test]
fn fp3_an_average_without_a_sum() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(0)).published.pelt.average.runnable_avg.overwrite(1_000_000);
    assert_eq!(state_alarms(&lab), ["FP3"]);
}

#[test]
fn fp5_an_estimate_of_nobody() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(0)).published.pelt.estimated.overwrite(7);
    assert_eq!(state_alarms(&lab), ["FP5"]);
}

#[test]
fn fp23_load_of_nobody() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(0)).published.pelt.queued_load.overwrite(7);
    assert_eq!(state_alarms(&lab), ["FP23"]);
}

#[test]
fn fp6_a_queued_task_that_no_queue_counts() {
    let (lab, p) = tracked();
    let rt = lab.spawn(fifo(1), 1);
    lab.k.task(p).se.pelt.attached.overwrite(false);
    assert_eq!(state_alarms(&lab), ["FP6"]);
    lab.k.task(rt).se.pelt.attached.overwrite(true);
    assert_eq!(state_alarms(&lab), ["FP6", "FP6"], "and a real-time task that one counts");
}

#[test]
fn fp13_an_interval_without_end() {
    let (lab, _) = tracked();
    lab.k.domains(CpuId(1))[0].balance.balance_interval_ms.overwrite(2048);
    assert_eq!(state_alarms(&lab), ["FP13"]);
}

#[test]
fn fp17_a_cache_that_lost_count() {
    let (lab, _) = tracked();
    lab.k.fair_root.miscount_idle(CpuId(0));
    assert_eq!(state_alarms(&lab), ["FP17"]);
}

#[test]
fn fp18_a_cpu_that_is_worth_nothing() {
    let (lab, _) = tracked();
    lab.k.rq(CpuId(1)).published.pelt.capacity.left.overwrite(0);
    assert_eq!(state_alarms(&lab), ["FP18"]);
}

/// Two normal tasks on CPU 0 under EEVDF, and which of them runs; a tick has charged it.
fn two_eevdf(profile: &str) -> (Lab, TaskId, TaskId) {
    let lab = Lab::new(1, profile, &[]);
    let pair = [lab.spawn(Policy::Normal, 0), lab.spawn(Policy::Normal, 0)];
    lab.advance(Nanos::from_micros(100));
    lab.tick(0);
    let runs = lab.running(0);
    let waits = if runs == pair[0] { pair[1] } else { pair[0] };
    assert_eq!(state_alarms(&lab), [""; 0]);
    (lab, runs, waits)
}

impl Watched<'_> {
    /// Whether this event, told now, raises this alarm.
    fn raises(&mut self, event: Event, invariant: &str) -> bool {
        self.tell(event);
        self.alarms().contains(&invariant)
    }
}

/// To whom CPU 0 is said to switch, from the idle task.
fn picks(lab: &Lab, next: TaskId) -> Event {
    Event::Switch { prev: lab.k.idle_task(CpuId(0)), prev_state: SwitchState::Runnable, next }
}

#[test]
fn e5_a_pick_of_one_that_is_not_owed_service_or_not_first() {
    let (lab, runs, waits) = two_eevdf("7.0");
    let mut watched = Watched::new(&lab);
    assert!(watched.raises(picks(&lab, runs), "E5"), "it has run, and is not eligible");
    assert!(!watched.raises(picks(&lab, waits), "E5"));
    // Both at the zero-lag point: the earlier deadline goes first, unless the other one is the buddy.
    let [ours, theirs] = [runs, waits].map(|p| &lab.k.task(p).se);
    ours.vruntime.set(theirs.vruntime.get());
    theirs.eevdf.deadline.set(ours.eevdf.deadline.get() + 1);
    assert!(!watched.raises(picks(&lab, runs), "E5"));
    assert!(watched.raises(picks(&lab, waits), "E5"));
    watched.tell(Event::Decision { task: waits, reason: Reason::BuddyNext });
    assert!(!watched.raises(picks(&lab, waits), "E5"));
}

#[test]
fn e5_one_that_stays_without_protection() {
    let (lab, runs, waits) = two_eevdf("7.0");
    let mut watched = Watched::new(&lab);
    let [ours, theirs] = [runs, waits].map(|p| &lab.k.task(p).se);
    let stays = Event::Decision { task: runs, reason: Reason::PickProtected };
    assert!(watched.raises(stays, "E5"), "it is not eligible");
    ours.vruntime.set(theirs.vruntime.get());
    ours.eevdf.vprot.set(ours.vruntime.get() + 1);
    assert!(!watched.raises(stays, "E5"));
    ours.eevdf.vprot.set(ours.vruntime.get());
    assert!(watched.raises(stays, "E5"), "its protection has ended");
}

#[test]
fn e8_a_lag_beyond_its_limit() {
    for profile in ["6.6", "7.0"] {
        let (lab, ..) = two_eevdf(profile);
        let sleeps = lab.block(0);
        // A sleeper that has not left keeps no lag yet.
        let p = if lab.k.task(sleeps).se.eevdf.on_rq.get() { lab.block(0) } else { sleeps };
        let mut watched = Watched::new(&lab);
        let state = SwitchState::Interruptible;
        let leaves = Event::Switch { prev: p, prev_state: state, next: lab.k.idle_task(CpuId(0)) };
        assert!(!watched.raises(leaves, "E8"));
        for lag in [1_000_000_000, -1_000_000_000] {
            lab.k.task(p).se.eevdf.vlag.set(lag);
            assert!(watched.raises(leaves, "E8"), "{profile}: {lag}");
        }
    }
}

#[test]
fn e8_a_debt_that_turned_into_a_claim() {
    let (lab, ..) = two_eevdf("7.0");
    let p = lab.block(0);
    let q = lab.block(0);
    let p = if lab.k.task(p).se.eevdf.on_rq.get() { q } else { p };
    let mut watched = Watched::new(&lab);
    let let_go = Event::Decision { task: p, reason: Reason::DelayedFinished };
    lab.k.task(p).se.eevdf.vlag.set(0);
    assert!(!watched.raises(let_go, "E8"));
    lab.k.task(p).se.eevdf.vlag.set(1);
    assert!(watched.raises(let_go, "E8"));
    lab.k.config.set("NO_DELAY_ZERO").expect("legal");
    assert!(!watched.raises(let_go, "E8"));
}

#[test]
fn e10_a_protection_beyond_the_request_or_that_grows() {
    // 6.18 also protects who comes back after a change, which begins a new stint.
    for profile in ["7.0", "6.18"] {
        protection_grows_or_is_too_long(profile);
    }
}

fn protection_grows_or_is_too_long(profile: &str) {
    let (lab, runs, _) = two_eevdf(profile);
    let mut watched = Watched::new(&lab);
    let kept = &lab.k.task(runs).se.eevdf;
    let until = kept.vprot.get();
    kept.vprot.set(until - 1);
    assert!(!watched.alarms().contains(&"E10"), "it may shrink");
    kept.vprot.set(until);
    assert_eq!(watched.alarms(), ["E10"]);
    kept.vprot.set(kept.deadline.get());
    watched.alarms();
    assert!(!watched.raises(picks(&lab, runs), "E10"));
    kept.vprot.set(kept.deadline.get() + 1);
    watched.alarms();
    assert!(watched.raises(picks(&lab, runs), "E10"));
}

#[test]
fn e11_one_that_enters_elsewhere_than_it_left() {
    let (lab, _, waits) = two_eevdf("7.0");
    let mut watched = Watched::new(&lab);
    let se = &lab.k.task(waits).se;
    let v = lab.k.rq(CpuId(0)).inspect().and_then(|rq| Sums::of(&lab.k.tasks, &rq.fair).zero_lag_point());
    let lag = v.expect("two compete").wrapping_sub(se.vruntime.get()) as i64;
    let enters = Event::WakeupNew { task: waits, target: CpuId(0) };
    se.eevdf.vlag.set(lag);
    assert!(!watched.raises(enters, "E11"));
    se.eevdf.vlag.set(lag + 4);
    assert!(watched.raises(enters, "E11"));
    watched.tell(Event::Decision { task: waits, reason: Reason::DelayedFinished });
    assert!(!watched.raises(enters, "E11"), "V has moved since");
}
