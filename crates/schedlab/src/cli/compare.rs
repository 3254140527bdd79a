//! `schedlab compare`: the same loads under several configurations.

use super::common::{Common, Format, Meant, say_what_runs};
use super::output::{Failure, Stream, command_line, print};
use super::picture::Picture;
use super::progress::Progress;
use super::report_page::ReportOptions;
use super::typed::Typed;
use super::voice::Voice;
use lab::{CompareWords, Plan};
use report::page::{Content, Page};
use schedlab::Error;
use schedlab::files::Disk;
use std::path::PathBuf;

/// Run the same loads, with the same randomness, under several configurations and print what changed.
///
/// SETTINGS are words with blanks between them: kernel=2.6.36 (or just 2.6.36), machine=NAME|FILE, cpus=N,
/// load=FILE in place of the base's loads, policy=TASK=fifo:50 and likewise nice=, affinity=, scale= and
/// without= for tasks of recordings, group=, in= and deadline= as --group, --in and --deadline, autogroup,
/// isolcpus=, nohz_full=, and whatever --set takes. Those of --base come on top of the options --machine,
/// --cpus, --kernel and --set; those of each
/// --with come on top of the base, so they say only what differs. (kernel= replaces the profile; single
/// settings of the base stay.)
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// The configuration to compare with [default: what the other options say].
    #[arg(long, value_name = "SETTINGS")]
    base: Option<String>,
    /// A configuration to compare; may be given several times.
    #[arg(long, value_name = "SETTINGS", required = true, value_parser = not_blank)]
    with: Vec<String>,
    /// Number of seeds, from --seed on.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=100_000),
    )]
    repeat: u32,
    #[command(flatten)]
    report: ReportOptions,
    /// Also draw how long woken tasks waited, in a run of each configuration with the first seed, over each
    /// other: a picture, by its ending SVG or PNG.
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
    /// Also compare what latencies are due to: which causes shrank, which grew.
    #[arg(long)]
    why: bool,
}

pub fn execute(args: &Args, typed: &Typed, voice: Voice) -> Result<(), Failure> {
    let Planned { plan, warning, files } = plan(args, typed)?;
    say_what_runs(std::iter::once(&plan.base).chain(&plan.variants).map(|arm| &arm.kernel), voice);
    let report = args.report.open(&files)?;
    let picture = args.plot.as_deref().map(|path| Picture::open(path, &files)).transpose()?;
    // Both need the first run of each configuration once more, with its log.
    let again = report.is_some() || picture.is_some();
    let runs_again = if again { 1 + plan.variants.len() as u64 } else { 0 };
    let progress = Progress::new(plan.runs() + runs_again, voice);
    let comparison = lab::compare(&plan, &|| progress.one_more()).and_then(|mut comparison| {
        comparison.warnings.splice(0..0, warning);
        comparison.command = Some(command_line());
        let finished = || progress.one_more();
        let timelines = again.then(|| lab::comparison_timelines(&plan, &finished));
        Ok((timelines.transpose()?.unwrap_or_default(), comparison))
    });
    progress.finish();
    let (timelines, comparison) = comparison?;
    if let Some(picture) = picture {
        picture.write_latencies(&timelines, &plan.experiment.tasks)?;
    }
    if let Some(report) = report {
        report.write(&Page { content: Content::of_comparison(&comparison), timelines })?;
    }
    match args.common.format {
        Format::Text => print(&report::text::comparison(&comparison, args.common.rows())),
        Format::Json => Stream::Output.exact(&comparison.to_json()),
    }
}

/// A configuration that says nothing is the base once more.
fn not_blank(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("say what differs from the base, such as cpus=8".to_owned());
    }
    Ok(text.to_owned())
}

struct Planned {
    plan: Plan,
    /// Why a result that is compared may not come out as it was.
    warning: Option<String>,
    /// The files that are read for it.
    files: Vec<PathBuf>,
}

fn plan(args: &Args, typed: &Typed) -> Result<Planned, Error> {
    let Meant { mut text, reading, mut experiment, warning, files, .. } = args.common.meaning(&[], typed)?;
    text.why |= args.why;
    experiment.why |= args.why;
    let words = CompareWords {
        text,
        experiment,
        reading: &reading,
        recorded_on: args.common.recorded_on()?,
        base: args.base.as_deref().unwrap_or(""),
        with: &args.with,
        repeat: args.repeat,
    };
    Ok(Planned { plan: Plan::of_words(words, &Disk)?, warning, files })
}
