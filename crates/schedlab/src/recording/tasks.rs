//! The tasks of this machine, their policies and affinities, as `/proc` has them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use trace::{Pid, TaskFacts, TaskNote, TaskPolicy};

/// Every task that lives now. Tasks that end while this looks are left out.
pub fn all(proc: &Path) -> BTreeMap<Pid, TaskNote> {
    let mut tasks = BTreeMap::new();
    for tgid in numbers(proc) {
        let threads = proc.join(tgid.to_string()).join("task");
        for pid in numbers(&threads) {
            if let Some(note) = task(&threads.join(pid.to_string()), Pid(pid), Pid(tgid)) {
                tasks.insert(note.pid, note);
            }
        }
    }
    tasks
}

/// A process with its threads, and all that came from it and live.
pub fn family(proc: &Path, first: Pid) -> BTreeMap<Pid, TaskNote> {
    let mut tasks = BTreeMap::new();
    let mut processes = vec![first];
    while let Some(tgid) = processes.pop() {
        let threads = proc.join(tgid.to_string()).join("task");
        for pid in numbers(&threads).into_iter().map(Pid) {
            let folder = threads.join(pid.to_string());
            if let Some(note) = task(&folder, pid, tgid) {
                tasks.insert(pid, note);
            }
            let children = fs::read_to_string(folder.join("children")).unwrap_or_default();
            processes.extend(children.split_whitespace().filter_map(|child| child.parse().ok()).map(Pid));
        }
    }
    tasks
}

/// The numbers among the names in a folder.
pub(super) fn numbers(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn task(folder: &Path, pid: Pid, tgid: Pid) -> Option<TaskNote> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let comm = stat.split_once('(')?.1.rsplit_once(')')?.0;
    let policy = policy(&stat)?;
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim();
    let facts = TaskFacts { tgid, policy, cpus: cpus.to_owned() };
    Some(TaskNote { pid, comm: comm.to_owned(), facts })
}

/// Field 41 of `stat`. The name in field 2 may hold blanks and brackets, so fields count from its end.
fn policy(stat: &str) -> Option<TaskPolicy> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    TaskPolicy::from_number(behind_name.split_whitespace().nth(41 - 3)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_found_behind_any_name() {
        let stat = |policy: u32| {
            let fields: Vec<String> =
                (4..=52).map(|n| if n == 41 { policy } else { n * 1000 }.to_string()).collect();
            format!("812 (a) b (c) S {}\n", fields.join(" "))
        };
        assert_eq!(policy(&stat(2)), Some(TaskPolicy::Rr));
        assert_eq!(policy(&stat(4)), None, "no kernel has this one");
        assert_eq!(policy("812 (a) S 1"), None);
    }

    #[test]
    fn this_test_is_a_task() {
        let own = Pid(i32::try_from(std::process::id()).expect("a pid"));
        let tasks = all(Path::new("/proc"));
        let note = &tasks[&own];
        assert_eq!(note.facts.tgid, own);
        assert_eq!(TaskNote::parse(&note.to_string()).as_ref(), Some(note));
    }
}
