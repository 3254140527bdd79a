//! Which CPUs the tasks of a group may use (deadline-groups B10): what sched_setaffinity is cut down to.

use crate::{CpuMask, GroupId};
use alloc::vec::Vec;

/// What a cpuset allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cpuset {
    /// The CPUs that a task may ask for (cpuset.cpus.effective).
    pub allowed: CpuMask,
    /// Those that it gets without asking.
    pub by_default: CpuMask,
}

/// The cpusets of all groups; where nobody has said anything, a task may use every CPU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cpusets(Vec<Cpuset>);

impl Cpusets {
    /// By the numbers of the groups, the root's first.
    pub fn new(of_groups: Vec<Cpuset>) -> Cpusets {
        Cpusets(of_groups)
    }

    /// That of a group.
    pub fn of(&self, group: GroupId) -> Cpuset {
        let all = Cpuset { allowed: CpuMask::ALL, by_default: CpuMask::ALL };
        self.0.get(group.index()).copied().unwrap_or(all)
    }
}
