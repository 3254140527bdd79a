//! Who the threads are: perf records each change of a name, and each fork, which copies the parent's.

use crate::builder::TraceBuilder;
use crate::model::Pid;
use crate::pidmap::PidMap;
use crate::strings::StrId;

/// What a record says of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// It has this name.
    Comm(StrId),
    /// It was made by this thread.
    ForkedBy(Pid),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    time: u64,
    tid: Pid,
    tgid: Pid,
    change: Change,
}

/// All of a file's records about threads, in the order of the file, which is not that of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    entries: Vec<Entry>,
}

impl Names {
    pub(super) fn add(&mut self, time: u64, tid: Pid, tgid: Pid, change: Change) {
        self.entries.push(Entry { time, tid, tgid, change });
    }

    /// Gives every thread the last of its names.
    pub(super) fn finish(mut self, builder: &mut TraceBuilder) {
        self.entries.sort_by_key(|entry| entry.time);
        let mut names = PidMap::new();
        for entry in &self.entries {
            match entry.change {
                Change::Comm(comm) => names.insert(entry.tid, comm),
                Change::ForkedBy(parent) => {
                    if let Some(comm) = names.get(parent) {
                        names.insert(entry.tid, comm);
                    }
                }
            }
        }
        for entry in &self.entries {
            if let Some(comm) = names.get(entry.tid).filter(|_| entry.tid >= Pid::IDLE) {
                builder.thread(entry.tid, comm, Some(entry.tgid).filter(|tgid| *tgid > Pid::IDLE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_counts_and_children_have_their_parents() {
        let mut builder = TraceBuilder::new(1);
        let [shell, make, cc] = ["sh", "make", "cc"].map(|name| builder.strings.intern(name));
        let mut names = Names::default();
        names.add(30, Pid(2), Pid(2), Change::Comm(cc));
        names.add(0, Pid(1), Pid(1), Change::Comm(shell));
        names.add(10, Pid(1), Pid(1), Change::Comm(make));
        names.add(20, Pid(2), Pid(2), Change::ForkedBy(Pid(1)));
        names.add(21, Pid(3), Pid(1), Change::ForkedBy(Pid(1)));
        names.add(22, Pid(4), Pid(4), Change::ForkedBy(Pid(99)));
        names.finish(&mut builder);
        let threads = builder.finish().threads;
        let got: Vec<_> = threads.iter().map(|(pid, thread)| (pid.0, thread.comm, thread.tgid)).collect();
        assert_eq!(got, [(1, make, Some(Pid(1))), (2, cc, Some(Pid(2))), (3, make, Some(Pid(1)))]);
    }
}
