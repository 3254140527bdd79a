//! How long woken tasks wait until they run.

use super::lengths::Take;
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

impl Waits {
    pub fn of(&self, log: &Log) -> f64 {
        self.take.of(self.lengths_ms(log))
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
