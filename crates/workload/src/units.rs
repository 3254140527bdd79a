//! How people write times, shares and CPU lists on a command line.

use scheduler::{CpuId, CpuMask, DlParams, Nanos};
use std::ops::RangeInclusive;

/// Ticks a second with which a kernel can run: those of the tunable `hz`.
pub(crate) const HZ: RangeInclusive<u32> = 24..=10_000;

/// Units of time in nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A duration such as `100us`, `1.5ms`, `10s`, `1m`, `2h`, `1d`. A number without a unit counts in
/// `default_unit`. Decimals beyond a nanosecond are cut off. The error says what is wrong with `text`,
/// without naming an option.
pub fn duration(text: &str, default_unit: Nanos) -> Result<Nanos, String> {
    if text.starts_with('-') {
        return Err("not a time: it cannot be negative".to_string());
    }
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    let unit = match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, ns)) => *ns,
        None if unit.is_empty() => default_unit.0,
        None => return Err(format!("unknown unit '{unit}': use ns, us, ms, s, m, h or d")),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err("not a time: write a number and a unit, such as 100us or 10s".to_string());
    }
    let too_long = || "too long: at most 584 years".to_string();
    let mut ns = match whole {
        "" => 0,
        _ => whole.parse::<u64>().ok().and_then(|w| w.checked_mul(unit)).ok_or_else(too_long)?,
    };
    // Fifteen decimals of a day are below a nanosecond.
    let (mut decimals, mut scale) = (0u128, 1u128);
    for digit in fraction.bytes().take(15) {
        decimals = decimals * 10 + u128::from(digit - b'0');
        scale *= 10;
    }
    let part = (decimals * u128::from(unit) / scale) as u64;
    ns = ns.checked_add(part).ok_or_else(too_long)?;
    Ok(Nanos(ns))
}

/// As [`duration`], and above zero.
pub fn positive_duration(text: &str, default_unit: Nanos) -> Result<Nanos, String> {
    match duration(text, default_unit)? {
        Nanos::ZERO => Err("must be above 0".to_string()),
        time => Ok(time),
    }
}

/// What the options of loads may be at most. Products and sums of them stay below the 584 years that can be
/// counted.
const LONGEST_STEP: Limit = Limit { most: Nanos(3_600_000_000_000), text: "1h" };
const LONGEST_PERIOD: Limit = Limit { most: Nanos(10 * 86_400_000_000_000), text: "10d" };
const LONGEST_RUN: Limit = Limit { most: Nanos(3_650 * 86_400_000_000_000), text: "3650d" };
const LARGEST_BYTES: u64 = 1 << 40;

struct Limit {
    most: Nanos,
    text: &'static str,
}

impl Limit {
    fn check(&self, time: Nanos) -> Result<Nanos, String> {
        if time <= self.most { Ok(time) } else { Err(format!("too long: at most {}", self.text)) }
    }
}

/// What a step of a program costs, at most an hour; nanoseconds where no unit is written.
pub(crate) fn step_nanos(text: &str) -> Result<Nanos, String> {
    LONGEST_STEP.check(duration(text, Nanos(1))?)
}

/// A time such as a period, at most ten days; microseconds where no unit is written.
pub(crate) fn micros(text: &str) -> Result<Nanos, String> {
    LONGEST_PERIOD.check(duration(text, Nanos::from_micros(1))?)
}

/// As [`micros`], and above zero.
pub(crate) fn micros_above_zero(text: &str) -> Result<Nanos, String> {
    LONGEST_PERIOD.check(positive_duration(text, Nanos::from_micros(1))?)
}

/// As [`micros`]; milliseconds where no unit is written.
pub(crate) fn millis(text: &str) -> Result<Nanos, String> {
    LONGEST_PERIOD.check(duration(text, Nanos::from_millis(1))?)
}

/// As [`millis`], and above zero.
pub(crate) fn millis_above_zero(text: &str) -> Result<Nanos, String> {
    LONGEST_PERIOD.check(positive_duration(text, Nanos::from_millis(1))?)
}

/// A slice as sched_setattr keeps it (eevdf-class 0.6); microseconds where no unit is written.
pub(crate) fn slice(text: &str) -> Result<Nanos, String> {
    let slice = positive_duration(text, Nanos::from_micros(1))?;
    let fits = scheduler::fair::CUSTOM_SLICES.contains(&slice);
    fits.then_some(slice).ok_or_else(|| "slices are 100 us to 100 ms".to_owned())
}

/// Run time, deadline and period of SCHED_DEADLINE as `10ms/30ms/100ms`; a missing period is that of the
/// deadline (deadline-groups A2). Microseconds where no unit is written.
pub(crate) fn deadline(text: &str) -> Result<DlParams, String> {
    let mut times = text.splitn(3, '/').map(|time| duration(time, Nanos::from_micros(1)));
    let mut next = || times.next().transpose();
    let (Some(runtime), Some(deadline)) = (next()?, next()?) else {
        return Err("write RUNTIME/DEADLINE/PERIOD, such as 10ms/30ms/100ms, or RUNTIME/PERIOD".to_owned());
    };
    let period = next()?.unwrap_or(deadline);
    DlParams::new(runtime, deadline, period).map_err(|why| why.to_string())
}

/// How long something goes on, at most ten years; seconds where no unit is written.
pub(crate) fn seconds(text: &str) -> Result<Nanos, String> {
    LONGEST_RUN.check(duration(text, Nanos::from_secs(1))?)
}

/// As [`seconds`], and above zero.
pub(crate) fn seconds_above_zero(text: &str) -> Result<Nanos, String> {
    LONGEST_RUN.check(positive_duration(text, Nanos::from_secs(1))?)
}

/// A list of CPUs such as `0-3,8`, ascending within each range.
pub fn cpu_list(text: &str) -> Result<CpuMask, String> {
    let mut mask = CpuMask::EMPTY;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let cpu = |digits: &str| match digits.parse::<u16>() {
            Ok(n) if usize::from(n) < CpuId::LIMIT => Ok(n),
            Ok(n) => Err(format!("CPU {n} is beyond the largest, {}", CpuId::LIMIT - 1)),
            Err(_) => Err(format!("'{part}' is not a CPU or a range: write a list such as 0-3,8")),
        };
        let (first, last) = (cpu(first)?, cpu(last)?);
        if first > last {
            return Err(format!("the range {part} goes backwards"));
        }
        (first..=last).for_each(|n| mask.insert(CpuId(n)));
    }
    Ok(mask)
}

/// A share of one CPU in parts per million, 1 to 1 000 000: `0.35`, `.35` or `35%`.
pub fn share_ppm(text: &str) -> Result<u64, String> {
    // A nanosecond of a time in milliseconds is a millionth.
    let (number, whole) = match text.strip_suffix('%') {
        Some(percent) => (percent, 10_000),
        None => (text, 1_000_000),
    };
    match duration(number, Nanos(whole)) {
        Ok(Nanos(ppm @ 1..=1_000_000)) if number.bytes().all(|b| b.is_ascii_digit() || b == b'.') => Ok(ppm),
        _ => Err("not a share of a CPU: write a number above 0 and up to 1, such as 0.35 or 35%".to_string()),
    }
}

/// A size in bytes with an optional K, M or G (powers of 1024), at most 1024G.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let size = number.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    match size {
        Some(size @ ..=LARGEST_BYTES) => Ok(size),
        Some(_) => Err("too large: at most 1024G".to_string()),
        None => Err("not a size: write a number of bytes, or one with K, M or G".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let us = Nanos::from_micros(1);
        let cases = [
            ("100", 100_000),
            ("100us", 100_000),
            ("100µs", 100_000),
            ("5ms", 5_000_000),
            ("1.5ms", 1_500_000),
            (".25s", 250_000_000),
            ("2.", 2_000),
            ("0.0019", 1),
            ("10s", 10_000_000_000),
            ("1m", 60_000_000_000),
            ("1h", 3_600_000_000_000),
            ("0.1h", 360_000_000_000),
            ("1d", 86_400_000_000_000),
            ("7ns", 7),
            ("0", 0),
        ];
        for (text, ns) in cases {
            assert_eq!(duration(text, us), Ok(Nanos(ns)), "{text}");
        }
        for text in ["", ".", "s", "1.2.3", "1 s", "-1", "5x", "ms5", "99999999999999999h", "1e3"] {
            assert!(duration(text, us).is_err(), "{text}");
        }
        assert_eq!(positive_duration("0s", us), Err("must be above 0".to_string()));
    }

    #[test]
    fn cpu_lists() {
        for (text, shown) in [("0", "0"), ("0-3,8", "0-3,8"), ("5,4,2-3", "2-5"), ("511", "511")] {
            assert_eq!(cpu_list(text).unwrap().to_string(), shown, "{text}");
        }
        for text in ["", "x", "3-1", "512", "1-", "-1", "0,,2"] {
            assert!(cpu_list(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_and_sizes() {
        for (text, ppm) in [("0.35", 350_000), (".35", 350_000), ("35%", 350_000), ("1", 1_000_000)] {
            assert_eq!(share_ppm(text), Ok(ppm), "{text}");
        }
        for text in ["0", "1.1", "101%", "x", "1ms", ""] {
            assert!(share_ppm(text).is_err(), "{text}");
        }
        for (text, size) in [("100", 100), ("4K", 4_096), ("2m", 2 << 20), ("1G", 1 << 30)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        assert!(bytes("K").is_err() && bytes("-1").is_err());
        assert_eq!(bytes("1024G"), Ok(1 << 40));
        assert_eq!(bytes("1025G"), Err("too large: at most 1024G".to_string()));
    }
}
