//! What the recording says against the model: how far a replay is off in a figure in which it is compared
//! with itself.
//!
//! No seed makes a difference to many replays, and that is no proof: the replay that a variant is compared
//! with may be as far from what was recorded as the variant is from it. Both distances are of the replay, so
//! they are compared as shares of the same figure, the simulated one: of a replay that does a hundredth of
//! what was recorded, a change by half is nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::MetricComparison;
use crate::schema::{Fidelity, Question, ReplayFidelity, ReplayTask, RunResult};
use crate::stats::nine_digits;

/// What is known of the replays of a comparison, by the keys of its figures.
#[derive(Debug, Default)]
pub struct Trust {
    recorded: BTreeMap<String, Fidelity>,
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
            let wakeups = sum(&of_class, |task| task.wakeup_latencies).recorded;
            let figures = [
                ("mean_latency", mean_latency(&of_class)),
                ("worst_latency", most(&of_class, |task| task.wakeup_latency_max_ns)),
            ];
            for (figure, pair) in figures {
                trust.compare(format!("{class}.{figure}"), Question::Latency, pair, wakeups);
            }
        }
        let all: Vec<&ReplayTask> = tasks().collect();
        let figures = [
            ("context_switches", sum(&all, |task| task.nr_switches)),
            ("wakeups", sum(&all, |task| task.wakeups)),
            ("migrations", sum(&all, |task| task.nr_migrations)),
        ];
        for (figure, pair) in figures {
            trust.compare(format!("totals.{figure}"), Question::Switches, pair, pair.larger());
        }
        // Several replays have several figures of this name; only that of the first is called so.
        if let Some(finish) = run.replay.first().and_then(|replay: &ReplayFidelity| replay.finish_ns) {
            // It stays above whatever its grade: it is the first question that people ask.
            trust.recorded.insert("replay.finish".to_owned(), finish);
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
        let switches = |pair: Fidelity| (Question::Switches, pair, pair.larger());
        let latency = |pair: Fidelity| (Question::Latency, pair, together.wakeup_latencies.recorded);
        let figures = [
            ("cpu_time", (Question::CpuTime, together.cpu_time_ns, together.cpu_time_ns.larger() / 1_000)),
            ("vol", switches(together.nr_voluntary_switches)),
            ("nonvol", switches(together.nr_involuntary_switches)),
            ("migrations", switches(together.nr_migrations)),
            ("mean_latency", latency(together.wakeup_latency_mean_ns)),
            ("p99_latency", latency(together.wakeup_latency_p99_ns)),
            ("worst_latency", latency(together.wakeup_latency_max_ns)),
        ];
        let poor = together.poor_questions();
        for (figure, (question, pair, counted)) in figures {
            let key = format!("tasks.{name}.{figure}");
            if poor.contains(&question) {
                self.poor.insert(key.clone());
            }
            self.compare(key, question, pair, counted);
        }
        // No recording has it, but it is made of latencies.
        if poor.contains(&Question::Latency) {
            self.poor.insert(format!("tasks.{name}.wait"));
        }
        let exits: Option<Vec<Fidelity>> = tasks.iter().map(|task| task.exited_ns).collect();
        if let Some(last) = exits.filter(|exits| !exits.is_empty()) {
            let latest = |side: fn(&Fidelity) -> u64| last.iter().map(side).max().unwrap_or(0);
            let pair = Fidelity { recorded: latest(|f| f.recorded), simulated: latest(|f| f.simulated) };
            self.compare(format!("tasks.{name}.exit"), Question::FinishingTime, pair, pair.recorded / 1_000);
        }
    }

    /// A figure in which the replay stands beside its recording, of which so much was counted. What was not
    /// recorded at all is no measure of anything.
    fn compare(&mut self, key: impl Into<String>, question: Question, pair: Fidelity, counted: u64) {
        if pair.recorded == 0 {
            return;
        }
        let key = key.into();
        if question.is_poor(pair, counted) {
            self.poor.insert(key.clone());
        }
        self.recorded.insert(key, pair);
    }

    /// Writes down what is known of a figure.
    pub fn note(&self, metric: &mut MetricComparison) {
        let key = &metric.metric.key;
        metric.replay_error = self.recorded.get(key).map(|pair| nine_digits(error_of(metric.base, *pair)));
        metric.poor = self.poor.contains(key);
        let of_command = || {
            let (name, _) = key.strip_prefix("tasks.")?.rsplit_once('.')?;
            Some(self.commands.contains(name))
        };
        metric.of_command = key == "replay.finish" || of_command().unwrap_or(false);
    }
}

/// How far this figure of a replay is from the truth: its replay on the recorded machine was off by so much,
/// and is taken to be off by the same share elsewhere.
fn error_of(base: f64, pair: Fidelity) -> f64 {
    let error = pair.abs_error() as f64;
    if pair.simulated == 0 { error } else { base * (error / pair.simulated as f64) }
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
    use crate::schema::{Policy, ReplayOrder, example};

    /// The differences of a replay of two tasks, of which the second is off by 40 % in its switches.
    fn compared() -> Vec<MetricComparison> {
        let mut base = example::run();
        base.tasks =
            vec![example::task(1, "cc1", Policy::Other, 0), example::task(2, "idler", Policy::Other, 0)];
        base.tasks[0].of_command = true;
        let mut tasks = vec![example::replay_task(1, "cc1"), example::replay_task(2, "idler")];
        tasks[0].nr_voluntary_switches = Fidelity { recorded: 100, simulated: 90 };
        tasks[0].nr_migrations = Fidelity { recorded: 60, simulated: 20 };
        tasks[1].nr_switches = Fidelity { recorded: 100, simulated: 140 };
        let (p99, order) = (Fidelity::default(), ReplayOrder::default());
        let finish = example::finish(Some(1_000), Some(1_100));
        base.replay = vec![ReplayFidelity::new(
            "t.dat".to_owned(),
            example::reference(),
            tasks,
            0,
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
        // 90 in place of 100 is a ninth too few, and so are the 9001 of the base.
        let vol = metric("tasks.cc1.vol");
        assert_eq!((vol.base, vol.replay_error.map(f64::round)), (9_001.0, Some(1_000.0)));
        assert!(vol.is_within_replays_error(), "500 of 9001 are less");
        let finish = metric("replay.finish");
        let share = finish.replay_error.expect("it was recorded") / finish.base;
        assert!((share - 100.0 / 1_100.0).abs() < 1e-6, "{share}");
        assert_eq!(metric("rq_lock.contended").replay_error, None, "which no recording has");
        assert!(!metric("rq_lock.contended").is_within_replays_error());
    }

    #[test]
    fn of_a_replay_that_does_a_hundredth_a_change_by_half_is_nothing() {
        let off = |base, recorded, simulated| error_of(base, Fidelity { recorded, simulated });
        assert_eq!(off(2.0, 200, 2), 198.0);
        assert_eq!(off(200.0, 200, 20_000), 198.0, "the same the other way round is 99 % of the base");
        assert_eq!(off(50.0, 100, 100), 0.0);
        assert_eq!(off(0.0, 7, 0), 7.0, "nothing has no share");
    }

    #[test]
    fn figures_of_poor_tasks_and_of_the_command_are_marked() {
        let metrics = compared();
        let keys = |is: fn(&MetricComparison) -> bool| -> BTreeSet<&str> {
            metrics.iter().filter(|metric| is(metric)).map(|metric| metric.metric.key.as_str()).collect()
        };
        // The idler is 40 % off in its switches, so all kinds of them are in doubt; cc1 only in its
        // migrations, with 20 in place of 60.
        let poor = [
            "tasks.cc1.migrations",
            "tasks.idler.migrations",
            "tasks.idler.nonvol",
            "tasks.idler.vol",
            "totals.migrations",
        ];
        assert_eq!(keys(|metric| metric.poor), BTreeSet::from(poor));
        let of_command = keys(|metric| metric.of_command);
        assert!(of_command.contains("tasks.cc1.wait") && of_command.contains("replay.finish"));
        assert!(!of_command.contains("tasks.idler.wait"));
    }
}
