//! rt-migrate, the program of seed 000 (rt-class 13.1).

use serde::{Deserialize, Serialize};

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
