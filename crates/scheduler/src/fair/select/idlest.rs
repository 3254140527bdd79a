//! Where a new task, or one that calls exec, goes: the idlest CPU of the idlest group, from the largest
//! domain inwards (SD_BALANCE_FORK and SD_BALANCE_EXEC, fair-class 8.4).

use super::wake::WAKE_IMBALANCE_PCT;
use super::{idlest_group, idlest_load, idlest_spare};
use crate::domains::SchedDomain;
use crate::fair::cpu_load::{look_at, source_load, target_load, weighted_cpuload};
use crate::platform::Platform;
use crate::registry::{ForkBalance, WakePlacement};
use crate::{CpuId, CpuMask, Reason, TaskId, ThisCpu};

/// The CPU for `p`, forked by the task that the executing CPU runs, or that task itself.
pub(crate) fn select_task_rq_fork<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> CpuId {
    let cpu = match me.k.config.rules.fork_balance.get() {
        ForkBalance::CpuLoad => find_idlest_cpu(me, p),
        ForkBalance::GroupType => idlest_group::find_idlest_cpu(me, p, idlest_group::find_idlest_group),
        ForkBalance::GroupLoad => idlest_group::find_idlest_cpu(me, p, idlest_load::find_idlest_group),
        ForkBalance::SpareTime => idlest_group::find_idlest_cpu(me, p, idlest_spare::find_idlest_group),
    };
    me.decide(p, if cpu == me.id { Reason::ForkLocal } else { Reason::ForkIdlest });
    cpu
}

/// By loads alone.
fn find_idlest_cpu<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> CpuId {
    let allowed = me.task(p).cpus_allowed.get();
    let mut cpu = me.id;
    let mut level = me.k.domains(cpu).len();
    while level > 0 {
        let domain = &me.k.domains(cpu)[level - 1];
        let found = find_idlest_group(me, domain, &allowed)
            .and_then(|g| find_idlest_group_cpu(me, &g.and(&allowed), cpu));
        level = match found {
            Some(idlest) if idlest != cpu => {
                cpu = idlest;
                let size = domain.span_weight;
                me.k.domains(cpu).iter().take_while(|d| d.span_weight < size).count()
            }
            _ => level - 1,
        };
    }
    cpu
}

/// The group with the least load for each CPU, if it has clearly less than the local one. Without a local CPU
/// that is allowed, any other group is better.
fn find_idlest_group<'d, P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &'d SchedDomain,
    allowed: &CpuMask,
) -> Option<&'d CpuMask> {
    let index = match me.k.config.rules.wake_placement.get() {
        WakePlacement::PresentLoad
        | WakePlacement::IdleOrLoad
        | WakePlacement::IdleNearOrLoad
        | WakePlacement::LoadOnly => 0,
        WakePlacement::PassivePull => 1,
    };
    let per_cpu = |group: &CpuMask, load: fn(ThisCpu<'_, P>, CpuId, usize) -> u64| {
        let seen = group.iter().inspect(|c| look_at(me, *c));
        seen.map(|c| load(me, c, index)).sum::<u64>() / u64::from(group.weight())
    };
    let own = &domain.own_group().span;
    let here = own.intersects(allowed).then(|| per_cpu(own, source_load));
    let others = domain.other_groups().map(|g| &g.span).filter(|g| g.intersects(allowed));
    let (group, there) = others.map(|g| (g, per_cpu(g, target_load))).min_by_key(|(_, load)| *load)?;
    let better = here.is_none_or(|here| 100 * here >= WAKE_IMBALANCE_PCT * there);
    better.then_some(group)
}

/// The CPU with the least present load; among equals `cpu`, else the first.
fn find_idlest_group_cpu<P: Platform>(me: ThisCpu<'_, P>, candidates: &CpuMask, cpu: CpuId) -> Option<CpuId> {
    candidates.iter().min_by_key(|c| (weighted_cpuload(me, *c), *c != cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;

    /// 8.4: of equally idle CPUs the one that the walk comes from, else the first.
    #[test]
    fn of_equal_cpus_the_nearest() {
        let lab = Lab::new(4, "2.6.36", &[]);
        let (all, me) = (CpuMask::first_n(4), lab.cpu(0));
        for cpu in [0, 2, 3].map(CpuId) {
            assert_eq!(find_idlest_group_cpu(me, &all, cpu), Some(cpu));
        }
        let others = all.without(&CpuMask::single(CpuId(0)));
        assert_eq!(find_idlest_group_cpu(me, &others, CpuId(0)), Some(CpuId(1)));
    }
}
