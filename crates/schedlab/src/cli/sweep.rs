//! `schedlab sweep`: thousands of runs of one experiment.

use super::common::Format;
use super::output::{Failure, Stream, command_line, print, typed};
use super::progress::Progress;
use super::report_page::ReportOptions;
use super::signals::Taken;
use super::voice::Voice;
use clap::ValueEnum;
use report::page::{Content, Page};
use report::text::Rows;
use schedlab::files::Disk;
use schedlab::sweep_folder::SweepFolder;
use schedlab::{Error, clocks};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use sweep::{Local, Sweep, SweepFile};

/// Run an experiment along axes (kernels, sizes, settings, parameters of loads, seeds) and keep every run.
///
/// FILE says what; docs/sweeps.md explains it. Each run has a hash of all that decides it, under which its
/// figures are kept in the folder: what is there is not run again, so a sweep that was stopped or killed goes
/// on where it was, and one with more values runs those only. A run that fails is a row with its error.
/// FOLDER/results.parquet has a row for each run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to sweep (.toml).
    #[arg(value_name = "FILE")]
    file: String,
    /// Where results are kept; made if it is not there [default: FILE with .sweep in place of .toml].
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Chunks of runs at the same time [default: as many as there are cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    workers: Option<u32>,
    /// What runs the chunks.
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = EngineName::Local)]
    engine: EngineName,
    /// Of a Ray cluster: HOST:PORT, ray://HOST:PORT or auto [default: one is started on this computer].
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print long tables in full.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    report: ReportOptions,
}

/// Who has the cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum EngineName {
    /// This computer.
    Local,
    /// A Ray cluster, by way of Python with the packages schedlab and ray.
    Ray,
}

pub fn execute(args: &Args, voice: Voice) -> Result<(), Failure> {
    if args.engine == EngineName::Ray {
        if args.report.is_wanted() {
            return Err(Error::ReportByRay.into());
        }
        return Err(by_python().into());
    }
    if args.address.is_some() {
        return Err(Error::AddressWithoutRay.into());
    }
    let file = SweepFile::parse(&args.file, &lab::file_text(&args.file, &Disk)?)?;
    let plan = file.plan(&Disk)?;
    let signals = Taken::once().map_err(Failure::Output)?;
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None if args.file == lab::STANDARD_STREAM => return Err(Error::SweepWithoutFolder.into()),
        None => Path::new(&args.file).with_extension("sweep"),
    };
    let folder = SweepFolder::open(&folder)?;
    let report = args.report.open(&[PathBuf::from(&args.file)])?;
    let local = Local::new(&Disk).with_clock(clocks::wall);
    let local = match args.workers {
        Some(workers) => local.with_workers(workers as usize),
        None => local,
    };
    let bar = Progress::of_uneven(plan.runs() as u64, voice);
    let sweep = Sweep { plan: &plan, folder: &folder, engine: &local, clock: Some(clocks::wall) };
    let mut reused = 0;
    let result = sweep.run(&mut |progress| {
        reused = progress.reused;
        bar.at(progress.done, progress.left.map(|left| Duration::from_nanos(left.0)));
        if signals.came().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish();
    let mut result = result.map_err(|error| signals.failure(error.into()))?;
    if reused > 0 {
        voice.note(&format!("{reused} of {} runs were there already", result.runs));
    }
    result.command = Some(command_line());
    if let Some(report) = report {
        report.write(&Page::of(Content::of_sweep(&result)))?;
    }
    let rows = if args.full { Rows::All } else { Rows::Folded };
    match args.format {
        Format::Text => print(&report::text::sweep(&result, rows)),
        Format::Json => Stream::Output.exact(&result.to_json()),
    }
}

/// Lets Python do what was typed, where the engine is; comes back only if that cannot be.
fn by_python() -> Error {
    const PYTHON: &str = "python3";
    let asked = Command::new(PYTHON)
        .args(["-c", "import ray, schedlab"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match asked {
        Ok(status) if status.success() => {
            let source = Command::new(PYTHON).args(["-m", "schedlab"]).args(typed().skip(1)).exec();
            Error::Command { program: PYTHON.to_owned(), source }
        }
        _ => Error::RayWithoutPython { python: PYTHON.to_owned() },
    }
}
