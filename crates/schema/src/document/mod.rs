//! Documentation of the JSON and its JSON Schema, both made of the types and their comments.
//!
//! They are stored in docs/schema.md and docs/schema.json. After a change,
//! `SNAPSHOTS=overwrite cargo test -p schedlab-schema` writes them anew.

mod fields;
mod json_schema;
mod markdown;

use fields::Fields;
use markdown::Document;
use serde_json::Value;
use snapbox::{Data, assert_data_eq};

use crate::{LatencyByClass, LoadResult, Question, Window, example};

const DOCUMENTS: [Document; 15] = [
    Document { title: "Result of a run", definition: "RunResult", lines: None },
    Document { title: "Answer of a comparison", definition: "Comparison", lines: None },
    Document { title: "Published experiments", definition: "Reproduction", lines: None },
    Document { title: "How true it is", definition: "Validation", lines: None },
    Document { title: "This computer as a machine file", definition: "Calibration", lines: None },
    Document { title: "How far a machine file holds here", definition: "MachineCheck", lines: None },
    Document { title: "What a sweep comes to", definition: "SweepResult", lines: None },
    Document { title: "Which settings serve best", definition: "TuneResult", lines: None },
    Document { title: "The worst case on purpose", definition: "SearchResult", lines: None },
    Document { title: "What is in a trace", definition: "InspectResult", lines: None },
    Document { title: "Two recordings side by side", definition: "RecordingsComparison", lines: None },
    Document { title: "What there is", definition: "ListResult", lines: None },
    Document { title: "All about one name", definition: "ExplainResult", lines: None },
    Document { title: "Why tasks were late", definition: "WhyResult", lines: None },
    Document { title: "Log of a run", definition: "LogHead", lines: Some("LogRecord") },
];

fn fields(schema: &Value) -> Fields {
    let mut fields = Fields::default();
    let mut run = example::run();
    run.kernel.asked = Some("debian12".to_owned());
    run.window = Some(Window { from_ns: 0, to_ns: 1 });
    run.replay[0].tasks[0].of_command = true;
    run.replay[0].tasks[0].poor.push(Question::Order);
    run.tasks[0].latency_by_class = Some(LatencyByClass::default());
    for load in &mut run.loads {
        if let LoadResult::Replay(replay) = load {
            replay.finish.iter_mut().for_each(|finish| {
                finish.by_clock = true;
                finish.perhaps_by_clock = true;
                finish.of_some_cpus = true;
            });
        }
    }
    fields.see(schema, "RunResult", &run);
    fields.see(schema, "Comparison", &example::comparison());
    fields.see(schema, "Reproduction", &example::reproduction::reproduction());
    fields.see(schema, "Validation", &example::validation::validation());
    fields.see(schema, "Calibration", &example::calibration::calibration());
    fields.see(schema, "MachineCheck", &example::machine_check::machine_check());
    let mut sweep = example::sweep();
    sweep.verdicts.push("the replay of make10.dat is good for switches (5.8 % off)".to_owned());
    fields.see(schema, "SweepResult", &sweep);
    fields.see(schema, "TuneResult", &example::tuning());
    fields.see(schema, "SearchResult", &example::search());
    let mut inspect = example::inspect();
    inspect.latency.rows[0].of_command = true;
    fields.see(schema, "InspectResult", &inspect);
    fields.see(schema, "RecordingsComparison", &example::recordings());
    fields.see(schema, "ListResult", &example::list());
    fields.see(schema, "ExplainResult", &example::explanation());
    fields.see(schema, "WhyResult", &example::why());
    let log = example::log();
    fields.see(schema, "LogHead", &log.head);
    log.records.iter().for_each(|record| fields.see(schema, "LogRecord", record));
    fields
}

fn stored(name: &str) -> Data {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    Data::read_from(std::path::Path::new(&path), None).raw()
}

#[test]
fn the_stored_json_schema_is_that_of_the_types() {
    let text = serde_json::to_string_pretty(&json_schema::all()).expect("JSON") + "\n";
    assert_data_eq!(text, stored("schema.json"));
}

#[test]
fn the_documentation_is_that_of_the_types() {
    let schema = json_schema::all();
    assert_data_eq!(markdown::page(&schema, &DOCUMENTS, &fields(&schema)), stored("schema.md"));
}
