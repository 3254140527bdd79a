//! What the recording says against the model: how far a replay is off in a figure in which it is compared
//! with itself.
//!
//! No seed makes a difference to many replays, and that is no proof: the replay that a variant is compared
//! with may be as far from what was recorded as the variant is from it. Both distances are of the replay, so
//! they are compared as shares of the same figure, the simulated one: of a replay that does a hundredth of
//! what was recorded, a change by half is nothing.

use crate::replay::{is_poor, poor_questions};
use schema::comparison::MetricComparison;
use std::collections::{BTreeMap, BTreeSet};

use crate::stats::nine_digits;
use schema::{Fidelity, Grade, LoadResult, Question, ReplayFidelity, ReplayTask, RunResult};

/// What is known of the replays of a comparison, by the keys of its figures.
#[derive(Debug, Default)]
pub struct Trust {
    figures: BTreeMap<String, Pairs>,
    poor: BTreeSet<String>,
    /// Names of the recorded command's tasks, and of its descendants.
    commands: BTreeSet<String>,
}

/// One figure of the replays under all seeds, each beside the recording.
#[derive(Debug, Clone, Copy, Default)]
struct Pairs {
    recorded: u128,
    simulated: u128,
    seeds: u32,
}

impl Pairs {
    fn add(&mut self, pair: Fidelity) {
        self.recorded += u128::from(pair.recorded);
        self.simulated += u128::from(pair.simulated);
        self.seeds += 1;
    }

    /// Mean over the seeds, as the figures of a comparison are.
    fn mean(self) -> Fidelity {
        let mean = |sum: u128| {
            let mean = sum.checked_div(u128::from(self.seeds)).unwrap_or(0);
            u64::try_from(mean).unwrap_or(u64::MAX)
        };
        Fidelity { recorded: mean(self.recorded), simulated: mean(self.simulated) }
    }

    /// What this figure of a base lacks of the truth, negative where it is too large: its replays on the
    /// recorded machine were off by so much, and it is taken to be off by the same factor.
    fn error_of(self, base: f64) -> f64 {
        let (recorded, simulated) = (self.recorded as f64, self.simulated as f64);
        match self.simulated {
            0 => recorded / f64::from(self.seeds.max(1)),
            _ => base * ((recorded - simulated) / simulated),
        }
    }
}

impl Trust {
    /// From the base's runs.
    pub fn of(runs: &[&RunResult]) -> Self {
        let mut trust = Self::default();
        let Some(first) = runs.first() else { return trust };
        let of_command = first.tasks.iter().filter(|task| task.of_command);
        trust.commands = of_command.map(|task| task.comm.clone()).collect();
        runs.iter().for_each(|run| trust.run(run));
        let poor = trust.figures.iter().filter(|(key, pairs)| is_poor(question(key), pairs.mean()));
        let poor: Vec<String> = poor.map(|(key, _)| key.clone()).collect();
        trust.poor.extend(poor);
        trust.unmeasured();
        trust.judged(first);
        trust
    }

    /// Latencies of a task that stand beside nothing in the recording are as poor as one that does.
    fn unmeasured(&mut self) {
        let is_latency = |key: &&String| key.starts_with("tasks.") && question(key) == Question::Latency;
        let names = self.poor.iter().filter(is_latency).filter_map(|key| key.rsplit_once('.'));
        let like = |(name, _): (&str, &str)| UNMEASURED.map(|figure| format!("{name}.{figure}"));
        let all: Vec<String> = names.flat_map(like).collect();
        self.poor.extend(all);
    }

    /// Figures of many tasks: the verdict on the whole replay is also one on them. When it is done stays
    /// above whatever its grade, as the first question that people ask; unless it is no answer.
    fn judged(&mut self, run: &RunResult) {
        let is_poor =
            |question| run.replay.iter().any(|replay| replay.verdict.grade(question) == Grade::Poor);
        let prefixes = [
            (Question::Latency, "rt_tasks."),
            (Question::Latency, "fair_tasks."),
            (Question::Switches, "totals."),
        ];
        for (question, prefix) in prefixes {
            let of_all = self.figures.keys().filter(|key| is_poor(question) && key.starts_with(prefix));
            let of_all: Vec<String> = of_all.cloned().collect();
            self.poor.extend(of_all);
        }
        self.poor.remove(FINISH);
        let no_answer = run.loads.iter().any(|load| match load {
            LoadResult::Replay(replay) => replay.finish.as_ref().is_some_and(|finish| !finish.is_answer()),
            _ => false,
        });
        if no_answer {
            let exits = self.figures.keys().filter(|key| key.ends_with(".exit") || *key == FINISH).cloned();
            let exits: Vec<String> = exits.collect();
            self.poor.extend(exits);
        }
    }

    fn run(&mut self, run: &RunResult) {
        let tasks = || run.replay.iter().flat_map(|replay| &replay.tasks);
        let mut names: BTreeMap<&str, Vec<&ReplayTask>> = BTreeMap::new();
        tasks().for_each(|task| names.entry(&task.comm).or_default().push(task));
        for (name, tasks) in names {
            self.name(name, &tasks);
        }
        // Latencies of a recording are not told apart by class: a task counts as what it mostly was.
        let realtime: BTreeSet<u32> =
            run.tasks.iter().filter(|task| task.policy.is_realtime()).map(|task| task.pid).collect();
        for (class, is_realtime) in [("rt_tasks", true), ("fair_tasks", false)] {
            let of_class: Vec<&ReplayTask> =
                tasks().filter(|task| realtime.contains(&task.pid) == is_realtime).collect();
            self.compare(format!("{class}.mean_latency"), mean_latency(&of_class));
            let worst = most(&of_class, |task| task.wakeup_latency_max_ns);
            self.compare(format!("{class}.worst_latency"), worst);
        }
        let all: Vec<&ReplayTask> = tasks().collect();
        self.compare("totals.context_switches", sum(&all, |task| task.nr_switches));
        self.compare("totals.wakeups", sum(&all, |task| task.wakeups));
        self.compare("totals.migrations", sum(&all, |task| task.nr_migrations));
        // Several replays have several figures of this name; only that of the first is called so.
        if let Some(finish) = run.replay.first().and_then(|replay: &ReplayFidelity| replay.finish_ns) {
            self.compare(FINISH, finish);
        }
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
            ("cpu_time", together.cpu_time_ns),
            ("vol", together.nr_voluntary_switches),
            ("nonvol", together.nr_involuntary_switches),
            ("migrations", together.nr_migrations),
            ("mean_latency", together.wakeup_latency_mean_ns),
            ("p99_latency", together.wakeup_latency_p99_ns),
            ("worst_latency", together.wakeup_latency_max_ns),
        ];
        let poor = poor_questions(&together);
        for figure in figures.map(|(figure, _)| figure) {
            let key = format!("tasks.{name}.{figure}");
            if poor.contains(&question(&key)) {
                self.poor.insert(key);
            }
        }
        for (figure, pair) in figures {
            self.compare(format!("tasks.{name}.{figure}"), pair);
        }
        let exits: Option<Vec<Fidelity>> = tasks.iter().map(|task| task.exited_ns).collect();
        if let Some(last) = exits.filter(|exits| !exits.is_empty()) {
            let latest = |side: fn(&Fidelity) -> u64| last.iter().map(side).max().unwrap_or(0);
            let pair = Fidelity { recorded: latest(|f| f.recorded), simulated: latest(|f| f.simulated) };
            self.compare(format!("tasks.{name}.exit"), pair);
        }
    }

    /// A figure in which a replay stands beside its recording. What was not recorded at all is no measure of
    /// anything.
    fn compare(&mut self, key: impl Into<String>, pair: Fidelity) {
        if pair.recorded > 0 {
            self.figures.entry(key.into()).or_default().add(pair);
        }
    }

    /// Writes down what is known of a figure.
    pub fn note(&self, metric: &mut MetricComparison) {
        let key = &metric.metric.key;
        metric.replay_error = self.figures.get(key).map(|pairs| nine_digits(pairs.error_of(metric.base)));
        metric.poor = self.poor.contains(key);
        let of_command = || {
            let (name, _) = key.strip_prefix("tasks.")?.rsplit_once('.')?;
            Some(self.commands.contains(name))
        };
        metric.of_command = key == FINISH || of_command().unwrap_or(false);
    }
}

/// Latencies of a task that no recording is asked for.
const UNMEASURED: [&str; 3] = ["wait", "p50_latency", "p999_latency"];

/// When the load is done.
const FINISH: &str = "replay.finish";

/// To which question a figure belongs.
fn question(key: &str) -> Question {
    match key.rsplit_once('.').map_or(key, |(_, figure)| figure) {
        "cpu_time" => Question::CpuTime,
        "mean_latency" | "p99_latency" | "worst_latency" => Question::Latency,
        figure if UNMEASURED.contains(&figure) => Question::Latency,
        "exit" | "finish" => Question::FinishingTime,
        _ => Question::Switches,
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
    use schema::{Policy, ReplayFinish, ReplayOrder, example};

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
        base.replay = vec![crate::replay::fidelity(
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
        let finish = metric(FINISH);
        let share = finish.replay_error.expect("it was recorded") / finish.base;
        assert!((share + 100.0 / 1_100.0).abs() < 1e-6, "{share}");
        assert_eq!(metric("rq_lock.contended").replay_error, None, "which no recording has");
        assert!(!metric("rq_lock.contended").is_within_replays_error());
    }

    #[test]
    fn the_error_is_what_the_figure_lacks_of_the_truth() {
        let off = |base, recorded, simulated| {
            let mut pairs = Pairs::default();
            pairs.add(Fidelity { recorded, simulated });
            pairs.error_of(base)
        };
        assert_eq!(off(2.0, 200, 2), 198.0);
        assert_eq!(off(200.0, 200, 20_000), -198.0, "the other way round it is 99 % of the base");
        assert_eq!(off(50.0, 100, 100), 0.0);
        assert_eq!(off(0.0, 7, 0), 7.0, "nothing has no share");
    }

    /// One seed may come close by luck, another be far off: the mean stands beside the mean.
    #[test]
    fn the_replays_of_all_seeds_count() {
        let mut base = example::run();
        let with = |run: &RunResult, simulated: u64| {
            let mut run = run.clone();
            let task = &mut run.replay[0].tasks[0];
            task.wakeup_latency_max_ns = Fidelity { recorded: 1_000_000, simulated };
            run
        };
        base.replay[0].tasks.truncate(1);
        let runs = [with(&base, 1_000), with(&base, 1_999_000)];
        let trust = Trust::of(&runs.each_ref());
        let pair = trust.figures["tasks.cc1.worst_latency"].mean();
        assert_eq!(pair, Fidelity { recorded: 1_000_000, simulated: 1_000_000 });
        assert!(!trust.poor.contains("tasks.cc1.worst_latency"));
    }

    /// The percentile of one wakeup is its latency.
    #[test]
    fn a_latency_that_no_recording_tells_is_as_poor_as_one_that_it_tells() {
        let poor = |simulated| {
            let mut run = example::run();
            run.replay[0].tasks.truncate(1);
            run.replay[0].tasks[0].wakeup_latency_max_ns = Fidelity { recorded: 2_110, simulated };
            Trust::of(&[&run]).poor
        };
        let all = ["wait", "p50_latency", "p999_latency"].map(|figure| format!("tasks.cc1.{figure}"));
        assert!(all.iter().all(|key| poor(7_650_000).contains(key)));
        assert!(all.iter().all(|key| !poor(2_110).contains(key)));
    }

    #[test]
    fn when_the_clock_ends_the_command_its_end_is_no_answer() {
        let is_poor = |change: fn(&mut ReplayFinish)| {
            let mut run = example::run();
            for load in &mut run.loads {
                if let LoadResult::Replay(replay) = load {
                    change(replay.finish.as_mut().expect("the example has one"));
                }
            }
            Trust::of(&[&run]).poor.contains(FINISH)
        };
        assert!(!is_poor(|_| ()));
        assert!(is_poor(|finish| finish.by_clock = true));
        assert!(is_poor(|finish| finish.perhaps_by_clock = true));
        assert!(is_poor(|finish| finish.of_some_cpus = true));
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
