//! The replay of a trace beside the trace itself: sums over its tasks, and how far a what-if may be trusted.

mod thresholds;
mod verdict;

use schema::{Fidelity, Reference, ReplayFidelity, ReplayFinish, ReplayOrder, ReplaySummary, ReplayTask};

pub use thresholds::{BOUNDS_FILE, Limits, limits};
pub(crate) use verdict::{is_poor, poor_questions};

/// Puts tasks, their sums and the verdict together. `wakeup_latency_p99_ns` is the percentile over the
/// wakeups of all tasks, which cannot be had from the tasks' own percentiles; `cpu_time_uncertain_ns` by how
/// much the recorded CPU times may be wrong in all.
#[must_use]
pub fn fidelity(
    trace: String,
    reference: Reference,
    mut tasks: Vec<ReplayTask>,
    cpu_time_uncertain_ns: u64,
    wakeup_latency_p99_ns: Fidelity,
    order: ReplayOrder,
    finish: Option<&ReplayFinish>,
) -> ReplayFidelity {
    for task in &mut tasks {
        task.poor = poor_questions(task);
    }
    let summary = summary(&tasks, cpu_time_uncertain_ns, wakeup_latency_p99_ns, order);
    let verdict = verdict::of(&summary, &tasks, finish);
    let finish_ns = finish
        .and_then(|finish| finish.recorded_s.zip(finish.seconds))
        .map(|(recorded, simulated)| Fidelity { recorded: recorded.as_ns(), simulated: simulated.as_ns() });
    ReplayFidelity { trace, reference, tasks, summary, finish_ns, verdict }
}

fn summary(
    tasks: &[ReplayTask],
    cpu_time_uncertain_ns: u64,
    wakeup_latency_p99_ns: Fidelity,
    order: ReplayOrder,
) -> ReplaySummary {
    let longest = |side: fn(Fidelity) -> u64| {
        tasks.iter().map(|task| side(task.wakeup_latency_max_ns)).max().unwrap_or(0)
    };
    let mut sum = ReplaySummary {
        tasks: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
        cpu_time_ns: Fidelity::default(),
        cpu_time_abs_error_ns: 0,
        cpu_time_uncertain_ns,
        nr_switches: Fidelity::default(),
        nr_switches_abs_error: 0,
        nr_voluntary_switches: Fidelity::default(),
        wakeups: Fidelity::default(),
        wakeup_latencies: Fidelity::default(),
        wakeup_latency_mean_ns: Fidelity {
            recorded: weighted_mean(tasks, |f| f.recorded),
            simulated: weighted_mean(tasks, |f| f.simulated),
        },
        wakeup_latency_mean_abs_error_ns: 0,
        wakeup_latency_p99_ns,
        wakeup_latency_max_ns: Fidelity {
            recorded: longest(|f| f.recorded),
            simulated: longest(|f| f.simulated),
        },
        order,
    };
    for task in tasks {
        sum.cpu_time_ns.add(task.cpu_time_ns);
        sum.cpu_time_abs_error_ns += task.cpu_time_ns.abs_error();
        sum.nr_switches.add(task.nr_switches);
        sum.nr_switches_abs_error += task.nr_switches.abs_error();
        sum.nr_voluntary_switches.add(task.nr_voluntary_switches);
        sum.wakeups.add(task.wakeups);
        sum.wakeup_latencies.add(task.wakeup_latencies);
    }
    let off = weighed_by_recorded(tasks, Fidelity::abs_error);
    let mean_off = off.checked_div(u128::from(sum.wakeup_latencies.recorded)).unwrap_or(0);
    sum.wakeup_latency_mean_abs_error_ns = u64::try_from(mean_off).unwrap_or(u64::MAX);
    sum
}

/// What the tasks' mean latencies come to, or how far they are off, each as often as the recording has it.
pub(crate) fn weighed_by_recorded(tasks: &[ReplayTask], of_mean: impl Fn(Fidelity) -> u64) -> u128 {
    let weighed = |task: &ReplayTask| {
        u128::from(task.wakeup_latencies.recorded) * u128::from(of_mean(task.wakeup_latency_mean_ns))
    };
    tasks.iter().map(weighed).sum()
}

/// The mean latency over all samples from the tasks' means, for one side of the figures; 0 without samples.
fn weighted_mean(tasks: &[ReplayTask], side: impl Fn(Fidelity) -> u64) -> u64 {
    let mut samples = 0u128;
    let mut latency_ns = 0u128;
    for task in tasks {
        samples += u128::from(side(task.wakeup_latencies));
        latency_ns += u128::from(side(task.wakeup_latencies)) * u128::from(side(task.wakeup_latency_mean_ns));
    }
    (latency_ns + samples / 2).checked_div(samples).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    fn summary_of(tasks: Vec<ReplayTask>) -> ReplaySummary {
        let (p99, order) = (Fidelity::default(), ReplayOrder::default());
        fidelity("t".to_owned(), example::reference(), tasks, 0, p99, order, None).summary
    }

    #[test]
    fn errors_of_two_replayed_tasks_do_not_cancel_out() {
        let mut longer = example::replay_task(1, "a");
        let mut shorter = example::replay_task(2, "b");
        longer.cpu_time_ns = Fidelity { recorded: 100, simulated: 130 };
        shorter.cpu_time_ns = Fidelity { recorded: 100, simulated: 70 };
        let summary = summary_of(vec![longer, shorter]);
        assert_eq!(summary.cpu_time_ns, Fidelity { recorded: 200, simulated: 200 });
        assert_eq!(summary.cpu_time_abs_error_ns, 60);
    }

    #[test]
    fn mean_latency_of_a_replay_weighs_each_sample_alike() {
        let mut often = example::replay_task(1, "a");
        let mut once = example::replay_task(2, "b");
        often.wakeup_latencies = Fidelity { recorded: 3, simulated: 0 };
        often.wakeup_latency_mean_ns = Fidelity { recorded: 10, simulated: 0 };
        once.wakeup_latencies = Fidelity { recorded: 1, simulated: 0 };
        once.wakeup_latency_mean_ns = Fidelity { recorded: 50, simulated: 0 };
        let summary = summary_of(vec![often, once]);
        assert_eq!(summary.wakeup_latency_mean_ns, Fidelity { recorded: 20, simulated: 0 });
    }

    #[test]
    fn the_example_is_what_its_tasks_come_to() {
        let example = example::replay();
        let p99 = example.summary.wakeup_latency_p99_ns;
        let finish = example::finish(Some(7_900_000_000), Some(7_950_000_000));
        let tasks = vec![example::replay_task(6_922, "cc1"), example::replay_task(6_912, "cc1")];
        let order = example.summary.order;
        let uncertain = example.summary.cpu_time_uncertain_ns;
        let name = "make10.dat".to_owned();
        let made = fidelity(name, example::reference(), tasks, uncertain, p99, order, Some(&finish));
        assert_eq!(made, example);
    }
}
