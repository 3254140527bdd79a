//! A few tasks may stay on one node although another one is idle: they talk to each other, or share memory
//! (fair-placement 4.12).

use crate::ThisCpu;
use crate::domains::SchedDomain;
use crate::platform::Platform;
use crate::registry::NumaImbalance;

/// An imbalance that is still tolerated.
const SMALL: u64 = 2;

/// What is left of an imbalance between two parts of a NUMA domain, in tasks or idle CPUs, where so many
/// tasks would run in the one that is less busy; `most` bounds the allowance further.
pub(in crate::fair) fn numa_allowance<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &SchedDomain,
    most: u64,
    imbalance: u64,
    running: u64,
) -> u64 {
    let allowed = match me.k.config.rules.numa_imbalance.get() {
        NumaImbalance::Off => 0,
        NumaImbalance::Channels => domain.imb_numa_nr.min(most),
    };
    if running <= allowed && imbalance <= SMALL { 0 } else { imbalance }
}
