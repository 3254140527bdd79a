//! How times, priorities and texts are written.

use crate::deadlines;
use crate::groups::Group;
use crate::replay::recording::FairPolicy;
use crate::units;
use scheduler::{DlParams, Nanos};

/// Sums of a few times of this length are still far from the end of the clock.
const LONGEST: Nanos = Nanos::from_secs(365 * 24 * 3600);

/// A time in the largest unit in which it has a whole part, exact to the nanosecond.
pub(super) fn time(time: Nanos) -> String {
    let (unit, name, digits) = match time.0 {
        0..1_000 => return format!("{}ns", time.0),
        1_000..1_000_000 => (1_000, "us", 3),
        1_000_000..1_000_000_000 => (1_000_000, "ms", 6),
        _ => (1_000_000_000, "s", 9),
    };
    let decimals = format!("{:0digits$}", time.0 % unit);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{}{point}{decimals}{name}", time.0 / unit)
}

/// A difference, with its sign; empty for none.
pub(super) fn difference(ns: i64) -> String {
    match ns {
        0 => String::new(),
        _ => format!(" {}{}", if ns < 0 { '-' } else { '+' }, time(Nanos(ns.unsigned_abs()))),
    }
}

/// Reads a time. Unlike on a command line, a unit is required.
pub(super) fn read_time(text: &str) -> Result<Nanos, String> {
    if text.bytes().all(|b| b.is_ascii_digit()) && text != "0" {
        return Err(format!("`{text}` has no unit; write ns, us, ms or s behind it"));
    }
    match units::duration(text, Nanos(1)) {
        Ok(time) if time <= LONGEST => Ok(time),
        Ok(_) => Err(format!("`{text}` is too long: at most a year")),
        Err(problem) => Err(format!("`{text}`: {problem}")),
    }
}

/// Reads a difference with its sign.
pub(super) fn read_difference(text: &str) -> Result<i64, String> {
    let (negative, size) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(size), _) => (false, size),
        (_, Some(size)) => (true, size),
        _ => return Err(format!("`{text}` is no difference; write +3us or -3us")),
    };
    let ns = i64::try_from(read_time(size)?.0).map_err(|_| format!("`{text}` is too long"))?;
    Ok(if negative { -ns } else { ns })
}

/// A kernel priority as a policy.
pub(super) fn policy(prio: i32, round_robin: bool, fair: FairPolicy) -> String {
    match prio {
        -1 => "deadline".to_owned(),
        0..=98 => format!("{} {}", if round_robin { "rr" } else { "fifo" }, 99 - prio),
        100..=139 => format!("{} {}", fair_name(fair), prio - 120),
        other => format!("prio {other}"),
    }
}

/// With the word goes a nice value.
fn fair_name(fair: FairPolicy) -> &'static str {
    match fair {
        FairPolicy::Normal => "nice",
        FairPolicy::Batch => "batch",
        FairPolicy::Idle => "idle",
    }
}

/// A kernel priority, and which of the policies with such a priority it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ReadPolicy {
    pub prio: i32,
    pub round_robin: bool,
    pub fair: FairPolicy,
    pub deadline: Option<DlParams>,
}

/// Reads a policy.
pub(super) fn read_policy(words: &[&str]) -> Result<ReadPolicy, String> {
    const ADVICE: &str = "write fifo 1 to 99, rr 1 to 99, nice, batch or idle -20 to 19, or deadline and \
                          RUNTIME/DEADLINE/PERIOD";
    let number = |text: &str, range: std::ops::RangeInclusive<i32>| match text.parse::<i32>() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is out of range; {ADVICE}")),
    };
    let (prio, round_robin) = match words {
        ["deadline"] | ["deadline", _] => (-1, false),
        ["fifo", priority] => (99 - number(priority, 1..=99)?, false),
        ["rr", priority] => (99 - number(priority, 1..=99)?, true),
        ["nice" | "batch" | "idle", nice] => (120 + number(nice, -20..=19)?, false),
        ["prio", prio] => (number(prio, i32::MIN..=i32::MAX)?, false),
        _ => return Err(format!("`{}` is no policy; {ADVICE}", words.join(" "))),
    };
    let named = |fair: &FairPolicy| words.first() == Some(&fair_name(*fair));
    let fair = [FairPolicy::Batch, FairPolicy::Idle].into_iter().find(named).unwrap_or_default();
    let deadline = match words {
        ["deadline", params] => Some(deadlines::params(params)?),
        _ => None,
    };
    Ok(ReadPolicy { prio, round_robin, fair, deadline })
}

/// A text in one line.
pub(super) fn one_line(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

/// Takes [`one_line`] back.
pub(super) fn read_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            (c, false) => out.push(c),
        }
    }
    out
}

/// A number from `least` to `most`.
pub(super) fn number(text: &str, least: u32, most: u32) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is no number from {least} to {most}")),
    }
}

/// A task group: its path, then what is written into its files, `cpu.weight:300`.
pub(super) fn group(text: &str) -> Result<Group, String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let is_file = |word: &str| word.starts_with("cpu.") || word.starts_with("cpuset.");
    let is_path = |word: &&str| !(is_file(word) && word.contains(':'));
    let settings = words.split_off(words.iter().rposition(is_path).map_or(0, |last| last + 1));
    let mut group = Group::new(&words.join(" "))?;
    group.write(settings)?;
    group.settings().check()?;
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_differences_come_back() {
        for (ns, text) in [
            (0, "0ns"),
            (999, "999ns"),
            (1_000, "1us"),
            (1_500, "1.5us"),
            (1_234_567, "1.234567ms"),
            (10_000_000_001, "10.000000001s"),
        ] {
            assert_eq!(time(Nanos(ns)), text);
            assert_eq!(read_time(text), Ok(Nanos(ns)));
        }
        for ns in [-1, 3_000, -1_234_567] {
            assert_eq!(read_difference(difference(ns).trim()), Ok(ns));
        }
        assert!(read_time("100").is_err() && read_time("366d").is_err() && read_difference("3us").is_err());
    }

    #[test]
    fn policies_come_back() {
        for (prio, round_robin, fair, text) in [
            (9, false, FairPolicy::Normal, "fifo 90"),
            (98, true, FairPolicy::Normal, "rr 1"),
            (120, false, FairPolicy::Normal, "nice 0"),
            (139, false, FairPolicy::Normal, "nice 19"),
            (125, false, FairPolicy::Batch, "batch 5"),
            (120, false, FairPolicy::Idle, "idle 0"),
            (-1, false, FairPolicy::Normal, "deadline"),
        ] {
            assert_eq!(policy(prio, round_robin, fair), text);
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(read_policy(&words), Ok(ReadPolicy { prio, round_robin, fair, deadline: None }));
        }
        assert!(read_policy(&["fifo", "0"]).is_err() && read_policy(&["nice", "20"]).is_err());
        assert!(read_policy(&["batch"]).is_err());
    }

    #[test]
    fn texts_are_one_line_and_come_back() {
        for text in ["", " a\\nb\nc\r", "\\"] {
            assert!(!one_line(text).contains('\n'));
            assert_eq!(read_one_line(&one_line(text)), text);
        }
    }
}
