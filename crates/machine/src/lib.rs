//! Simulated hardware: virtual time, events, CPUs, interrupts, timers, caches and lock timing.

mod behaviour;
mod fixed;
mod objects;
mod rng;
mod setup;
mod spec;

pub use behaviour::{Behaviour, Env, ForkKind, Step, TaskCounters, TaskSpec};
pub use objects::{BarrierId, ChannelId, ChannelSpec, FutexId, MutexKind, SpinlockId};
pub use rng::{Purpose, Rng};
pub use setup::{FIRST_PID, MutexSpec, Outside, Setup, Spawn};
pub use spec::{
    ByDistance, CacheModel, CostInfo, Costs, Distance, IrqOff, KthreadNoise, MachineSpec, Noise, Origin,
    OriginKind, SpecError, Spread,
};
