//! Where a new task went, or one that called exec, up to about 4.8: to the group with the least load for what
//! its CPUs are worth, where that is clearly less than the local one has (fair-placement 8.5, fair-class 8.4:
//! `fork_balance=group_load`). Who calls exec counts where it is.

use crate::domains::{SchedDomain, SchedGroup};
use crate::fair::balance::constants;
use crate::fair::cpu_load::look_at;
use crate::fair::pelt::cpu_load;
use crate::platform::Platform;
use crate::{CpuMask, Reason, TaskId, ThisCpu};

/// The best other group, if it is a better place for `p` than the local one. The CPU that the walk comes from
/// lies in the local group, so that it decides no tie within another one.
pub(super) fn find_idlest_group<'d, P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &'d SchedDomain,
    p: TaskId,
    allowed: &CpuMask,
) -> Option<&'d SchedGroup> {
    let possible = |group: &&SchedGroup| group.span.intersects(allowed);
    let load_of = |group: &SchedGroup| {
        let load: u64 = group.span.iter().inspect(|c| look_at(me, *c)).map(|c| cpu_load(me, c)).sum();
        (load * 1024).checked_div(group.capacity.get()).unwrap_or(0)
    };
    let local = Some(domain.own_group()).filter(possible).map(load_of);
    let others = domain.other_groups().filter(possible).map(|group| (group, load_of(group)));
    let (idlest, there) = others.min_by_key(|(_, load)| *load)?;
    let Some(here) = local else { return Some(idlest) };
    let tolerated = 100 + (constants(me, domain).imbalance_pct - 100) / 2;
    let goes = 100 * here >= tolerated * there;
    me.decide(p, if goes { Reason::OtherLoad } else { Reason::LocalMargin });
    goes.then_some(idlest)
}
