//! What the field's own tools read from a recording, or the recorded program counted itself: by this a replay
//! is judged, and not by what the replay says of itself.

mod at_start;
mod timehist;
mod trace_cmd;

use crate::error::Error;
use crate::inspect::{Inspection, open};
use crate::sources::{Input, Sources};
use schema::InspectResult;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a recorded task; `None` where nobody counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::validate) struct Counted {
    pub comm: String,
    pub cpu_us: Option<f64>,
    pub switches: u64,
    pub migrations: Option<u64>,
    /// How many wakeup latencies there are.
    pub latencies: u64,
    pub mean_us: Option<f64>,
    pub p50_us: Option<f64>,
    /// CPU time as `schedlab inspect` reads it.
    pub read_cpu_us: Option<f64>,
    /// Who counted, for the report.
    pub by: &'static str,
}

/// What a program of the recordings' own counts of its threads (`result.json`).
#[derive(Deserialize)]
struct OwnResult {
    #[serde(default)]
    tasks: Vec<OwnTask>,
}

#[derive(Deserialize)]
struct OwnTask {
    tid: u32,
    #[serde(default)]
    cpu_ms: Option<f64>,
    #[serde(default)]
    migrated: Option<u64>,
}

/// By how much two readings of a task's CPU time may differ; where they differ more, events are missing, and
/// the truth is not known.
const SURE: f64 = 0.02;

/// The tasks of a recording, by pid. `beside` is what lies in its folder. Of a trace in which switches are
/// missing, CPU time is left out, and all where nobody else has read it.
pub(in crate::validate) fn tasks(
    recording: &str,
    inspected: &InspectResult,
    is_emulated: bool,
    beside: &BTreeSet<String>,
    files: &dyn Sources,
) -> Result<BTreeMap<u32, Counted>, Error> {
    let read = of_inspect(inspected);
    let reference = found_beside(recording, "reference.json", beside);
    let timehist = found_beside(recording, "perf_sched_timehist.txt.gz", beside);
    let read_by_nobody_else = reference.is_none() && timehist.is_none();
    let mut tasks = match (reference, timehist) {
        (Some(path), _) => trace_cmd::tasks(&path, files)?,
        (None, Some(path)) => timehist::tasks(&path, read.clone(), files)?,
        (None, None) => read.clone(),
    };
    for (pid, task) in &mut tasks {
        task.read_cpu_us = read.get(pid).and_then(|read| read.cpu_us);
        let differ = |(read, counted): (f64, f64)| (read - counted).abs() > SURE * counted;
        if task.read_cpu_us.zip(task.cpu_us).is_some_and(differ) {
            task.cpu_us = None;
        }
    }
    if read_by_nobody_else {
        add_start(recording, &mut tasks, files)?;
    }
    let latency = &inspected.latency;
    if latency.runtime_from == "sched_switch" && latency.context_switch_bugs > 0 {
        if read_by_nobody_else {
            return Ok(BTreeMap::new());
        }
        tasks.values_mut().for_each(|task| task.cpu_us = None);
    }
    if let Some(own) = own_result(recording, beside) {
        add_own(&own, is_emulated, &mut tasks, files)?;
    }
    Ok(tasks)
}

fn of_inspect(inspected: &InspectResult) -> BTreeMap<u32, Counted> {
    let rows = inspected.latency.rows.iter();
    rows.map(|row| {
        let cpu_us = Some(row.runtime_ns as f64 / 1e3);
        let counted =
            Counted { comm: row.comm.clone(), cpu_us, switches: row.switches, ..Counted::default() };
        (row.pid, Counted { by: "schedlab inspect", ..counted })
    })
    .collect()
}

/// Adds what the tasks that ran at first did before their first switch, which `inspect` leaves out.
fn add_start(recording: &str, tasks: &mut BTreeMap<u32, Counted>, files: &dyn Sources) -> Result<(), Error> {
    let trace = open(recording, &Inspection::default(), files)?.trace;
    for (pid, ran_us) in at_start::ran_at_start_us(&trace) {
        if let Some(cpu_us) = tasks.get_mut(&pid).and_then(|task| task.cpu_us.as_mut()) {
            *cpu_us += ran_us;
        }
    }
    Ok(())
}

/// An emulated machine's own clock is not that of its trace; what it counts holds.
fn add_own(
    path: &str,
    is_emulated: bool,
    tasks: &mut BTreeMap<u32, Counted>,
    files: &dyn Sources,
) -> Result<(), Error> {
    let bytes = Input::open(path, files)?.into_bytes()?;
    // Other programs' results have other forms, and nothing to say here.
    let Ok(own) = serde_json::from_slice::<OwnResult>(&bytes) else { return Ok(()) };
    for counted in own.tasks {
        let Some(task) = tasks.get_mut(&counted.tid) else { continue };
        if is_emulated {
            task.migrations = counted.migrated.or(task.migrations);
        } else if let Some(cpu_ms) = counted.cpu_ms {
            task.cpu_us = Some(cpu_ms * 1e3);
        }
    }
    Ok(())
}

fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

fn own_result(recording: &str, beside: &BTreeSet<String>) -> Option<String> {
    Some(format!("{}result.json", folder(recording))).filter(|path| beside.contains(path))
}

/// The file of this kind for the recording: that with its name, or the only one in its folder.
fn found_beside(recording: &str, ending: &str, beside: &BTreeSet<String>) -> Option<String> {
    let stem = super::super::recordings::stem(recording);
    let named = format!("{stem}.{ending}");
    if beside.contains(&named) {
        return Some(named);
    }
    let folder = folder(recording);
    let here = || beside.iter().filter(|path| self::folder(path) == folder);
    let mut of_kind = here().filter(|path| path.ends_with(ending));
    let only = of_kind.next().filter(|_| of_kind.next().is_none())?;
    let recordings = here().filter(|path| super::super::recordings::is_recording(path)).count();
    (recordings == 1).then(|| only.clone())
}
