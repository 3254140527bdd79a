//! What recordings say of the CPUs of groups and of the kernel's command line, on the machine of a run.

use crate::groups::{FIRST_ISOLATED, FIRST_NOHZ_FULL, FIRST_PARTITIONS, Groups};
use crate::kernel::NamedKernel;
use machine::{PartitionKind, Setup};
use scheduler::CpuMask;
use workload::replay::ReplayGroups;

/// Takes CPUs from everybody as the recorded kernels did, where the user does not say which, and from the
/// groups of the recordings what this machine or this kernel has not got: a sentence for each.
pub(crate) fn fit(
    setup: &mut Setup,
    kernel: &NamedKernel,
    said: &Groups,
    recorded: &[&ReplayGroups],
) -> Vec<String> {
    let all = CpuMask::first_n(setup.cpus());
    let release = kernel.nearest_release();
    let named = |of: fn(&ReplayGroups) -> CpuMask| {
        recorded.iter().map(|groups| of(groups)).fold(CpuMask::EMPTY, |all, cpus| all.or(&cpus))
    };
    let mut left_out = Vec::new();
    let mut taken = |option: &str, cpus: CpuMask, is_said: bool, exists: bool| {
        let why = if cpus.is_empty() || is_said {
            return None;
        } else if !exists {
            format!("{} has none (since {FIRST_NOHZ_FULL})", kernel.asked)
        } else if !cpus.is_subset(&all) {
            there_are(&all)
        } else if all.without(&cpus).is_empty() {
            "it leaves no CPU for everybody else".to_owned()
        } else {
            return Some(cpus);
        };
        left_out.push(format!("the recorded {option}={cpus} is left out: {why}"));
        None
    };
    if let Some(cpus) = taken("isolcpus", named(|groups| groups.isolcpus), said.isolates(), true) {
        setup.isolate(cpus);
    }
    let has_nohz_full = release >= FIRST_NOHZ_FULL;
    if let Some(cpus) =
        taken("nohz_full", named(|groups| groups.nohz_full), said.has_nohz_full(), has_nohz_full)
    {
        setup.nohz_full(cpus);
    }
    let cpusets = || recorded.iter().flat_map(|groups| &groups.described);
    let is_recorded = |name: &str| cpusets().any(|group| group.path() == name) && !said.divides(name);
    // A part of them would be another division of the machine.
    let fits = cpusets().filter_map(|group| group.settings().cpus()).all(|cpus| cpus.is_subset(&all));
    setup.change_groups(|group| {
        if !is_recorded(&group.name) {
            return;
        }
        if let Some(cpus) = group.cpus.filter(|_| !fits) {
            let (name, why) = (&group.name, there_are(&all));
            left_out.push(format!("the recorded cpuset.cpus {cpus} of group {name} is left out: {why}"));
            (group.cpus, group.partition) = (None, PartitionKind::Member);
        }
        let (word, since) = match group.partition {
            PartitionKind::Member => return,
            PartitionKind::Root => ("root", FIRST_PARTITIONS),
            PartitionKind::Isolated => ("isolated", FIRST_ISOLATED),
        };
        if release < since {
            left_out.push(format!(
                "the recorded cpuset.cpus.partition {word} of group {} is left out: {} has none \
                 (since {since})",
                group.name, kernel.asked
            ));
            group.partition = PartitionKind::Member;
        }
    });
    left_out
}

fn there_are(all: &CpuMask) -> String {
    format!("the machine has CPUs {all}, and all recorded ones belong to it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::CpuId;
    use schema::ExperimentText;
    use workload::groups::{Group, group_at};

    fn cpus(numbers: &[u16]) -> CpuMask {
        numbers.iter().map(|cpu| CpuId(*cpu)).collect()
    }

    /// What is left of a recording with an isolated partition of CPU 2, and isolcpus and nohz_full on CPU 3.
    fn fitted(number: usize, kernel: &str, said: &ExperimentText) -> (Vec<String>, Setup) {
        let mut group = Group::new("a").expect("a path");
        group.write(["cpuset.cpus:2", "cpuset.cpus.partition:isolated"]).expect("legal");
        let (isolcpus, nohz_full) = (cpus(&[3]), cpus(&[3]));
        let recorded =
            ReplayGroups { described: vec![group], isolcpus, nohz_full, ..ReplayGroups::default() };
        let mut setup = Setup::new(number);
        group_at(&mut setup, "a", &recorded.described);
        let said = Groups::of_text(said).expect("legal");
        let kernel = NamedKernel::find(kernel).expect("a kernel");
        (fit(&mut setup, &kernel, &said, &[&recorded]), setup)
    }

    fn of_group(setup: &Setup) -> (Option<CpuMask>, PartitionKind) {
        (setup.groups()[0].cpus, setup.groups()[0].partition)
    }

    #[test]
    fn on_the_recorded_machine_all_stays() {
        let (said, setup) = fitted(4, "6.18", &ExperimentText::default());
        assert_eq!(said, [""; 0]);
        assert_eq!(of_group(&setup), (Some(cpus(&[2])), PartitionKind::Isolated));
    }

    #[test]
    fn what_a_smaller_machine_has_not_got_is_left_out_and_said() {
        let (said, setup) = fitted(2, "6.18", &ExperimentText::default());
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("the recorded isolcpus=3 is left out: the machine has CPUs 0-1"));
        assert!(said[2].starts_with("the recorded cpuset.cpus 2 of group a is left out"), "{said:?}");
        assert_eq!(of_group(&setup), (None, PartitionKind::Member));
    }

    /// deadline-groups B10: partitions since 5.0, isolated ones since 6.1, nohz_full since 3.10.
    #[test]
    fn what_an_older_kernel_has_not_got_is_left_out_and_said() {
        let (said, setup) = fitted(4, "5.15", &ExperimentText::default());
        assert!(matches!(&said[..], [partition] if partition.contains("partition isolated of group a")));
        assert_eq!(of_group(&setup), (Some(cpus(&[2])), PartitionKind::Member));
        let (said, _) = fitted(4, "3.3", &ExperimentText::default());
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("nohz_full=3 is left out: 3.3 has none (since 3.10"), "{said:?}");
    }

    #[test]
    fn what_the_user_says_goes_before_what_was_recorded() {
        let (isolcpus, nohz_full) = (Some("1".to_owned()), Some("1".to_owned()));
        let groups = vec![crate::groups::group("a=cpuset.cpus:1").expect("legal")];
        let said = ExperimentText { isolcpus, nohz_full, groups, ..ExperimentText::default() };
        assert_eq!(fitted(2, "3.3", &said).0, [""; 0]);
    }
}
