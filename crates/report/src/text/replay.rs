//! A replay beside its recording.

use super::paragraph::{cut, wrap};
use super::table::Align::{Left, Right};
use super::table::{Heading, Table};
use super::{Rows, head};
use crate::numbers::{change, count_u64, duration_ns};
use schema::{Fidelity, ReplayFidelity, ReplayOrder, ReplaySummary, ReplayTask, Window};

/// Tasks that a folded table shows: those that ran longest.
const MAX_ROWS: usize = 20;

/// CPU time, switches and wakeup latency of each task, recorded and simulated, those of the recorded command
/// first.
#[must_use]
pub fn replay_fidelity(fidelity: &ReplayFidelity, rows: Rows) -> String {
    let mut shown: Vec<&ReplayTask> = fidelity.tasks.iter().collect();
    let mut folded = String::new();
    if rows == Rows::Folded && shown.len() > MAX_ROWS {
        shown.sort_by_key(|task| (!task.of_command, std::cmp::Reverse(task.cpu_time_ns.recorded)));
        shown.truncate(MAX_ROWS);
        let command = if shown.iter().any(|task| task.of_command) { "of the command, and " } else { "" };
        folded = format!("{MAX_ROWS} of {} tasks: {command}those that ran longest\n", fidelity.tasks.len());
    }
    shown.sort_by_key(|task| !task.of_command);
    let table = Latencies::ALL.map(|latencies| table(&shown, latencies));
    let [.., narrowest] = &table;
    let table = table.iter().find(|table| table.fits()).unwrap_or(narrowest);
    let on =
        format!("{}, kernel {}", head::machine_name(&fidelity.reference.machine), fidelity.reference.profile);
    let title = wrap(&format!("Replay of {} beside the recording, on {on}", fidelity.trace), "", "  ");
    let all = fidelity.summary.tasks as usize;
    if all > fidelity.tasks.len() {
        folded += &format!("all {all} tasks, those that are not listed too:\n");
    }
    title + &table.render() + &folded + &summary(&fidelity.summary)
}

/// A replay beside its recording and how far it may be trusted: a title, and the text.
#[cfg(feature = "page")]
pub(crate) fn replay_words(fidelity: &ReplayFidelity, window: Option<Window>) -> (String, String) {
    let text = replay_fidelity(fidelity, Rows::All) + &replay_verdict(fidelity, window);
    ("Replay and recording".to_owned(), text)
}

/// How far the replay may be trusted, in one sentence; of this stretch of it, if only one is told of.
#[must_use]
pub fn replay_verdict(fidelity: &ReplayFidelity, window: Option<Window>) -> String {
    let ReplayFidelity { trace, verdict, .. } = fidelity;
    let of = window.map_or(String::new(), |window| format!(" from {}", head::stretch(window)));
    wrap(&format!("the replay of {trace}{of} is {}", verdict.sentence), "verdict: ", "         ")
}

/// Which latencies a table has room for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Latencies {
    MeanP99Max,
    MeanMax,
    Mean,
}

impl Latencies {
    /// The widest first.
    const ALL: [Self; 3] = [Self::MeanP99Max, Self::MeanMax, Self::Mean];
}

/// Beside each recorded figure that of the replay.
const BESIDE: Heading = ("\nreplay", Right);

pub(super) const COLUMNS: [Heading; 8] = [
    ("\npid", Right),
    ("\ntask", Left),
    ("cpu time\nrecorded", Right),
    BESIDE,
    ("switches\nrec.", Right),
    BESIDE,
    ("latency\nmean", Right),
    BESIDE,
];
/// Where there is room.
pub(super) const OF_TAIL: Heading = ("latency\np99", Right);
pub(super) const OF_WORST: Heading = ("latency\nmax", Right);

fn table(tasks: &[&ReplayTask], latencies: Latencies) -> Table {
    let mut columns = COLUMNS.to_vec();
    let with_p99 = latencies == Latencies::MeanP99Max;
    let with_max = latencies != Latencies::Mean;
    for heading in [with_p99.then_some(OF_TAIL), with_max.then_some(OF_WORST)].into_iter().flatten() {
        columns.extend([heading, BESIDE]);
    }
    let mut table = Table::new(&columns).labelled_by(2);
    for task in tasks {
        let latency = |pair: Fidelity| {
            let shown = |side: fn(Fidelity) -> u64| match task.tells_latency(side) {
                true => duration_ns(side(pair)),
                false => "-".to_owned(),
            };
            [shown(|pair| pair.recorded), shown(|pair| pair.simulated)]
        };
        let mut cells = vec![
            task.pid.to_string(),
            cut(&task.comm, 15),
            duration_ns(task.cpu_time_ns.recorded),
            duration_ns(task.cpu_time_ns.simulated),
            count_u64(task.nr_switches.recorded),
            count_u64(task.nr_switches.simulated),
        ];
        cells.extend(latency(task.wakeup_latency_mean_ns));
        if with_p99 {
            cells.extend(latency(task.wakeup_latency_p99_ns));
        }
        if with_max {
            cells.extend(latency(task.wakeup_latency_max_ns));
        }
        table.row(cells);
    }
    table
}

/// The sums in words. An error "task by task" adds up distances, so that two tasks off in opposite ways
/// count.
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
    let mean_off = sum.wakeup_latency_mean_abs_error_ns;
    line("cpu time", sum.cpu_time_ns, duration_ns, Some(sum.cpu_time_abs_error_ns))
        + &line("switches", sum.nr_switches, count_u64, Some(sum.nr_switches_abs_error))
        + &unknown_wakeups(sum).unwrap_or_else(|| line("wakeups", sum.wakeups, count_u64, None))
        + &line("latency mean", sum.wakeup_latency_mean_ns, duration_ns, Some(mean_off))
        + &line("latency p99", sum.wakeup_latency_p99_ns, duration_ns, None)
        + &line("latency max", sum.wakeup_latency_max_ns, duration_ns, None)
        + &order(&sum.order)
}

/// Each sleep ends with a wakeup, so that as many are recorded as the tasks went to sleep; in place of a
/// comparison, that they are not. perf records `sched_waking` alone, which in virtual machines is missing
/// together with the switches of idle CPUs.
fn unknown_wakeups(sum: &ReplaySummary) -> Option<String> {
    let sleeps = sum.nr_voluntary_switches.recorded;
    let shown = sum.wakeups.recorded;
    let text = format!(
        "recorded -, as the trace shows {} for {} sleeps; replay {}",
        count_u64(shown),
        count_u64(sleeps),
        count_u64(sum.wakeups.simulated)
    );
    (shown.saturating_mul(10) < sleeps.saturating_mul(9))
        .then(|| wrap(&text, &format!("{:13}", "wakeups"), &" ".repeat(13)))
}

fn order(order: &ReplayOrder) -> String {
    let ReplayOrder { recorded, simulated, common } = *order;
    let most = recorded.max(simulated);
    if most == 0 {
        return String::new();
    }
    let same = common as f64 * 100.0 / most as f64;
    wrap(
        &format!("{same:.1}% of the switches are between the same two names"),
        "order        ",
        &" ".repeat(13),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    fn fidelity(trace: &str, tasks: Vec<ReplayTask>) -> ReplayFidelity {
        let (p99, order) = (Fidelity::default(), ReplayOrder::default());
        crate::replay::fidelity(trace.to_owned(), example::reference(), tasks, 0, p99, order, None)
    }

    #[test]
    fn tasks_of_the_recorded_command_come_first_and_are_never_folded_away() {
        let mut list: Vec<_> = (0..300).map(|pid| example::replay_task(pid, "cc1")).collect();
        (list[250].of_command, list[250].cpu_time_ns.recorded) = (true, 1);
        for rows in [Rows::Folded, Rows::All] {
            let text = replay_fidelity(&fidelity("make.dat", list.clone()), rows);
            assert!(text.lines().nth(3).expect("a row").trim_start().starts_with("250 "), "{text}");
        }
    }

    #[test]
    fn the_verdict_is_one_sentence() {
        insta::assert_snapshot!(replay_verdict(&example::run().replay[0], None), @r"
        verdict: the replay of make10.dat is good for switches (5.8 % off) and finishing
                 time (0.6 % off), fair for CPU time (0.1 % off, recorded to within 1.4
                 %) and order (19 % off), unknown for latency
        ");
    }

    #[test]
    fn the_verdict_on_a_stretch_says_so() {
        let window = Window { from_ns: 300_000_000, to_ns: 400_000_000 };
        let text = replay_verdict(&example::run().replay[0], Some(window));
        assert!(text.starts_with("verdict: the replay of make10.dat from 300ms to 400ms is "), "{text}");
    }

    #[test]
    fn sums_of_more_tasks_than_the_table_has_say_so() {
        let mut of_two = fidelity("t.dat", vec![example::replay_task(1, "a"), example::replay_task(2, "b")]);
        assert!(!replay_fidelity(&of_two, Rows::Folded).contains("tasks, those"));
        of_two.tasks.truncate(1);
        let text = replay_fidelity(&of_two, Rows::Folded);
        assert!(text.contains("\nall 2 tasks, those that are not listed too:\ncpu time "), "{text}");
    }

    #[test]
    fn sums_are_over_all_tasks_whichever_are_listed() {
        let mut exact = example::replay_task(1, "exact");
        exact.wakeup_latencies = Fidelity { recorded: 3, simulated: 3 };
        exact.wakeup_latency_mean_ns = Fidelity { recorded: 10_000, simulated: 10_000 };
        exact.nr_voluntary_switches = Fidelity { recorded: 0, simulated: 0 };
        let mut off = exact.clone();
        (off.pid, off.wakeups) = (2, Fidelity { recorded: 40, simulated: 99 });
        (off.wakeup_latencies.recorded, off.wakeup_latency_mean_ns.simulated) = (1, 30_000);
        off.nr_voluntary_switches.recorded = 77;
        let mut of_two = fidelity("t.dat", vec![exact, off]);
        let sums = |fidelity: &ReplayFidelity| {
            let text = replay_fidelity(fidelity, Rows::All);
            text[text.find("\ncpu time ").expect("sums")..].to_owned()
        };
        let of_all = sums(&of_two);
        // 20 us off in one of four wakeups, of 10 us.
        assert!(of_all.contains("task by task 50.0% off)\nlatency p99"), "{of_all}");
        assert!(of_all.contains(" for 77 sleeps;"), "{of_all}");
        of_two.tasks.truncate(1);
        assert_eq!(sums(&of_two), of_all);
    }

    #[test]
    fn recorded_and_replayed_stand_side_by_side() {
        insta::assert_snapshot!(replay_fidelity(&example::run().replay[0], Rows::Folded), @r"
        Replay of make10.dat beside the recording, on recorded, 2 CPUs, kernel 6.1
                  cpu time        switches        latency        latency
         pid task recorded replay     rec. replay    mean replay     max replay
        6922 cc1     289ms  289ms       86     81  4.78ms 4.10ms  9.00ms 8.50ms
        6912 cc1     289ms  289ms       86     81  4.78ms 4.10ms  9.00ms 8.50ms
        cpu time     recorded 577ms, replay 578ms (+0.1%; task by task 0.1% off)
        switches     recorded 172, replay 162 (-5.8%; task by task 5.8% off)
        wakeups      recorded -, as the trace shows 4 for 12 sleeps; replay 4
        latency mean recorded 4.78ms, replay 4.10ms (-14.2%; task by task 14.2% off)
        latency p99  recorded 11.9ms, replay 12.5ms (+4.4%)
        latency max  recorded 9.00ms, replay 8.50ms (-5.6%)
        order        81.4% of the switches are between the same two names
        ");
    }

    #[test]
    fn a_table_that_is_too_wide_leaves_latencies_out_before_it_falls_into_parts() {
        let mut task = example::replay_task(4_000_000, "kworker/u129:31");
        let (cpu, switches) = (288_583_000_000, 86_000_000_000);
        task.cpu_time_ns = Fidelity { recorded: cpu, simulated: cpu };
        task.nr_switches = Fidelity { recorded: switches, simulated: switches };
        let text = replay_fidelity(&fidelity("make.dat", vec![task]), Rows::Folded);
        assert_eq!(text.matches("kworker/u129:31").count(), 1, "{text}");
        assert!(text.contains("mean replay") && !text.contains("max replay"), "{text}");
    }

    #[test]
    fn of_many_tasks_those_that_ran_longest_are_shown() {
        let mut list: Vec<_> = (0..300).map(|pid| example::replay_task(pid, "cc1")).collect();
        list[250].cpu_time_ns.recorded *= 2;
        let fidelity = fidelity("make.dat", list);
        let text = replay_fidelity(&fidelity, Rows::Folded);
        assert!(text.lines().nth(3).expect("a row").trim_start().starts_with("250 "), "{text}");
        assert!(text.contains("20 of 300 tasks: those that ran longest\n"), "{text}");
    }

    #[test]
    fn a_latency_of_few_of_the_wakeups_is_not_set_beside_one_of_all() {
        let mut task = example::replay_task(1, "cyclictest");
        task.wakeups = Fidelity { recorded: 3000, simulated: 3000 };
        task.wakeup_latencies = Fidelity { recorded: 10, simulated: 3000 };
        task.wakeup_latency_mean_ns = Fidelity { recorded: 60_000, simulated: 7_000 };
        let shown = |task: &ReplayTask| table(&[task], Latencies::MeanMax).render();
        assert!(!shown(&task).contains("60.0us") && shown(&task).contains("7.00us"), "{}", shown(&task));
        task.wakeup_latencies.recorded = 1500;
        assert!(shown(&task).contains("60.0us"), "{}", shown(&task));
    }

    #[test]
    fn wakeups_of_which_a_tenth_is_missing_in_the_trace_are_not_compared() {
        let of = |recorded| {
            let mut task = example::replay_task(1, "a");
            task.nr_voluntary_switches = Fidelity { recorded: 57, simulated: 60 };
            task.wakeups = Fidelity { recorded, simulated: 60 };
            replay_fidelity(&fidelity("t.perf.data", vec![task]), Rows::Folded)
        };
        let few = of(43);
        assert!(
            few.contains("\nwakeups      recorded -, as the trace shows 43 for 57 sleeps; replay 60\n"),
            "{few}"
        );
        let enough = of(54);
        assert!(enough.contains("\nwakeups      recorded 54, replay 60 (+11.1%)\n"), "{enough}");
    }

    #[test]
    fn a_figure_that_was_not_recorded_has_no_percentage() {
        let mut task = example::replay_task(1, "idle");
        task.wakeups = Fidelity { recorded: 0, simulated: 3 };
        task.nr_voluntary_switches = Fidelity { recorded: 0, simulated: 3 };
        let text = replay_fidelity(&fidelity("t.dat", vec![task]), Rows::Folded);
        assert!(text.contains("wakeups      recorded 0, replay 3\n"), "{text}");
    }
}
