//! `schedlab inspect`: what is in a trace.

use super::common::Format;
use super::output::{Failure, Stream, command_line, print};
use super::report_page::ReportOptions;
use super::window::StretchOptions;
use clap::ValueEnum;
use lab::{Inspection, Window};
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
    if let Some(other) = &args.other {
        let traces = [args.trace.as_str(), other];
        let result = match report {
            None => {
                let mut result = lab::inspect_both(traces, &asked, &Disk)?;
                result.command = Some(command_line());
                result
            }
            Some(report) => {
                let mut found = lab::inspect_both_with_timelines(traces, &asked, &Disk)?;
                found.result.command = Some(command_line());
                let content = Content::of_recordings(&found.result);
                report.write(&Page { content, timelines: found.timelines })?;
                found.result
            }
        };
        return match args.format {
            Format::Text => print(&report::text::recordings(&result, rows)),
            Format::Json => Stream::Output.exact(&result.to_json()),
        };
    }
    let result = match report {
        None => {
            let mut result = lab::inspect(&args.trace, &asked, &Disk)?;
            result.command = Some(command_line());
            result
        }
        Some(report) => {
            let mut found = lab::inspect_with_timeline(&args.trace, &asked, &Disk)?;
            found.result.command = Some(command_line());
            let content = Content::of_inspection(&found.result);
            report.write(&Page { content, timelines: found.timelines })?;
            found.result
        }
    };
    match args.format {
        Format::Text => print(&report::text::inspect(&result, rows)),
        Format::Json => Stream::Output.exact(&result.to_json()),
    }
}
