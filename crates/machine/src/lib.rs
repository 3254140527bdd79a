//! Simulated hardware: virtual time, events, CPUs, interrupts, timers, caches and lock timing.

mod behaviour;
mod cpusets;
mod engine;
mod fixed;
mod group;
mod objects;
mod outcome;
mod paths;
mod rng;
mod rt_limits;
mod sections;
mod setup;
mod snapshot;
mod softirq;
mod spec;
mod starvation;
mod step;
mod step_text;
mod told;
mod window;

pub use behaviour::{Behaviour, Env, ForkKind, TaskCounters, TaskSpec};
pub use cpusets::PartitionOutcome;
#[doc(hidden)]
pub use engine::bare_engine;
pub use engine::{Machine, Redraw, RunOptions, TimedSetting, Tracing};
pub use group::{
    GroupOutcome, GroupSpec, PartitionKind, QuotaOutcome, QuotaSpec, RtLimitOutcome, RtLimitSpec,
};
pub use objects::{
    Backoff, BarrierId, ChannelId, ChannelSpec, DeviceId, DeviceSpec, FutexId, Objects, Room, SpinlockId,
};
pub use outcome::{
    DeadlockLink, DecisionCount, LatencyByClass, LatencyTally, Outcome, RunError, StuckTask, TaskOrigin,
    TaskOutcome, TimeUnder,
};
pub use paths::{CountedFrom, Onto, PathTimes, Situation, WakePaths, WokenFrom};
pub use rng::{Purpose, Rng};
pub use scheduler::mutex::MutexKind;
pub use sections::Sections;
pub use setup::{Arrival, FIRST_PID, MutexSpec, Outside, OutsideChange, Setup, Spawn, TimedChange};
pub use snapshot::{
    BudgetSnapshot, CpuSnapshot, DlQueueSnapshot, DomainSnapshot, EevdfQueueSnapshot, ExitedTasks,
    FairEntitySnapshot, FairGroupQueueSnapshot, FairQueueSnapshot, RemovedSnapshot, RtGroupQueueSnapshot,
    RtQueueSnapshot, Snapshot, SnapshotPlan, TaskSnapshot,
};
pub use softirq::{SOFT_LOCKUP, SoftirqCounts, SoftirqGap, SoftirqSpec, SoftirqTally, Visits};
pub use spec::{
    BUILTIN, Builtin, ByDistance, CacheModel, ColdPath, CostInfo, Costs, CpuSpeed, Distance, Governor,
    IdleMonitor, IdleState, IdleStates, IrqOff, KthreadNoise, MachineSpec, Memory, Noise, Operation, Origin,
    OriginKind, Points, Rwsems, SpecError, Spread, Stretch, Stretches, WakeEvent, Woken,
};
pub use starvation::{HELD_UP_AFTER, STARVED_AFTER, StarvedCounts, WaitCounts, WaitTally};
pub use step::{LoneStep, NotAlone, Operand, Step, ToldStep};
pub use step_text::{OF_ANOTHER, policy_text};
pub use told::{TaskStart, ToldMessage};
pub use window::{Window, WindowOutcome};
