//! The table `[fit]` of an experiment file: what is chosen, by which figures, and among which values.

use super::super::Length;
use super::super::file::{ExperimentFile, VariantFile};
use super::super::plan;
use crate::error::Error;
use report::reproduce::is_as_pattern;
use schema::reproduction::Role;
use serde::Deserialize;
use std::collections::BTreeMap;
use suggest::suggest;

/// How free parameters are chosen.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct FitTable {
    pub about: String,
    pub outcome: Option<String>,
    /// Simulated time of a run, if not that of the experiment.
    #[serde(rename = "for")]
    pub duration: Option<String>,
    pub seeds: Option<u32>,
    /// The document cut its figures to multiples of this.
    pub cut_to: Option<f64>,
    pub figures: Vec<FiguresOf>,
    #[serde(rename = "parameter")]
    pub parameters: Vec<ParameterTable>,
}

/// Published figures of a variant.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct FiguresOf {
    pub variant: String,
    /// What its rows are; a `*` stands for any text.
    pub rows: Vec<String>,
}

/// A parameter that may be chosen.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ParameterTable {
    /// For people; without `machine` it is a [[free]] of this name.
    pub name: String,
    pub values: Vec<f64>,
    pub why: String,
    /// Figures of the machine's file: what each is for a value of 1.
    #[serde(default)]
    pub machine: BTreeMap<String, f64>,
}

impl FiguresOf {
    /// Whether a row is one of these.
    pub fn has(&self, row: &str) -> bool {
        self.rows.iter().any(|pattern| is_as_pattern(pattern, row))
    }
}

impl FitTable {
    /// Refuses what is no fit, or one to figures that have to be predicted.
    pub fn check(&self, file: &ExperimentFile) -> Result<(), Error> {
        if self.seeds == Some(0) {
            return Err(file.fault("[fit]: `seeds` must be at least 1"));
        }
        if self.cut_to.is_some_and(|step| !(step > 0.0 && step.is_finite())) {
            return Err(file.fault("[fit]: `cut_to` is what figures are multiples of: above 0"));
        }
        if self.figures.is_empty() || self.parameters.is_empty() {
            return Err(file.fault("[fit] needs `figures` and at least one [[fit.parameter]]"));
        }
        self.figures.iter().try_for_each(|figures| figures.check(file))?;
        self.parameters.iter().try_for_each(|parameter| parameter.check(self, file))
    }
}

impl FiguresOf {
    fn check(&self, file: &ExperimentFile) -> Result<(), Error> {
        let name = &self.variant;
        let variant = variant(file, name)?;
        refuse_prediction(file, variant)?;
        let rows = plan::rows(file, variant, Length::Full)?;
        for pattern in &self.rows {
            let mut published = 0;
            for row in rows.iter().filter(|row| is_as_pattern(pattern, &row.what)) {
                for other in row.relative_to.iter().chain(&row.less) {
                    refuse_prediction(file, self::variant(file, other)?)?;
                }
                published += usize::from(row.published.is_some());
            }
            if published == 0 {
                let with = rows.iter().filter(|row| row.published.is_some()).map(|row| &row.what);
                let near =
                    suggest(pattern, with).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                let problem = format!("no row `{pattern}` of \"{name}\" has a published figure{near}");
                return Err(file.fault(format!("[fit]: {problem}")));
            }
        }
        match self.rows.is_empty() {
            true => Err(file.fault(format!("[fit]: say which rows of \"{name}\": `rows`"))),
            false => Ok(()),
        }
    }
}

/// The variant of a name.
fn variant<'f>(file: &'f ExperimentFile, name: &str) -> Result<&'f VariantFile, Error> {
    file.variant.iter().find(|variant| variant.name == name).ok_or_else(|| {
        let near = suggest(name, file.variant.iter().map(|variant| &variant.name));
        let near = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
        file.fault(format!("[fit]: there is no variant \"{name}\"{near}"))
    })
}

fn refuse_prediction(file: &ExperimentFile, variant: &VariantFile) -> Result<(), Error> {
    if variant.role == Role::Fitted {
        return Ok(());
    }
    Err(file.fault(format!(
        "[fit]: \"{}\" is a prediction, and nothing may be chosen by its figures; fit to variants whose role is \
         \"fitted\"",
        variant.name
    )))
}

impl ParameterTable {
    fn check(&self, fit: &FitTable, file: &ExperimentFile) -> Result<(), Error> {
        let fault = |problem: &str| Err(file.fault(format!("[fit], parameter `{}`: {problem}", self.name)));
        if fit.parameters.iter().filter(|other| other.name == self.name).count() > 1 {
            return fault("it stands there twice");
        }
        if self.values.len() < 2 || !self.values.is_sorted_by(|a, b| a < b) {
            return fault("`values` are at least two, each larger than the one before");
        }
        if self
            .values
            .iter()
            .chain(self.machine.values())
            .any(|number| !(*number > 0.0 && number.is_finite()))
        {
            return fault("values and figures of the machine have to be above 0");
        }
        let is_free = file.free.iter().any(|free| free.name == self.name && free.value.is_some());
        match self.machine.is_empty() {
            true if !is_free => fault(
                "no [[free]] with a `value` has this name; give it one, or say which figures of the `machine` \
                 it is",
            ),
            _ => Ok(()),
        }
    }
}
