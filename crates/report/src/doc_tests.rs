//! `docs/schema.md` and the types say the same.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::compare::{Arm, compare};
use crate::recordings::example as recordings_example;
use schema::example::reproduction as reproduction_example;
use schema::{Question, ReplayTask, Window, example};

/// Objects whose keys are data, not fields.
const MAPS: [&str; 8] =
    ["events", "host", "left_out", "features", "rules", "tunables", "decisions", "histogram"];

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    std::fs::read_to_string(path).expect("docs/schema.md is in the repository")
}

fn collect_fields(value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                fields.insert(name.clone());
                if !MAPS.contains(&name.as_str()) {
                    collect_fields(value, fields);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect_fields(value, fields)),
        _ => (),
    }
}

/// Every field of a result, of a trace's inspection and that of two, of comparisons of one and of several
/// seeds, of a list, an explanation and a reproduction.
fn fields() -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    let mut run = example::run();
    run.kernel.asked = Some("debian12".to_owned());
    run.window = Some(Window { from_ns: 0, to_ns: 1 });
    collect_fields(&serde_json::to_value(run).expect("JSON"), &mut fields);
    collect_fields(&serde_json::to_value(example::inspect()).expect("JSON"), &mut fields);
    collect_fields(&serde_json::to_value(recordings_example::comparison()).expect("JSON"), &mut fields);
    let poor = ReplayTask { poor: vec![Question::Order], ..example::replay_task(1, "a") };
    collect_fields(&serde_json::to_value(poor).expect("JSON"), &mut fields);
    let base = [1, 2].map(|seed| {
        let mut run = example::run();
        run.engine.seed = seed;
        run
    });
    let mut variant = base.clone();
    variant[0].totals.pulls += 1;
    let arm = |name: &str, runs| Arm { name: name.to_owned(), runs };
    let mut comparison = compare(&arm("a", &base), &[arm("b", &variant)]).expect("pairs");
    comparison.command = Some("schedlab compare".to_owned());
    comparison.variants[0].same_as_base = true;
    collect_fields(&serde_json::to_value(comparison).expect("JSON"), &mut fields);
    collect_fields(&serde_json::to_value(example::list()).expect("JSON"), &mut fields);
    collect_fields(&serde_json::to_value(example::explanation()).expect("JSON"), &mut fields);
    let reproduction = reproduction_example::reproduction();
    collect_fields(&serde_json::to_value(reproduction).expect("JSON"), &mut fields);
    fields
}

/// The names in the first column of the document's tables.
fn documented() -> BTreeSet<String> {
    document()
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(name, _)| name.to_owned())
        .collect()
}

#[test]
fn every_field_is_documented() {
    let missing: Vec<String> = fields().difference(&documented()).cloned().collect();
    assert!(missing.is_empty(), "docs/schema.md lacks {missing:?}");
}

#[test]
fn every_documented_field_exists() {
    let verdicts = ["changed", "untested", "not_significant", "identical"].map(str::to_owned);
    let known: BTreeSet<String> = fields().into_iter().chain(verdicts).collect();
    let stale: Vec<String> = documented().difference(&known).cloned().collect();
    assert!(stale.is_empty(), "docs/schema.md describes {stale:?}, which no result has");
}
