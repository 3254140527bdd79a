//! Sweeps.

use crate::engine::Remote;
use crate::errors::{said, unreadable};
use crate::files::Overlay;
use crate::table::Table;
use arrow_array::{ArrayRef, StringArray, UInt64Array};
use lab::ExperimentText;
use pyo3::prelude::*;
use report::text::Rows;
use schedlab::clocks;
use schedlab::sweep_folder::SweepFolder;
use schema::SweepResult;
use serde::Deserialize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use sweep::{Axis, Cells, Engine, Error, Local, Plan, Sweep, SweepFile, Template};

/// A sweep as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    /// A sweep file, in place of all else but metrics.
    file: Option<String>,
    experiment: Option<ExperimentText>,
    axes: Vec<(String, Vec<String>)>,
    metrics: Vec<String>,
    title: Option<String>,
}

fn plan(said: Said, files: &Overlay) -> Result<Plan, Error> {
    let mut plan = match (said.file, said.experiment) {
        (Some(path), _) => SweepFile::parse(&path, &lab::file_text(&path, files)?)?.plan(files)?,
        (None, experiment) => {
            let axes: Result<Vec<Axis>, Error> =
                said.axes.into_iter().map(|(name, values)| Axis::new(&name, values)).collect();
            let template = Template { base: experiment.unwrap_or_default(), settings: String::new() };
            Plan::new(template, axes?, files)?
        }
    };
    plan.title = plan.title.or(said.title);
    if !said.metrics.is_empty() {
        plan.metrics = said.metrics;
    }
    Ok(plan)
}

/// Runs a sweep: what is to be run, the folder with results, the number of workers (0: all cores) or an
/// engine, what is told of progress (done, runs, reused, failed, seconds left or `None`). The JSON of its
/// result.
#[pyfunction]
#[pyo3(signature = (said_json, files, folder, workers, engine=None, progress=None))]
pub fn run_sweep(
    py: Python<'_>,
    said_json: &str,
    files: lab::Files,
    folder: &str,
    workers: usize,
    engine: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let asked: Said = serde_json::from_str(said_json).map_err(unreadable)?;
    let files = Overlay(files);
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let tell = |now: &sweep::Progress| {
        let told = Python::attach(|py| {
            py.check_signals()?;
            let left = now.left.map(|left| left.0 as f64 / 1e9);
            let figures = (now.done, now.runs, now.reused, now.failed, left);
            progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, figures).map(drop))
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised.lock().map(|mut raised| *raised = Some(error)).ok();
                ControlFlow::Break(())
            }
        }
    };
    let remote = engine.map(|object| Remote::new(py, object, &files)).transpose()?;
    let done: Result<SweepResult, schedlab::Error> = py.detach(|| {
        let plan = plan(asked, &files)?;
        let folder = SweepFolder::open(Path::new(folder))?;
        let local = Local::new(&files).with_clock(clocks::wall);
        let local = if workers > 0 { local.with_workers(workers) } else { local };
        let engine: &dyn Engine = remote.as_ref().map_or(&local, |remote| remote);
        let sweep = Sweep { plan: &plan, folder: &folder, engine, clock: Some(clocks::wall) };
        Ok(sweep.run(&mut { tell })?)
    });
    // What Python raised says more than that the sweep stopped.
    let of_engine = remote.and_then(|remote| remote.raised.into_inner().ok().flatten());
    match (done, raised.into_inner().ok().flatten().or(of_engine)) {
        (Ok(result), _) => Ok(result.to_json()),
        (Err(_), Some(raised)) => Err(raised),
        (Err(error), None) => Err(said(error)),
    }
}

/// The result of a sweep as the table of the command line.
#[pyfunction]
pub fn sweep_as_text(json: &str, full: bool) -> PyResult<String> {
    let result: SweepResult = serde_json::from_str(json).map_err(unreadable)?;
    Ok(report::text::sweep(&result, if full { Rows::All } else { Rows::Folded }))
}

/// `results.parquet` of a sweep as a table.
#[pyfunction]
pub fn results_table(path: &str) -> PyResult<Table> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(format!("{path}: {error}")))?;
    let columns = sweep::columns_of(path, bytes).map_err(said)?;
    let array = |cells: Cells| -> ArrayRef {
        match cells {
            Cells::Text(texts) => Arc::new(StringArray::from(texts)),
            Cells::Number(numbers) => Arc::new(UInt64Array::from(numbers)),
        }
    };
    Table::of_columns(columns.into_iter().map(|(name, cells)| (name, array(cells))).collect())
}
