//! What a recorder knows about the whole recording: the machine and its kernel as they were set up, which
//! command was recorded, to which groups of the scheduler the processes belonged, and what CPU time those
//! have.
//!
//! As with [`TaskNote`](crate::TaskNote), each fact is a marker in the trace itself:
//!
//! ```text
//! schedlab: host hz=250
//! schedlab: command pid=812 make -j4
//! schedlab: stopped pid=812
//! schedlab: group tgid=812 autogroup=7 cgroup=/user.slice
//! schedlab: cgroup quota_us=20000 period_us=100000 weight=- shares=512 path=/user.slice
//! schedlab: cpuset cpus=2-3 partition=root path=/user.slice
//! ```
//!
//! (Before the path of a cgroup also `burst_us=20000`, `idle=1` and `uclamp=205-820`, where that is so.)

use std::collections::BTreeMap;
use std::fmt;

use crate::model::Pid;

const FACT: &str = "schedlab: host ";
const COMMAND: &str = "schedlab: command pid=";
const STOPPED: &str = "schedlab: stopped pid=";
const GROUP: &str = "schedlab: group tgid=";
const CGROUP: &str = "schedlab: cgroup ";
const CPUSET: &str = "schedlab: cpuset cpus=";

/// What a recorder wrote down about a recording; empty where none of ours did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Host {
    /// The machine and its kernel, by name: `hz`, `preempt`, `features`, `smt`, `governor`, `isolated`,
    /// sysctls and the like, each as the kernel itself writes it.
    pub facts: BTreeMap<String, String>,
    /// The command that the recorder ran. Its process and the descendants of that are what was meant to be
    /// recorded.
    pub command: Option<RecordedCommand>,
    /// The process that the recorder ended; of two CPUs, its note may be read before that of the command.
    stopped: Option<Pid>,
    /// The groups of each process, by process id.
    pub groups: BTreeMap<Pid, TaskGroup>,
    /// By their paths, the cgroups that have something else than a kernel gives them by itself.
    pub cgroups: BTreeMap<String, CgroupCpu>,
    /// By their paths, the cgroups that say which CPUs are theirs.
    pub cpusets: BTreeMap<String, Cpuset>,
}

impl Host {
    /// The quotas under which tasks of a cgroup run: its own and those of the groups above it, by the paths
    /// of these groups.
    pub fn quotas_of<'a>(&'a self, cgroup: &'a str) -> impl Iterator<Item = (&'a str, CpuQuota)> {
        self.groups_above(cgroup).filter_map(|(path, cpu)| Some((path, cpu.quota?)))
    }

    /// The nearest group that limits the real-time tasks of a cgroup, by its path: this one or one above it.
    pub fn rt_limited<'a>(&'a self, cgroup: &'a str) -> Option<&'a str> {
        self.groups_above(cgroup).filter(|(_, cpu)| cpu.rt.is_some()).last().map(|(path, _)| path)
    }

    /// What is known of a cgroup and of those above it, the topmost first, by their paths.
    fn groups_above<'a>(&'a self, cgroup: &'a str) -> impl Iterator<Item = (&'a str, &'a CgroupCpu)> {
        let covers = |path: &str| schema::is_in_group(cgroup, path.trim_end_matches('/'));
        let above = self.cgroups.iter().filter(move |(path, _)| covers(path));
        above.map(|(path, cpu)| (path.as_str(), cpu))
    }
}

/// What a cgroup gets of the CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CgroupCpu {
    /// How much its tasks may use; `None`: without limit.
    pub quota: Option<CpuQuota>,
    /// `cpu.weight` of version 2, if it is not the usual 100: from 1 to 10000.
    pub weight: Option<u64>,
    /// `cpu.shares` of version 1, if it is not the usual 1024: from 2 to 262144.
    pub shares: Option<u64>,
    /// `cpu.max.burst`, `cpu.cfs_burst_us`, us, if it is not the usual 0.
    pub burst_us: Option<u64>,
    /// `cpu.idle`.
    pub idle: bool,
    /// What its real-time tasks may use, if it is not the usual nothing.
    pub rt: Option<CpuRtRuntime>,
    /// `cpu.uclamp.min` and `cpu.uclamp.max`, if they are not the usual 0 and max.
    pub clamps: Option<UtilClamps>,
}

/// Between which utilisations tasks count, in 1024ths of the best CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UtilClamps {
    /// No less than this.
    pub min: u16,
    /// No more than this.
    pub max: u16,
}

/// The files `cpuset.cpus` and `cpuset.cpus.partition` of a cgroup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cpuset {
    /// A list of CPUs as the kernel writes it; empty: those of the group above it.
    pub cpus: String,
    /// `member`, `root` or `isolated`.
    pub partition: String,
}

/// `cpu.rt_runtime_us` and `cpu.rt_period_us` of version 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuRtRuntime {
    /// So much of each CPU the real-time tasks of a group may use, us; -1: all of it.
    pub runtime_us: i64,
    /// In each period of this length, us.
    pub period_us: u64,
}

/// `cpu.max` of version 2, `cpu.cfs_quota_us` and `cpu.cfs_period_us` of version 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuQuota {
    /// So much CPU time the tasks of a group may use together, on all CPUs, us.
    pub quota_us: u64,
    /// In each period of this length, us.
    pub period_us: u64,
}

/// A command that was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedCommand {
    /// Its process.
    pub pid: Pid,
    /// Its words, with blanks between.
    pub words: String,
    /// Whether the recorder ended it: it was not done.
    pub stopped: bool,
}

/// Where a process belongs in group scheduling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskGroup {
    /// Number of its autogroup; `None` where the kernel has none.
    pub autogroup: Option<u32>,
    /// Path of its cgroup in the hierarchy of the controller `cpu`.
    pub cgroup: String,
}

/// One fact: the text of a marker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostNote {
    /// About the machine or its kernel.
    Fact {
        /// What it is about; no blank, no `=`.
        name: String,
        /// As the kernel writes it, in one line.
        value: String,
    },
    /// Which command was recorded.
    Command(RecordedCommand),
    /// That the recorder ended the command, which had this process.
    Stopped(Pid),
    /// Where a process belongs.
    Group {
        /// The process.
        tgid: Pid,
        /// Its groups.
        group: TaskGroup,
    },
    /// What a cgroup gets of the CPUs.
    Cgroup {
        /// Its path, as in [`TaskGroup`].
        path: String,
        /// What it gets.
        cpu: CgroupCpu,
    },
    /// On which CPUs the tasks of a cgroup may run.
    Cpuset {
        /// Its path, as in [`TaskGroup`].
        path: String,
        /// What its files say.
        cpuset: Cpuset,
    },
}

impl Host {
    /// Takes in a note. What is said last stays: a process may move from group to group.
    pub(crate) fn take(&mut self, note: HostNote) {
        match note {
            HostNote::Fact { name, value } => {
                self.facts.insert(name, value);
            }
            HostNote::Command(command) => {
                let stopped = self.stopped == Some(command.pid);
                self.command = Some(RecordedCommand { stopped, ..command });
            }
            HostNote::Stopped(pid) => {
                self.stopped = Some(pid);
                if let Some(command) = self.command.as_mut().filter(|command| command.pid == pid) {
                    command.stopped = true;
                }
            }
            HostNote::Group { tgid, group } => {
                self.groups.insert(tgid, group);
            }
            HostNote::Cgroup { path, cpu } => {
                self.cgroups.insert(path, cpu);
            }
            HostNote::Cpuset { path, cpuset } => {
                self.cpusets.insert(path, cpuset);
            }
        }
    }
}

impl fmt::Display for HostNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |text: &str| text.replace('\n', " ");
        match self {
            HostNote::Fact { name, value } => write!(f, "{FACT}{name}={}", line(value)),
            HostNote::Command(RecordedCommand { pid, words, .. }) => {
                write!(f, "{COMMAND}{pid} {}", line(words))
            }
            HostNote::Stopped(pid) => write!(f, "{STOPPED}{pid}"),
            HostNote::Group { tgid, group } => {
                let autogroup = group.autogroup.map_or("-".to_owned(), |number| number.to_string());
                write!(f, "{GROUP}{tgid} autogroup={autogroup} cgroup={}", line(&group.cgroup))
            }
            HostNote::Cgroup {
                path,
                cpu: CgroupCpu { quota, weight, shares, burst_us, idle, rt, clamps },
            } => {
                let number = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
                let (quota_us, period_us) =
                    (number(quota.map(|q| q.quota_us)), number(quota.map(|q| q.period_us)));
                let (weight, shares) = (number(*weight), number(*shares));
                write!(
                    f,
                    "{CGROUP}quota_us={quota_us} period_us={period_us} weight={weight} shares={shares} "
                )?;
                if let Some(burst_us) = burst_us {
                    write!(f, "burst_us={burst_us} ")?;
                }
                f.write_str(if *idle { "idle=1 " } else { "" })?;
                if let Some(CpuRtRuntime { runtime_us, period_us }) = rt {
                    write!(f, "rt_runtime_us={runtime_us} rt_period_us={period_us} ")?;
                }
                if let Some(UtilClamps { min, max }) = clamps {
                    write!(f, "uclamp={min}-{max} ")?;
                }
                write!(f, "path={}", line(path))
            }
            HostNote::Cpuset { path, cpuset: Cpuset { cpus, partition } } => {
                write!(f, "{CPUSET}{cpus} partition={partition} path={}", line(path))
            }
        }
    }
}

impl HostNote {
    /// Reads the text of a marker; `None` for every other marker.
    pub fn parse(text: &str) -> Option<HostNote> {
        if let Some(fact) = text.strip_prefix(FACT) {
            let (name, value) = fact.split_once('=')?;
            let is_name = !name.is_empty() && !name.contains(' ');
            return is_name.then(|| HostNote::Fact { name: name.to_owned(), value: value.to_owned() });
        }
        if let Some(command) = text.strip_prefix(COMMAND) {
            let (pid, words) = command.split_once(' ')?;
            let (pid, words) = (process(pid)?, words.to_owned());
            return Some(HostNote::Command(RecordedCommand { pid, words, stopped: false }));
        }
        if let Some(pid) = text.strip_prefix(STOPPED) {
            return process(pid).map(HostNote::Stopped);
        }
        if let Some(cpuset) = text.strip_prefix(CPUSET) {
            let (values, path) = cpuset.split_once(" path=")?;
            let (cpus, partition) = values.split_once(" partition=")?;
            let cpuset = Cpuset { cpus: cpus.to_owned(), partition: partition.to_owned() };
            return Some(HostNote::Cpuset { path: path.to_owned(), cpuset });
        }
        if let Some(cgroup) = text.strip_prefix(CGROUP) {
            let (values, path) = cgroup.split_once(" path=")?;
            let mut words = values.split(' ');
            let mut number = |name: &str| match words.next()?.strip_prefix(name)? {
                "-" => Some(None),
                value => Some(Some(value.parse::<u64>().ok()?)),
            };
            let (quota_us, period_us) = (number("quota_us=")?, number("period_us=")?);
            let (weight, shares) = (number("weight=")?, number("shares=")?);
            let (mut burst_us, mut idle, mut clamps) = (None, false, None);
            let (mut rt_runtime_us, mut rt_period_us) = (None, None);
            for word in words {
                match word.split_once('=')? {
                    ("burst_us", value) => burst_us = Some(value.parse().ok()?),
                    ("idle", value) => idle = value == "1",
                    ("rt_runtime_us", value) => rt_runtime_us = Some(value.parse().ok()?),
                    ("rt_period_us", value) => rt_period_us = Some(value.parse().ok()?),
                    ("uclamp", value) => {
                        let (min, max) = value.split_once('-')?;
                        clamps = Some(UtilClamps { min: min.parse().ok()?, max: max.parse().ok()? });
                    }
                    // Of a newer recorder.
                    _ => {}
                }
            }
            let quota = quota_us.zip(period_us.filter(|period_us| *period_us > 0));
            let quota = quota.map(|(quota_us, period_us)| CpuQuota { quota_us, period_us });
            let rt = rt_runtime_us.zip(rt_period_us.filter(|period_us| *period_us > 0));
            let rt = rt.map(|(runtime_us, period_us)| CpuRtRuntime { runtime_us, period_us });
            return Some(HostNote::Cgroup {
                path: path.to_owned(),
                cpu: CgroupCpu { quota, weight, shares, burst_us, idle, rt, clamps },
            });
        }
        let (tgid, group) = text.strip_prefix(GROUP)?.split_once(" autogroup=")?;
        let (autogroup, cgroup) = group.split_once(" cgroup=")?;
        let autogroup = if autogroup == "-" { None } else { Some(autogroup.parse().ok()?) };
        let group = TaskGroup { autogroup, cgroup: cgroup.to_owned() };
        Some(HostNote::Group { tgid: process(tgid)?, group })
    }
}

fn process(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|pid| *pid > 0).map(Pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back() {
        let fact = HostNote::Fact { name: "hz".into(), value: "250".into() };
        let empty = HostNote::Fact { name: "isolated".into(), value: String::new() };
        let words = "make -j4 a=b".to_owned();
        let command = HostNote::Command(RecordedCommand { pid: Pid(812), words, stopped: false });
        let group = |autogroup| HostNote::Group {
            tgid: Pid(8),
            group: TaskGroup { autogroup, cgroup: "/user.slice/a b cgroup=c".into() },
        };
        let quota = CpuQuota { quota_us: 20_000, period_us: 100_000 };
        let rt = |runtime_us| CpuRtRuntime { runtime_us, period_us: 1_000_000 };
        let cpus = [
            CgroupCpu { quota: Some(quota), ..CgroupCpu::default() },
            CgroupCpu { weight: Some(50), ..CgroupCpu::default() },
            CgroupCpu { quota: Some(quota), shares: Some(512), ..CgroupCpu::default() },
            CgroupCpu { quota: Some(quota), burst_us: Some(20_000), idle: true, ..CgroupCpu::default() },
            CgroupCpu { rt: Some(rt(100_000)), ..CgroupCpu::default() },
            CgroupCpu { rt: Some(rt(-1)), ..CgroupCpu::default() },
            CgroupCpu { clamps: Some(UtilClamps { min: 205, max: 1024 }), ..CgroupCpu::default() },
        ];
        let cgroups = cpus.map(|cpu| HostNote::Cgroup { path: "/a b path=c".into(), cpu });
        let cpuset = |cpus: &str, partition: &str| HostNote::Cpuset {
            path: "/a b path=c".into(),
            cpuset: Cpuset { cpus: cpus.into(), partition: partition.into() },
        };
        let (cpus, none) = (cpuset("0-1,4", "root"), cpuset("", "member"));
        let (own, nobodys) = (group(Some(7)), group(None));
        let notes = [fact, empty, command, HostNote::Stopped(Pid(812)), own, nobodys, cpus, none];
        for note in notes.into_iter().chain(cgroups) {
            assert_eq!(HostNote::parse(&note.to_string()), Some(note));
        }
        let lines = HostNote::Fact { name: "cmdline".into(), value: "a\nb".into() };
        assert_eq!(lines.to_string(), "schedlab: host cmdline=a b");
    }

    #[test]
    fn other_markers_are_left_alone() {
        for text in [
            "schedlab: host",
            "schedlab: host =1",
            "schedlab: host two words=1",
            "schedlab: command pid=0 make",
            "schedlab: command pid=7",
            "schedlab: stopped pid=x",
            "schedlab: group tgid=1 autogroup=x cgroup=/",
            "schedlab: group tgid=-1 autogroup=1 cgroup=/",
            "schedlab: cgroup quota_us=1 period_us=x weight=- shares=- path=/",
            "schedlab: cgroup quota_us=1 path=/",
            "schedlab: cpuset cpus=0-1 path=/",
            "host hz=250",
        ] {
            assert_eq!(HostNote::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_that_the_recorder_ended_is_known_in_either_order() {
        let command =
            || HostNote::Command(RecordedCommand { pid: Pid(8), words: "a".into(), stopped: false });
        let stopped = |notes: Vec<HostNote>| {
            let mut host = Host::default();
            notes.into_iter().for_each(|note| host.take(note));
            host.command.expect("it was said").stopped
        };
        assert!(stopped(vec![command(), HostNote::Stopped(Pid(8))]));
        assert!(stopped(vec![HostNote::Stopped(Pid(8)), command()]));
        assert!(!stopped(vec![command(), HostNote::Stopped(Pid(9))]));
        assert!(!stopped(vec![command()]));
    }

    #[test]
    fn of_a_process_that_moves_the_last_group_stays() {
        let mut host = Host::default();
        let group = |cgroup: &str| TaskGroup { autogroup: None, cgroup: cgroup.into() };
        for cgroup in ["/first", "/second"] {
            host.take(HostNote::Group { tgid: Pid(8), group: group(cgroup) });
        }
        assert_eq!(host.groups, BTreeMap::from([(Pid(8), group("/second"))]));
    }

    #[test]
    fn a_quota_holds_for_the_groups_below() {
        let quota = CpuQuota { quota_us: 20_000, period_us: 100_000 };
        let mut host = Host::default();
        for path in ["/a", "/a/b/c", "/ab"] {
            let cpu = CgroupCpu { quota: Some(quota), ..CgroupCpu::default() };
            host.take(HostNote::Cgroup { path: path.into(), cpu });
        }
        let of = |cgroup: &str| host.quotas_of(cgroup).map(|(path, _)| path.to_owned()).collect::<Vec<_>>();
        assert_eq!(of("/a/b"), ["/a"]);
        assert_eq!(of("/a/b/c/d"), ["/a", "/a/b/c"]);
        assert_eq!(of("/"), [""; 0]);
    }
}
