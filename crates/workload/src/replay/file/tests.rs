//! What users change, and what they get wrong. (That nothing is lost is tested with recordings in
//! tests/replay.rs.)

use crate::load::Load;
use crate::replay::recording::{Recording, ReplayStep, Waking};
use crate::replay::{Caveats, Origin, Replay};
use scheduler::Nanos;

const PERIODIC: &str = "\
schedlab-workload 1
cpus 2
span 100ms

# A comment.
task 7 audio
  policy fifo 90
  begin asleep
  period 10ms
  first 5ms
  pause 1ms
    next
    run 2us
    next x2 +3us
    sleep -1us
    wake 8.1
    until 80ms
    next
    stop

task 8.1 the other
    receive
    marker  two  blanks\\n
";

fn steps(text: &str) -> Vec<ReplayStep> {
    Recording::from_text(text).expect("understood").recording.tasks[0].steps.clone()
}

fn sleeps(text: &str) -> Vec<u64> {
    let ns = |step: &ReplayStep| match step {
        ReplayStep::Sleep(Waking::At(time) | Waking::After(time)) => Some(time.0),
        _ => None,
    };
    steps(text).iter().filter_map(ns).collect()
}

#[test]
fn steps_mean_what_they_say() {
    let read = Recording::from_text(PERIODIC).expect("understood");
    let tasks = &read.recording.tasks;
    assert_eq!((tasks[0].prio, tasks[0].cpu_time, &*tasks[1].comm), (9, Nanos(2_000), "the other"));
    assert_eq!(sleeps(PERIODIC), [5_000_000, 25_003_000, 999_000, 80_000_000, 90_000_000]);
    let waked = tasks[0].steps.iter().find_map(|step| match step {
        ReplayStep::Wake { task, .. } => Some(task.index()),
        _ => None,
    });
    assert_eq!(waked, Some(1));
    assert_eq!(tasks[1].steps[1], ReplayStep::Marker(" two  blanks\n".into()));
}

#[test]
fn one_fact_changes_a_whole_task() {
    let twice = PERIODIC.replace("period 10ms", "period 20ms");
    assert_eq!(sleeps(&twice)[..2], [5_000_000, 45_003_000]);
    let longer = PERIODIC.replace("pause 1ms", "pause 5ms");
    assert_eq!(sleeps(&longer)[2], 4_999_000);
    let busier = PERIODIC.replace("pause 1ms", "pause 1ms\n  work 150%");
    assert_eq!(steps(&busier)[1], ReplayStep::Run(Nanos(3_000)));
    let fair = PERIODIC.replace("fifo 90", "nice 5");
    assert_eq!(Recording::from_text(&fair).expect("understood").recording.tasks[0].prio, 125);
}

/// In each case: what stands in the text, what is put in its place once, and the error.
fn assert_errors(text: &str, cases: &[(&str, &str, &str)]) {
    for (old, new, expected) in cases {
        let error = Recording::from_text(&text.replacen(old, new, 1)).expect_err(expected);
        assert_eq!(error.to_string(), *expected);
    }
}

#[test]
fn errors_name_the_line_and_what_to_do() {
    let cases = [
        (
            "schedlab-workload 1",
            "schedlab-workload 9",
            "line 1: version 9 is not known; this program reads 1",
        ),
        ("cpus 2", "cpus 0", "line 2: `0` is no number from 1 to 8192"),
        ("span 100ms", "span 100", "line 3: `100` has no unit; write ns, us, ms or s behind it"),
        ("task 8.1", "task 7", "line 21: there is a task 7 already"),
        ("wake 8.1", "wake 9", "line 16: there is no task 9"),
        ("  period 10ms\n", "", "line 11: the task has no `period`; give it one, or write until TIME"),
        (
            "fifo 90",
            "fifo 100",
            "line 7: `100` is out of range; write fifo 1 to 99, rr 1 to 99, nice, batch or idle -20 to 19, \
             or deadline and RUNTIME/DEADLINE/PERIOD",
        ),
        ("run 2us", "ran 2us", "line 13: `ran 2us` is no step; did you mean `run`?"),
        ("run 2us", "nice 5", "line 13: `nice 5` is no step; did you mean `policy nice`?"),
        ("run 2us", "quux", "line 13: `quux` is no step; the head of a written file lists them"),
        ("stop", "pause 3ms", "line 19: `pause` is a fact of the task; facts stand before the steps"),
        ("period 10ms", "period 0ms", "line 9: must be above 0"),
        ("wake 8.1", "fork 8.1", "line 16: task 8.1 is forked here, but does not `begin forked`"),
        ("run 2us", "run 400d", "line 13: `400d` is too long: at most a year"),
    ];
    assert_errors(PERIODIC, &cases);
    let twice = PERIODIC.replace("task 8.1 the other", "task 8.1 the other\n  begin forked");
    let twice = twice.replace("wake 8.1", "fork 8.1\n    fork 8.1");
    let error = Recording::from_text(&twice).expect_err("two forks");
    assert_eq!(error.to_string(), "line 17: task 8.1 is forked a second time; a task begins once");
    let error = Recording::from_text("schedlab-workload 1\ncpus 2\n").expect_err("no span");
    assert_eq!(
        error.to_string(),
        "line 2: the file does not say its span; write `span 10s` above the first task"
    );
}

/// What a run's own trace tells.
const TOLD: &str = "schedlab-workload 1
cpus 2
span 10ms
channel 0 capacity=16 writers-wake-at=8 sync=no softirq=no send-cost=700 receive-cost=500
mutex 0 kind=pi name=L1
message at 3ms cpu 1 channel 0
message at 4ms cpu 0 channel 0 tick
task 5 a
  policy fifo 90
  begin at 0ns
  work 200%
  told nice=-3 working-set=4096 timer-slack=50us
    fork 6 process
    do lock 0
    do kernel 1000
    run 5us
    do unlock 0
task 6 b
  begin forked
  told nice=0 working-set=0 timer-slack=0ns
    do receive 0
    exit
";

/// As of `--in`: a typing error is no group without limits.
#[test]
fn a_task_is_in_one_group_and_in_one_that_is_there() {
    let with = |above: &str, lines: &str| {
        PERIODIC.replace("\n# A comment.", above).replace("  period 10ms", &format!("{lines}\n  period 10ms"))
    };
    let read = |above: &str, lines: &str| Recording::from_text(&with(above, lines));
    let (web, limits) = ("group web cpu.max:20000/100000\n", "group a/b\ngroup rt cpuset.cpus:0-1,4\n");
    for (above, lines, line, problem) in [
        (web, "  group wbe", 9, "there is no group `wbe` above the first task; did you mean `web`?"),
        (web, "  group database", 9, "write `group database` there, too"),
        (limits, "  group a\n  group a/b", 11, "the task is in group a already"),
    ] {
        let error = read(above, lines).expect_err("refused");
        assert!(error.line == line && error.problem.contains(problem), "{error}");
    }
    // A group above one that is there is made with it; where none is described, all are made.
    for (above, lines) in [(limits, "  group a"), ("", "  group wbe"), (web, "  group /web")] {
        assert!(read(above, lines).is_ok(), "{lines}");
    }
    let recording = read(limits, "  group rt").expect("legal").recording;
    assert_eq!(recording.groups.described[1].words(), ["cpuset.cpus:0-1,4"]);
    // What is written down of a recording, some of whose groups are as the kernel makes them, is read again.
    let mut recording = read(web, "  group web").expect("legal").recording;
    recording.groups.of.insert(crate::replay::TaskIndex(1), "other/one".into());
    let again = Recording::from_text(&recording.to_text(Origin::default())).expect("our own file");
    assert_eq!(again.recording.groups.of, recording.groups.of);
}

#[test]
fn told_programs_come_back_and_their_work_can_be_changed() {
    let recording = Recording::from_text(TOLD).expect("a workload").recording;
    let kernel = ReplayStep::Told(machine::ToldStep::KernelCompute(Nanos(2_000)));
    assert_eq!(recording.tasks[0].steps[2..4], [kernel, ReplayStep::Run(Nanos(10_000))], "twice the work");
    let again = Recording::from_text(&recording.to_text(Origin::default())).expect("our own text").recording;
    assert_eq!(again, recording);
}

/// A deadline task runs under its parameters; a recorded one, of whom no event tells them, does not.
#[test]
fn a_deadline_task_comes_back_with_its_parameters() {
    let policy_in_run = |facts: &str| {
        let text = TOLD.replace("begin forked\n  told nice=0 working-set=0 timer-slack=0ns", facts);
        let workload = Recording::from_text(&text.replace("fork 6 process", "yield")).expect("a workload");
        let again =
            Recording::from_text(&workload.recording.to_text(Origin::default())).expect("our own text");
        assert_eq!(again.recording, workload.recording);
        let mut setup = machine::Setup::new(2);
        Replay::of_workload(workload).build(&mut setup).expect("a load");
        machine::policy_text(setup.into_tasks().pop().expect("two tasks").spec.policy)
    };
    let told =
        "policy deadline 2ms/5ms/9ms,reclaim\n  begin at 1ms\n  told nice=0 working-set=0 timer-slack=0ns";
    assert_eq!(policy_in_run(told), "deadline:2000000:5000000:9000000:reclaim");
    // Nobody has to tell anything else of it.
    assert_eq!(policy_in_run("policy deadline 2ms/9ms\n  begin at 1ms"), "deadline:2000000:9000000:9000000");
    assert_eq!(policy_in_run("policy deadline\n  begin at 1ms"), "fifo:99");
}

/// eevdf-class 0.6: 0.1 to 100 ms, or none.
#[test]
fn a_slice_that_no_kernel_takes_is_refused() {
    let said = |slice: &str| {
        let text = TOLD.replace("do receive 0", &format!("do set-slice {slice}"));
        Recording::from_text(&text).map(|_| ()).map_err(|error| error.to_string())
    };
    for slice in ["99999", "100000001"] {
        let error = said(slice).expect_err("out of range");
        assert!(
            error.contains(&format!("`do set-slice {slice}`: a slice is from 100000 to 100000000 ns")),
            "{error}"
        );
    }
    assert_eq!([said("0"), said("100000"), said("100000000")], [const { Ok(()) }; 3]);
}

/// The nice value that a trace tells is that of a real-time task; a fair one has what its policy says.
#[test]
fn the_nice_value_of_a_told_task_can_be_changed() {
    let nice_in_run = |policy: &str| {
        let text = TOLD.replace("begin forked", "begin at 1ms").replace("fork 6 process", "yield");
        let text = text.replace("task 6 b", &format!("task 6 b\n  policy {policy}"));
        let workload = Recording::from_text(&text).expect("a workload");
        let mut setup = machine::Setup::new(2);
        Replay::of_workload(workload).build(&mut setup).expect("a load");
        setup.into_tasks().pop().expect("two tasks").spec.nice.get()
    };
    assert_eq!((nice_in_run("nice 0"), nice_in_run("nice 5"), nice_in_run("batch -3")), (0, 5, -3));
    let fifo = nice_in_run("fifo 50");
    assert_eq!(fifo, 0, "as told");
}

#[test]
fn told_lines_name_what_there_is() {
    let cases = [
        ("do lock 0", "do lock 1", "line 14: `do lock 1`: there is no such object above the first task"),
        ("do lock 0", "do sleep-for 5", "line 14: write run, until or sleep in place of `do sleep-for 5`"),
        ("do lock 0", "do exit", "line 14: write `exit` without do"),
        ("do lock 0", "do sing", "line 14: `do sing` is no step"),
        ("mutex 0", "mutex 1", "line 5: `mutex 1 kind=pi name=L1`: the numbers of objects count up from 0"),
        (
            "kind=pi",
            "kind=odd",
            "line 5: `mutex 0 kind=odd name=L1` cannot be read; keep the form in which it was written",
        ),
        ("channel 0\n", "channel 1\n", "line 6: there is no channel 1 above this line"),
        ("fork 6 process", "fork 6 fast", "line 13: write fork TASK, fork TASK process or fork TASK vfork"),
        ("nice=-3", "nice=30", "line 12: nice values are -20 to 19"),
        (
            "working-set=4096",
            "working-set=9999999999999",
            "line 12: a working set of 9999999999999 bytes is larger than any cache",
        ),
    ];
    assert_errors(TOLD, &cases);
}

#[test]
fn what_must_be_known_of_a_recording_is_known_of_the_file_made_of_it() {
    let caveats = Caveats {
        warnings: vec!["7 switches are missing".to_owned(), "a limit \\ of 3 us".to_owned()],
        notes: vec!["12 events lost".to_owned()],
    };
    let recording = Recording::from_text(TOLD).expect("a workload").recording;
    let text = recording.to_text(Origin { caveats: Some(&caveats), ..Origin::default() });
    let read = Recording::from_text(&text).expect("our own text");
    assert_eq!(read.caveats, caveats);
    let replay = Replay::of_workload(read);
    assert_eq!(replay.warnings(), caveats.warnings);
    assert!(replay.notes().contains(&caveats.notes[0]));
}

#[test]
fn a_file_made_of_a_recording_says_that_it_is_beside_none() {
    let says = |text: &str| {
        let replay = Replay::of_workload(Recording::from_text(text).expect("a workload"));
        replay.notes().iter().any(|note| note.starts_with("how close it comes to the recording"))
    };
    let by_hand = "schedlab-workload 1\ncpus 1\nspan 1ms\ntask 5 a\n  run 5us\n";
    assert!(!says(by_hand));
    assert!(says(&by_hand.replace("span", "kernel Linux 6.1 x86_64\nspan")));
    assert!(!says(&TOLD.replace("span", "kernel Linux 6.1 x86_64\nspan")), "it tells its programs itself");
}
