//! What the recording says against the model: how far a replay is off in a figure in which it is compared
//! with itself.
//!
//! No seed makes a difference to many replays, and that is no proof: the replay that a variant is compared
//! with may be as far from what was recorded as the variant is from it.

use crate::replay::poor_questions;
use schema::comparison::MetricComparison;
use std::collections::{BTreeMap, BTreeSet};

use schema::{Fidelity, Question, ReplayFidelity, ReplayTask, RunResult};

/// What is known of the replays of a comparison, by the keys of its figures.
#[derive(Debug, Default)]
pub struct Trust {
    off: BTreeMap<String, f64>,
    poor: BTreeSet<String>,
    /// Names of the recorded command's tasks, and of its descendants.
    commands: BTreeSet<String>,
}

impl Trust {
    /// From the base's first run.
    pub fn of(run: &RunResult) -> Self {
        let mut trust = Self::default();
        let of_command = run.tasks.iter().filter(|task| task.of_command);
        trust.commands = of_command.map(|task| task.comm.clone()).collect();
        let tasks = || run.replay.iter().flat_map(|replay| &replay.tasks);
        let mut names: BTreeMap<&str, Vec<&ReplayTask>> = BTreeMap::new();
        tasks().for_each(|task| names.entry(&task.comm).or_default().push(task));
        for (name, tasks) in names {
            trust.name(name, &tasks);
        }
        let realtime: BTreeSet<u32> =
            run.tasks.iter().filter(|task| task.policy.is_realtime()).map(|task| task.pid).collect();
        for (class, is_realtime) in [("rt_tasks", true), ("fair_tasks", false)] {
            let of_class: Vec<&ReplayTask> =
                tasks().filter(|task| realtime.contains(&task.pid) == is_realtime).collect();
            trust.is_off(format!("{class}.mean_latency"), mean_latency(&of_class));
            trust
                .is_off(format!("{class}.worst_latency"), most(&of_class, |task| task.wakeup_latency_max_ns));
        }
        let all: Vec<&ReplayTask> = tasks().collect();
        trust.is_off("totals.context_switches", sum(&all, |task| task.nr_switches));
        trust.is_off("totals.wakeups", sum(&all, |task| task.wakeups));
        trust.is_off("totals.migrations", sum(&all, |task| task.nr_migrations));
        // Several replays have several figures of this name; only that of the first is called so.
        if let Some(finish) = run.replay.first().and_then(|replay: &ReplayFidelity| replay.finish_ns) {
            trust.is_off("replay.finish", finish);
        }
        trust
    }

    fn name(&mut self, name: &str, tasks: &[&ReplayTask]) {
        let together = ReplayTask {
            pid: 0,
            comm: name.to_owned(),
            of_command: false,
            cpu_time_ns: sum(tasks, |task| task.cpu_time_ns),
            nr_switches: sum(tasks, |task| task.nr_switches),
            nr_voluntary_switches: sum(tasks, |task| task.nr_voluntary_switches),
            nr_involuntary_switches: sum(tasks, |task| task.nr_involuntary_switches),
            nr_migrations: sum(tasks, |task| task.nr_migrations),
            wakeups: sum(tasks, |task| task.wakeups),
            wakeup_latencies: sum(tasks, |task| task.wakeup_latencies),
            wakeup_latency_mean_ns: mean_latency(tasks),
            wakeup_latency_p99_ns: most(tasks, |task| task.wakeup_latency_p99_ns),
            wakeup_latency_max_ns: most(tasks, |task| task.wakeup_latency_max_ns),
            exited_ns: None,
            poor: Vec::new(),
        };
        let figures = [
            ("cpu_time", Question::CpuTime, Some(together.cpu_time_ns)),
            ("vol", Question::Switches, Some(together.nr_voluntary_switches)),
            ("nonvol", Question::Switches, Some(together.nr_involuntary_switches)),
            ("migrations", Question::Switches, Some(together.nr_migrations)),
            ("wait", Question::Latency, None),
            ("mean_latency", Question::Latency, Some(together.wakeup_latency_mean_ns)),
            ("p99_latency", Question::Latency, Some(together.wakeup_latency_p99_ns)),
            ("worst_latency", Question::Latency, Some(together.wakeup_latency_max_ns)),
        ];
        let poor = poor_questions(&together);
        for (figure, question, pair) in figures {
            let key = format!("tasks.{name}.{figure}");
            if poor.contains(&question) {
                self.poor.insert(key.clone());
            }
            if let Some(pair) = pair {
                self.is_off(key, pair);
            }
        }
        let exits: Option<Vec<Fidelity>> = tasks.iter().map(|task| task.exited_ns).collect();
        if let Some(last) = exits.filter(|exits| !exits.is_empty()) {
            let latest = |side: fn(&Fidelity) -> u64| last.iter().map(side).max().unwrap_or(0);
            let pair = Fidelity { recorded: latest(|f| f.recorded), simulated: latest(|f| f.simulated) };
            self.is_off(format!("tasks.{name}.exit"), pair);
        }
    }

    /// What was not recorded at all is no measure of anything.
    fn is_off(&mut self, key: impl Into<String>, pair: Fidelity) {
        if pair.recorded > 0 {
            self.off.insert(key.into(), pair.abs_error() as f64 / pair.recorded as f64);
        }
    }

    /// Writes down what is known of a figure.
    pub fn note(&self, metric: &mut MetricComparison) {
        let key = &metric.metric.key;
        metric.replay_off = self.off.get(key).copied();
        metric.poor = self.poor.contains(key);
        let of_command = || {
            let (name, _) = key.strip_prefix("tasks.")?.rsplit_once('.')?;
            Some(self.commands.contains(name))
        };
        metric.of_command = key == "replay.finish" || of_command().unwrap_or(false);
    }
}

fn sum(tasks: &[&ReplayTask], figure: impl Fn(&ReplayTask) -> Fidelity) -> Fidelity {
    let mut sum = Fidelity::default();
    tasks.iter().for_each(|task| sum.add(figure(task)));
    sum
}

fn most(tasks: &[&ReplayTask], figure: impl Fn(&ReplayTask) -> Fidelity) -> Fidelity {
    tasks.iter().map(|task| figure(task)).fold(Fidelity::default(), |most, pair| Fidelity {
        recorded: most.recorded.max(pair.recorded),
        simulated: most.simulated.max(pair.simulated),
    })
}

/// The mean over all samples.
fn mean_latency(tasks: &[&ReplayTask]) -> Fidelity {
    let mean = |side: fn(Fidelity) -> u64| {
        let samples: u128 = tasks.iter().map(|task| u128::from(side(task.wakeup_latencies))).sum();
        let product = |task: &&ReplayTask| {
            u128::from(side(task.wakeup_latencies)) * u128::from(side(task.wakeup_latency_mean_ns))
        };
        let total: u128 = tasks.iter().map(product).sum();
        total.checked_div(samples).map_or(0, |mean| u64::try_from(mean).unwrap_or(u64::MAX))
    };
    Fidelity { recorded: mean(|pair| pair.recorded), simulated: mean(|pair| pair.simulated) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Arm, compare};
    use schema::{Policy, ReplayOrder, example};

    /// The differences of a replay of two tasks, of which the second is off by 30 % in its switches.
    fn compared() -> Vec<MetricComparison> {
        let mut base = example::run();
        base.tasks =
            vec![example::task(1, "cc1", Policy::Other, 0), example::task(2, "idler", Policy::Other, 0)];
        base.tasks[0].of_command = true;
        let mut tasks = vec![example::replay_task(1, "cc1"), example::replay_task(2, "idler")];
        tasks[0].nr_voluntary_switches = Fidelity { recorded: 100, simulated: 90 };
        tasks[1].nr_switches = Fidelity { recorded: 100, simulated: 140 };
        let (p99, order) = (Fidelity::default(), ReplayOrder::default());
        let finish = example::finish(Some(1_000), Some(1_100));
        base.replay = vec![crate::replay::fidelity(
            "t.dat".to_owned(),
            example::reference(),
            tasks,
            p99,
            order,
            Some(&finish),
        )];
        let mut variant = base.clone();
        variant.tasks[0].nr_voluntary_switches += 500;
        let arm = |name: &str, runs| Arm { name: name.to_owned(), runs };
        let answer = compare(&arm("a", &[base]), &[arm("b", &[variant])]).expect("pairs");
        answer.variants[0].metrics.clone()
    }

    #[test]
    fn each_figure_tells_how_far_the_replay_is_off_in_it() {
        let metrics = compared();
        let metric = |key: &str| metrics.iter().find(|metric| metric.metric.key == key).expect("a figure");
        assert_eq!(metric("tasks.cc1.vol").replay_off, Some(0.1));
        assert_eq!(metric("replay.finish").replay_off, Some(0.1));
        assert_eq!(metric("rq_lock.contended").replay_off, None, "which no recording has");
        // 500 of 9001 are less than a tenth.
        assert!(metric("tasks.cc1.vol").is_within_replays_error());
        assert!(!metric("rq_lock.contended").is_within_replays_error());
    }

    #[test]
    fn figures_of_poor_tasks_and_of_the_command_are_marked() {
        let metrics = compared();
        let keys = |is: fn(&MetricComparison) -> bool| -> BTreeSet<&str> {
            metrics.iter().filter(|metric| is(metric)).map(|metric| metric.metric.key.as_str()).collect()
        };
        let poor = ["tasks.idler.migrations", "tasks.idler.nonvol", "tasks.idler.vol"];
        assert_eq!(keys(|metric| metric.poor), BTreeSet::from(poor));
        let of_command = keys(|metric| metric.of_command);
        assert!(of_command.contains("tasks.cc1.wait") && of_command.contains("replay.finish"));
        assert!(!of_command.contains("tasks.idler.wait"));
    }
}
