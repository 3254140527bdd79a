//! `schedlab run RESULT.json`: results that are run again.

use schema::RunResult;
use schema::reproduction::Reproduction;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/mix-rtover.dat");
const LAPTOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/laptop.toml");
const RT_APP: &str = r#"{ "tasks": { "t": { "loop": 3, "run": 1000, "sleep": 9000 } } }"#;

/// A folder with a recording, an rt-app file and a machine.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("repeat-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder");
        fs::copy(DEMO, path.join("demo.dat")).expect("the recording of the demo");
        fs::write(path.join("app.json"), RT_APP).expect("a temporary file");
        let laptop = fs::read_to_string(LAPTOP).expect("a machine of the program");
        let mine = laptop.replace("\"laptop\"", "\"mine\"");
        fs::write(path.join("mine.toml"), &mine).expect("a temporary file");
        fs::write(path.join("demo.dat.machine.toml"), &mine).expect("a temporary file");
        Folder(path)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
        command.args(args).current_dir(&self.0).output().expect("the binary of this package")
    }

    /// Runs it and stores its result, without the one time that differs.
    fn result(&self, args: &[&str]) -> String {
        let output = self.run(&[&["run", "--format", "json"][..], args].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*error), (Some(0), ""), "{args:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let mut result = RunResult::from_json(&text).expect("our own JSON");
        result.forget_wall_clock();
        result.to_json()
    }

    /// What is wrong, with the exit code of bad input.
    fn error(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).expect("text")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a temporary file");
    }
}

#[test]
fn a_saved_result_is_that_of_the_json_and_is_run_again_and_saved_again() {
    let folder = Folder::new("saved");
    let printed = folder.run(&["run", "hog", "--for", "10ms", "--save", "r.json"]);
    assert!(printed.stdout.starts_with(b"schedlab "), "the text is printed as well");
    let saved = |name: &str| {
        let text = fs::read_to_string(folder.0.join(name)).expect("a result");
        let mut result = RunResult::from_json(&text).expect("our own JSON");
        result.forget_wall_clock();
        result.to_json()
    };
    assert!(folder.run(&["run", "r.json", "--save", "again.json"]).status.success());
    assert_eq!(saved("again.json"), saved("r.json"));
    assert_eq!(folder.result(&["r.json"]), saved("r.json"));
}

#[test]
fn a_result_is_run_again_byte_by_byte() {
    let folder = Folder::new("bytes");
    for (n, args) in [
        &["hackbench -g1 -f2 -l20", "hog", "--cpus", "3", "--seed", "7", "--kernel", "debian12"][..],
        &[
            "cyclictest -t2 -p80 -i500",
            "--for",
            "50ms",
            "--set",
            "20ms:RT_PUSH_IPI",
            "--dump",
            "schedstat@end",
        ],
        &["demo.dat"],
        &[
            "demo.dat",
            "--machine",
            "mine.toml",
            "--cpus",
            "4",
            "--nice",
            "hog*=5",
            "--from",
            "100ms",
            "--to",
            "1",
        ],
        &[
            "demo.dat",
            "--recorded-on",
            "vm2",
            "--task",
            "hog*",
            "--set",
            "hz=250",
            "--wakeup-costs",
            "machine",
        ],
        &["app.json", "--dialect", "rt-app", "--machine", "vm2"],
    ]
    .into_iter()
    .enumerate()
    {
        let first = folder.result(args);
        let name = format!("{n}.json");
        folder.write(&name, &first);
        assert!(folder.result(&[&name]) == first, "{args:?}");
    }
    // The machine's files are in the results.
    for name in ["mine.toml", "demo.dat.machine.toml"] {
        fs::remove_file(folder.0.join(name)).expect("it was there");
    }
    let stored = fs::read_to_string(folder.0.join("3.json")).expect("text");
    assert!(folder.result(&["3.json"]) == stored);
}

/// What becomes of the result is another matter than what runs.
#[test]
fn a_repetition_may_be_printed_and_traced_in_other_ways_and_nothing_else() {
    let folder = Folder::new("options");
    folder.write("r.json", &folder.result(&["demo.dat", "--cpus", "2"]));
    let text = folder.run(&["run", "r.json", "--full", "--trace", "out.ftrace"]);
    assert_eq!(text.status.code(), Some(0), "{}", String::from_utf8_lossy(&text.stderr));
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("command  schedlab run --format json demo.dat --cpus 2"), "{text}");
    assert!(folder.0.join("out.ftrace").is_file() && folder.0.join("out.ftrace.machine.toml").is_file());
    let error = folder.error(&["run", "r.json", "--seed", "1", "--for", "2s", "--full", "--quiet"]);
    assert!(error.starts_with("error: --for, --seed: r.json is a result "), "{error}");
    let error = folder.error(&["run", "r.json", "--trace", "demo.dat"]);
    assert!(error.contains("demo.dat"), "an input of the result is not overwritten: {error}");
    assert_eq!(fs::read(folder.0.join("demo.dat")).ok(), fs::read(DEMO).ok());
    let error = folder.error(&["run", "r.json", "hog"]);
    assert!(error.contains("r.json is a result or an experiment, no load"), "{error}");
    let input = fs::File::open(folder.0.join("r.json")).expect("it is there");
    let output = Command::new(env!("CARGO_BIN_EXE_schedlab")).args(["run", "-"]).stdin(input).output();
    let error = String::from_utf8(output.expect("the binary of this package").stderr).expect("text");
    assert!(error.starts_with("error: standard input is a result or an experiment, no load"), "{error}");
}

#[test]
fn a_result_says_what_is_missing_for_its_repetition() {
    let folder = Folder::new("missing");
    let result = folder.result(&["demo.dat"]);
    folder.write("r.json", &result);
    let demo = fs::read(folder.0.join("demo.dat")).expect("it is there");
    fs::write(folder.0.join("demo.dat"), [&demo[..], b"x"].concat()).expect("a temporary file");
    let error = folder.error(&["run", "r.json"]);
    assert!(error.starts_with("error: r.json cannot be run again: demo.dat has changed: "), "{error}");
    fs::remove_file(folder.0.join("demo.dat")).expect("it was there");
    let error = folder.error(&["run", "r.json"]);
    assert!(error.starts_with("error: r.json cannot be run again: demo.dat: No such file"), "{error}");
    let mut old = RunResult::from_json(&result).expect("our own JSON");
    old.experiment = None;
    folder.write("old.json", &old.to_json());
    let error = folder.error(&["run", "old.json"]);
    assert!(error.contains("does not say what ran") && error.contains("schedlab run --format json demo.dat"));
    folder.write("damaged.json", &result[..result.len() / 2]);
    let error = folder.error(&["run", "damaged.json"]);
    assert!(error.starts_with("error: damaged.json: not a result of schema schedlab/1: "), "{error}");
}

/// Each arm says what it was, so that it can be run by itself; and a result can be what others are compared
/// with.
#[test]
fn comparisons_and_results_understand_each_other() {
    let folder = Folder::new("compare");
    let with = ["--with", "2.6.36", "--with", "machine=vm2 nice=hog*=5", "--repeat", "2", "--format", "json"];
    let compared = |load: &str| folder.run(&[&["compare", load][..], &with].concat());
    let json = |output: &Output| {
        let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        json.as_object_mut().expect("a document").remove("command");
        json
    };
    let output = compared("demo.dat");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let comparison = json(&output);
    folder.write("c.json", &String::from_utf8(output.stdout).expect("text"));
    let error = folder.error(&["run", "c.json"]);
    assert!(error.starts_with("error: c.json is of schema schedlab-compare/1: "), "{error}");

    let alone = folder.result(&["demo.dat"]);
    folder.write("r.json", &alone);
    let base: serde_json::Value = serde_json::from_str(&alone).expect("JSON");
    assert_eq!(comparison["base"]["experiment"], base["experiment"]);
    assert!(json(&compared("r.json")) == comparison);

    let arm = &comparison["variants"][1]["configuration"]["experiment"];
    let mut result = RunResult::from_json(&alone).expect("our own JSON");
    result.experiment = serde_json::from_value(arm.clone()).expect("what an experiment is");
    folder.write("arm.json", &result.to_json());
    let again: serde_json::Value = serde_json::from_str(&folder.result(&["arm.json"])).expect("JSON");
    assert_eq!(again["experiment"], *arm);
    assert_eq!(again["machine"]["name"], "vm2");
    let change = "changed: hog*: nice 5";
    assert!(
        again["notes"]
            .as_array()
            .expect("notes")
            .iter()
            .any(|note| { note.as_str().is_some_and(|note| note.contains(change)) })
    );
}

/// A swept experiment, with one seed.
const SWEPT: &str = r#"
title = "Hogs and their number"
source = "nowhere"
about = "A test."
settings = "machine=laptop cpus=2"
loads = ["hog -n {hogs}", "cyclictest -t1 -p80 -i1000"]
for = "50ms"
seeds = 1
quick = { seeds = 1 }
sweep = { name = "hogs", values = [1, 3] }

[[variant]]
name = "before"
role = "fitted"
settings = "2.6.36 hz=250"

[[variant]]
name = "after"
role = "prediction"
settings = "6.1 NO_WAKEUP_PREEMPTION"
"#;

/// What a reproduction says of each point runs again, alone, to the same number of events.
#[test]
fn a_point_of_a_reproduction_is_an_experiment_of_its_own() {
    let folder = Folder::new("points");
    folder.write("swept.toml", SWEPT);
    let output = folder.run(&["reproduce", "swept.toml", "--format", "json"]);
    let text = String::from_utf8(output.stdout).expect("text");
    let report = Reproduction::from_json(&text).expect("our own JSON");
    let variants = &report.experiments[0].variants;
    for variant in variants {
        let at: Vec<_> = variant.points.iter().map(|point| point.at).collect();
        assert_eq!(at, [Some(1.0), Some(3.0)], "{}", variant.name);
        let events = variant.points.iter().map(|point| {
            folder.write("point.json", &serde_json::to_string_pretty(&point.experiment).expect("data"));
            let again = RunResult::from_json(&folder.result(&["point.json"])).expect("our own JSON");
            again.engine.events
        });
        assert_eq!(events.sum::<u64>(), variant.events, "{}", variant.name);
    }
    assert_ne!(variants[0].events, variants[1].events, "they are different experiments");
    folder.write("report.json", &text);
    let error = folder.error(&["run", "report.json"]);
    assert!(error.contains("one `experiment` of this file in a file of its own"), "{error}");
}
