//! `schedlab run`: one experiment.

use super::common::{Common, Format};
use super::output::{Failure, command_line, print};
use schedlab::{DumpRequest, Error, Experiment, Run, TraceFormat};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Run loads on a simulated machine and print what they and the scheduler counted.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// Also write a trace of the run: .dat for KernelShark and trace-cmd; .pftrace or .perfetto-trace for
    /// ui.perfetto.dev; .txt, .trace or .ftrace for the kernel's text; .json for Chrome's viewer.
    #[arg(long, value_name = "OUT")]
    trace: Option<PathBuf>,
    /// Also show a file of Linux as of some moment: sched_debug@2s, schedstat@end, proc/1000/sched@end; may be repeated.
    ///
    /// The files are sched_debug, schedstat, sched_features, proc/PID/sched and proc/PID/schedstat; PIDs are those of
    /// the result. A time without a unit is in seconds.
    #[arg(long, value_name = "FILE@TIME")]
    dump: Vec<String>,
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    let dumps = args.dump.iter().map(|text| DumpRequest::parse(text)).collect::<Result<_, _>>()?;
    let trace = args.trace.as_deref().map(TraceFile::create).transpose()?;
    let meant = args.common.meaning()?;
    let machine = meant.machine.resolve(&meant.loads)?;
    let kernel = meant.kernel.clone();
    let experiment = Experiment { record: trace.is_some(), dumps, ..meant.on(machine, kernel) };
    let mut run = experiment.run()?;
    if let Some(trace) = trace {
        trace.write(&run)?;
    }
    run.result.command = Some(command_line());
    print(&match args.common.format {
        Format::Text => report::text::run(&run.result, args.common.rows()),
        Format::Json => run.result.to_json(),
    })
}

/// Made before the run, so that nobody waits for a run whose trace cannot be written.
struct TraceFile<'a> {
    path: &'a Path,
    format: TraceFormat,
    file: File,
}

impl TraceFile<'_> {
    fn create(path: &Path) -> Result<TraceFile<'_>, Error> {
        let format = TraceFormat::of(path)?;
        let file = File::create(path).map_err(|source| failed(path, source))?;
        Ok(TraceFile { path, format, file })
    }

    fn write(self, run: &Run) -> Result<(), Error> {
        run.write_trace(BufWriter::new(self.file), self.format).map_err(|source| failed(self.path, source))
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.display().to_string(), source }
}
