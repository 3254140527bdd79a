//! What is wanted of one figure.

use serde::Deserialize;

/// Limits, as a file says them. What it does not say is not wanted.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize)]
pub(super) struct Band {
    /// Not below this.
    at_least: Option<f64>,
    /// Not above this.
    at_most: Option<f64>,
    /// At most so far from the median of what was recorded.
    within_percent: Option<f64>,
    /// Within the range of what was recorded, widened by so much at both ends.
    range_within_percent: Option<f64>,
}

impl Band {
    pub fn is_relative(self) -> bool {
        self.within_percent.is_some() || self.range_within_percent.is_some()
    }

    pub fn wants_something(self) -> bool {
        self.is_relative() || self.at_least.is_some() || self.at_most.is_some()
    }

    pub fn check(self) -> Result<(), String> {
        let (least, most) =
            (self.at_least.unwrap_or(f64::NEG_INFINITY), self.at_most.unwrap_or(f64::INFINITY));
        // A limit that is no number is neither below nor above.
        if (least..=most).is_empty() {
            return Err("no figure can lie within these bounds: `at_least` goes up to `at_most`".to_owned());
        }
        Ok(())
    }

    /// From where to where, given what was recorded.
    fn limits(self, recorded: &[f64]) -> Option<(f64, f64)> {
        if !self.wants_something() {
            return None;
        }
        let mut limits = (self.at_least.unwrap_or(f64::NEG_INFINITY), self.at_most.unwrap_or(f64::INFINITY));
        let mut narrow = |least: f64, most: f64| limits = (limits.0.max(least), limits.1.min(most));
        if let Some((percent, median)) = self.within_percent.zip(report::validate::median(recorded.to_vec()))
        {
            narrow(median * (1.0 - percent / 100.0), median * (1.0 + percent / 100.0));
        }
        if let Some(percent) = self.range_within_percent {
            let least = recorded.iter().copied().fold(f64::INFINITY, f64::min);
            let most = recorded.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let widened = 1.0 + percent / 100.0;
            narrow(least / widened, most * widened);
        }
        Some(limits)
    }

    /// Whether a figure is as wanted; `None` where nothing is wanted.
    pub fn holds(self, recorded: &[f64], simulated: f64) -> Option<bool> {
        self.limits(recorded).map(|(least, most)| (least..=most).contains(&simulated))
    }

    /// `56 to 68`, `at most 25`.
    pub fn words(self, recorded: &[f64]) -> Option<String> {
        let digits = report::numbers::digits4;
        self.limits(recorded).map(|(least, most)| match (least.is_finite(), most.is_finite()) {
            (true, true) if least == most => digits(least),
            (true, true) => format!("{} to {}", digits(least), digits(most)),
            (true, false) => format!("at least {}", digits(least)),
            _ => format!("at most {}", digits(most)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_narrows_the_others() {
        let band = Band { at_most: Some(11.0), within_percent: Some(25.0), ..Band::default() };
        assert_eq!(band.words(&[8.0, 10.0, 12.0]).as_deref(), Some("7.5 to 11"));
        assert_eq!((band.holds(&[10.0], 7.5), band.holds(&[10.0], 11.5)), (Some(true), Some(false)));
        let range = Band { range_within_percent: Some(25.0), ..Band::default() };
        assert_eq!(range.words(&[100.0, 200.0]).as_deref(), Some("80 to 250"));
    }

    #[test]
    fn nothing_wanted_is_nothing_judged() {
        assert_eq!(Band::default().holds(&[1.0], 1e9), None);
        assert_eq!(Band::default().words(&[1.0]), None);
        let impossible = Band { at_least: Some(2.0), at_most: Some(1.0), ..Band::default() };
        assert!(impossible.check().is_err());
        let not_a_number = Band { at_least: Some(f64::NAN), ..Band::default() };
        assert!(not_a_number.check().is_err());
    }
}
