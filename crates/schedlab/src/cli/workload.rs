//! `schedlab workload`: a trace as a file that people change and run again.

use super::output::{Failure, print};
use schedlab::{Error, LoadSpec, Reading, machine_beside};
use std::fs;
use std::path::{Path, PathBuf};

/// Turn a trace into an editable workload file: change a priority or double a period, and run it again.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The trace, in any format that `run` reads.
    #[arg(value_name = "TRACE")]
    trace: String,
    /// Where to write the workload [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    let load = LoadSpec::open_file(&args.trace, &Reading::default())?;
    let Some(text) = load.workload_text() else {
        return Err(Error::NotATrace { path: args.trace.clone() }.into());
    };
    let Some(path) = &args.output else { return print(&text) };
    let failed = |path: &Path, source| Error::File { path: path.display().to_string(), source };
    fs::write(path, text).map_err(|source| failed(path, source))?;
    // The machine that is described beside the trace is the workload's, too.
    if let Some(machine) = load.recorded_machine() {
        let beside = machine_beside(&path.to_string_lossy());
        fs::copy(machine, &beside).map_err(|source| failed(&beside, source))?;
    }
    Ok(())
}
