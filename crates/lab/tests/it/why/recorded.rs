//! Recordings explained as they are.

use lab::schema::why::{Cause, Precedence, WhyResult};
use lab::trace::WaitsMeant;
use lab::{
    Change, Error, Experiment, Files, LoadSpec, Nanos, Question, RecordedQuestion, Window, machine, why,
    why_recorded,
};

const DEMO: &[u8] = include_bytes!("../../../../../demo/mix-rtover.dat");

/// Two tasks of which one is woken, without any switch to it.
const NO_END: &str = "\
    <idle>-0 [000] d... 1.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> \
    next_comm=a next_pid=7 next_prio=120\n\
    a-7 [000] d... 1.000200: sched_wakeup: comm=b pid=8 prio=120 target_cpu=000\n\
    a-7 [000] d... 1.000300: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> \
    next_comm=swapper/0 next_pid=0 next_prio=120\n";

fn question(task: &str) -> RecordedQuestion {
    RecordedQuestion {
        tasks: vec![task.parse().expect("a task")],
        waits: WaitsMeant::Wakeups,
        worst: 2,
        at: None,
        window: None,
        blame: true,
    }
}

fn asked(question: &RecordedQuestion) -> Result<WhyResult, Error> {
    let no_end = NO_END.as_bytes().to_vec();
    let files = Files::from([("demo.dat".to_owned(), DEMO.to_vec()), ("no_end.txt".to_owned(), no_end)]);
    let file = if question.tasks[0].word() == "b" { "no_end.txt" } else { "demo.dat" };
    why_recorded(file, question, &files)
}

/// f1 goes before f2 and f2 before f3, by the priorities with which they were recorded.
#[test]
fn the_culprit_of_a_recording_is_named_and_blamed() {
    let result = asked(&question("f3")).expect("it is explained");
    assert_eq!((result.wakeups, result.explanations.len()), (171, 2));
    let [worst, next] = &result.explanations[..] else { panic!("two") };
    assert!(worst.latency >= next.latency);
    let longest = worst.stretches.iter().max_by_key(|stretch| stretch.length()).expect("stretches");
    let Cause::Running { task, precedence, .. } = &longest.cause else { panic!("{longest:?}") };
    assert_eq!((&*task.comm, *precedence), ("f2", Precedence::HigherPriority));
    let [blame] = &result.blame[..] else { panic!("one victim") };
    assert_eq!((&*blame.victim, blame.wakeups, blame.max), ("f3", 171, worst.latency));
    assert_eq!(blame.rows.iter().map(|row| row.all.0).sum::<u64>(), blame.total.0);
    assert!(blame.rows[0].due_to.starts_with("f2 runs"), "{}", blame.rows[0].due_to);
    assert!(result.notes.iter().any(|note| note.contains("no interrupts were recorded")));
}

/// On the recording's clock, or since its first event: the same wait.
#[test]
fn a_wait_is_found_by_its_time() {
    let worst = asked(&question("f3")).expect("explained").explanations.remove(0);
    let middle = Nanos((worst.due_at.0 + worst.first.0) / 2);
    // What `inspect` says: 3.04s from 5235.278371 s.
    let start = 5_235_278_371_000;
    for at in [middle, Nanos(middle.0 - start)] {
        let found = asked(&RecordedQuestion { at: Some(at), ..question("f3") }).expect("found");
        assert_eq!(found.explanations[0], worst, "{at:?}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let error = |question: &RecordedQuestion| asked(question).expect_err("not there").to_string();
    assert_eq!(error(&question("f33")), "the recording has no task f33; the nearest is 'f3'");
    assert_eq!(error(&question("8011")), "the recording has no task 8011; the nearest is '8010'");
    let nobody = error(&RecordedQuestion { at: Some(Nanos::from_secs(1)), ..question("f3") });
    assert!(nobody.starts_with("no wakeup is on its way at 1s; the nearest is due at "), "{nobody}");
    assert!(error(&question("b")).starts_with("there is no wakeup that could be explained"));
    let window = |from, to| Some(Window { from: Nanos::from_secs(from), to });
    let behind = error(&RecordedQuestion { window: window(10, Nanos::NEVER), ..question("f3") });
    assert!(behind.contains("behind the end of the trace"), "{behind}");
}

/// Where nothing costs time, the replay of this recording is 90 % off in latencies: what helps there is told
/// only to who asks for it. On the machine on which it was recorded it is fair.
#[test]
fn a_replay_that_is_far_off_does_not_say_what_would_have_helped() {
    let files = Files::from([("demo.dat".to_owned(), DEMO.to_vec())]);
    let replay = |on: &str| {
        let mut replay = Experiment::new(machine(on, Some(2), &files).expect("a machine"));
        let recording = LoadSpec::open("demo.dat", &files).expect("a recording");
        replay.loads = vec![recording.recorded_on(&replay.machine)];
        replay.tasks = vec!["f3".parse().expect("a task")];
        replay.kernel.set(Change::parse("hz=250").expect("no time")).expect("a setting");
        replay
    };
    let ask = |replay: &Experiment, tries, grade: &str| {
        let result = why(replay, Question { worst: 1, tries, ..Question::default() }).expect("explained");
        assert!(result.notes.iter().any(|note| note.contains(grade)), "{:?}", result.notes);
        result.explanations[0].remedies.is_some()
    };
    assert!(ask(&replay("vm2"), None, "and latency"));
    let far = replay("ideal");
    assert!(!ask(&far, None, "poor for latency"));
    assert!(ask(&far, Some(1), "poor for latency"));
}
