//! Explanations of simulated wakeups: scenes made by hand, whose culprits and lengths are known; random runs,
//! in which every latency adds up; and whole experiments. And explanations of recordings.

mod random;
mod recorded;
mod scene;
mod scenes;
mod whole;

use lab::machine::Outcome;
use lab::workload::told_objects;
use schema::{Kernel, Log, LogGroup, LogHead, LogSchema, Machine, Pid};
use std::collections::BTreeMap;

/// The log of a run of the machine alone.
fn log(outcome: Outcome) -> Log {
    let kernel = Kernel {
        profile: String::new(),
        asked: None,
        features: BTreeMap::new(),
        rules: BTreeMap::new(),
        tunables: BTreeMap::new(),
        changes: Vec::new(),
    };
    let cpus = outcome.cpus.len() as u32;
    let group = |(number, group): (u32, &lab::machine::GroupOutcome)| LogGroup {
        path: group.spec.name.clone(),
        tasks: outcome.tasks.iter().filter(|t| t.group.0 == number).map(|t| Pid(t.pid.0)).collect(),
    };
    let head = LogHead {
        schema: LogSchema,
        version: String::new(),
        seed: 1,
        simulated_ns: outcome.simulated.0,
        machine: Machine { name: String::new(), cpus, recorded_paths: Vec::new() },
        kernel,
        loads: Vec::new(),
        objects: told_objects(&outcome.objects),
        tasks: Vec::new(),
        idle_states: Vec::new(),
        groups: (1..).zip(&outcome.groups).map(group).collect(),
    };
    Log { head, records: outcome.log.expect("asked for") }
}
