//! What to do about a command line that is not understood, where the library that reads it cannot know.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use std::error::Error as _;
use suggest::{in_words, suggest};

/// The error with our advice in place of the library's.
pub fn advised(mut error: Error, cli: &Command) -> Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            // The library's own measure finds nothing in short words.
            let known = cli.get_subcommands().map(Command::get_name);
            let name = word(&error, ContextKind::InvalidSubcommand).unwrap_or_default();
            if let Some(near) = suggest(&name, known) {
                let near = ContextValue::Strings(vec![near.to_owned()]);
                error.insert(ContextKind::SuggestedSubcommand, near);
            }
        }
        ErrorKind::UnknownArgument => {
            let option = word(&error, ContextKind::InvalidArg).unwrap_or_default();
            let is_short = option.starts_with('-') && !option.starts_with("--");
            if is_short && error.get(ContextKind::SuggestedArg).is_none() {
                let tip = "options of a load stand within its quotes: 'hackbench -g1'".into();
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
            }
        }
        ErrorKind::ValueValidation => {
            let problem = error.source().map(ToString::to_string).unwrap_or_default();
            let words = in_words(&problem);
            if words != problem {
                let option = word(&error, ContextKind::InvalidArg).unwrap_or_default();
                let value = word(&error, ContextKind::InvalidValue).unwrap_or_default();
                let told = format!("invalid value '{value}' for '{option}': {words}\n");
                return Error::raw(ErrorKind::ValueValidation, told).with_cmd(cli);
            }
        }
        _ => {}
    }
    error
}

fn word(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        _ => None,
    }
}
