//! How far a replay may be trusted shows where the truth is known: on the machine and under the kernel of the
//! recording.

use crate::experiment::Experiment;
use crate::groups::Groups;
use crate::kernel::{KernelConfig, NamedKernel};
use crate::loads::LoadSpec;
use schema::ReplayFidelity;
use workload::replay::Replay;

/// What the trace of a load does not tell of its groups, the user may know: those that are said are taken for
/// those in which it was recorded. Where it does tell, or another load is there, what is said is a question.
pub fn known_groups(experiment: &Experiment) -> Groups {
    match experiment.loads.as_slice() {
        [load] if load.recorded().is_some_and(|recorded| !recorded.replay.tells_groups()) => {
            experiment.groups.groups_alone()
        }
        _ => Groups::default(),
    }
}

/// That the user's word was taken for that.
pub fn said_groups(experiment: &Experiment) -> Option<String> {
    let load = experiment.loads.first()?;
    (!known_groups(experiment).is_empty()).then(|| {
        format!(
            "{} does not tell the task groups of its tasks: those that are said are taken for those in which it \
             was recorded, also where its replay is set beside it",
            load.text()
        )
    })
}

/// How far the replays of an experiment's recordings may be trusted, a sentence for each recording.
#[must_use]
pub fn verdicts(experiment: &Experiment) -> Vec<String> {
    let all = experiment.loads.iter().filter_map(|load| fidelity(experiment, load));
    let sentence = |found: Result<ReplayFidelity, String>| match found {
        Ok(found) => format!("the replay of {} is {}", found.trace, found.verdict.sentence),
        Err(why) => why,
    };
    all.map(sentence).collect()
}

/// On how many CPUs a recording stands beside its replay: of one of some CPUs, on as many, if the user says
/// so.
pub fn recorded_cpus(experiment: &Experiment, replay: &Replay) -> usize {
    let here = experiment.machine.spec().cpus();
    if replay.is_of_part(here) { here } else { replay.cpus() as usize }
}

/// Replays a recording alone, unchanged, on the machine and under the kernel that recorded it, as far as both
/// are known, and compares the two. `None` for a load that is no recording or of which no machine is known; a
/// sentence where it does not run.
pub fn fidelity(experiment: &Experiment, load: &LoadSpec) -> Option<Result<ReplayFidelity, String>> {
    let recorded = load.recorded().filter(|recorded| recorded.replay.has_original())?;
    let machine = recorded.on()?.with_cpus(recorded_cpus(experiment, &recorded.replay));
    let recorder = recorded.replay.kernel().and_then(NamedKernel::of_uname);
    let mut kernel = KernelConfig::new(recorder.unwrap_or_else(|| experiment.kernel.named().clone()));
    if recorded.replay.recording().hz.is_none() {
        // What the trace does not show, the user may know.
        kernel.take(&experiment.kernel, "hz");
    }
    let failed = |why: String| format!("{}: how close the replay comes is not known: {why}", load.text());
    let run = || {
        if experiment.looks_behind(recorded.replay.recording().span) {
            return Err(failed("the stretch to tell of begins behind its end".to_owned()));
        }
        let reference = Experiment {
            machine: machine.map_err(|error| failed(error.to_string()))?.into(),
            kernel,
            groups: known_groups(experiment),
            duration: None,
            fidelity: true,
            ..experiment.aside(vec![load.clone().without_changes()])
        };
        let run = reference.run_alone().map_err(|error| failed(error.to_string()))?;
        let found = run.result.replay.into_iter().next();
        found.ok_or_else(|| failed("it was changed".to_owned()))
    };
    Some(run())
}
