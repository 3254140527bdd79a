//! How fast CPUs execute (machine.md 6.2, 6.3; deadline-groups C1).

use scheduler::{CpuId, FULL_CAPACITY};

/// How fast the CPUs of a machine execute. Where nothing is said, everything runs at the speed for which its
/// costs and the lengths of programs are told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Speeds {
    /// What a hardware thread is left with while one sibling is busy, in percent, 1 to 100.
    pub smt_busy_percent: u32,
    /// The fixed speed of each CPU; empty if all have the full one.
    pub cpus: Vec<CpuSpeed>,
    /// How much the firmware prefers each CPU, 1 to 255, the higher the more (deadline-groups C9); empty if
    /// it says nothing.
    pub priorities: Vec<u16>,
}

/// The fixed speed of a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuSpeed {
    /// In percent of the full one, 1 to 100. The scheduler is not told.
    Percent(u32),
    /// In 1024ths of the full one, 1 to 1024. The firmware tells the scheduler.
    Capacity(u16),
}

impl CpuSpeed {
    /// The speed for which costs and loads are told.
    pub const FULL: CpuSpeed = CpuSpeed::Percent(100);

    /// In ten thousandths of the full speed.
    #[must_use]
    pub fn ten_thousandths(self) -> u32 {
        match self {
            CpuSpeed::Percent(percent) => 100 * percent,
            CpuSpeed::Capacity(capacity) => 10_000 * u32::from(capacity) / FULL_CAPACITY as u32,
        }
    }

    /// Whether it is below the full one.
    #[must_use]
    pub fn is_less(self) -> bool {
        self.ten_thousandths() < CpuSpeed::FULL.ten_thousandths()
    }

    /// What the scheduler is told, in 1024ths.
    fn told(self) -> u16 {
        match self {
            CpuSpeed::Percent(_) => FULL_CAPACITY as u16,
            CpuSpeed::Capacity(capacity) => capacity,
        }
    }
}

impl Default for Speeds {
    fn default() -> Speeds {
        Speeds { smt_busy_percent: 100, cpus: Vec::new(), priorities: Vec::new() }
    }
}

impl Speeds {
    /// The speed of a CPU whose siblings are idle.
    #[must_use]
    pub fn of(&self, cpu: CpuId) -> CpuSpeed {
        self.cpus.get(cpu.index()).copied().unwrap_or(CpuSpeed::FULL)
    }

    /// What the firmware tells of each CPU.
    pub(super) fn capacities(&self) -> Vec<u16> {
        self.cpus.iter().map(|speed| speed.told()).collect()
    }

    /// The same for a machine of another size, whose CPUs are these again and again.
    pub(super) fn resized(&self, cpus: usize) -> Speeds {
        let again = self.cpus.iter().copied().cycle();
        let priorities = self.priorities.iter().copied().cycle();
        Speeds {
            cpus: again.take(cpus).collect(),
            priorities: priorities.take(cpus).collect(),
            smt_busy_percent: self.smt_busy_percent,
        }
    }
}
