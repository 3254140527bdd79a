//! What each load reports about itself, in the words of the real program. One file a load.

mod cyclictest;
mod fork_storm;
mod hackbench;
mod keyrepeat;
mod make;
mod oltp;
mod replay;
mod rt_migrate;
mod rtapp;
mod threads;
mod vmark;
mod wakeup_latency;

pub use cyclictest::{CyclictestResult, CyclictestThread, MaxOverTime, UsHistogram};
pub use fork_storm::ForkStormResult;
pub use hackbench::{HackbenchMode, HackbenchResult};
pub use keyrepeat::KeyrepeatResult;
pub use make::MakeResult;
pub use oltp::{OltpDb, OltpResult};
pub use replay::{ReplayFinish, ReplayResult};
pub use rt_migrate::{RtMigrateCounts, RtMigrateResult, RtMigrateThread};
pub use rtapp::{RtappColumn, RtappResult, RtappThread};
pub use threads::{ThreadResult, ThreadsResult};
pub use vmark::VmarkResult;
pub use wakeup_latency::{WakeupLatencyMode, WakeupLatencyResult};

use serde::{Deserialize, Serialize};

/// What one load reports. JSON tells the kinds apart by the field `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// So many in so long; `None` for no time.
fn per_second(number: u64, ns: u64) -> Option<u64> {
    (u128::from(number) * 1_000_000_000).checked_div(u128::from(ns)).map(|rate| rate as u64)
}
