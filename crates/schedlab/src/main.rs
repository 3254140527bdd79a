//! The command line. `schedlab --help` says what it does; docs/cli.md says it at length.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
