//! How fast CPUs execute (machine.md 6.2, 6.3).

use scheduler::CpuId;

/// How fast the CPUs of a machine execute, in percent of the speed for which its costs and the lengths of
/// programs are told. Where nothing is said, everything runs at 100.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Speeds {
    /// What a hardware thread is left with while one sibling is busy, 1 to 100.
    pub smt_busy_percent: u32,
    /// The fixed speed of each CPU, 1 to 100; empty if all have 100.
    pub cpu_percent: Vec<u32>,
}

impl Default for Speeds {
    fn default() -> Speeds {
        Speeds { smt_busy_percent: 100, cpu_percent: Vec::new() }
    }
}

impl Speeds {
    /// The speed of a CPU whose siblings are idle.
    #[must_use]
    pub fn of(&self, cpu: CpuId) -> u32 {
        self.cpu_percent.get(cpu.index()).copied().unwrap_or(100)
    }

    /// The same for a machine of another size, whose CPUs are these again and again.
    pub(super) fn resized(&self, cpus: usize) -> Speeds {
        let again = self.cpu_percent.iter().copied().cycle();
        Speeds { cpu_percent: again.take(cpus).collect(), ..*self }
    }
}
