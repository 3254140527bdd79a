//! How far a replay may be trusted shows where the truth is known: on the machine and under the kernel of the
//! recording.

use crate::experiment::Experiment;
use crate::groups::Groups;
use crate::kernel::{KernelConfig, NamedKernel};
use crate::loads::LoadSpec;
use schema::ReplayFidelity;

/// Replays a recording alone, unchanged, on the machine and under the kernel that recorded it, as far as both
/// are known, and compares the two. `None` for a load that is no recording or of which no machine is known; a
/// sentence where it does not run.
pub fn fidelity(experiment: &Experiment, load: &LoadSpec) -> Option<Result<ReplayFidelity, String>> {
    let recorded = load.recorded().filter(|recorded| recorded.replay.has_original())?;
    let machine = recorded.on()?.with_cpus(recorded.replay.cpus() as usize);
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
            groups: Groups::default(),
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
