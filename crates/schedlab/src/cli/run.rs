//! `schedlab run`: one experiment.

use super::common::{Common, Format};
use super::output::{Failure, command_line, print};
use schedlab::{DumpRequest, Error, Experiment, Programs, Run, TraceFormat, machine_beside};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Run loads on a simulated machine and print what they and the scheduler counted.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// Also write a trace of the run: .dat for KernelShark and trace-cmd; .pftrace or .perfetto-trace for
    /// ui.perfetto.dev; .txt, .trace or .ftrace for the kernel's text; .json for Chrome's viewer.
    ///
    /// All but .json can be run again: `schedlab run OUT`. For that, OUT.machine.toml is written beside it, the file of the
    /// machine.
    #[arg(long, value_name = "OUT")]
    trace: Option<PathBuf>,
    /// Leave out of the trace what the programs do (events `schedlab_program`): it holds what a recorder would have seen.
    ///
    /// Such a trace is smaller, and a replay of it infers the programs, as that of a recording does.
    #[arg(long, requires = "trace")]
    no_program: bool,
    /// Also show a file of Linux as of some moment: sched_debug@2s, schedstat@end, proc/1000/sched@end; may be repeated.
    ///
    /// The files are sched_debug, schedstat, sched_features, proc/PID/sched and proc/PID/schedstat; PIDs are those of
    /// the result, in a replay the recorded ones. A time without a unit is in seconds.
    #[arg(long, value_name = "FILE@TIME")]
    dump: Vec<String>,
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    let dumps = args.dump.iter().map(|text| DumpRequest::parse(text)).collect::<Result<_, _>>()?;
    let trace = args.trace.as_deref().map(TraceFile::create).transpose()?;
    let meant = args.common.meaning()?;
    let machine = meant.machine.resolve(&meant.loads)?;
    let kernel = meant.kernel.clone();
    let machine_text = trace.as_ref().map(|_| meant.machine.text(&meant.loads)).transpose()?;
    let experiment = Experiment { record: trace.is_some(), dumps, ..meant.on(machine, kernel) };
    let mut run = experiment.run()?;
    if let Some((trace, machine)) = trace.zip(machine_text) {
        let programs = if args.no_program { Programs::LeftOut } else { Programs::Told };
        trace.write(&run, &machine, programs)?;
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

    /// Writes the trace, and the file of the machine beside it if the trace can be replayed.
    fn write(self, run: &Run, machine: &str, programs: Programs) -> Result<(), Error> {
        run.write_trace(BufWriter::new(self.file), self.format, programs)
            .map_err(|source| failed(self.path, source))?;
        if self.format.can_be_read() {
            let path = machine_beside(&self.path.to_string_lossy());
            fs::write(&path, machine).map_err(|source| failed(&path, source))?;
        }
        Ok(())
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.display().to_string(), source }
}
