//! How CPUs used their idle states.

use serde::{Deserialize, Serialize};

/// How CPUs used their idle states, in the run or in the stretch of it that the result tells of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IdleResult {
    /// The governor that chose among them: `menu`.
    pub governor: String,
    /// Every CPU, by number.
    pub cpus: Vec<CpuIdle>,
    /// Where the machine file has its states and its governor from: `published: ...` or `assumed: ...`, each
    /// once.
    pub origins: Vec<String>,
}

impl IdleResult {
    /// How all CPUs together used each state.
    #[must_use]
    pub fn all_cpus(&self) -> Vec<IdleStateUse> {
        let Some((first, others)) = self.cpus.split_first() else { return Vec::new() };
        let mut all = first.states.clone();
        for cpu in others {
            for (sum, used) in all.iter_mut().zip(&cpu.states) {
                sum.usage += used.usage;
                sum.time_ns += used.time_ns;
                sum.above += used.above;
                sum.below += used.below;
            }
        }
        all
    }
}

/// How a CPU used its idle states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CpuIdle {
    /// CPU number.
    pub cpu: u32,
    /// Every state, from the shallowest to the deepest.
    pub states: Vec<IdleStateUse>,
}

impl CpuIdle {
    /// What came since `before`, an earlier moment of the same CPU.
    #[must_use]
    pub fn since(&self, before: &CpuIdle) -> CpuIdle {
        let of_state = |(now, before): (&IdleStateUse, &IdleStateUse)| IdleStateUse {
            state: now.state.clone(),
            usage: now.usage - before.usage,
            time_ns: now.time_ns - before.time_ns,
            above: now.above - before.above,
            below: now.below - before.below,
        };
        CpuIdle { cpu: self.cpu, states: self.states.iter().zip(&before.states).map(of_state).collect() }
    }
}

/// How a CPU used a state, as /sys/devices/system/cpu/cpuN/cpuidle/stateN counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct IdleStateUse {
    /// The state's name.
    pub state: String,
    /// Times that it was entered.
    pub usage: u64,
    /// Time in it, what it took to leave it included, nanoseconds.
    pub time_ns: u64,
    /// Times that a shallower state would have been better: it was left before its target residency.
    pub above: u64,
    /// Times that a deeper state would have been better.
    pub below: u64,
}
