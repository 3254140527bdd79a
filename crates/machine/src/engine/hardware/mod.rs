//! The simulated hardware: clock and events, CPUs and their interrupts, locks and cache lines in time, noise.
//!
//! It knows tasks by number only, and no program. The scheduler sees it as its
//! [`scheduler::platform::Platform`].

mod bare;
mod cpu;
mod energy;
mod heat;
mod hw;
mod idle;
mod interrupts;
mod lines;
mod locks;
mod memory;
mod noise;
mod notes;
mod pace;
mod platform;
mod push_ipis;
mod queue;
mod sharers;
mod siblings;
mod source;
mod time;
mod timer_way;
mod timers;
mod touched;
mod transfers;
mod wake_paths;
mod winners;

pub use bare::bare_engine;
pub(crate) use cpu::{Arriving, CpuThreads, Irq, IrqWork, Mode, Point, SoftWork, Softirq};
pub(crate) use hw::{Hw, Parts};
pub(crate) use idle::{IdleCpus, Prospect};
pub(crate) use locks::Ahead;
pub(crate) use pace::{Fraction, Occupant, Rate};
pub(crate) use source::{OneShot, Source};
pub(crate) use timers::TaskTimer;
pub(crate) use touched::Executed;
pub(crate) use winners::Slot;

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
    let mut spec = crate::MachineSpec::ideal(Topology::of(40, levels.into()));
    spec.costs.line.own = Nanos(2);
    spec.costs.line.shared_cache = Nanos(50);
    spec.costs.line.other_node = Nanos(150);
    spec.costs.ticket_spinner_percent = 30;
    spec
}
