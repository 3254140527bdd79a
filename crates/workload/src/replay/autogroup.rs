//! Autogroup, where a replay has no groups: where the recorder wrote down that it was on, the result says
//! what that changes.

use super::groups::AUTOGROUP as SETTING;
use super::recording::RecordedTask;
use std::collections::BTreeSet;
use trace::Trace;

/// A sentence if autogroup was on and the recorded tasks belong to several sessions, as far as that is known.
/// One session alone shares with nobody.
pub(super) fn warning(trace: &Trace, tasks: &[RecordedTask]) -> Option<String> {
    if trace.host.facts.get(SETTING).map(String::as_str) != Some("1") {
        return None;
    }
    let group = |task: &RecordedTask| trace.host.groups.get(&task.pid)?.autogroup;
    let sessions: BTreeSet<u32> = tasks.iter().filter_map(group).collect();
    let several = match (trace.host.groups.is_empty(), sessions.len()) {
        (true, _) => "sessions".to_owned(),
        (false, 0 | 1) => return None,
        (false, count) => format!("{count} sessions"),
    };
    Some(format!(
        "autogroup was on when this was recorded ({SETTING}=1), and the replay has no groups: there its {several} got equal shares of a \
         CPU, however many tasks each had, here every fair task competes on its own; a task that was alone in its session waits \
         longer here beside a busy one"
    ))
}

#[cfg(test)]
mod tests {
    use crate::load::Load;
    use crate::replay::{ReadOptions, Replay};
    use schema::RecordedGroups;

    const SWITCHES: &str = "\
 <idle>-0 [000] d... 1.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=cc1 next_pid=7 next_prio=120
 cc1-7 [000] d... 1.000200: sched_switch: prev_comm=cc1 prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=edit next_pid=8 next_prio=120
 edit-8 [000] d... 1.000300: sched_switch: prev_comm=edit prev_pid=8 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
";

    fn warning(markers: &[&str]) -> Option<String> {
        let marker =
            |text: &&str| format!(" <idle>-0 [000] d... 1.000000: tracing_mark_write: schedlab: {text}\n");
        let text = markers.iter().map(marker).collect::<String>() + SWITCHES;
        let trace = trace::read(text.as_bytes()).expect("a trace");
        let flat = ReadOptions { groups: RecordedGroups::Flat, ..ReadOptions::default() };
        let replay = Replay::read(trace, flat);
        replay.warnings().into_iter().find(|warning| warning.contains("autogroup"))
    }

    const ON: &str = "host sched_autogroup_enabled=1";

    #[test]
    fn several_sessions_are_told() {
        let [cc1, edit] = ["group tgid=7 autogroup=41 cgroup=/", "group tgid=8 autogroup=42 cgroup=/"];
        let told = warning(&[ON, cc1, edit]).expect("a warning");
        assert!(told.contains("there its 2 sessions got equal shares"), "{told}");
        assert!(
            warning(&[ON]).expect("a warning").contains("there its sessions got"),
            "which ones is not known"
        );
        assert_eq!(warning(&[ON, cc1, &edit.replace("42", "41")]), None, "one session");
        assert_eq!(
            warning(&[ON, cc1, "group tgid=9 autogroup=42 cgroup=/"]),
            None,
            "who did nothing is nobody"
        );
    }

    #[test]
    fn where_it_was_off_or_nothing_is_known_nothing_is_said() {
        let groups = ["group tgid=7 autogroup=41 cgroup=/", "group tgid=8 autogroup=42 cgroup=/"];
        assert_eq!(warning(&[]), None);
        assert_eq!(warning(&groups), None);
        assert_eq!(warning(&[&["host sched_autogroup_enabled=0"][..], &groups].concat()), None);
    }
}
