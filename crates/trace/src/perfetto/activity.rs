//! [`Activity`] in Perfetto traces: messages of their own for some tracepoints, generic ones for the rest.

use super::events::{GenericFields, Message};
use super::wire::Value as Wire;
use crate::activity::{Activity, FieldType, SysEnter, SysExit, Syscall, Tracepoint, Value, Values};
use crate::strings::Strings;

/// A kind of ftrace event: its number, and those of the fields that we keep in the order of our table. 0 is
/// no field.
struct MessageKind {
    event: u64,
    name: &'static str,
    fields: &'static [usize],
}

/// From the schema (`ftrace_event.proto`, `irq.proto`, `block.proto`, `workqueue.proto`,
/// `raw_syscalls.proto`, `net.proto`, `power.proto`).
const MESSAGES: [MessageKind; 14] = [
    MessageKind { event: 13, name: "cpu_idle", fields: &[1, 2] },
    MessageKind { event: 24, name: "softirq_entry", fields: &[1] },
    MessageKind { event: 25, name: "softirq_exit", fields: &[1] },
    MessageKind { event: 26, name: "softirq_raise", fields: &[1] },
    MessageKind { event: 36, name: "irq_handler_entry", fields: &[1, 2] },
    MessageKind { event: 37, name: "irq_handler_exit", fields: &[1, 2] },
    MessageKind { event: 45, name: "block_rq_issue", fields: &[1, 2, 3, 5, 4] },
    MessageKind { event: 57, name: "workqueue_execute_end", fields: &[1, 2] },
    MessageKind { event: 58, name: "workqueue_execute_start", fields: &[1, 2] },
    MessageKind { event: 125, name: "block_rq_complete", fields: &[1, 2, 3, 5] },
    MessageKind { event: 329, name: "sys_enter", fields: &[1] },
    MessageKind { event: 330, name: "sys_exit", fields: &[1, 2] },
    MessageKind { event: 360, name: "netif_receive_skb", fields: &[2, 1] },
    MessageKind { event: 361, name: "net_dev_xmit", fields: &[2, 1] },
];

/// The event in the message of kind `number`: `None` if the kind is not of our table, `Some(None)` if a field
/// is missing.
pub(super) fn message(number: u64, message: &Message<'_>, strings: &mut Strings) -> Option<Option<Activity>> {
    let kind = MESSAGES.iter().find(|kind| kind.event == number)?;
    let tracepoint = Tracepoint::find(kind.name)?;
    let mut values = Values::default();
    for ((value, field), number) in values.0.iter_mut().zip(tracepoint.fields).zip(kind.fields) {
        *value = message.values[*number].and_then(|wire| read(wire, field.of, strings));
    }
    Some((tracepoint.make)(&values))
}

/// The event of a tracepoint in a generic message.
pub(super) fn generic(
    of: &Tracepoint,
    fields: &GenericFields<'_>,
    strings: &mut Strings,
) -> Option<Activity> {
    let mut values = Values::default();
    for (value, field) in values.0.iter_mut().zip(of.fields) {
        let wire = match field.of {
            FieldType::Element(n) => fields.find(&format!("{}{n}", field.name)),
            _ => fields.find(field.name),
        };
        *value = wire.and_then(|wire| read(wire, field.of, strings));
    }
    (of.make)(&values)
}

/// The event of a single system call in a generic message.
pub(super) fn syscall(event: &[u8], fields: &GenericFields<'_>, strings: &mut Strings) -> Option<Activity> {
    let number = |name| fields.find(name).and_then(Wire::number);
    let call = |name: &[u8], strings: &mut Strings| Syscall {
        number: number("__syscall_nr").and_then(|number| u16::try_from(number).ok()),
        name: Some(strings.intern_bytes(name)),
    };
    if let Some(name) = event.strip_prefix(b"sys_enter_") {
        let args = ["arg0", "arg1"].map(|name| number(name).unwrap_or(0));
        return Some(Activity::SysEnter(SysEnter { call: call(name, strings), args }));
    }
    let name = event.strip_prefix(b"sys_exit_")?;
    Some(Activity::SysExit(SysExit { call: call(name, strings), ret: number("ret")? as i64 }))
}

fn read(wire: Wire<'_>, of: FieldType, strings: &mut Strings) -> Option<Value> {
    match of {
        FieldType::Text | FieldType::Comm | FieldType::Letters => {
            wire.bytes().map(|text| Value::Text(strings.intern_bytes(text)))
        }
        FieldType::Function => Some(Value::Text(match wire.bytes() {
            Some(name) => strings.intern_bytes(name),
            None => strings.intern(&format!("{:#x}", wire.number()?)),
        })),
        FieldType::Int => wire.int32().map(|number| Value::Number(number.into())),
        _ => wire.number().map(|number| Value::Number(number as i64)),
    }
}
