//! `schedlab inspect`: what is in a trace.

use super::common::Format;
use super::output::{Failure, Stream, command_line, print};
use super::picture::Picture;
use super::report_page::ReportOptions;
use super::window::StretchOptions;
use clap::ValueEnum;
use lab::{Inspected, Inspection, Window};
use report::page::{Content, Page};
use report::text::Rows;
use schedlab::files::Disk;
use std::path::PathBuf;
use trace::DelaysFrom;
use workload::replay::TaskSelector;

/// Say what is in a trace: events, CPUs, tasks, lost events, and the table of perf sched latency; of two,
/// what differs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A trace.dat, a perf.data, a Perfetto trace or ftrace text; `-` for standard input.
    #[arg(value_name = "TRACE")]
    trace: String,
    /// Another one: both side by side, tasks matched by command name, what differs most first.
    #[arg(value_name = "OTHER")]
    other: Option<String>,
    /// Where a task's delay begins.
    #[arg(long, value_name = "EVENT", value_enum, default_value_t = Wakeups::Wakeup)]
    delays_from: Wakeups,
    /// Tasks in the table of latencies and in those of two traces, by name, pattern of names (cc*) or pid;
    /// may be repeated [default: all].
    #[arg(long, value_name = "TASK", value_parser = str::parse::<TaskSelector>)]
    task: Vec<TaskSelector>,
    #[command(flatten)]
    stretch: StretchOptions,
    /// How to print the result.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print long tables in full.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    report: ReportOptions,
    /// Also draw the timeline of the trace (with --from and --to of that stretch) and the histogram of wakeup
    /// latencies; of two traces how long woken tasks waited, over each other: a picture, by its ending SVG or
    /// PNG.
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Wakeups {
    /// With sched_wakeup or sched_wakeup_new, as in perf 6.1.
    Wakeup,
    /// With sched_waking too.
    Waking,
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    let delays_from = match args.delays_from {
        Wakeups::Wakeup => DelaysFrom::Wakeup,
        Wakeups::Waking => DelaysFrom::Waking,
    };
    let asked = Inspection {
        delays_from,
        tasks: args.task.clone(),
        window: args.stretch.stretch()?.map(Window::from),
    };
    let rows = if args.full { Rows::All } else { Rows::Folded };
    let inputs: Vec<PathBuf> = std::iter::once(&args.trace).chain(&args.other).map(PathBuf::from).collect();
    let report = args.report.open(&inputs)?;
    let picture = args.plot.as_deref().map(|path| Picture::open(path, &inputs)).transpose()?;
    let is_drawn = report.is_some() || picture.is_some();
    if let Some(other) = &args.other {
        let traces = [args.trace.as_str(), other];
        let Inspected { mut result, timelines } = if is_drawn {
            lab::inspect_both_with_timelines(traces, &asked, &Disk)?
        } else {
            Inspected { result: lab::inspect_both(traces, &asked, &Disk)?, timelines: Vec::new() }
        };
        result.command = Some(command_line());
        if let Some(picture) = picture {
            picture.write_latencies(&timelines, &args.task)?;
        }
        if let Some(report) = report {
            report.write(&Page { content: Content::of_recordings(&result), timelines })?;
        }
        return match args.format {
            Format::Text => print(&report::text::recordings(&result, rows)),
            Format::Json => Stream::Output.exact(&result.to_json()),
        };
    }
    let Inspected { mut result, timelines } = if is_drawn {
        lab::inspect_with_timeline(&args.trace, &asked, &Disk)?
    } else {
        Inspected { result: lab::inspect(&args.trace, &asked, &Disk)?, timelines: Vec::new() }
    };
    result.command = Some(command_line());
    if let Some((picture, timeline)) = picture.zip(timelines.first()) {
        picture.write_timeline(timeline, &args.task)?;
    }
    if let Some(report) = report {
        report.write(&Page { content: Content::of_inspection(&result), timelines })?;
    }
    match args.format {
        Format::Text => print(&report::text::inspect(&result, rows)),
        Format::Json => Stream::Output.exact(&result.to_json()),
    }
}
