//! rt-migrate, the program of seed 000 (rt-class 13.1).

use serde::{Deserialize, Serialize};

use super::Reports;
use crate::{Better, Figures, RunResult};

/// Results of rt-migrate, the program of seed 000 (rt-class 13.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RtMigrateResult {
    /// The load as it was given.
    pub load: String,
    /// The threads, by id.
    pub threads: Vec<RtMigrateThread>,
    /// Sums of the columns.
    pub total: RtMigrateCounts,
}

impl RtMigrateResult {
    /// A result whose total is the sum of its threads.
    #[must_use]
    pub fn new(load: String, threads: Vec<RtMigrateThread>) -> Self {
        let mut total = RtMigrateCounts::default();
        for thread in &threads {
            total.vol += thread.vol;
            total.nonvol += thread.nonvol;
            total.migrated += thread.migrated;
            total.iterations += thread.iterations;
        }
        Self { load, threads, total }
    }
}

/// One row of seed 000's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RtMigrateThread {
    /// Number of the thread; the higher, the higher its priority.
    pub id: u32,
    /// Voluntary switches.
    pub vol: u64,
    /// Involuntary switches.
    pub nonvol: u64,
    /// Migrations.
    pub migrated: u64,
    /// Completed passes over all locks.
    pub iterations: u64,
}

/// The last row of seed 000's table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RtMigrateCounts {
    /// Voluntary switches.
    pub vol: u64,
    /// Involuntary switches.
    pub nonvol: u64,
    /// Migrations.
    pub migrated: u64,
    /// Completed passes over all locks.
    pub iterations: u64,
}

impl Reports for RtMigrateResult {
    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        let total = &self.total;
        figures.count("migrated", "migrated", Better::Lower, total.migrated).headline();
        figures.count("nonvol", "nonvol", Better::Lower, total.nonvol);
        figures.count("vol", "vol", Better::Neutral, total.vol);
        figures.count("iterations", "iterations", Better::Higher, total.iterations).headline();
        for (index, t) in self.threads.iter().enumerate() {
            let highest_priority = index + 1 == self.threads.len();
            let mut one = |figure: &str, better: Better, value: u64| {
                let label = format!("T{} {figure}", t.id);
                figures.count(&format!("t{}.{figure}", t.id), &label, better, value).headline =
                    highest_priority && figure == "migrated";
            };
            one("migrated", Better::Lower, t.migrated);
            one("nonvol", Better::Lower, t.nonvol);
            one("vol", Better::Neutral, t.vol);
            one("iterations", Better::Higher, t.iterations);
        }
    }
}
