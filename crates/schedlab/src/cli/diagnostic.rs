//! Errors as people read them: a line, or the place in the file with what is wrong below it.

use super::columns;
use super::terminal::escape;
use lab::Excerpt;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use report::text::{WIDTH, fit, in_columns};
use schedlab::Error;
use std::fmt;
use std::io::{self, IsTerminal};
use std::ops::Range;

/// The whole message, with its line end.
pub fn text(error: &Error) -> String {
    let mut text = wrapped(&escape(&format!("error: {error}\n")));
    let of_experiment = match error {
        Error::Experiment(error) => Some(error),
        Error::Sweep(error) => match &**error {
            sweep::Error::Experiment(error) => Some(&**error),
            _ => None,
        },
        _ => None,
    };
    if let Some(error) = of_experiment
        && let Some(excerpt) = error.excerpt()
    {
        let mut drawn = String::new();
        if handler().render_report(&mut drawn, &InFile::new(error, &excerpt)).is_ok() {
            text = drawn.trim_start().to_owned();
        }
    }
    text
}

/// A message whose lines are no longer than those of standard error, where it says how long they may be. What
/// goes into a file or a pipe stays a line, for those who search it.
fn wrapped(text: &str) -> String {
    let Some(columns) = columns::of_stderr() else { return text.to_owned() };
    in_columns(columns, || fit(text))
}

fn handler() -> GraphicalReportHandler {
    // As no-color.org has it, an empty NO_COLOR says nothing.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let coloured = io::stderr().is_terminal() && !no_color;
    let mut theme = if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    // They begin as all errors do.
    theme.characters.error = "error:".to_owned();
    GraphicalReportHandler::new_themed(theme)
        .with_width(columns::of_stderr().unwrap_or(WIDTH))
        .with_links(false)
}

/// An error with its place in a file, in the terms of the library that draws it.
#[derive(Debug)]
struct InFile {
    message: String,
    source: NamedSource<String>,
    span: LabeledSpan,
    advice: String,
}

impl InFile {
    fn new(error: &lab::Error, excerpt: &Excerpt) -> InFile {
        let message = match error {
            lab::Error::OfRun { configuration, .. } => {
                format!("configuration `{configuration}`: {}", excerpt.problem)
            }
            _ => excerpt.problem.clone(),
        };
        // The library knows nothing of terminals; what it is given is safe to show, and so is what it draws
        // around it.
        let part = |range: Range<usize>| escape(excerpt.text.get(range).unwrap_or_default());
        let (start, end) = (excerpt.span.start, excerpt.span.end);
        let (before, inside, after) = (part(0..start), part(start..end), part(end..excerpt.text.len()));
        let span = before.len()..before.len() + inside.len();
        InFile {
            message: escape(&message).into_owned(),
            source: NamedSource::new(escape(&excerpt.file), format!("{before}{inside}{after}")),
            span: LabeledSpan::new_with_span(Some("here".to_owned()), span),
            advice: escape(&excerpt.advice).into_owned(),
        }
    }
}

impl fmt::Display for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InFile {}

impl Diagnostic for InFile {
    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        (!self.advice.is_empty()).then(|| Box::new(&self.advice) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.span.clone())))
    }
}
