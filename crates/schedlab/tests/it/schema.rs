//! What every command writes with `--format json`, and the library, is what docs/schema.json says.

use std::collections::BTreeSet;
use std::process::Command;

use lab::workload::load::{Length, OwnProgram};
use lab::workload::program::Block;
use lab::{Experiment, Files, LoadSpec, Nanos};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// One of each document, and of each kind of load.
const COMMANDS: &[&[&str]] = &[
    &["run", "cyclictest -t2 -p80 -i1000 -D 50ms -h 20", "hackbench -g1 -f1 -l5", "--dump", "schedstat@20ms"],
    &["run", "rt-migrate -i 1", "rt_migrate_lab -i 1 -n 2", "--set", "1ms:NO_RT_PUSH_IPI"],
    &["run", "make -j2 2", "hog -D 1ms", "periodic -n 2 -D 50ms", "wakeup-latency -n 5", "--for", "1s"],
    &["run", "fork_storm -n 3", "keyrepeat -D 100ms", "vmark --rooms 1 --users 2 --count 3"],
    &["run", "oltp --clients 1 --time 50ms", "--kernel", "debian12", "--from", "10ms", "--to", "20ms"],
    &["run", "crates/workload/tests/it/rtapp/pipeline.json", "--for", "200ms"],
    &["run", "crates/trace/tests/fixtures/mix-rr.dat"],
    &["compare", "hackbench -g1 -f1 -l5", "--with", "cpus=3", "--repeat", "2"],
    &["compare", "crates/trace/tests/fixtures/mix-rr.dat", "--with", "cpus=3", "--repeat", "1"],
    &[
        "compare",
        "cyclictest -t1 -i1000",
        "hog",
        "--why",
        "--with",
        "cpus=3",
        "--repeat",
        "2",
        "--for",
        "20ms",
    ],
    &["why", "cyclictest -t1 -i1000", "hog -n 2", "--cpus", "1", "--blame", "--for", "50ms"],
    &["why", "demo/mix-rtover.dat", "--task", "f3", "--preempted", "--blame"],
    &["run", "cyclictest -t1 -i1000", "hog", "--why", "--for", "20ms"],
    &["reproduce", "000", "--quick"],
    &["reproduce", "crates/schedlab/tests/it/fit.toml", "--fit"],
    &["validate", "guest-6.1/mix-smp2/rr"],
    &["calibrate", "--name", "here"],
    &["calibrate", "--check", "laptop", "--repeat", "1"],
    &["sweep", "demo/kernels.toml", "--folder", concat!(env!("CARGO_TARGET_TMPDIR"), "/schema.sweep")],
    &[
        "tune",
        "cyclictest -t2 -i1000 -n",
        "hog -n 4",
        "--minimize",
        "p99(cyclictest)",
        "--over",
        "crates/schedlab/tests/it/knobs.toml",
        "--for",
        "20ms",
        "--repeat",
        "6",
    ],
    &[
        "search",
        "cyclictest -t2 -p80",
        "--maximize",
        "max(cyclictest)",
        "--for",
        "5ms",
        "--runs",
        "32",
        "--until",
        "1s",
    ],
    &["inspect", "crates/trace/tests/fixtures/mix-rtover.dat"],
    &["inspect", "crates/trace/tests/fixtures/mix-rr.dat", "crates/trace/tests/fixtures/mix-rtover.dat"],
    &["list", "limits"],
    &["list", "loads"],
    &["explain", "RT_PUSH_IPI"],
    &["explain", "vmark"],
];

fn schema() -> Value {
    let text = std::fs::read_to_string(format!("{ROOT}/docs/schema.json")).expect("it is in the repository");
    serde_json::from_str(&text).expect("JSON")
}

fn written(args: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    let output = command.args(args).args(["--format", "json"]).current_dir(ROOT).output();
    let output = output.expect("this package's");
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|problem| panic!("{args:?}: {problem}: {error}"))
}

/// What no command runs: a load of somebody who programs against the library.
fn own() -> Value {
    let cycle = || Block::new().run(Nanos::from_micros(10)).sleep(Nanos::from_micros(90));
    let load = OwnProgram::new("own", Length::Time(Nanos::from_millis(1)), cycle);
    let machine = lab::machine("laptop", Some(1), &Files::new()).expect("a machine");
    let loads = vec![LoadSpec::new("own", load)];
    let run = Experiment { loads, ..Experiment::new(machine) }.run().expect("it runs");
    serde_json::from_str(&run.result.to_json()).expect("JSON")
}

#[test]
fn what_is_written_is_what_the_schema_says() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let (mut documents, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    let all = COMMANDS.iter().map(|args| (*args, written(args)));
    for (args, mut document) in all.chain([(&["the library"][..], own())]) {
        let faults: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(faults, Vec::<String>::new(), "{args:?}");
        documents.insert(text(&document["schema"]));
        for load in document["loads"].as_array().into_iter().flatten().filter(|load| load.is_object()) {
            kinds.insert(text(&load["kind"]));
        }
        // What nobody has described is found wherever it stands.
        document["undescribed"] = 1.into();
        assert!(!validator.is_valid(&document), "{args:?}");
    }
    let (lines, events) = log_lines(&validator);
    documents.extend(lines);
    let of = |all: &Value| all.as_array().map_or(0, Vec::len);
    assert_eq!(documents.len(), of(&schema["oneOf"]), "one of each document: {documents:?}");
    assert_eq!(kinds.len(), of(&schema["$defs"]["LoadResult"]["oneOf"]), "one of each load: {kinds:?}");
    let all = schema["$defs"]["LogEvent"]["oneOf"].as_array().expect("kinds");
    let missing: Vec<&Value> = all.iter().map(|kind| &kind["properties"]["kind"]["const"]).collect();
    let missing: Vec<_> = missing.into_iter().filter(|kind| !events.contains(&text(kind))).collect();
    assert_eq!(missing, Vec::<&Value>::new(), "one of each event");
}

/// Where a task waits for a mutex with inheritance.
const INHERITANCE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/inheritance.json");
const INHERITS: &str = r#"{
    "global": {"pi_enabled": true},
    "tasks": {
        "low": {"policy": "SCHED_FIFO", "priority": 10, "cpus": [0], "lock": "m", "run": 2000, "unlock": "m"},
        "high": {"policy": "SCHED_FIFO", "priority": 20, "cpus": [0], "sleep": 500, "lock": "m", "unlock": "m"}
    }
}"#;

/// A machine with idle states.
const SLEEPY: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/sleepy.toml");
const IDLE_STATES: &str = r#"
[idle]
governor = { name = "menu", origin = "assumed: a test" }
states = [{ name = "C1", exit_latency_ns = 1000, target_residency_ns = 2000, origin = "assumed: a test" }]
"#;

/// Runs whose logs have every kind of event.
const LOGGED: [&[&str]; 7] = [
    &["rt-migrate -i 1", "make -j2 2", "oltp --clients 1 --time 5ms", "--set", "1ms:NO_RT_PUSH_IPI"],
    &["crates/trace/tests/fixtures/mix-rr.dat", "--for", "300ms"],
    &[INHERITANCE, "--for", "10ms"],
    &["ipi_storm -t 1", "--for", "3ms"],
    &["hog", "--machine", "phone", "--set", "governor=schedutil", "--for", "50ms"],
    &["hog -n 3", "--group", "web=cpu.max:5000/20000", "--in", "web=hog", "--for", "50ms"],
    &["cyclictest -i 1ms -D 5ms", "--machine", SLEEPY],
];

/// Looks at every line of logs: what documents they are made of, and the kinds of events.
fn log_lines(validator: &jsonschema::Validator) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut documents, mut events) = (BTreeSet::new(), BTreeSet::new());
    std::fs::write(INHERITANCE, INHERITS).expect("a folder for tests");
    let laptop = include_str!("../../../../machines/laptop.toml");
    std::fs::write(SLEEPY, format!("{laptop}{IDLE_STATES}")).expect("a folder for tests");
    for args in LOGGED {
        for line in log(args).lines() {
            let mut line: Value = serde_json::from_str(line).expect("a line is JSON");
            if let Some(name) = line["schema"].as_str() {
                documents.insert(name.to_owned());
            } else {
                documents.insert("a record".to_owned());
                if !events.insert(line["event"]["kind"].as_str().expect("a kind").to_owned()) {
                    continue;
                }
            }
            let faults: Vec<String> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
            assert_eq!(faults, Vec::<String>::new(), "{line}");
            line["undescribed"] = 1.into();
            assert!(!validator.is_valid(&line), "{line}");
        }
    }
    (documents, events)
}

/// The log of a run.
fn log(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedlab"));
    command.arg("run").args(args).args(["--cpus", "2", "--trace", "-", "--trace-format", "log"]);
    let output = command.current_dir(ROOT).output().expect("this package's");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_same_run_has_the_same_log_and_another_seed_has_another() {
    let args = ["hackbench -g1 -f2 -l3", "cyclictest -t2 -i1000 -D 5ms"];
    let first = log(&args);
    assert!(first == log(&args));
    assert!(first != log(&[&args[..], &["--seed", "2"]].concat()));
}

#[test]
fn what_the_schema_does_not_say_is_found_at_every_depth() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("a JSON Schema");
    let good = written(&["run", "cyclictest -t2 -i1000 -D 10ms", "--cpus", "2"]);
    assert!(validator.is_valid(&good));
    let spoiled = |spoil: &dyn Fn(&mut Value)| {
        let mut document = good.clone();
        spoil(&mut document);
        assert!(document != good && !validator.is_valid(&document));
    };
    spoiled(&|run| run["totals"]["wakeups"] = "many".into());
    spoiled(&|run| run["totals"]["wakeups"] = (-1).into());
    spoiled(&|run| run["window"] = Value::Null);
    spoiled(&|run| run["cpus"][1]["rq_lock"]["waits"] = 1.into());
    spoiled(&|run| run["tasks"][0]["policy"] = "SCHED_NICE".into());
    spoiled(&|run| run["loads"][0]["kind"] = "hackbench".into());
    spoiled(&|run| drop(run["loads"][0]["threads"][0].as_object_mut().expect("a thread").remove("cycles")));
    spoiled(&|run| run["schema"] = "schedlab/9".into());
}
