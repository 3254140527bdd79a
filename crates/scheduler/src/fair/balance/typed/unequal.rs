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
