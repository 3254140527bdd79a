//! How long woken tasks wait until they run.

use super::quantile;
use crate::validate::log::{Names, millis};
use schema::{Log, LogEvent};
use serde::Deserialize;
use std::collections::BTreeMap;
use workload::replay::TaskSelector;

/// Whose waits, and what of them. They begin where the wakeup does.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct Waits {
    /// Tasks of this name, or pattern of names.
    of: String,
    take: Take,
}

#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Take {
    /// How many per cent are the first long, at least, and shorter than the second, milliseconds.
    PercentBetweenMs([f64; 2]),
    /// The length that this share of them does not exceed, milliseconds.
    QuantileMs(f64),
}

impl Waits {
    pub fn of(&self, log: &Log) -> f64 {
        let lengths = self.lengths_ms(log);
        match self.take {
            Take::QuantileMs(share) => quantile(lengths, share),
            Take::PercentBetweenMs([least, most]) => {
                let between = lengths.iter().filter(|length| (least..most).contains(*length)).count();
                100.0 * between as f64 / lengths.len().max(1) as f64
            }
        }
    }

    fn lengths_ms(&self, log: &Log) -> Vec<f64> {
        // What cannot be read as a pattern is one name.
        let whom: TaskSelector = self.of.parse().unwrap_or(TaskSelector::Comm(self.of.clone()));
        let (mut names, mut since, mut lengths) = (Names::of(log), BTreeMap::new(), Vec::new());
        for record in &log.records {
            names.see(&record.event);
            match &record.event {
                LogEvent::SchedWaking { task, .. } if names.is(&whom, task.pid) => {
                    since.insert(task.pid, millis(record.time));
                }
                LogEvent::SchedSwitch { next, .. } => {
                    lengths.extend(since.remove(&next.pid).map(|start| millis(record.time) - start));
                }
                _ => {}
            }
        }
        lengths
    }
}
