//! What groups came to, as results tell it.

use machine::{GroupOutcome, PartitionKind, PartitionOutcome, TaskOrigin, TaskOutcome};
use scheduler::{Clamps, GroupId, Nanos};
use schema::{GroupClamps, GroupLimit, GroupResult, GroupStat, PartitionResult, RtGroupLimit};
use workload::groups::weight_of_shares;

/// What groups came to, in the order in which they were made.
pub(crate) fn results(groups: &[GroupOutcome], tasks: &[TaskOutcome]) -> Vec<GroupResult> {
    let own = tasks.iter().filter(|task| task.origin != TaskOrigin::Machine);
    let all = own.map(|task| task.counters.sum_exec_runtime).sum();
    groups.iter().map(|group| result(group, above(group, groups).unwrap_or(all))).collect()
}

/// A note if there are groups in which no task was, nor in any below them. A partition divides the machine
/// all the same.
pub(crate) fn of_nobody(groups: &[GroupOutcome], tasks: &[TaskOutcome]) -> Option<String> {
    let mut has_some = vec![false; groups.len()];
    for task in tasks {
        let mut group = task.group;
        while let Some(place) = group.index().checked_sub(1).filter(|place| *place < groups.len()) {
            has_some[place] = true;
            group = groups[place].spec.parent;
        }
    }
    let is_empty = |(group, has_some): &(&GroupOutcome, bool)| {
        !has_some && group.spec.partition == PartitionKind::Member
    };
    let empty = groups.iter().zip(has_some).filter(is_empty);
    let names: Vec<&str> = empty.map(|(group, _)| group.spec.name.as_str()).collect();
    let [first, ..] = names[..] else { return None };
    let which = if names.len() == 1 { "group" } else { "groups" };
    Some(format!("no task was in {which} {}; say which are to be (in: {first}=TASK)", names.join(", ")))
}

/// What the group above one used; `None` of one at the top.
fn above(group: &GroupOutcome, groups: &[GroupOutcome]) -> Option<Nanos> {
    // The root is the first of the machine's table, and not among these.
    Some(groups.get(group.spec.parent.index().checked_sub(1)?)?.usage)
}

/// How the machine was divided among these groups.
pub(crate) fn partitions(parts: &[PartitionOutcome], groups: &[GroupOutcome]) -> Vec<PartitionResult> {
    let name = |group: GroupId| Some(groups.get(group.index().checked_sub(1)?)?.spec.name.clone());
    let part = |part: &PartitionOutcome| PartitionResult {
        cpus: part.cpus.to_string(),
        group: name(part.group),
        isolated: part.isolated,
    };
    parts.iter().map(part).collect()
}

fn result(group: &GroupOutcome, of_all: Nanos) -> GroupResult {
    let spec = &group.spec;
    let limit = group.quota.unwrap_or_default();
    GroupResult {
        name: spec.name.clone(),
        weight: (!spec.idle).then(|| weight_of_shares(spec.shares)),
        max: spec.quota.map(|quota| GroupLimit {
            quota_ns: quota.quota.0,
            period_ns: quota.period.0,
            burst_ns: quota.burst.0,
        }),
        rt: group.rt.map(|rt| RtGroupLimit {
            runtime_ns: rt.limit.runtime.map(|runtime| runtime.0),
            period_ns: rt.limit.period.0,
        }),
        cpus: spec.cpus.as_ref().map(ToString::to_string),
        clamps: (spec.clamps != Clamps::NONE)
            .then_some(GroupClamps { min: spec.clamps.min, max: spec.clamps.max }),
        stat: GroupStat {
            usage_ns: group.usage.0,
            share_permille: permille(group.usage, of_all),
            nr_periods: limit.nr_periods,
            nr_throttled: limit.nr_throttled,
            throttled_ns: limit.throttled.0,
            nr_bursts: limit.nr_bursts,
            burst_ns: limit.burst.0,
            nr_rt_throttled: group.rt.map_or(0, |rt| rt.nr_throttled),
            rt_throttled_ns: group.rt.map_or(0, |rt| rt.throttled.0),
        },
    }
}

/// The nearest whole number of thousandths; 0 of nothing.
fn permille(part: Nanos, whole: Nanos) -> u64 {
    let (part, whole) = (u128::from(part.0), u128::from(whole.0));
    (part * 1000 + whole / 2).checked_div(whole).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::{GroupSpec, QuotaOutcome};

    /// deadline-groups B13.3: root{A 100 {A1 100, A2 300}, task T}: T 0.5, A1 0.125, A2 0.375.
    #[test]
    fn a_share_is_one_of_what_the_group_above_used() {
        let outcome = |name: &str, parent, usage_ms| GroupOutcome {
            spec: GroupSpec { parent: GroupId(parent), ..GroupSpec::new(name) },
            usage: Nanos::from_millis(usage_ms),
            quota: None,
            rt: None,
        };
        let mut groups = [outcome("A", 0, 500), outcome("A/1", 1, 125), outcome("A/2", 1, 375)];
        groups[0].quota = Some(QuotaOutcome { nr_periods: 10, ..QuotaOutcome::default() });
        let all = Nanos::from_secs(1);
        let told: Vec<GroupStat> =
            groups.iter().map(|group| result(group, above(group, &groups).unwrap_or(all)).stat).collect();
        assert_eq!(told.iter().map(|stat| stat.share_permille).collect::<Vec<_>>(), [500, 250, 750]);
        assert_eq!((told[0].usage_ns, told[0].nr_periods), (500_000_000, 10));
        assert_eq!(permille(Nanos::ZERO, Nanos::ZERO), 0);
    }
}
