//! The columns in front of an ftrace line: task, CPU, flags, time, event.
//!
//! ```text
//!           <idle>-0       [001] d.h2.  5239.643850: sched_waking: comm=…      the kernel's trace file
//!  memfd:sealed-91-6868  (  6868) [001] d..2.  5239.643882: sched_switch: …    with option record-tgid
//!           mix_lab-8038  [000]  5239.643250960: sched_process_fork:   comm=…  trace-cmd report -t
//!           mix_lab  8038 [000]  5239.643250: sched:sched_process_fork: comm=… perf script, or pid/tid
//! ```
//!
//! A comm may hold blanks, brackets, colons and dashes. What cannot lie inside one (it has 15 bytes at most)
//! is a CPU in brackets, a time and an event in a row, so that is what is searched for; the task is what
//! stands before it.

use crate::model::{Context, Cpu, NeedResched, Pid};
use memchr::memchr_iter;

/// The CPU is searched for in this many bytes. Task, pid and process take about forty; no line may cost more
/// than its length.
const MAX_TASK_COLUMN: usize = 200;
/// Kernels print four to seven flags and may come to print more.
const MAX_FLAGS: usize = 16;

/// An event line, cut into its columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line<'a> {
    pub(super) comm: &'a [u8],
    pub(super) pid: Pid,
    /// The process, where the line has that column and the kernel knew it.
    pub(super) tgid: Option<Pid>,
    pub(super) cpu: Cpu,
    pub(super) time: Time,
    /// Whether it is a line of perf script.
    pub(super) of_perf: bool,
    /// Whether there is a column of flags.
    pub(super) flags: bool,
    /// What that column says.
    pub(super) context: Context,
    pub(super) need_resched: NeedResched,
    /// Name of the event; empty for the lines of function tracers, which have none.
    pub(super) event: &'a [u8],
    /// What follows the name and its colon.
    pub(super) body: &'a [u8],
}

/// A time as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Time {
    /// ns, or ticks where `decimals` is 0.
    pub(super) value: u64,
    /// Digits behind the point; 0 for clocks that count something else than seconds.
    pub(super) decimals: u8,
}

impl<'a> Line<'a> {
    /// `None` for a line that is no event.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let head = &line[..line.len().min(MAX_TASK_COLUMN)];
        memchr_iter(b'[', head).find_map(|open| Self::parse_at(line, open))
    }

    /// The line, if its CPU column begins at `open`.
    fn parse_at(line: &'a [u8], open: usize) -> Option<Self> {
        let (task, rest) = (&line[..open], &line[open + 1..]);
        let (cpu, rest) = digits(rest)?;
        let cpu = Cpu(u32::try_from(cpu).unwrap_or(u32::MAX));
        let rest = rest.strip_prefix(b"]")?.trim_ascii_start();
        let (time, flags, rest) = match parse_time(rest) {
            Some((time, rest)) => (time, None, rest),
            None => {
                let end = rest.iter().take(MAX_FLAGS).position(|byte| *byte == b' ')?;
                let (flags, rest) = rest.split_at(end);
                let (time, rest) = parse_time(rest.trim_ascii_start())?;
                (time, Some(flags), rest)
            }
        };
        let rest = rest.trim_ascii_start();
        // perf script writes the system before each event, and no flags.
        let perf = || name_and_body(name_and_body(rest)?.1).zip(parse_perf_task(task));
        let perf = if flags.is_none() { perf() } else { None };
        let of_perf = perf.is_some();
        let ((event, body), (comm, pid, tgid)) = match perf {
            Some(perf) => perf,
            None => (name_and_body(rest).unwrap_or((&rest[..0], rest)), parse_task(task)?),
        };
        let body = body.trim_ascii();
        let context = flags.map_or(Context::Unknown, context);
        let need_resched = flags.map_or(NeedResched::Unknown, need_resched);
        let flags = flags.is_some();
        Some(Line { comm, pid, tgid, cpu, time, of_perf, flags, context, need_resched, event, body })
    }
}

/// The third column of the flags, or the fourth where kernels with PREEMPT_RT put one for lazy preemption
/// before it.
fn context(flags: &[u8]) -> Context {
    match flags.iter().skip(2).take(2).find(|flag| b"hHzZs".contains(flag)) {
        Some(b's') => Context::Softirq,
        Some(_) => Context::Hardirq,
        None => Context::Task,
    }
}

/// The second column, and the third where kernels with PREEMPT_RT have one for lazy preemption: `n` and `N`
/// alone, `l` and `L` for lazy, `b` and `B` for both; `p` is the processor's own copy of the flag, which says
/// nothing more.
fn need_resched(flags: &[u8]) -> NeedResched {
    match (flags.get(1), flags.get(2)) {
        (Some(b'n' | b'N' | b'b' | b'B'), _) => NeedResched::Yes,
        (Some(b'l' | b'L'), _) | (_, Some(b'l' | b'L')) => NeedResched::Lazy,
        _ => NeedResched::No,
    }
}

/// The name before the first colon, and what follows.
fn name_and_body(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, body) =
        text.split_at(text.iter().position(|byte| !is_name_byte(*byte)).filter(|len| *len > 0)?);
    Some((name, body.strip_prefix(b":")?))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte == b'.'
}

/// `comm-pid`, perhaps with `(tgid)` or `(-----)` behind.
fn parse_task(task: &[u8]) -> Option<(&[u8], Pid, Option<Pid>)> {
    let mut task = task.trim_ascii();
    let mut tgid = None;
    if let Some(inner) = task.strip_suffix(b")") {
        let open = inner.iter().rposition(|byte| *byte == b'(')?;
        tgid =
            whole_number(inner[open + 1..].trim_ascii()).and_then(|tgid| i32::try_from(tgid).ok()).map(Pid);
        task = inner[..open].trim_ascii_end();
    }
    let dash = task.iter().rposition(|byte| *byte == b'-')?;
    let pid = i32::try_from(whole_number(&task[dash + 1..])?).ok()?;
    Some((&task[..dash], Pid(pid), tgid))
}

/// `comm  tid` or `comm  tgid/tid`, as perf script writes them.
fn parse_perf_task(task: &[u8]) -> Option<(&[u8], Pid, Option<Pid>)> {
    let task = task.trim_ascii();
    let (comm, ids) = task.split_at(task.iter().rposition(u8::is_ascii_whitespace)?);
    // Of a task that has exited it does not know the id.
    let id = |text: &[u8]| match text {
        b"-1" => Some(Pid::UNKNOWN),
        _ => whole_number(text).and_then(|id| i32::try_from(id).ok()).map(Pid),
    };
    let (tgid, tid) = match ids.iter().position(|byte| *byte == b'/') {
        Some(slash) => (Some(id(ids[1..slash].trim_ascii())?), &ids[slash + 1..]),
        None => (None, &ids[1..]),
    };
    Some((comm.trim_ascii_end(), id(tid)?, tgid))
}

/// `seconds.fraction:` or `ticks:`, and what follows.
fn parse_time(text: &[u8]) -> Option<(Time, &[u8])> {
    let (seconds, rest) = digits(text)?;
    if let Some(rest) = rest.strip_prefix(b":") {
        return Some((Time { value: seconds, decimals: 0 }, rest));
    }
    let rest = rest.strip_prefix(b".")?;
    let (mut fraction, mut decimals) = (0, 0u8);
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    for digit in rest[..len].iter().take(9) {
        fraction = fraction * 10 + u64::from(digit - b'0');
        decimals += 1;
    }
    if decimals == 0 {
        return None;
    }
    fraction *= 10u64.pow(9 - u32::from(decimals));
    let value = seconds.checked_mul(1_000_000_000)?.checked_add(fraction)?;
    Some((Time { value, decimals }, rest[len..].strip_prefix(b":")?))
}

/// A decimal number at the start of `text`, and what follows; `None` if there is none or it is too large.
pub(super) fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    let mut len = 0;
    while let Some(byte @ b'0'..=b'9') = text.get(len) {
        value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
        len += 1;
    }
    (len > 0).then_some((value, &text[len..]))
}

fn whole_number(text: &[u8]) -> Option<u64> {
    digits(text).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Comm, pid, CPU, time in ns, event and body of a line.
    fn check(line: &str, expected: (&str, i32, u32, u64, &str, &str)) {
        let got = Line::parse(line.as_bytes()).unwrap_or_else(|| panic!("not understood: {line}"));
        let text = |bytes| std::str::from_utf8(bytes).expect("UTF-8");
        assert_eq!(
            (text(got.comm), got.pid.0, got.cpu.0, got.time.value, text(got.event), text(got.body)),
            expected
        );
    }

    #[test]
    fn the_three_dialects() {
        check(
            "          <idle>-0       [001] d.h2.  5239.643850: sched_waking: comm=a pid=1",
            ("<idle>", 0, 1, 5_239_643_850_000, "sched_waking", "comm=a pid=1"),
        );
        check(
            "         mix_lab-8038  [000]  5239.643250960: sched_process_fork:   comm=mix_lab pid=8038",
            ("mix_lab", 8038, 0, 5_239_643_250_960, "sched_process_fork", "comm=mix_lab pid=8038"),
        );
        check("  bash-1 (  77) [003] ....1  1.5: x: y", ("bash", 1, 3, 1_500_000_000, "x", "y"));
        check("  bash-1 (-----) [003] ....1  1.5: x: y", ("bash", 1, 3, 1_500_000_000, "x", "y"));
    }

    #[test]
    fn lines_of_perf_script() {
        check(
            "            perf 16108 [001]  1935.853447:       sched:sched_wakeup: comm=perf-exec pid=16110",
            ("perf", 16108, 1, 1_935_853_447_000, "sched_wakeup", "comm=perf-exec pid=16110"),
        );
        check(
            "     my prog-7  18/19    [000]  4705.150195208: sched:sched_switch: prev_comm=a ==> next_comm=b",
            ("my prog-7", 19, 0, 4_705_150_195_208, "sched_switch", "prev_comm=a ==> next_comm=b"),
        );
        let of = |line: &str| Line::parse(line.as_bytes()).map(|l| (l.of_perf, l.tgid));
        assert_eq!(of(" a 18/19 [000] 1.5: sched:e: b"), Some((true, Some(Pid(18)))));
        assert_eq!(of(" a 19 [000] 1.5: sched:e: b"), Some((true, None)));
        assert_eq!(of(" a-19 [000] 1.5: e: sched:b: c"), Some((false, None)));
        check(" :-1    -1 [001] 1.5: sched:e: b", (":-1", Pid::UNKNOWN.0, 1, 1_500_000_000, "e", "b"));
        for line in [
            " a 19 [000] 1.5: e: b",
            " a 19 [000] d..2. 1.5: sched:e: b",
            " a x/19 [000] 1.5: sched:e: b",
            " 19 [000] 1.5: sched:e: b",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn flags_may_have_four_to_seven_characters() {
        for flags in ["d..2", "dNh2.", "d.h2..", "d.h2...", "DNZff#"] {
            let line = format!("  a-1 [0] {flags} 1.000001: e: b");
            assert_eq!(
                Line::parse(line.as_bytes()).map(|l| (l.flags, l.time.value)),
                Some((true, 1_000_001_000))
            );
        }
    }

    #[test]
    fn flags_tell_interrupts_from_tasks() {
        let context = |line: &str| Line::parse(line.as_bytes()).map(|l| l.context);
        for (flags, expected) in [
            ("d..2.", Context::Task),
            ("dNh2.", Context::Hardirq),
            ("d.H2.", Context::Hardirq),
            ("d.Z2.", Context::Hardirq),
            ("..s1.", Context::Softirq),
            ("d..h1..", Context::Hardirq),
        ] {
            assert_eq!(context(&format!("  a-1 [0] {flags} 1.000001: e: b")), Some(expected), "{flags}");
        }
        assert_eq!(context("  a-1 [0] 1.000001: e: b"), Some(Context::Unknown));
    }

    #[test]
    fn flags_tell_who_is_to_leave() {
        let need_resched = |line: &str| Line::parse(line.as_bytes()).map(|l| l.need_resched);
        for (flags, expected) in [
            ("d.h2.", NeedResched::No),
            ("dNh2.", NeedResched::Yes),
            ("dnh2.", NeedResched::Yes),
            ("dBh2.", NeedResched::Yes),
            ("dbs2.", NeedResched::Yes),
            ("dLh2.", NeedResched::Lazy),
            ("dl.2.", NeedResched::Lazy),
            ("dp.2.", NeedResched::No),
            ("dn.h4..", NeedResched::Yes),
            ("d.Lh4..", NeedResched::Lazy),
        ] {
            assert_eq!(need_resched(&format!("  a-1 [0] {flags} 1.000001: e: b")), Some(expected), "{flags}");
        }
        assert_eq!(need_resched("  a-1 [0] 1.000001: e: b"), Some(NeedResched::Unknown));
    }

    #[test]
    fn the_process_column() {
        let tgid = |line: &str| Line::parse(line.as_bytes()).and_then(|l| l.tgid);
        assert_eq!(tgid("  a-12 (    7) [000] .... 1.0: e: b"), Some(Pid(7)));
        assert_eq!(tgid("  a-12 (-----) [000] .... 1.0: e: b"), None);
        assert_eq!(tgid("  a-12 [000] .... 1.0: e: b"), None);
    }

    #[test]
    fn names_with_every_separator_in_them() {
        check(" a b-c:d [1] x-17 [002] d... 2.5: e: b", ("a b-c:d [1] x", 17, 2, 2_500_000_000, "e", "b"));
        check(" [002] d... 9-17 [002] d... 2.5: e: b", ("[002] d... 9", 17, 2, 2_500_000_000, "e", "b"));
        check(" (x)-17 [002] d... 2.5: e: b", ("(x)", 17, 2, 2_500_000_000, "e", "b"));
        check(" --17 [002] d... 2.5: e: b", ("-", 17, 2, 2_500_000_000, "e", "b"));
        check(" -17 [002] d... 2.5: e: b", ("", 17, 2, 2_500_000_000, "e", "b"));
        check("<...>-17 [002] 2.5: e: [3] 4.5: f: g", ("<...>", 17, 2, 2_500_000_000, "e", "[3] 4.5: f: g"));
    }

    #[test]
    fn functions_have_no_event_name() {
        check(
            " a-1 [0] .... 1.5: do_exit <-do_group_exit",
            ("a", 1, 0, 1_500_000_000, "", "do_exit <-do_group_exit"),
        );
    }

    #[test]
    fn times_without_a_point_are_ticks() {
        let time = Line::parse(b" a-1 [0] .... 123456: e: b").map(|l| l.time);
        assert_eq!(time, Some(Time { value: 123_456, decimals: 0 }));
    }

    #[test]
    fn lines_that_are_no_events() {
        for line in [
            "",
            "# tracer: nop",
            "CPU:1 [LOST 5 EVENTS]",
            " => do_exit",
            "a-1 [0]",
            "a-1 [0] ....",
            "a-1 [0] .... 1.5",
            "a-1 [0] .... 1.: e",
            "a-1 [x] .... 1.5: e: b",
            "a [0] .... 1.5: e: b",
            "a-99999999999 [0] .... 1.5: e: b",
            "a-1 [0] .... 99999999999999.5: e: b",
        ] {
            assert_eq!(Line::parse(line.as_bytes()), None, "{line}");
        }
    }
}
