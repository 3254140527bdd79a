//! Idle states and their governor, where a machine file and a kernel do not go together, or a figure is odd.

use super::Parts;
use crate::kernel::Release;
use machine::{Governor, IdleState, IdleStates};
use report::numbers::exact_duration;

/// From this release on governors choose idle states as they do here, the tick among their choices (rule
/// idle_tick; machine.md 5.4).
const AS_MODELLED: Release = Release::new(4, 17, 0);

/// States that take longer to leave than they have to last: Linux takes them, and so does the machine file.
pub fn warnings(parts: &Parts<'_>) -> Vec<String> {
    let spec = parts.experiment.machine.spec();
    let Some(IdleStates { states, .. }) = &spec.idle else { return Vec::new() };
    let is_odd = |state: &&IdleState| state.exit_latency > state.target_residency;
    let told = |state: &IdleState| {
        format!(
            "machine {}: the idle state {} takes {} to leave, and is to be worth it from {} on (target_residency_ns): \
             have the two been interchanged?",
            spec.name,
            state.name,
            exact_duration(state.exit_latency.0),
            exact_duration(state.target_residency.0)
        )
    };
    states.iter().filter(is_odd).map(told).collect()
}

/// A machine file has one governor, whatever the kernel.
pub fn note(parts: &Parts<'_>) -> Option<String> {
    let experiment = parts.experiment;
    let governor = experiment.machine.spec().idle.as_ref()?.governor;
    let kernel = experiment.kernel.named();
    let (release, name) = (kernel.nearest_release(), &kernel.asked);
    let word = governor.name();
    let since = first_release(governor)?;
    if release < since {
        return Some(format!(
            "the machine's idle governor is {word}, which Linux has from {since} on: {name} had none such, and runs \
             with it all the same"
        ));
    }
    (release < AS_MODELLED).then(|| {
        format!(
            "the idle governor {word} chooses as from {AS_MODELLED} on; what it did otherwise in {name} is not \
             modelled (limit idle_governor)"
        )
    })
}

/// Since when Linux has a governor (machine.md 5.4).
fn first_release(governor: Governor) -> Option<Release> {
    match governor {
        Governor::Menu => Some(Release::new(2, 6, 24)),
        Governor::Teo => Some(Release::new(5, 1, 0)),
        Governor::Haltpoll => Some(Release::new(5, 4, 0)),
        Governor::None => None,
    }
}
