//! From words to options, and from the parser's complaints to one sentence.

use super::error::LoadError;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command, FromArgMatches};
use std::error::Error;
use suggest::suggest;

/// The parser of a load's options, with the habits of getopt: a repeated option's last value counts, long
/// options may be shortened, and nothing but options is printed by the parser itself.
pub(super) fn parser<T: Args>(name: &'static str) -> Command {
    T::augment_args(Command::new(name))
        .no_binary_name(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args_override_self(true)
        .infer_long_args(true)
}

/// The long option that was probably meant, as `--threads`.
fn nearest_option(command: &Command, option: &str) -> Option<String> {
    let longs = command.get_arguments().filter_map(|arg| arg.get_long_and_visible_aliases());
    suggest(option.strip_prefix("--")?, longs.flatten()).map(|long| format!("--{long}"))
}

/// The options in `words`, the command's name not among them.
pub(super) fn options<T: Args + FromArgMatches>(
    name: &'static str,
    words: &[String],
) -> Result<T, LoadError> {
    let mut command = parser::<T>(name);
    command
        .try_get_matches_from_mut(words)
        .and_then(|matches| T::from_arg_matches(&matches))
        .map_err(|error| explain(name, &command, &error))
}

/// A usage error of this load.
pub(super) fn usage(name: &str, message: impl Into<String>) -> LoadError {
    LoadError::Usage { load: name.to_string(), message: message.into() }
}

fn explain(name: &str, command: &Command, error: &clap::Error) -> LoadError {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    let option = context(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument if option.starts_with('-') => LoadError::UnknownOption {
            load: name.to_string(),
            nearest: nearest_option(command, &option),
            option,
        },
        ErrorKind::UnknownArgument => usage(name, format!("'{option}' is not an option")),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let value = context(ContextKind::InvalidValue).unwrap_or_default();
            let message = match error.source() {
                Some(source) => {
                    let why = suggest::in_words(&source.to_string());
                    format!("option '{option}', value '{value}': {why}")
                }
                None if value.is_empty() => format!("option '{option}': a value is missing"),
                None => {
                    format!("option '{option}', value '{value}': choose one of {}", possible_values(error))
                }
            };
            usage(name, message)
        }
        _ => {
            // The first line of what clap would print, without its prefix.
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            usage(name, line.strip_prefix("error: ").unwrap_or(line))
        }
    }
}

fn possible_values(error: &clap::Error) -> String {
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.join(", "),
        _ => String::new(),
    }
}
