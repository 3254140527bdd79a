//! `schedlab run`: one experiment.

use super::common::{Common, Format, Meant, say_what_runs};
use super::output::{Failure, Stream, command_line, open};
use super::picture::Picture;
use super::report_page::ReportOptions;
use super::typed::Typed;
use super::voice::Voice;
use clap::ValueEnum;
use lab::{Experiment, Logged, Programs, STANDARD_STREAM, TraceFormat, machine_beside};
use schedlab::Error;
use schedlab::outputs::{Output, OutputError, is_same_file};
use schema::RunResult;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Run loads on a simulated machine and print what they and the scheduler counted.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// Also write a trace of the run: .dat for KernelShark and trace-cmd; .pftrace or .perfetto-trace for
    /// ui.perfetto.dev; .txt, .trace or .ftrace for the kernel's text; .json for Chrome's viewer; .jsonl for
    /// the log, all that happened as JSON lines.
    ///
    /// All but .json and .jsonl can be run again: `schedlab run OUT`. For that, OUT.machine.toml is written
    /// beside it, the file of the machine. OUT may be a device or a pipe, or `-` for standard output; the
    /// result goes to standard error then.
    #[arg(long, value_name = "OUT")]
    trace: Option<PathBuf>,
    /// Format of the trace [default: what the ending of OUT says; dat for `-`].
    #[arg(long, value_name = "FORMAT", value_enum, requires = "trace")]
    trace_format: Option<WrittenFormat>,
    /// Leave out of the trace what the programs do (events `schedlab_program`): it holds what a recorder
    /// would have seen.
    ///
    /// Such a trace is smaller, and a replay of it infers the programs, as that of a recording does.
    #[arg(long, requires = "trace")]
    no_program: bool,
    /// Also show a file of Linux as of some moment: sched_debug@2s, schedstat@end, proc/1000/sched@end; may
    /// be repeated.
    ///
    /// The files are sched_debug, schedstat, sched_features, proc/PID/sched and proc/PID/schedstat; PIDs are
    /// those of the result, in a replay the recorded ones. A time without a unit is in seconds.
    #[arg(long, value_name = "FILE@TIME")]
    dump: Vec<String>,
    /// Also store the result in this file, as JSON: `schedlab run FILE` runs it again, and `compare FILE`
    /// compares it.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    report: ReportOptions,
    /// Also draw the timeline of the run (with --from and --to of that stretch) and the histogram of wakeup
    /// latencies: a picture, by its ending SVG or PNG.
    #[arg(long, value_name = "FILE.svg|png")]
    plot: Option<PathBuf>,
    /// Also sum up what latencies are due to, by the names of the tasks (`schedlab why` explains each).
    #[arg(long)]
    why: bool,
}

/// Formats of traces under the names of their file endings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum WrittenFormat {
    /// trace.dat.
    Dat,
    /// Perfetto's protobuf.
    Pftrace,
    /// The kernel's text.
    Ftrace,
    /// Chrome's JSON.
    Json,
    /// The log: JSON lines.
    Log,
}

impl From<WrittenFormat> for TraceFormat {
    fn from(format: WrittenFormat) -> TraceFormat {
        match format {
            WrittenFormat::Dat => TraceFormat::TraceDat,
            WrittenFormat::Pftrace => TraceFormat::Perfetto,
            WrittenFormat::Ftrace => TraceFormat::FtraceText,
            WrittenFormat::Json => TraceFormat::ChromeJson,
            WrittenFormat::Log => TraceFormat::Log,
        }
    }
}

pub fn execute(args: &Args, typed: &Typed, voice: Voice) -> Result<(), Failure> {
    let format = |path: &PathBuf| match args.trace_format {
        Some(format) => Ok(format.into()),
        None if path == Path::new(STANDARD_STREAM) => Ok(TraceFormat::TraceDat),
        None => TraceFormat::of(path),
    };
    let format = args.trace.as_ref().map(format).transpose()?;
    let meant = args.common.meaning(&args.dump, typed)?;
    say_what_runs([&meant.experiment.kernel], voice);
    let trace = args.trace.as_deref().zip(format);
    let trace = trace.map(|(path, format)| TraceFile::open(path, format, &meant)).transpose()?;
    if args.save.as_deref() == Some(Path::new(STANDARD_STREAM)) {
        return Err(Error::SaveToStandardOutput.into());
    }
    let saved = args.save.as_deref().map(|path| open(path, &meant.files)).transpose()?;
    let report = args.report.open(&meant.files)?;
    let picture = args.plot.as_deref().map(|path| Picture::open(path, &meant.files)).transpose()?;
    let record = trace.is_some() || report.is_some() || picture.is_some();
    let why = args.why || meant.experiment.why;
    let experiment = Experiment { record, why, ..meant.experiment };
    let mut run = experiment.run()?;
    let results = Stream::beside(trace.as_ref().map(|trace| &trace.file));
    if let Some((trace, logged)) = trace.zip(run.logged.as_ref()) {
        let programs = if args.no_program { Programs::LeftOut } else { Programs::Told };
        trace.write(logged, programs)?;
    }
    run.result.warnings.splice(0..0, meant.warning);
    run.result.command = meant.command.or_else(|| Some(command_line()));
    if let Some(report) = report {
        let page = if why { run.page_with_reasons(&experiment)? } else { run.page() };
        report.write(&page)?;
    }
    if let Some((picture, logged)) = picture.zip(run.logged.as_ref()) {
        picture
            .write_timeline(&logged.timeline(&loads(&run.result), run.result.window), &experiment.tasks)?;
    }
    if let Some(mut file) = saved {
        file.write_all(run.result.to_json().as_bytes()).map_err(|source| file.failed(source))?;
        file.commit()?;
    }
    match args.common.format {
        Format::Text => results.text(&report::text::run(&run.result, args.common.rows())),
        Format::Json => results.exact(&run.result.to_json()),
    }
}

/// All loads, as they were given.
fn loads(result: &RunResult) -> String {
    result.loads.iter().map(|load| load.load()).collect::<Vec<_>>().join(" + ")
}

/// Opened before the run, so that nobody waits for a run whose trace cannot be written.
struct TraceFile {
    file: Output,
    format: TraceFormat,
    /// What replays the trace as it was, if that can be and the file is not there already.
    machine: Option<MachineFile>,
}

/// The file of the machine, beside the trace.
struct MachineFile {
    file: Output,
    text: String,
}

impl TraceFile {
    fn open(path: &Path, format: TraceFormat, meant: &Meant) -> Result<TraceFile, Failure> {
        let file = open(path, &meant.files)?;
        let (used, content) = (meant.experiment.machine.file(), meant.experiment.machine.content());
        let beside = machine_beside(&path.to_string_lossy());
        let is_there = used.is_some_and(|used| is_same_file(&used, &beside));
        let machine = match content.filter(|_| format.can_be_read() && file.is_file() && !is_there) {
            Some(content) => {
                Some(MachineFile { file: open(&beside, &meant.files)?, text: content.to_owned() })
            }
            None => None,
        };
        Ok(TraceFile { file, format, machine })
    }

    fn write(mut self, logged: &Logged, programs: Programs) -> Result<(), OutputError> {
        logged
            .write_trace(&mut self.file, self.format, programs)
            .map_err(|source| self.file.failed(source))?;
        if let Some(MachineFile { mut file, text }) = self.machine {
            file.write_all(text.as_bytes()).map_err(|source| file.failed(source))?;
            file.commit()?;
        }
        self.file.commit()
    }
}
