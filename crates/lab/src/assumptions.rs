//! What a replay assumes of waits whose cause the trace does not show decides how a what-if ends. So it is
//! tried the other way, too, and the result says what that would change.

use crate::experiment::Experiment;
use crate::task_options::{TaskOptions, outside};
use report::numbers::{many, moment};
use schema::{LoadResult, ReplayFinish, RunResult, Seconds};

/// A sentence for each recording with such waits: when it would finish if they lasted as long as they were
/// recorded.
pub fn if_relative(experiment: &Experiment, result: &RunResult) -> Vec<String> {
    let numbers = 0..experiment.loads.len();
    numbers.filter_map(|number| of_load(experiment, result, number)).collect()
}

/// What differs by less than this share of it does not differ.
const CLOSE: u64 = 100;

fn of_load(experiment: &Experiment, result: &RunResult, number: usize) -> Option<String> {
    let waits = experiment.loads[number].recorded()?.replay.recording().waits_for_outside();
    let here = finish(result, number).filter(|_| waits > 0)?;
    let options = TaskOptions { overrides: vec![outside("relative").ok()?], ..TaskOptions::default() };
    let mut loads = experiment.loads.clone();
    loads[number] = loads[number].clone().with_tasks(&options);
    let run = Experiment { fidelity: false, window: None, ..experiment.aside(loads) }.run_alone().ok()?;
    let there = finish(&run.result, number)?;
    let shown = |finish: &ReplayFinish| {
        finish.seconds.map_or_else(
            || "not before the run ended".to_owned(),
            |seconds| format!("at {}", moment(seconds.as_ns())),
        )
    };
    let is_close = |a: Seconds, b: Seconds| a.as_ns().abs_diff(b.as_ns()) <= a.as_ns() / CLOSE;
    let same = match here.seconds.zip(there.seconds) {
        Some((here, there)) => is_close(here, there),
        None => here.seconds == there.seconds,
    };
    let would = match same {
        true => format!("finish {} as well, within 1 %", shown(here)),
        false => format!("finish {} in place of {}", shown(there), shown(here)),
    };
    let who = here.comm.as_deref().unwrap_or("what was recorded");
    Some(format!(
        "{} for interrupts of unknown cause: ended at the recorded time; if all lasted as long as recorded, {who} \
         would {would} (outside: relative)",
        many(waits as u64, "wait"),
    ))
}

fn finish(result: &RunResult, number: usize) -> Option<&ReplayFinish> {
    match result.loads.get(number)? {
        LoadResult::Replay(replay) => replay.finish.as_ref(),
        _ => None,
    }
}
