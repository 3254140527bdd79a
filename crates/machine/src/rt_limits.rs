//! What groups may give to their real-time tasks, and what the kernel refuses of that (deadline-groups B9).

use crate::group::{GroupSpec, RtLimitSpec};
use crate::outcome::RunError;
use scheduler::dl::ratio;
use scheduler::registry::{Config, RtThrottle};
use scheduler::rt::RtLimit;
use scheduler::{GroupId, Nanos};

/// All of a CPU, as the kernel divides it.
fn whole() -> u64 {
    ratio(Nanos(1), Nanos(1))
}

/// The limit of a group as the scheduler takes it.
pub(crate) fn limit(spec: &RtLimitSpec, config: &Config) -> RtLimit {
    let RtLimitSpec { runtime, period } = *spec;
    RtLimit { runtime, period: period.unwrap_or_else(|| RtLimit::of_root(&config.tunables).period) }
}

/// What of a CPU a group, or the root, may use, in 2^20ths.
fn part(limit: RtLimit) -> u64 {
    limit.runtime.map_or_else(whole, |runtime| ratio(limit.period, runtime))
}

/// Makes sure that the kernel takes the limits of these groups, if it has any.
///
/// # Errors
/// More than the period, than what the root has, or than what the group above has for all its groups.
pub(crate) fn check(groups: &[GroupSpec], config: &Config) -> Result<(), RunError> {
    if config.rules.rt_throttle.get() != RtThrottle::Groups {
        return Ok(());
    }
    let part_of = |group: &GroupSpec| group.rt.map_or(0, |spec| part(limit(&spec, config)));
    let whole_root = part(RtLimit::of_root(&config.tunables));
    for group in groups {
        let refuse = |why: String| Err(RunError::Group { name: group.name.clone(), why });
        let Some(own) = group.rt.map(|spec| limit(&spec, config)) else { continue };
        if own.runtime.is_some_and(|runtime| runtime > own.period) {
            return refuse("cpu.rt_runtime_us may be no more than cpu.rt_period_us (EINVAL)".to_owned());
        }
        if part(own) > whole_root {
            return refuse(
                "its cpu.rt_runtime_us is a larger part of its cpu.rt_period_us than sched_rt_runtime_us is \
                 of sched_rt_period_us (EINVAL)"
                    .to_owned(),
            );
        }
    }
    let parents = groups.iter().enumerate().map(|(number, group)| (GroupId(number as u32 + 1), Some(group)));
    for (id, parent) in parents.chain([(GroupId::ROOT, None)]) {
        let mut children = groups.iter().filter(|group| group.parent == id);
        let sum: u64 = children.clone().map(part_of).sum();
        if sum <= parent.map_or(whole_root, part_of) {
            continue;
        }
        let name = children.rfind(|child| part_of(child) > 0).map_or("", |child| child.name.as_str());
        let of = parent.map_or("the root", |parent| parent.name.as_str());
        let why = format!(
            "with its cpu.rt_runtime_us the groups below {of} have more real-time than that has itself \
             (EINVAL)"
        );
        return Err(RunError::Group { name: name.to_owned(), why });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups by parent's number, runtime and period in ms.
    fn checked(groups: &[(u32, i64, u64)], settings: &[&str]) -> Result<(), String> {
        let config = Config::of_profile("6.18.y").expect("a profile");
        ["rt_throttle=groups"].iter().chain(settings).for_each(|setting| {
            config.set(setting).expect("legal");
        });
        let ms = Nanos::from_millis;
        let spec = |(number, (parent, runtime, period)): (usize, &(u32, i64, u64))| GroupSpec {
            parent: GroupId(*parent),
            rt: Some(RtLimitSpec {
                runtime: u64::try_from(*runtime).ok().map(ms),
                period: Some(ms(*period)),
            }),
            ..GroupSpec::new(format!("g{}", number + 1))
        };
        let groups: Vec<GroupSpec> = groups.iter().enumerate().map(spec).collect();
        check(&groups, &config).map_err(|error| error.to_string())
    }

    #[test]
    fn what_groups_have_together_their_parent_has() {
        let wrong =
            |groups: &[(u32, i64, u64)], settings: &[&str]| checked(groups, settings).expect_err("EINVAL");
        assert_eq!(checked(&[(0, 0, 1000), (1, 0, 1000)], &[]), Ok(()));
        assert_eq!(checked(&[(0, 500, 1000), (0, 450, 1000)], &[]), Ok(()), "0.95 of a CPU");
        assert_eq!(
            wrong(&[(0, 500, 1000), (0, 451, 1000)], &[]),
            "task group g2: with its cpu.rt_runtime_us the groups below the root have more real-time than \
             that has itself (EINVAL)"
        );
        assert_eq!(checked(&[(0, 500, 1000), (1, 20, 100), (1, 30, 100)], &[]), Ok(()));
        let below = wrong(&[(0, 500, 1000), (1, 20, 100), (1, 31, 100)], &[]);
        assert!(below.starts_with("task group g3: ") && below.contains("below g1"), "{below}");
    }

    #[test]
    fn no_group_has_more_than_its_period_and_the_root() {
        let wrong =
            |runtime, settings: &[&str]| checked(&[(0, runtime, 1000)], settings).expect_err("EINVAL");
        assert!(wrong(1001, &["sched_rt_runtime_us=-1"]).contains("no more than cpu.rt_period_us"));
        assert!(wrong(951, &[]).contains("than sched_rt_runtime_us is of"));
        assert!(wrong(-1, &[]).contains("than sched_rt_runtime_us is of"), "all of it is more, too");
        assert_eq!(checked(&[(0, -1, 1000)], &["sched_rt_runtime_us=-1"]), Ok(()));
        assert_eq!(checked(&[(0, 2000, 1000)], &["rt_throttle=root"]), Ok(()), "nobody looks");
    }
}
