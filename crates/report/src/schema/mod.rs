//! Schema `schedlab/1`: the result of one run, as written to and read from JSON.
//!
//! Every field is described for users in `docs/schema.md`; a test keeps the two in step. Rules of the schema:
//! times are whole nanoseconds (`_ns`) or microseconds (`_us`) of simulated time unless the name says
//! otherwise; counters carry Linux's names and meaning (rt-class 11.1, fair-class 11.1); maps are ordered by
//! key; unknown fields are an error on reading, because a misspelt field that is silently dropped is a wrong
//! result.

mod catalogue;
mod cpus;
mod fair_loads;
mod inspect;
mod latency_summary;
mod loads;
mod replay;
mod rtapp;
mod run;
mod tasks;
mod units;
mod verdict;

pub use catalogue::{Entry, ExplainResult, LimitDetails, ListResult, Section};
pub use cpus::{CpuResult, RqLockStats, Totals};
pub use fair_loads::{
    ForkStormResult, KeyrepeatResult, OltpDb, OltpResult, VmarkResult, WakeupLatencyMode, WakeupLatencyResult,
};
pub use inspect::{
    InspectBucket, InspectCommand, InspectCpu, InspectDurations, InspectGap, InspectLatency, InspectNote,
    InspectResult, InspectTask,
};
pub use latency_summary::LatencySummary;
pub use loads::{
    CyclictestResult, CyclictestThread, HackbenchMode, HackbenchResult, LoadResult, MakeResult, MaxOverTime,
    ReplayFinish, ReplayResult, RtMigrateCounts, RtMigrateResult, RtMigrateThread, ThreadResult,
    ThreadsResult, UsHistogram,
};
pub use replay::{Fidelity, Reference, ReplayFidelity, ReplayOrder, ReplaySummary, ReplayTask};
pub use rtapp::{RtappColumn, RtappResult, RtappThread};
pub use run::{
    Dump, Engine, Kernel, KernelChange, Machine, Phase, ReadError, RecordedPath, RunResult, RunSchema, Window,
};
pub use tasks::{Policy, TaskResult, TimeUnder};
pub use units::Seconds;
pub use verdict::{Answer, Grade, Question, ReplayVerdict};

#[cfg(test)]
mod doc_tests;
#[cfg(test)]
pub(crate) mod example;
#[cfg(test)]
mod tests;
