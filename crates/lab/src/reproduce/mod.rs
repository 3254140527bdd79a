//! Published experiments, run again from the files in `experiments/`.
//!
//! A file ([`file`]) is read, filled in with its parameters ([`parameters`]), turned into runs ([`plan`]),
//! run on all cores, and judged by `report::reproduce`. A free parameter halved or doubled makes the same
//! experiment with another figure ([`parameters::Changes`]).

mod builtin;
mod claims;
mod file;
mod fit;
mod parameters;
mod plan;
mod ran;

pub use builtin::{PUBLISHED, PublishedFile};
pub use claims::claims;
pub use fit::{FittedFigure, FittedMachine};
pub use ran::{KeptRuns, RunFigures, RunHash, RunsSoFar};

use crate::clock::Clock;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::parallel;
use crate::sources::{self, Sources};
use file::ExperimentFile;
use parameters::Changes;
use plan::{PlannedVariant, Point};
use report::reproduce::{
    Described, ExperimentSpec, Figure, Figures, Judged, Observed, VariantRuns, figures, judge,
};
use scheduler::{Nanos, Reason};
use schema::RunResult;
use schema::Unit;
use schema::reproduction::{ReproducedExperiment, ReproducedRow, Sensitivity, SensitivityRow};

/// How long to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// As the document did.
    Full,
    /// As the file says for quick runs.
    Quick,
}

/// A run that has just ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FinishedRun<'a> {
    /// Name of its variant.
    pub variant: &'a str,
    /// Simulated time.
    pub simulated: Nanos,
    /// What it took of a core, by [`Host::cpu_clock`] if there is one and it had not been run before.
    pub cpu: Option<Nanos>,
}

/// Told after each run, from any thread.
pub type Finished<'a> = dyn Fn(FinishedRun<'_>) + Sync + 'a;

/// What a reproduction asks of the computer on which it runs.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// Where the files lie that the experiment names.
    pub files: &'a dyn Sources,
    /// CPU time of the calling thread, for [`FinishedRun::cpu`], so that other work of the computer does not
    /// count.
    pub cpu_clock: Option<Clock>,
    /// Told after each run.
    pub finished: &'a Finished<'a>,
    /// Runs that need not be made again.
    pub so_far: &'a RunsSoFar,
}

/// A variant in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariantSummary {
    /// Its name.
    pub name: String,
    /// Words as in a comparison.
    pub settings: String,
}

/// A published experiment, ready to run.
#[derive(Clone, Debug)]
pub struct PublishedExperiment {
    /// Its name, also of its results.
    pub name: String,
    /// What stands for it on the command line: the name, or the path of the file.
    pub argument: String,
    file: ExperimentFile,
}

impl PublishedExperiment {
    /// The experiments of this name: one (`001`), all whose names begin so (`001-` is `001-long` and others,
    /// without `001` itself; `eevdf`, as none has that name alone), `all`, or a file that ends in `.toml`.
    ///
    /// # Errors
    /// No experiment has the name; a file cannot be read or is not an experiment.
    pub fn of_name(name: &str, files: &dyn Sources) -> Result<Vec<PublishedExperiment>, Error> {
        if name.ends_with(".toml") {
            let text = sources::text(name, files)?;
            let stem = std::path::Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
            let experiment = PublishedExperiment::parse(&stem, name, &text)?;
            return Ok(vec![PublishedExperiment { argument: name.to_owned(), ..experiment }]);
        }
        if name.contains('/') {
            return Err(Error::ExperimentEnding { path: name.to_owned() });
        }
        let of_family = |family: &str, file: &PublishedFile| {
            file.name.strip_prefix(family).is_some_and(|member| member.starts_with('-'))
        };
        let has_name = PUBLISHED.iter().any(|file| file.name == name);
        let is_meant = |file: &&PublishedFile| match name.strip_suffix('-') {
            _ if name == "all" => true,
            Some(family) => of_family(family, file),
            None if has_name => file.name == name,
            None => of_family(name, file),
        };
        let wanted: Vec<&PublishedFile> = PUBLISHED.iter().filter(is_meant).collect();
        if wanted.is_empty() {
            let known = PUBLISHED.iter().map(|e| e.name.to_owned()).collect();
            return Err(Error::UnknownExperiment { name: name.to_owned(), known });
        }
        wanted.into_iter().map(PublishedExperiment::builtin).collect()
    }

    /// An experiment that comes with the program.
    ///
    /// # Errors
    /// None for a file that the tests have read.
    pub fn builtin(file: &PublishedFile) -> Result<PublishedExperiment, Error> {
        PublishedExperiment::parse(file.name, &format!("experiments/{}.toml", file.name), file.text)
    }

    /// An experiment from the text of a file; `path` is for errors.
    ///
    /// # Errors
    /// Text that is not an experiment file: where, and what is wrong.
    pub fn parse(name: &str, path: &str, text: &str) -> Result<PublishedExperiment, Error> {
        let file = ExperimentFile::parse(path, text)?;
        Ok(PublishedExperiment { name: name.to_owned(), argument: name.to_owned(), file })
    }

    /// What it shows, in a line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// The document and the place in it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.file.source
    }

    /// Its variants, in the order of the report.
    pub fn variants(&self) -> impl Iterator<Item = VariantSummary> {
        self.file.variant.iter().map(|variant| {
            let words = format!("{} {}", self.file.settings, variant.settings);
            VariantSummary { name: variant.name.clone(), settings: words.trim().to_owned() }
        })
    }

    /// Whether something is varied from run to run of each variant.
    #[must_use]
    pub fn is_swept(&self) -> bool {
        self.file.sweep.is_some()
    }

    /// How many runs it takes.
    #[must_use]
    pub fn runs(&self, length: Length, with_sensitivity: bool) -> u64 {
        let once = |length| {
            let variants = self.file.variant.len() as u64;
            variants * self.file.places(length).len() as u64 * u64::from(self.file.seeds(length))
        };
        let changed = self.file.free.iter().map(|free| free.factors().len()).sum::<usize>();
        let changes = if with_sensitivity { changed + 1 } else { 0 };
        once(length) + once(Length::Quick) * changes as u64
    }

    /// Runs every variant with every seed on all cores and judges the figures.
    ///
    /// # Errors
    /// A variant that cannot run, and rows that cannot be judged.
    pub fn run(&self, length: Length, host: Host<'_>) -> Result<ReproducedExperiment, Error> {
        let judged = self.judged(length, &Changes::default(), host)?;
        let described = |free: &parameters::Free| free.describe(&self.file, host.files);
        let free = self.file.free.iter().map(described).collect::<Result<_, _>>()?;
        Ok(ReproducedExperiment {
            name: self.name.clone(),
            title: self.file.title.clone(),
            source: self.file.source.clone(),
            about: self.file.about.clone(),
            seeds: (1..=u64::from(self.file.seeds(length))).collect(),
            sweep: self.file.sweep.as_ref().map(|sweep| sweep.name.clone()),
            variants: judged.variants,
            requirements: judged.requirements,
            free,
            sensitivity: Vec::new(),
            quick_events: Vec::new(),
            fit: None,
        })
    }

    /// Runs it at quick length with each free parameter halved and doubled, or with its other values.
    ///
    /// # Errors
    /// As [`PublishedExperiment::run`], and a machine that a changed figure makes impossible.
    pub fn sensitivity(&self, host: Host<'_>) -> Result<Vec<Sensitivity>, Error> {
        let unchanged = self.judged(Length::Quick, &Changes::default(), host)?;
        let mut found = Vec::new();
        for free in &self.file.free {
            for factor in free.factors() {
                let judged = self.judged(Length::Quick, &Changes::of_factor(free, factor), host)?;
                found.push(Sensitivity {
                    parameter: free.name.clone(),
                    factor,
                    rows: moved(&unchanged, &judged),
                    requirements: judged.requirements,
                });
            }
        }
        Ok(found)
    }

    /// Puts other words (or none: `""`) in the place of one in the settings, and leaves out the variants
    /// whose figures do not hang on that. For tests: the agreements that the word is about must be lost.
    #[must_use]
    pub fn with_instead(mut self, word: &str, instead: &str) -> PublishedExperiment {
        let is_in = |settings: &str| settings.split_whitespace().any(|w| w == word);
        let replace = |settings: &mut String| {
            let words = settings.split_whitespace().map(|w| if w == word { instead } else { w });
            *settings = words.collect::<Vec<_>>().join(" ");
        };
        if !is_in(&self.file.settings) {
            self.file.keep_variants(|variant| is_in(&variant.settings));
        }
        replace(&mut self.file.settings);
        self.file.variant.iter_mut().for_each(|variant| replace(&mut variant.settings));
        self
    }

    fn judged(&self, length: Length, changes: &Changes, host: Host<'_>) -> Result<Judged, Error> {
        let mut judged = self.judged_each(length, std::slice::from_ref(changes), host)?;
        Ok(judged.remove(0))
    }

    /// What comes of each of these changes.
    fn judged_each(&self, length: Length, changes: &[Changes], host: Host<'_>) -> Result<Vec<Judged>, Error> {
        let planned = changes.iter().map(|changes| plan::variants(&self.file, length, changes, host.files));
        let planned: Vec<Vec<PlannedVariant>> = planned.collect::<Result<_, _>>()?;
        let seeds = self.file.seeds(length);
        let points = planned.iter().flatten().flat_map(|variant| &variant.points);
        let runs: Vec<(&Point, u64)> =
            points.flat_map(|point| (1..=u64::from(seeds)).map(move |seed| (point, seed))).collect();
        let Host { cpu_clock, finished, so_far, .. } = host;
        let results: Vec<Result<RunFigures, Error>> = parallel::map(&runs, |(point, seed)| {
            let start = cpu_clock.map(|clock| clock());
            let experiment = Experiment { seed: *seed, ..point.experiment.clone() };
            let told = so_far.run(&point.configuration, &experiment)?;
            let took = || cpu_clock.zip(start).map(|(clock, start)| clock().saturating_sub(start));
            finished(FinishedRun {
                variant: &point.variant,
                simulated: Nanos(told.ran.simulated_ns),
                cpu: told.now.then(took).flatten(),
            });
            Ok(told.ran)
        });
        let results: Vec<RunFigures> = results.into_iter().collect::<Result<_, _>>()?;
        let mut of_points = results.chunks(seeds as usize);
        let judged = planned.into_iter().map(|variants| self.judge(variants, &mut of_points, length));
        judged.collect()
    }

    /// Judges the runs of these variants, which are off the front of all runs.
    fn judge<'a>(
        &self,
        variants: Vec<PlannedVariant>,
        of_points: &mut impl Iterator<Item = &'a [RunFigures]>,
        length: Length,
    ) -> Result<Judged, Error> {
        let observed: Vec<VariantRuns> =
            variants.iter().map(|variant| variant_runs(variant, of_points)).collect();
        let spec = ExperimentSpec {
            name: self.name.clone(),
            variants: variants.into_iter().map(|variant| variant.spec).collect(),
            requirements: self.file.requirement.clone(),
            full_length: length == Length::Full,
        };
        judge(&spec, &observed).map_err(|error| self.file.fault(error.to_string()))
    }
}

fn run(configuration: &str, experiment: &Experiment) -> Result<RunResult, Error> {
    let run = experiment.run().map_err(|source| Error::OfRun {
        configuration: configuration.to_owned(),
        seed: experiment.seed,
        source: Box::new(source),
    })?;
    Ok(run.result)
}

/// The runs of one variant, off the front of all runs.
fn variant_runs<'a>(
    variant: &PlannedVariant,
    of_points: &mut impl Iterator<Item = &'a [RunFigures]>,
) -> VariantRuns {
    let points: Vec<(&Point, &[RunFigures])> = variant.points.iter().zip(of_points).collect();
    let all = || points.iter().flat_map(|(_, runs)| runs.iter());
    VariantRuns {
        described: Described {
            loads: variant.loads.clone(),
            settings: variant.settings.clone(),
            points: variant.points.iter().filter_map(Point::text).collect(),
            simulated_ns: all().next().map_or(0, |run| run.simulated_ns),
            events: all().map(|run| run.events).sum(),
        },
        observed: points
            .iter()
            .map(|(point, runs)| Observed {
                at: point.at.clone(),
                runs: runs.iter().map(|run| run.figures.clone()).collect(),
            })
            .collect(),
    }
}

/// The metrics of a run, and how often the scheduler decided what: `decisions.tick_latency`.
fn all_figures(run: &RunResult) -> Figures {
    let decided = |reason: &Reason| {
        let count = run.decisions.get(reason.name()).copied().unwrap_or(0);
        (format!("decisions.{}", reason.name()), Figure::new(count, Unit::Count))
    };
    let mut all = figures(run);
    all.extend(Reason::ALL.iter().map(decided));
    all
}

/// Figures that have to agree one by one, before and after a change of a parameter.
fn moved(unchanged: &Judged, changed: &Judged) -> Vec<SensitivityRow> {
    let pairs = unchanged.variants.iter().zip(&changed.variants);
    let rows = pairs.flat_map(|(before, after)| {
        let rows = before.rows.iter().zip(&after.rows);
        rows.map(move |(old, new)| (&before.name, old, new))
    });
    let single = |row: &ReproducedRow| row.group.is_none();
    rows.filter(|(_, old, _)| single(old))
        .map(|(variant, old, new)| SensitivityRow {
            variant: variant.clone(),
            what: old.what.clone(),
            at: old.at,
            unchanged: old.simulated,
            simulated: new.simulated,
            agrees: new.agrees,
        })
        .collect()
}

#[cfg(test)]
mod tests;
