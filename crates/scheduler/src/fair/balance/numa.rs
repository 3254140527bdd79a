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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, level};
    use crate::{CpuId, Topology};

    /// 4.12: two nodes of 16 CPUs with four caches each, so that four tasks may be alone on a node.
    #[test]
    fn what_is_left_of_a_difference() {
        let level = |kind, size| level(32, kind, size);
        let levels = [
            level(LevelKind::Mc, 4),
            level(LevelKind::Package, 16),
            level(LevelKind::Numa { distance: 20 }, 32),
        ];
        let lab = Lab::on(&Topology::of(32, levels.into()), "6.1.y", &[]);
        let [package, numa] = [1, 2].map(|level| &lab.k.domains(CpuId(0))[level]);
        assert_eq!(numa.imb_numa_nr, 4);
        let node = |nr_running: u64| Figures { nr_running, weight: 16, ..Figures::default() };
        let left = |rule: &str, domain, local, difference| {
            lab.k.config.set(rule).expect("legal");
            numa_difference(lab.cpu(0), domain, &node(local), &node(local + difference), difference)
        };
        let channels = |local, difference| left("numa_imbalance=channels", numa, local, difference);
        assert_eq!([channels(3, 2), channels(4, 2), channels(3, 3)], [0, 2, 3]);
        let quarter = |local, difference| left("numa_imbalance=quarter", numa, local, difference);
        assert_eq!([quarter(2, 2), quarter(3, 2), quarter(2, 3)], [0, 2, 3], "one more is a quarter of 16");
        assert_eq!(left("numa_imbalance=channels", package, 0, 2), 2, "no nodes");
        let stays = |domain, local, usable, difference| {
            lab.k.config.set("numa_imbalance=channels").expect("legal");
            stays_on_node(lab.cpu(0), domain, &node(local), usable, difference)
        };
        assert_eq!([stays(numa, 3, 16, 2), stays(numa, 4, 16, 2)], [true, false]);
        assert_eq!([stays(numa, 3, 16, 3), stays(numa, 2, 2, 2), stays(numa, 1, 2, 2)], [false, false, true]);
        assert!(!stays(package, 0, 16, 2));
        let by_quarter = |domain, local, difference| {
            lab.k.config.set("numa_imbalance=quarter").expect("legal");
            stays_on_node(lab.cpu(0), domain, &node(local), 16, difference)
        };
        let rows = [by_quarter(numa, 2, 2), by_quarter(numa, 3, 2), by_quarter(numa, 2, 3)];
        assert_eq!(rows, [true, false, false]);
        assert!(by_quarter(numa, 2, 1) && !by_quarter(package, 2, 2));
    }
}
