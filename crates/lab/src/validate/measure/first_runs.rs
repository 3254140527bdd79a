//! How long new tasks wait from their first wakeup until they run.

use super::quantile;
use crate::validate::log::millis;
use schema::{Log, LogEvent};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What of them.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::validate) enum FirstRuns {
    /// The wait that this share of them does not exceed, milliseconds.
    QuantileMs(f64),
}

impl FirstRuns {
    pub fn of(self, log: &Log) -> f64 {
        let (mut since, mut waits) = (BTreeMap::new(), Vec::new());
        for record in &log.records {
            match &record.event {
                LogEvent::SchedWakeupNew { task, .. } => {
                    since.insert(task.pid, millis(record.time));
                }
                LogEvent::SchedSwitch { next, .. } => {
                    waits.extend(since.remove(&next.pid).map(|start| millis(record.time) - start));
                }
                _ => {}
            }
        }
        let FirstRuns::QuantileMs(share) = self;
        quantile(waits, share)
    }
}
