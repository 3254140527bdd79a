//! `schedlab tune`: which settings serve a load best.

use super::common::{Common, Format, Meant, say_what_differs};
use super::goal::goal;
use super::output::{Failure, Stream, command_line, print};
use super::progress::Progress;
use super::signals::Taken;
use super::typed::Typed;
use super::voice::Voice;
use schedlab::files::Disk;
use schedlab::sweep_folder::SweepFolder;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use sweep::Folder;
use tune::{KnobsFile, Request, Words};

/// Find which settings serve a load best, and say how sure that is.
///
/// FIGURE is a metric of `compare` by its key or name (hackbench.time, 'hackbench time'), or a short form:
/// p99(cyclictest), max(cyclictest/0), wait(cc1). Every value of every knob is tried alone; those that help
/// are combined by successive halving, and the best is confirmed on seeds that nothing was chosen by.
/// "Nothing helps" is an answer. docs/tuning.md explains it.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("goal").required(true).args(["minimize", "maximize"]))]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// What is to become smaller.
    #[arg(long, value_name = "FIGURE")]
    minimize: Option<String>,
    /// What is to become larger.
    #[arg(long, value_name = "FIGURE")]
    maximize: Option<String>,
    /// What has to hold besides: 'hackbench time < 1.05 x base', 'max(cyclictest) < 300us'; may be repeated.
    #[arg(long, value_name = "CONDITION")]
    subject_to: Vec<String>,
    /// What may be set (.toml) [default: all features and tunables of the kernel].
    #[arg(long, value_name = "FILE")]
    over: Option<String>,
    /// What everything is compared with [default: what the other options say].
    #[arg(long, value_name = "SETTINGS")]
    base: Option<String>,
    /// Seeds for each value alone, from --seed on; combinations take up to four times as many, and the
    /// confirmation twice as many.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(6..=1000),
    )]
    repeat: u32,
    /// Keep runs there, so that a tuning that was stopped or killed goes on where it was; made if it is not
    /// there.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub fn execute(args: &Args, typed: &Typed, voice: Voice) -> Result<(), Failure> {
    let Meant { text, reading, mut experiment, .. } = args.common.meaning(&[], typed)?;
    say_what_differs(&experiment.kernel, voice);
    let knobs = args.over.as_ref().map(|path| KnobsFile::parse(path, &lab::file_text(path, &Disk)?));
    let knobs = knobs.transpose()?;
    let folder = args.folder.as_deref().map(SweepFolder::open).transpose()?;
    let signals = Taken::once().map_err(Failure::Output)?;
    experiment.stop = Some(signals.flag());
    let request = Request {
        words: Words {
            recorded_on: args.common.recorded_on()?,
            text,
            experiment,
            reading: &reading,
            base: args.base.as_deref().unwrap_or(""),
        },
        goal: goal(args.minimize.as_deref(), args.maximize.as_deref()),
        subject_to: &args.subject_to,
        knobs: knobs.as_ref(),
        seeds: args.repeat,
        folder: folder.as_ref().map(|folder| folder as &dyn Folder),
    };
    let bar = Progress::of_uneven(0, voice);
    let reused = AtomicU64::new(0);
    let result = tune::tune(&request, &Disk, &|told| {
        bar.at_of(told.done, told.known);
        reused.fetch_max(told.reused, Ordering::Relaxed);
    });
    bar.finish();
    let mut result = result.map_err(|error| signals.failure(error.into()))?;
    result.command = Some(command_line());
    let reused = reused.into_inner();
    if reused > 0 {
        voice.note(&format!("{reused} of {} runs were there already", result.runs));
    }
    match args.common.format {
        Format::Text => print(&report::text::tuning(&result, args.common.rows())),
        Format::Json => Stream::Output.exact(&result.to_json()),
    }
}
