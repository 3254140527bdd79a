//! Errors as people read them: a line, or the place in the file with what is wrong below it.

use super::columns;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use schedlab::{Error, Excerpt};
use std::fmt;
use std::io::{self, IsTerminal};

/// The whole message, with its line end.
pub fn text(error: &Error) -> String {
    let mut text = format!("error: {error}\n");
    if let Some(excerpt) = error.excerpt() {
        let mut drawn = String::new();
        if handler().render_report(&mut drawn, &InFile::new(error, &excerpt)).is_ok() {
            text = drawn;
        }
    }
    text
}

fn handler() -> GraphicalReportHandler {
    // As no-color.org has it, an empty NO_COLOR says nothing.
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let coloured = io::stderr().is_terminal() && !no_color;
    let theme = if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    GraphicalReportHandler::new_themed(theme).with_width(columns::of_stderr()).with_links(false)
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
    fn new(error: &Error, excerpt: &Excerpt) -> InFile {
        let message = match error {
            Error::OfRun { configuration, .. } => {
                format!("configuration `{configuration}`: {}", excerpt.problem)
            }
            _ => excerpt.problem.clone(),
        };
        let span = LabeledSpan::new_with_span(Some("here".to_owned()), excerpt.span.clone());
        let source = NamedSource::new(&excerpt.file, excerpt.text.to_string());
        InFile { message, source, span, advice: excerpt.advice.clone() }
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
