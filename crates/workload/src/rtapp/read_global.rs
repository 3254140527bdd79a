//! The `global` object.

use super::error::RtAppError;
use super::json::{Member, Value};
use super::model::{Categories, Global, PolicyName};
use super::note::NoteKind;
use super::read::{LARGEST, Reader};
use super::read_task::policy_name;
use scheduler::Nanos;

/// rt-app's default of `mem_buffer_size`: 4 MiB.
const DEFAULT_MEM_BUFFER: u64 = 4 << 20;

const CATEGORIES: &str = "none, main, task, loop, event, run, stats, attrs";

pub(super) fn global(reader: &mut Reader, members: &[Member]) -> Result<Global, RtAppError> {
    let mut global = Global {
        duration: None,
        default_policy: PolicyName::Other,
        loop_ns: None,
        pi_enabled: false,
        mem_buffer_bytes: DEFAULT_MEM_BUFFER,
        io_is_null: true,
        cumulative_slack: false,
        ftrace: Categories::default(),
    };
    for member in members {
        if member.renamed.is_some() {
            reader.note(NoteKind::PropertyTwice, member);
            continue;
        }
        match member.key.as_str() {
            // 0 means the same as -1: rt-app sleeps before it stops its threads only for a positive duration.
            "duration" => {
                let seconds = reader.integer(member, -1, LARGEST, " s, or -1 for no end")?;
                global.duration = u64::try_from(seconds).ok().filter(|s| *s > 0).map(Nanos::from_secs);
            }
            "default_policy" => global.default_policy = policy_name(reader, member)?,
            "calibration" => global.loop_ns = calibration(reader, member)?,
            "pi_enabled" => global.pi_enabled = reader.boolean(member)?,
            "cumulative_slack" => global.cumulative_slack = reader.boolean(member)?,
            "mem_buffer_size" => {
                global.mem_buffer_bytes = reader.integer(member, 1, LARGEST, " bytes")?.unsigned_abs();
            }
            "io_device" => global.io_is_null = reader.text(member)? == "/dev/null",
            "ftrace" => global.ftrace = categories(reader, member)?,
            "lock_pages" | "gnuplot" => {
                reader.boolean(member)?;
                reader.note(NoteKind::NoUseHere, member);
            }
            "logdir" | "log_basename" => {
                // rt-app takes null for its default, which no other key may have.
                if !matches!(member.value.value, Value::Null) {
                    reader.text(member)?;
                }
                reader.note(NoteKind::NoUseHere, member);
            }
            "log_size" => match &member.value.value {
                Value::Integer(_) | Value::Text(_) => reader.note(NoteKind::NoUseHere, member),
                _ => return Err(reader.wrong_type(member, "an integer (MB) or a string")),
            },
            _ => reader.note(NoteKind::Unknown, member),
        }
    }
    Ok(global)
}

/// Nanoseconds of one calibration loop, or `None` where rt-app would measure them on a CPU: then `run` is
/// exact.
fn calibration(reader: &Reader, member: &Member) -> Result<Option<u64>, RtAppError> {
    let Value::Text(cpu) = &member.value.value else {
        if !matches!(member.value.value, Value::Integer(_)) {
            return Err(reader.wrong_type(member, "an integer (ns per loop) or a CPU such as \"CPU0\""));
        }
        return Ok(Some(reader.count(member, " ns per loop")?).filter(|ns| *ns > 0));
    };
    match cpu.strip_prefix("CPU").map(str::parse::<u32>) {
        Some(Ok(_)) => Ok(None),
        _ => Err(reader.unknown_word(member, cpu, "CPU0, CPU1, …, or a number of nanoseconds per loop")),
    }
}

fn categories(reader: &mut Reader, member: &Member) -> Result<Categories, RtAppError> {
    let all = Categories { task: true, event: true, r#loop: true, stats: true };
    if let Value::Boolean(on) = member.value.value {
        return Ok(if on { all } else { Categories::default() });
    }
    let mut chosen = Categories::default();
    for word in reader.text(member)?.split(',').map(str::trim) {
        match word {
            "" | "none" => {}
            "task" => chosen.task = true,
            "event" | "run" => chosen.event = true,
            "loop" => chosen.r#loop = true,
            "stats" => chosen.stats = true,
            // The main thread writes nothing, and changes of policy stand in the trace anyway.
            "main" | "attrs" => reader.note(NoteKind::NotModelled, member),
            _ => return Err(reader.unknown_word(member, word, CATEGORIES)),
        }
    }
    Ok(chosen)
}
