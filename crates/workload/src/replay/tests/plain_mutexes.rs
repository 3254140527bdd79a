//! Plain mutexes, which show in who wakes whom.

use super::super::{RecordedLocks, Recording, ReplayStep};
use super::trace;
use crate::replay::Origin;
use scheduler::MutexId;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Three tasks of different priority, the first the most important.
const TASKS: [&str; 3] = ["a/50", "b/60", "c/70"];
/// All orders of three.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Who ends the sleeps that are for something else.
#[derive(Clone, Copy)]
enum Else {
    Timer,
    Dispatcher,
}

impl Else {
    fn wakes(self, script: &mut String, us: u64, cpu: u32, task: &str) {
        let waker = match self {
            Else::Timer => format!("{us} {cpu} irq@idle wakes {task}\n{us} {cpu} idle R {task}\n"),
            Else::Dispatcher => {
                format!("{} {cpu} idle R d\n{us} {cpu} d wakes {task}\n{us} {cpu} d R {task}\n", us - 1)
            }
        };
        script.push_str(&waker);
    }
}

/// Every 10 ms one of three takes a mutex on CPU 0 for 1 ms, the other two come 200 and 300 µs later on CPU
/// 1, wait, and have it for 1 ms each; `next` says which of these two is first.
fn rounds(orders: &[[usize; 3]], elsewhere: Else, next: fn(usize, usize) -> usize) -> String {
    let mut script = String::new();
    for n in 0..60 {
        let t = 10_000 * n as u64 + 10;
        let [owner, early, late] = orders[n % orders.len()];
        let second = next(early, late);
        let third = early + late - second;
        let [x, y, z] = [owner, second, third].map(|task| TASKS[task]);
        elsewhere.wakes(&mut script, t, 0, x);
        for (at, waits) in [(t + 200, early), (t + 300, late)] {
            elsewhere.wakes(&mut script, at, 1, TASKS[waits]);
            writeln!(script, "{} 1 {} S idle", at + 20, TASKS[waits]).expect("a string");
        }
        script += &format!(
            "{} 0 {x} wakes {y} on 1\n{} 1 idle R {y}\n{} 0 {x} S idle\n",
            t + 1000,
            t + 1002,
            t + 1010
        );
        script += &format!(
            "{} 1 {y} wakes {z} on 0\n{} 0 idle R {z}\n{} 1 {y} S idle\n",
            t + 2000,
            t + 2002,
            t + 2010
        );
        writeln!(script, "{} 0 {z} S idle", t + 3000).expect("a string");
    }
    script
}

fn more_important(one: usize, other: usize) -> usize {
    one.min(other)
}

fn mutexes(script: &str, locks: RecordedLocks) -> usize {
    Recording::extract_with(&trace(script), locks).objects.mutexes.len()
}

#[test]
fn tasks_that_all_meet_by_chance_and_queue_share_a_mutex() {
    let script = rounds(&ORDERS, Else::Timer, more_important);
    let recording = Recording::extract(&trace(&script));
    assert_eq!((recording.objects.mutexes.len(), recording.counts.handed_over), (1, 120));
    for task in &recording.tasks {
        let locks = task.steps.iter().filter(|step| matches!(step, ReplayStep::Lock { .. })).count();
        let wakes = task.steps.iter().filter(|step| matches!(step, ReplayStep::Wake { .. })).count();
        assert_eq!((locks, wakes), (60, 0), "{}", task.comm);
    }
    assert_eq!(mutexes(&script, RecordedLocks::Recorded), 0);
}

#[test]
fn messages_that_go_round_are_no_mutex() {
    let ring = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
    assert_eq!(mutexes(&rounds(&ring, Else::Timer, |early, _| early), RecordedLocks::Inferred), 0);
}

#[test]
fn workers_of_a_dispatcher_share_no_mutex() {
    let script = rounds(&ORDERS, Else::Dispatcher, more_important);
    assert_eq!(mutexes(&script, RecordedLocks::Inferred), 0);
}

#[test]
fn who_is_woken_out_of_turn_did_not_wait_for_a_mutex() {
    let script = rounds(&ORDERS, Else::Timer, usize::max);
    assert_eq!(mutexes(&script, RecordedLocks::Inferred), 0);
    // Nor does it among fair tasks, if the one that came last is first.
    let fair =
        |next| rounds(&ORDERS, Else::Timer, next).replace("/50", "").replace("/60", "").replace("/70", "");
    assert_eq!(mutexes(&fair(|_, late| late), RecordedLocks::Inferred), 0);
    assert_eq!(mutexes(&fair(|early, _| early), RecordedLocks::Inferred), 1);
}

#[test]
fn mutexes_that_are_mostly_free_are_left_alone_unless_asked_for() {
    let mut script = rounds(&ORDERS, Else::Timer, more_important);
    // After these, each works for as long nine times with nobody else about.
    for n in 0..27 {
        let t = 600_000 + 10_000 * n as u64;
        let task = TASKS[n % 3];
        write!(script, "{t} 0 irq@idle wakes {task}\n{t} 0 idle R {task}\n{} 0 {task} S idle\n", t + 1000)
            .expect("a string");
    }
    assert_eq!(mutexes(&script, RecordedLocks::Auto), 0);
    assert_eq!(Recording::extract(&trace(&script)).counts.not_inferred, 120);
    assert_eq!(mutexes(&script, RecordedLocks::Inferred), 1);
}

/// rt_migrate_lab with plain mutexes on two CPUs of Linux 6.18: two mutexes, four threads; markers tell who
/// took which. By chance half of them would be right. What is wrong: the least important thread does not
/// sleep between two locks, so that one after the other may look like one.
#[test]
fn inferred_mutexes_are_those_that_the_program_took() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/rtlab-plain-2s.trace.txt.gz");
    let bytes = std::fs::read(file).expect("the fixture");
    let recording = Recording::extract(&trace::read(&bytes[..]).expect("a trace"));
    assert_eq!(recording.objects.mutexes.len(), 2, "of rt_migrate_lab -c 2");
    // All CPU time is work: nobody spins for such a mutex. A file has it all, too.
    let read = Recording::from_text(&recording.to_text(Origin::default())).expect("our own text").recording;
    for (task, read) in recording.tasks.iter().zip(&read.tasks) {
        assert_eq!((&read.steps, read.cpu_time), (&task.steps, task.cpu_time), "{}", task.comm);
    }
    // Of each lock of the program, how often which mutex was taken for it.
    let mut pairs: BTreeMap<(&str, MutexId), usize> = BTreeMap::new();
    for task in &recording.tasks {
        let mut held = None;
        for step in &task.steps {
            match step {
                ReplayStep::Lock { mutex, .. } => held = Some(*mutex),
                ReplayStep::Unlock { .. } => held = None,
                ReplayStep::Marker(text) => {
                    if let (Some((_, lock)), Some(mutex)) = (text.split_once(", unlock lock "), held) {
                        *pairs.entry((lock.trim(), mutex)).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
    }
    let all: usize = pairs.values().sum();
    let times = |lock, mutex| pairs.get(&(lock, MutexId(mutex))).copied().unwrap_or(0);
    let right = (times("0", 0) + times("1", 1)).max(times("0", 1) + times("1", 0));
    assert!(all > 1000 && right * 100 >= all * 70, "{right} of {all}: {pairs:?}");
}
