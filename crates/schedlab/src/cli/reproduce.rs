//! `schedlab reproduce`: published experiments beside simulated ones.

use super::common::Format;
use super::output::{Failure, Stream, command_line, print, say, write};
use super::picture::PictureFormat;
use super::progress::Progress;
use super::report_page::ReportOptions;
use super::speed::Speed;
use super::voice::Voice;
use lab::{FinishedRun, Host, Length, PublishedExperiment, RunsSoFar};
use report::page::{Content, Page};
use report::text::{WIDTH, in_columns};
use schedlab::files::Disk;
use schedlab::fitted_machine::rewritten;
use schedlab::kept_runs::RunsFile;
use schedlab::outputs::check_folder;
use schedlab::{Error, clocks};
use schema::ReproduceSchema;
use schema::fit::Fit;
use schema::reproduction::{ReproducedExperiment, Reproduction};
use std::path::{Path, PathBuf};

/// Run published experiments again and print their figures beside the simulated ones.
///
/// `schedlab list experiments` shows the names. Whatever should agree and does not, without a known reason,
/// makes the exit code 1.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which: 001, the beginning of several names (001-), all, or an experiment file (.toml).
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Fewer seeds and shorter runs: everything in two minutes.
    #[arg(long)]
    quick: bool,
    /// Also halve and double each parameter that no document gives (at quick length), and say what that
    /// changes.
    #[arg(long)]
    sensitivity: bool,
    /// Also choose the parameters anew that the file's table [fit] leaves free, by the published figures
    /// that it names, and say what that makes of the others.
    #[arg(long)]
    fit: bool,
    /// Write the machine's file with what was found to this file.
    #[arg(long, value_name = "FILE", requires = "fit")]
    fit_output: Option<PathBuf>,
    /// Store each result in this folder: NAME.json and NAME.txt, and NAME.quick.json to tell when they are
    /// outdated.
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// Keep each run in this file as it ends, and take what the file has: a reproduction that was killed goes
    /// on where it was.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Draw what a sweep varies, a picture for each figure, into this folder: NAME.FIGURE.svg.
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    /// Format of these pictures, and the ending of their names.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = PictureFormat::Svg, requires = "plot")]
    plot_format: PictureFormat,
    /// Also say, on standard error, how many times real time each variant ran on one core: simulated time by
    /// CPU time.
    #[arg(long)]
    speed: bool,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    report: ReportOptions,
}

pub fn execute(args: &Args, voice: Voice) -> Result<(), Failure> {
    if args.names.is_empty() {
        return Err(nothing_named()?.into());
    }
    let mut experiments = Vec::new();
    for name in &args.names {
        experiments.extend(PublishedExperiment::of_name(name, &Disk)?);
    }
    if args.plot.is_some() && !experiments.iter().any(PublishedExperiment::is_swept) {
        return Err(Error::NothingToPlot(args.names.join(" ")).into());
    }
    if args.fit && !experiments.iter().any(PublishedExperiment::has_fit) {
        return Err(Error::NothingFitted(args.names.join(" ")).into());
    }
    if args.fit_output.is_some() && !matches!(experiments.as_slice(), [one] if one.fits_machine()) {
        return Err(Error::NoFittedMachine(args.names.join(" ")).into());
    }
    for folder in [&args.save, &args.plot].into_iter().flatten() {
        check_folder(folder)?;
    }
    let page = args.report.open(&[])?;
    let runs = |experiment: &PublishedExperiment| {
        let quick = if args.also_quick() { experiment.runs(Length::Quick, false) } else { 0 };
        experiment.runs(args.length(), args.sensitivity) + quick
    };
    let runs: u64 = experiments.iter().map(runs).sum();
    if let [_, _, ..] = experiments.as_slice() {
        let names: Vec<&str> = experiments.iter().map(|experiment| experiment.name.as_str()).collect();
        voice.note(&format!("{} experiments, {runs} runs: {}", names.len(), names.join(", ")));
    }
    let progress = Progress::new(runs, voice);
    let so_far = match &args.resume {
        Some(file) => RunsSoFar::kept_in(Box::new(kept_runs(file)?)),
        None => RunsSoFar::default(),
    };
    let done: Result<Vec<ReproducedExperiment>, Failure> =
        experiments.iter().map(|experiment| args.run(experiment, &progress, &so_far)).collect();
    progress.finish();
    let reproduction = args.report(done?, args.quick, command_line());
    if let Some(folder) = &args.plot {
        for plot in reproduction.experiments.iter().flat_map(report::plot::swept) {
            let file = folder.join(format!("{}.{}", plot.name, args.plot_format.ending()));
            write(&file, &[], args.plot_format.encoded(plot.svg)?)?;
        }
    }
    if let Some(page) = page {
        page.write(&Page::of(Content::of_reproduction(&reproduction)))?;
    }
    match args.format {
        Format::Text => print(&report::text::reproduction(&reproduction))?,
        Format::Json => Stream::Output.exact(&reproduction.to_json())?,
    }
    let failed: Vec<String> = reproduction.experiments.iter().flat_map(|e| e.failures()).collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::Disagreement(failed)) }
}

/// Which there are, and how much running all of them is.
fn nothing_named() -> Result<Error, lab::Error> {
    let all = PublishedExperiment::of_name("all", &Disk)?;
    let runs = |length| all.iter().map(|experiment| experiment.runs(length, false)).sum();
    let names: Vec<&str> = all.iter().map(|experiment| experiment.name.as_str()).collect();
    Ok(Error::NoExperimentNamed {
        names: names.join(", "),
        runs: runs(Length::Full),
        quick_runs: runs(Length::Quick),
    })
}

fn kept_runs(file: &Path) -> Result<RunsFile, Error> {
    let kept = RunsFile::open(file)?;
    if kept.runs() > 0 {
        say(&format!("{}: {} runs are there already\n", file.display(), kept.runs()));
    }
    Ok(kept)
}

impl Args {
    fn length(&self) -> Length {
        if self.quick { Length::Quick } else { Length::Full }
    }

    /// Stored results of full length come with quick ones.
    fn also_quick(&self) -> bool {
        self.save.is_some() && !self.quick
    }

    fn run(
        &self,
        experiment: &PublishedExperiment,
        progress: &Progress,
        so_far: &RunsSoFar,
    ) -> Result<ReproducedExperiment, Failure> {
        let speed = Speed::default();
        let finished = |run: FinishedRun<'_>| {
            progress.one_more();
            speed.count(run);
        };
        let host =
            Host { files: &Disk, cpu_clock: Some(clocks::thread_cpu_time), finished: &finished, so_far };
        let mut result = experiment.run(self.length(), host)?;
        if self.sensitivity {
            result.sensitivity = experiment.sensitivity(host)?;
        }
        if self.fit && experiment.has_fit() {
            let searched = |run: FinishedRun<'_>| {
                progress.another();
                speed.count(run);
            };
            let fit = experiment.fit(self.length(), Host { finished: &searched, ..host })?;
            if let Some(file) = &self.fit_output {
                self.write_machine(experiment, &fit, file)?;
            }
            result.fit = Some(fit);
        }
        if let Some(folder) = &self.save {
            if self.also_quick() {
                let quick = experiment.run(Length::Quick, host)?;
                result.quick_events = quick.variants.iter().map(|variant| variant.events).collect();
                self.store(folder, &experiment.argument, quick, true)?;
            }
            self.store(folder, &experiment.argument, result.clone(), self.quick)?;
        }
        if self.speed {
            say(&speed.lines(&experiment.name));
        }
        Ok(result)
    }

    /// Writes the machine's file with what a fit found.
    fn write_machine(&self, experiment: &PublishedExperiment, fit: &Fit, file: &Path) -> Result<(), Failure> {
        let Some(machine) = experiment.fitted_machine(fit, &Disk)? else {
            return Err(Error::NoFittedMachine(experiment.argument.clone()).into());
        };
        let quick = if self.quick { " --quick" } else { "" };
        let by = format!("schedlab reproduce {} --fit{quick}", experiment.argument);
        write(file, &[], rewritten(&machine, &by).map_err(Error::from)?)
    }

    fn report(&self, experiments: Vec<ReproducedExperiment>, quick: bool, command: String) -> Reproduction {
        Reproduction {
            schema: ReproduceSchema,
            command: Some(command),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick,
            experiments,
        }
    }

    /// Stores one experiment with the command that repeats it.
    fn store(
        &self,
        folder: &Path,
        argument: &str,
        result: ReproducedExperiment,
        quick: bool,
    ) -> Result<(), Failure> {
        let name = result.name.clone();
        let quick_option = if quick { " --quick" } else { "" };
        let sensitivity = if result.sensitivity.is_empty() { "" } else { " --sensitivity" };
        let fit = if result.fit.is_some() { " --fit" } else { "" };
        let command = format!("schedlab reproduce {argument}{quick_option}{sensitivity}{fit}");
        let report = self.report(vec![result], quick, command);
        let ending = if quick { ".quick.json" } else { ".json" };
        write(&folder.join(format!("{name}{ending}")), &[], report.to_json())?;
        if !quick {
            // A file is the same wherever it is made.
            let text = in_columns(WIDTH, || report::text::reproduction(&report));
            write(&folder.join(format!("{name}.txt")), &[], text)?;
        }
        Ok(())
    }
}
