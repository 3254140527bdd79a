//! A replay beside its recording.

use super::Rows;
use super::format::{change, count_u64, cut, duration_ns, wrap};
use super::table::{Align, Table};
use crate::schema::{Fidelity, ReplayFidelity, ReplaySummary, ReplayTask};

/// Tasks that a folded table shows: those that ran longest.
const MAX_ROWS: usize = 20;

/// CPU time, switches and wakeup latency of each task, recorded and simulated, and what this says about trusting
/// a what-if.
#[must_use]
pub fn replay_fidelity(fidelity: &ReplayFidelity, rows: Rows) -> String {
    let mut shown: Vec<&ReplayTask> = fidelity.tasks.iter().collect();
    let mut folded = String::new();
    if rows == Rows::Folded && shown.len() > MAX_ROWS {
        shown.sort_by_key(|task| std::cmp::Reverse(task.cpu_time_ns.recorded));
        shown.truncate(MAX_ROWS);
        folded = format!("{MAX_ROWS} of {} tasks: those that ran longest\n", fidelity.tasks.len());
    }
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("\npid", Right),
        ("\ntask", Left),
        ("cpu time\nrecorded", Right),
        ("\nreplay", Right),
        ("switches\nrec.", Right),
        ("\nreplay", Right),
        ("latency\nmean", Right),
        ("\nreplay", Right),
        ("latency\np99", Right),
        ("\nreplay", Right),
    ]);
    for task in shown {
        table.row([
            task.pid.to_string(),
            cut(&task.comm, 15),
            duration_ns(task.cpu_time_ns.recorded),
            duration_ns(task.cpu_time_ns.simulated),
            count_u64(task.nr_switches.recorded),
            count_u64(task.nr_switches.simulated),
            duration_ns(task.wakeup_latency_mean_ns.recorded),
            duration_ns(task.wakeup_latency_mean_ns.simulated),
            duration_ns(task.wakeup_latency_p99_ns.recorded),
            duration_ns(task.wakeup_latency_p99_ns.simulated),
        ]);
    }
    let title = wrap(&format!("Replay of {} beside the recording", fidelity.trace), "", "  ");
    title + &table.render() + &folded + &summary(&fidelity.summary)
}

/// The sums in words. An error "task by task" adds up distances, so that two tasks off in opposite ways count.
fn summary(sum: &ReplaySummary) -> String {
    let line = |label: &str, figure: Fidelity, show: fn(u64) -> String, abs_error: Option<u64>| {
        let mut text = format!("recorded {}, replay {}", show(figure.recorded), show(figure.simulated));
        if figure.recorded > 0 {
            let recorded = figure.recorded as f64;
            text += &format!(" ({}", change((figure.simulated as f64 - recorded) / recorded));
            if let Some(error) = abs_error {
                text += &format!("; task by task {:.1}% off", error as f64 * 100.0 / recorded);
            }
            text.push(')');
        }
        wrap(&text, &format!("{label:13}"), &" ".repeat(13))
    };
    line("cpu time", sum.cpu_time_ns, duration_ns, Some(sum.cpu_time_abs_error_ns))
        + &line("switches", sum.nr_switches, count_u64, Some(sum.nr_switches_abs_error))
        + &line("wakeups", sum.wakeups, count_u64, None)
        + &line("latency mean", sum.wakeup_latency_mean_ns, duration_ns, None)
        + &line("latency p99", sum.wakeup_latency_p99_ns, duration_ns, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::example;

    #[test]
    fn recorded_and_replayed_stand_side_by_side() {
        insta::assert_snapshot!(replay_fidelity(&example::run().replay[0], Rows::Folded), @r"
        Replay of make10.dat beside the recording
                  cpu time        switches        latency        latency
         pid task recorded replay     rec. replay    mean replay     p99 replay
        6922 cc1     289ms  289ms       86     81  4.78ms 4.10ms  9.00ms 8.50ms
        6912 cc1     289ms  289ms       86     81  4.78ms 4.10ms  9.00ms 8.50ms
        cpu time     recorded 577ms, replay 578ms (+0.1%; task by task 0.1% off)
        switches     recorded 172, replay 162 (-5.8%; task by task 5.8% off)
        wakeups      recorded 4, replay 4 (+0.0%)
        latency mean recorded 4.78ms, replay 4.10ms (-14.2%)
        latency p99  recorded 11.9ms, replay 12.5ms (+4.4%)
        ");
    }

    #[test]
    fn of_many_tasks_those_that_ran_longest_are_shown() {
        let mut list: Vec<_> = (0..300).map(|pid| example::replay_task(pid, "cc1")).collect();
        list[250].cpu_time_ns.recorded *= 2;
        let fidelity = ReplayFidelity::new("make.dat".to_owned(), list, Fidelity::default());
        let text = replay_fidelity(&fidelity, Rows::Folded);
        assert!(text.lines().nth(3).expect("a row").trim_start().starts_with("250 "), "{text}");
        assert!(text.contains("20 of 300 tasks: those that ran longest\n"), "{text}");
    }

    #[test]
    fn a_figure_that_was_not_recorded_has_no_percentage() {
        let mut task = example::replay_task(1, "idle");
        task.wakeups = Fidelity { recorded: 0, simulated: 3 };
        let text = replay_fidelity(
            &ReplayFidelity::new("t.dat".to_owned(), vec![task], Fidelity::default()),
            Rows::Folded,
        );
        assert!(text.contains("wakeups      recorded 0, replay 3\n"), "{text}");
    }
}
