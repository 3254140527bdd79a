//! Ctrl-C and its relatives, in the middle of what takes long: it ends by the signal, says what stands, and
//! what was finished is not lost.

use crate::signals;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const LOADS: [&str; 2] = ["cyclictest -t2 -i1000 -n", "hog -n 4"];

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Of a test before.
    let _ = fs::remove_dir_all(&path);
    path
}

fn schedlab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    command.args(args);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// Starts it, sends the signal as soon as `is_time`, and waits for its end.
fn stopped(command: &mut Command, signal: Signal, is_time: impl Fn(&Child) -> bool) -> Output {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary of this package");
    while !is_time(&child) {
        assert_eq!(child.try_wait().expect("a child of ours"), None, "it was to be stopped before its end");
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), signal).expect("it is there");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.signal(), Some(signal.as_raw()), "as the shell wants to see it: {output:?}");
    output
}

fn has_rows(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("runs-"))
}

/// The first two numbers of a message.
fn numbers(said: &str) -> (u64, u64) {
    let mut all = said.split_whitespace().filter_map(|word| word.parse().ok());
    (all.next().expect("a number"), all.next().expect("another one"))
}

#[test]
fn a_sweep_says_how_far_it_is_and_goes_on() {
    const FILE: &str = "../../demo/kernels.toml";
    for (number, signal) in signals::heard().into_iter().enumerate() {
        let results = folder(&format!("stopped-{number}.sweep"));
        let path = results.to_str().expect("a path of our own");
        let args = ["sweep", FILE, "--folder", path, "--workers", "1"];
        let said = text(&stopped(&mut schedlab(&args), signal, |_| has_rows(&results)).stderr);
        let (done, runs) = numbers(&said);
        assert_eq!(
            said,
            format!("error: stopped after {done} of {runs} runs; started again, it goes on there\n")
        );
        assert!(done >= 1 && done < runs, "{said}");
        let then = schedlab(&args).output().expect("it goes on");
        assert_eq!(
            (then.status.code(), text(&then.stderr)),
            (Some(0), format!("note: {done} of {runs} runs were there already\n"))
        );
    }
}

#[test]
fn a_tuning_says_how_far_it_is_and_goes_on_to_the_same_answer() {
    let kept = folder("stopped.tune");
    let path = kept.to_str().expect("a path of our own");
    let args = ["tune", LOADS[0], LOADS[1], "--cpus", "2", "--for", "50ms", "--repeat", "6"];
    let args = [&args[..], &["--minimize", "p99(cyclictest)", "--over", "tests/it/knobs.toml"]].concat();
    let in_folder = [&args[..], &["--folder", path]].concat();
    let signal = signals::heard()[0];
    let said = text(&stopped(&mut schedlab(&in_folder), signal, |_| has_rows(&kept)).stderr);
    let (made, known) = numbers(&said);
    assert_eq!(
        said,
        format!(
            "error: stopped after {made} of the {known} runs that it was known to need; they are kept: started again, \
             it goes on there\n"
        )
    );
    let then = schedlab(&in_folder).output().expect("it goes on");
    let note = text(&then.stderr);
    let (reused, all) = numbers(&note);
    assert_eq!(note, format!("note: {reused} of {all} runs were there already\n"));
    assert_eq!(reused, made, "what had ended was kept, and is not run again");
    // But for the line of the command, it is what comes out at once.
    let rest = |output: &Output| text(&output.stdout).split_once("answer: ").map(|(_, rest)| rest.to_owned());
    let at_once = schedlab(&args).output().expect("the binary of this package");
    assert!(rest(&at_once).is_some() && rest(&then) == rest(&at_once), "{then:?} {at_once:?}");
}

/// Seconds of CPU time that a process has used, in hundredths.
fn used(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it lives");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("its name").split_whitespace().collect();
    fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks")
}

#[test]
fn a_search_tells_what_it_found_until_then() {
    let above = folder("stopped-search");
    fs::create_dir(&above).expect("made");
    let path = above.join("worst.json");
    let worst = path.to_str().expect("a path of our own");
    let args = |runs: &str| -> Vec<String> {
        let length = ["--cpus", "2", "--for", "2ms", "--format", "json", "--maximize", "max(cyclictest)"];
        let words = ["search", LOADS[0], LOADS[1], "--runs", runs].into_iter().chain(length);
        words.map(str::to_owned).collect()
    };
    let mut search = schedlab(&[]);
    search.args(args("1000000000")).args(["--save", worst]);
    // Half a second of work is many batches.
    let output = stopped(&mut search, signals::heard()[0], |child| used(child) >= 50);
    assert_eq!(text(&output.stderr), "");
    let found = |output: &Output| -> schema::SearchResult {
        serde_json::from_slice(&output.stdout).expect("a result as JSON")
    };
    let stopped = found(&output);
    assert!(stopped.stopped && stopped.runs >= 16 && stopped.runs.is_multiple_of(16), "{stopped:?}");
    assert_eq!(fs::read_to_string(worst).expect("it was saved"), stopped.scenario());
    // As if no more had been wanted.
    let whole = found(&schedlab(&[]).args(args(&stopped.runs.to_string())).output().expect("it runs"));
    assert_eq!(
        schema::SearchResult { stopped: false, command: None, ..stopped },
        schema::SearchResult { command: None, ..whole }
    );
}
