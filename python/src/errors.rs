//! Errors as exceptions, with the words of the command line.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    schedlab,
    Error,
    PyException,
    "An experiment, a file or a name that is not possible: the message says what is wrong, where, and what \
     to do, as the command line does."
);
create_exception!(
    schedlab,
    CheckFailed,
    Error,
    "The experiment ran, and `check` found an invariant of the scheduler broken."
);

/// As the command line says it.
pub fn said(error: impl Into<schedlab::Error>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    match &error {
        schedlab::Error::Experiment(error) if error.is_failed_check() => CheckFailed::new_err(text),
        _ => Error::new_err(text),
    }
}

/// What is no text of ours, of which only this package itself is the author.
pub fn unreadable(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}
