//! What each load reports about itself, in the words of the real program.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::{
    ForkStormResult, KeyrepeatResult, LatencySummary, OltpResult, RtappResult, Seconds, VmarkResult,
    WakeupLatencyResult,
};

/// What one load reports. JSON tells the kinds apart by the field `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadResult {
    /// cyclictest of rt-tests.
    Cyclictest(CyclictestResult),
    /// rt-migrate, the program of seed 000.
    RtMigrate(RtMigrateResult),
    /// hackbench of rt-tests.
    Hackbench(HackbenchResult),
    /// `make -jN`.
    Make(MakeResult),
    /// Endless loops.
    Hog(ThreadsResult),
    /// Periodic tasks.
    Periodic(ThreadsResult),
    /// wakeup-latency, the program of seed 003.
    WakeupLatency(WakeupLatencyResult),
    /// A storm of forks beside hogs.
    ForkStorm(ForkStormResult),
    /// A key held down.
    Keyrepeat(KeyrepeatResult),
    /// Chat rooms.
    Vmark(VmarkResult),
    /// sysbench's OLTP test.
    Oltp(OltpResult),
    /// An rt-app file.
    Rtapp(RtappResult),
    /// A recorded trace.
    Replay(ReplayResult),
}

impl LoadResult {
    /// The load as it was given on the command line.
    #[must_use]
    pub fn load(&self) -> &str {
        match self {
            Self::Cyclictest(r) => &r.load,
            Self::RtMigrate(r) => &r.load,
            Self::Hackbench(r) => &r.load,
            Self::Make(r) => &r.load,
            Self::Hog(r) | Self::Periodic(r) => &r.load,
            Self::WakeupLatency(r) => &r.load,
            Self::ForkStorm(r) => &r.load,
            Self::Keyrepeat(r) => &r.load,
            Self::Vmark(r) => &r.load,
            Self::Oltp(r) => &r.load,
            Self::Rtapp(r) => &r.load,
            Self::Replay(r) => &r.load,
        }
    }

    /// The name of the kind, as in JSON's `kind`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Cyclictest(_) => "cyclictest",
            Self::RtMigrate(_) => "rt_migrate",
            Self::Hackbench(_) => "hackbench",
            Self::Make(_) => "make",
            Self::Hog(_) => "hog",
            Self::Periodic(_) => "periodic",
            Self::WakeupLatency(_) => "wakeup_latency",
            Self::ForkStorm(_) => "fork_storm",
            Self::Keyrepeat(_) => "keyrepeat",
            Self::Vmark(_) => "vmark",
            Self::Oltp(_) => "oltp",
            Self::Rtapp(_) => "rtapp",
            Self::Replay(_) => "replay",
        }
    }
}

/// Results of cyclictest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyclictestResult {
    /// The load as it was given.
    pub load: String,
    /// Number of one-microsecond buckets asked for with `-h`; absent without it. Buckets are 0 to this less
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram_us: Option<u64>,
    /// The measuring threads, by number.
    pub threads: Vec<CyclictestThread>,
    /// Largest latency of all threads in the course of the run.
    pub max_over_time: MaxOverTime,
}

/// Largest value of each interval of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxOverTime {
    /// Length of an interval, nanoseconds. The first begins at time 0.
    pub interval_ns: u64,
    /// Largest of each interval, nanoseconds; 0 where nothing came.
    pub max_ns: Vec<u64>,
}

impl MaxOverTime {
    /// Largest of the intervals that lie wholly between two times of the run; `None` if none does.
    #[must_use]
    pub fn between_ns(&self, from_ns: u64, to_ns: u64) -> Option<u64> {
        let starts = (0..).map(|i: u64| i * self.interval_ns);
        let within = |start: u64| from_ns <= start && start + self.interval_ns <= to_ns;
        self.max_ns.iter().zip(starts).filter(|(_, start)| within(*start)).map(|(max, _)| *max).max()
    }
}

/// One measuring thread of cyclictest. Latency = time read after waking up, less the time the timer was set
/// to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyclictestThread {
    /// Number of the thread.
    pub t: u32,
    /// Task id.
    pub pid: u32,
    /// Real-time priority.
    pub prio: u32,
    /// Interval, microseconds.
    pub interval_us: u64,
    /// Completed cycles.
    pub cycles: u64,
    /// Smallest latency, whole microseconds (cut, not rounded, as the real tool does).
    pub min_us: u64,
    /// Last latency.
    pub act_us: u64,
    /// Mean latency.
    pub avg_us: u64,
    /// Largest latency.
    pub max_us: u64,
    /// The same latencies in nanoseconds, finer than the real tool tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencySummary>,
    /// Count by latency in whole microseconds; buckets that are empty are left out.
    pub histogram: UsHistogram,
    /// Latencies beyond the last bucket.
    pub overflows: u64,
    /// Numbers of the first cycles that fell beyond the last bucket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overflow_cycles: Vec<u64>,
}

/// Counts by whole microseconds. In JSON an object `{"5": 1, "6": 1165}`, as rt-tests writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UsHistogram {
    /// Count of each latency in microseconds.
    pub counts: BTreeMap<u64, u64>,
}

impl UsHistogram {
    /// Adds one sample.
    pub fn record_us(&mut self, us: u64) {
        *self.counts.entry(us).or_insert(0) += 1;
    }

    /// Number of samples in the buckets.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Count of one bucket.
    #[must_use]
    pub fn count_at(&self, us: u64) -> u64 {
        self.counts.get(&us).copied().unwrap_or(0)
    }
}

impl<'de> Deserialize<'de> for UsHistogram {
    // By hand, because serde cannot read integer keys inside a tagged enum.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let mut counts = BTreeMap::new();
        for (key, count) in raw {
            let us = key.parse().map_err(|_| {
                serde::de::Error::custom(format!("histogram key {key:?} is not a number of microseconds"))
            })?;
            counts.insert(us, count);
        }
        Ok(Self { counts })
    }
}

/// Results of rt-migrate, the program of seed 000 (rt-class 13.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Results of hackbench.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HackbenchResult {
    /// The load as it was given.
    pub load: String,
    /// Whether the tasks are processes or threads.
    pub mode: HackbenchMode,
    /// Number of groups (`-g`).
    pub groups: u32,
    /// File descriptors of each group, twice `-f`.
    pub fds_per_group: u32,
    /// Tasks of all groups together.
    pub tasks: u32,
    /// Messages that each sender passes (`-l`).
    pub loops: u64,
    /// Size of a message in bytes (`-s`).
    pub data_size_bytes: u64,
    /// From the start signal to the end of the last task; absent when the run ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_s: Option<Seconds>,
}

/// What hackbench's tasks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HackbenchMode {
    /// Processes (`-P`, the default).
    Process,
    /// Threads (`-T`).
    Thread,
}

/// Results of `make -jN`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakeResult {
    /// The load as it was given.
    pub load: String,
    /// Jobs at one time (`-j`).
    pub jobs: u32,
    /// Objects that were built.
    pub objects: u64,
    /// From start to the last object; absent when the run ended before all were built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}

/// Results of a load that is only threads in a loop: hog, periodic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadsResult {
    /// The load as it was given.
    pub load: String,
    /// The threads, in the order of the load.
    pub threads: Vec<ThreadResult>,
}

/// One thread of a [`ThreadsResult`]. Its CPU time and switches stand in `tasks` under the same pid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadResult {
    /// Number of the thread within the load.
    pub t: u32,
    /// Task id.
    pub pid: u32,
    /// Command name.
    pub name: String,
    /// Completed cycles.
    pub cycles: u64,
    /// Cycles that ended after their deadline; absent for a load without deadlines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_misses: Option<u64>,
    /// From the release of a cycle to its end, nanoseconds; absent for a load without releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<LatencySummary>,
}

/// Results of the replay of a trace. How close it came to the recording is in [`super::ReplayFidelity`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayResult {
    /// The load as it was given: the trace's file name.
    pub load: String,
    /// Tasks that were replayed.
    pub tasks: u32,
    /// CPU bursts in the trace.
    pub bursts: u64,
    /// Of these, how many were run to their end.
    pub bursts_completed: u64,
    /// Length of the recording.
    pub recorded_s: Seconds,
    /// From the start to the end of the last burst of any task, kernel threads included; absent when the run
    /// ended before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
    /// When what was recorded is done; absent if nothing in the recording exits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<ReplayFinish>,
}

/// When what was recorded is done: the last exit among the recorded command and its descendants, and where
/// the trace does not show a command, among all tasks that exit in the recording, kernel threads left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayFinish {
    /// Name of the recorded command; absent where the trace shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comm: Option<String>,
    /// Tasks that exit.
    pub tasks: u32,
    /// Whether its tasks seem to end when the time is up, not when their work is done: then no replay tells
    /// when they would be done on another machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_clock: bool,
    /// The last exit in the recording, from its start; absent for a workload file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_s: Option<Seconds>,
    /// The last exit in the replay, from the start of the recording; absent if some task had not exited when
    /// the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}
