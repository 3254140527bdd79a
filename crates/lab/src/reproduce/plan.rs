//! From an experiment file to runs.

use super::Length;
use super::file::{ExperimentFile, VariantFile};
use super::parameters::{Change, changed_machine, fill};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::kernel::KernelConfig;
use crate::loads::LoadSpec;
use crate::machines::{DEFAULT_MACHINE, MachineChoice};
use crate::settings::Settings;
use crate::sources::Sources;
use machine::MachineSpec;
use report::reproduce::{Published, RowSpec, VariantSpec};

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
    pub at: Option<f64>,
    /// Name of the variant.
    pub variant: String,
    /// What to call it in an error.
    pub configuration: String,
    /// To be run with each seed.
    pub experiment: Experiment,
}

/// Every variant, with a run for each value of the sweep.
pub(super) fn variants(
    file: &ExperimentFile,
    length: Length,
    change: Option<Change<'_>>,
    files: &dyn Sources,
) -> Result<Vec<PlannedVariant>, Error> {
    file.variant.iter().map(|variant| planned(file, variant, length, change, files)).collect()
}

/// The machine that the experiment names for all variants.
pub(super) fn machine_name(file: &ExperimentFile) -> Result<String, Error> {
    let first = file.values(Length::Full).into_iter().next().flatten();
    let common = Settings::parse(&fill(file, &file.settings, first, None)?)?;
    Ok(common.machine.name.unwrap_or_else(|| DEFAULT_MACHINE.to_owned()))
}

fn planned(
    file: &ExperimentFile,
    variant: &VariantFile,
    length: Length,
    change: Option<Change<'_>>,
    files: &dyn Sources,
) -> Result<PlannedVariant, Error> {
    let within = |error: Error| match error {
        Error::ExperimentFault { .. } => error,
        other => file.fault(format!("variant \"{}\": {other}", variant.name)),
    };
    let points: Result<Vec<Point>, Error> =
        file.values(length).into_iter().map(|at| point(file, variant, length, at, change, files)).collect();
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
    at: Option<f64>,
    change: Option<Change<'_>>,
    files: &dyn Sources,
) -> Result<Point, Error> {
    let fill = |text: &String| fill(file, text, at, change);
    let common = Settings::parse(&fill(&file.settings)?)?;
    let own = Settings::parse(&fill(&variant.settings)?)?;
    let kernel = own.on(&common.on(&KernelConfig::default())?)?;
    let choice = own.machine.or(&common.machine);
    let mut experiment = Experiment::new(machine(file, &choice, change, files)?);
    experiment.kernel = kernel;
    experiment.duration = file.duration(length)?;
    for text in loads(file, variant) {
        experiment.loads.push(LoadSpec::open(&fill(text)?, files)?);
    }
    let swept = at.map_or(String::new(), |at| format!(" at {at}"));
    let configuration = format!("{}{swept}", variant.name);
    Ok(Point { at, variant: variant.name.clone(), configuration, experiment })
}

fn machine(
    file: &ExperimentFile,
    choice: &MachineChoice,
    change: Option<Change<'_>>,
    files: &dyn Sources,
) -> Result<MachineSpec, Error> {
    let place = change.and_then(|change| Some((change.parameter.machine.as_ref()?, change.factor)));
    let Some((place, factor)) = place else { return choice.resolve(&[], files) };
    let name = choice.name.as_deref().unwrap_or(DEFAULT_MACHINE);
    let spec = changed_machine(file, name, place, factor, files)?;
    Ok(match choice.cpus {
        Some(cpus) => spec.with_cpus(cpus)?,
        None => spec,
    })
}

/// The rows of a variant: its table, its own, those of all variants.
fn rows(file: &ExperimentFile, variant: &VariantFile, length: Length) -> Result<Vec<RowSpec>, Error> {
    let table = variant.table.as_ref().map(|table| table.expand()).transpose();
    let mut rows = table.map_err(|fault| file.fault(fault.to_string()))?.unwrap_or_default();
    rows.extend(variant.row.iter().chain(&file.row).cloned());
    let (all, values) = (file.values(Length::Full), file.values(length));
    // A quick run may leave values of the sweep out.
    rows.retain(|row| row.at.is_none_or(|at| values.contains(&Some(at)) || !all.contains(&Some(at))));
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
