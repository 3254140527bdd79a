//! The task groups of a recording: which there were, as far as the recorder wrote it down, and who was in
//! them.

use super::recording::{Recording, ReplayStep, TaskIndex};
use crate::groups::{Group, percent_of_clamp};
use crate::units;
use scheduler::CpuMask;
use schema::is_in_group;
use std::collections::{BTreeMap, BTreeSet};
use trace::{CgroupCpu, Cpuset, Pid, TaskGroup, Trace, UtilClamps};

/// The setting of autogroup, as the recorder writes it down.
pub(super) const AUTOGROUP: &str = "sched_autogroup_enabled";

/// Task groups of a replay.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReplayGroups {
    /// What is known of them; the others are as the kernel makes them.
    pub described: Vec<Group>,
    /// By task, the path of the group in which it begins; who is missing begins where its parent is, or in
    /// the root.
    pub of: BTreeMap<TaskIndex, Box<str>>,
    /// CPUs in no sched domain from the start (isolcpus=).
    pub isolcpus: CpuMask,
    /// CPUs that stop their tick beside a single task (nohz_full=).
    pub nohz_full: CpuMask,
}

/// The groups of a trace.
pub(super) struct Recorded {
    pub groups: ReplayGroups,
    /// What the trace says of groups and no kernel has, a sentence for each; it is left out.
    pub impossible: Vec<String>,
}

impl ReplayGroups {
    /// Those that the recorder wrote down: control groups, and sessions where these are one group.
    pub(super) fn recorded(trace: &Trace, recording: &Recording) -> Recorded {
        let sessions = trace.host.facts.get(AUTOGROUP).is_some_and(|on| on == "1");
        let path = |group: &TaskGroup| match (group.cgroup.as_str(), group.autogroup) {
            ("/", Some(session)) if sessions => Some(format!("autogroup-{session}")),
            (path, _) => Group::new(path).ok().map(|group| group.path().to_owned()),
        };
        let of = (0..).map(TaskIndex).zip(of_tasks(trace, recording));
        let of = of.filter_map(|(task, group)| Some((task, path(group?)?.into()))).collect();
        let mut impossible = Vec::new();
        let host = &trace.host;
        let paths: BTreeSet<&String> = host.cgroups.keys().chain(host.cpusets.keys()).collect();
        let described = paths.into_iter().filter_map(|path| {
            let (cpu, cpuset) = (host.cgroups.get(path), host.cpusets.get(path));
            described(path, cpu.copied().unwrap_or_default(), cpuset, &mut impossible)
        });
        let described = described.collect();
        let taken = |name: &str| host.facts.get(name).and_then(|list| units::cpu_list(list).ok());
        let taken = |name: &str| taken(name).unwrap_or(CpuMask::EMPTY);
        let (isolcpus, nohz_full) = (taken("isolated"), taken("nohz_full"));
        Recorded { groups: ReplayGroups { described, of, isolcpus, nohz_full }, impossible }
    }

    /// Whether the recorder looked for groups: ours does, and it writes down other things of the host, too.
    pub(super) fn are_told(trace: &Trace, recording: &Recording) -> bool {
        let host = &trace.host;
        !host.cgroups.is_empty() || !host.cpusets.is_empty() || !host.facts.is_empty() || recording.is_told()
    }

    /// Beside described groups, those of tasks of which nothing is known: a file with some names all.
    pub(super) fn undescribed(&self) -> BTreeSet<&str> {
        let is_there = |path: &&str| self.described.iter().any(|group| is_in_group(group.path(), path));
        let all = self.of.values().map(|path| &**path).filter(|_| !self.described.is_empty());
        all.filter(|path| !is_there(path)).collect()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }
}

/// A cgroup with what it got; `None` for one that no kernel has. What no kernel takes is told of.
fn described(
    path: &str,
    cpu: CgroupCpu,
    cpuset: Option<&Cpuset>,
    impossible: &mut Vec<String>,
) -> Option<Group> {
    let CgroupCpu { quota, weight, shares, burst_us, idle, rt, clamps } = cpu;
    let words = [
        quota.map(|quota| format!("cpu.max:{}/{}", quota.quota_us, quota.period_us)),
        weight.map(|weight| format!("cpu.weight:{weight}")),
        shares.filter(|_| !idle).map(|shares| format!("cpu.shares:{shares}")),
        burst_us.filter(|_| quota.is_some()).map(|burst_us| format!("cpu.max.burst:{burst_us}")),
        idle.then(|| "cpu.idle:1".to_owned()),
        rt.map(|rt| format!("cpu.rt_runtime_us:{}", rt.runtime_us)),
        rt.map(|rt| format!("cpu.rt_period_us:{}", rt.period_us)),
        clamps.map(|UtilClamps { min, .. }| format!("cpu.uclamp.min:{}", percent_of_clamp(min))),
        clamps.map(|UtilClamps { max, .. }| format!("cpu.uclamp.max:{}", percent_of_clamp(max))),
        cpuset.filter(|set| !set.cpus.is_empty()).map(|set| format!("cpuset.cpus:{}", set.cpus)),
        cpuset
            .filter(|set| set.partition != "member")
            .map(|set| format!("cpuset.cpus.partition:{}", set.partition)),
    ];
    let left_out = |what: &str, problem: &str| {
        format!("the trace has a cgroup {path} with what no kernel has, so it is left out: {what}{problem}")
    };
    let mut group = match Group::new(path) {
        Ok(group) => group,
        // A recorder writes down the root, too, which is always there.
        Err(_) if path == "/" => return None,
        Err(problem) => {
            impossible.push(left_out("", &problem));
            return None;
        }
    };
    for word in words.iter().flatten() {
        let before = group.clone();
        let written = group.write([word.as_str()]).and_then(|()| group.settings().check());
        if let Err(problem) = written {
            impossible.push(left_out(&format!("{word} ("), &format!("{problem})")));
            group = before;
        }
    }
    Some(group)
}

/// The groups of all tasks: where the recorder does not know a task, which lived between its looks, that of
/// its parent.
pub(super) fn of_tasks<'a>(trace: &'a Trace, recording: &Recording) -> Vec<Option<&'a TaskGroup>> {
    let of_process = |tgid: &Pid| trace.host.groups.get(tgid);
    let known =
        |pid: Pid| trace.facts.get(&pid).and_then(|facts| of_process(&facts.tgid)).or(of_process(&pid));
    let mut groups: Vec<_> = recording.tasks.iter().map(|task| known(task.pid)).collect();
    let mut parents: Vec<usize> = (0..groups.len()).filter(|n| groups[*n].is_some()).collect();
    while let Some(parent) = parents.pop() {
        let children = recording.tasks[parent].steps.iter().filter_map(ReplayStep::child);
        for child in children.map(|child| child.index()) {
            if groups[child].is_none() {
                groups[child] = groups[parent];
                parents.push(child);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use crate::groups::Members;
    use crate::load::Load;
    use crate::replay::{ReadOptions, Replay};
    use machine::Setup;
    use scheduler::GroupId;
    use schema::RecordedGroups;

    const SWITCHES: &str = " hog-7 [000] .... 1.000010: sched_process_fork: comm=hog pid=7 child_comm=hog child_pid=8\n \
        hog-7 [000] d... 1.000020: sched_switch: prev_comm=hog prev_pid=7 prev_prio=120 prev_state=R ==> \
        next_comm=hog next_pid=8 next_prio=120\n hog-8 [000] d... 1.000030: sched_switch: prev_comm=hog \
        prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=sh next_pid=9 next_prio=120\n";

    fn replay(notes: &[&str], groups: RecordedGroups) -> Replay {
        let marker =
            |note: &&str| format!(" rec-5 [001] .... 1.000000: tracing_mark_write: schedlab: {note}\n");
        let text = notes.iter().map(marker).collect::<String>() + SWITCHES;
        let trace = trace::read(text.as_bytes()).expect("a trace");
        Replay::read(trace, ReadOptions { groups, ..ReadOptions::default() })
    }

    /// The groups of a setup with this replay, and those of its tasks that nobody forks.
    fn built(replay: &Replay) -> (Vec<String>, Vec<Option<GroupId>>) {
        let mut setup = Setup::new(2);
        replay.build_in(&mut setup, &Members::none(), None).expect("it fits");
        let groups = setup.groups().iter().map(|group| format!("{} {}", group.name, group.shares)).collect();
        (groups, setup.into_tasks().into_iter().map(|task| task.spec.group).collect())
    }

    const NOTES: [&str; 5] = [
        "host sched_autogroup_enabled=1",
        "group tgid=7 autogroup=3 cgroup=/a/b",
        "group tgid=9 autogroup=4 cgroup=/",
        "cgroup quota_us=20000 period_us=100000 weight=50 shares=- path=/a",
        "cgroup quota_us=- period_us=- weight=200 shares=- path=/elsewhere",
    ];

    #[test]
    fn recorded_groups_come_with_their_weights_and_sessions_where_there_are_none() {
        let (groups, tasks) = built(&replay(&NOTES, RecordedGroups::Recorded));
        assert_eq!(groups, ["a 512", "a/b 1024", "autogroup-4 1024"]);
        assert!(tasks.contains(&Some(GroupId(2))) && tasks.contains(&Some(GroupId(3))), "{tasks:?}");
    }

    /// deadline-groups B7, B1: EINVAL, EINVAL; and the rest of what is said stays.
    #[test]
    fn what_no_kernel_takes_is_left_out_and_told_of() {
        let notes = [
            "group tgid=7 autogroup=- cgroup=/a",
            "cgroup quota_us=100 period_us=100000 weight=99999 shares=- burst_us=5 path=/a",
            "cgroup quota_us=- period_us=- weight=50 shares=- path=/b/../b",
            "cpuset cpus=1-x partition=sometimes path=/a",
        ];
        let replay = replay(&notes, RecordedGroups::Recorded);
        assert_eq!(built(&replay).0, ["a 1024"]);
        let warnings = replay.warnings();
        for what in [
            "cpu.max:100/100000 (",
            "cpu.weight:99999 (",
            "/b/../b with",
            "cpus:1-x (",
            "partition:sometimes",
        ] {
            assert!(warnings.iter().any(|warning| warning.contains(what)), "{what}: {warnings:?}");
        }
        let usual = ["group tgid=7 autogroup=- cgroup=/a", "cpuset cpus=1 partition=member path=/a"];
        assert!(self::replay(&usual, RecordedGroups::Recorded).warnings().is_empty());
    }

    #[test]
    fn who_wants_none_has_none_and_a_warning_says_so() {
        let flat = replay(&NOTES, RecordedGroups::Flat);
        assert_eq!(built(&flat).0, [""; 0]);
        let warns = |replay: &Replay| replay.warnings().iter().any(|warning| warning.contains("no groups"));
        assert!(warns(&flat) && !warns(&replay(&NOTES, RecordedGroups::default())));
    }
}
