//! What each load says about itself, in the words of the real program.

use crate::record::LatencyStats;
use crate::replay::ReplayResult;
use crate::rtapp::RtAppResult;
use scheduler::{Nanos, Pid};

/// Results of one load, so far or at its end.
#[derive(Clone, Debug)]
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
    /// An rt-app file.
    RtApp(RtAppResult),
    /// The replay of a trace.
    Replay(ReplayResult),
}

/// Results of cyclictest.
#[derive(Clone, Debug)]
pub struct CyclictestResult {
    /// The measuring threads, by number.
    pub threads: Vec<CyclictestThread>,
}

/// One measuring thread of cyclictest.
#[derive(Clone, Debug)]
pub struct CyclictestThread {
    /// Pid.
    pub pid: Pid,
    /// Real-time priority; 0 under a fair policy.
    pub prio: u8,
    /// Interval between two wakeups.
    pub interval: Nanos,
    /// One latency for each cycle: clock after the wakeup less the time the timer was set to. The histogram is there
    /// when `-h` asked for it.
    pub latency: LatencyStats,
}

/// Results of rt-migrate.
#[derive(Clone, Debug)]
pub struct RtMigrateResult {
    /// By id.
    pub threads: Vec<RtMigrateThread>,
}

/// One row of seed 000's table: the thread's own counters after its latest complete pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtMigrateThread {
    /// Pid.
    pub pid: Pid,
    /// nr_voluntary_switches.
    pub voluntary_switches: u64,
    /// nr_involuntary_switches.
    pub involuntary_switches: u64,
    /// se.nr_migrations.
    pub migrations: u64,
    /// Passes over all locks.
    pub iterations: u64,
}

/// Results of hackbench.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HackbenchResult {
    /// What the tasks are.
    pub mode: HackbenchMode,
    /// Number of groups.
    pub groups: u32,
    /// File descriptors of a group, twice `-f`; as many tasks.
    pub fds_per_group: u32,
    /// Messages that a sender passes to each receiver of its group.
    pub loops: u64,
    /// Size of a message.
    pub data_size_bytes: u64,
    /// From the start of the first task to the end of the last; `None` while they run.
    pub time: Option<Nanos>,
}

impl HackbenchResult {
    /// Tasks of all groups.
    pub fn tasks(&self) -> u32 {
        self.groups * self.fds_per_group
    }
}

/// What hackbench's tasks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HackbenchMode {
    /// Processes.
    Process,
    /// Threads.
    Thread,
}

/// Results of `make -jN`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MakeResult {
    /// Jobs at one time.
    pub jobs: u32,
    /// Objects built so far.
    pub objects: u64,
    /// From make's start to its end; `None` while it runs.
    pub time: Option<Nanos>,
}

/// Results of a load that is only threads in a loop.
#[derive(Clone, Debug)]
pub struct ThreadsResult {
    /// In the order of the load.
    pub threads: Vec<ThreadResult>,
}

/// One thread of a [`ThreadsResult`].
#[derive(Clone, Debug)]
pub struct ThreadResult {
    /// Pid.
    pub pid: Pid,
    /// Command name.
    pub name: String,
    /// Completed cycles.
    pub cycles: u64,
    /// From the release of each cycle to its end; its limit is the deadline. `None` for a load without releases.
    pub response: Option<LatencyStats>,
}
