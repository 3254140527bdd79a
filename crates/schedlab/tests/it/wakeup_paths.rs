//! A quiet cyclictest, replayed on a machine file of which nobody knows that it fits: the recording tells how
//! long it takes from a timer's interrupt to the woken thread.
//!
//! `cyclictest-idle.dat` is half a second of `cyclictest -q -m -D 3 --smp -p95 -d0 -i1000` on an idle virtual
//! machine with two CPUs, Linux 6.18, recorded by trace-cmd 3.1.6 (and cut by `trace-cmd split`) with timer
//! and interrupt events. Many switches of the idle task are missing on CPU 1, so the thread of CPU 0 is
//! judged.

use schema::{LatencySummary, RunResult};
use std::process::Command;
use trace::{Pid, WakeLatency, summarise};

const THREAD_OF_CPU_0: u32 = 22294;

fn fixture() -> String {
    format!("{}/tests/fixtures/cyclictest-idle.dat", env!("CARGO_MANIFEST_DIR"))
}

fn run(args: &[&str]) -> RunResult {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output =
        command.args(["run", &fixture(), "--format", "json"]).args(args).output().expect("this package's");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    RunResult::from_json(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|e| panic!("{e}: {error}"))
}

fn simulated(args: &[&str]) -> LatencySummary {
    let result = run(args);
    let task = result.tasks.iter().find(|task| task.pid == THREAD_OF_CPU_0).expect("it is replayed");
    task.wakeup_latency_ns
}

/// From `sched_wakeup` to `sched_switch`, as the trace's reader counts it, which knows nothing of replays.
fn recorded() -> WakeLatency {
    let trace = trace::read(&std::fs::read(fixture()).expect("a fixture")).expect("a trace");
    let task = |task: &&trace::TaskSummary| task.pid == Pid(THREAD_OF_CPU_0 as i32);
    summarise(&trace).tasks.iter().find(task).expect("it is there").wake_latency.clone()
}

fn within_a_quarter(simulated: u64, recorded: Option<u64>) -> bool {
    let recorded = recorded.expect("hundreds of wakeups");
    simulated.abs_diff(recorded) * 4 <= recorded
}

#[test]
fn a_quiet_cyclictest_waits_as_long_as_it_did() {
    let (simulated, mut recorded) = (simulated(&[]), recorded());
    recorded.samples_ns.sort_unstable();
    assert!(recorded.count() >= 490, "{}", recorded.count());
    assert!(within_a_quarter(simulated.p50, recorded.percentile_ns(500)), "{simulated:?}");
    assert!(within_a_quarter(simulated.p99, recorded.percentile_ns(990)), "{simulated:?}");
    assert!(within_a_quarter(simulated.mean, recorded.mean_ns()), "{simulated:?}");
    let of_the_file = self::simulated(&["--wakeup-costs", "machine"]);
    assert!(of_the_file.p50 * 4 < simulated.p50, "a generic machine is much faster: {of_the_file:?}");
}

#[test]
fn the_result_says_where_its_costs_come_from() {
    let kinds = |args: &[&str]| {
        let paths = run(args).machine.recorded_paths;
        paths.iter().map(|path| format!("{} from {}", path.kind, path.from)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&[]), ["interrupt-idle from sched_wakeup"]);
    assert_eq!(kinds(&["--machine", "vm2"]), kinds(&[]), "the recording is taken to be made there");
    assert!(kinds(&["--wakeup-costs", "machine"]).is_empty());
    assert!(
        kinds(&["--machine", "vm2", "--recorded-on", "laptop"]).is_empty(),
        "another machine is asked for"
    );
    let text = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
        let output = command.args(["run", &fixture()]).args(args).output().expect("this package's");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(text(&[]).contains("machine  laptop, 2 CPUs, wakeup paths as recorded\n"));
    assert!(text(&["--wakeup-costs", "machine"]).contains("machine  laptop, 2 CPUs\n"));
}

#[test]
fn a_workload_file_waits_as_long_as_its_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cyclictest.workload");
    let path = file.to_string_lossy();
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let status = command.args(["workload", &fixture(), "-o", &path]).status().expect("this package's");
    assert!(status.success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output = command.args(["run", &path, "--format", "json"]).output().expect("this package's");
    let again = RunResult::from_json(&String::from_utf8_lossy(&output.stdout)).expect("a result");
    let task = again.tasks.iter().find(|task| task.pid == THREAD_OF_CPU_0).expect("it is replayed");
    assert_eq!(task.wakeup_latency_ns, simulated(&[]));
}
