//! What each load says about itself, in the words of the real program.

use crate::max_series::MaxSeries;
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
    RtApp(RtAppResult),
    /// The replay of a trace.
    Replay(ReplayResult),
}

/// Results of cyclictest.
#[derive(Clone, Debug)]
pub struct CyclictestResult {
    /// The measuring threads, by number.
    pub threads: Vec<CyclictestThread>,
    /// Largest latency of all threads by interval.
    pub series: MaxSeries,
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
    /// One latency for each cycle: clock after the wakeup less the time the timer was set to. The histogram
    /// is there when `-h` asked for it.
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
    /// From the release of each cycle to its end; its limit is the deadline. `None` for a load without
    /// releases.
    pub response: Option<LatencyStats>,
}

/// Results of wakeup-latency.
#[derive(Clone, Debug)]
pub struct WakeupLatencyResult {
    /// Who is woken.
    pub mode: WakeupLatencyMode,
    /// Period of the timer.
    pub interval: Nanos,
    /// For each served expiry: clock in the callback less the intended time.
    pub latency: LatencyStats,
    /// Expiries that passed while the signal of an earlier one was still pending.
    pub missed: u64,
}

/// Who serves the expiries of wakeup-latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeupLatencyMode {
    /// A new thread for each.
    SigevThread,
    /// One thread that sleeps.
    Nanosleep,
}

/// Results of fork_storm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForkStormResult {
    /// Jobs that are allowed to live at one time.
    pub jobs: u32,
    /// Processes that the storm created.
    pub forks: u64,
    /// Jobs that came to their end.
    pub finished: u64,
    /// Hogs beside the storm.
    pub hogs: u32,
    /// CPU time of all hogs.
    pub hog_cpu_time: Nanos,
    /// How long that took.
    pub elapsed: Nanos,
}

/// Results of keyrepeat.
#[derive(Clone, Debug)]
pub struct KeyrepeatResult {
    /// Time between two keys.
    pub period: Nanos,
    /// Keys that were drawn.
    pub frames: u64,
    /// Time between two drawings.
    pub between: LatencyStats,
    /// Standard deviation of these times: how unevenly the cursor moves.
    pub spread: Nanos,
    /// Times the cursor stood still for more than two periods.
    pub stops: u64,
    /// From a key to its drawing.
    pub response: LatencyStats,
}

/// Results of vmark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VmarkResult {
    /// Chat rooms.
    pub rooms: u32,
    /// Users of each.
    pub users: u32,
    /// Messages sent by clients.
    pub sent: u64,
    /// Messages received by clients.
    pub received: u64,
    /// From the start signal to the last receiver that has finished.
    pub elapsed: Nanos,
    /// Whether all have.
    pub finished: bool,
}

/// Results of oltp; without the warm-up unless said otherwise.
#[derive(Clone, Debug)]
pub struct OltpResult {
    /// Database server.
    pub db: OltpDb,
    /// Connections.
    pub clients: u32,
    /// How long it ran before counting.
    pub warmup: Nanos,
    /// How long it counted.
    pub time: Nanos,
    /// Answered reads.
    pub reads: u64,
    /// Answered BEGINs and COMMITs.
    pub others: u64,
    /// Committed transactions.
    pub transactions: u64,
    /// Answered requests of all kinds, those of the warm-up included.
    pub all_requests: u64,
    /// Of transactions.
    pub latency: LatencyStats,
}

/// Database servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OltpDb {
    /// PostgreSQL.
    Pgsql,
    /// MySQL.
    Mysql,
}
