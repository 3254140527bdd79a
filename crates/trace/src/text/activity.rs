//! The fields of [`Activity`] in text: `key=value` as a rule, and what the kernel writes in a form of its
//! own.

use memchr::memmem;

use super::line::digits;
use crate::activity::{
    Activity, BlockDevice, Field, FieldType, HrtimerMode, SysEnter, SysExit, Syscall, Tracepoint, Value,
    Values,
};
use crate::strings::{StrId, Strings};

/// The event of a tracepoint; `None` if its fields are not as expected.
pub(super) fn activity(of: &Tracepoint, body: &[u8], strings: &mut Strings) -> Option<Activity> {
    let mut reader = Reader { body, strings };
    let values = match of.name {
        "workqueue_execute_start" | "workqueue_execute_end" if body.starts_with(b"work struct ") => {
            reader.work()?
        }
        "block_rq_issue" | "block_rq_complete" if body.first()?.is_ascii_digit() => reader.block_rq()?,
        "sys_enter" if body.starts_with(b"NR ") => reader.sys_enter()?,
        "sys_exit" if body.starts_with(b"NR ") => reader.sys_exit()?,
        _ => reader.pairs(of)?,
    };
    (of.make)(&values)
}

struct Reader<'a, 's> {
    body: &'a [u8],
    strings: &'s mut Strings,
}

/// Where a field is in the text.
#[derive(Clone, Copy)]
struct FieldAt {
    /// Of its name.
    key: usize,
    value: usize,
}

impl Reader<'_, '_> {
    /// `key=value` with blanks between; a text may hold blanks and goes on to the next key that we know.
    fn pairs(&mut self, of: &Tracepoint) -> Option<Values> {
        let body = self.body;
        if let [Field { printed, of: FieldType::Text, .. }] = of.fields {
            // Nothing follows it, so it may hold what looks like keys.
            let text = body.strip_prefix(printed.as_bytes())?.strip_prefix(b"=")?;
            return Some(Values::of([Some(self.text(text))]));
        }
        let places: Vec<Option<FieldAt>> = of.fields.iter().map(|field| find(body, field)).collect();
        let mut values = Values::default();
        for ((field, place), value) in of.fields.iter().zip(&places).zip(&mut values.0) {
            let Some(place) = place else { continue };
            let next = places.iter().flatten().map(|other| other.key).filter(|key| *key > place.key).min();
            let read = self.value(field, &body[place.value..next.unwrap_or(body.len())]);
            if read.is_none() && !field.optional {
                return None;
            }
            *value = read;
        }
        Some(values)
    }

    fn value(&mut self, field: &Field, text: &[u8]) -> Option<Value> {
        let text = text.trim_ascii_end();
        let word = text.split(|byte| *byte == b' ').next()?;
        Some(match field.of {
            FieldType::Text => self.text(before_next_key(text)),
            FieldType::Comm => self.text(text),
            FieldType::Letters | FieldType::Function => self.text(word),
            FieldType::Address => Value::Number(hex(word)? as i64),
            _ if field.name == "mode" => Value::Number(mode(word)?.0.into()),
            _ if word == b"handled" => Value::Number(1),
            _ if word == b"unhandled" => Value::Number(0),
            _ => Value::Number(number(word)?),
        })
    }

    fn text(&mut self, text: &[u8]) -> Value {
        Value::Text(self.strings.intern_bytes(text))
    }

    /// `work struct 000000000e740519: function blk_mq_run_work_fn`; older kernels have no function where the
    /// work ends.
    fn work(&mut self) -> Option<Values> {
        let rest = self.body.strip_prefix(b"work struct ")?;
        let end = rest.iter().position(|byte| matches!(byte, b':' | b' ')).unwrap_or(rest.len());
        let function = memmem::find(rest, b"function ").map(|at| &rest[at + b"function ".len()..]);
        let mut values = Values::default();
        values.0[0] = Some(Value::Number(hex(&rest[..end])? as i64));
        values.0[1] = function.map(|name| self.text(name.trim_ascii()));
        Some(values)
    }

    /// `254,0 WS 4096 () 319986176 + 8 be,0,4 [dd]`; a completed request is without its length in bytes.
    fn block_rq(&mut self) -> Option<Values> {
        let open = memchr::memchr(b'(', self.body)?;
        let close = open + memmem::find(&self.body[open..], b") ")?;
        let mut left = self.body[..open].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let (major, rest) = digits(left.next()?)?;
        let (minor, _) = digits(rest.strip_prefix(b",")?)?;
        let dev = BlockDevice::new(u32::try_from(major).ok()?, u32::try_from(minor).ok()?);
        let rwbs = self.text(left.next()?);
        let bytes = left.next().and_then(number);
        let (sector, rest) = digits(&self.body[close + 2..])?;
        let (nr_sector, _) = digits(rest.strip_prefix(b" + ")?)?;
        Some(Values([
            Some(Value::Number(dev.0.into())),
            Some(Value::Number(sector as i64)),
            Some(Value::Number(nr_sector as i64)),
            Some(rwbs),
            bytes.map(Value::Number),
        ]))
    }

    /// `NR 202 (7ffc0e2b5a30, 80, 0, 0, 0, 0)`
    fn sys_enter(&mut self) -> Option<Values> {
        let (id, rest) = self.body.strip_prefix(b"NR ")?.split_at_checked(self.id_len()?)?;
        let [first, second] = arguments(rest);
        let mut values = Values::default();
        values.0[..3]
            .copy_from_slice(&[number(id)?, first as i64, second as i64].map(|n| Some(Value::Number(n))));
        Some(values)
    }

    /// `NR 202 = -11`
    fn sys_exit(&mut self) -> Option<Values> {
        let (id, rest) = self.body.strip_prefix(b"NR ")?.split_at_checked(self.id_len()?)?;
        let ret = rest.strip_prefix(b" = ")?;
        let mut values = Values::default();
        values.0[..2].copy_from_slice(&[number(id)?, number(ret)?].map(|n| Some(Value::Number(n))));
        Some(values)
    }

    fn id_len(&self) -> Option<usize> {
        self.body.strip_prefix(b"NR ")?.iter().position(|byte| *byte == b' ')
    }
}

/// The event of a single system call: the kernel writes `sys_futex(uaddr: 7ffc, op: 80)` and `sys_futex ->
/// 0x0`, trace-cmd `sys_enter_futex: uaddr: 0x7ffc, op: 0x80` and `sys_exit_futex: 0x0`. `None` for any other
/// line.
pub(super) fn syscall(event: &[u8], body: &[u8], strings: &mut Strings) -> Option<Activity> {
    if let Some(name) = event.strip_prefix(b"sys_enter_") {
        return Some(enter(name, body, strings));
    }
    if let Some(name) = event.strip_prefix(b"sys_exit_") {
        let ret = body.rsplit(|byte| matches!(byte, b' ' | b'=')).next()?;
        return exit(name, ret, strings);
    }
    let call = body.strip_prefix(b"sys_").filter(|_| event.is_empty())?;
    let end = call.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    let (name, rest) = call.split_at(end);
    match rest.strip_prefix(b" -> ") {
        Some(ret) => exit(name, ret, strings),
        None => rest.starts_with(b"(").then(|| enter(name, rest, strings)),
    }
}

fn enter(name: &[u8], body: &[u8], strings: &mut Strings) -> Activity {
    Activity::SysEnter(SysEnter { call: named(strings.intern_bytes(name)), args: arguments(body) })
}

fn exit(name: &[u8], ret: &[u8], strings: &mut Strings) -> Option<Activity> {
    let ret = number(ret)?;
    Some(Activity::SysExit(SysExit { call: named(strings.intern_bytes(name)), ret }))
}

fn named(name: StrId) -> Syscall {
    Syscall { number: None, name: Some(name) }
}

/// The first two of a list of hexadecimal numbers, with or without names; 0 for one that is not there.
fn arguments(list: &[u8]) -> [u64; 2] {
    let list = list.trim_ascii();
    let list = list.strip_prefix(b"(").and_then(|list| list.strip_suffix(b")")).unwrap_or(list);
    let mut arguments = list.split(|byte| *byte == b',').map(|argument| {
        let value = argument.rsplit(|byte| *byte == b':').next().unwrap_or_default().trim_ascii();
        hex(value).unwrap_or(0)
    });
    [(); 2].map(|()| arguments.next().unwrap_or(0))
}

/// The last place where a field's name stands at the start or behind a blank and has a `=` behind it. The
/// kernel prints some fields under another name; `report -R` has that of the record.
fn find(body: &[u8], field: &Field) -> Option<FieldAt> {
    [field.printed, field.name].into_iter().find_map(|name| {
        memmem::rfind_iter(body, name.as_bytes()).find_map(|key| {
            let value = key + name.len() + 1;
            let is_key = body.get(value - 1) == Some(&b'=') && (key == 0 || body[key - 1] == b' ');
            is_key.then_some(FieldAt { key, value })
        })
    })
}

/// Names of interrupt handlers and devices: without the next field, which may be one that we do not know.
fn before_next_key(text: &[u8]) -> &[u8] {
    let words = memchr::memchr_iter(b' ', text).map(|blank| (blank, &text[blank + 1..]));
    let is_key = |rest: &[u8]| {
        let len =
            rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
        len > 0 && rest.get(len) == Some(&b'=')
    };
    let mut keys = words.filter(|(_, rest)| is_key(rest)).map(|(blank, _)| blank);
    keys.next().map_or(text, |blank| &text[..blank])
}

/// A decimal number, perhaps negative, or `0x` and a hexadecimal one.
fn number(word: &[u8]) -> Option<i64> {
    if word.starts_with(b"0x") {
        return hex(word).map(|number| number as i64);
    }
    let (magnitude, rest) = digits(word.strip_prefix(b"-").unwrap_or(word))?;
    if !rest.is_empty() {
        return None;
    }
    // Unsigned numbers of 64 bits keep their bits.
    let magnitude = magnitude as i64;
    Some(if word.starts_with(b"-") { magnitude.wrapping_neg() } else { magnitude })
}

/// A hexadecimal number, with `0x` or without.
fn hex(word: &[u8]) -> Option<u64> {
    let word = word.strip_prefix(b"0x").unwrap_or(word);
    u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

/// `ABS|PINNED|HARD`, or the number.
fn mode(word: &[u8]) -> Option<HrtimerMode> {
    if let Some(number) = number(word) {
        return u8::try_from(number).ok().map(HrtimerMode);
    }
    let bits = word
        .split(|byte| *byte == b'|')
        .map(|part| HrtimerMode::NAMES.iter().find(|name| name.text.as_bytes() == part));
    bits.map(|name| name.map(|name| name.bits)).try_fold(0, |all, bits| Some(all | bits?)).map(HrtimerMode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::{
        BlockRq, HrtimerExpireEntry, IrqHandlerEntry, KernelAddress, SchedStatDelay, WorkqueueExecute,
    };
    use crate::model::Pid;

    fn check(event: &str, body: &str, expected: impl FnOnce(&mut Strings) -> Activity) {
        let mut strings = Strings::new();
        let tracepoint = Tracepoint::find(event).expect("it is in the table");
        let read = activity(tracepoint, body.as_bytes(), &mut strings);
        assert_eq!(read, Some(expected(&mut strings)), "{body}");
    }

    #[test]
    fn names_go_on_to_the_next_key() {
        let entry = |name: &'static str| {
            move |strings: &mut Strings| {
                Activity::IrqHandlerEntry(IrqHandlerEntry { irq: 36, name: strings.intern(name) })
            }
        };
        check("irq_handler_entry", "irq=36 name=ahci[0000:00:1f.2] x", entry("ahci[0000:00:1f.2] x"));
        check("irq_handler_entry", "irq=36 name=eth0 handler=ff", entry("eth0"));
        check("sched_stat_wait", "comm=a pid=1 b pid=7 delay=12 [ns]", |strings| {
            Activity::SchedStatWait(SchedStatDelay {
                comm: strings.intern("a pid=1 b"),
                pid: Pid(7),
                delay_ns: 12,
            })
        });
    }

    #[test]
    fn block_requests_old_and_new() {
        let rq = |bytes, sector| {
            move |strings: &mut Strings| {
                let (dev, rwbs) = (BlockDevice::new(254, 0), strings.intern("WS"));
                Activity::BlockRqIssue(BlockRq { dev, sector, bytes, rwbs })
            }
        };
        check("block_rq_issue", "254,0 WS 4096 () 319986176 + 8 be,0,4 [dd]", rq(4096, 319_986_176));
        check("block_rq_issue", "254,0 WS 4096 () 319986176 + 8 [a) 1 + 2]", rq(4096, 319_986_176));
        check("block_rq_issue", "254,0 WS 0 (35 00) 18446744073709551615 + 0 [x]", rq(0, u64::MAX));
        let raw = "dev=266338304 sector=8 nr_sector=8 bytes=4096 rwbs=WS comm=dd cmd=";
        check("block_rq_issue", raw, rq(4096, 8));
        check("block_rq_complete", "8,16 R () 5 + 2 none,0,0 [-5]", |strings| {
            let (dev, rwbs) = (BlockDevice::new(8, 16), strings.intern("R"));
            Activity::BlockRqComplete(BlockRq { dev, sector: 5, bytes: 1024, rwbs })
        });
    }

    #[test]
    fn timers_and_work_items_with_and_without_all_fields() {
        let expires = |strings: &mut Strings| {
            let (hrtimer, function) = (KernelAddress(0xff), strings.intern("hrtimer_wakeup"));
            Activity::HrtimerExpireEntry(HrtimerExpireEntry { hrtimer, function, now_ns: 5 })
        };
        check("hrtimer_expire_entry", "hrtimer=00000000000000ff function=hrtimer_wakeup now=5", expires);
        check("hrtimer_expire_entry", "hrtimer=0xff now=5 function=hrtimer_wakeup", expires);
        check(
            "hrtimer_start",
            "hrtimer=1 function=f expires=9 softexpires=8 mode=REL|HARD was_armed=0",
            |strings| Activity::HrtimerStart {
                hrtimer: KernelAddress(1),
                function: strings.intern("f"),
                expires_ns: 9,
                softexpires_ns: 8,
                mode: Some(HrtimerMode(9)),
            },
        );
        let work = |function: Option<&'static str>| {
            move |strings: &mut Strings| {
                let function = function.map(|name| strings.intern(name));
                Activity::WorkqueueExecuteEnd(WorkqueueExecute { work: KernelAddress(0xab), function })
            }
        };
        check("workqueue_execute_end", "work struct 00000000000000ab: function f", work(Some("f")));
        check("workqueue_execute_end", "work struct 00000000000000ab", work(None));
    }

    #[test]
    fn system_calls_by_number_and_by_name() {
        let numbered = |number| Syscall { number: Some(number), name: None };
        check("sys_enter", "NR 202 (7ffc, 80, 0, 0, 0, 0)", |_| {
            Activity::SysEnter(SysEnter { call: numbered(202), args: [0x7ffc, 0x80] })
        });
        check("sys_exit", "NR 202 = -11", |_| Activity::SysExit(SysExit { call: numbered(202), ret: -11 }));
        check("sys_enter", "NR -1 (0, 0, 0, 0, 0, 0)", |_| {
            Activity::SysEnter(SysEnter { call: Syscall { number: None, name: None }, args: [0, 0] })
        });
        for (event, body) in [
            ("", "sys_futex(uaddr: 0x7ffc, op: 0x80, val: 0)"),
            ("", "sys_futex(uaddr: 7ffc, op: 80, val: 0)"),
            ("sys_enter_futex", "uaddr: 0x00007ffc, op: 0x00000080, val: 0x0"),
        ] {
            let mut strings = Strings::new();
            let enter = SysEnter { call: named(strings.intern("futex")), args: [0x7ffc, 0x80] };
            let read = syscall(event.as_bytes(), body.as_bytes(), &mut strings);
            assert_eq!(read, Some(Activity::SysEnter(enter)), "{event} {body}");
        }
        for (event, body) in
            [("", "sys_futex -> 0xfffffffffffffff5"), ("sys_exit_futex", "0xfffffffffffffff5")]
        {
            let mut strings = Strings::new();
            let exit = SysExit { call: named(strings.intern("futex")), ret: -11 };
            let read = syscall(event.as_bytes(), body.as_bytes(), &mut strings);
            assert_eq!(read, Some(Activity::SysExit(exit)), "{event} {body}");
        }
        assert_eq!(
            syscall(b"", b"sys_futex <-do_syscall_64", &mut Strings::new()),
            None,
            "a function tracer's line"
        );
    }

    #[test]
    fn fields_that_are_not_there_are_told() {
        for (event, body) in [
            ("irq_handler_entry", "irq=x name=y"),
            ("softirq_entry", "vec="),
            ("softirq_entry", ""),
            ("block_rq_issue", "8,0 W 4096 8 + 8 [x]"),
            ("block_rq_issue", ""),
            ("hrtimer_cancel", "hrtimer=zz"),
            ("sys_enter", "NR "),
            ("workqueue_execute_start", "work struct 1"),
        ] {
            let tracepoint = Tracepoint::find(event).expect("it is in the table");
            assert_eq!(activity(tracepoint, body.as_bytes(), &mut Strings::new()), None, "{event}: {body}");
        }
    }
}
