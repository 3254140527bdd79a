//! Tasks, summed by class and by command name.
//!
//! Not by pid: under another configuration a load may fork in another order, and then the same pid is another
//! task. A name that only one task has is that task.

use std::collections::BTreeMap;

use schema::{Better, DeadlineStat, Figures, RunResult, TaskResult, percentile_step};

/// Wakeup latency of all real-time and of all fair tasks.
pub fn measure_classes(run: &RunResult, figures: &mut Figures) {
    for (key, label, realtime) in [("rt_tasks", "RT", true), ("fair_tasks", "fair", false)] {
        let sum = Sum::of(run.tasks.iter().filter(|task| task.policy.is_realtime() == realtime));
        if sum.tasks > 0 {
            figures.group(key, label);
            let worst = sum.latency_max_ns;
            figures.nanos("worst_latency", "worst wakeup latency", Better::Lower, worst).headline();
            figures.nanos("mean_latency", "mean wakeup latency", Better::Lower, sum.mean_latency_ns());
            figures.nanos("wait", "waiting time", Better::Lower, sum.wait_ns);
        }
    }
}

/// Everything about the tasks of each name.
pub fn measure_names(run: &RunResult, figures: &mut Figures) {
    let mut names: BTreeMap<&str, Sum> = BTreeMap::new();
    let mut deadlines: BTreeMap<&str, Vec<&DeadlineStat>> = BTreeMap::new();
    for task in &run.tasks {
        names.entry(&task.comm).or_default().add(task);
        if let Some(deadline) = &task.deadline {
            deadlines.entry(&task.comm).or_default().push(&deadline.stat);
        }
    }
    for (name, sum) in names {
        use Better::{Lower, Neutral};
        figures.group(&format!("tasks.{name}"), &format!("{name}:"));
        figures.nanos("cpu_time", "CPU time", Neutral, sum.cpu_ns);
        figures.nanos("wait", "waiting time", Lower, sum.wait_ns);
        figures.count("vol", "voluntary switches", Neutral, sum.voluntary);
        figures.count("nonvol", "involuntary switches", Lower, sum.involuntary);
        figures.count("migrations", "migrations", Lower, sum.migrations);
        figures.nanos("mean_latency", "mean latency", Lower, sum.mean_latency_ns());
        let p50 = sum.latency_p50_ns;
        figures.nanos("p50_latency", "median of worst task", Lower, p50).in_steps_of(percentile_step(p50));
        let p99 = sum.latency_p99_ns;
        figures.nanos("p99_latency", "p99 of worst task", Lower, p99).in_steps_of(percentile_step(p99));
        let p999 = sum.latency_p999_ns;
        figures.nanos("p999_latency", "p99.9 of worst task", Lower, p999).in_steps_of(percentile_step(p999));
        figures.nanos("worst_latency", "worst latency", Lower, sum.latency_max_ns);
        if let Some(last) = sum.last_exit_ns.filter(|_| sum.exited == sum.tasks) {
            figures.nanos("exit", "last exit", Lower, last);
        }
        if let Some(stats) = deadlines.get(name) {
            super::add(figures, DeadlineStat::FIGURES, stats);
        }
    }
}

/// Several tasks taken together.
#[derive(Default)]
struct Sum {
    tasks: u64,
    cpu_ns: u64,
    wait_ns: u64,
    voluntary: u64,
    involuntary: u64,
    migrations: u64,
    wakeups: u64,
    latency_sum_ns: u128,
    /// Percentiles are those of the task whose is worst: those of single tasks cannot be added up.
    latency_p50_ns: u64,
    latency_p99_ns: u64,
    latency_p999_ns: u64,
    latency_max_ns: u64,
    exited: u64,
    last_exit_ns: Option<u64>,
}

impl Sum {
    fn of<'a>(tasks: impl Iterator<Item = &'a TaskResult>) -> Self {
        let mut sum = Self::default();
        tasks.for_each(|task| sum.add(task));
        sum
    }

    fn add(&mut self, task: &TaskResult) {
        let latency = &task.wakeup_latency_ns;
        self.tasks += 1;
        self.cpu_ns += task.sum_exec_runtime_ns;
        self.wait_ns += task.wait_sum_ns;
        self.voluntary += task.nr_voluntary_switches;
        self.involuntary += task.nr_involuntary_switches;
        self.migrations += task.nr_migrations;
        self.wakeups += latency.count;
        self.latency_sum_ns += u128::from(latency.count) * u128::from(latency.mean);
        self.latency_p50_ns = self.latency_p50_ns.max(latency.p50);
        self.latency_p99_ns = self.latency_p99_ns.max(latency.p99);
        self.latency_p999_ns = self.latency_p999_ns.max(latency.p999);
        self.latency_max_ns = self.latency_max_ns.max(latency.max);
        self.exited += u64::from(task.exited_ns.is_some());
        self.last_exit_ns = self.last_exit_ns.max(task.exited_ns);
    }

    fn mean_latency_ns(&self) -> u64 {
        self.latency_sum_ns.checked_div(u128::from(self.wakeups)).unwrap_or(0) as u64
    }
}
