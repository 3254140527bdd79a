//! Counters of the tasks of a name.

use super::{Measured, quantile};
use schema::TaskResult;
use serde::Deserialize;
use workload::replay::TaskSelector;

/// Which counter of which tasks, and which of them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::validate) struct OfTasks {
    /// Their name, a pattern of names, or a pid.
    of: String,
    figure: Counter,
    take: Take,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Counter {
    /// CPU time, milliseconds.
    CpuMs,
    /// CPU time, per cent of the run.
    CpuPercent,
    Voluntary,
    Involuntary,
    Migrations,
    /// Mean wakeup latency, microseconds.
    LatencyUs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Take {
    Sum,
    Mean,
    Least,
    Most,
    /// What the tasks but the one with the most have in all.
    SumOfOthers,
}

impl OfTasks {
    pub fn of(&self, run: &Measured<'_>) -> Result<f64, String> {
        let whom: TaskSelector = self.of.parse()?;
        let tasks = run.result.tasks.iter().filter(|task| whom.matches(task.pid, &task.comm));
        let values: Vec<f64> = tasks.map(|task| self.value(task, run.seconds())).collect();
        if values.is_empty() {
            return Err(format!("no task is called {}", self.of));
        }
        let (sum, most) = (values.iter().sum::<f64>(), quantile(values.clone(), 1.0));
        Ok(match self.take {
            Take::Sum => sum,
            Take::Mean => sum / values.len() as f64,
            Take::Least => quantile(values, 0.0),
            Take::Most => most,
            Take::SumOfOthers => sum - most,
        })
    }

    fn value(&self, task: &TaskResult, seconds: f64) -> f64 {
        let cpu_ns = task.sum_exec_runtime_ns as f64;
        match self.figure {
            Counter::CpuMs => cpu_ns / 1e6,
            Counter::CpuPercent => cpu_ns / seconds / 1e7,
            Counter::Voluntary => task.nr_voluntary_switches as f64,
            Counter::Involuntary => task.nr_involuntary_switches as f64,
            Counter::Migrations => task.nr_migrations as f64,
            Counter::LatencyUs => task.wakeup_latency_ns.mean as f64 / 1e3,
        }
    }
}
