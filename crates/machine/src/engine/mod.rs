//! The engine: hardware, CPUs and tasks as coroutines over one event queue.
//!
//! Each CPU is one future ([`kernel::cpu::cpu_main`]) that lives as long as the run and is polled when
//! something happens to it: its work goes on (a cost has passed, a lock was handed over, a task has executed
//! for as long as it wanted) or an interrupt arrives while it takes them. Everything that takes time goes
//! through [`hardware::hw::Hw`].

mod hardware;
mod kernel;
mod observe;
mod record;
mod run;
mod userland;

#[doc(hidden)]
pub use hardware::bare::bare_engine;
pub use hardware::locks::LockStats;
pub use kernel::sim::CommOf;
pub use record::recorder::{LockWait, Record, RecordKind, Tracing, Who};
pub use run::{Machine, RunOptions, TimedSetting};

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
