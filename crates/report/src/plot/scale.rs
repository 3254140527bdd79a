//! Axes of charts.

use crate::numbers::{digits3, digits4};
use std::ops::Range;

/// What stands on an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// Numbers.
    Number,
    /// Times, nanoseconds: labels have the unit that suits.
    Time,
    /// Parts of a whole, per cent.
    Share,
}

/// An axis: logarithmic where the values span more than a decade, otherwise linear from zero; or names.
pub(super) struct Scale {
    names: Vec<(u64, String)>,
    quantity: Quantity,
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Scale {
    pub fn of(values: impl Iterator<Item = f64>, quantity: Quantity) -> Scale {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let logarithmic = low > 0.0 && high / low > 10.0;
        let low = if logarithmic { low } else { low.min(0.0) };
        Scale { names: Vec::new(), quantity, logarithmic, low, high }
    }

    /// One step for each name, whatever was left out between them.
    pub fn of_names(names: &[(u64, String)]) -> Scale {
        let high = names.len() as f64;
        let quantity = Quantity::Number;
        Scale { names: names.to_vec(), quantity, logarithmic: false, low: 1.0, high }
    }

    pub fn place(&self, value: f64) -> f64 {
        match self.names.iter().position(|(number, _)| *number == value as u64) {
            Some(rank) => rank as f64 + 1.0,
            None if self.logarithmic => value.log2(),
            None => value,
        }
    }

    /// With some room at the ends.
    pub fn range(&self) -> Range<f64> {
        let (low, high) = match self.names.len() {
            0 => (self.place(self.low), self.place(self.high)),
            _ => (self.low, self.high),
        };
        let room = (high - low).max(f64::MIN_POSITIVE) * 0.06;
        if self.logarithmic || !self.names.is_empty() { low - room..high + room } else { low..high + room }
    }

    /// Where labels stand: at names; of numbers on a logarithmic axis at powers of two, of times at 1, 2 and
    /// 5 times powers of ten, or at these alone where they are many; on a linear axis at equal steps.
    pub fn points(&self) -> Vec<f64> {
        let range = self.range();
        if !self.names.is_empty() {
            return (1..=self.names.len()).map(|rank| rank as f64).collect();
        }
        if !self.logarithmic {
            let step = round_step((range.end - range.start) / MOST_LABELS);
            let first = (range.start / step).ceil() as i64;
            let last = (range.end / step).floor() as i64;
            return (first..=last).map(|number| number as f64 * step).collect();
        }
        match self.quantity {
            Quantity::Number => {
                (range.start.ceil() as i64..=range.end.floor() as i64).map(|power| power as f64).collect()
            }
            Quantity::Time | Quantity::Share => {
                let [first, last] = [range.start, range.end].map(|place| place.exp2().log10());
                let digits: &[f64] = if last - first > 4.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let powers = first.floor() as i32..=last.ceil() as i32;
                let values =
                    powers.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
                values.map(f64::log2).filter(|place| range.contains(place)).collect()
            }
        }
    }

    pub fn label(&self, at: f64) -> String {
        if !self.names.is_empty() {
            let here = self.names.get((at as usize).wrapping_sub(1)).filter(|_| at.fract() == 0.0);
            return here.map_or(String::new(), |(_, name)| name.clone());
        }
        let value = if self.logarithmic { at.exp2() } else { at };
        match self.quantity {
            Quantity::Time => time(value),
            Quantity::Share => share(value),
            Quantity::Number => number(value),
        }
    }
}

/// Labels of a linear axis.
const MOST_LABELS: f64 = 10.0;

/// The least step that is 1, 2 or 5 times a power of ten and not below this.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|digit| digit * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

/// A time in the unit that suits: `2.5 ms`.
fn time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    // What should be a thousand may be a little less.
    let found = units.into_iter().find(|(scale, _)| ns.abs() >= 0.999_95 * scale);
    let (scale, name) = found.unwrap_or((1.0, "ns"));
    if ns == 0.0 { "0".to_owned() } else { format!("{} {name}", digits4(ns / scale)) }
}

/// A share in per cent: of millions, one in ten millions may be drawn.
fn share(percent: f64) -> String {
    let small = format!("{percent:.7}");
    match percent {
        0.0 | 0.001.. => format!("{} %", digits4(percent)),
        _ => format!("{} %", small.trim_end_matches('0')),
    }
}

fn number(value: f64) -> String {
    // Steps add up to what is nearly a whole number.
    let near = value.round();
    match value.abs() {
        _ if (value - near).abs() < 1e-9 * value.abs().max(1.0) => near.to_string(),
        // Two decimals would not tell them apart.
        size if size < 0.001 => format!("{value:.1e}"),
        size if size < 0.1 => format!("{value:.4}").trim_end_matches('0').to_owned(),
        _ => digits3(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a quick run leaves out takes no room.
    #[test]
    fn an_axis_of_names_has_a_step_for_each() {
        let scale = Scale::of_names(&[(1, "2.6.36".to_owned()), (8, "6.18".to_owned())]);
        let labels = [1.0, 8.0].map(|at| scale.label(scale.place(at)));
        assert_eq!(labels, ["2.6.36", "6.18"]);
        assert_eq!((scale.place(8.0), scale.label(1.5).as_str()), (2.0, ""));
        assert_eq!(scale.points(), [1.0, 2.0]);
    }

    fn labels(values: [f64; 2], quantity: Quantity) -> Vec<String> {
        let scale = Scale::of(values.into_iter(), quantity);
        scale.points().into_iter().map(|at| scale.label(at)).collect()
    }

    #[test]
    fn an_axis_is_logarithmic_over_more_than_a_decade() {
        assert_eq!(labels([2.0, 64.0], Quantity::Number), ["2", "4", "8", "16", "32", "64"]);
        assert_eq!(labels([2.0, 8.0], Quantity::Number), ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    }

    #[test]
    fn times_have_the_unit_that_suits() {
        let logarithmic = labels([300.0, 20_000.0], Quantity::Time);
        assert_eq!(logarithmic, ["500 ns", "1 µs", "2 µs", "5 µs", "10 µs", "20 µs"]);
        assert_eq!(labels([1.0, 1e9], Quantity::Time)[..4], ["1 ns", "10 ns", "100 ns", "1 µs"]);
        let linear = labels([1_000_000.0, 4_500_000.0], Quantity::Time);
        assert_eq!(linear[..4], ["0", "500 µs", "1 ms", "1.5 ms"]);
    }

    #[test]
    fn small_shares_are_told_apart() {
        let scale = Scale::of([1e-5, 100.0].into_iter(), Quantity::Share);
        let labels: Vec<String> = scale.points().into_iter().map(|at| scale.label(at)).collect();
        assert_eq!(labels[..4], ["0.00001 %", "0.0001 %", "0.001 %", "0.01 %"]);
        assert_eq!(labels.last().map(String::as_str), Some("100 %"));
    }

    #[test]
    fn small_values_are_told_apart_and_readable() {
        let scale = Scale::of([0.0, 0.08].into_iter(), Quantity::Number);
        assert_eq!([0.05, 0.0125, 0.0002].map(|value| scale.label(value)), ["0.05", "0.0125", "2.0e-4"]);
        let steps: Vec<String> = scale.points().into_iter().map(|at| scale.label(at)).collect();
        assert_eq!(steps[..3], ["0", "0.01", "0.02"]);
    }
}
