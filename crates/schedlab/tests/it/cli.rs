//! The binary itself: what it prints and its exit codes. To accept new output: `TRYCMD=overwrite cargo
//! test -p schedlab`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, str};

const DEMO: &str = "../../demo/mix-rtover.dat";

fn schedlab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schedlab")).args(args).output().expect("the binary of this package")
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn examples_print_what_they_should() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}

#[test]
fn a_damaged_trace_is_one_clear_error() {
    let mut bytes = fs::read(DEMO).expect("the recording of the demo");
    bytes[0x60] ^= 0xff;
    let path = temporary("damaged.dat");
    fs::write(&path, bytes).expect("a temporary file");
    let output = schedlab(&["run", path.to_str().expect("a path of our own")]);
    let error = str::from_utf8(&output.stderr).expect("text");
    assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
    assert!(error.contains("does not decompress; the file is damaged"), "{error}");
}

#[test]
fn the_demo_tells_what_would_change_and_how_far_to_trust_it() {
    let output = schedlab(&[
        "compare",
        DEMO,
        "--machine",
        "vm2",
        "--with",
        "2.6.36",
        "--with",
        "cpus=4",
        "--repeat",
        "2",
    ]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    for part in
        ["2.6.36 against base: ", "cpus=4 against base: ", "Replay of ", "cpu time     recorded ", "note: "]
    {
        assert!(text.lines().any(|line| line.starts_with(part)), "no {part:?} in:\n{text}");
    }
}

/// Who says how often the recording kernel ticked, where the trace does not show it, has changed nothing; who
/// sets anything else has.
#[test]
fn a_replay_with_the_ticks_of_its_recording_is_set_beside_it() {
    let said = |setting: &str| {
        let output = schedlab(&["run", DEMO, "--machine", "vm2", "--set", setting]);
        let text = String::from_utf8(output.stdout).expect("text");
        (text.contains("\nReplay of "), text.contains("how often the recording kernel ticked"))
    };
    assert_eq!(said("hz=250"), (true, false));
    // With the ticks that the profile has anyway, but not those of the recording: its own replay decides.
    assert_eq!(said("base_slice_ns=3000000"), (true, true));
}

/// Seed 000's program writes where it is into the trace; KernelShark's file has every line that the kernel's
/// text has.
#[test]
fn a_trace_for_kernelshark_shows_what_the_program_wrote() {
    let [dat, text] = ["markers.dat", "markers.txt"].map(temporary);
    for path in [&dat, &text] {
        let path = path.to_str().expect("a path of our own");
        let args = [
            "run",
            "rt-migrate",
            "--machine",
            "seed000",
            "--kernel",
            "2.6.36",
            "--for",
            "100ms",
            "--trace",
            path,
        ];
        assert_eq!(schedlab(&args).status.code(), Some(0));
    }
    let text = fs::read_to_string(text).expect("text");
    // What the program wrote and what the trace tells of it; notes about tasks and the machine are read back
    // as such.
    let markers = text.lines().filter_map(|line| line.split_once("tracing_mark_write: "));
    let is_note = |text: &str| text.starts_with("schedlab: task ") || text.starts_with("schedlab: machine ");
    let written = markers.filter(|(_, marker)| !is_note(marker)).count();
    assert!(text.contains("tracing_mark_write: thread 7 iter 0, took lock 0"), "{text}");
    assert!(fs::read(&dat).expect("a trace").starts_with(b"\x17\x08\x44tracing6\0"));
    let inspected = schedlab(&["inspect", dat.to_str().expect("a path of our own")]).stdout;
    let inspected = str::from_utf8(&inspected).expect("text");
    let markers = inspected.lines().find_map(|line| line.strip_prefix("tracing_mark_write")).map(str::trim);
    assert_eq!(markers, Some(written.to_string().as_str()), "{inspected}");
}

/// What programs do is told by an event of our own, which --no-program leaves out; markers are those of the
/// programs.
#[test]
fn programs_are_told_by_an_event_of_our_own_that_can_be_left_out() {
    let lines = |name: &str, options: &[&str]| {
        let path = temporary(name);
        let path = path.to_str().expect("a path of our own");
        let args = ["run", "hackbench -g1 -f4 -l20", "--cpus", "2", "--trace", path];
        assert_eq!(schedlab(&[&args[..], options].concat()).status.code(), Some(0));
        let text = fs::read_to_string(path).expect("text");
        let count = |event: &str| text.lines().filter(|line| line.contains(&format!(": {event}: "))).count();
        ["schedlab_program", "sched_switch", "tracing_mark_write"].map(count)
    };
    let [told, switches, markers] = lines("told.txt", &[]);
    assert!(told > switches && switches > 20, "{told} {switches}");
    assert_eq!(lines("untold.txt", &["--no-program"]), [0, switches, markers]);
    let alone = schedlab(&["run", "hog", "--no-program"]);
    assert_eq!(alone.status.code(), Some(2), "there is no trace to leave it out of");
}

#[test]
fn a_written_trace_can_be_replayed() {
    let path = temporary("written.ftrace");
    let path = path.to_str().expect("a path of our own");
    let load = "cyclictest -t2 -p80 -i1000 -n";
    let options = ["--machine", "seed001", "--cpus", "2", "--for", "50ms", "--trace", path];
    let output = schedlab(&[&["run", load][..], &options].concat());
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    let output = schedlab(&["run", path, "--format", "json"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let result = schema::RunResult::from_json(&text).expect("our own JSON");
    assert_eq!(result.machine.name, "seed001", "the file beside it says so");
    assert_eq!(result.machine.cpus, 2, "as many as in the recording");
    assert_eq!(result.tasks.iter().filter(|task| task.comm == "cyclictest").count(), 2);
}

#[test]
fn a_trace_may_come_through_a_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_schedlab"))
        .args(["run", "/dev/stdin", "--format", "json", "--affinity", "hog1=0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary of this package");
    // Smaller than the pipe.
    let bytes = fs::read(DEMO).expect("the recording of the demo");
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("a reader");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    let result = schema::RunResult::from_json(&text).expect("our own JSON");
    assert!(result.tasks.iter().any(|task| task.comm == "hog1"));
}

#[test]
fn a_workload_file_runs_as_its_trace_does_until_it_is_changed() {
    let path = temporary("mix.workload");
    let path = path.to_str().expect("a path of our own");
    let output = schedlab(&["workload", DEMO, "-o", path]);
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    let run = |load: &str| {
        let output = schedlab(&["run", load, "--machine", "vm2", "--format", "json"]);
        let text = String::from_utf8(output.stdout).expect("text");
        schema::RunResult::from_json(&text).expect("our own JSON")
    };
    let (of_trace, of_file) = (run(DEMO), run(path));
    assert!(of_trace.tasks.len() > 10 && of_trace.tasks == of_file.tasks);
    let text = fs::read_to_string(path).expect("our own file");
    fs::write(path, text.replace("  begin", "  work 300%\n  begin")).expect("a temporary file");
    let busier = run(path);
    let cpu_time = |result: &schema::RunResult| -> u64 {
        result.tasks.iter().map(|task| task.sum_exec_runtime_ns).sum()
    };
    assert!(cpu_time(&busier) > 2 * cpu_time(&of_trace));
    fs::write(path, text.replace("  begin", "  cpus 1\n  begin")).expect("a temporary file");
    let on_one = run(path);
    assert!(on_one.cpus[0].nr_switches == 0 && on_one.cpus[1].nr_switches > 100);
    fs::write(path, text.replacen("    run ", "    ran ", 1)).expect("a temporary file");
    let output = schedlab(&["run", path]);
    let error = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.code() == Some(2) && error.contains("is no step"), "{error}");
}

#[test]
fn the_command_line_in_a_result_gives_the_same_result() {
    let json = |args: &[&str]| {
        let output = schedlab(args);
        let text = String::from_utf8(output.stdout).expect("text");
        let mut result = schema::RunResult::from_json(&text).expect("our own JSON");
        result.forget_wall_clock();
        result
    };
    let first = json(&[
        "run",
        "hackbench -g1 -l5 -P",
        "hog",
        "--set",
        "2ms:search=linear",
        "--seed",
        "7",
        "--format=json",
    ]);
    let command = first.command.clone().expect("it was made by a command line");
    let words = shlex::split(&command).expect("quoted for a shell");
    assert_eq!(words[0], "schedlab");
    assert_eq!(json(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()), first);
}

#[test]
fn dumps_are_a_list_in_the_json_in_the_order_asked_for() {
    let output = schedlab(&[
        "run",
        "hog",
        "--cpus",
        "1",
        "--for",
        "20ms",
        "--format=json",
        "--dump",
        "schedstat@end",
        "--dump",
        "/proc/1000/sched@5ms",
    ]);
    let text = String::from_utf8(output.stdout).expect("text");
    let dumps = schema::RunResult::from_json(&text).expect("our own JSON").dumps;
    let found: Vec<(&str, u64)> = dumps.iter().map(|d| (d.file.as_str(), d.at_ns)).collect();
    assert_eq!(found, [("schedstat@end", 20_000_000), ("/proc/1000/sched@5ms", 5_000_000)]);
    assert!(
        dumps[0].text.starts_with("version 17\n") && dumps[1].text.starts_with("hog (1000, #threads: 1)")
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_schedlab"))
        .args(["list", "features"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary of this package");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

/// The name of a distribution is kept beside the profile as which it runs, and its ticks are set.
#[test]
fn a_result_says_which_kernel_was_asked_for() {
    let run = |kernel: &str| {
        let output = schedlab(&["run", "hog", "--for", "5ms", "--kernel", kernel, "--format", "json"]);
        let text = String::from_utf8(output.stdout).expect("text");
        schema::RunResult::from_json(&text).expect("our own JSON")
    };
    let debian = run("debian11");
    assert_eq!((debian.kernel.profile.as_str(), debian.kernel.asked.as_deref()), ("5.10", Some("debian11")));
    assert_eq!(debian.kernel.tunables["hz"], 250);
    let notes = run("rhel9").notes;
    assert!(notes.iter().any(|note| note.contains("(setting rtmutex_spin=never)")), "{notes:?}");
    let plain = run("6.1").kernel;
    assert_eq!((plain.asked, plain.tunables["hz"]), (None, 1000));
}

/// Every command has a page that names its options.
/// As a warning of what will be computed, not only below the answer.
#[test]
fn a_kernel_that_runs_as_another_is_said_at_once_and_once() {
    for args in [
        &["run", "hog", "--for", "1ms", "--kernel", "9.0"][..],
        &["compare", "hog", "--for", "1ms", "--repeat", "1", "--kernel", "9.0", "--with", "cpus=2"],
    ] {
        let Output { stdout, stderr, .. } = schedlab(args);
        let [result, error] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
        assert_eq!(error, "note: Linux 9.0 is run as 7.1; what differs stands below the result\n");
        let result = result.split_whitespace().collect::<Vec<_>>().join(" ");
        let note = "Linux 9.0 is run as 7.1, the nearest described kernel; known to differ there: \
                    all fair tasks of a CPU";
        assert_eq!(result.matches(note).count(), 1, "{result}");
    }
    assert!(schedlab(&["run", "hog", "--for", "1ms", "--kernel", "9.0", "--quiet"]).stderr.is_empty());
    assert!(schedlab(&["run", "hog", "--for", "1ms", "--kernel", "6.1"]).stderr.is_empty());
}

#[test]
fn a_comparison_of_endless_builds_says_how_to_have_their_time() {
    let notes = |load: &str| {
        let args = ["compare", load, "--for", "1ms", "--repeat", "1", "--with", "cpus=2"];
        String::from_utf8(schedlab(&args).stdout).expect("text").contains("give a number\n      of OBJECTS")
    };
    assert_eq!((notes("make -j4"), notes("make -j4 8")), (true, false));
}

#[test]
fn there_are_manual_pages() {
    let page = |args: &[&str]| {
        let output = schedlab(&[&["man"], args].concat());
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{args:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let whole = page(&[]);
    assert!(whole.contains(".TH schedlab 1"), "{whole}");
    for command in ["run", "compare", "reproduce", "inspect", "record", "workload", "calibrate", "list"] {
        assert!(whole.contains(&format!("schedlab\\-{command}(1)")), "{command}: {whole}");
        let own = page(&[command]);
        assert!(own.contains(&format!(".TH schedlab-{command} 1")) && own.contains(".SH OPTIONS"), "{own}");
    }
    assert!(page(&["run"]).contains("\\-\\-recorded\\-on"));
}

#[test]
fn each_shell_gets_its_completions() {
    // Commands and their options come from the same definition, so that one word of each shows that all are
    // there.
    for shell in ["bash", "zsh", "fish"] {
        let output = schedlab(&["completions", shell]);
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success() && text.contains("recorded-on"), "{shell}: {text}");
    }
}

const HOGS: &str = r#"
title = "Two hogs share a CPU"
source = "nowhere"
about = "A test."
settings = "machine=laptop cpus=1"
loads = ["hog -n 2"]
for = "40ms"
seeds = 1
quick = { seeds = 1 }

[[variant]]
name = "as it is"
role = "prediction"

  [[variant.row]]
  what = "context switches"
  metric = "totals.context_switches"
  at_least = LEAST
"#;

/// An experiment whose figure should be at least so much, reproduced from a file.
fn reproduce_hogs(name: &str, at_least: &str) -> Output {
    let path = temporary(name);
    fs::write(&path, HOGS.replace("LEAST", at_least)).expect("a temporary file");
    schedlab(&["reproduce", path.to_str().expect("a path of our own"), "--speed"])
}

/// All of them take hours: nobody means that who has said nothing.
#[test]
fn reproduce_without_a_name_says_what_there_is_and_runs_nothing() {
    let output = schedlab(&["reproduce"]);
    let error = str::from_utf8(&output.stderr).expect("text");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{error}");
    let said = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.starts_with("error: say which experiments: 000, 001, ") && said.contains("`all` makes "),
        "{said}"
    );
}

#[test]
fn a_figure_that_does_not_agree_is_named_and_makes_the_exit_code_1() {
    let output = reproduce_hogs("disagrees.toml", "1000");
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| str::from_utf8(bytes).expect("text"));
    assert_eq!(output.status.code(), Some(1), "{out}{error}");
    assert!(out.contains("0 of 1 figures agree") && out.contains(" NO"), "{out}");
    assert!(error.contains("these should agree with the document and do not"), "{error}");
    assert!(error.contains("as it is: context switches is "), "{error}");
    assert!(error.contains(", wanted at least 1000\n"), "{error}");
}

#[test]
fn an_experiment_file_that_agrees_is_fine_and_a_bad_one_is_bad_input() {
    let fine = reproduce_hogs("agrees.toml", "1\n  at_most = 999");
    let error = str::from_utf8(&fine.stderr).expect("text");
    assert_eq!(fine.status.code(), Some(0), "{error}");
    assert!(
        error.starts_with("speed    agrees, as it is: ") && error.contains(" times real time"),
        "{error}"
    );
    let bad = reproduce_hogs("bad.toml", "many");
    let error = str::from_utf8(&bad.stderr).expect("text");
    assert_eq!((bad.status.code(), bad.stdout), (Some(2), Vec::new()), "{error}");
    assert!(error.contains("bad.toml"), "{error}");
}
