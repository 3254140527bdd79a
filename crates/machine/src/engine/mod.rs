//! The engine: hardware, CPUs and tasks as coroutines over one event queue.
//!
//! Each CPU is one future ([`cpu::cpu_main`]) that lives as long as the run and is polled when something
//! happens to it: its work goes on (a cost has passed, a lock was handed over, a task has executed for as
//! long as it wanted) or an interrupt arrives while it takes them. Everything that takes time goes through
//! [`hw::Hw`].

mod bare;
mod check;
mod counters;
mod cpu;
mod cpu_hw;
mod execution;
mod hw;
mod kthreads;
mod lines;
mod locks;
mod mutexes;
mod noise;
mod paths;
mod process;
mod push_ipis;
mod queue;
mod recorder;
mod run;
mod sections;
mod served;
mod sim;
mod snapshots;
mod steps;
mod transfers;
mod warmth;
mod windows;
mod world;

#[doc(hidden)]
pub use bare::bare_engine;
pub use recorder::{LockWait, Record, RecordKind, Tracing, Who};
pub use run::{Machine, RunOptions, TimedSetting};
pub use sim::CommOf;

/// Forty CPUs in four nodes; nothing costs time but the transfer of cache lines.
#[cfg(test)]
fn four_nodes() -> crate::MachineSpec {
    use scheduler::{CpuId, LevelKind, Nanos, Topology, TopologyLevel};
    let node = |n: u16| (10 * n..10 * n + 10).map(CpuId).collect();
    let levels = [
        TopologyLevel { kind: LevelKind::Mc, spans: (0..4).map(node).collect() },
        TopologyLevel {
            kind: LevelKind::Numa { distance: 20 },
            spans: [(0..40).map(CpuId).collect()].into(),
        },
    ];
    let mut spec = crate::MachineSpec::ideal(Topology { cpus: 40, levels: levels.into() });
    spec.costs.line.own = Nanos(2);
    spec.costs.line.shared_cache = Nanos(50);
    spec.costs.line.other_node = Nanos(150);
    spec.costs.ticket_spinner_percent = 30;
    spec
}
