//! Tasks, summed by class and by command name.
//!
//! Not by pid: under another configuration a load may fork in another order, and then the same pid is another
//! task. A name that only one task has is that task.

use std::collections::BTreeMap;

use schema::{Better, ClassLatency, DeadlineStat, Figures, RunResult, TaskResult, percentile_step};

/// Wakeup latency of all real-time and of all fair tasks. Of a task that was both, each wakeup counts under
/// the policy that the task had then; its waiting time, which is one sum, under the policy that it mostly
/// had.
pub fn measure_classes(run: &RunResult, figures: &mut Figures) {
    for (key, label, realtime) in [("rt_tasks", "RT", true), ("fair_tasks", "fair", false)] {
        let of_class: Vec<&TaskResult> =
            run.tasks.iter().filter(|task| task.policy.is_realtime() == realtime).collect();
        if !of_class.is_empty() {
            figures.group(key, label);
            let latency = class_latency(&run.tasks, realtime);
            figures.nanos("worst_latency", "worst wakeup latency", Better::Lower, latency.max_ns).headline();
            let mean = latency.sum_ns.checked_div(latency.count).unwrap_or(0);
            figures.nanos("mean_latency", "mean wakeup latency", Better::Lower, mean);
            let wait = of_class.iter().map(|task| task.wait_sum_ns).sum();
            figures.nanos("wait", "waiting time", Better::Lower, wait);
        }
    }
}

/// The wakeups of one class, of all tasks.
fn class_latency(tasks: &[TaskResult], realtime: bool) -> ClassLatency {
    let of_task = |task: &TaskResult| match task.latency_by_class {
        Some(both) => Some(if realtime { both.realtime } else { both.fair }),
        None => (task.policy.is_realtime() == realtime).then(|| {
            let all = &task.wakeup_latency_ns;
            ClassLatency { count: all.count, sum_ns: all.count.saturating_mul(all.mean), max_ns: all.max }
        }),
    };
    tasks.iter().filter_map(of_task).fold(ClassLatency::default(), |sum, one| ClassLatency {
        count: sum.count + one.count,
        sum_ns: sum.sum_ns.saturating_add(one.sum_ns),
        max_ns: sum.max_ns.max(one.max_ns),
    })
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
