//! Who reads from which memory, and how much is wanted of it (machine.md 6.4).

use crate::spec::{MachineSpec, Memory};
use scheduler::{CpuId, Nanos};
use std::cell::Cell;

/// The memory of the nodes.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    gives: Memory,
    /// By the number of the node: its CPUs.
    nodes: Box<[Node]>,
    /// The number of each CPU's node.
    node_of: Box<[usize]>,
}

/// CPUs that share memory.
#[derive(Debug)]
pub(crate) struct Node {
    pub cpus: Box<[CpuId]>,
    /// What they want to read together, in bytes a microsecond.
    pub wanted: Cell<u64>,
}

impl SharedMemory {
    pub fn new(spec: &MachineSpec, gives: Memory) -> SharedMemory {
        let mut nodes: Vec<Node> = Vec::new();
        let mut node_of = Vec::new();
        for cpu in (0..spec.cpus() as u16).map(CpuId) {
            let known = nodes.iter().position(|node| node.cpus.contains(&cpu));
            node_of.push(known.unwrap_or(nodes.len()));
            if known.is_none() {
                nodes.push(Node { cpus: spec.node_of(cpu).iter().collect(), wanted: Cell::new(0) });
            }
        }
        SharedMemory { gives, nodes: nodes.into(), node_of: node_of.into() }
    }

    /// The node of a CPU.
    pub fn node(&self, cpu: CpuId) -> &Node {
        &self.nodes[self.node_of[cpu.index()]]
    }

    /// How fast a CPU executes a task that wants to read so much, in bytes a microsecond: in ten thousandths.
    pub fn speed(&self, cpu: CpuId, reads: u32) -> u64 {
        self.gives.speed(reads.into(), self.crowding(cpu))
    }

    /// How long it takes a CPU to fetch what takes so long alone.
    pub fn time_to_fetch(&self, cpu: CpuId, alone: Nanos) -> Nanos {
        Nanos((u128::from(alone.0) * u128::from(self.crowding(cpu)) / 10_000) as u64)
    }

    /// How crowded the memory of a CPU is, in ten thousandths.
    fn crowding(&self, cpu: CpuId) -> u64 {
        self.gives.crowding(self.node(cpu).wanted.get())
    }
}
