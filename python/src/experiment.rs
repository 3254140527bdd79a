//! From the words of Python to the text of an experiment.

use crate::errors::{said, unreadable};
use crate::files::Overlay;
use lab::{ExperimentText, MachineSpec, Nanos, Settings, Sources, StoredResult, load_text};
use pyo3::prelude::*;
use schema::{FileText, MachineText, Stretch};
use serde::Deserialize;
use workload::units::{duration, positive_duration};

/// An experiment as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    loads: Vec<String>,
    machine: Option<String>,
    machine_content: Option<String>,
    cpus: Option<u32>,
    kernel: Option<String>,
    settings: Vec<String>,
    seed: u64,
    duration: Option<String>,
    start: Option<String>,
    end: Option<String>,
    tasks: Vec<String>,
    dumps: Vec<String>,
    check: bool,
    fidelity: bool,
    reading: FileText,
}

/// An experiment's text: JSON of docs/schema.md, `ExperimentText`. What it means is checked when it runs.
#[pyfunction]
pub fn experiment_text(said_json: &str, files: lab::Files) -> PyResult<String> {
    let said_so: Said = serde_json::from_str(said_json).map_err(unreadable)?;
    let text = text(said_so, &Overlay(files)).map_err(said)?;
    serde_json::to_string(&text).map_err(unreadable)
}

fn text(said: Said, files: &dyn Sources) -> Result<ExperimentText, lab::Error> {
    let settings = Settings::parse(&said.settings.join(" "))?;
    let second = Nanos::from_secs(1);
    let bad = |name: &str| {
        let word = name.to_owned();
        move |problem| lab::Error::Settings { word, problem }
    };
    let time = |name: &str, text: &Option<String>| {
        text.as_ref().map(|text| duration(text, second)).transpose().map_err(bad(name))
    };
    let (from, to) = (time("start", &said.start)?, time("end", &said.end)?);
    let stretch = (from.is_some() || to.is_some())
        .then(|| Stretch { from_ns: from.unwrap_or(Nanos::ZERO).0, to_ns: to.map(|to| to.0) });
    let length = said.duration.as_ref().map(|text| positive_duration(text, second)).transpose();
    let length = length.map_err(bad("duration"))?;
    let mut reading = said.reading;
    reading.recorded_on.get_or_insert_with(MachineText::default);
    let changes = settings.tasks.words();
    reading.changes.extend((!changes.is_empty()).then_some(changes));
    let loads = if settings.loads.is_empty() { &said.loads } else { &settings.loads };
    let base = ExperimentText {
        loads: loads.iter().map(|word| load_text(word, &reading, files)).collect(),
        machine: MachineText { name: said.machine, content: said.machine_content, cpus: said.cpus },
        kernel: said.kernel,
        seed: said.seed,
        duration_ns: length.map(|length| length.0),
        stretch,
        tasks: said.tasks,
        dumps: said.dumps,
        check: said.check,
        without_fidelity: !said.fidelity,
        ..ExperimentText::default()
    };
    Ok(settings.over(&base))
}

/// What ran, from a result of `run` in a file, or an experiment in one.
#[pyfunction]
pub fn text_of_result(path: &str) -> PyResult<String> {
    let stored = StoredResult::open(path, &Overlay::default()).map_err(said)?;
    let stored =
        stored.ok_or_else(|| unreadable(format!("{path} is no result of a run, and no experiment")))?;
    serde_json::to_string(&stored.experiment).map_err(unreadable)
}

/// The file that describes a machine, from its parts as JSON; the machine has to be possible.
#[pyfunction]
pub fn machine_text(parts_json: &str) -> PyResult<String> {
    let parts: toml::Table = serde_json::from_str(parts_json).map_err(unreadable)?;
    let text = toml::to_string(&parts).map_err(unreadable)?;
    let name = parts.get("name").and_then(|name| name.as_str()).unwrap_or("the machine");
    let fault = |error| lab::Error::MachineFile { error, text: text.as_str().into() };
    MachineSpec::parse(&text, name).map_err(fault).map_err(said)?;
    Ok(text)
}

/// The parts of a machine that comes with the program, or of a machine file, as JSON.
#[pyfunction]
pub fn machine_json(name_or_file: &str) -> PyResult<String> {
    let text = lab::machine_text(name_or_file, &Overlay::default()).map_err(said)?;
    let parts: toml::Table = toml::from_str(&text).map_err(unreadable)?;
    serde_json::to_string(&parts).map_err(unreadable)
}
