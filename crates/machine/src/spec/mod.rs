//! From what a machine is made, its spec: topology, costs, caches and noise, each figure with its origin.

mod builtin;
mod cold;
mod costs;
mod entries;
mod error;
mod idle;
mod idle_states;
mod kernel_locks;
mod layout;
mod memory;
mod noise;
mod origin;
mod parse;
mod parse_frequency;
mod parse_kernel;
mod parse_noise;
mod parse_speed;
mod parse_topology;
mod reader;
mod speed;
mod stretch;
#[cfg(test)]
mod tests;

pub use builtin::{BUILTIN, Builtin};
pub use cold::ColdPath;
pub use costs::{ByDistance, CostInfo, Costs, Distance};
pub use error::SpecError;
pub use idle::IdleMonitor;
pub use idle_states::{Governor, IdleState, IdleStates};
pub use kernel_locks::{
    HeldFor, Lasting, LockClass, LockScope, Rwsems, held_at_some_moment, until_met, until_taken,
};
pub use memory::Memory;
pub use noise::{IrqOff, KthreadNoise, Noise, Spread, WakeEvent, Woken};
pub use origin::{Origin, OriginKind};
pub use speed::{CpuSpeed, Speeds};
pub use stretch::{Operation, Points, Stretch, Stretches};

use layout::Layout;
use scheduler::{CpuId, CpuMask, Nanos, Topology};

/// A machine as its file describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineSpec {
    /// Short name, as given to `--machine`.
    pub name: String,
    /// What it is, in a sentence.
    pub meaning: String,
    /// Its CPUs and how the scheduler groups them. To change it, use [`MachineSpec::with_cpus`].
    pub topology: Topology,
    /// What work costs.
    pub costs: Costs,
    /// What a cold cache costs.
    pub cache: CacheModel,
    /// What cold caches cost the way to a woken task. `None`: that way is always warm.
    pub cold: Option<ColdPath>,
    /// How fast its CPUs execute.
    pub speeds: Speeds,
    /// How much its CPUs can read from memory. `None`: as much as they want.
    pub memory: Option<Memory>,
    /// How its idle CPUs wait.
    pub idle_monitor: IdleMonitor,
    /// The idle states among which they choose. `None`: there is one, which takes `costs.idle_exit` to leave.
    pub idle: Option<IdleStates>,
    /// What its kernel takes to call one RCU callback (machine.md 2.4). `None`: tasks leave none.
    pub rcu_callback: Option<Nanos>,
    /// How long semaphores of its kernel are held (machine.md 1.12, 3.5). `None`: nobody ever meets another
    /// in one.
    pub rwsems: Option<Rwsems>,
    /// What its kernel's longer paths consist of.
    pub stretches: Stretches,
    /// What disturbs tasks.
    pub noise: Noise,
    /// Every figure with its origin, in the order of the file.
    pub origins: Vec<Origin>,
    layout: Layout,
}

/// How tasks lose and regain their cache (fair-class 12.1).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CacheModel {
    /// Time to fetch a byte of the working set that was lost, in picoseconds.
    pub refill_ps_per_byte: u64,
    /// Other tasks running for a time x displace 1 − e^(−x/tau) of a task's working set on that CPU. Above
    /// zero in every machine that comes from a file.
    pub tau: Nanos,
    /// What a task loses when it moves to another core that shares a cache, in percent.
    pub shared_cache_lost_percent: u32,
    /// What it loses when it moves to another hardware thread of its core, in percent.
    pub smt_lost_percent: u32,
}

impl MachineSpec {
    /// A machine on which nothing costs time and nothing disturbs: for tests of mechanisms.
    pub fn ideal(topology: Topology) -> MachineSpec {
        let grows_to = vec![None; topology.levels.len()];
        let layout = Layout::new(&topology, None, grows_to);
        MachineSpec {
            name: "ideal".into(),
            meaning: "Nothing costs time and nothing disturbs.".into(),
            topology,
            costs: Costs::default(),
            cache: CacheModel { tau: Nanos::from_millis(1), ..CacheModel::default() },
            cold: None,
            speeds: Speeds::default(),
            memory: None,
            idle_monitor: IdleMonitor::default(),
            idle: None,
            rcu_callback: None,
            rwsems: None,
            stretches: Stretches::default(),
            noise: Noise::default(),
            origins: Vec::new(),
            layout,
        }
    }

    /// Number of CPUs.
    pub fn cpus(&self) -> usize {
        self.topology.cpus
    }

    /// How far apart two of its CPUs are.
    #[inline]
    pub fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        self.layout.distance(a, b)
    }

    /// The hardware threads of a CPU's core, itself among them.
    #[must_use]
    pub fn core_of(&self, cpu: CpuId) -> CpuMask {
        let cpus = (0..self.topology.cpus as u16).map(CpuId);
        cpus.filter(|other| matches!(self.distance(cpu, *other), Distance::Own | Distance::Smt)).collect()
    }

    /// The CPUs that share the memory of a CPU's node, itself among them.
    #[must_use]
    pub fn node_of(&self, cpu: CpuId) -> CpuMask {
        let cpus = (0..self.topology.cpus as u16).map(CpuId);
        cpus.filter(|other| self.distance(cpu, *other) != Distance::OtherNode).collect()
    }

    /// Its CPUs are so fast, each.
    ///
    /// # Panics
    /// If these are not as many as it has.
    pub fn set_speeds(&mut self, cpus: Vec<CpuSpeed>) {
        assert_eq!(cpus.len(), self.cpus(), "a speed for each CPU");
        self.speeds.cpus = cpus;
        self.topology = self.topology.clone().with_capacities(self.speeds.capacities());
    }

    /// The firmware prefers its CPUs so much, each.
    ///
    /// # Panics
    /// If these are not as many as it has.
    pub fn set_priorities(&mut self, priorities: Vec<u16>) {
        assert_eq!(priorities.len(), self.cpus(), "a priority for each CPU");
        self.topology = self.topology.clone().with_priorities(priorities.clone());
        self.speeds.priorities = priorities;
    }

    /// The same make of machine with `n` CPUs, 1 to [`CpuMask::BITS`]. Fewer: the first `n` CPUs. More: the
    /// whole pattern of cores, caches and nodes again, and levels that span the machine grow with it, up to
    /// the `grows_to` of the file.
    pub fn with_cpus(&self, n: usize) -> Result<MachineSpec, SpecError> {
        if n == 0 || n > CpuMask::BITS {
            return Err(SpecError::CpuCount { machine: self.name.clone(), asked: n });
        }
        let (topology, layout) = self.layout.resized(&self.topology, n);
        let speeds = self.speeds.resized(n);
        let topology = topology.with_capacities(speeds.capacities()).with_frequencies_of(&self.topology);
        let topology = topology.with_priorities(speeds.priorities.clone());
        Ok(MachineSpec { topology, layout, speeds, ..self.clone() })
    }
}
