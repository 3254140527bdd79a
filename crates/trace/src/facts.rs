//! What a recorder knows and no event tells: policies and affinities of tasks, and what idle CPUs do.
//!
//! It writes them into the trace itself, a marker a task and one for the machine, so that they survive every
//! conversion that keeps markers:
//!
//! ```text
//! schedlab: task pid=812 tgid=800 policy=fifo cpus=0-3 comm=audio thread
//! schedlab: machine idle=polls
//! ```
//!
//! Readers take these markers out of the events and into [`Trace::facts`](crate::Trace::facts) and
//! [`Trace::idle`](crate::Trace::idle).

use std::fmt;

use crate::model::Pid;

/// What such markers begin with.
const PREFIX: &str = "schedlab: task ";

/// What the marker of the machine begins with.
const MACHINE_PREFIX: &str = "schedlab: machine ";

/// What an idle CPU of the recorded machine did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleKind {
    /// It halted, and had to be woken by an interrupt.
    Halts,
    /// It looked for work all the time: somebody held `/dev/cpu_dma_latency` at 0, or the kernel was booted
    /// so.
    Polls,
}

impl IdleKind {
    /// Reads the text of a marker; `None` for every other marker.
    pub fn parse(text: &str) -> Option<IdleKind> {
        match text.strip_prefix(MACHINE_PREFIX)? {
            "idle=halts" => Some(IdleKind::Halts),
            "idle=polls" => Some(IdleKind::Polls),
            _ => None,
        }
    }
}

/// The text of its marker.
impl fmt::Display for IdleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = match self {
            IdleKind::Halts => "halts",
            IdleKind::Polls => "polls",
        };
        write!(f, "{MACHINE_PREFIX}idle={idle}")
    }
}

/// A scheduling policy of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskPolicy {
    /// SCHED_OTHER.
    Other,
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_DEADLINE.
    Deadline,
    /// SCHED_EXT.
    Ext,
}

/// Policies with their names here and their numbers in the kernel's interface (`/proc/PID/stat`, field 41).
const POLICIES: [(TaskPolicy, &str, u32); 7] = [
    (TaskPolicy::Other, "other", 0),
    (TaskPolicy::Fifo, "fifo", 1),
    (TaskPolicy::Rr, "rr", 2),
    (TaskPolicy::Batch, "batch", 3),
    (TaskPolicy::Idle, "idle", 5),
    (TaskPolicy::Deadline, "deadline", 6),
    (TaskPolicy::Ext, "ext", 7),
];

impl TaskPolicy {
    /// The policy with this number in the kernel's interface.
    pub fn from_number(number: u32) -> Option<TaskPolicy> {
        POLICIES.iter().find(|(_, _, known)| *known == number).map(|(policy, _, _)| *policy)
    }

    fn name(self) -> &'static str {
        POLICIES.iter().find(|(policy, _, _)| *policy == self).map_or("other", |(_, name, _)| name)
    }

    fn from_name(name: &str) -> Option<TaskPolicy> {
        POLICIES.iter().find(|(_, known, _)| *known == name).map(|(policy, _, _)| *policy)
    }
}

/// What is known about a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskFacts {
    /// Its process.
    pub tgid: Pid,
    /// Its policy.
    pub policy: TaskPolicy,
    /// The CPUs that it may use, as a list such as `0-3,8`.
    pub cpus: String,
}

/// A task and what is known about it: the text of a marker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskNote {
    /// The task.
    pub pid: Pid,
    /// Its name.
    pub comm: String,
    /// What is known.
    pub facts: TaskFacts,
}

impl fmt::Display for TaskNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TaskFacts { tgid, policy, cpus } = &self.facts;
        let comm = self.comm.replace('\n', " ");
        write!(f, "{PREFIX}pid={} tgid={tgid} policy={} cpus={cpus} comm={comm}", self.pid, policy.name())
    }
}

impl TaskNote {
    /// Reads the text of a marker; `None` for every other marker.
    pub fn parse(text: &str) -> Option<TaskNote> {
        let (facts, comm) = text.strip_prefix(PREFIX)?.split_once(" comm=")?;
        let mut words = facts.split(' ');
        let mut value = |key: &str| words.next()?.strip_prefix(key)?.strip_prefix('=');
        let pid = value("pid")?.parse().ok().filter(|pid| *pid > 0)?;
        let tgid = value("tgid")?.parse().ok().filter(|tgid| *tgid > 0)?;
        let policy = TaskPolicy::from_name(value("policy")?)?;
        let cpus = value("cpus")?;
        let is_list =
            !cpus.is_empty() && cpus.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'-'));
        is_list.then(|| TaskNote {
            pid: Pid(pid),
            comm: comm.to_owned(),
            facts: TaskFacts { tgid: Pid(tgid), policy, cpus: cpus.to_owned() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back_whatever_the_name() {
        for comm in ["audio thread", "", "a comm=b", "x/0:1"] {
            let facts = TaskFacts { tgid: Pid(800), policy: TaskPolicy::Rr, cpus: "0-3,8".into() };
            let note = TaskNote { pid: Pid(812), comm: comm.into(), facts };
            assert_eq!(TaskNote::parse(&note.to_string()), Some(note));
        }
    }

    #[test]
    fn what_idle_cpus_do_comes_back() {
        for idle in [IdleKind::Halts, IdleKind::Polls] {
            assert_eq!(IdleKind::parse(&idle.to_string()), Some(idle));
        }
        assert_eq!(IdleKind::parse("schedlab: machine idle=dreams"), None);
        assert_eq!(IdleKind::parse("idle=polls"), None);
    }

    #[test]
    fn other_markers_are_left_alone() {
        for text in [
            "thread 1 iter 2, took lock 3",
            "schedlab: task ",
            "schedlab: task pid=0 tgid=1 policy=rr cpus=0 comm=a",
            "schedlab: task pid=1 tgid=1 policy=best cpus=0 comm=a",
            "schedlab: task pid=1 tgid=1 policy=rr cpus=x comm=a",
            "schedlab: task pid=1 policy=rr cpus=0 comm=a",
        ] {
            assert_eq!(TaskNote::parse(text), None, "{text}");
        }
    }
}
