//! Which settings serve a load best, and which run is worst.

use crate::compare::{origin, reading};
use crate::errors::{said, unreadable};
use crate::files::Overlay;
use crate::interrupt::detached;
use lab::{Experiment, ExperimentText};
use pyo3::prelude::*;
use report::text::Rows;
use schedlab::sweep_folder::SweepFolder;
use schema::{SearchMethod, TuneDirection};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use sweep::Folder;
use tune::{Goal, KnobsFile, Request, SearchRequest, Words};

/// A tuning as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    experiment: ExperimentText,
    base: String,
    goal: String,
    direction: TuneDirection,
    subject_to: Vec<String>,
    /// Name of a file of knobs, for errors, and its content.
    knobs: Option<(String, Option<String>)>,
    repeat: u32,
    /// Where runs are kept, if anywhere.
    folder: Option<String>,
}

/// Finds which settings serve a goal best: the JSON of the answer, and its text as the command line prints
/// it.
#[pyfunction]
pub fn tune_settings(py: Python<'_>, said_json: &str, files: lab::Files) -> PyResult<(String, String)> {
    let asked: Said = serde_json::from_str(said_json).map_err(unreadable)?;
    let stop = Arc::new(AtomicBool::new(false));
    detached(py, &stop.clone(), move || {
        let files = Overlay(files);
        let Said { experiment: text, base, goal, direction, subject_to, knobs, repeat, folder } = asked;
        let folder = folder.map(|folder| SweepFolder::open(Path::new(&folder))).transpose()?;
        let mut experiment = Experiment::open(&text, &files)?;
        experiment.stop = Some(stop);
        let knobs = knobs.map(|(path, content)| {
            let content = content.map_or_else(|| lab::file_text(&path, &files), Ok)?;
            KnobsFile::parse(&path, &content)
        });
        let knobs = knobs.transpose()?;
        let reading = reading(&text, experiment.window)?;
        let recorded_on = origin(&text, &files)?;
        let request = Request {
            words: Words { text, experiment, reading: &reading, recorded_on, base: &base },
            goal: Goal { text: goal, direction },
            subject_to: &subject_to,
            knobs: knobs.as_ref(),
            seeds: repeat.max(6),
            folder: folder.as_ref().map(|folder| folder as &dyn Folder),
        };
        let result = tune::tune(&request, &files, &|_| ())?;
        Ok::<_, schedlab::Error>((result.to_json(), report::text::tuning(&result, Rows::Folded)))
    })?
    .map_err(said)
}

/// A search as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidSearch {
    experiment: ExperimentText,
    goal: String,
    direction: TuneDirection,
    method: SearchMethod,
    runs: u64,
    until: Option<String>,
}

/// Looks for the worst run: the JSON of the answer, its text as the command line prints it, and the run as an
/// experiment's text.
#[pyfunction]
pub fn search_worst(
    py: Python<'_>,
    said_json: &str,
    files: lab::Files,
) -> PyResult<(String, String, String)> {
    let asked: SaidSearch = serde_json::from_str(said_json).map_err(unreadable)?;
    let stop = Arc::new(AtomicBool::new(false));
    detached(py, &stop.clone(), move || {
        let files = Overlay(files);
        let SaidSearch { experiment: text, goal, direction, method, runs, until } = asked;
        let mut experiment = Experiment::open(&text, &files)?;
        experiment.stop = Some(stop);
        let reading = reading(&text, experiment.window)?;
        let recorded_on = origin(&text, &files)?;
        let request = SearchRequest {
            words: Words { text, experiment, reading: &reading, recorded_on, base: "" },
            goal: Goal { text: goal, direction },
            method,
            runs: runs.max(1),
            until: until.as_deref(),
        };
        let result = tune::search(&request, &files, &|_| ())?;
        Ok::<_, tune::Error>((result.to_json(), report::text::search(&result), result.scenario()))
    })?
    .map_err(said)
}
