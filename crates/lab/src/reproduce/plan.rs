//! From an experiment file to runs.

use super::Length;
use super::file::{ExperimentFile, VariantFile};
use super::parameters::{Changes, changed_machine, fill};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::experiment_text::load_text;
use crate::machines::DEFAULT_MACHINE;
use crate::settings::Settings;
use crate::sources::Sources;
use report::reproduce::{Place, Published, RowSpec, SweepValue, VariantSpec};
use schema::reproduction::ReproducedPoint;
use schema::{ExperimentText, FileText};

/// A variant and its runs.
pub(super) struct PlannedVariant {
    pub spec: VariantSpec,
    /// As written, for the report.
    pub loads: Vec<String>,
    /// As written, for the report.
    pub settings: String,
    pub points: Vec<Point>,
}

/// A variant at one value of the sweep.
pub(super) struct Point {
    pub at: Option<Place>,
    /// Name of the variant.
    pub variant: String,
    /// What to call it in an error.
    pub configuration: String,
    /// To be run with each seed.
    pub experiment: Experiment,
}

impl Point {
    /// For the report.
    pub fn text(&self) -> Option<ReproducedPoint> {
        let at = self.at.as_ref();
        Some(ReproducedPoint {
            at: at.map(|at| at.number),
            at_name: at.and_then(|at| at.name.clone()),
            experiment: self.experiment.text()?,
        })
    }
}

/// Every variant, with a run for each value of the sweep.
pub(super) fn variants(
    file: &ExperimentFile,
    length: Length,
    changes: &Changes,
    files: &dyn Sources,
) -> Result<Vec<PlannedVariant>, Error> {
    file.variant.iter().map(|variant| planned(file, variant, length, changes, files)).collect()
}

/// The machine that the experiment names for all variants.
pub(super) fn machine_name(file: &ExperimentFile) -> Result<String, Error> {
    let first = file.places(Length::Full).into_iter().next().flatten();
    let common = Settings::parse(&fill(file, &file.settings, first.as_ref(), &Changes::default())?)?;
    Ok(common.machine.name.unwrap_or_else(|| DEFAULT_MACHINE.to_owned()))
}

fn planned(
    file: &ExperimentFile,
    variant: &VariantFile,
    length: Length,
    changes: &Changes,
    files: &dyn Sources,
) -> Result<PlannedVariant, Error> {
    let within = |error: Error| match error {
        Error::ExperimentFault { .. } => error,
        other => file.fault(format!("variant \"{}\": {other}", variant.name)),
    };
    let points: Result<Vec<Point>, Error> =
        file.places(length).into_iter().map(|at| point(file, variant, length, at, changes, files)).collect();
    let words = format!("{} {}", file.settings, variant.settings);
    Ok(PlannedVariant {
        spec: VariantSpec {
            name: variant.name.clone(),
            role: variant.role,
            rows: rows(file, variant, length).map_err(within)?,
        },
        loads: loads(file, variant).to_vec(),
        settings: words.split_whitespace().collect::<Vec<_>>().join(" "),
        points: points.map_err(within)?,
    })
}

fn loads<'a>(file: &'a ExperimentFile, variant: &'a VariantFile) -> &'a [String] {
    variant.loads.as_ref().unwrap_or(&file.loads)
}

fn point(
    file: &ExperimentFile,
    variant: &VariantFile,
    length: Length,
    at: Option<Place>,
    changes: &Changes,
    files: &dyn Sources,
) -> Result<Point, Error> {
    let fill = |text: &String| fill(file, text, at.as_ref(), changes);
    let common = Settings::parse(&fill(&file.settings)?)?;
    let own = Settings::parse(&fill(&variant.settings)?)?;
    let load = |text: &String| Ok(load_text(&fill(text)?, &FileText::default(), files));
    let mut text = own.over(&common.over(&ExperimentText {
        loads: loads(file, variant).iter().map(load).collect::<Result<_, Error>>()?,
        duration_ns: file.duration(length)?.map(|duration| duration.0),
        ..ExperimentText::default()
    }));
    if !changes.machine.is_empty() {
        let name = text.machine.name.get_or_insert_with(|| DEFAULT_MACHINE.to_owned());
        text.machine.content = Some(changed_machine(file, name, &changes.machine, files)?);
    }
    let experiment = Experiment::open(&text, files)?;
    let swept = at.as_ref().map_or(String::new(), |at| format!(" at {at}"));
    let configuration = format!("{}{swept}", variant.name);
    Ok(Point { at, variant: variant.name.clone(), configuration, experiment })
}

/// The rows of a variant: its table, its own, those of all variants.
pub(super) fn rows(
    file: &ExperimentFile,
    variant: &VariantFile,
    length: Length,
) -> Result<Vec<RowSpec>, Error> {
    let table = variant.table.as_ref().map(|table| table.expand()).transpose();
    let mut rows = table.map_err(|fault| file.fault(fault.to_string()))?.unwrap_or_default();
    rows.extend(variant.row.iter().chain(&file.row).cloned());
    let (all, values) = (file.places(Length::Full), file.places(length));
    let among =
        |places: &[Option<Place>], value: &SweepValue| places.iter().flatten().any(|place| place.is(value));
    // A quick run may leave values of the sweep out.
    rows.retain(|row| row.at.as_ref().is_none_or(|at| among(&values, at) || !among(&all, at)));
    for row in &mut rows {
        if let Some(Published::Sweep(figures)) = &mut row.published
            && figures.len() == all.len()
        {
            let pairs = all.iter().zip(figures.iter()).filter(|(at, _)| values.contains(at));
            *figures = pairs.map(|(_, figure)| *figure).collect();
        }
    }
    Ok(rows)
}
