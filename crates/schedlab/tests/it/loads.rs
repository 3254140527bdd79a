//! A load that prints as a real tool does has three parts, each where its layer is: what its tasks do
//! (`workload/load`), what it reports and which figures that has (`schema/loads`), and how the tool prints it
//! (`report/text`). One that reports as its own has the first only. Here they meet.

use lab::report::text::{self, Rows};
use lab::workload::load::{Entry, entries};
use lab::{Experiment, ExperimentText, Files, Nanos, RunResult, load_text};
use schema::{Figures, LoadResult, measure_loads};
use serde_json::Value;
use std::collections::BTreeSet;

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.json");

/// Kinds of results that need be no standard load's: of files, and of who programs against the library.
const OTHER_KINDS: [&str; 3] = ["own", "replay", "rtapp"];

fn run(entry: &Entry) -> RunResult {
    let text = ExperimentText {
        loads: vec![load_text(entry.name, &schema::FileText::default(), &Files::new())],
        duration_ns: Some(Nanos::from_secs(1).0),
        ..ExperimentText::default()
    };
    let experiment = Experiment::open(&text, &Files::new());
    experiment.and_then(|experiment| experiment.run()).expect("a standard load").result
}

/// What the real tool would print: between the load's line and the table of tasks.
fn printed(result: &RunResult) -> String {
    let text = text::run(result, Rows::All);
    let caption = format!("\n\n{}\n", result.loads[0].load());
    let (_, after) = text.split_once(&caption).unwrap_or_else(|| panic!("no {caption:?} in:\n{text}"));
    after.lines().take_while(|line| !line.is_empty()).collect()
}

#[test]
fn every_standard_load_has_all_its_parts() {
    let mut kinds = BTreeSet::new();
    for entry in entries() {
        let result = run(entry);
        let [load] = result.loads.as_slice() else { panic!("{}: one load, one result", entry.name) };
        let kind = load.kind().to_owned();
        let own = if let LoadResult::Own(own) = load { own.name.clone() } else { kind.clone() };
        assert!(!printed(&result).trim().is_empty(), "{}: nothing in report/text", entry.name);
        let mut figures = Figures::default();
        measure_loads(&result, &mut figures);
        let figures = figures.into_list();
        assert!(!figures.is_empty(), "{}: no figure in schema/loads to compare", entry.name);
        for figure in figures {
            let key = &figure.metric.key;
            assert!(key.starts_with(&format!("{own}.")), "{}: {key} is not of {own}", entry.name);
        }
        kinds.insert(kind);
    }
    let schema = std::fs::read_to_string(SCHEMA).expect("it is in the repository");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let declared = schema["$defs"]["LoadResult"]["oneOf"].as_array().expect("the kinds of loads");
    let declared = declared.iter().filter_map(|kind| kind["properties"]["kind"]["const"].as_str());
    let declared: BTreeSet<String> = declared.map(str::to_owned).collect();
    kinds.extend(OTHER_KINDS.map(str::to_owned));
    assert_eq!(kinds, declared, "each declared kind is some load's");
}
