//! The command line, in two stages: what was typed (the structs that clap fills) becomes what it means
//! ([`lab::Experiment`], [`lab::Plan`]), and only that is run. One module for each command.

mod advice;
mod calibrate;
mod calibrate_check;
mod columns;
mod command;
mod common;
mod compare;
mod completions;
mod diagnostic;
mod exit;
mod explain;
mod goal;
mod inspect;
mod list;
mod man;
mod output;
mod picture;
mod progress;
mod record;
mod report_page;
mod reproduce;
mod run;
mod search;
mod signals;
mod speed;
mod sweep;
mod terminal;
mod tune;
mod typed;
mod user;
mod validate;
mod voice;
mod watch;
mod why;
mod window;
mod workload;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use output::Failure;
use report::text::{WIDTH, fit, in_columns};
use std::ffi::OsString;
use typed::Typed;
use voice::Voice;

/// A laboratory for the Linux CPU scheduler: what changes when this load meets another kernel, machine or
/// setting?
#[derive(Debug, Parser)]
#[command(name = "schedlab", version, after_help = exit::help(), arg_required_else_help = true)]
struct Cli {
    /// As `schedlab explain NAME`.
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
    /// Print results and errors only: no progress, no warnings.
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Compare(compare::Args),
    Why(why::Args),
    Reproduce(reproduce::Args),
    Validate(validate::Args),
    Sweep(sweep::Args),
    Tune(tune::Args),
    Search(search::Args),
    Inspect(inspect::Args),
    Record(record::Args),
    Workload(workload::Args),
    Calibrate(calibrate::Args),
    List(list::Args),
    Explain(explain::Args),
    Man(man::Args),
    Completions(completions::Args),
}

/// Runs what was typed, the name of the program first, and gives the exit code. A process does it once.
pub fn main(args: Vec<OsString>) -> u8 {
    let args = output::TYPED.get_or_init(|| args);
    let columns = columns::of_stdout().unwrap_or(WIDTH);
    // `--for -1` is a time below zero, and no option called 1.
    let negative = |arg: clap::Arg| {
        if arg.get_action().takes_values() && !arg.is_positional() {
            arg.allow_negative_numbers(true)
        } else {
            arg
        }
    };
    let mut command = Cli::command().term_width(columns).mut_subcommands(|sub| sub.mut_args(negative));
    let matches = command.try_get_matches_from_mut(args);
    let read = matches.and_then(|matches| {
        let typed = Typed::of(&command, &matches);
        Cli::from_arg_matches(&matches).map(|cli| (cli, typed))
    });
    let (cli, typed) = match read {
        Ok(read) => read,
        Err(error) => {
            let error = advice::advised(error, &command);
            say_typed(&error, columns);
            return u8::try_from(error.exit_code()).unwrap_or(exit::BAD_INPUT);
        }
    };
    match in_columns(columns, || execute(&cli, &typed)) {
        Ok(()) => exit::OK,
        Err(failure) => failure.report(),
    }
}

/// Prints help, or what is wrong with what was typed. Help that nobody reads any more is no failure.
fn say_typed(error: &clap::Error, columns: usize) {
    let text = error.render().to_string();
    let columns = if error.use_stderr() { columns::of_stderr() } else { Some(columns) };
    // The library breaks the lines of help, but neither those of errors nor that of usage.
    let fitted = columns.map(|columns| in_columns(columns, || fit(&text)));
    let is_as_it_was = fitted.as_ref().is_none_or(|fitted| fitted.trim_end() == text.trim_end());
    let shown = fitted.unwrap_or(text);
    let _ = match error.use_stderr() {
        _ if is_as_it_was && output::is_command_line_plain() => error.print(),
        true => return output::say(&shown),
        false => return drop(output::print(&shown)),
    };
}

fn execute(cli: &Cli, typed: &Typed) -> Result<(), Failure> {
    let voice = if cli.quiet { Voice::Quiet } else { Voice::Normal };
    if let Some(name) = &cli.explain {
        return explain::print_as(name, common::Format::Text);
    }
    match &cli.command {
        Some(Command::Run(args)) => run::execute(args, typed, voice),
        Some(Command::Compare(args)) => compare::execute(args, typed, voice),
        Some(Command::Why(args)) => why::execute(args, typed, voice),
        Some(Command::Reproduce(args)) => reproduce::execute(args, voice),
        Some(Command::Validate(args)) => validate::execute(args, voice),
        Some(Command::Sweep(args)) => sweep::execute(args, voice),
        Some(Command::Tune(args)) => tune::execute(args, typed, voice),
        Some(Command::Search(args)) => search::execute(args, typed, voice),
        Some(Command::Inspect(args)) => inspect::execute(args),
        Some(Command::Record(args)) => record::execute(args, voice),
        Some(Command::Workload(args)) => workload::execute(args),
        Some(Command::Calibrate(args)) => calibrate::execute(args, voice),
        Some(Command::List(args)) => list::execute(args),
        Some(Command::Explain(args)) => explain::execute(args),
        Some(Command::Man(args)) => man::execute(args, Cli::command()),
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
