//! The cpusets of a setup's groups, its isolated CPUs, and how both divide the machine (deadline-groups B10).

use crate::group::{GroupSpec, PartitionKind};
use crate::outcome::RunError;
use scheduler::{CpuMask, Cpuset, Cpusets, GroupId, Partitions};

/// A part of a divided machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionOutcome {
    /// Its CPUs.
    pub cpus: CpuMask,
    /// Whose it is; [`GroupId::ROOT`]: what no group's partition has taken.
    pub group: GroupId,
    /// No sched domain holds them.
    pub isolated: bool,
}

/// What follows from what is said of CPUs.
#[derive(Debug)]
pub(crate) struct Division {
    pub partitions: Partitions,
    pub cpusets: Cpusets,
    /// All parts, if there is more than one.
    pub outcome: Vec<PartitionOutcome>,
}

/// What a group's cpuset has of the machine.
struct Set {
    /// What it may hand on or use.
    own: CpuMask,
    /// What is left of that after the partitions below have taken theirs.
    left: CpuMask,
    /// It, or a group above it, says which CPUs.
    said: bool,
    is_partition: bool,
}

/// Divides a machine of so many CPUs.
///
/// # Errors
/// What the kernel refuses.
pub(crate) fn divide(cpus: usize, groups: &[GroupSpec], isolcpus: &CpuMask) -> Result<Division, RunError> {
    let all = CpuMask::first_n(cpus);
    check_option("isolcpus", cpus, isolcpus)?;
    let mut sets = vec![Set { own: all, left: all, said: false, is_partition: true }];
    for (number, group) in groups.iter().enumerate() {
        check(number, groups, &sets, &all, isolcpus)?;
        let own = group.cpus.unwrap_or(CpuMask::EMPTY);
        let is_partition = group.partition != PartitionKind::Member;
        let said = group.cpus.is_some() || sets[group.parent.index()].said;
        if is_partition {
            let parent = &mut sets[group.parent.index()];
            parent.left = parent.left.without(&own);
        }
        sets.push(Set { own, left: own, said, is_partition });
    }
    for (number, group) in groups.iter().enumerate() {
        let above = sets[group.parent.index()].left;
        let set = &mut sets[number + 1];
        if !set.is_partition {
            let both = set.own.and(&above);
            set.left = if both.is_empty() { above } else { both };
        }
    }
    if let Some(empty) = sets.iter().position(|set| set.left.is_empty()) {
        let Some(number) = empty.checked_sub(1) else { return Err(RunError::NoCpuLeft) };
        let name = &groups[number].name;
        let why = "the partitions below it take all of its CPUs, which the kernel allows only where no task is; \
                   leave it one";
        return Err(RunError::Group { name: name.to_owned(), why: why.to_owned() });
    }
    Ok(division(groups, &sets, isolcpus))
}

fn division(groups: &[GroupSpec], sets: &[Set], isolcpus: &CpuMask) -> Division {
    let housekeeping = sets[0].left.without(isolcpus);
    let set =
        |set: &Set| Cpuset { allowed: set.left, by_default: if set.said { set.left } else { housekeeping } };
    let root = PartitionOutcome { cpus: housekeeping, group: GroupId::ROOT, isolated: false };
    let booted = sets[0].left.and(isolcpus);
    let at_boot = PartitionOutcome { cpus: booted, group: GroupId::ROOT, isolated: true };
    let of_group = |(number, group): (usize, &GroupSpec)| PartitionOutcome {
        cpus: sets[number + 1].left,
        group: GroupId(number as u32 + 1),
        isolated: group.partition == PartitionKind::Isolated,
    };
    let of_groups = groups.iter().enumerate().filter(|(_, group)| group.partition != PartitionKind::Member);
    let mut outcome: Vec<PartitionOutcome> = [root, at_boot]
        .into_iter()
        .chain(of_groups.map(of_group))
        .filter(|part| !part.cpus.is_empty())
        .collect();
    let balanced = outcome.iter().filter(|part| !part.isolated).map(|part| part.cpus);
    let partitions = Partitions::new(balanced);
    let is_whole = outcome.len() == 1;
    let cpusets = match is_whole && sets.iter().all(|set| !set.said) {
        true => Cpusets::default(),
        false => Cpusets::new(sets.iter().map(set).collect()),
    };
    if is_whole {
        outcome.clear();
    }
    Division { partitions, cpusets, outcome }
}

/// Whether the CPUs that an option of the kernel takes away from everybody else are there, and leave one.
pub(crate) fn check_option(option: &'static str, cpus: usize, taken: &CpuMask) -> Result<(), RunError> {
    let all = CpuMask::first_n(cpus);
    let refuse = |why: String| Err(RunError::Isolation { option, cpus: *taken, why });
    if !taken.is_subset(&all) {
        return refuse(format!("the machine has CPUs 0-{}", cpus - 1));
    }
    if all.without(taken).is_empty() {
        return refuse("one CPU at least has to be left for everybody else".to_owned());
    }
    Ok(())
}

/// Whether the kernel would take the cpuset of a group, with those of the groups before it.
fn check(
    number: usize,
    groups: &[GroupSpec],
    sets: &[Set],
    all: &CpuMask,
    isolcpus: &CpuMask,
) -> Result<(), RunError> {
    let group = &groups[number];
    let refuse = |why: &str| Err(RunError::Group { name: group.name.clone(), why: why.to_owned() });
    let Some(own) = group.cpus else {
        return match group.partition {
            PartitionKind::Member => Ok(()),
            _ => refuse(
                "a partition needs CPUs of its own (Cpu list in cpuset.cpus is empty); say cpuset.cpus, too",
            ),
        };
    };
    if own.is_empty() || !own.is_subset(all) {
        return refuse("its cpuset.cpus names no CPU, or one that the machine does not have (ERANGE)");
    }
    let parent = &sets[group.parent.index()];
    let siblings = || groups[..number].iter().filter(|other| other.parent == group.parent);
    let overlaps = |other: &GroupSpec| other.cpus.is_some_and(|cpus| cpus.intersects(&own));
    let exclusive = |other: &GroupSpec| other.partition != PartitionKind::Member;
    if siblings().any(|other| overlaps(other) && (exclusive(other) || exclusive(group))) {
        return refuse("it shares a CPU with a sibling, and one of them is a partition (not exclusive)");
    }
    match group.partition {
        PartitionKind::Member => Ok(()),
        _ if !parent.is_partition => {
            refuse("a partition has to be below the root or a partition (Parent is not a partition root)")
        }
        _ if !own.is_subset(&parent.own) => refuse("a partition can take CPUs of its parent only"),
        PartitionKind::Root if own.intersects(isolcpus) => refuse(
            "isolcpus has taken a CPU of it out of all sched domains (Housekeeping conflict); say isolated",
        ),
        PartitionKind::Root | PartitionKind::Isolated => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PartitionKind::{Isolated, Member, Root};
    use scheduler::CpuId;

    fn mask(cpus: &[u16]) -> CpuMask {
        cpus.iter().map(|cpu| CpuId(*cpu)).collect()
    }

    fn group(name: &str, parent: u32, cpus: Option<&[u16]>, partition: PartitionKind) -> GroupSpec {
        GroupSpec { parent: GroupId(parent), cpus: cpus.map(mask), partition, ..GroupSpec::new(name) }
    }

    fn divided(groups: &[GroupSpec], isolcpus: &[u16]) -> Result<Division, String> {
        divide(8, groups, &mask(isolcpus)).map_err(|error| error.to_string())
    }

    fn allowed(division: &Division, group: u32) -> [CpuMask; 2] {
        let Cpuset { allowed, by_default } = division.cpusets.of(GroupId(group));
        [allowed, by_default]
    }

    #[test]
    fn without_a_word_the_machine_is_whole() {
        let division = divided(&[group("a", 0, None, Member)], &[]).expect("legal");
        assert_eq!(division.partitions, Partitions::whole(8));
        assert!(division.outcome.is_empty() && allowed(&division, 1) == [CpuMask::ALL; 2]);
    }

    /// deadline-groups B10: a cpuset is an upper bound, the domains are unchanged.
    #[test]
    fn a_cpuset_without_a_partition_narrows_its_tasks_only() {
        let groups = [
            group("a", 0, Some(&[2, 3]), Member),
            group("a/b", 1, None, Member),
            group("a/c", 1, Some(&[3, 4]), Member),
        ];
        let division = divided(&groups, &[]).expect("legal");
        assert_eq!(division.partitions, Partitions::whole(8));
        assert_eq!([1, 2, 3].map(|g| allowed(&division, g)[1]), [mask(&[2, 3]), mask(&[2, 3]), mask(&[3])]);
        assert_eq!(allowed(&division, 0)[0], CpuMask::first_n(8));
    }

    #[test]
    fn partitions_take_their_cpus_away_from_those_above() {
        let groups = [
            group("rt", 0, Some(&[4, 5, 6, 7]), Root),
            group("rt/one", 1, Some(&[7]), Isolated),
            group("web", 0, Some(&[0, 1]), Member),
        ];
        let division = divided(&groups, &[]).expect("legal");
        assert_eq!(division.partitions, Partitions::new([mask(&[0, 1, 2, 3]), mask(&[4, 5, 6])]));
        let parts: Vec<_> =
            division.outcome.iter().map(|part| (part.cpus, part.group.0, part.isolated)).collect();
        let expected = [(mask(&[0, 1, 2, 3]), 0, false), (mask(&[4, 5, 6]), 1, false), (mask(&[7]), 2, true)];
        assert_eq!(parts, expected);
        let effective = [0, 1, 2, 3].map(|g| allowed(&division, g)[0]);
        assert_eq!(effective, [mask(&[0, 1, 2, 3]), mask(&[4, 5, 6]), mask(&[7]), mask(&[0, 1])]);
    }

    /// Who does not ask stays away from isolated CPUs, unless a cpuset says otherwise.
    #[test]
    fn isolated_cpus_are_got_by_asking() {
        let groups = [group("a", 0, None, Member), group("b", 0, Some(&[1, 2]), Member)];
        let division = divided(&groups, &[2, 3]).expect("legal");
        let rest = mask(&[0, 1, 4, 5, 6, 7]);
        assert_eq!([0, 1].map(|g| allowed(&division, g)), [[CpuMask::first_n(8), rest]; 2]);
        assert_eq!(allowed(&division, 2), [mask(&[1, 2]); 2]);
        assert_eq!(division.partitions, Partitions::new([rest]));
    }

    #[test]
    fn what_the_kernel_refuses() {
        let refused =
            |groups: &[GroupSpec], isolcpus: &[u16]| divided(groups, isolcpus).expect_err("refused");
        for (groups, problem) in [
            (vec![group("a", 0, None, Root)], "is empty"),
            (vec![group("a", 0, Some(&[8]), Member)], "does not have"),
            (vec![group("a", 0, Some(&[]), Member)], "names no CPU"),
            (vec![group("a", 0, Some(&[1, 2]), Member), group("b", 0, Some(&[2]), Root)], "not exclusive"),
            (vec![group("a", 0, Some(&[1, 2]), Root), group("b", 0, Some(&[2]), Member)], "not exclusive"),
            (
                vec![group("a", 0, Some(&[1, 2]), Member), group("a/b", 1, Some(&[2]), Root)],
                "not a partition root",
            ),
            (
                vec![group("a", 0, Some(&[1, 2]), Root), group("a/b", 1, Some(&[3]), Root)],
                "of its parent only",
            ),
            (vec![group("a", 0, Some(&[5, 6]), Root)], "Housekeeping"),
            (vec![group("a", 0, Some(&[0, 1, 2, 3, 4, 5, 6, 7]), Isolated)], "take all CPUs of the machine"),
        ] {
            let error = refused(&groups, &[6]);
            assert!(error.contains(problem), "{error}");
        }
        assert!(refused(&[], &[0, 1, 2, 3, 4, 5, 6, 7]).contains("has to be left"));
        assert!(refused(&[], &[8]).contains("the machine has CPUs 0-7"));
        assert!(divided(&[group("a", 0, Some(&[6]), Isolated)], &[6]).is_ok());
    }
}
