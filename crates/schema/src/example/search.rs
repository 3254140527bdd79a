//! A search with every field.

use super::run;
use crate::{Better, Metric, SearchMethod, SearchRecord, SearchResult, SearchSchema, TuneDirection, Unit};

/// Three records, of which the last reached what was wanted.
pub fn search() -> SearchResult {
    let record = |run: u64, value: u64, redraws: u64| SearchRecord { run, value, redraws };
    SearchResult {
        schema: SearchSchema,
        command: Some(
            "schedlab search 'cyclictest -t2' --maximize 'max(cyclictest)' --until 300us".to_owned(),
        ),
        version: "0.1.0".to_owned(),
        loads: vec!["cyclictest -t2".to_owned()],
        goal: "max(cyclictest)".to_owned(),
        direction: TuneDirection::Maximize,
        metric: Metric {
            key: "cyclictest.worst_latency".to_owned(),
            label: "cyclictest worst latency".to_owned(),
            unit: Unit::Nanoseconds,
            better: Better::Lower,
            resolution: 1,
            headline: true,
        },
        method: SearchMethod::Guided,
        runs: 96,
        stopped: false,
        failed: 1,
        records: vec![record(1, 120_000, 0), record(17, 250_000, 1), record(81, 310_000, 3)],
        reached: Some(record(81, 310_000, 3)),
        experiment: run().experiment.unwrap_or_default(),
    }
}
