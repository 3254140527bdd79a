//! Results as data: what a run, a comparison, a reproduction, a sweep, a tuning, a calibration and an
//! inspection say, and how JSON says it.
//!
//! What is to run is data, too: [`ExperimentText`].
//!
//! Everything here is plain: integers in the unit that the name says, strings, lists, maps ordered by key. It
//! knows neither the simulator that fills it in nor the texts that show it, and builds for any target. Each
//! document of JSON has its schema:
//!
//! | type | schema |
//! |---|---|
//! | [`RunResult`] | `schedlab/1` |
//! | [`comparison::Comparison`] | `schedlab-compare/1` |
//! | [`reproduction::Reproduction`] | `schedlab-reproduce/1` |
//! | [`validation::Validation`] | `schedlab-validate/1` |
//! | [`calibration::Calibration`] | `schedlab-calibrate/1` |
//! | [`machine_check::MachineCheck`] | `schedlab-check/1` |
//! | [`InspectResult`] | `schedlab-inspect/1` |
//! | [`SweepResult`] | `schedlab-sweep/1` |
//! | [`TuneResult`] | `schedlab-tune/1` |
//! | [`SearchResult`] | `schedlab-search/1` |
//! | [`recordings::RecordingsComparison`] | `schedlab-inspect-compare/1` |
//! | [`why::WhyResult`] | `schedlab-why/1` |
//! | [`LogHead`] and [`LogRecord`] | `schedlab-log/1` |
//! | [`ListResult`] | `schedlab-list/1` |
//! | [`ExplainResult`] | `schedlab-explain/1` |
//!
//! The comments are the documentation: `docs/schema.md` and the JSON Schema `docs/schema.json` are made of
//! them, and tests keep these current. Rules of the schemas:
//! times are whole nanoseconds (`_ns`) or microseconds (`_us`) of simulated time unless the name says
//! otherwise; counters carry Linux's names and meaning (rt-class 11.1, fair-class 11.1); maps are ordered by
//! key; unknown fields are an error on reading, because a misspelt field that is silently dropped is a wrong
//! result. The one field that may differ between two identical runs is [`Engine::wall_ns`].

pub mod calibration;
mod catalogue;
pub mod comparison;
mod cpus;
mod deadlines;
mod experiment_text;
mod figures;
pub mod fit;
mod frequency;
mod groups;
mod histogram;
mod idle;
mod ids;
mod inspect;
mod latency_summary;
mod loads;
mod log;
pub mod machine_check;
mod metric;
mod names;
pub mod recordings;
mod replay;
pub mod reproduction;
mod run;
mod search;
mod sweep;
mod tasks;
mod tune;
mod units;
pub mod validation;
mod verdict;
pub mod why;

pub use catalogue::{Entry, ExplainResult, LimitDetails, ListResult, Section};
pub use cpus::{CpuResult, RqLockStats, Totals};
pub use deadlines::{DeadlineResult, DeadlineStat, DeadlineText};
pub use experiment_text::{
    ExperimentError, ExperimentText, FileText, LoadText, MachineText, RecordedGroups, RecordedLocks,
    RedrawText, RtAppDialect, Stretch, WakeupCosts,
};
pub use figures::{Field, Figure, Fold, Row};
pub use frequency::{CpuFrequency, FrequencyResult};
pub use groups::{
    GroupClamps, GroupLimit, GroupResult, GroupStat, GroupText, MemberText, PartitionResult, RtGroupLimit,
    is_in_group,
};
pub use histogram::{Histogram, Precision};
pub use idle::{CpuIdle, IdleResult, IdleStateUse};
pub use ids::{CpuId, Nanos, Pid, Prio};
pub use inspect::{
    InspectBucket, InspectCommand, InspectCpu, InspectDurations, InspectGap, InspectGroup, InspectLatency,
    InspectNote, InspectResult, InspectTask,
};
pub use latency_summary::{LatencySummary, percentile_step};
pub use loads::{
    CyclictestResult, CyclictestThread, ForkStormResult, HackbenchMode, HackbenchResult, KeyrepeatResult,
    LoadResult, MakeResult, MaxOverTime, OltpDb, OltpResult, OwnFigure, OwnResult, ReplayFinish,
    ReplayResult, RtMigrateCounts, RtMigrateResult, RtMigrateThread, RtappColumn, RtappResult, RtappThread,
    ThreadResult, ThreadsResult, UsHistogram, VmarkResult, WakeupLatencyMode, WakeupLatencyResult,
    measure_loads,
};
pub use log::{
    Log, LogArrival, LogBudget, LogEvent, LogGroup, LogHead, LogHeldOff, LogInterrupt, LogIpi, LogLock,
    LogPrevState, LogRecord, LogStep, LogTask, LogTaskRef,
};
pub use metric::{Better, Figures, Measurement, Metric, Unit};
pub use names::{
    CalibrateSchema, CheckSchema, CompareSchema, ExplainSchema, InspectCompareSchema, InspectSchema,
    ListSchema, LogSchema, ReproduceSchema, RunSchema, SearchSchema, SweepSchema, TuneSchema, ValidateSchema,
    WhySchema,
};
pub use replay::{Fidelity, Reference, ReplayFidelity, ReplayOrder, ReplaySummary, ReplayTask};
pub use run::{
    Dump, Engine, Kernel, KernelChange, Machine, Phase, ReadError, RecordedPath, RunResult, Window,
};
pub use search::{SearchMethod, SearchRecord, SearchResult};
pub use sweep::{SweepAxis, SweepFigure, SweepMetric, SweepPoint, SweepResult};
pub use tasks::{ClassLatency, LatencyByClass, Policy, TaskResult, TimeUnder};
pub use tune::{
    TuneConstraint, TuneDirection, TuneEffect, TuneFigure, TuneGoal, TuneHeld, TuneKnob, TuneResult,
    TuneRound, TuneState, TuneStep, TuneTrial, TuneVerdict,
};
pub use units::Seconds;
pub use verdict::{Answer, Grade, Question, ReplayVerdict};

#[cfg(test)]
mod document;
/// A document as indented JSON with a final newline.
fn json(document: &impl serde::Serialize) -> String {
    // Every map key is a string and every writer infallible, so this cannot fail for any of our types.
    let mut text = serde_json::to_string_pretty(document).expect("always representable as JSON");
    text.push('\n');
    text
}

#[cfg(any(test, feature = "examples"))]
pub mod example;
#[cfg(test)]
mod tests;
