//! The program: the command line of the library's [`schedlab::cli`]. `schedlab --help` says what it does;
//! docs/cli.md says it at length.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(schedlab::cli::main(std::env::args_os().collect()))
}
