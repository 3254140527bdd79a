//! Mutexes with priority inheritance.

use super::super::overrides::apply;
use super::super::{Changed, Override, ReadOptions, RecordedLocks, Recording, Replay, TaskSelector};
use super::play::Run;
use super::{programs, trace};

/// Three priorities on one CPU: l has what h asks for at 110 µs, and works on for 500 µs with h's priority,
/// although m, between them, has 5 ms to do since 300 µs.
const INHERITANCE: &str = "0    0 idle R l/97
                           100  0 irq@l/97 wakes h/94
                           100  0 l/97 R h/94
                           110  0 h/94 lends l/97 94
                           110  0 h/94 S l/94
                           300  0 irq@l/94 wakes m/95
                           610  0 l/94 inherits 97
                           610  0 l/97 wakes h/94
                           610  0 l/97 R h/94
                           710  0 h/94 S m/95
                           5710 0 m/95 S l/97
                           5730 0 l/97 S idle";

#[test]
fn a_mutex_shows_in_who_lends_a_priority_and_who_is_woken() {
    let recording = Recording::extract_with(&trace(INHERITANCE), RecordedLocks::Inferred);
    assert_eq!(
        programs(&recording),
        [
            "l runnable on 0: lock 0, 100, irq, 190, irq, 310, unlock 0, 20, sleep on",
            "h asleep: sleep till irq at 100, 10, lock 0, 100, unlock 0, sleep on",
            "m asleep: sleep till irq at 300, 5000, sleep on",
        ]
    );
    assert_eq!((recording.counts.handed_over, recording.objects.mutexes.len()), (1, 1));
    let as_recorded = Recording::extract(&trace(INHERITANCE));
    assert_eq!((as_recorded.counts.handed_over, as_recorded.objects.mutexes.len()), (0, 0));
    // A file keeps them.
    let read = Recording::from_text(&recording.to_text(crate::replay::Origin::default()))
        .expect("our own text")
        .recording;
    assert_eq!(programs(&read), programs(&recording));
}

#[test]
fn an_inferred_mutex_boosts_its_owner() {
    let woken = |locks| {
        let options = ReadOptions { locks, ..ReadOptions::default() };
        Run::of(&Replay::read(trace(INHERITANCE), options), 1).wakeups("h")
    };
    let [first, second] = woken(RecordedLocks::Inferred)[..] else { panic!("it slept twice") };
    assert!(first == 100 && (600..=620).contains(&second), "{second}");
    let [first, second] = woken(RecordedLocks::Recorded)[..] else { panic!("it slept twice") };
    assert!(first == 100 && (600..=620).contains(&second), "lent as recorded: {second}");
}

#[test]
fn what_was_lent_is_lent_again_and_given_back() {
    let recording = Recording::extract(&trace(INHERITANCE));
    assert_eq!(
        programs(&recording),
        [
            "l runnable on 0: 100, irq, 190, irq, 310, give back 97, wake h too, 20, sleep on",
            "h asleep: sleep till irq at 100, 10, lend l 94, sleep, 100, sleep on",
            "m asleep: sleep till irq at 300, 5000, sleep on",
        ]
    );
    let read = Recording::from_text(&recording.to_text(crate::replay::Origin::default()))
        .expect("our own text")
        .recording;
    assert_eq!(programs(&read), programs(&recording));
}

#[test]
fn who_outranks_its_waker_and_lent_it_nothing_did_not_wait_for_a_mutex() {
    // As before; then l tells h of something.
    let script = format!(
        "{INHERITANCE}
         6000 0 irq@idle wakes l/97
         6000 0 idle R l/97
         6100 0 l/97 wakes h/94
         6100 0 l/97 R h/94
         6200 0 h/94 S l/97
         6300 0 l/97 S idle"
    );
    let recording = Recording::extract_with(&trace(&script), RecordedLocks::Inferred);
    assert_eq!(recording.counts.handed_over, 1);
    assert!(programs(&recording)[0].ends_with("100, wake h, 100, sleep on"), "{:?}", programs(&recording));
}

/// Two tasks on a CPU each that work under a mutex for 1 ms of every 3; the second comes first to it in every
/// third round, and in the rounds in which `both` says so both come at once.
fn rounds(both: impl Fn(u64) -> bool) -> String {
    let mut script = String::new();
    for n in 0..40 {
        let t = 3_000 * n;
        script += &format!("{t} 0 irq@idle wakes a/50\n{t} 0 idle R a/50\n");
        if both(n) {
            script += &format!(
                "{} 1 irq@idle wakes b/40\n{} 1 idle R b/40\n{} 1 b/40 lends a/50 40\n{} 1 b/40 S idle\n",
                t + 20,
                t + 20,
                t + 40,
                t + 41
            );
            script += &format!("{} 0 a/40 inherits 50\n{} 0 a/50 wakes b/40 on 1\n", t + 1_020, t + 1_020);
            script += &format!("{} 1 idle R b/40\n", t + 1_022);
            script += &format!("{} 0 a/50 S idle\n{} 1 b/40 S idle\n", t + 1_040, t + 2_040);
        } else {
            script += &format!("{} 0 a/50 S idle\n", t + 1_040);
            script += &format!("{} 1 irq@idle wakes b/40\n{} 1 idle R b/40\n", t + 1_500, t + 1_500);
            script += &format!("{} 1 b/40 S idle\n", t + 2_540);
        }
    }
    script
}

#[test]
fn what_is_taken_nearly_always_was_taken_when_nobody_waited_too() {
    let recording = Recording::extract_with(&trace(&rounds(|n| n % 4 != 0)), RecordedLocks::Inferred);
    assert_eq!((recording.counts.handed_over, recording.objects.mutexes.len()), (30, 1));
    for task in &recording.tasks {
        let locks = task.steps.iter().filter(|step| matches!(step, super::ReplayStep::Lock { .. })).count();
        assert_eq!(locks, 40, "{}", task.comm);
    }
    // Who seldom takes one has not taken one otherwise.
    let recording = Recording::extract_with(&trace(&rounds(|n| n % 10 == 0)), RecordedLocks::Inferred);
    assert_eq!((recording.counts.handed_over, recording.counts.uncontended), (4, 0));
}

#[test]
fn a_task_with_another_policy_borrows_nothing_of_its_old_one() {
    let recording = Recording::extract(&trace(INHERITANCE));
    let l = recording.tasks[0].pid;
    let policy = scheduler::RtPriority::new(10).map(scheduler::Policy::Fifo).expect("a priority");
    let change = Override { whom: TaskSelector::Pid(l.0), what: Changed::Policy(policy) };
    let programs = programs(&apply(&recording, &[change]));
    assert!(programs[0].starts_with("l runnable on 0: 100, irq, 190, irq, 310, wake h"), "{programs:?}");
    assert!(programs[1].starts_with("h asleep: sleep till irq at 100, 10, sleep"), "{programs:?}");
}

#[test]
fn a_mutex_is_handed_to_a_task_that_was_bound_to_another_cpu() {
    let script = "0   0 idle R a/50
                  10  0 a/50 wakes migration/0
                  20  0 a/50 D migration/0
                  25  0 migration/0 wakes a/50 on 1
                  30  0 migration/0 S b/60
                  40  1 idle R a/50
                  50  1 a/50 lends b/60 50
                  51  1 a/50 S idle
                  100 0 b/50 inherits 60
                  100 0 b/60 wakes a/50
                  101 0 b/60 R a/50
                  200 0 a/50 S b/60
                  300 0 b/60 S idle";
    let recording = Recording::extract_with(&trace(script), RecordedLocks::Inferred);
    let programs = programs(&recording);
    let a =
        "a runnable on 0: 10, wake migration/0, 10, bind to 1, 10, lock 0, unbind, 99, unlock 0, sleep on";
    assert_eq!(programs[0], a);
}

#[test]
fn who_unlocks_for_a_task_that_spins_wakes_others_in_other_calls() {
    let script = "0    0 idle R l/97
                  10   1 idle R h/94
                  20   1 h/94 lends l/97 94
                  500  0 l/94 inherits 97
                  500  0 l/97 wakes h/94 on 1
                  5000 0 l/97 wakes w/99
                  5100 0 l/97 S w/99
                  5200 0 w/99 S idle
                  5300 1 h/94 S idle";
    let recording = Recording::extract(&trace(script));
    assert!(
        programs(&recording)[0].ends_with("give back 97, 4500, wake w, 100, sleep on"),
        "{:?}",
        programs(&recording)
    );
}
