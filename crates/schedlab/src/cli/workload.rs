//! `schedlab workload`: a trace as a file that people change and run again.

use super::common::{RecordedGroups, RecordedLocks};
use super::output::{Failure, open};
use lab::{DescribedMachine, LoadSpec, Reading, STANDARD_STREAM};
use schedlab::Error;
use schedlab::files::Disk;
use std::io::Write;
use std::path::PathBuf;

/// Turn a trace into an editable workload file: change a priority or double a period, and run it again.
///
/// The machine that is described beside the trace is in it, so that it runs on that wherever it is copied.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The trace, in any format that `run` reads; `-` for standard input.
    #[arg(value_name = "TRACE")]
    trace: String,
    /// Waits for locks: `recorded`, or `inferred`, at mutexes found in the recording, or `auto` (see
    /// `schedlab run --help`).
    #[arg(long, value_name = "HOW", value_enum, default_value_t = RecordedLocks::Auto)]
    locks: RecordedLocks,
    /// Task groups: `recorded`, or `flat`, without any (see `schedlab run --help`).
    #[arg(long, value_name = "HOW", value_enum, default_value_t = RecordedGroups::Recorded)]
    groups: RecordedGroups,
    /// Where to write the workload [default: standard output, as with `-`].
    #[arg(short, long, value_name = "FILE", default_value = STANDARD_STREAM, hide_default_value = true)]
    output: PathBuf,
}

pub fn execute(args: &Args) -> Result<(), Failure> {
    let reading = Reading { locks: args.locks.meant(), groups: args.groups.meant(), ..Reading::default() };
    let load = LoadSpec::open_file(&args.trace, &reading, &Disk)?;
    reading.check(std::slice::from_ref(&load))?;
    let Some(text) = load.workload_text(&Disk)? else {
        return Err(Error::NotATrace { path: args.trace.clone() }.into());
    };
    let mut inputs = vec![PathBuf::from(&args.trace)];
    inputs.extend(load.described_machine().and_then(DescribedMachine::file));
    let mut output = open(&args.output, &inputs)?;
    output.write_all(text.as_bytes()).map_err(|source| output.failed(source))?;
    Ok(output.commit()?)
}
