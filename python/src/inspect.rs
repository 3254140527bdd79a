//! What is in a trace.

use crate::errors::{said, unreadable};
use crate::files::Overlay;
use crate::interrupt::detached;
use lab::{Inspection, Nanos, Window};
use pyo3::prelude::*;
use report::text::Rows;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use workload::units::duration;

fn asked(tasks: &[String], start: Option<&str>, end: Option<&str>) -> PyResult<Inspection> {
    let tasks: Result<_, String> = tasks.iter().map(|task| task.parse()).collect();
    let time = |text: &str| duration(text, Nanos::from_secs(1)).map_err(unreadable);
    let (from, to) = (start.map(time).transpose()?, end.map(time).transpose()?);
    let window = (from.is_some() || to.is_some())
        .then(|| schema::Stretch { from_ns: from.unwrap_or(Nanos::ZERO).0, to_ns: to.map(|to| to.0) });
    Ok(Inspection {
        tasks: tasks.map_err(unreadable)?,
        window: window.map(Window::from),
        ..Inspection::default()
    })
}

/// What is in a trace: JSON, and text as the command line prints it.
#[pyfunction]
#[pyo3(signature = (path, tasks, start=None, end=None))]
pub fn inspect(
    py: Python<'_>,
    path: &str,
    tasks: Vec<String>,
    start: Option<&str>,
    end: Option<&str>,
) -> PyResult<(String, String)> {
    let asked = asked(&tasks, start, end)?;
    let result =
        detached(py, &Arc::new(AtomicBool::new(false)), || lab::inspect(path, &asked, &Overlay::default()))?;
    let result = result.map_err(said)?;
    Ok((result.to_json(), report::text::inspect(&result, Rows::Folded)))
}

/// What differs between two traces: JSON, and text as the command line prints it.
#[pyfunction]
#[pyo3(signature = (path, other, tasks, start=None, end=None))]
pub fn inspect_both(
    py: Python<'_>,
    path: &str,
    other: &str,
    tasks: Vec<String>,
    start: Option<&str>,
    end: Option<&str>,
) -> PyResult<(String, String)> {
    let asked = asked(&tasks, start, end)?;
    let result = detached(py, &Arc::new(AtomicBool::new(false)), || {
        lab::inspect_both([path, other], &asked, &Overlay::default())
    })?;
    let result = result.map_err(said)?;
    Ok((result.to_json(), report::text::recordings(&result, Rows::Folded)))
}
