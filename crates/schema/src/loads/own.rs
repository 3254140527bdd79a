//! A load that somebody writes against the library: its figures are declared where they are counted.

use serde::{Deserialize, Serialize};

use super::Reports;
use super::threads::{ThreadResult, of_threads};
use crate::{Better, Figures, RunResult, Unit};

/// Results of a load that is none of the standard ones. What it reports, it says here; the text, the
/// comparison and the JSON follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnResult {
    /// The load as it was given.
    pub load: String,
    /// What it is called in comparisons: one word.
    pub name: String,
    /// Its own figures, in the order in which they are shown.
    pub figures: Vec<OwnFigure>,
    /// Threads that it shows one by one; often none.
    pub threads: Vec<ThreadResult>,
}

/// A figure of an [`OwnResult`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnFigure {
    /// Its name, for people and, with `_` for what is no letter or digit, in the key of its metric.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// In which direction it improves.
    pub better: Better,
    /// Its value, in its unit.
    pub value: u64,
}

impl OwnResult {
    /// Without figures and threads.
    #[must_use]
    pub fn new(load: String, name: impl Into<String>) -> OwnResult {
        OwnResult { load, name: name.into(), figures: Vec::new(), threads: Vec::new() }
    }

    /// Adds a number of things.
    #[must_use]
    pub fn count(self, name: impl Into<String>, better: Better, value: u64) -> OwnResult {
        self.with(OwnFigure { name: name.into(), unit: Unit::Count, better, value })
    }

    /// Adds a time, in nanoseconds.
    #[must_use]
    pub fn nanos(self, name: impl Into<String>, better: Better, value_ns: u64) -> OwnResult {
        self.with(OwnFigure { name: name.into(), unit: Unit::Nanoseconds, better, value: value_ns })
    }

    /// Shows these threads one by one.
    #[must_use]
    pub fn threads(self, threads: Vec<ThreadResult>) -> OwnResult {
        OwnResult { threads, ..self }
    }

    /// The value of one of its figures, in its unit.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<u64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }

    fn with(mut self, figure: OwnFigure) -> OwnResult {
        self.figures.push(figure);
        self
    }
}

impl Reports for OwnResult {
    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn figures(&self, _run: &RunResult, figures: &mut Figures) {
        for own in &self.figures {
            let key: String = own.name.chars().map(in_key).collect();
            match own.unit {
                Unit::Count => figures.count(&key, &own.name, own.better, own.value),
                Unit::Nanoseconds => figures.nanos(&key, &own.name, own.better, own.value),
            }
            .headline();
        }
        of_threads(&self.threads, figures);
    }
}

fn in_key(c: char) -> char {
    if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadResult, example, measure_loads};

    #[test]
    fn a_figure_is_a_metric_under_the_name_of_its_load() {
        let pool =
            |load: &str| OwnResult::new(load.to_owned(), "pool").count("Jobs done", Better::Higher, 20);
        let mut run = example::run();
        run.loads = vec![
            LoadResult::Own(pool("pool 1").nanos("longest job", Better::Lower, 1_500)),
            LoadResult::Own(pool("pool 2")),
        ];
        let mut figures = Figures::default();
        measure_loads(&run, &mut figures);
        let list = figures.into_list();
        let told: Vec<_> = list.iter().map(|f| (f.metric.key.as_str(), f.metric.unit, f.value)).collect();
        assert_eq!(
            told,
            [
                ("pool.jobs_done", Unit::Count, 20),
                ("pool.longest_job", Unit::Nanoseconds, 1_500),
                ("pool#2.jobs_done", Unit::Count, 20),
            ]
        );
        assert_eq!(list[2].metric.label, "pool#2 Jobs done");
    }
}
