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
    &["reproduce", "000", "--quick"],
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
    let of = |all: &Value| all.as_array().map_or(0, Vec::len);
    assert_eq!(documents.len(), of(&schema["oneOf"]), "one of each document: {documents:?}");
    assert_eq!(kinds.len(), of(&schema["$defs"]["LoadResult"]["oneOf"]), "one of each load: {kinds:?}");
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
