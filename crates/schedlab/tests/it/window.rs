//! `--from` and `--to`: a stretch of a run, of a replay and its recording, and of a comparison.

use schema::comparison::Comparison;
use schema::{RunResult, Window};
use std::process::{Command, Output};
use trace::{Pid, Stretch, WakeupEvent};

const TRACE: &str = "../../demo/mix-rtover.dat";
const STRETCH: [&str; 4] = ["--from", "1s", "--to", "1500ms"];

fn schedlab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schedlab")).args(args).output().expect("the binary of this package")
}

fn json(args: &[&str]) -> String {
    let output = schedlab(&[args, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn run(args: &[&str]) -> RunResult {
    RunResult::from_json(&json(&[&["run"], args].concat())).expect("a result")
}

#[test]
fn a_stretch_of_a_run_is_told_by_itself() {
    let load = ["cyclictest -t1 -p80 -i1000 -n", "--for", "2s"];
    let [whole, part] = [run(&load), run(&[&load[..], &STRETCH].concat())];
    assert_eq!((whole.window, part.engine.simulated_ns), (None, whole.engine.simulated_ns));
    assert_eq!(part.window, Some(Window { from_ns: 1_000_000_000, to_ns: 1_500_000_000 }));
    // A timer of 1 ms expires 500 times in it.
    let wakeups = |result: &RunResult| result.tasks[0].wakeup_latency_ns.count;
    assert!((499..=501).contains(&wakeups(&part)), "{}", wakeups(&part));
    assert!(wakeups(&whole) > 1_990 && part.totals.wakeups < whole.totals.wakeups / 3);
    let idle = |result: &RunResult| result.cpus.iter().map(|cpu| cpu.idle_ns).max();
    assert!(idle(&part) <= Some(500_000_000) && idle(&whole) > Some(1_900_000_000));
    assert_eq!(whole.loads, part.loads, "what the load reports is of all of it");
}

/// The run's, and both sides of a comparison.
#[test]
fn idle_states_are_those_of_the_stretch() {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = folder.path().join("states.toml");
    let laptop = include_str!("../../../../machines/laptop.toml");
    let states = "[idle]\ngovernor = { name = \"menu\", origin = \"assumed: a test\" }\nstates = [{ name = \
                  \"C6\", exit_latency_ns = 100000, target_residency_ns = 300000, origin = \"assumed: a test\" }]\n";
    std::fs::write(&machine, format!("{laptop}\n{states}")).expect("a file");
    let machine = machine.to_str().expect("UTF-8");
    let load = ["periodic -p 10ms -r 100us", "--for", "2s", "--cpus", "1", "--machine", machine];
    let part = run(&[&load[..], &STRETCH].concat());
    let time = part.idle.as_ref().expect("states").all_cpus()[0].time_ns;
    assert!((480_000_000..500_000_000).contains(&time), "{time}");
    assert!(!part.notes.iter().any(|note| note.contains("idle states")), "{:?}", part.notes);
    let args =
        [&["compare"], &load[..], &STRETCH, &["--repeat", "2", "--with", "NO_WAKEUP_PREEMPTION"]].concat();
    let compared: Comparison = serde_json::from_str(&json(&args)).expect("a comparison");
    let metric = compared.variants[0].metrics.iter().find(|one| one.metric.key == "idle.C6.time");
    let base = metric.expect("it is compared").base;
    assert!((480e6..500e6).contains(&base), "{base}");
}

#[test]
fn recording_and_replay_are_those_of_the_stretch() {
    let result = run(&[&[TRACE][..], &STRETCH].concat());
    let replay = &result.replay[0];
    let text = std::fs::read(TRACE).expect("the trace of the demo");
    let mut trace = trace::read(text.as_slice()).expect("a trace");
    // As a replay does.
    trace::infer_missing_switches(&mut trace);
    let from_ns = trace.start_ns() + 1_000_000_000;
    let stretch = Stretch { from_ns, to_ns: from_ns + 500_000_000 };
    let recorded = trace::summarise_within(&trace, WakeupEvent::of(&trace), stretch);
    let mut compared = 0;
    for task in &replay.tasks {
        let there = recorded.task(Pid(task.pid as i32)).expect("a task of the trace");
        assert_eq!(task.nr_switches.recorded, there.voluntary_switches + there.involuntary_switches);
        assert_eq!(task.wakeups.recorded, there.wake_latency.count());
        compared += task.nr_switches.recorded;
    }
    assert!(compared > 200, "{compared}");
    for sum in [replay.summary.cpu_time_ns.recorded, replay.summary.cpu_time_ns.simulated] {
        assert!((900_000_000..=1_001_000_000).contains(&sum), "two busy CPUs for half a second: {sum}");
    }
    let exited = result.tasks.iter().filter_map(|task| task.exited_ns);
    assert!(exited.into_iter().all(|at| (1_000_000_000..=1_500_000_000).contains(&at)));
}

#[test]
fn a_comparison_is_of_the_stretch_and_tells_the_loads_of_its_arms() {
    let other = "load=../trace/tests/fixtures/mix-rr.zlib.dat";
    let args = [&["compare", TRACE, "--with", "hz=100", "--with", other, "--repeat", "2"][..], &STRETCH];
    let answer: Comparison = serde_json::from_str(&json(&args.concat())).expect("an answer");
    assert_eq!(answer.window, Some(Window { from_ns: 1_000_000_000, to_ns: 1_500_000_000 }));
    let loads = answer.variants.iter().map(|variant| variant.configuration.loads.concat());
    assert_eq!(answer.base.loads, [TRACE]);
    assert_eq!(loads.collect::<Vec<_>>(), [TRACE, other.trim_start_matches("load=")]);
    for metric in answer.variants.iter().flat_map(|variant| &variant.metrics) {
        let key = &metric.metric.key;
        assert!(!key.starts_with("replay."), "{key} is of the whole run");
        if key == "tasks.hog1.cpu_time" {
            assert!(metric.base < 500_000_001.0, "{}", metric.base);
        }
    }
}

#[test]
fn stretches_that_are_none_are_errors_of_usage() {
    let last_line = |args: &[&str]| {
        let output = schedlab(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).lines().last().expect("a message").to_owned()
    };
    assert_eq!(
        last_line(&["run", TRACE, "--from", "2", "--to", "1s"]),
        "error: --from, --to: 1s is not after 2s: there is nothing in between"
    );
    assert!(
        last_line(&["run", TRACE, "--from", "100"]).starts_with("error: --from: 100s is behind the end of")
    );
    assert!(
        last_line(&["compare", TRACE, "--with", "hz=100", "--from", "100"]).contains("is behind the end of")
    );
    assert_eq!(
        last_line(&["inspect", TRACE, "--from", "100"]),
        "error: --from: 100s is behind the end of the trace, which is 3.043s long"
    );
    assert!(
        last_line(&["inspect", TRACE, "--from", "2", "--to", "2"]).contains("there is nothing in between")
    );
}

/// Where a stretch ends is not known before a run has: it ends with what there is, and that is said
/// everywhere.
#[test]
fn an_end_behind_the_end_is_said() {
    let to = |more: &[&str]| -> Vec<String> {
        let args = [more, &["--from", "1s", "--to", "100"]].concat();
        let answer: serde_json::Value = serde_json::from_str(&json(&args)).expect("JSON");
        let notes = answer["notes"].as_array().expect("notes").iter();
        let text = |note: &serde_json::Value| note["text"].as_str().or(note.as_str()).map(str::to_owned);
        notes.filter_map(text).filter(|note| note.contains("to end at 100s, after the end of")).collect()
    };
    for args in [
        &["run", TRACE][..],
        &["compare", TRACE, "--with", "hz=100", "--repeat", "2"],
        &["inspect", TRACE],
        &["inspect", TRACE, TRACE],
    ] {
        let notes = to(args);
        assert!(notes.iter().any(|note| note.contains("it ends at 3.")), "{args:?} {notes:?}");
    }
    assert!(!run(&[TRACE, "--to", "1s"]).notes.iter().any(|note| note.contains("after the end of")));
    assert!(!run(&[TRACE, "--from", "1s"]).notes.iter().any(|note| note.contains("after the end of")));
}

#[test]
fn a_replay_that_outlasts_its_recording_has_nothing_beside_it_there() {
    let result = run(&[TRACE, "--from", "3100ms", "--scale", "all=2"]);
    assert!(result.replay.is_empty());
    let note = result.notes.iter().find(|note| note.contains("the stretch to tell of begins behind its end"));
    assert!(note.is_some(), "{:?}", result.notes);
}
