//! A few tasks may stay on one node although another one is idle: they talk to each other, or share memory
//! (fair-placement 4.12, 8.5).

use crate::domains::SchedDomain;
use crate::fair::group::Figures;
use crate::platform::Platform;
use crate::registry::NumaImbalance;
use crate::{LevelKind, ThisCpu};

/// An imbalance that is still tolerated.
const SMALL: u64 = 2;

fn is_numa(domain: &SchedDomain) -> bool {
    matches!(domain.kind, LevelKind::Numa { .. })
}

/// What balancing has to even out of a difference between the local group and the busiest one, in tasks or
/// idle CPUs.
pub(in crate::fair) fn numa_difference<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &SchedDomain,
    local: &Figures,
    busiest: &Figures,
    difference: u64,
) -> u64 {
    let tolerated = match me.k.config.rules.numa_imbalance.get() {
        _ if !is_numa(domain) => false,
        NumaImbalance::Off => false,
        NumaImbalance::Channels => difference <= SMALL && local.nr_running < domain.imb_numa_nr,
        NumaImbalance::Quarter => difference <= SMALL && uses_less_than_a_quarter(local),
        NumaImbalance::Pair => busiest.nr_running <= SMALL,
    };
    if tolerated { 0 } else { difference }
}

/// Whether a new task, or one that calls exec, stays on the local node although another one has so many idle
/// CPUs more. It may use so many of the node's CPUs.
pub(in crate::fair) fn stays_on_node<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &SchedDomain,
    local: &Figures,
    usable: u64,
    difference: u64,
) -> bool {
    is_numa(domain)
        && match me.k.config.rules.numa_imbalance.get() {
            NumaImbalance::Off => false,
            NumaImbalance::Channels => {
                difference <= SMALL && local.nr_running < domain.imb_numa_nr.min(usable)
            }
            NumaImbalance::Quarter => difference <= SMALL && uses_less_than_a_quarter(local),
            NumaImbalance::Pair => local.idle > 0,
        }
}

/// Even with one task more.
fn uses_less_than_a_quarter(node: &Figures) -> bool {
    node.nr_running + 1 < node.weight / 4
}
