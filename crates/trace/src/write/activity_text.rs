//! [`Activity`] as the kernel's text writes it, without the fields that the model does not keep.

use std::io::{self, Write};

use crate::activity::{Activity, BlockRq, FieldType, HrtimerMode, SysEnter, SysExit, Syscall, Value};
use crate::strings::Strings;

/// The name and colon, where the event has them, and the fields.
pub(super) fn write(line: &mut Vec<u8>, activity: &Activity, strings: &Strings) -> io::Result<()> {
    match *activity {
        Activity::SysEnter(SysEnter { call: Syscall { name: Some(name), .. }, args: [first, second] }) => {
            return write!(line, "sys_{}({first:x}, {second:x})", &strings[name]);
        }
        Activity::SysExit(SysExit { call: Syscall { name: Some(name), .. }, ret }) => {
            return write!(line, "sys_{} -> {ret:#x}", &strings[name]);
        }
        _ => write!(line, "{}: ", activity.name())?,
    }
    match *activity {
        Activity::IrqHandlerExit(exit) => {
            let ret = if exit.handled { "handled" } else { "unhandled" };
            write!(line, "irq={} ret={ret}", exit.irq)
        }
        Activity::SoftirqRaise(vec) | Activity::SoftirqEntry(vec) | Activity::SoftirqExit(vec) => {
            write!(line, "vec={} [action={}]", vec.0, vec.action())
        }
        Activity::WorkqueueExecuteStart(e) | Activity::WorkqueueExecuteEnd(e) => {
            write!(line, "work struct {:016x}", e.work.0)?;
            match e.function {
                Some(function) => write!(line, ": function {}", &strings[function]),
                None => Ok(()),
            }
        }
        Activity::BlockRqIssue(rq) => {
            device_and_letters(line, &rq, strings)?;
            write!(line, " {} () {} + {} none,0,0 []", rq.bytes, rq.sector, rq.sectors())
        }
        Activity::BlockRqComplete(rq) => {
            device_and_letters(line, &rq, strings)?;
            write!(line, " () {} + {} none,0,0 [0]", rq.sector, rq.sectors())
        }
        Activity::SysEnter(enter) => {
            let [first, second] = enter.args;
            write!(line, "NR {} ({first:x}, {second:x}, 0, 0, 0, 0)", id(enter.call))
        }
        Activity::SysExit(exit) => write!(line, "NR {} = {}", id(exit.call), exit.ret),
        _ => pairs(line, activity, strings),
    }
}

fn device_and_letters(line: &mut Vec<u8>, rq: &BlockRq, strings: &Strings) -> io::Result<()> {
    write!(line, "{},{} {}", rq.dev.major(), rq.dev.minor(), &strings[rq.rwbs])
}

/// The kernel's number for "no call" where only the name would be known.
fn id(call: Syscall) -> i64 {
    call.number.map_or(-1, i64::from)
}

/// `key=value` with blanks between.
fn pairs(line: &mut Vec<u8>, activity: &Activity, strings: &Strings) -> io::Result<()> {
    let mut blank = "";
    for (field, value) in activity.tracepoint().fields.iter().zip(activity.values().0) {
        let Some(value) = value else { continue };
        write!(line, "{blank}{}=", field.printed)?;
        blank = " ";
        match value {
            Value::Text(text) => line.write_all(strings[text].as_bytes())?,
            Value::Number(number) if field.of == FieldType::Address => {
                write!(line, "{:016x}", number as u64)?
            }
            Value::Number(number) if field.name == "mode" => write!(line, "{}", HrtimerMode(number as u8))?,
            Value::Number(number) if field.of == FieldType::U64 => write!(line, "{}", number as u64)?,
            Value::Number(number) => write!(line, "{number}")?,
        }
        if field.name == "delay" {
            line.write_all(b" [ns]")?;
        }
    }
    Ok(())
}
