//! Free parameters chosen by the published figures of fitted variants, by a procedure that the experiment
//! file states ([`table`]) and everybody can repeat. The search ([`search`]) sees these figures and no
//! others.

mod search;
mod table;

pub(super) use table::FitTable;

use super::parameters::{Changes, MachineChange, NewFigure, changed_machine, machine_figure};
use super::plan::machine_name;
use super::{Host, Length, PublishedExperiment};
use crate::error::Error;
use crate::machines::machine_text;
use crate::sources::Sources;
use report::reproduce::Judged;
use report::stats::nine_digits;
use schema::fit::{Fit, FitFigure, FitStep, FittedParameter, FittedPlace};
use schema::reproduction::{ReproducedRow, ReproducedVariant, Role};
use search::{Place, Step};
use std::collections::BTreeMap;
use table::ParameterTable;

/// A figure counts as if it were off by this factor at most, so that one that comes out as 0 can be compared.
const FARTHEST: f64 = 1e3;

/// A machine's file, and what a fit found for it.
#[derive(Clone, PartialEq, Debug)]
pub struct FittedMachine {
    /// The text of the file, as it is.
    pub text: String,
    /// What is to stand in it.
    pub figures: Vec<FittedFigure>,
}

/// A figure of a machine's file that a fit found.
#[derive(Clone, PartialEq, Debug)]
pub struct FittedFigure {
    /// Where it stands: `costs.line.same_node.ns`.
    pub place: String,
    /// The figure, in the unit of the file.
    pub number: f64,
    /// By what it was chosen, in words: `16 figures of "before"`.
    pub to: String,
}

impl PublishedExperiment {
    /// Whether its file says how parameters are chosen.
    #[must_use]
    pub fn has_fit(&self) -> bool {
        self.file.fit.is_some()
    }

    /// Whether a fit chooses figures of the machine.
    #[must_use]
    pub fn fits_machine(&self) -> bool {
        self.file.fit.iter().flat_map(|fit| &fit.parameters).any(|parameter| !parameter.machine.is_empty())
    }

    /// Chooses the parameters of the table `[fit]` anew, on all cores, and runs the other variants with what
    /// was found. The same values come out whatever stands in the files now.
    ///
    /// # Errors
    /// A file without that table, a place that the machine has not got, a variant that cannot run.
    pub fn fit(&self, length: Length, host: Host<'_>) -> Result<Fit, Error> {
        let fit = self.fit_table()?;
        let fitting = self.of_fit(fit);
        let lengths: Vec<usize> = fit.parameters.iter().map(|parameter| parameter.values.len()).collect();
        let path = search::search(&lengths, |places| {
            let changes: Vec<Changes> = places.iter().map(|place| changes(fit, place)).collect();
            let judged = fitting.judged_each(length, &changes, host)?;
            judged.iter().map(|judged| fitting.loss(&chosen(fit, judged))).collect()
        })?;
        let (Some(first), Some(last)) = (path.steps.first(), path.steps.last()) else {
            return Err(self.file.fault("[fit] has no parameter"));
        };
        let found = changes(fit, &last.place);
        let here = [changes(fit, &first.place), Changes::default(), found.clone()];
        let here = fitting.judged_each(length, &here, host)?;
        let everything = self.judged_each(length, &[Changes::default(), found.clone()], host)?;
        let [at_start, in_files, fitted] = [0, 1, 2].map(|of| chosen(fit, &here[of]));
        let [predicted_in_files, predicted_fitted] = [0, 1].map(|of| predicted(fit, &everything[of]));
        Ok(Fit {
            about: fit.about.clone(),
            outcome: fit.outcome.clone(),
            seeds: u64::from(fitting.file.seeds(length)),
            simulated_ns: here[2].variants.first().map_or(0, |variant| variant.simulated_ns),
            parameters: self.fitted_parameters(fit, [first, last], &found, host.files)?,
            loss_at_start: fitting.loss(&at_start)?,
            loss_in_files: fitting.loss(&in_files)?,
            loss_fitted: fitting.loss(&fitted)?,
            predicted_loss_in_files: loss(&predicted_in_files),
            predicted_loss_fitted: loss(&predicted_fitted),
            figures: beside(Some(&at_start), &in_files, &fitted),
            predicted: beside(None, &predicted_in_files, &predicted_fitted),
            steps: path.steps.iter().map(|step| described(fit, step)).collect(),
            tried: path.tried,
        })
    }

    /// The file of the machine with what a fit found, or nothing if it chose nothing of the machine.
    ///
    /// # Errors
    /// A machine that cannot be read.
    pub fn fitted_machine(&self, fit: &Fit, files: &dyn Sources) -> Result<Option<FittedMachine>, Error> {
        let table = self.fit_table()?;
        let mut names: Vec<String> = fit.figures.iter().map(|of| format!("\"{}\"", of.variant)).collect();
        names.dedup();
        let count = fit.figures.len();
        let s = if count == 1 { "" } else { "s" };
        let to = format!("{count} figure{s} of {}", names.join(" and "));
        let of_machine = fit.parameters.iter().filter(|parameter| table.of_machine(&parameter.name));
        let figure =
            |of: &FittedPlace| FittedFigure { place: of.place.clone(), number: of.fitted, to: to.clone() };
        let figures: Vec<FittedFigure> =
            of_machine.flat_map(|parameter| parameter.places.iter().map(figure)).collect();
        if figures.is_empty() {
            return Ok(None);
        }
        let text = machine_text(&machine_name(&self.file)?, files)?;
        Ok(Some(FittedMachine { text, figures }))
    }

    fn fit_table(&self) -> Result<&FitTable, Error> {
        let none = || self.file.fault("nothing was fitted: it has no table [fit] (experiments/README.md)");
        self.file.fit.as_ref().ok_or_else(none)
    }

    /// The runs by which parameters are chosen: those of the variants whose figures count, and of whatever
    /// these are compared with.
    fn of_fit(&self, fit: &FitTable) -> PublishedExperiment {
        let mut fitting = self.clone();
        let file = &mut fitting.file;
        file.keep_only(fit.figures.iter().map(|figures| figures.variant.clone()).collect());
        file.duration = fit.duration.clone().or(file.duration.take());
        file.seeds = fit.seeds.unwrap_or(file.seeds);
        fitting
    }

    fn loss(&self, figures: &[Beside<'_>]) -> Result<f64, Error> {
        let none = || self.file.fault("[fit]: these runs have none of the published figures");
        loss(figures).ok_or_else(none)
    }

    fn fitted_parameters(
        &self,
        fit: &FitTable,
        [first, last]: [&Step; 2],
        found: &Changes,
        files: &dyn Sources,
    ) -> Result<Vec<FittedParameter>, Error> {
        let mut before = BTreeMap::new();
        let mut after = BTreeMap::new();
        if !found.machine.is_empty() {
            let name = machine_name(&self.file)?;
            let text = machine_text(&name, files)?;
            let changed = changed_machine(&self.file, &name, &found.machine, files)?;
            for MachineChange { place, .. } in &found.machine {
                before.insert(place, machine_figure(&self.file, &name, place, &text)?);
                after.insert(place, machine_figure(&self.file, &name, place, &changed)?);
            }
        }
        let one = |(index, parameter): (usize, &ParameterTable)| {
            let fitted = parameter.values[last.place[index]];
            let of_machine = parameter.machine.keys().map(|place| FittedPlace {
                place: place.clone(),
                in_file: before.get(place).copied().unwrap_or(f64::NAN),
                fitted: after.get(place).copied().unwrap_or(f64::NAN),
            });
            let free = self.file.free.iter().find(|free| free.name == parameter.name);
            let of_file = free.and_then(|free| free.value).filter(|_| parameter.machine.is_empty());
            let of_file = of_file.map(|in_file| FittedPlace {
                place: format!("{{{}}}", parameter.name),
                in_file,
                fitted,
            });
            FittedParameter {
                name: parameter.name.clone(),
                why: parameter.why.clone(),
                values: parameter.values.clone(),
                start: parameter.values[first.place[index]],
                fitted,
                places: of_machine.chain(of_file).collect(),
            }
        };
        Ok(fit.parameters.iter().enumerate().map(one).collect())
    }
}

impl FitTable {
    fn of_machine(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name && !parameter.machine.is_empty())
    }
}

/// What is different at a place of the search.
fn changes(fit: &FitTable, place: &Place) -> Changes {
    let mut changes = Changes::default();
    for (parameter, value) in fit.parameters.iter().zip(place) {
        let value = parameter.values[*value];
        if parameter.machine.is_empty() {
            changes.values.insert(parameter.name.clone(), value);
        }
        changes.machine.extend(parameter.machine.iter().map(|(place, of_one)| MachineChange {
            place: place.clone(),
            to: NewFigure::Is(of_one * value),
        }));
    }
    changes
}

fn described(fit: &FitTable, step: &Step) -> FitStep {
    let values = fit.parameters.iter().zip(&step.place).map(|(parameter, value)| parameter.values[*value]);
    FitStep { values: values.collect(), loss: step.loss }
}

/// A published figure and a simulated one.
struct Beside<'j> {
    variant: &'j str,
    row: &'j ReproducedRow,
    published: f64,
}

impl Beside<'_> {
    /// By which factor they differ, as its logarithm.
    fn off(&self) -> f64 {
        let farthest = FARTHEST.ln();
        let ratio = self.row.simulated / self.published;
        if ratio > 0.0 { ratio.ln().abs().min(farthest) } else { farthest }
    }
}

/// The figures by which something is chosen.
fn chosen<'j>(fit: &FitTable, judged: &'j Judged) -> Vec<Beside<'j>> {
    let mut all = Vec::new();
    for figures in &fit.figures {
        let of_it = judged.variants.iter().filter(|variant| variant.name == figures.variant);
        all.extend(of_it.flat_map(|variant| besides(fit, variant)).filter(|it| figures.has(&it.row.what)));
    }
    all
}

/// The published figures by which nothing is chosen.
fn predicted<'j>(fit: &FitTable, judged: &'j Judged) -> Vec<Beside<'j>> {
    let predictions = judged.variants.iter().filter(|variant| variant.role == Role::Prediction);
    predictions.flat_map(|variant| besides(fit, variant)).collect()
}

/// The published figures of a variant.
fn besides<'j>(fit: &FitTable, variant: &'j ReproducedVariant) -> Vec<Beside<'j>> {
    let of_row = |row: &'j ReproducedRow| {
        let published = row.published.filter(|published| *published > 0.0)?;
        Some(Beside { variant: &variant.name, row, published: published + fit.cut_to.unwrap_or(0.0) / 2.0 })
    };
    variant.rows.iter().filter_map(of_row).collect()
}

/// How far figures are off: the mean over them.
fn loss(figures: &[Beside<'_>]) -> Option<f64> {
    let sum: f64 = figures.iter().map(Beside::off).sum();
    (!figures.is_empty()).then(|| nine_digits(sum / figures.len() as f64))
}

/// The same figures with several sets of values.
fn beside(at_start: Option<&[Beside<'_>]>, in_files: &[Beside<'_>], fitted: &[Beside<'_>]) -> Vec<FitFigure> {
    let pairs = in_files.iter().zip(fitted).enumerate();
    let one = |(index, (in_files, fitted)): (usize, (&Beside<'_>, &Beside<'_>))| FitFigure {
        variant: fitted.variant.to_owned(),
        what: fitted.row.what.clone(),
        at: fitted.row.place(),
        published: fitted.published,
        at_start: at_start.map(|at_start| at_start[index].row.simulated),
        in_files: in_files.row.simulated,
        fitted: fitted.row.simulated,
        unit: fitted.row.unit,
    };
    pairs.map(one).collect()
}

#[cfg(test)]
mod tests;
