//! What the tasks of all classes use of a CPU, for the choice of its frequency (deadline-groups C2).

use super::Class;
use crate::dl;
use crate::fair::pelt;
use crate::platform::Platform;
use crate::{CpuId, FULL_CAPACITY, ThisCpu};

/// What is used of a CPU, or promised, in 1024ths of the best one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Used {
    /// By fair tasks, or is expected to be.
    pub fair: u64,
    /// By tasks of higher classes.
    pub higher: u64,
    /// By interrupts, as far as the kernel measures that.
    pub interrupts: u64,
    /// Promised to deadline tasks.
    pub reserved: u64,
}

/// That of a CPU.
pub(crate) fn used<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> Used {
    let others = pelt::used_by_others(me, cpu);
    Used {
        fair: pelt::cpu_util(me, cpu),
        higher: others.tasks,
        interrupts: others.interrupts,
        reserved: (me.k.dl_cpus.running_bw(cpu) * FULL_CAPACITY) >> dl::BW_SHIFT,
    }
}

impl Class {
    /// Whether clamps of utilisation mean something for its tasks.
    pub(crate) fn has_clamps(self) -> bool {
        match self {
            Class::Fair | Class::Rt => true,
            Class::Stop | Class::Deadline | Class::Idle => false,
        }
    }
}
