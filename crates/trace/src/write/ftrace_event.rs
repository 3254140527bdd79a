//! Our events as messages of Perfetto's `FtraceEvent`.

use super::proto::{
    Ftrace, Generic, GenericField, GenericValue, IrqHandlerEntry, IrqHandlerExit, Print, SchedMigrateTask,
    SchedPiSetprio, SchedProcessExec, SchedProcessExit, SchedProcessFork, SchedSwitch, SchedWakeup, Softirq,
};
use crate::activity::{Activity, FieldType, SoftirqVec, SysEnter, SysExit, Syscall, Value};
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

/// The message for an event. Events that the schema does not know become its generic one, with the same
/// names.
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
            let mut fields = vec![
                field("comm", GenericValue::Str(strings[r.comm].to_owned())),
                field("pid", GenericValue::Int(r.pid.0.into())),
                field("runtime", GenericValue::Uint(r.runtime_ns)),
            ];
            fields.extend(r.vruntime.map(|ns| field("vruntime", GenericValue::Uint(ns.get()))));
            generic(kind.name().to_owned(), fields)
        }
        EventKind::Activity(activity) => activity_event(activity, strings),
        EventKind::Marker(text) => Ftrace::Print(Print { buf: Some(marker(&strings[*text])) }),
    }
}

/// An event of which the viewer makes a track of its own has its message, the others become generic ones.
fn activity_event(activity: &Activity, strings: &Strings) -> Ftrace {
    let softirq = |vec: SoftirqVec| Softirq { vec: Some(vec.0.into()) };
    match activity {
        Activity::SoftirqEntry(vec) => Ftrace::SoftirqEntry(softirq(*vec)),
        Activity::SoftirqExit(vec) => Ftrace::SoftirqExit(softirq(*vec)),
        Activity::SoftirqRaise(vec) => Ftrace::SoftirqRaise(softirq(*vec)),
        Activity::IrqHandlerEntry(e) => {
            let name = Some(strings[e.name].to_owned());
            Ftrace::IrqHandlerEntry(IrqHandlerEntry { irq: Some(e.irq), name })
        }
        Activity::IrqHandlerExit(e) => {
            Ftrace::IrqHandlerExit(IrqHandlerExit { irq: Some(e.irq), ret: Some(e.handled.into()) })
        }
        Activity::SysEnter(SysEnter { call: Syscall { name: Some(name), number }, args }) => {
            let number = number.map_or(-1, i64::from);
            let [first, second] = args.map(GenericValue::Uint);
            let fields = [("__syscall_nr", GenericValue::Int(number)), ("arg0", first), ("arg1", second)];
            generic(
                format!("sys_enter_{}", &strings[*name]),
                fields.map(|(name, value)| field(name, value)).into(),
            )
        }
        Activity::SysExit(SysExit { call: Syscall { name: Some(name), number }, ret }) => {
            let number = field("__syscall_nr", GenericValue::Int(number.map_or(-1, i64::from)));
            let ret = field("ret", GenericValue::Int(*ret));
            generic(format!("sys_exit_{}", &strings[*name]), vec![number, ret])
        }
        _ => {
            let fields = activity.tracepoint().fields.iter().zip(activity.values().0).enumerate();
            let fields = fields.filter_map(|(n, (of, value))| {
                // The elements of an array have names of their own here.
                let name = match of.of {
                    FieldType::Element(_) => format!("args{}", n - 1),
                    _ => of.name.to_owned(),
                };
                let value = match value? {
                    Value::Text(text) => GenericValue::Str(strings[text].to_owned()),
                    Value::Number(number) if matches!(of.of, FieldType::Address | FieldType::U64) => {
                        GenericValue::Uint(number as u64)
                    }
                    Value::Number(number) => GenericValue::Int(number),
                };
                Some(field(&name, value))
            });
            generic(activity.name().to_owned(), fields.collect())
        }
    }
}

fn generic(name: String, field: Vec<GenericField>) -> Ftrace {
    Ftrace::Generic(Generic { event_name: Some(name), field })
}

fn field(name: &str, value: GenericValue) -> GenericField {
    GenericField { name: Some(name.to_owned()), value: Some(value) }
}

/// The viewer takes printed text for atrace's commands and counts everything else as a failure. A marker that
/// is no such command becomes the command for an instant with that name; process 0 leaves open to which
/// process the task belongs.
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
