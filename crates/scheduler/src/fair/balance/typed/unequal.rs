//! Balancing over CPUs that are not worth the same (deadline-groups C1): a task that does not fit its CPU
//! goes to a better one as soon as that idles, and nobody who fits goes to a worse one for the sake of
//! evenness.

use super::decide::Seen;
use crate::domains::{Asymmetry, SchedDomain, SchedGroup};
use crate::fair::group::GroupType;
use crate::fair::pelt::{capacity_of, greater};
use crate::platform::Platform;
use crate::{CpuId, ThisCpu};

/// Whether that is how a domain is balanced.
pub(super) fn counts<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain) -> bool {
    domain.asymmetric != Asymmetry::None && me.k.tasks_must_fit()
}

/// Whether a CPU is worth clearly more than another one.
pub(super) fn is_clearly_better<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, than: CpuId) -> bool {
    greater(capacity_of(me, cpu), capacity_of(me, than))
}

/// Whether `dest` could help a group: one with a task that does not fit, if it is worth more itself, and has
/// time; one in which nobody waits, unless all CPUs of that are worth more.
pub(super) fn helps<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    local: GroupType,
    group: &SchedGroup,
    seen: &Seen,
) -> bool {
    let here = capacity_of(me, dest);
    match seen.kind {
        GroupType::Misfit => greater(here, group.max_capacity.get()) && local == GroupType::HasSpare,
        GroupType::HasSpare | GroupType::FullyBusy => !greater(group.min_capacity.get(), here),
        GroupType::SmtBalance | GroupType::AsymPacking | GroupType::Imbalanced | GroupType::Overloaded => {
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::group::Figures;
    use crate::testing::{Lab, level};
    use crate::{LevelKind, Topology};

    /// Two small CPUs and two large ones, each two with a cache.
    fn lab(rule: &str) -> Lab {
        let levels = [level(4, LevelKind::Mc, 2), level(4, LevelKind::Package, 4)].into();
        let topology = Topology::of(4, levels).with_capacities([446, 446, 1024, 1024].into());
        Lab::on(&topology, "6.1.y", &[rule])
    }

    /// C1: where both kinds are, and the kernel knows of it.
    #[test]
    fn which_domains_are_balanced_so() {
        let counted = |rule: &str| {
            let lab = lab(rule);
            [0, 1].map(|level| counts(lab.cpu(0), &lab.k.domains(CpuId(0))[level]))
        };
        assert_eq!(
            [counted("unequal_cpus=fit"), counted("unequal_cpus=ignored")],
            [[false, true], [false; 2]]
        );
    }

    /// C1: who helps whom.
    #[test]
    fn whom_a_cpu_can_help() {
        let lab = lab("unequal_cpus=fit");
        let helped = |dest: u16, local, kind| {
            let groups = lab.k.domains(CpuId(dest)).last().expect("a level").other_groups();
            let group = groups.last().expect("the others");
            let figures = Figures::default();
            helps(lab.cpu(dest), CpuId(dest), local, group, &Seen { figures, kind })
        };
        use GroupType::{FullyBusy, HasSpare, Misfit, Overloaded};
        assert!(helped(2, HasSpare, Misfit), "a large one, with time");
        assert!(!helped(2, FullyBusy, Misfit), "it has none");
        assert!(!helped(0, HasSpare, Misfit), "a small one");
        assert!(helped(2, HasSpare, HasSpare) && helped(2, HasSpare, FullyBusy));
        assert!(!helped(0, HasSpare, HasSpare) && !helped(0, HasSpare, FullyBusy), "all are worth more");
        assert!(helped(0, HasSpare, Overloaded), "somebody waits");
    }
}
