//! Axes of charts.

use crate::numbers::digits3;
use std::ops::Range;

/// An axis: logarithmic where the values span more than a decade, otherwise linear from zero; or names.
pub(super) struct Scale {
    names: Vec<(u64, String)>,
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Scale {
    pub fn of(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let logarithmic = low > 0.0 && high / low > 10.0;
        let low = if logarithmic { low } else { low.min(0.0) };
        Scale { names: Vec::new(), logarithmic, low, high }
    }

    /// One step for each name, whatever was left out between them.
    pub fn of_names(names: &[(u64, String)]) -> Scale {
        Scale { names: names.to_vec(), logarithmic: false, low: 1.0, high: names.len() as f64 }
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

    pub fn labels(&self) -> usize {
        let range = self.range();
        if !self.names.is_empty() {
            return self.names.len();
        }
        if self.logarithmic { (range.end - range.start).ceil() as usize + 1 } else { 10 }
    }

    /// Powers of two on a logarithmic axis.
    pub fn label(&self, at: f64) -> String {
        if !self.names.is_empty() {
            let here = self.names.get((at as usize).wrapping_sub(1)).filter(|_| at.fract() == 0.0);
            return here.map_or(String::new(), |(_, name)| name.clone());
        }
        let value = match (self.logarithmic, at.fract() == 0.0) {
            (true, false) => return String::new(),
            (true, true) => at.exp2(),
            (false, _) => at,
        };
        match value.abs() {
            _ if value.fract() == 0.0 => value.to_string(),
            // Two decimals would not tell them apart.
            size if size < 0.001 => format!("{value:.1e}"),
            size if size < 0.1 => format!("{value:.4}").trim_end_matches('0').to_owned(),
            _ => digits3(value),
        }
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
    }

    #[test]
    fn an_axis_is_logarithmic_over_more_than_a_decade() {
        let labels = |values: [f64; 2]| {
            let scale = Scale::of(values.into_iter());
            (scale.logarithmic, scale.label(scale.place(values[1])))
        };
        assert_eq!(labels([2.0, 256.0]), (true, "256".to_owned()));
        assert_eq!(labels([2.0, 8.0]), (false, "8".to_owned()));
    }

    #[test]
    fn small_values_are_told_apart_and_readable() {
        let scale = Scale::of([0.0, 0.08].into_iter());
        assert_eq!([0.05, 0.0125, 0.0002].map(|value| scale.label(value)), ["0.05", "0.0125", "2.0e-4"]);
    }
}
