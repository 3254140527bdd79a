//! What groups may give to their real-time tasks, and what the kernel refuses of that (deadline-groups B9).

use crate::engine::RunOptions;
use crate::group::{GroupSpec, RtLimitSpec};
use crate::outcome::RunError;
use crate::setup::{OutsideChange, TimedChange};
use scheduler::registry::{Config, RtThrottle};
use scheduler::rt::RtLimit;
use scheduler::{GroupId, Nanos};

/// The limit of a group as the scheduler takes it.
pub(crate) fn limit(spec: &RtLimitSpec, config: &Config) -> RtLimit {
    let RtLimitSpec { runtime, period } = *spec;
    RtLimit { runtime, period: period.unwrap_or_else(|| RtLimit::of_root(&config.tunables).period) }
}

/// Makes sure that the kernel takes the limits of these groups, if it has any.
///
/// # Errors
/// More than the period, than what the root has, or than what the group above has for all its groups.
pub(crate) fn check(groups: &[GroupSpec], config: &Config) -> Result<(), RunError> {
    if config.rules.rt_throttle.get() != RtThrottle::Groups {
        return Ok(());
    }
    fit(groups, &limits(groups, config), RtLimit::of_root(&config.tunables))
}

/// Makes sure that the kernel takes what is written while it runs: less for the root than its groups have
/// already is refused, and more for a group than the one above has left for it.
///
/// # Errors
/// The first write that it refuses.
pub(crate) fn check_during(
    groups: &[GroupSpec],
    config: &Config,
    options: &RunOptions,
) -> Result<(), RunError> {
    if config.rules.rt_throttle.get() != RtThrottle::Groups {
        return Ok(());
    }
    // A group keeps the period that the root had when it was made.
    let mut limits = limits(groups, config);
    let later = config.clone();
    for (at, write) in writes(options) {
        match write {
            // What is no setting at all is told when its time comes.
            Write::Setting(setting) if later.set_later(setting).is_err() => return Ok(()),
            Write::Setting(_) => {}
            Write::Runtime { group, runtime } => {
                let own = group.index().checked_sub(1).and_then(|place| limits.get_mut(place));
                let Some(Some(own)) = own else { continue };
                own.runtime = runtime;
            }
        }
        if let Err(why) =
            write.has_some(groups).and_then(|()| fit(groups, &limits, RtLimit::of_root(&later.tunables)))
        {
            return Err(RunError::Refused { setting: write.text(groups), at, why: Box::new(why) });
        }
    }
    Ok(())
}

/// Something that is written in the middle of a run.
#[derive(Clone, Copy)]
enum Write<'a> {
    Setting(&'a str),
    Runtime { group: GroupId, runtime: Option<Nanos> },
}

impl Write<'_> {
    fn text(self, groups: &[GroupSpec]) -> String {
        match self {
            Write::Setting(setting) => setting.to_owned(),
            Write::Runtime { group, runtime } => {
                let us = runtime.map_or_else(|| "-1".to_owned(), |runtime| (runtime.0 / 1_000).to_string());
                format!("{}=cpu.rt_runtime_us:{us}", groups[group.index() - 1].name)
            }
        }
    }

    /// A group is not left without time for its tasks.
    fn has_some(self, groups: &[GroupSpec]) -> Result<(), RunError> {
        match self {
            Write::Runtime { group, runtime: Some(Nanos::ZERO) } => Err(RunError::Group {
                name: groups[group.index() - 1].name.clone(),
                why: "it may have real-time tasks, and they need time (EBUSY)".to_owned(),
            }),
            Write::Setting(_) | Write::Runtime { .. } => Ok(()),
        }
    }
}

/// All of it, in the order of time.
fn writes(options: &RunOptions) -> Vec<(Nanos, Write<'_>)> {
    let settings = options.settings.iter().map(|timed| (timed.at, Write::Setting(&timed.setting)));
    let runtime = |timed: &TimedChange| match timed.change {
        OutsideChange::RtRuntime { group, runtime } => Some((timed.at, Write::Runtime { group, runtime })),
        _ => None,
    };
    let mut all: Vec<_> = settings.chain(options.changes.iter().filter_map(runtime)).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

/// Those of these groups; a session has none.
fn limits(groups: &[GroupSpec], config: &Config) -> Vec<Option<RtLimit>> {
    groups.iter().map(|group| group.rt.map(|spec| limit(&spec, config))).collect()
}

/// Whether groups with these limits may be below a root with that one.
fn fit(groups: &[GroupSpec], limits: &[Option<RtLimit>], root: RtLimit) -> Result<(), RunError> {
    let whole_root = root.part();
    for (group, own) in groups.iter().zip(limits) {
        let refuse = |why: String| Err(RunError::Group { name: group.name.clone(), why });
        let Some(own) = *own else { continue };
        if own.runtime.is_some_and(|runtime| runtime > own.period) {
            return refuse("cpu.rt_runtime_us may be no more than cpu.rt_period_us (EINVAL)".to_owned());
        }
        if own.part() > whole_root {
            return refuse(
                "its cpu.rt_runtime_us is a larger part of its cpu.rt_period_us than sched_rt_runtime_us is \
                 of sched_rt_period_us (EINVAL)"
                    .to_owned(),
            );
        }
    }
    let part_of = |number: usize| limits[number].map_or(0, RtLimit::part);
    let parents = (0..groups.len()).map(|number| (GroupId(number as u32 + 1), Some(number)));
    for (id, parent) in parents.chain([(GroupId::ROOT, None)]) {
        let mut children = (0..groups.len()).filter(|number| groups[*number].parent == id);
        let sum: u64 = children.clone().map(part_of).sum();
        if sum <= parent.map_or(whole_root, part_of) {
            continue;
        }
        let last = children.rfind(|child| part_of(*child) > 0);
        let name = last.map_or("", |child| groups[child].name.as_str());
        let of = parent.map_or("the root", |parent| groups[parent].name.as_str());
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
    use crate::engine::TimedSetting;

    fn config(settings: &[&str]) -> Config {
        let config = Config::of_profile("6.18.y").expect("a profile");
        ["rt_throttle=groups"].iter().chain(settings).for_each(|setting| {
            config.set(setting).expect("legal");
        });
        config
    }

    /// Groups by parent's number, runtime and period in ms.
    fn specs(groups: &[(u32, i64, u64)]) -> Vec<GroupSpec> {
        let ms = Nanos::from_millis;
        let spec = |(number, (parent, runtime, period)): (usize, &(u32, i64, u64))| GroupSpec {
            parent: GroupId(*parent),
            rt: Some(RtLimitSpec {
                runtime: u64::try_from(*runtime).ok().map(ms),
                period: Some(ms(*period)),
            }),
            ..GroupSpec::new(format!("g{}", number + 1))
        };
        groups.iter().enumerate().map(spec).collect()
    }

    fn checked(groups: &[(u32, i64, u64)], settings: &[&str]) -> Result<(), String> {
        check(&specs(groups), &config(settings)).map_err(|error| error.to_string())
    }

    /// The same of what is written at 1, 2, … s.
    fn checked_during(groups: &[(u32, i64, u64)], settings: &[&str]) -> Result<(), String> {
        let timed = |(n, setting): (u64, &&str)| TimedSetting {
            at: Nanos::from_secs(n),
            setting: (*setting).to_owned(),
        };
        let mut timed: Vec<TimedSetting> = (1..).zip(settings).map(timed).collect();
        timed.reverse();
        let options = RunOptions { settings: timed, ..RunOptions::default() };
        check_during(&specs(groups), &config(&[]), &options).map_err(|error| error.to_string())
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

    /// deadline-groups B9: a write below what the groups have is EINVAL, whenever it comes; each counts from
    /// what was written before it.
    #[test]
    fn the_root_keeps_what_its_groups_have() {
        let groups = [(0, 500, 1000), (0, 400, 1000)];
        let during = |settings: &[&str]| checked_during(&groups, settings);
        assert_eq!(during(&["sched_rt_runtime_us=900000", "sched_rt_runtime_us=-1"]), Ok(()));
        assert_eq!(
            during(&["sched_rt_runtime_us=900000", "sched_rt_runtime_us=899000"]),
            Err("`sched_rt_runtime_us=899000` at 2.000000000 s: task group g2: with its cpu.rt_runtime_us the \
                 groups below the root have more real-time than that has itself (EINVAL)"
                .to_owned())
        );
        let one = during(&["sched_rt_runtime_us=400000"]).expect_err("EINVAL");
        assert!(one.contains("g1: its cpu.rt_runtime_us is a larger part of"), "{one}");
        let longer = during(&["sched_rt_period_us=2000000"]).expect_err("EINVAL");
        assert!(longer.starts_with("`sched_rt_period_us=2000000` at 1.000000000 s: "), "{longer}");
        let both = ["sched_rt_period_us=500000", "sched_rt_runtime_us=450000"];
        assert_eq!(during(&both), Ok(()), "as much, in another period");
    }

    /// Without a period of its own a group keeps the one that the root had at the start.
    #[test]
    fn another_period_of_the_root_is_not_that_of_its_groups() {
        let rt = Some(RtLimitSpec { runtime: Some(Nanos::from_millis(400)), period: None });
        let groups = [GroupSpec { rt, ..GroupSpec::new("a") }];
        let shorter = |setting: &str| {
            let settings = vec![TimedSetting { at: Nanos::from_secs(1), setting: setting.to_owned() }];
            let options = RunOptions { settings, ..RunOptions::default() };
            check_during(&groups, &config(&["sched_rt_runtime_us=500000"]), &options).is_ok()
        };
        assert!(shorter("sched_rt_period_us=500000") && !shorter("sched_rt_period_us=2000000"));
    }

    /// The same of a group: never more than what is left above it, and never nothing.
    #[test]
    fn a_group_gets_what_the_one_above_has_left() {
        let groups = specs(&[(0, 500, 1000), (1, 200, 1000), (1, 100, 1000)]);
        let written = |group: u32, ms: Option<u64>| {
            let change =
                OutsideChange::RtRuntime { group: GroupId(group), runtime: ms.map(Nanos::from_millis) };
            let changes = vec![TimedChange { at: Nanos::from_secs(1), change }];
            let options = RunOptions { changes, ..RunOptions::default() };
            check_during(&groups, &config(&[]), &options).map_err(|error| error.to_string())
        };
        assert_eq!((written(2, Some(400)), written(1, Some(950))), (Ok(()), Ok(())));
        let more = written(2, Some(401)).expect_err("EINVAL");
        assert!(more.starts_with("`g2=cpu.rt_runtime_us:401000` at 1.000000000 s: "), "{more}");
        assert!(more.contains("the groups below g1 have more real-time"), "{more}");
        assert!(
            written(1, Some(299)).is_err() && written(1, Some(951)).is_err() && written(1, None).is_err()
        );
        assert!(written(3, Some(0)).expect_err("EBUSY").ends_with("they need time (EBUSY)"));
    }
}
