//! One figure of a run, with what is needed to judge and print a difference in it.

use serde::{Deserialize, Serialize};

use crate::Figure;

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Unit {
    /// A number of things.
    #[serde(rename = "count")]
    Count,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
}

/// In which direction a figure improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better: latencies, migrations, missed deadlines.
    Lower,
    /// More is better: work done.
    Higher,
    /// It depends: voluntary switches, pushes, idle time.
    Neutral,
}

/// A figure that every run of a load has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Name for programs, unique within a run: `cyclictest.worst_latency`, `tasks.cc1.wait`.
    pub key: String,
    /// Name for people.
    pub label: String,
    /// Its unit.
    pub unit: Unit,
    /// In which direction it improves.
    pub better: Better,
    /// The smallest step that the figure can show, in its unit.
    pub resolution: u64,
    /// Whether a change in it is worth a sentence.
    pub headline: bool,
}

impl Metric {
    /// Whether it tells when something is over: such a figure gets earlier and later, not lower and higher.
    #[must_use]
    pub fn is_a_moment(&self) -> bool {
        self.key == "replay.finish" || (self.key.starts_with("tasks.") && self.key.ends_with(".exit"))
    }

    /// Marks a figure that is worth a sentence.
    pub fn headline(&mut self) -> &mut Self {
        self.headline = true;
        self
    }

    /// Marks a figure that is counted in steps larger than one.
    pub fn in_steps_of(&mut self, resolution: u64) -> &mut Self {
        self.resolution = resolution;
        self
    }
}

/// A figure of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// Which figure.
    pub metric: Metric,
    /// Its value, in the metric's unit.
    pub value: u64,
}

/// The figures of a run, one after the other, and the names that the next ones share.
#[derive(Debug, Default)]
pub struct Figures {
    list: Vec<Measurement>,
    key_prefix: String,
    label_prefix: String,
}

impl Figures {
    /// What follows belongs to this group: `key.` and `label ` come before each name.
    pub fn group(&mut self, key: &str, label: &str) {
        self.key_prefix = format!("{key}.");
        self.label_prefix = if label.is_empty() { String::new() } else { format!("{label} ") };
    }

    /// Adds a number of things.
    pub fn count(&mut self, key: &str, label: &str, better: Better, value: u64) -> &mut Metric {
        self.add(key, label, Unit::Count, better, value)
    }

    /// Adds a duration.
    pub fn nanos(&mut self, key: &str, label: &str, better: Better, value_ns: u64) -> &mut Metric {
        self.add(key, label, Unit::Nanoseconds, better, value_ns)
    }

    /// Adds a figure of a struct of counters.
    pub fn declared<T>(&mut self, figure: &Figure<T>, value: u64) {
        let metric = self.add(figure.key(), figure.label, figure.unit(), figure.better, value);
        metric.headline = figure.headline;
    }

    fn add(&mut self, key: &str, label: &str, unit: Unit, better: Better, value: u64) -> &mut Metric {
        let metric = Metric {
            key: format!("{}{key}", self.key_prefix),
            label: format!("{}{label}", self.label_prefix),
            unit,
            better,
            resolution: 1,
            headline: false,
        };
        self.list.push(Measurement { metric, value });
        let last = self.list.len() - 1;
        &mut self.list[last].metric
    }

    /// All that were added, in that order.
    #[must_use]
    pub fn into_list(self) -> Vec<Measurement> {
        self.list
    }
}
