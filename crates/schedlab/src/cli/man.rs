//! `schedlab man`: manual pages.

use super::output::{Failure, print};
use clap::Command;
use clap_mangen::Man;
use schedlab::Error;

/// Print a manual page: `schedlab man | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Of this command [default: of schedlab itself].
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub fn execute(args: &Args, mut whole: Command) -> Result<(), Failure> {
    whole.build();
    let page = match &args.command {
        None => whole,
        Some(name) => page_of(&whole, name)?,
    };
    let mut roff = Vec::new();
    Man::new(page).render(&mut roff).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&roff))
}

/// The page of one command. Its title is as those of git's commands are: schedlab-run.
fn page_of(whole: &Command, name: &str) -> Result<Command, Error> {
    let found = whole.get_subcommands().find(|command| command.get_name() == name);
    let command = found.ok_or_else(|| Error::UnknownCommand {
        name: name.to_owned(),
        known: whole.get_subcommands().map(|command| command.get_name().to_owned()).collect(),
    })?;
    Ok(command.clone())
}
