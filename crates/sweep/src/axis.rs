//! What a sweep varies, one thing an axis.

use crate::error::Error;
use lab::CpuMask;

/// Names of axes that mean a part of the experiment; any other stands as `{name}` in a load or the settings.
pub(crate) const PARTS: [&str; 5] = ["kernel", "cpus", "machine", "settings", "seed"];

/// Columns of the results that no axis can be called.
const COLUMNS: [&str; 5] = ["run", "error", "experiment", "events", "simulated_ns"];

/// Something that is varied, and its values in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
}

impl Axis {
    /// `kernel` (a profile, a release, a distribution), `cpus` (1 to 512), `machine` (a name or a file),
    /// `settings` (words as those of a comparison, on top of the experiment's; may be empty), `seed`, or the
    /// name of a parameter.
    ///
    /// # Errors
    /// No value, one that is there twice, a number of CPUs or a seed that is none, a name that cannot be.
    pub fn new(name: &str, values: Vec<String>) -> Result<Axis, Error> {
        let bad = |problem: String| Error::Axis { name: name.to_owned(), problem };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(is_word) {
            return Err(bad("a name has letters, digits, _ and - only".to_owned()));
        }
        if COLUMNS.contains(&name) {
            return Err(bad("the results have a column of this name; call it otherwise".to_owned()));
        }
        if values.is_empty() {
            return Err(bad("it has no values, so there would be no run; give it one at least".to_owned()));
        }
        if let Some((_, twice)) = values.iter().enumerate().find(|(n, value)| values[..*n].contains(value)) {
            return Err(bad(format!("the value `{twice}` is there twice; each counts once")));
        }
        let most = u32::try_from(CpuMask::BITS).unwrap_or(u32::MAX);
        let is_legal = |value: &String| match name {
            "cpus" => value.parse().is_ok_and(|cpus: u32| (1..=most).contains(&cpus)),
            "seed" => value.parse::<u64>().is_ok(),
            _ => true,
        };
        match values.iter().find(|value| !is_legal(value)) {
            Some(odd) if name == "cpus" => Err(bad(format!("`{odd}`: a machine has 1 to {most} CPUs"))),
            Some(odd) => Err(bad(format!("`{odd}` is no seed; seeds are whole numbers from 0"))),
            None => Ok(Axis { name: name.to_owned(), values }),
        }
    }

    /// The seeds from 1 to `count`.
    #[must_use]
    pub fn seeds(count: u32) -> Axis {
        Axis { name: "seed".to_owned(), values: (1..=count).map(|seed| seed.to_string()).collect() }
    }

    /// As it was given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// In the order given.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether it means a part of the experiment, and is no parameter.
    pub(crate) fn is_part(&self) -> bool {
        PARTS.contains(&self.name.as_str())
    }

    /// Its values as numbers, if all of them are.
    pub(crate) fn numbers(&self) -> Option<Vec<u64>> {
        self.values.iter().map(|value| value.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_that_cannot_be_is_refused_with_its_name() {
        let error = |name: &str, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            Axis::new(name, values).expect_err("impossible").to_string()
        };
        assert!(error("kernel", &[]).starts_with("axis `kernel`: it has no values"));
        assert!(error("cpus", &["2", "many"]).contains("`many`: a machine has 1 to 512 CPUs"));
        assert!(error("cpus", &["0"]).contains("1 to 512"));
        assert!(error("seed", &["-1"]).contains("`-1` is no seed"));
        assert!(error("t", &["1", "2", "1"]).contains("`1` is there twice"));
        assert!(error("run", &["1"]).contains("column"));
        assert!(error("a b", &["1"]).contains("letters"));
    }
}
