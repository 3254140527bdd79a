//! What a replay takes from its recording and what the recording does not show: the result says it once, and
//! a trace of the replay tells it, so that the replay of that is the same run.

use schema::RunResult;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DEMO: &str = "../../demo/mix-rtover.dat";

fn schedlab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schedlab")).args(args).output().expect("the binary of this package")
}

fn text(args: &[&str]) -> String {
    let output = schedlab(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn run(args: &[&str]) -> RunResult {
    RunResult::from_json(&text(&[&["run"], args, &["--format", "json"]].concat())).expect("a result")
}

/// The warnings and notes of a run that hold one of these words.
fn notes(args: &[&str], words: &[&str]) -> Vec<String> {
    let holds = |note: &String| words.iter().any(|word| note.contains(word));
    let RunResult { warnings, notes, .. } = run(args);
    warnings.into_iter().chain(notes).filter(holds).collect()
}

fn file(name: &str, content: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).expect("a temporary file");
    path
}

/// The workload of the demo with more facts above its tasks.
fn workload(name: &str, facts: &str) -> String {
    let text = text(&["workload", DEMO]);
    let (head, tasks) = text.split_once("\ntask ").expect("tasks");
    file(name, &format!("{head}\n{facts}\ntask {tasks}")).to_string_lossy().into_owned()
}

#[test]
fn the_rate_of_the_ticks_is_told_once() {
    let of_ticks = |args: &[&str]| notes(args, &["hz=", "ticked"]);
    let unknown = of_ticks(&[DEMO, "--kernel", "2.6.36"]);
    assert_eq!(
        unknown,
        [
            "how often the recording kernel ticked does not show: hz=1000, as the profile has it, decides when fair \
             tasks are preempted; the setting hz=N says it (`grep CONFIG_HZ= /boot/config-$(uname -r)`)"
        ]
    );
    assert_eq!(of_ticks(&[DEMO, DEMO, "--kernel", "2.6.36"]), unknown, "two recordings are no two rates");
    assert_eq!(of_ticks(&[DEMO, "--kernel", "2.6.36", "--set", "hz=250"]), [""; 0], "the user says it");
    let shown = workload("ticks.workload", "hz 250");
    assert_eq!(of_ticks(&[&shown]), ["hz=250, as the recording shows; the setting hz=N brings another rate"]);
    assert_eq!(
        of_ticks(&[&shown, "--set", "hz=100"]),
        ["the recording kernel ticked 250 times a second, this one 100 times, as asked for"]
    );
}

#[test]
fn waiters_that_slept_are_told_and_sleep_in_the_replay_of_the_replay() {
    let load = workload("waiters.workload", "waiters sleep");
    let of_waiters = |args: &[&str]| notes(args, &["rtmutex_spin"]);
    let [note] = &of_waiters(&[&load, "--kernel", "6.1"])[..] else { panic!("a note") };
    assert!(note.starts_with("rtmutex_spin=never, as the recording shows: who waits"), "{note}");
    assert_eq!(of_waiters(&[&load, "--set", "rtmutex_spin=owner_on_cpu"]), [""; 0], "the user says it");
    assert_eq!(of_waiters(&[&load, "--kernel", "2.6.36"]), [""; 0], "there they sleep anyway");
    assert_eq!(of_waiters(&[&workload("spin.workload", "waiters spin")]), [""; 0]);
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("waiters.dat");
    let trace = trace.to_str().expect("UTF-8");
    let first = run(&[&load, "--trace", trace]);
    let again = run(&[trace]);
    for result in [&first, &again] {
        assert_eq!(result.kernel.rules["rtmutex_spin"], "never");
    }
    assert_eq!(again.notes.iter().filter(|note| note.contains("rtmutex_spin=never")).count(), 1);
}

/// From 6.12 on only kernels with RT_GROUP_SCHED throttle: one that was seen to do so is such a one, and so
/// is its successor. What 6.1 does says nothing of how it was built (deadline-groups A12).
#[test]
fn real_time_tasks_that_were_throttled_are_so_in_the_replay_and_in_the_replay_of_the_replay() {
    let recorded_on = |name: &str, kernel: &str| {
        workload(name, &format!("throttles real-time\nkernel Linux vm {kernel} x86_64"))
    };
    let [new, old] =
        [recorded_on("throttles.workload", "6.18.44"), recorded_on("always.workload", "6.1.170")];
    let rule = |args: &[&str]| run(args).kernel.rules["rt_throttle"].clone();
    let of_throttling = |args: &[&str]| notes(args, &["rt_throttle"]);
    for kernel in ["6.18.y", "7.0"] {
        assert_eq!(rule(&[&new, "--kernel", kernel]), "root", "{kernel}");
        assert_eq!(rule(&[&old, "--kernel", kernel]), "off", "{kernel}");
    }
    let [note] = &of_throttling(&[&new, "--kernel", "6.18.y"])[..] else { panic!("a note") };
    assert!(note.starts_with("rt_throttle=root, as the recording shows: CPUs idled beside"), "{note}");
    assert_eq!(of_throttling(&[&new, "--kernel", "6.1"]), [""; 0], "it throttles anyway");
    let asked = [&new, "--kernel", "6.18.y", "--set", "rt_throttle=off"];
    assert_eq!((rule(&asked).as_str(), of_throttling(&asked)), ("off", vec![]), "the user says it");
    let grouped = "throttles groups\ngroup audio cpu.rt_runtime_us:100000\nkernel Linux vm 6.18.44 x86_64";
    let grouped = workload("grouped.workload", grouped);
    for kernel in ["6.18.y", "7.0", "6.1", "2.6.31"] {
        assert_eq!(rule(&[&grouped, "--kernel", kernel]), "groups", "{kernel}");
    }
    assert_eq!(rule(&[&grouped, "--kernel", "2.6.24"]), "root", "it has none yet");
    let [note] = &of_throttling(&[&grouped, "--kernel", "6.18.y"])[..] else { panic!("a note") };
    assert!(note.starts_with("rt_throttle=groups, as the recording shows: "), "{note}");
    assert!(note.ends_with("the setting rt_throttle=off brings the profile's rule"), "{note}");
    assert_eq!(rule(&[&grouped, "--kernel", "6.18.y", "--set", "rt_group_sched=0"]), "root");
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("throttles.dat");
    let trace = trace.to_str().expect("UTF-8");
    run(&[&new, "--kernel", "6.18.y", "--trace", trace]);
    assert_eq!(rule(&[trace, "--kernel", "6.18.y"]), "root");
}

/// A program that binds itself, told by the trace of a run on four CPUs: on two, the nearest one takes the
/// place of what is missing, and that is said. What may use all CPUs may use those of a larger machine.
#[test]
fn what_a_trace_tells_of_affinities_fits_every_machine() {
    let bound = r#"{"run": 1000, "cpus": [3]}"#;
    let both = r#"{"run": 1000, "cpus": [0, 3]}"#;
    let load = format!(r#"{{"tasks": {{"t": {{"loop": 2, "phases": {{"a": {bound}, "b": {both}}}}}}}}}"#);
    let load = file("binds.json", &load);
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("binds.dat");
    let [load, trace] = [&load, &trace].map(|path| path.to_str().expect("UTF-8"));
    run(&[load, "--machine", "vm2", "--cpus", "4", "--trace", trace]);
    let of_cpus = |cpus| notes(&[trace, "--cpus", cpus], &["CPUs that this machine does not have"]);
    assert_eq!(of_cpus("4"), [""; 0]);
    assert!(of_cpus("2").iter().any(|note| note.contains("bound to CPUs")), "{:?}", of_cpus("2"));
    let freed = run(&[trace, "--cpus", "2", "--affinity", "t*=all"]);
    assert!(freed.tasks.iter().any(|task| task.comm.starts_with('t')));
    // The tasks of the demo are free, of a recording on two CPUs.
    let told = Path::new(env!("CARGO_TARGET_TMPDIR")).join("free.dat");
    let told = told.to_str().expect("UTF-8");
    run(&[DEMO, "--trace", told]);
    let result = run(&[told, "--cpus", "4"]);
    let busy_ns = |cpu: usize| result.engine.simulated_ns - result.cpus[cpu].idle_ns;
    assert!(busy_ns(2) + busy_ns(3) > 100_000_000, "periodic tasks go where no endless loop runs");
}

#[test]
fn an_affinity_to_missing_cpus_is_told_in_the_users_words() {
    let output = schedlab(&["run", DEMO, "--affinity", "hog*=5"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "error: replay: affinity hog*=5: the machine has CPUs 0 to 1; name some of them\n");
    let cut = notes(&[DEMO, "--affinity", "hog*=1,5"], &["--affinity hog*"]);
    assert_eq!(cut, ["--affinity hog*=1,5: cut to 1, because the machine has CPUs 0 to 1"]);
}

/// Two names of one kernel, or a setting that says what holds anyway.
#[test]
fn two_names_of_one_simulation_are_told_as_such() {
    let same = |args: &[&str]| -> Vec<bool> {
        let args = [&["compare"], args, &["--repeat", "2", "--format", "json"]].concat();
        let answer: schema::comparison::Comparison = serde_json::from_str(&text(&args)).expect("an answer");
        answer.variants.iter().map(|variant| variant.same_as_base).collect()
    };
    let load = ["cyclictest -t1 -p80 -i1000 -l20", "--cpus", "2", "--base", "kernel=6.1"];
    let with = ["--with", "kernel=6.1.50", "--with", "kernel=debian12", "--with", "RT_PUSH_IPI"];
    assert_eq!(same(&[&load[..], &with].concat()), [true, false, true], "debian12 ticks at 250");
    let with = [
        "--with",
        "1s:NO_RT_PUSH_IPI",
        "--with",
        "NO_RT_PUSH_IPI",
        "--with",
        "machine=vm2",
        "--with",
        "cpus=3",
    ];
    assert_eq!(same(&[&load[..], &with].concat()), [false; 4]);
    let with = [
        "--with",
        "cpus=2",
        "--with",
        "nice=hog1=5",
        "--with",
        "affinity=hog1=0",
        "--with",
        &format!("load={DEMO}"),
    ];
    assert_eq!(same(&[&[DEMO][..], &with].concat()), [true, false, false, true]);
}
