//! What each kernel has of groups: what a user says is refused where it has not got it, and what was recorded
//! is left out.

use super::Groups;
use crate::error::Error;
use crate::kernel::{NamedKernel, Release};
use machine::{GroupSpec, PartitionKind, QuotaSpec, RtLimitSpec, Setup};
use scheduler::registry::RtThrottle;
use scheduler::{Clamps, Nanos};
use workload::groups::Group;

/// The first releases with something of groups (deadline-groups B5 to B7).
const FIRST_GROUPS: Release = Release::new(2, 6, 24);
const FIRST_AUTOGROUP: Release = Release::new(2, 6, 38);
const FIRST_LIMITS: Release = Release::new(3, 2, 0);
pub(crate) const FIRST_BURSTS: Release = Release::new(5, 14, 0);
const FIRST_IDLE: Release = Release::new(5, 15, 0);
const FIRST_CLAMPS: Release = Release::new(5, 3, 0);
pub(crate) const FIRST_PARTITIONS: Release = Release::new(5, 0, 0);
pub(crate) const FIRST_ISOLATED: Release = Release::new(6, 1, 0);
/// CONFIG_NO_HZ_FULL (deadline-groups B10 [R]).
pub(crate) const FIRST_NOHZ_FULL: Release = Release::new(3, 10, 0);

impl Groups {
    /// Refuses what the kernel has not got.
    ///
    /// # Errors
    /// What it is, and since when there is such a thing.
    pub(crate) fn check(&self, kernel: &NamedKernel, throttle: RtThrottle) -> Result<(), Error> {
        let release = kernel.nearest_release();
        let any = |has: fn(&Group) -> bool| self.described.iter().find(|group| has(group)).map(Group::path);
        let first = self.described.first().map(Group::path);
        for (group, what, since) in [
            (first, "task groups", FIRST_GROUPS),
            (self.autogroup.then_some("autogroup"), "autogroup", FIRST_AUTOGROUP),
            (any(|group| group.settings().is_limited()), "cpu.max", FIRST_LIMITS),
            (any(|group| group.settings().has_burst()), "cpu.max.burst", FIRST_BURSTS),
            (any(|group| group.settings().is_idle()), "cpu.idle", FIRST_IDLE),
            (any(|group| group.settings().is_clamped()), "cpu.uclamp.min and .max", FIRST_CLAMPS),
            (any(is_partition), "cpuset.cpus.partition", FIRST_PARTITIONS),
            (any(is_isolated), "cpuset.cpus.partition:isolated", FIRST_ISOLATED),
            (self.nohz_full.as_ref().map(|_| "nohz_full"), "nohz_full", FIRST_NOHZ_FULL),
        ] {
            if let Some(group) = group.filter(|_| release < since) {
                let problem = format!("{} has no {what}: it exists since {since}", kernel.asked);
                return Err(Error::Group { group: group.to_owned(), problem });
            }
        }
        match any(|group| group.settings().has_rt_limit()).filter(|_| throttle != RtThrottle::Groups) {
            Some(group) => Err(Error::Group { group: group.to_owned(), problem: no_rt_groups(kernel) }),
            None => Ok(()),
        }
    }
}

/// Takes from the groups of recordings what the kernel of the run has not got; a sentence for each. (What the
/// user said of groups has passed [`Groups::check`].)
///
/// # Errors
/// It has no groups at all.
pub(crate) fn fit(
    setup: &mut Setup,
    kernel: &NamedKernel,
    throttle: RtThrottle,
) -> Result<Vec<String>, Error> {
    let release = kernel.nearest_release();
    if let Some(group) = setup.groups().first().filter(|_| release < FIRST_GROUPS) {
        let problem = format!(
            "{} has no task groups: they exist since {FIRST_GROUPS}; replay the recording without its own, all \
             tasks in one group (`flat`)",
            kernel.asked
        );
        return Err(Error::Group { group: group.name.clone(), problem });
    }
    let mut left_out = Vec::new();
    setup.change_groups(|group| {
        let has_rt = group.rt.is_some_and(|rt| rt != RtLimitSpec::default());
        if has_rt && throttle != RtThrottle::Groups {
            left_out.push(format!(
                "the recorded cpu.rt_runtime_us of group {} is left out: {}",
                group.name,
                no_rt_groups(kernel)
            ));
            group.rt = Some(RtLimitSpec::default());
        }
        let mut lacks = |what: &str, since: Release| {
            let GroupSpec { name, .. } = group;
            left_out.push(format!(
                "the recorded {what} of group {name} is left out: {} has none (since {since})",
                kernel.asked
            ));
        };
        if release < FIRST_LIMITS && group.quota.is_some() {
            lacks("cpu.max", FIRST_LIMITS);
            group.quota = None;
        }
        let unburdened = |quota: QuotaSpec| QuotaSpec { burst: Nanos::ZERO, ..quota };
        if release < FIRST_BURSTS && group.quota.is_some_and(|quota| quota != unburdened(quota)) {
            lacks("cpu.max.burst", FIRST_BURSTS);
            group.quota = group.quota.map(unburdened);
        }
        if release < FIRST_CLAMPS && group.clamps != Clamps::NONE {
            lacks("cpu.uclamp.min and .max", FIRST_CLAMPS);
            group.clamps = Clamps::NONE;
        }
        if release < FIRST_IDLE && group.idle {
            lacks("cpu.idle", FIRST_IDLE);
            group.idle = false;
        }
    });
    Ok(left_out)
}

/// Why a kernel takes no cpu.rt_runtime_us.
fn no_rt_groups(kernel: &NamedKernel) -> String {
    format!(
        "{} has no cpu.rt_runtime_us: it is built without RT_GROUP_SCHED; set rt_throttle=groups for one \
         that has it",
        kernel.asked
    )
}

fn is_partition(group: &Group) -> bool {
    group.settings().partition() != PartitionKind::Member
}

fn is_isolated(group: &Group) -> bool {
    group.settings().partition() == PartitionKind::Isolated
}

#[cfg(test)]
mod tests {
    use super::super::tests::text;
    use super::*;

    /// deadline-groups B5 to B7.
    #[test]
    fn what_a_kernel_has_not_got_is_refused_with_its_release() {
        let said = |kernel: &str, word: &str| {
            let kernel = NamedKernel::find(kernel).expect("a kernel");
            let groups = Groups::of_text(&text(&[word], &[])).expect("legal");
            groups.check(&kernel, RtThrottle::Root).err().map_or(String::new(), |error| error.to_string())
        };
        assert_eq!(
            said("2.6.36", "web=cpu.max:20000"),
            "group web: 2.6.36 has no cpu.max: it exists since 3.2"
        );
        assert!(said("5.10", "web=cpu.max:20000,cpu.max.burst:20000").contains("since 5.14"));
        assert!(said("5.10", "web=cpu.idle:1").contains("since 5.15"));
        assert!(
            said("4.19", "web=cpu.uclamp.min:20").contains("no cpu.uclamp.min and .max: it exists since 5.3")
        );
        assert!(said("2.6.23-rt5", "web").contains("since 2.6.24"));
        for (kernel, word) in [
            ("2.6.36", "web=cpu.weight:50"),
            ("3.3", "web=cpu.max:20000"),
            ("5.15", "web=cpu.idle:1"),
            ("5.4", "web=cpu.uclamp.max:20"),
            ("debian12", "web=cpu.max:20000,cpu.max.burst:20000"),
        ] {
            assert_eq!(said(kernel, word), "", "{kernel} {word}");
        }
        let autogroup = Groups { autogroup: true, ..Groups::default() };
        let at =
            |kernel| autogroup.check(&NamedKernel::find(kernel).expect("a kernel"), RtThrottle::Root).is_ok();
        assert!(at("2.6.38") && !at("2.6.37"));
    }

    /// deadline-groups B9: as most kernels are built.
    #[test]
    fn a_kernel_without_groups_of_real_time_tasks_takes_no_limit_of_theirs() {
        let text = text(&["a=cpu.rt_runtime_us:100000"], &[]);
        let groups = Groups::of_text(&text).expect("legal");
        let kernel = NamedKernel::find("debian12").expect("a kernel");
        let refused = groups.check(&kernel, RtThrottle::Root).expect_err("no such file").to_string();
        assert!(refused.contains("debian12 has no cpu.rt_runtime_us: it is built without RT_GROUP_SCHED"));
        assert!(groups.check(&kernel, RtThrottle::Groups).is_ok());
        let rt = RtLimitSpec { runtime: Some(Nanos::from_millis(100)), period: None };
        for (throttle, stays) in [(RtThrottle::Off, false), (RtThrottle::Groups, true)] {
            let mut setup = Setup::new(1);
            setup.group(GroupSpec { rt: Some(rt), ..GroupSpec::new("a") });
            let said = fit(&mut setup, &kernel, throttle).expect("it has groups");
            assert_eq!((setup.groups()[0].rt == Some(rt), said.is_empty()), (stays, stays));
        }
    }

    #[test]
    fn what_a_recording_had_and_a_kernel_has_not_is_left_out_and_said() {
        let fitted = |kernel: &str| {
            let mut setup = Setup::new(1);
            let [quota, period, burst] = [20, 100, 5].map(Nanos::from_millis);
            let limits = Some(QuotaSpec { quota, period, burst });
            setup.group(GroupSpec { quota: limits, ..GroupSpec::new("web") });
            setup.group(GroupSpec { idle: true, ..GroupSpec::new("batch") });
            let said = fit(&mut setup, &NamedKernel::find(kernel).expect("a kernel"), RtThrottle::Root);
            let groups: Vec<_> = setup.groups().iter().map(|group| (group.quota, group.idle)).collect();
            (said.map_err(|error| error.to_string()), groups)
        };
        let (said, groups) = fitted("2.6.36");
        assert_eq!(groups, [(None, false), (None, false)]);
        let limit = "the recorded cpu.max of group web is left out: 2.6.36 has none (since 3.2)";
        assert_eq!(said.expect("it has groups")[0], limit);
        let (said, groups) = fitted("5.10");
        let quota = groups[0].0.expect("limited");
        assert_eq!((quota.quota, quota.burst), (Nanos::from_millis(20), Nanos::ZERO));
        assert_eq!(said.expect("it has groups").len(), 2, "burst and idle");
        let (said, groups) = fitted("6.18");
        assert_eq!((said.as_deref(), groups[1].1), (Ok(&[][..]), true));
        assert!(fitted("2.6.23-rt5").0.expect_err("no groups").contains("in one group (`flat`)"));
    }
}
