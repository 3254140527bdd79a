//! Affinities within cpusets.

use crate::engine::hardware::Hw;
use scheduler::{CpuMask, GroupId, Scheduler};

/// What of an affinity the cpuset of a group allows.
///
/// # Errors
/// Nothing of it: the CPUs that the cpuset has.
pub(super) fn within_cpuset(
    k: &Scheduler<Hw>,
    group: GroupId,
    asked: CpuMask,
) -> Result<CpuMask, Box<CpuMask>> {
    let cpus = k.cpusets.of(group).allowed.and(&k.online);
    let both = asked.and(&cpus);
    if both.is_empty() { Err(cpus.into()) } else { Ok(both) }
}
