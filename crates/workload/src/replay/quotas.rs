//! Tasks of cgroups with a limit (`cpu.max`), where a replay has no groups.

use super::groups::of_tasks;
use super::recording::{RecordedTask, Recording, listed};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use trace::{CpuQuota, Trace};

/// That tasks of a recording had a limit, a sentence for each group with one, and what that changes. Empty
/// where the recorder did not write it down.
pub(super) fn warnings(trace: &Trace, recording: &Recording) -> Vec<String> {
    if trace.host.cgroups.values().all(|cpu| cpu.quota.is_none()) {
        return Vec::new();
    }
    let mut limited: BTreeMap<&str, Limited<'_>> = BTreeMap::new();
    for (task, group) in recording.tasks.iter().zip(of_tasks(trace, recording)) {
        let Some(group) = group else { continue };
        for (path, quota) in trace.host.quotas_of(&group.cgroup) {
            limited.entry(path).or_insert(Limited { quota, tasks: Vec::new() }).tasks.push(task);
        }
    }
    limited.into_iter().map(|(path, limited)| limited.sentence(path)).collect()
}

struct Limited<'a> {
    quota: CpuQuota,
    tasks: Vec<&'a RecordedTask>,
}

impl Limited<'_> {
    fn sentence(mut self, path: &str) -> String {
        let CpuQuota { quota_us, period_us } = self.quota;
        self.tasks.sort_by_key(|task| (Reverse(task.cpu_time), task.pid));
        let ran =
            if self.tasks.len() == 1 { "task of the recording ran" } else { "tasks of the recording ran" };
        format!(
            "{} {ran} under a limit of {quota_us} us of CPU time in {period_us} us (cgroup {path}), {}: the replay has \
             no groups, so where the limit stopped them they run on in it, are done earlier than recorded, and leave others less \
             of the CPUs",
            self.tasks.len(),
            listed(&self.tasks)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(notes: &[&str]) -> Vec<String> {
        let mut lines: Vec<String> = notes
            .iter()
            .map(|note| format!(" rec-5 [001] .... 1.000000: tracing_mark_write: schedlab: {note}\n"))
            .collect();
        lines.push(
            " hog-7 [000] .... 1.000010: sched_process_fork: comm=hog pid=7 child_comm=hog child_pid=8\n"
                .into(),
        );
        lines.push(
            " hog-7 [000] d... 1.000020: sched_switch: prev_comm=hog prev_pid=7 prev_prio=120 \
                    prev_state=R ==> next_comm=hog next_pid=8 next_prio=120\n"
                .into(),
        );
        lines.push(
            " hog-8 [000] d... 1.000030: sched_switch: prev_comm=hog prev_pid=8 prev_prio=120 \
                    prev_state=S ==> next_comm=sh next_pid=9 next_prio=120\n"
                .into(),
        );
        let trace = trace::read(lines.concat().as_bytes()).expect("a trace");
        warnings(&trace, &Recording::extract(&trace))
    }

    #[test]
    fn who_ran_under_a_limit_is_told_of_with_its_children() {
        let groups = ["group tgid=7 autogroup=- cgroup=/a/b", "group tgid=9 autogroup=- cgroup=/"];
        let limit = "cgroup quota_us=20000 period_us=100000 weight=- shares=- path=/a";
        let warned_of = warned(&[groups[0], groups[1], limit]);
        let [warning] = warned_of.as_slice() else { panic!("one warning: {warned_of:?}") };
        let begins = "2 tasks of the recording ran under a limit of 20000 us of CPU time in 100000 us (cgroup /a), \
            hog (7), hog (8): the replay has no groups";
        assert!(warning.starts_with(begins), "{warning}");
    }

    #[test]
    fn a_weight_and_a_limit_of_nobody_are_no_reason_to_warn() {
        let group = "group tgid=7 autogroup=- cgroup=/a";
        let none = Vec::<String>::new();
        assert_eq!(warned(&[group, "cgroup quota_us=- period_us=- weight=50 shares=- path=/a"]), none);
        assert_eq!(warned(&[group, "cgroup quota_us=1000 period_us=2000 weight=- shares=- path=/b"]), none);
    }
}
