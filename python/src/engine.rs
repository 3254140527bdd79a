//! Chunks of a sweep that Python sends elsewhere.

use crate::errors::unreadable;
use crate::files::Overlay;
use lab::{Nanos, Sources};
use pyo3::prelude::*;
use schedlab::clocks;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use sweep::{Chunk, Engine, Error, Finished, Plan, Work, from_parquet, run_work, to_parquet};

/// An object of Python with the methods of `schedlab.Engine`.
pub struct Remote<'f> {
    object: Py<PyAny>,
    files: &'f Overlay,
    workers: usize,
    /// What Python raised, for whoever asked for the sweep.
    pub raised: Mutex<Option<PyErr>>,
}

/// A chunk as it comes back: its number, its rows as Parquet, how long it took in nanoseconds.
type Done = (usize, Vec<u8>, u64);

impl<'f> Remote<'f> {
    /// Asks it how many workers it has: once, as a cluster takes its time to answer.
    pub fn new(py: Python<'_>, object: Py<PyAny>, files: &'f Overlay) -> PyResult<Remote<'f>> {
        let workers: usize = object.call_method0(py, "workers")?.extract(py)?;
        Ok(Remote { object, files, workers: workers.max(1), raised: Mutex::new(None) })
    }

    fn failed(&self, error: PyErr) -> Error {
        let problem = Python::attach(|py| error.value(py).to_string());
        if let Ok(mut raised) = self.raised.lock() {
            *raised = Some(error);
        }
        Error::Engine { engine: "engine".to_owned(), problem }
    }
}

impl Engine for Remote<'_> {
    fn map(
        &self,
        plan: &Plan,
        chunks: &[Chunk],
        finished: &mut dyn FnMut(Option<Finished>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        /// Seconds.
        const PATIENCE: f64 = 0.1;
        // So many are under way that nobody waits for work, and no more rows than that are anywhere.
        let most = 2 * self.workers();
        let (mut next, mut under_way) = (0, 0);
        while next < chunks.len() || under_way > 0 {
            while under_way < most && next < chunks.len() {
                let work: Vec<Work> = chunks[next].runs.iter().map(|run| plan.work(*run)).collect();
                let work = serde_json::to_vec(&work).unwrap_or_default();
                Python::attach(|py| self.object.call_method1(py, "submit", (next, work.as_slice())))
                    .map_err(|error| self.failed(error))?;
                (next, under_way) = (next + 1, under_way + 1);
            }
            let done: Vec<Done> =
                Python::attach(|py| self.object.call_method1(py, "wait", (PATIENCE,))?.extract(py))
                    .map_err(|error| self.failed(error))?;
            under_way -= done.len();
            let idle = done.is_empty().then_some(None);
            let rows = |(chunk, bytes, ns): Done| {
                let rows = from_parquet("a chunk from a worker", bytes)?;
                Ok::<_, Error>(Some(Finished { chunk, rows, took: Some(Nanos(ns)) }))
            };
            for event in done.into_iter().map(rows).chain(idle.map(Ok)) {
                if finished(event?).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn files(&self) -> &dyn Sources {
        self.files
    }
}

/// Runs a chunk, where a worker is: its work in, its rows as Parquet and the nanoseconds it took out.
#[pyfunction]
pub fn run_chunk(py: Python<'_>, work: Vec<u8>, files: lab::Files) -> PyResult<(Vec<u8>, u64)> {
    let work: Vec<Work> = serde_json::from_slice(&work).map_err(unreadable)?;
    py.detach(|| {
        let began = clocks::wall();
        let rows = run_work(&work, &Overlay(files), &Arc::new(AtomicBool::new(false)));
        Ok((to_parquet(&rows)?, clocks::wall().saturating_sub(began).0))
    })
    .map_err(|error: Error| unreadable(error))
}
