//! What a recorder knows about the whole recording: the machine and its kernel as they were set up, which
//! command was recorded, and to which groups of the scheduler the processes belonged.
//!
//! As with [`TaskNote`](crate::TaskNote), each fact is a marker in the trace itself:
//!
//! ```text
//! schedlab: host hz=250
//! schedlab: command pid=812 make -j4
//! schedlab: group tgid=812 autogroup=7 cgroup=/user.slice
//! ```

use std::collections::BTreeMap;
use std::fmt;

use crate::model::Pid;

const FACT: &str = "schedlab: host ";
const COMMAND: &str = "schedlab: command pid=";
const GROUP: &str = "schedlab: group tgid=";

/// What a recorder wrote down about a recording; empty where none of ours did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Host {
    /// The machine and its kernel, by name: `hz`, `preempt`, `features`, `smt`, `governor`, `isolated`,
    /// sysctls and the like, each as the kernel itself writes it.
    pub facts: BTreeMap<String, String>,
    /// The command that the recorder ran. Its process and the descendants of that are what was meant to be
    /// recorded.
    pub command: Option<RecordedCommand>,
    /// The groups of each process, by process id.
    pub groups: BTreeMap<Pid, TaskGroup>,
}

/// A command that was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedCommand {
    /// Its process.
    pub pid: Pid,
    /// Its words, with blanks between.
    pub words: String,
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
    /// Where a process belongs.
    Group {
        /// The process.
        tgid: Pid,
        /// Its groups.
        group: TaskGroup,
    },
}

impl Host {
    /// Takes in a note. The first that is said of a process stays: later its id may be another's.
    pub(crate) fn take(&mut self, note: HostNote) {
        match note {
            HostNote::Fact { name, value } => {
                self.facts.insert(name, value);
            }
            HostNote::Command(command) => self.command = Some(command),
            HostNote::Group { tgid, group } => {
                self.groups.entry(tgid).or_insert(group);
            }
        }
    }
}

impl fmt::Display for HostNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |text: &str| text.replace('\n', " ");
        match self {
            HostNote::Fact { name, value } => write!(f, "{FACT}{name}={}", line(value)),
            HostNote::Command(RecordedCommand { pid, words }) => write!(f, "{COMMAND}{pid} {}", line(words)),
            HostNote::Group { tgid, group } => {
                let autogroup = group.autogroup.map_or("-".to_owned(), |number| number.to_string());
                write!(f, "{GROUP}{tgid} autogroup={autogroup} cgroup={}", line(&group.cgroup))
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
            return Some(HostNote::Command(RecordedCommand { pid: process(pid)?, words: words.to_owned() }));
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
        let command = HostNote::Command(RecordedCommand { pid: Pid(812), words: "make -j4 a=b".into() });
        let group = |autogroup| HostNote::Group {
            tgid: Pid(8),
            group: TaskGroup { autogroup, cgroup: "/user.slice/a b cgroup=c".into() },
        };
        for note in [fact, empty, command, group(Some(7)), group(None)] {
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
            "schedlab: group tgid=1 autogroup=x cgroup=/",
            "schedlab: group tgid=-1 autogroup=1 cgroup=/",
            "host hz=250",
        ] {
            assert_eq!(HostNote::parse(text), None, "{text}");
        }
    }

    #[test]
    fn of_a_process_the_first_group_stays() {
        let mut host = Host::default();
        let group = |cgroup: &str| TaskGroup { autogroup: None, cgroup: cgroup.into() };
        for cgroup in ["/first", "/second"] {
            host.take(HostNote::Group { tgid: Pid(8), group: group(cgroup) });
        }
        assert_eq!(host.groups, BTreeMap::from([(Pid(8), group("/first"))]));
    }
}
