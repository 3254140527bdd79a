//! One run.

use crate::errors::{said, unreadable};
use crate::files::Overlay;
use crate::interrupt::detached;
use lab::{Experiment, ExperimentText, Programs, TraceFormat, machine_beside};
use pyo3::prelude::*;
use report::text::Rows;
use schedlab::clocks;
use schedlab::outputs::{Output, is_same_file};
use schema::RunResult;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs an experiment: its text in, the JSON of its result out. With `trace`, every event of it goes into
/// this file, whose ending says the format.
#[pyfunction]
#[pyo3(signature = (text, files, trace=None))]
pub fn run(py: Python<'_>, text: &str, files: lab::Files, trace: Option<&str>) -> PyResult<String> {
    let text = ExperimentText::from_json(text).map_err(unreadable)?;
    let stop = Arc::new(AtomicBool::new(false));
    let format = trace.map(|path| TraceFormat::of(Path::new(path))).transpose().map_err(said)?;
    detached(py, &stop.clone(), move || {
        let mut experiment = Experiment::open(&text, &Overlay(files))?;
        experiment.clock = Some(clocks::wall);
        experiment.stop = Some(stop);
        experiment.record = trace.is_some();
        // Before the run, so that nobody waits for one whose trace cannot be written.
        let mut outputs = match trace.zip(format) {
            Some((path, format)) => trace_files(path, format, &experiment)?,
            None => Vec::new(),
        };
        let run = experiment.run()?;
        if let (Some((output, _)), Some(format), Some(logged)) = (outputs.first_mut(), format, run.logged) {
            let written = logged.write_trace(&mut *output, format, Programs::Told);
            written.map_err(|source| output.failed(source))?;
        }
        for (mut output, text) in outputs {
            output.write_all(text.as_bytes()).map_err(|source| output.failed(source))?;
            output.commit()?;
        }
        Ok::<_, schedlab::Error>(run.result.to_json())
    })?
    .map_err(said)
}

/// The file of the trace, and with a text of its own, the file of the machine beside it.
fn trace_files(
    path: &str,
    format: TraceFormat,
    experiment: &Experiment,
) -> Result<Vec<(Output, String)>, schedlab::Error> {
    let mut files = vec![(Output::open(Path::new(path), &[])?, String::new())];
    let (used, beside) = (experiment.machine.file(), machine_beside(path));
    let is_there = used.is_some_and(|used| is_same_file(&used, &beside));
    if let Some(content) = experiment.machine.content().filter(|_| format.can_be_read() && !is_there) {
        files.push((Output::open(&beside, &[])?, content.to_owned()));
    }
    Ok(files)
}

/// A result as the tables of the command line; `full`: long ones in full.
#[pyfunction]
pub fn run_as_text(json: &str, full: bool) -> PyResult<String> {
    let result = RunResult::from_json(json).map_err(unreadable)?;
    Ok(report::text::run(&result, if full { Rows::All } else { Rows::Folded }))
}

/// All figures of a result that can be compared, as JSON: metrics, each with its `value`.
#[pyfunction]
pub fn metrics(json: &str) -> PyResult<String> {
    let result = RunResult::from_json(json).map_err(unreadable)?;
    let figure = |figure: schema::Measurement| {
        let mut metric = serde_json::to_value(&figure.metric).unwrap_or_default();
        metric["value"] = figure.value.into();
        metric
    };
    let figures: Vec<serde_json::Value> = report::compare::measure(&result).into_iter().map(figure).collect();
    serde_json::to_string(&figures).map_err(unreadable)
}
