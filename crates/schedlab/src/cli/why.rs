//! `schedlab why`: what the worst latencies of a run are made of.

use super::common::{Common, Format, say_what_runs};
use super::output::{Failure, Stream, command_line, open, print};
use super::typed::Typed;
use super::voice::Voice;
use lab::{Experiment, Question};
use schedlab::Error;
use scheduler::Nanos;
use std::io::Write;
use std::path::PathBuf;
use workload::units;

/// Run loads and explain the worst wakeups: what each latency is made of, to the nanosecond.
///
/// A latency begins when the task should have been woken: when its timer was due as it had asked for, when
/// an interrupt came, when another task set about it; of a wait for a mutex, when it began. It ends with the
/// task's first instruction. --task says whose wakeups. A result (`--format json` of `run`) is repeated
/// first.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// Number of wakeups to explain, those with the longest latencies.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
    )]
    worst: u32,
    /// Explain those that are on their way at this time of the run; seconds without a unit.
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Nanos>,
    /// Of so many of them try what would have helped: the run again, with one related setting or priority
    /// changed from just before the moment on.
    #[arg(long, value_name = "N", default_value_t = 1)]
    tries: u32,
    /// Also sum up what all wakeups of each task are due to.
    #[arg(long)]
    blame: bool,
    /// Draw that as flames, each cause as wide as the time that it takes, into this file (SVG).
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub fn execute(args: &Args, typed: &Typed, voice: Voice) -> Result<(), Failure> {
    // Of a result that is run again, it says whose wakeups.
    let meant = args.common.meaning(&[], &typed.without("--task"))?;
    say_what_runs([&meant.experiment.kernel], voice);
    let experiment = Experiment { tasks: args.common.tasks().to_vec(), ..meant.experiment };
    let question = Question {
        worst: args.worst as usize,
        at: args.at,
        tries: args.tries as usize,
        blame: args.blame || args.plot.is_some(),
    };
    let plot = args.plot.as_deref().map(|path| open(path, &meant.files)).transpose()?;
    let mut result = lab::why(&experiment, question)?;
    if let Some(mut file) = plot {
        let flames = report::plot::blame(&result.blame).ok_or(Error::NobodyLate)?;
        file.write_all(flames.svg.as_bytes()).map_err(|source| file.failed(source))?;
        file.commit()?;
    }
    result.notes.splice(0..0, meant.warning);
    result.command = Some(command_line());
    match args.common.format {
        Format::Text => print(&report::text::why(&result, args.common.rows())),
        Format::Json => Stream::Output.exact(&result.to_json()),
    }
}

fn time(text: &str) -> Result<Nanos, String> {
    units::duration(text, Nanos::from_secs(1))
}
