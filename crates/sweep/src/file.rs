//! A sweep as a file: the words of an experiment file, and the axes.

use crate::axis::Axis;
use crate::error::Error;
use crate::plan::Plan;
use crate::template::Template;
use lab::{Excerpt, Nanos, Sources};
use serde::Deserialize;
use std::sync::Arc;
use workload::units::positive_duration;

/// A file of TOML that says what to sweep. docs/sweeps.md explains every field.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepFile {
    title: Option<String>,
    loads: Vec<String>,
    #[serde(default)]
    settings: String,
    #[serde(rename = "for")]
    duration: Option<String>,
    seeds: Option<u32>,
    #[serde(default)]
    check: bool,
    #[serde(default)]
    metrics: Vec<String>,
    #[serde(default)]
    axis: Vec<AxisTable>,
    /// Name of the file, for errors.
    #[serde(skip)]
    path: String,
}

/// An axis, as written.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AxisTable {
    name: String,
    values: Vec<Value>,
}

/// A value of an axis.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Whole(i64),
    Decimal(f64),
    Word(String),
}

impl SweepFile {
    /// Reads a file; `path` is for errors.
    ///
    /// # Errors
    /// What is no TOML, has fields that are unknown, or values that cannot be: with the place.
    pub fn parse(path: &str, text: &str) -> Result<SweepFile, Error> {
        let mut file: SweepFile = toml::from_str(text).map_err(|error| {
            lab::Error::ExperimentFile(Excerpt {
                file: path.to_owned(),
                text: Arc::from(text),
                span: error.span().unwrap_or(0..0),
                problem: suggest::in_words(error.message()),
                advice: "docs/sweeps.md describes the file".to_owned(),
            })
        })?;
        path.clone_into(&mut file.path);
        Ok(file)
    }

    /// Its runs. The files that it names are read.
    ///
    /// # Errors
    /// As [`Plan::new`] and [`Axis::new`]; no load, seeds that are none, a length that is none.
    pub fn plan(&self, files: &dyn Sources) -> Result<Plan, Error> {
        if self.loads.is_empty() {
            return Err(lab::Error::NoLoad.into());
        }
        let read = |text: &String| positive_duration(text, Nanos::from_secs(1));
        let duration = self.duration.as_ref().map(read).transpose();
        let duration = duration.map_err(|problem| self.fault(format!("`for`: {problem}")))?;
        let mut axes: Vec<Axis> = Vec::new();
        for AxisTable { name, values } in &self.axis {
            let word = |value: &Value| match value {
                Value::Whole(number) => number.to_string(),
                Value::Decimal(number) => number.to_string(),
                Value::Word(word) => word.clone(),
            };
            axes.push(Axis::new(name, values.iter().map(word).collect())?);
        }
        match self.seeds {
            None => {}
            Some(0) => return Err(self.fault("`seeds` must be at least 1".to_owned())),
            Some(_) if axes.iter().any(|axis| axis.name() == "seed") => {
                return Err(self.fault("`seeds` and an axis `seed` say the same; leave one out".to_owned()));
            }
            Some(count) => axes.push(Axis::seeds(count)),
        }
        let mut template = Template::of_words(&self.loads, &self.settings, duration.map(|time| time.0));
        template.base.check = self.check;
        let mut plan = Plan::new(template, axes, files)?;
        plan.title.clone_from(&self.title);
        plan.metrics.clone_from(&self.metrics);
        Ok(plan)
    }

    fn fault(&self, problem: String) -> Error {
        lab::Error::ExperimentFault { path: self.path.clone(), problem }.into()
    }
}
