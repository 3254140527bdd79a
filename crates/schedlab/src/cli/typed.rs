//! Which options were typed.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use schedlab::Error;

/// What says nothing of what a result says: what it is compared with, and what becomes of the new results.
const OTHERS: [&str; 24] = [
    "at",
    "base",
    "blame",
    "format",
    "full",
    "maximize",
    "method",
    "minimize",
    "no_program",
    "over",
    "plot",
    "quiet",
    "repeat",
    "report",
    "runs",
    "save",
    "subject_to",
    "trace",
    "trace_format",
    "tries",
    "until",
    "why",
    "with",
    "worst",
];

/// The options of a command that were typed and say what to run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Typed(Vec<String>);

impl Typed {
    /// Of the command that was typed.
    pub fn of(cli: &Command, matches: &ArgMatches) -> Typed {
        let Some((name, matches)) = matches.subcommand() else { return Typed::default() };
        let Some(command) = cli.find_subcommand(name) else { return Typed::default() };
        let is_typed =
            |id: &str| !OTHERS.contains(&id) && matches.value_source(id) == Some(ValueSource::CommandLine);
        let typed = command.get_arguments().filter(|option| is_typed(option.get_id().as_str()));
        Typed(typed.filter_map(|option| Some(format!("--{}", option.get_long()?))).collect())
    }

    /// Without an option that says nothing of a run for this command.
    pub fn without(&self, option: &str) -> Typed {
        Typed(self.0.iter().filter(|typed| *typed != option).cloned().collect())
    }

    /// Them, where there are any.
    pub fn any(self) -> Option<Vec<String>> {
        (!self.0.is_empty()).then_some(self.0)
    }

    /// Makes sure that none of them says anything of a run, which `result` does itself.
    ///
    /// # Errors
    /// Those that do.
    pub fn say_nothing_of_a_run(&self, result: &str) -> Result<(), Error> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Error::OptionsBesideResult { result: result.to_owned(), options: self.0.clone() })
    }
}
