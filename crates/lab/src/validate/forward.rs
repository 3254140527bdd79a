//! Forward runs: the recorded program as a load, with several seeds, beside what it did for real.

use super::experiment::experiment;
use super::fault::Fault;
use super::file::{ForwardFile, ReferenceFile};
use super::measure::{Measure, Measured};
use super::{Host, Reference};
use crate::dumps::DumpRequest;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::parallel;
use scheduler::Nanos;
use schema::validation::{Claim, Durations, ValidatedRun, ValidationMode};
use workload::units;

/// What one seed came to.
struct Told {
    events: u64,
    /// One for each figure.
    figures: Vec<f64>,
    /// One for each distribution.
    distributions: Vec<Durations>,
}

impl Told {
    /// Each figure as by how many per cent it is higher than in the other run; as it is, where that has 0.
    fn change(self, other: &Told) -> Told {
        let percent = |(figure, of): (&f64, &f64)| match of {
            0.0 => *figure,
            _ => 100.0 * (figure / of - 1.0),
        };
        let figures = self.figures.iter().zip(&other.figures).map(percent).collect();
        Told { events: self.events + other.events, figures, ..self }
    }
}

/// All seeds of a forward run, judged.
pub(super) fn run(
    reference: &Reference,
    forward: &ForwardFile,
    host: Host<'_>,
) -> Result<ValidatedRun, Error> {
    let Reference { file, folder, path, .. } = reference;
    let seeds: Vec<u64> = (1..=u64::from(forward.seeds)).collect();
    let told: Vec<Result<Told, Error>> = parallel::map(&seeds, |seed| {
        let told = one(reference, forward, &forward.settings, *seed, host);
        (host.finished)();
        let Some(against) = &forward.against else { return told };
        let other = one(reference, forward, against, *seed, host);
        (host.finished)();
        Ok(told?.change(&other?))
    });
    let told: Vec<Told> = told.into_iter().collect::<Result<_, _>>()?;
    let figure = |(index, figure): (usize, &super::figure::FigureFile)| {
        let recorded = figure.recorded.as_ref().map(|recorded| recorded.values(folder, host.files));
        let simulated: Vec<f64> = told.iter().map(|told| told.figures[index]).collect();
        let source = file.source.as_ref();
        let claim = if forward.inferred.is_some() { Claim::Inference } else { Claim::Prediction };
        Ok(figure.judged(&recorded.transpose()?.unwrap_or_default(), &simulated, claim, source))
    };
    let figures = forward.figure.iter().enumerate().map(figure);
    let distribution = |(index, distribution): (usize, &super::distribution::DistributionFile)| {
        let simulated: Vec<Durations> = told.iter().map(|told| told.distributions[index].clone()).collect();
        distribution.beside(&simulated, folder, host.files)
    };
    let distributions = forward.distribution.iter().enumerate().map(distribution);
    let ReferenceFile { class, cpus, settings, .. } = file;
    Ok(ValidatedRun {
        name: forward.name.clone(),
        mode: ValidationMode::Forward,
        inferred: forward.inferred.clone(),
        class: class.clone(),
        cpus: *cpus,
        loads: forward.loads.clone(),
        settings: told_settings(settings, forward),
        seeds,
        events: told.iter().map(|told| told.events).sum(),
        figures: figures.collect::<Result<_, Error>>().map_err(|error| within(path, &forward.name, error))?,
        distributions: distributions.collect::<Result<_, _>>()?,
    })
}

fn one(
    reference: &Reference,
    forward: &ForwardFile,
    settings: &str,
    seed: u64,
    host: Host<'_>,
) -> Result<Told, Error> {
    let Reference { file, path, .. } = reference;
    let of_forward = |error: Error| within(path, &forward.name, error);
    let loads: Vec<String> = forward.loads.iter().map(|load| reference.load(load, forward, seed)).collect();
    let duration = forward.duration.as_ref().map(|text| units::positive_duration(text, Nanos::from_secs(1)));
    let duration =
        duration.transpose().map_err(|problem| Fault { path, problem: format!("`for`: {problem}") })?;
    let settings = [file.settings.as_str(), settings].map(|words| reference.settings(words));
    let settings = settings.each_ref().map(String::as_str);
    let plain =
        experiment(&loads, &settings, duration.map(|duration| duration.0), host.files).map_err(of_forward)?;
    let needs = |what: fn(&Measure) -> bool| forward.figure.iter().any(|figure| what(&figure.measure));
    let dump = needs(Measure::needs_schedstat).then(|| DumpRequest::parse("schedstat@end"));
    let experiment = Experiment {
        seed,
        record: needs(Measure::needs_log),
        dumps: dump.transpose()?.into_iter().collect(),
        ..plain
    };
    let run = experiment.run().map_err(of_forward)?;
    let measured = Measured::of(&run);
    let figures = forward.figure.iter().map(|figure| figure.measure.of(&measured, path, &figure.what));
    let distributions = forward.distribution.iter().map(|distribution| {
        let problem =
            |problem| format!("\"{}\", distribution `{}`: {problem}", forward.name, distribution.what);
        let fault = |told| Error::from(Fault { path, problem: problem(told) });
        measured.durations(&distribution.measure).map_err(fault)
    });
    Ok(Told {
        events: run.result.engine.events,
        figures: figures.collect::<Result<_, _>>()?,
        distributions: distributions.collect::<Result<_, _>>()?,
    })
}

/// Of both runs, where two are compared.
fn told_settings(settings: &str, forward: &ForwardFile) -> String {
    let against =
        |words: &String| format!(" against {}", if words.is_empty() { "that without" } else { words });
    let against = forward.against.as_ref().map(against).unwrap_or_default();
    format!("{settings} {}{against}", forward.settings).trim().to_owned()
}

/// An error with the place of what it is about, if it does not say it itself.
pub(super) fn within(path: &str, name: &str, error: Error) -> Error {
    match error {
        Error::ReferenceFault { .. } | Error::ReferenceFile(_) => error,
        other => Fault { path, problem: format!("\"{name}\": {other}") }.into(),
    }
}
