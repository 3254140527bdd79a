//! Two stages: what was typed (the structs that clap fills) becomes what it means ([`schedlab::Experiment`],
//! [`schedlab::Plan`]), and only that is run. One module for each command.

mod calibrate;
mod command;
mod common;
mod compare;
mod completions;
mod diagnostic;
mod exit;
mod explain;
mod inspect;
mod list;
mod output;
mod progress;
mod record;
mod reproduce;
mod run;
mod signals;
mod speed;
mod terminal;
mod user;
mod watch;
mod workload;

use clap::{CommandFactory, Parser, Subcommand};
use output::Failure;
use std::process::ExitCode;

/// A laboratory for the Linux CPU scheduler: what changes when this load meets another kernel, machine or setting?
#[derive(Debug, Parser)]
#[command(name = "schedlab", version, after_help = exit::HELP, arg_required_else_help = true)]
struct Cli {
    /// Say what a kernel, feature, rule, tunable, alias, machine, load or decision is, and where it comes from.
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Compare(compare::Args),
    Reproduce(reproduce::Args),
    Inspect(inspect::Args),
    Record(record::Args),
    Workload(workload::Args),
    Calibrate(calibrate::Args),
    List(list::Args),
    Completions(completions::Args),
}

/// Runs what was typed.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help that nobody reads any more is no failure.
            if output::is_command_line_plain() {
                let _ = error.print();
            } else {
                output::say(&error.render().to_string());
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::BAD_INPUT));
        }
    };
    match execute(&cli) {
        Ok(()) => ExitCode::from(exit::OK),
        Err(failure) => failure.report(),
    }
}

fn execute(cli: &Cli) -> Result<(), Failure> {
    if let Some(name) = &cli.explain {
        return explain::print(name);
    }
    match &cli.command {
        Some(Command::Run(args)) => run::execute(args),
        Some(Command::Compare(args)) => compare::execute(args),
        Some(Command::Reproduce(args)) => reproduce::execute(args),
        Some(Command::Inspect(args)) => inspect::execute(args),
        Some(Command::Record(args)) => record::execute(args),
        Some(Command::Workload(args)) => workload::execute(args),
        Some(Command::Calibrate(args)) => calibrate::execute(args),
        Some(Command::List(args)) => list::execute(args),
        Some(Command::Completions(args)) => completions::execute(args, &mut Cli::command()),
        // Clap asks for one or the other.
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
