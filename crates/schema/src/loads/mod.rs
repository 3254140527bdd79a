//! What each load reports about itself, in the words of the real program. One file a load.

mod cyclictest;
mod fork_storm;
mod hackbench;
mod keyrepeat;
mod make;
mod oltp;
mod own;
mod replay;
mod rt_migrate;
mod rtapp;
mod seed004;
mod threads;
mod vmark;
mod wakeup_latency;

pub use cyclictest::{CyclictestResult, CyclictestThread, MaxOverTime, UsHistogram};
pub use fork_storm::ForkStormResult;
pub use hackbench::{HackbenchMode, HackbenchResult};
pub use keyrepeat::KeyrepeatResult;
pub use make::MakeResult;
pub use oltp::{OltpDb, OltpResult};
pub use own::{OwnFigure, OwnResult};
pub use replay::{ReplayFinish, ReplayResult};
pub use rt_migrate::{RtMigrateCounts, RtMigrateResult, RtMigrateThread};
pub use rtapp::{RtappColumn, RtappResult, RtappThread};
pub use threads::{ThreadResult, ThreadsResult};
pub use vmark::VmarkResult;
pub use wakeup_latency::{WakeupLatencyMode, WakeupLatencyResult};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Figures, RunResult};

/// What a load reports.
trait Reports {
    /// What it calls itself; `None` for a load that is called as its kind is.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Adds its figures in a comparison; `run` is the one that it was part of.
    fn figures(&self, run: &RunResult, figures: &mut Figures);
}

/// The loads. A line is a variant with its documentation, the name of the kind in the JSON, and what people
/// call it.
macro_rules! loads {
    ($($(#[$doc:meta])* $load:ident($result:ident) = $kind:literal, $label:literal;)*) => {
        /// What one load reports. JSON tells the kinds apart by the field `kind`.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(tag = "kind")]
        pub enum LoadResult {
            $($(#[$doc])* #[serde(rename = $kind)] $load($result),)*
        }

        impl LoadResult {
            /// The load as it was given on the command line.
            #[must_use]
            pub fn load(&self) -> &str {
                match self {
                    $(Self::$load(result) => &result.load,)*
                }
            }

            /// The name of the kind, as in JSON's `kind`.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$load(_) => $kind,)*
                }
            }

            /// What people call the kind.
            fn label(&self) -> &'static str {
                match self {
                    $(Self::$load(_) => $label,)*
                }
            }

            fn name(&self) -> Option<&str> {
                match self {
                    $(Self::$load(result) => result.name(),)*
                }
            }

            fn figures(&self, run: &RunResult, figures: &mut Figures) {
                match self {
                    $(Self::$load(result) => result.figures(run, figures),)*
                }
            }
        }
    };
}

loads! {
    /// cyclictest of rt-tests.
    Cyclictest(CyclictestResult) = "cyclictest", "cyclictest";
    /// rt-migrate, the program of seed 000.
    RtMigrate(RtMigrateResult) = "rt_migrate", "rt-migrate";
    /// hackbench of rt-tests.
    Hackbench(HackbenchResult) = "hackbench", "hackbench";
    /// `make -jN`.
    Make(MakeResult) = "make", "make";
    /// Endless loops.
    Hog(ThreadsResult) = "hog", "hog";
    /// Periodic tasks.
    Periodic(ThreadsResult) = "periodic", "periodic";
    /// wakeup-latency, the program of seed 003.
    WakeupLatency(WakeupLatencyResult) = "wakeup_latency", "wakeup-latency";
    /// A storm of forks beside hogs.
    ForkStorm(ForkStormResult) = "fork_storm", "fork_storm";
    /// A key held down in a terminal.
    Keyrepeat(KeyrepeatResult) = "keyrepeat", "keyrepeat";
    /// Chat rooms.
    Vmark(VmarkResult) = "vmark", "vmark";
    /// sysbench's OLTP test.
    Oltp(OltpResult) = "oltp", "oltp";
    /// A load of somebody who programs against the library.
    Own(OwnResult) = "own", "own load";
    /// An rt-app file: the columns of rt-app's log, summed up over the loops of each thread.
    Rtapp(RtappResult) = "rtapp", "rt-app";
    /// A recorded trace.
    Replay(ReplayResult) = "replay", "replay";
}

/// The figures of every load of a run, in the order of the loads. A second load of a kind is called
/// `cyclictest#2`.
pub fn measure_loads(run: &RunResult, figures: &mut Figures) {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for load in &run.loads {
        let (key, label) = load.name().map_or((load.kind(), load.label()), |name| (name, name));
        let number = seen.entry(key).or_insert(0);
        *number += 1;
        let suffix = if *number == 1 { String::new() } else { format!("#{number}") };
        figures.group(&format!("{key}{suffix}"), &format!("{label}{suffix}"));
        load.figures(run, figures);
    }
}

/// So many in so long; `None` for no time.
fn per_second(number: u64, ns: u64) -> Option<u64> {
    (u128::from(number) * 1_000_000_000).checked_div(u128::from(ns)).map(|rate| rate as u64)
}
