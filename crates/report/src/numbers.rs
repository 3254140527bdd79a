//! Numbers as people read them: three significant digits, the unit that suits, at most seven characters.

pub use crate::stats::nine_digits;

/// A duration in nanoseconds: `0`, `87ns`, `12.4us`, `1.23ms`, `45.0s`, `-3.10us`. From 100000 s on in hours,
/// for sums over many CPUs.
pub fn duration(ns: f64) -> String {
    if ns.abs() >= 99_999.5e9 {
        return format!("{}h", digits3(ns / 3_600e9));
    }
    scaled(ns, &[(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")])
}

/// [`duration`] of a counter.
pub fn duration_ns(ns: u64) -> String {
    duration(ns as f64)
}

/// A duration without rounding, in the largest unit that gives a whole number and in the syntax that options
/// take: `2s`, `1500ms`, `100us`, `7ns`.
pub fn exact_duration(ns: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.iter().find(|(scale, _)| ns.is_multiple_of(*scale)) {
        Some((scale, name)) => format!("{}{name}", ns / scale),
        None => format!("{ns}ns"),
    }
}

/// A moment of a run, to a thousandth of the unit that suits: `8.036s`, `1.5s`, `250us`. A moment that nobody
/// chose is exact in JSON only.
pub fn moment(ns: u64) -> String {
    let units = [(1_000_000_000u64, "s"), (1_000_000, "ms"), (1_000, "us")];
    let Some((scale, name)) = units.iter().find(|(scale, _)| ns >= *scale) else {
        return if ns == 0 { "0s".to_owned() } else { format!("{ns}ns") };
    };
    let step = scale / 1_000;
    let thousandths = ns / step + u64::from(ns % step >= step.div_ceil(2));
    let number = format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    format!("{}{name}", number.trim_end_matches('0').trim_end_matches('.'))
}

/// A moment without rounding, in the unit that suits and in the syntax that options take: `1.0005016s`,
/// `920us`.
pub fn exact_moment(ns: u64) -> String {
    let units = [(1_000_000_000u64, "s"), (1_000_000, "ms"), (1_000, "us")];
    let Some((scale, name)) = units.iter().find(|(scale, _)| ns >= *scale) else { return moment(ns) };
    let number = format!("{}.{:0width$}", ns / scale, ns % scale, width = scale.ilog10() as usize);
    format!("{}{name}", number.trim_end_matches('0').trim_end_matches('.'))
}

/// A number of things: `0`, `12.5`, `123456`, `1.23M`.
pub fn count(number: f64) -> String {
    if number.abs() < 999_999.5 {
        if number.fract() == 0.0 || number.abs() >= 999.5 { format!("{number:.0}") } else { digits3(number) }
    } else {
        scaled(number, &[(1e6, "M"), (1e9, "G"), (1e12, "T")])
    }
}

/// [`count`] of a counter.
pub fn count_u64(number: u64) -> String {
    count(number as f64)
}

/// A number of things by the name of one: `1 task`, `2 tasks`, `2 switches`.
pub fn many(count: u64, name: &str) -> String {
    format!("{count} {}", plural(count, name))
}

/// The name of so many things: `task` of one, else `tasks`.
pub fn plural(count: u64, name: &str) -> String {
    let ending = match count {
        1 => "",
        _ if name.ends_with("ch") || name.ends_with('s') => "es",
        _ => "s",
    };
    format!("{name}{ending}")
}

/// A relative change: in per cent with its sign, `+3.2%`, `-67.7%`, from tenfold on as a factor, `x75.3`.
pub fn change(share: f64) -> String {
    if share >= 9.0 {
        return format!("x{}", if share < 999.0 { digits3(1.0 + share) } else { count(1.0 + share) });
    }
    let percent = share * 100.0;
    let text = if percent.abs() < 99.95 { format!("{percent:+.1}%") } else { format!("{percent:+.0}%") };
    if text == "-0.0%" { "+0.0%".to_owned() } else { text }
}

/// Three significant digits.
pub fn digits3(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude < 9.995 {
        format!("{number:.2}")
    } else if magnitude < 99.95 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

/// Four significant digits, without noughts at the end; large whole numbers stay whole.
pub fn digits4(number: f64) -> String {
    let magnitude = number.abs();
    let decimals = match magnitude {
        _ if magnitude < 1e-9 => 0,
        _ if magnitude >= 1e3 => 0,
        _ if magnitude >= 1e2 => 1,
        _ if magnitude >= 1e1 => 2,
        _ if magnitude >= 1.0 => 3,
        _ => 4,
    };
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `value` in the largest unit in which it does not start with "0.".
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    // 999.5 of one unit would print as 1000 of it.
    let fits = |(scale, _): &&(f64, &str)| (value / scale).abs() < 999.5;
    let &(scale, name) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
    let number = value / scale;
    // Whole nanoseconds and the like need no decimals.
    if scale == 1.0 && number.fract() == 0.0 {
        format!("{number:.0}{name}")
    } else {
        format!("{}{name}", digits3(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact_and_easy_to_read() {
        let cases = [
            (0, "0s"),
            (7, "7ns"),
            (920_000, "920us"),
            (43_550_123, "43.550123ms"),
            (100_000_000, "100ms"),
            (5_000_000_000, "5s"),
            (1_000_501_600, "1.0005016s"),
            (5_224_619_790_608, "5224.619790608s"),
        ];
        for (ns, text) in cases {
            assert_eq!(exact_moment(ns), text);
        }
    }

    #[test]
    fn durations_keep_three_digits_in_the_unit_that_suits() {
        let cases = [
            (0.0, "0"),
            (7.0, "7ns"),
            (7.25, "7.25ns"),
            (999.0, "999ns"),
            (999.6, "1.00us"),
            (12_440.0, "12.4us"),
            (999_499.0, "999us"),
            (999_500.0, "1.00ms"),
            (1_234_567.0, "1.23ms"),
            (45e9, "45.0s"),
            (86_400e9, "86400s"),
            (-360_000e9, "-100h"),
            (-3_100.0, "-3.10us"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(ns), text, "{ns} ns");
        }
    }

    #[test]
    fn four_digits_are_kept_and_noughts_are_not() {
        let texts = [0.0, 0.01234, 1.5, 26.6667, 1234.5, 166_000.0, -0.25].map(digits4);
        assert_eq!(texts, ["0", "0.0123", "1.5", "26.67", "1234", "166000", "-0.25"]);
    }

    #[test]
    fn one_thing_is_no_things() {
        assert_eq!(
            [many(1, "task"), many(0, "task"), many(2, "switch")],
            ["1 task", "0 tasks", "2 switches"]
        );
    }

    #[test]
    fn exact_durations_can_be_given_back_as_options() {
        for (ns, text) in
            [(2_000_000_000, "2s"), (1_500_000_000, "1500ms"), (100_000, "100us"), (1_007, "1007ns")]
        {
            assert_eq!(exact_duration(ns), text);
        }
    }

    #[test]
    fn moments_are_told_to_a_thousandth() {
        for (ns, text) in [
            (8_035_865_566, "8.036s"),
            (1_500_000_000, "1.5s"),
            (10_000_000_000, "10s"),
            (250_000, "250us"),
            (1_007, "1.007us"),
            (7, "7ns"),
            (0, "0s"),
            (999_999_600, "1000ms"),
            (u64::MAX, "18446744073.71s"),
        ] {
            assert_eq!(moment(ns), text);
        }
    }

    #[test]
    fn counts_are_plain_up_to_a_million() {
        let cases = [
            (0.0, "0"),
            (12.0, "12"),
            (12.5, "12.5"),
            (0.333, "0.33"),
            (1234.4, "1234"),
            (999_999.0, "999999"),
            (1_000_000.0, "1.00M"),
            (36_423_000.0, "36.4M"),
            (9_876_543_210.0, "9.88G"),
            (-1.5, "-1.50"),
        ];
        for (number, text) in cases {
            assert_eq!(count(number), text, "{number}");
        }
    }

    #[test]
    fn a_change_is_per_cent_with_a_sign_or_a_large_factor() {
        let cases = [(0.032, "+3.2%"), (-0.677, "-67.7%"), (4.0, "+400%"), (74.3, "x75.3"), (2e6, "x2.00M")];
        for (share, text) in cases.into_iter().chain([(-0.0001, "+0.0%"), (-1.0, "-100%")]) {
            assert_eq!(change(share), text);
        }
    }
}
