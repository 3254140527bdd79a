//! `schedlab why`: what the worst latencies of a run, or of a recording, are made of.

use super::common::{Common, Format, say_what_runs};
use super::output::{Failure, Stream, command_line, print};
use super::picture::Picture;
use super::report_page::{Report, ReportOptions};
use super::typed::Typed;
use super::voice::Voice;
use lab::{AskedRecording, Experiment, Explained, Question, RecordedQuestion, STANDARD_STREAM};
use report::page::Page;
use report::why::Waits;
use schedlab::Error;
use schedlab::files::Disk;
use scheduler::Nanos;
use schema::why::WhyResult;
use std::path::PathBuf;
use trace::WaitsMeant;
use workload::units;

/// Run loads and explain the worst wakeups: what each latency is made of, to the nanosecond.
///
/// A latency begins when the task should have been woken: when its timer was due as it had asked for, when
/// an interrupt came, when another task set about it; of a wait for a mutex, when it began. It ends with the
/// task's first instruction. --task says whose wakeups. A result (`--format json` of `run`) is repeated
/// first. A recording alone is explained as it was recorded; only what would have helped is tried in its
/// replay.
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
    ///
    /// Of a recording since its first event, or on its own clock.
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Nanos>,
    /// Of so many of them try what would have helped: the run again, with one related setting or priority
    /// changed from just before the moment on [default: 1; of a recording that is long, or whose replay is
    /// far from it in latencies, 0].
    ///
    /// Of a recording it is tried in its replay, against the wakeup that is most like the recorded one.
    #[arg(long, value_name = "N")]
    tries: Option<u32>,
    /// Also explain waits that began when a task was preempted, or throttled.
    #[arg(long)]
    preempted: bool,
    /// Explain the replay of a recording, not the recording itself.
    #[arg(long)]
    replay: bool,
    /// Also sum up what all wakeups of each task are due to.
    #[arg(long)]
    blame: bool,
    /// Draw that as flames, each cause as wide as the time that it takes, as a picture, by its ending SVG or
    /// PNG.
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    report: ReportOptions,
}

pub fn execute(args: &Args, typed: &Typed, voice: Voice) -> Result<(), Failure> {
    if let Some(recording) = args.common.recording_alone()? {
        if !args.replay {
            return recorded(args, recording, typed);
        }
    } else if args.replay {
        return Err(Error::NoRecording("--replay").into());
    }
    // Of a result that is run again, it says whose wakeups.
    let meant = args.common.meaning(&[], &typed.without("--task").without("--replay"))?;
    say_what_runs([&meant.experiment.kernel], voice);
    let experiment = Experiment { tasks: args.common.tasks().to_vec(), ..meant.experiment };
    let question = Question {
        worst: args.worst as usize,
        waits: if args.preempted { Waits::Runnable } else { Waits::Wakeups },
        at: args.at,
        tries: args.tries.map(|tries| tries as usize),
        blame: args.blame || args.plot.is_some(),
    };
    let files = Beside::open(args, &meant.files)?;
    let mut found = match files.report {
        None => Found { why: lab::why(&experiment, question)?, page: None },
        Some(_) => Found::of(lab::why_with_page(&experiment, question)?),
    };
    found.say_first(meant.warning);
    show(args, found, files)
}

/// A recording alone is explained as it is.
fn recorded(args: &Args, recording: &str, typed: &Typed) -> Result<(), Failure> {
    // The others say how to replay it, for what would have helped.
    let told = ["--task", "--from", "--to", "--preempted"];
    let replay = told.into_iter().fold(typed.clone(), |typed, option| typed.without(option)).any();
    if let (Some(options), Some(0)) = (&replay, args.tries) {
        return Err(Error::NothingReplayed { options: options.clone() }.into());
    }
    let question = RecordedQuestion {
        tasks: args.common.tasks().to_vec(),
        waits: if args.preempted { WaitsMeant::Runnable } else { WaitsMeant::Wakeups },
        worst: args.worst as usize,
        at: args.at,
        window: args.common.window()?,
        blame: args.blame || args.plot.is_some(),
    };
    let files = Beside::open(args, &[recording.into()])?;
    let mut asked = AskedRecording::open(recording, &question, &Disk)?;
    let insists = args.tries.is_some() || replay.is_some();
    if args.tries != Some(0) {
        try_in_replay(args, &mut asked, Wanted { typed, insists })?;
    }
    let found = match files.report {
        None => Found { why: asked.why, page: None },
        Some(_) => Found::of(asked.with_page()?),
    };
    show(args, found, files)
}

/// A replay of so many events takes about a second, and each of its tries as long.
const MOST_EVENTS: usize = 200_000;

struct Wanted<'a> {
    typed: &'a Typed,
    /// Somebody has said to replay it, or how.
    insists: bool,
}

/// What would have helped is tried in a replay: by itself where that is quick, else only if it is asked for.
fn try_in_replay(args: &Args, asked: &mut AskedRecording, wanted: Wanted<'_>) -> Result<(), Failure> {
    let is_stream = args.common.recording_alone()? == Some(STANDARD_STREAM);
    let note = match wanted.insists {
        true if is_stream => return Err(Error::TriesOfStream.into()),
        false if is_stream => {
            "what would have helped is tried of a file only, since a stream can be read only once".to_owned()
        }
        false if asked.events() > MOST_EVENTS => format!(
            "what would have helped is tried only if --tries 1 asks for it: a replay of {} events takes a \
             while",
            asked.events()
        ),
        insists => {
            let tried = args.common.meaning(&[], wanted.typed).and_then(|meant| {
                let tries = args.tries.map(|tries| tries as usize);
                Ok(asked.try_in(&meant.experiment, tries)?)
            });
            match tried {
                Err(error) if !insists => format!("what would have helped cannot be tried: {error}"),
                tried => return Ok(tried?),
            }
        }
    };
    asked.why.notes.push(note);
    Ok(())
}

/// What is written beside the text; begun before the run.
struct Beside {
    plot: Option<Picture>,
    report: Option<Report>,
}

impl Beside {
    fn open(args: &Args, inputs: &[PathBuf]) -> Result<Beside, Failure> {
        let plot = args.plot.as_deref().map(|path| Picture::open(path, inputs)).transpose()?;
        Ok(Beside { plot, report: args.report.open(inputs)? })
    }
}

/// What was found, and the page of it, if one is wanted.
struct Found {
    why: WhyResult,
    page: Option<Page>,
}

impl Found {
    fn of(explained: Explained) -> Found {
        Found { why: explained.result, page: Some(explained.page) }
    }

    fn say_first(&mut self, warning: Option<String>) {
        if let Some(page) = &mut self.page {
            page.content.warnings.splice(0..0, warning.clone());
        }
        self.why.notes.splice(0..0, warning);
    }
}

/// What a try in one run does not tell.
const ONE_SEED: &str = "what helps was tried in this one run, with its seed, from one moment on: `schedlab compare` \
                        with the setting as --with, and --repeat 16, tells whether it helps as a rule";

fn show(args: &Args, found: Found, files: Beside) -> Result<(), Failure> {
    let Found { why: mut result, page } = found;
    result.command = Some(command_line());
    let helps = result.explanations.iter().any(|one| one.remedies.as_ref().is_some_and(|of| of.any_helps));
    result.notes.extend(helps.then(|| ONE_SEED.to_owned()));
    if let Some((report, mut page)) = files.report.zip(page) {
        page.content.command.clone_from(&result.command);
        report.write(&page)?;
    }
    if let Some(picture) = files.plot {
        picture.write(report::plot::blame(&result.blame).ok_or(Error::NobodyLate)?.svg)?;
    }
    match args.common.format {
        Format::Text => print(&report::text::why(&result, args.common.rows())),
        Format::Json => Stream::Output.exact(&result.to_json()),
    }
}

fn time(text: &str) -> Result<Nanos, String> {
    units::duration(text, Nanos::from_secs(1))
}
