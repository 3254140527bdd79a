//! Files as Linux shows them under /proc and /sys, of any moment of a run: `--dump sched_debug@2s`
//! (fair-class 11).

mod features;
mod format;
mod lines;
mod proc_sched;
mod release;
mod request;
mod sched_debug;
mod schedstat;

use crate::error::Error;
use crate::length::Limit;
use format::Msecs;
use lines::Block;
use machine::{ExitedTasks, GroupOutcome, Outcome, Snapshot, SnapshotPlan, TaskSnapshot};
use release::Release;
use report::numbers::{exact_duration, moment};
pub use request::{DumpFile, DumpRequest, DumpTime};
use scheduler::{GroupId, Nanos, Pid};
use schema::Dump;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What the machine has to keep for these dumps. Where a recording is replayed, pids are the recorded ones,
/// and which task has which of them shows only when it has begun.
pub(crate) fn plan(requests: &[DumpRequest], replays: bool) -> SnapshotPlan {
    let mut at: Vec<Nanos> = requests.iter().filter_map(|r| r.moment()).collect();
    at.sort_unstable();
    at.dedup();
    let at_end = |r: &&DumpRequest| r.time == DumpTime::End;
    let pids: Vec<u32> = requests.iter().filter(at_end).filter_map(|r| r.file.pid()).collect();
    SnapshotPlan {
        at,
        at_end: requests.iter().any(|r| r.time == DumpTime::End),
        exited: match pids.as_slice() {
            [] => ExitedTasks::None,
            _ if replays => ExitedTasks::All,
            pids => {
                ExitedTasks::Of(pids.iter().map(|pid| Pid(i32::try_from(*pid).unwrap_or(i32::MAX))).collect())
            }
        },
    }
}

/// Refuses what a run of at most this length cannot show.
///
/// # Errors
/// A dump of a later time.
pub(crate) fn check(requests: &[DumpRequest], limit: Limit) -> Result<(), Error> {
    let how = if limit.stop_when_done { "at the latest at " } else { "at " };
    match requests.iter().find(|r| r.moment().is_some_and(|at| at > limit.duration)) {
        Some(late) => Err(late.beyond(how, limit.duration)),
        None => Ok(()),
    }
}

/// The files that were asked for, in that order. `recorded` holds the pids of replayed tasks by those of the
/// run.
///
/// # Errors
/// A time after the end of the run; a pid that no task had then.
pub(crate) fn dumps(
    requests: &[DumpRequest],
    outcome: &Outcome,
    profile: &str,
    recorded: &BTreeMap<Pid, u32>,
) -> Result<Vec<Dump>, Error> {
    requests.iter().map(|request| Of { request, outcome, profile, recorded }.dump()).collect()
}

/// A file of a run.
struct Of<'a> {
    request: &'a DumpRequest,
    outcome: &'a Outcome,
    profile: &'a str,
    recorded: &'a BTreeMap<Pid, u32>,
}

impl Of<'_> {
    fn dump(&self) -> Result<Dump, Error> {
        let snapshot = self.snapshot()?;
        let release = Release::of(self.profile, snapshot.config.rules.fair_policy.get());
        let Of { outcome, profile, recorded, .. } = *self;
        let show = Show { snapshot, groups: &outcome.groups, release, profile, recorded };
        let text = match self.request.file {
            DumpFile::SchedDebug => sched_debug::text(&show),
            DumpFile::Schedstat => schedstat::text(&show),
            DumpFile::SchedFeatures => features::text(&snapshot.config, release, self.profile),
            DumpFile::TaskSched(pid) => proc_sched::text(&show, self.task(pid, snapshot)?),
            DumpFile::TaskSchedstat(pid) => schedstat::of_task(self.task(pid, snapshot)?),
        };
        Ok(Dump { file: self.request.text.clone(), at_ns: snapshot.at.0, text })
    }

    fn snapshot(&self) -> Result<&Snapshot, Error> {
        let all = &self.outcome.snapshots;
        let found = match self.request.time {
            DumpTime::End => all.last(),
            DumpTime::At(at) => all.iter().find(|s| s.at == at),
        };
        found.ok_or_else(|| self.request.beyond("at ", self.outcome.simulated))
    }

    /// A task of the moment; at the end, also one that has exited. Of several lives under a recorded pid, the
    /// one that goes on.
    fn task<'s>(&'s self, shown: u32, snapshot: &'s Snapshot) -> Result<&'s TaskSnapshot, Error> {
        let exited: &[TaskSnapshot] =
            if self.request.time == DumpTime::End { &self.outcome.exited } else { &[] };
        let is_it = |task: &&TaskSnapshot| shown_pid(task.pid, self.recorded) == shown;
        let is_replayed = |task: &&TaskSnapshot| self.recorded.contains_key(&task.pid);
        let all = || snapshot.tasks.iter().chain(exited.iter().rev()).filter(is_it);
        all().find(is_replayed).or_else(|| all().next()).ok_or_else(|| {
            let mut pids: Vec<u32> =
                snapshot.tasks.iter().map(|task| shown_pid(task.pid, self.recorded)).collect();
            pids.sort_unstable();
            self.request.no_task(shown, snapshot.at, &pids)
        })
    }
}

fn shown_pid(pid: Pid, recorded: &BTreeMap<Pid, u32>) -> u32 {
    recorded.get(&pid).copied().unwrap_or(pid.0.unsigned_abs())
}

/// What a file is written from.
struct Show<'a> {
    snapshot: &'a Snapshot,
    groups: &'a [GroupOutcome],
    release: Release,
    profile: &'a str,
    recorded: &'a BTreeMap<Pid, u32>,
}

impl Show<'_> {
    /// Whether this kernel writes as that release began to.
    fn since(&self, release: Release) -> bool {
        self.release >= release
    }

    /// Whether this kernel writes that line.
    fn has(&self, block: Block, name: &str) -> bool {
        lines::has(block, name, self.release, self.profile)
    }

    /// A task with what this kernel counts of it: before 5.16 the fair class alone counted waits and sleep.
    fn as_counted<'t>(&self, task: &'t TaskSnapshot) -> Cow<'t, TaskSnapshot> {
        let mut counted = Cow::Borrowed(task);
        if task.policy.is_rt() && !self.since(Release::ALL_CLASSES) {
            counted.to_mut().stats.forget_waits();
        }
        counted
    }

    /// A time in ticks.
    fn jiffies(&self, time: Nanos) -> u64 {
        time.0 * self.snapshot.config.tunables.hz.get().unsigned_abs() / 1_000_000_000
    }

    /// A weight as this kernel counts it.
    fn weight(&self, weight: u64) -> u64 {
        if self.since(Release::FINE_WEIGHTS) { weight << 10 } else { weight }
    }

    /// The kernel's −1 ns where there is no time to tell. Linux shows no sign where the milliseconds are 0;
    /// our files of 2.6 do.
    fn nobody(&self) -> Msecs {
        Msecs(if self.since(Release::CLOCKS) { 1 } else { -1 })
    }

    /// What stands behind the name of a queue, if the kernel has groups: the run has.
    fn path(&self, group: GroupId) -> Option<String> {
        let name = self.group(group).map_or("", |group| group.spec.name.as_str());
        (!self.groups.is_empty()).then(|| format!("/{name}"))
    }

    /// A group; `None`: the root.
    fn group(&self, group: GroupId) -> Option<&GroupOutcome> {
        self.groups.get(group.index().checked_sub(1)?)
    }

    fn pid(&self, pid: Pid) -> u32 {
        shown_pid(pid, self.recorded)
    }
}

impl DumpRequest {
    fn beyond(&self, how: &str, end: Nanos) -> Error {
        Error::Dump {
            text: self.text.clone(),
            problem: format!("the run ends {how}{}", moment(end.0)),
            advice: "ask for an earlier time or for @end, or let it run longer".to_owned(),
        }
    }

    fn no_task(&self, pid: u32, at: Nanos, pids: &[u32]) -> Error {
        let advice = match pids {
            [] => "no task lives then".to_owned(),
            [one] => format!("only {one} lives then"),
            [first, .., last] => format!("{} tasks live then, with pids from {first} to {last}", pids.len()),
        };
        Error::Dump {
            text: self.text.clone(),
            problem: format!("no task has pid {pid} at {}", exact_duration(at.0)),
            advice,
        }
    }
}

#[cfg(test)]
mod layout;
#[cfg(test)]
mod tests;
