//! What is to become better, and what has to hold besides.

use crate::error::Error;
use crate::expression::resolve;
use lab::Nanos;
use schema::{Metric, TuneDirection, Unit};
use workload::units;

/// What is to become better.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// As it was given.
    pub text: String,
    /// Where to.
    pub direction: TuneDirection,
}

impl Goal {
    /// The figure that it means.
    ///
    /// # Errors
    /// As [`resolve`].
    pub fn metric(&self, metrics: &[Metric]) -> Result<Metric, Error> {
        resolve(&self.text, metrics).cloned()
    }

    /// A difference in the direction of the goal is below zero.
    pub(crate) fn signed(&self, difference: f64) -> f64 {
        match self.direction {
            TuneDirection::Minimize => difference,
            TuneDirection::Maximize => -difference,
        }
    }
}

/// A condition, with the figure that it is about.
#[derive(Clone, PartialEq, Debug)]
pub struct Constraint {
    /// As it was given.
    pub text: String,
    /// The figure.
    pub metric: Metric,
    side: Side,
    /// Whether the bound itself is allowed.
    or_equal: bool,
    bound: Bound,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Below,
    Above,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Bound {
    /// In the metric's unit.
    Fixed(f64),
    /// So many times what the base has under the same seed.
    OfBase(f64),
}

const FORM: &str =
    "write FIGURE < BOUND or FIGURE > BOUND, where BOUND is a value (300us, 20) or 1.05 x base";

impl Constraint {
    /// Reads `hackbench time < 1.05 x base`, `max(cyclictest) <= 300us`.
    ///
    /// # Errors
    /// No such form, a figure that no run has, a bound that does not fit its unit.
    pub fn parse(text: &str, metrics: &[Metric]) -> Result<Constraint, Error> {
        let fault = |problem: String| Error::Constraint { text: text.to_owned(), problem };
        let at = text.find(['<', '>']).ok_or_else(|| fault(FORM.to_owned()))?;
        let side = if text[at..].starts_with('<') { Side::Below } else { Side::Above };
        let rest = &text[at + 1..];
        let or_equal = rest.starts_with('=');
        let metric = resolve(&text[..at], metrics)?.clone();
        let bound = bound(rest.strip_prefix('=').unwrap_or(rest).trim(), metric.unit).map_err(fault)?;
        Ok(Constraint { text: text.to_owned(), metric, side, or_equal, bound })
    }

    /// What a figure may be at most, or at least, where the base has this one.
    pub(crate) fn bound(&self, base: f64) -> f64 {
        match self.bound {
            Bound::Fixed(bound) => bound,
            Bound::OfBase(times) => times * base,
        }
    }

    /// By how much a figure is beyond the bound; below zero: it is within.
    pub(crate) fn beyond(&self, base: f64, with: f64) -> f64 {
        match self.side {
            Side::Below => with - self.bound(base),
            Side::Above => self.bound(base) - with,
        }
    }

    /// Whether a figure that is so far beyond its bound is within it.
    pub(crate) fn allows(&self, beyond: f64) -> bool {
        beyond < 0.0 || self.or_equal && beyond == 0.0
    }
}

/// A value in the unit of a figure: `300us`, `20`.
///
/// # Errors
/// No such value; says what to write.
pub(crate) fn value(text: &str, unit: Unit) -> Result<u64, String> {
    match bound(text.trim(), unit)? {
        Bound::Fixed(value) => Ok(value as u64),
        Bound::OfBase(_) => Err("there is no base here; write a value, such as 300us or 20".to_owned()),
    }
}

fn bound(text: &str, unit: Unit) -> Result<Bound, String> {
    if let Some(factor) = text.strip_suffix("base") {
        let factor = factor.trim_end().trim_end_matches(['x', '*', '×']).trim_end();
        let times = if factor.is_empty() { Some(1.0) } else { factor.parse().ok() };
        return match times {
            Some(times) if f64::is_finite(times) && times > 0.0 => Ok(Bound::OfBase(times)),
            _ => Err(format!("`{factor}` is no factor above 0; {FORM}")),
        };
    }
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    match (unit, number) {
        (Unit::Count, Some(number)) => Ok(Bound::Fixed(number)),
        (Unit::Count, None) => Err(format!("`{text}` is no number; {FORM}")),
        (Unit::Nanoseconds, Some(number)) if number > 0.0 => {
            Err(format!("this figure is a time, and `{text}` has no unit; write 300us, 20ms or 1.5s"))
        }
        (Unit::Nanoseconds, _) => {
            let time = units::duration(text, Nanos::from_secs(1));
            Ok(Bound::Fixed(time.map_err(|problem| format!("{problem}; {FORM}"))?.0 as f64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Better;

    fn metrics() -> Vec<Metric> {
        let metric = |key: &str, unit: Unit| Metric {
            key: key.to_owned(),
            label: key.replace('.', " "),
            unit,
            better: Better::Lower,
            resolution: 1,
            headline: false,
        };
        vec![metric("hackbench.time", Unit::Nanoseconds), metric("totals.migrations", Unit::Count)]
    }

    fn parsed(text: &str) -> Constraint {
        Constraint::parse(text, &metrics()).expect(text)
    }

    #[test]
    fn a_bound_is_a_value_or_a_multiple_of_the_base() {
        for text in
            ["hackbench time < 1.05 x base", "time(hackbench)<1.05*base", "hackbench.time <1.05x base"]
        {
            let constraint = parsed(text);
            assert_eq!(constraint.beyond(100.0, 104.0), -1.0, "{text}");
            assert!(constraint.beyond(100.0, 106.0) > 0.0, "{text}");
        }
        assert_eq!(parsed("hackbench time < 20ms").beyond(0.0, 21e6), 1e6);
        assert_eq!(parsed("totals.migrations > 0.5 x base").beyond(10.0, 6.0), -1.0);
        assert_eq!(parsed("totals migrations >= 7").beyond(0.0, 7.0), 0.0);
        assert!(
            parsed("totals migrations >= base").allows(0.0)
                && !parsed("totals migrations > base").allows(0.0)
        );
    }

    #[test]
    fn what_is_no_condition_says_what_to_write() {
        for (text, said) in [
            ("hackbench time", "write FIGURE < BOUND"),
            ("hackbench time < 20", "has no unit; write 300us"),
            ("hackbench time < soon", "write FIGURE < BOUND"),
            ("hackbench time < -1 x base", "no factor above 0"),
            ("totals.migrations < many", "is no number"),
            ("hackbench tme < base", "did you mean `hackbench time`?"),
        ] {
            let error = Constraint::parse(text, &metrics()).expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
