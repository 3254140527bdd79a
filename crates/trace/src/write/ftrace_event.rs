//! Our events as messages of Perfetto's `FtraceEvent`.

use super::proto::{
    Ftrace, Generic, GenericField, GenericValue, Print, SchedMigrateTask, SchedPiSetprio, SchedProcessExec,
    SchedProcessExit, SchedProcessFork, SchedSwitch, SchedWakeup,
};
use crate::model::{self, EventKind};
use crate::strings::Strings;

fn wakeup(w: &model::SchedWakeup, strings: &Strings) -> SchedWakeup {
    SchedWakeup {
        comm: Some(strings[w.task.comm].to_owned()),
        pid: Some(w.task.pid.0),
        prio: Some(w.task.prio),
        success: Some(1),
        target_cpu: Some(w.target_cpu.0 as i32),
    }
}

/// The message for an event. Events that the schema does not know become its generic one, with the same names.
pub(super) fn ftrace_event(kind: &EventKind, strings: &Strings) -> Ftrace {
    let comm = |id| Some(strings[id].to_owned());
    match kind {
        EventKind::SchedSwitch(s) => Ftrace::SchedSwitch(SchedSwitch {
            prev_comm: comm(s.prev.comm),
            prev_pid: Some(s.prev.pid.0),
            prev_prio: Some(s.prev.prio),
            prev_state: Some(s.prev_state.bits()),
            next_comm: comm(s.next.comm),
            next_pid: Some(s.next.pid.0),
            next_prio: Some(s.next.prio),
        }),
        EventKind::SchedWaking(w) => Ftrace::SchedWaking(wakeup(w, strings)),
        EventKind::SchedWakeup(w) => Ftrace::SchedWakeup(wakeup(w, strings)),
        EventKind::SchedWakeupNew(w) => Ftrace::SchedWakeupNew(wakeup(w, strings)),
        EventKind::SchedMigrateTask(m) => Ftrace::SchedMigrateTask(SchedMigrateTask {
            comm: comm(m.task.comm),
            pid: Some(m.task.pid.0),
            prio: Some(m.task.prio),
            orig_cpu: Some(m.orig_cpu.0 as i32),
            dest_cpu: Some(m.dest_cpu.0 as i32),
        }),
        EventKind::SchedProcessFork(f) => Ftrace::SchedProcessFork(SchedProcessFork {
            parent_comm: comm(f.parent_comm),
            parent_pid: Some(f.parent_pid.0),
            child_comm: comm(f.child_comm),
            child_pid: Some(f.child_pid.0),
        }),
        EventKind::SchedProcessExec(e) => Ftrace::SchedProcessExec(SchedProcessExec {
            filename: comm(e.filename),
            pid: Some(e.pid.0),
            old_pid: Some(e.old_pid.0),
        }),
        EventKind::SchedProcessExit(t) => Ftrace::SchedProcessExit(SchedProcessExit {
            comm: comm(t.comm),
            pid: Some(t.pid.0),
            tgid: None,
            prio: Some(t.prio),
        }),
        EventKind::SchedPiSetprio(p) => Ftrace::SchedPiSetprio(SchedPiSetprio {
            comm: comm(p.comm),
            newprio: Some(p.newprio),
            oldprio: Some(p.oldprio),
            pid: Some(p.pid.0),
        }),
        EventKind::SchedStatRuntime(r) => {
            let field = |name: &str, value| GenericField { name: Some(name.to_owned()), value: Some(value) };
            let mut fields = vec![
                field("comm", GenericValue::Str(strings[r.comm].to_owned())),
                field("pid", GenericValue::Int(r.pid.0.into())),
                field("runtime", GenericValue::Uint(r.runtime_ns)),
            ];
            fields.extend(r.vruntime.map(|ns| field("vruntime", GenericValue::Uint(ns.get()))));
            Ftrace::Generic(Generic { event_name: Some(kind.name().to_owned()), field: fields })
        }
        EventKind::Marker(text) => Ftrace::Print(Print { buf: Some(marker(&strings[*text])) }),
    }
}

/// The viewer takes printed text for atrace's commands and counts everything else as a failure. A marker that is no such
/// command becomes the command for an instant with that name; process 0 leaves open to which process the task belongs.
fn marker(text: &str) -> String {
    let mut chars = text.chars();
    let command = matches!(chars.next(), Some('B' | 'E' | 'C' | 'S' | 'F' | 'G' | 'H' | 'I' | 'N'));
    let is_atrace = command && matches!(chars.next(), None | Some('|'));
    if is_atrace { text.to_owned() } else { format!("I|0|{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_that_are_commands_already_stay() {
        for text in ["B|12|name", "E", "C|1|depth|3"] {
            assert_eq!(marker(text), text);
        }
        assert_eq!(marker("Begin"), "I|0|Begin");
        assert_eq!(marker(""), "I|0|");
    }
}
