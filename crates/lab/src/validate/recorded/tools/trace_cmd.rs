//! `*.reference.json`: what was counted in the output of `trace-cmd report`, task by task.

use super::Counted;
use crate::error::Error;
use crate::sources::{self, Sources};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Reference {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    pid: u32,
    comm: String,
    run_us: f64,
    vol: u64,
    nonvol: u64,
    migrated: Option<u64>,
    wake_to_run: Option<WakeToRun>,
}

#[derive(Deserialize)]
struct WakeToRun {
    n: u64,
    mean_us: Option<f64>,
    p50_us: Option<f64>,
}

pub(super) fn tasks(path: &str, files: &dyn Sources) -> Result<BTreeMap<u32, Counted>, Error> {
    let reference: Reference =
        serde_json::from_str(&sources::text(path, files)?).map_err(|error| Error::ReferenceFault {
            path: path.to_owned(),
            problem: format!("not as `trace-cmd` figures: {error}"),
        })?;
    let counted = |task: Task| {
        let wakes = task.wake_to_run.unwrap_or(WakeToRun { n: 0, mean_us: None, p50_us: None });
        let counted = Counted {
            comm: task.comm,
            cpu_us: Some(task.run_us),
            switches: task.vol + task.nonvol,
            migrations: task.migrated,
            latencies: wakes.n,
            mean_us: wakes.mean_us,
            p50_us: wakes.p50_us,
            read_cpu_us: None,
            by: "trace-cmd",
        };
        (task.pid, counted)
    };
    Ok(reference.tasks.into_iter().map(counted).collect())
}
