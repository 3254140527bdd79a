//! What is wrong with a file of a validation, and where.

use crate::error::{Error, Excerpt};
use std::ops::Range;
use std::sync::Arc;

/// Something that such a file must not say.
pub(super) struct Fault<'a> {
    pub path: &'a str,
    pub problem: String,
}

impl From<Fault<'_>> for Error {
    fn from(fault: Fault<'_>) -> Error {
        Error::ReferenceFault { path: fault.path.to_owned(), problem: fault.problem }
    }
}

/// A place that is not readable.
pub(super) fn excerpt(path: &str, text: &str, span: Option<Range<usize>>, problem: &str) -> Error {
    Error::ReferenceFile(Excerpt {
        file: path.to_owned(),
        text: Arc::from(text),
        span: span.unwrap_or(0..0),
        problem: suggest::in_words(problem),
        advice: "validation/README.md describes the file".to_owned(),
    })
}
