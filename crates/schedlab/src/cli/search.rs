//! `schedlab search`: the worst case on purpose.

use super::common::{Common, Format, Meant, say_what_differs};
use super::goal::goal;
use super::output::{Failure, Stream, command_line, print, write};
use super::progress::Progress;
use super::signals::Taken;
use super::typed::Typed;
use super::voice::Voice;
use clap::ValueEnum;
use schedlab::files::Disk;
use schema::SearchMethod;
use std::path::PathBuf;
use tune::{SearchRequest, Words};

/// Look for the run that is worst in a figure, of all that loads and machine allow.
///
/// What is random in a run (phases, jitters, bursts, disturbances) is drawn from keyed streams. The search
/// repeats the worst runs up to a moment before their worst, and draws anew from there, so that each run
/// could have been one with another seed. `schedlab run FILE` repeats what --save FILE keeps. docs/search.md
/// explains it.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("worst").required(true).args(["maximize", "minimize"]))]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// The figure whose largest value is wanted: 'max(cyclictest/0)'.
    #[arg(long, value_name = "FIGURE")]
    maximize: Option<String>,
    /// The figure whose smallest value is wanted.
    #[arg(long, value_name = "FIGURE")]
    minimize: Option<String>,
    /// End when this is reached, such as 300us.
    #[arg(long, value_name = "VALUE")]
    until: Option<String>,
    /// Number of runs at most.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// How runs are chosen.
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Method::Guided)]
    method: Method,
    /// Keep the worst run as an experiment, which `run` repeats.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// How runs are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Method {
    /// Most are as one of the worst so far up to a moment before its worst.
    Guided,
    /// A seed for each.
    Random,
}

pub fn execute(args: &Args, typed: &Typed, voice: Voice) -> Result<(), Failure> {
    let Meant { text, reading, mut experiment, files, .. } = args.common.meaning(&[], typed)?;
    say_what_differs(&experiment.kernel, voice);
    let signals = Taken::once().map_err(Failure::Output)?;
    experiment.stop = Some(signals.flag());
    let request = SearchRequest {
        words: Words {
            recorded_on: args.common.recorded_on()?,
            text,
            experiment,
            reading: &reading,
            base: "",
        },
        goal: goal(args.minimize.as_deref(), args.maximize.as_deref()),
        method: match args.method {
            Method::Guided => SearchMethod::Guided,
            Method::Random => SearchMethod::Random,
        },
        runs: args.runs,
        until: args.until.as_deref(),
    };
    let bar = Progress::of_uneven(args.runs, voice);
    let result = tune::search(&request, &Disk, &|made| bar.at(made, None));
    bar.finish();
    let mut result = result.map_err(|error| signals.failure(error.into()))?;
    result.command = Some(command_line());
    if let Some(path) = &args.save {
        write(path, &files, result.scenario())?;
    }
    match args.common.format {
        Format::Text => print(&report::text::search(&result)),
        Format::Json => Stream::Output.exact(&result.to_json()),
    }?;
    match signals.came().filter(|_| result.stopped) {
        // What it found until then is told.
        Some(signal) => Err(Failure::Signal(signal, None)),
        None => Ok(()),
    }
}
