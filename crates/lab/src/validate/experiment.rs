//! From loads and words of settings to an experiment.

use crate::error::Error;
use crate::experiment::Experiment;
use crate::experiment_text::load_text;
use crate::settings::Settings;
use crate::sources::Sources;
use schema::{ExperimentText, FileText, MachineText};

/// The experiment that loads and settings say, settings of later lists on top of those of earlier ones.
pub(super) fn experiment(
    loads: &[String],
    settings: &[&str],
    duration_ns: Option<u64>,
    files: &dyn Sources,
) -> Result<Experiment, Error> {
    let settings: Vec<Settings> =
        settings.iter().map(|words| Settings::parse(words)).collect::<Result<_, _>>()?;
    let words: Vec<String> = settings.iter().flat_map(|words| words.tasks.words()).collect();
    let changes = if words.is_empty() { Vec::new() } else { vec![words] };
    // What the kernel did around recorded tasks, it does again: the recording is of the machine of the run.
    let file = FileText { changes, recorded_on: Some(MachineText::default()), ..FileText::default() };
    let plain = ExperimentText {
        loads: loads.iter().map(|load| load_text(load, &file, files)).collect(),
        duration_ns,
        ..ExperimentText::default()
    };
    let text = settings.iter().fold(plain, |text, settings| settings.over(&text));
    // How close a replay comes is what is measured here.
    Ok(Experiment { fidelity: false, ..Experiment::open(&text, files)? })
}
