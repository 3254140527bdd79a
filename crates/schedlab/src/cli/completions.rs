//! `schedlab completions`: scripts that let a shell complete the command line.

use super::output::{Failure, print};
use clap::Command;
use clap_complete::{Shell, generate};

/// Print a script that completes this command line in a shell.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub fn execute(args: &Args, command: &mut Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(args.shell, command, "schedlab", &mut script);
    print(&String::from_utf8_lossy(&script))
}
