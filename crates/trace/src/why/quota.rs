//! When a task group has used up the limit (`cpu.max`) that the recording names.
//!
//! No event tells that. But with the limit known, the CPU time of the group's tasks does: the kernel gives
//! the quota anew in even periods (deadline-groups B7), and what is used up in one keeps the group's queues
//! away until the next. When periods begin shows in the long waits, which end then. That is inference, so
//! the rule is strict: where the ends of long waits do not agree about the period, or a group gets more in
//! one than its quota, nothing is said.

use super::course::Course;
use super::cpus::Base;
use super::wait::Wait;
use crate::host::CpuQuota;
use crate::model::{Cpu, Pid, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The ends of long waits agree if they differ by less: two ticks of 4 ms, ns.
const SLACK_NS: u64 = 8_000_000;

/// On each CPU a group overruns its quota by a tick of 4 ms, or has a slice of 5 ms that it has not used, ns.
const OVERRUN_NS: u64 = 5_000_000;

/// All groups whose limit the recording names.
#[derive(Debug)]
pub struct Quotas {
    groups: Vec<Limited>,
}

#[derive(Debug)]
struct Limited {
    path: Box<str>,
    members: BTreeSet<Pid>,
    /// In the order of time on each CPU.
    stops: BTreeMap<Cpu, Vec<Span>>,
}

/// A time that something lasts: that a group may not run on a CPU, or that one of its tasks does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    pub from_ns: u64,
    pub to_ns: u64,
}

/// When tasks of a group have each CPU, in the order of time.
type Runs = BTreeMap<Cpu, Vec<Span>>;

/// The group of a task in the controller `cpu`, if the recorder wrote it down.
pub fn cgroup_of(trace: &Trace, pid: Pid) -> Option<&str> {
    let process = trace.threads.get(&pid).and_then(|thread| thread.tgid).unwrap_or(pid);
    Some(&trace.host.groups.get(&process)?.cgroup)
}

impl Quotas {
    pub fn of(trace: &Trace, course: &Course) -> Quotas {
        let mut limited: BTreeMap<&str, (CpuQuota, BTreeSet<Pid>)> = BTreeMap::new();
        for (pid, _) in &course.named {
            let Some(cgroup) = cgroup_of(trace, *pid) else { continue };
            for (path, quota) in trace.host.quotas_of(cgroup) {
                limited.entry(path).or_insert((quota, BTreeSet::new())).1.insert(*pid);
            }
        }
        let has_burst = |path: &str| trace.host.cgroups[path].burst_us.is_some_and(|burst| burst > 0);
        // How much of its burst a group has at a time nothing tells.
        limited.retain(|path, _| !has_burst(path));
        let group = |(path, (quota, members)): (&str, (CpuQuota, BTreeSet<Pid>))| Limited {
            stops: stops(trace, course, quota, &members),
            path: path.into(),
            members,
        };
        Quotas { groups: limited.into_iter().map(group).collect() }
    }

    /// Whether a task is in a group whose limit the recording names.
    pub fn limits(&self, pid: Pid) -> bool {
        self.groups.iter().any(|group| group.members.contains(&pid))
    }

    /// The group because of which a task may not run on a CPU at a time, and for how long.
    pub fn at(&self, pid: Pid, cpu: Cpu, at_ns: u64) -> Option<(&str, Span)> {
        let stop = |stops: &Vec<Span>| {
            let next = stops.partition_point(|stop| stop.from_ns <= at_ns);
            next.checked_sub(1).map(|last| stops[last]).filter(|stop| at_ns < stop.to_ns)
        };
        let of = |group: &'_ Limited| group.stops.get(&cpu).and_then(stop);
        let all = self.groups.iter().filter(|group| group.members.contains(&pid));
        all.filter_map(|group| Some((&*group.path, of(group)?))).next()
    }

    /// Where such times of a task on a CPU begin or end in a stretch.
    pub fn bounds(&self, pid: Pid, cpu: Cpu, inside: Span) -> BTreeSet<u64> {
        let groups = self.groups.iter().filter(|group| group.members.contains(&pid));
        let stops = groups.filter_map(|group| group.stops.get(&cpu)).flatten();
        let bounds = stops.flat_map(|stop| [stop.from_ns, stop.to_ns]);
        bounds.filter(|at| inside.from_ns < *at && *at < inside.to_ns).collect()
    }
}

fn stops(
    trace: &Trace,
    course: &Course,
    quota: CpuQuota,
    members: &BTreeSet<Pid>,
) -> BTreeMap<Cpu, Vec<Span>> {
    let runs = runs(trace, course, members);
    let (quota_ns, period_ns) = (quota.quota_us * 1_000, quota.period_us * 1_000);
    let slack_ns = OVERRUN_NS * runs.len() as u64;
    // Less than that is not told from a slice.
    let Some(enough_ns) = quota_ns.checked_sub(slack_ns).filter(|enough| *enough >= quota_ns / 2) else {
        return BTreeMap::new();
    };
    let Some(first_ns) = beginning(trace, course, &runs, members, period_ns) else { return BTreeMap::new() };
    let mut all: BTreeMap<Cpu, Vec<Span>> = BTreeMap::new();
    let begins = (first_ns..=trace.end_ns()).step_by(usize::try_from(period_ns).unwrap_or(usize::MAX));
    for from_ns in begins {
        let period = Span { from_ns, to_ns: from_ns + period_ns };
        let Some(used_up) = used_up(&runs, period, enough_ns) else { continue };
        if used_up.used_ns > quota_ns + slack_ns {
            return BTreeMap::new();
        }
        for (cpu, runs) in &runs {
            let begun = runs.partition_point(|run| run.from_ns < period.to_ns);
            let last_ns = begun.checked_sub(1).map_or(0, |last| runs[last].to_ns);
            let from_ns = last_ns.max(used_up.at_ns);
            if from_ns < period.to_ns {
                all.entry(*cpu).or_default().push(Span { from_ns, to_ns: period.to_ns });
            }
        }
    }
    all
}

struct UsedUp {
    at_ns: u64,
    /// In the whole period.
    used_ns: u64,
}

/// When the CPU time of a period is enough to be the quota, if it is.
fn used_up(runs: &Runs, period: Span, enough_ns: u64) -> Option<UsedUp> {
    let mut inside: Vec<Span> = Vec::new();
    for runs in runs.values() {
        let first = runs.partition_point(|run| run.to_ns <= period.from_ns);
        let there = runs[first..].iter().take_while(|run| run.from_ns < period.to_ns);
        inside.extend(there.map(|run| Span {
            from_ns: run.from_ns.max(period.from_ns),
            to_ns: run.to_ns.min(period.to_ns),
        }));
    }
    inside.sort_by_key(|run| run.to_ns);
    let (mut used_ns, mut at_ns) = (0, None);
    for run in inside {
        used_ns += run.to_ns - run.from_ns;
        if used_ns >= enough_ns {
            at_ns.get_or_insert(run.to_ns);
        }
    }
    Some(UsedUp { at_ns: at_ns?, used_ns })
}

fn runs(trace: &Trace, course: &Course, members: &BTreeSet<Pid>) -> Runs {
    let mut all = Runs::new();
    for cpu in (0..trace.cpus).map(Cpu) {
        let marks: Vec<_> = course.cpus.between(cpu, trace.start_ns(), trace.end_ns()).collect();
        let ends = marks.iter().skip(1).map(|mark| mark.at_ns).chain([trace.end_ns()]);
        let mut runs: Vec<Span> = Vec::new();
        for (mark, to_ns) in marks.iter().zip(ends) {
            let is_member = matches!(mark.base, Base::Task(task) if members.contains(&task.pid));
            match runs.last_mut() {
                _ if !is_member => {}
                Some(last) if last.to_ns == mark.at_ns => last.to_ns = to_ns,
                _ => runs.push(Span { from_ns: mark.at_ns, to_ns }),
            }
        }
        if !runs.is_empty() {
            all.insert(cpu, runs);
        }
    }
    all
}

/// When the first period begins that the recording shows, on which the ends of all long waits agree.
fn beginning(
    trace: &Trace,
    course: &Course,
    runs: &Runs,
    members: &BTreeSet<Pid>,
    period_ns: u64,
) -> Option<u64> {
    let is_member = |wait: &&Wait| members.contains(&wait.task.pid) && wait.task.prio >= 100;
    let stays = |wait: &&Wait| wait.moves.from == wait.moves.to && course.is_whole(wait);
    let gaps = course.waits.iter().filter(is_member).filter(stays).flat_map(|wait| gaps(wait, runs));
    let gaps: Vec<Span> = gaps.collect();
    let longest = gaps.iter().map(|gap| gap.to_ns - gap.from_ns).max()?;
    let is_long = |gap: &&Span| gap.to_ns - gap.from_ns > (longest / 2).max(SLACK_NS);
    let ends: Vec<u64> = gaps.iter().filter(is_long).map(|gap| gap.to_ns).collect();
    // How long after half a period before the first end, in whichever period.
    let before = *ends.first()? + period_ns / 2;
    let after = |end: &u64| (end + period_ns - before % period_ns) % period_ns;
    let (least, most) = (ends.iter().map(after).min()?, ends.iter().map(after).max()?);
    if most - least > SLACK_NS || period_ns <= 2 * SLACK_NS {
        return None;
    }
    let phase = (before + least) % period_ns;
    let start_ns = trace.start_ns();
    Some(start_ns + (phase + period_ns - start_ns % period_ns) % period_ns)
}

/// The parts of a wait in which no task of the group has that CPU, each up to where one does.
fn gaps(wait: &Wait, runs: &Runs) -> Vec<Span> {
    let Some(runs) = runs.get(&wait.cpu) else { return Vec::new() };
    let mut from_ns = wait.due_ns();
    let mut gaps = Vec::new();
    let first = runs.partition_point(|run| run.to_ns <= from_ns);
    for run in runs[first..].iter().take_while(|run| run.from_ns <= wait.first_ns) {
        if run.from_ns > from_ns {
            gaps.push(Span { from_ns, to_ns: run.from_ns });
        }
        from_ns = run.to_ns;
    }
    gaps
}
