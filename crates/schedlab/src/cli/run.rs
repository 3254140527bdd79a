//! `schedlab run`: one experiment.

use super::common::{Common, Format};
use super::output::{Failure, command_line, print};
use schedlab::{Experiment, TraceFormat};
use std::path::PathBuf;

/// Run loads on a simulated machine and print what they and the scheduler counted.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    common: Common,
    /// Also write a trace of the run: .pftrace or .perfetto-trace for ui.perfetto.dev; .txt, .trace or .ftrace for
    /// the kernel's text.
    #[arg(long, value_name = "OUT")]
    trace: Option<PathBuf>,
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    let trace = args.trace.as_deref().map(|path| TraceFormat::of(path).map(|format| (path, format)));
    let trace = trace.transpose()?;
    let meant = args.common.meaning()?;
    let machine = meant.machine.resolve(&meant.loads)?;
    let kernel = meant.kernel.clone();
    let experiment = Experiment { record: trace.is_some(), ..meant.on(machine, kernel) };
    let mut run = experiment.run()?;
    if let Some((path, format)) = trace {
        run.write_trace(path, format)?;
    }
    run.result.command = Some(command_line());
    print(&match args.common.format {
        Format::Text => report::text::run(&run.result, args.common.rows()),
        Format::Json => run.result.to_json(),
    })
}
