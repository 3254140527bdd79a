//! How long tasks run until a tick or another task takes the CPU away.

use super::lengths::Take;
use crate::validate::log::{Names, millis};
use schema::{Log, LogEvent, LogPrevState};
use serde::Deserialize;
use std::collections::BTreeMap;
use workload::replay::TaskSelector;

/// Whose, and what of them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct Stints {
    /// Tasks of this name, or pattern of names.
    of: String,
    take: Take,
}

impl Stints {
    pub fn of(&self, log: &Log) -> f64 {
        self.take.of(self.lengths_ms(log))
    }

    fn lengths_ms(&self, log: &Log) -> Vec<f64> {
        let whom: TaskSelector = self.of.parse().unwrap_or(TaskSelector::Comm(self.of.clone()));
        let (mut names, mut since, mut lengths) = (Names::of(log), BTreeMap::new(), Vec::new());
        for record in &log.records {
            names.see(&record.event);
            let LogEvent::SchedSwitch { prev, prev_state, next } = &record.event else { continue };
            let was_running = matches!(prev_state, LogPrevState::Runnable | LogPrevState::Preempted);
            if was_running
                && names.is(&whom, prev.pid)
                && let Some(start) = since.get(&prev.pid)
            {
                lengths.push(millis(record.time) - start);
            }
            since.insert(next.pid, millis(record.time));
        }
        lengths
    }
}
