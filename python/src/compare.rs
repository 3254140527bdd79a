//! Several configurations.

use crate::errors::{said, unreadable};
use crate::files::Overlay;
use crate::interrupt::detached;
use lab::{CompareWords, Experiment, ExperimentText, NamedMachine, Plan, Reading, Window};
use pyo3::prelude::*;
use report::text::Rows;
use schema::{FileText, MachineText};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs an experiment's text under a base and variants, with `repeat` seeds: the JSON of the comparison, and
/// its text as the command line prints it.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    text: &str,
    files: lab::Files,
    base: String,
    with: Vec<String>,
    repeat: u32,
) -> PyResult<(String, String)> {
    let text = ExperimentText::from_json(text).map_err(unreadable)?;
    let stop = Arc::new(AtomicBool::new(false));
    detached(py, &stop.clone(), move || {
        let files = Overlay(files);
        let mut experiment = Experiment::open(&text, &files)?;
        experiment.stop = Some(stop);
        experiment.clock = Some(schedlab::clocks::wall);
        let reading = reading(&text, experiment.window)?;
        let recorded_on = origin(&text, &files)?;
        let words = CompareWords {
            text,
            experiment,
            reading: &reading,
            recorded_on,
            base: &base,
            with: &with,
            repeat: repeat.max(1),
        };
        let comparison = lab::compare(&Plan::of_words(words, &files)?, &|| ())?;
        Ok::<_, lab::Error>((comparison.to_json(), report::text::comparison(&comparison, Rows::Folded)))
    })?
    .map_err(said)
}

/// The machine on which recordings were made, if the experiment says so.
pub fn origin(text: &ExperimentText, files: &Overlay) -> Result<Option<NamedMachine>, lab::Error> {
    let file = file(text);
    let origin = file.recorded_on.as_ref().filter(|origin| **origin != MachineText::default());
    origin.map(|origin| NamedMachine::open(origin, &[], files)).transpose()
}

/// How the first file of an experiment is read.
fn file(text: &ExperimentText) -> FileText {
    text.loads.iter().find_map(|load| load.file.clone()).unwrap_or_default()
}

/// How loads in place of the experiment's are read: as the experiment's files.
pub fn reading(text: &ExperimentText, window: Option<Window>) -> Result<Reading, lab::Error> {
    let file = file(text);
    let FileText { dialect, locks, groups, wakeup_costs, .. } = file;
    let words: Vec<String> = file.changes.concat();
    let tasks = lab::TaskOptions::of_words(&words)?;
    Ok(Reading { dialect, locks, groups, wakeup_costs, tasks, window })
}
