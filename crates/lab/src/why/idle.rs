//! What may help against the way out of an idle state: that the CPU may not enter it, as somebody holds
//! /dev/cpu_dma_latency.

use super::attempts::Attempt;
use super::remedies::{BEFORE, Late};
use crate::experiment::Experiment;
use machine::OutsideChange;
use report::numbers::exact_duration;
use scheduler::Nanos;
use schema::why::{Cause, WhyStretch};
use schema::{LogEvent, LogRecord};

/// At 0, so that idle CPUs poll; and at what the shallowest state takes to leave, which lets them enter that
/// one alone, as the boot option intel_idle.max_cstate=1 does. From before the CPU has entered its state: it
/// would have to leave it first.
pub(super) fn against(
    experiment: &Experiment,
    late: &Late<'_>,
    stretch: &WhyStretch,
) -> Vec<(Attempt, &'static str)> {
    let Cause::IdleExit { state: Some(left) } = &stretch.cause else { return Vec::new() };
    let Some(idle) = &experiment.machine.spec().idle else { return Vec::new() };
    let enters = |record: &&LogRecord| {
        let of_it = matches!(record.event, LogEvent::CpuIdle { of_cpu, state } if
            Some(of_cpu) == stretch.cpu && idle.states.get(state as usize).is_some());
        of_it && record.time <= stretch.from
    };
    let entered = late.log.records.iter().rev().find(enters).map_or(stretch.from, |record| record.time);
    let at = Some(Nanos(entered.0.saturating_sub(BEFORE.0).max(1)));
    let attempt = |limit: Nanos, effect: String| {
        let held = exact_duration(limit.0);
        let words = format!("/dev/cpu_dma_latency held at {held} from before the CPU idled: {effect}");
        let change = OutsideChange::CpuDmaLatency { limit };
        (Attempt::Outside { change, at, whose: None, words }, "The idle state takes long to leave.")
    };
    let polls = idle.states.iter().any(|state| state.polls());
    let mut all = Vec::new();
    if polls {
        all.push(attempt(Nanos::ZERO, "idle CPUs poll".to_owned()));
    }
    let shallowest = idle.states.iter().find(|state| !state.polls()).filter(|state| state.name != **left);
    all.extend(shallowest.map(|state| attempt(state.exit_latency, format!("{} at most", state.name))));
    all
}
