//! Results as text: the tables that users of the real tools know, then counters.
//!
//! Everything fits [`WIDTH`] columns, or as many as [`in_columns`] gives, except words that are longer, and
//! lines whose layout belongs to a real tool and that its users parse (cyclictest's, hackbench's, sysbench's,
//! rt-migrate-test's). Nothing here looks at the terminal, the wall clock or the locale: same result and
//! width, same text. A list too long to read is folded, and says how much of it.

mod calibration;
pub(crate) mod compare;
mod counters;
mod cpus;
mod cyclictest;
mod deadlines;
mod fit;
mod fork_storm;
mod frequency;
mod groups;
mod hackbench;
pub(crate) mod head;
mod idle;
mod inspect;
mod keyrepeat;
mod machine_check;
mod make;
mod oltp;
mod own;
mod paragraph;
mod phases;
pub(crate) mod recordings;
mod replay;
mod reproduction;
mod rt_migrate;
mod rtapp;
mod search;
mod sweep;
mod table;
pub(crate) mod tasks;
mod threads;
mod tune;
mod validation;
mod vmark;
mod wakeup_latency;
pub(crate) mod why;
pub(crate) mod why_choices;
pub(crate) mod why_recorded;
pub(crate) mod why_remedies;
mod width;

use crate::numbers::{duration_ns, many};
use schema::{Dump, LoadResult, Reference, ReplayFidelity, ReplayFinish, RunResult, Seconds, Window};

pub use calibration::calibration;
pub use compare::comparison;
use counters::{decisions, totals};
use cpus::cpus;
use cyclictest::{cyclictest_histogram, cyclictest_lines};
use deadlines::deadlines;
use fork_storm::fork_storm;
use frequency::frequency;
use groups::{groups, partitions};
use hackbench::hackbench;
use head::head;
use idle::idle;
pub use inspect::inspect;
use keyrepeat::keyrepeat;
pub use machine_check::machine_check;
use make::make;
use oltp::oltp;
use own::own;
pub use paragraph::{fit, wrap};
use phases::cyclictest_phases;
pub use recordings::recordings;
#[cfg(feature = "page")]
pub(crate) use replay::replay_words;
use replay::{replay_fidelity, replay_verdict};
pub use reproduction::reproduction;
use rt_migrate::rt_migrate;
use rtapp::rtapp;
pub use search::search;
pub use sweep::sweep;
use tasks::tasks;
use threads::threads;
pub use tune::tuning;
pub use validation::validation;
use vmark::vmark;
use wakeup_latency::wakeup_latency;
pub use why::why;
pub use width::{columns, in_columns};

/// Columns that a line may take where no terminal says otherwise.
pub const WIDTH: usize = 80;

/// How many rows a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// As many as one reads; the rest is summed up in the last row.
    #[default]
    Folded,
    /// All.
    All,
}

/// A column of tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumn {
    /// What a row of its table is about, in the plural.
    pub of: &'static str,
    /// Its heading, in one line.
    pub heading: String,
}

/// Every column that the tables of a run, a replay, a recording and a comparison can have, and what
/// cyclictest prints; other loads have tables of their own besides, laid out as the real tools do.
#[must_use]
pub fn table_columns() -> Vec<TableColumn> {
    let groups = [&groups::COLUMNS[..], &groups::OF_RT, &[groups::CPUS, groups::CLAMPS]].concat();
    let replays = [&replay::COLUMNS[..], &[replay::OF_TAIL, replay::OF_WORST]].concat();
    let tables: [(&str, &[table::Heading]); 15] = [
        ("threads", &threads::COLUMNS),
        ("tasks", &tasks::COLUMNS),
        ("deadline tasks", &deadlines::COLUMNS),
        ("CPUs", &cpus::COLUMNS),
        ("groups", &groups),
        ("partitions", &groups::OF_PARTITIONS),
        ("frequencies", &frequency::COLUMNS),
        ("idle states", &idle::COLUMNS),
        ("counters", &counters::COLUMNS),
        ("decisions", &counters::OF_DECISIONS),
        ("cyclictest", &cyclictest::WORDS),
        ("replays", &replays),
        ("comparisons", &compare::COLUMNS),
        ("recordings", &inspect::COLUMNS),
        ("CPUs of recordings", &inspect::OF_CPUS),
    ];
    // A word that is broken over the lines is put together again.
    let one_line = |heading: &str| {
        let (first, second) = heading.split_once('\n').unwrap_or(("", heading));
        let is_broken = first.ends_with(['_', '/', '-']) || first.is_empty();
        format!("{}{}{second}", first.trim_end_matches('-'), if is_broken { "" } else { " " })
    };
    let columns = |(of, headings): &(&'static str, &[table::Heading])| -> Vec<TableColumn> {
        headings.iter().map(|(heading, _)| TableColumn { of, heading: one_line(heading) }).collect()
    };
    let mut all: Vec<TableColumn> = Vec::new();
    for column in tables.iter().flat_map(columns) {
        // A replay stands beside each recorded figure, and marks have no heading.
        if !column.heading.is_empty() && !all.contains(&column) {
            all.push(column);
        }
    }
    all
}

/// The whole result of a run: head, each load's own table, fidelity of a replay, tasks, CPUs, counters,
/// notes.
#[must_use]
pub fn run(result: &RunResult, rows: Rows) -> String {
    let mut sections = vec![head(result), warnings(&result.warnings)];
    for one in &result.loads {
        sections.push(load_of(one, &result.replay));
        if let LoadResult::Cyclictest(cyclictest) = one {
            sections.push(cyclictest_phases(cyclictest, result));
        }
    }
    sections.extend(result.replay.iter().map(|fidelity| fit(&replay_fidelity(fidelity, rows))));
    sections.push(where_columns_end(result));
    sections.push(fit(&partitions(&result.partitions)));
    sections.push(fit(&groups(&result.groups)));
    sections.push(fit(&tasks(&result.tasks, rows)));
    sections.push(fit(&deadlines(&result.tasks, rows)));
    sections.push(fit(&cpus(&result.cpus, rows)));
    sections.push(fit(&frequency(result.frequency.as_ref())));
    sections.push(fit(&idle(result.idle.as_ref(), rows)));
    let length_ns = result.window.map_or(result.engine.simulated_ns, Window::length_ns);
    sections.push(totals(&result.totals, length_ns));
    sections.push(fit(&decisions(&result.decisions, rows)));
    sections.push(fit(&why::late_by(&result.late_by, rows)));
    sections.push(notes(&result.notes));
    sections.push(result.replay.iter().map(|replay| replay_verdict(replay, result.window)).collect());
    sections.extend(result.dumps.iter().map(dump));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// A replay is compared with its recording on the recorded machine and up to the end of the recording; the
/// run asked for may have another machine, and goes on until all work is done.
fn where_columns_end(result: &RunResult) -> String {
    let Some(fidelity) = result.replay.first() else { return String::new() };
    let ran = duration_ns(result.engine.simulated_ns);
    let Reference { machine, profile } = &fidelity.reference;
    if (machine, profile) != (&result.machine, &result.kernel.profile) {
        let here =
            format!("{}, kernel {}", head::machine_name(&result.machine), head::kernel(&result.kernel));
        return wrap(&format!("The tables below tell of the run on {here}: {ran}."), "", "");
    }
    let recorded = |load: &LoadResult| match load {
        LoadResult::Replay(replay) => Some(replay.recorded_s.as_ns()),
        _ => None,
    };
    let shortest = result.loads.iter().filter_map(recorded).min();
    let ends_before = |recorded: &u64| *recorded < result.engine.simulated_ns && result.window.is_none();
    match shortest.filter(ends_before) {
        None => String::new(),
        Some(recorded) => wrap(
            &format!(
                "Recorded and replay above end with the recording, after {}; the tables below tell of the \
                 whole run, {ran}.",
                duration_ns(recorded),
            ),
            "",
            "",
        ),
    }
}

/// What one load reports, under the load as it was given.
#[must_use]
pub fn load(result: &LoadResult) -> String {
    load_of(result, &[])
}

/// With what is known of replays on the machines that recorded them.
pub(crate) fn load_of(result: &LoadResult, replays: &[ReplayFidelity]) -> String {
    let caption = wrap(result.load(), "", "  ");
    let body = match result {
        LoadResult::Cyclictest(r) if r.histogram_us.is_some() => cyclictest_histogram(r),
        LoadResult::Cyclictest(r) => cyclictest_lines(r),
        LoadResult::RtMigrate(r) => rt_migrate(r),
        LoadResult::Hackbench(r) => hackbench(r),
        LoadResult::Make(r) => make(r),
        LoadResult::Hog(r) | LoadResult::Periodic(r) => threads(&r.threads),
        LoadResult::Own(r) => own(r),
        LoadResult::WakeupLatency(r) => fit(&wakeup_latency(r)),
        LoadResult::ForkStorm(r) => fork_storm(r),
        LoadResult::Keyrepeat(r) => keyrepeat(r),
        LoadResult::Vmark(r) => vmark(r),
        LoadResult::Oltp(r) => oltp(r),
        LoadResult::Rtapp(r) => rtapp(r),
        LoadResult::Replay(r) => {
            let seconds = r.seconds.map_or("not finished".to_owned(), |s| format!("{:.3} s", s.as_f64()));
            let line = format!(
                "{} of {} of {}: {seconds} (recorded: {:.3} s)",
                r.bursts_completed,
                many(r.bursts, "burst"),
                many(r.tasks.into(), "task"),
                r.recorded_s.as_f64()
            );
            let there = replays.iter().find(|fidelity| fidelity.trace == r.load);
            let there = there.and_then(|fidelity| fidelity.finish_ns).map(|finish| finish.simulated);
            wrap(&line, "", "  ") + &r.finish.as_ref().map_or(String::new(), |f| finish(f, there))
        }
    };
    caption + &body
}

/// When what was recorded was done; `there_ns`: in its replay on the recorded machine, which tells what of
/// the distance from the recording is the replay's own.
fn finish(finish: &ReplayFinish, there_ns: Option<u64>) -> String {
    let who = match (&finish.comm, finish.tasks) {
        (Some(command), 1) => command.clone(),
        (Some(command), tasks) => format!("{command} and its children ({tasks} tasks)"),
        (None, tasks) => format!("all tasks that exit ({tasks})"),
    };
    let time = |time: Option<Seconds>| time.map(|s| duration_ns(s.as_ns()));
    let done = time(finish.seconds).map_or("not finished".to_owned(), |at| format!("finished at {at}"));
    let here_ns = finish.seconds.map(Seconds::as_ns);
    let there = there_ns.filter(|_| there_ns != here_ns).map_or(String::new(), |at| {
        format!("; replayed on the machine that recorded it: {}", duration_ns(at))
    });
    let recorded = time(finish.recorded_s).map_or(String::new(), |at| format!(" (recorded: {at}{there})"));
    let no_answer = match finish {
        ReplayFinish { of_some_cpus: true, .. } => "; only some of the machine's CPUs were recorded",
        ReplayFinish { by_clock: true, .. } => "; the clock seems to end it, not its work",
        ReplayFinish { perhaps_by_clock: true, .. } => {
            "; its tasks end at one moment: by the clock, or by equal work"
        }
        _ => "",
    };
    wrap(&format!("{who}: {done}{recorded}{no_answer}"), "", "  ")
}

/// A file of Linux, under its name. Its layout is Linux's, so its lines may be longer than [`WIDTH`].
#[must_use]
pub fn dump(dump: &Dump) -> String {
    format!("==> {} <==\n{}", dump.file, dump.text)
}

/// What must not be overlooked, one a paragraph.
#[must_use]
pub fn warnings(warnings: &[String]) -> String {
    warnings.iter().map(|warning| wrap(warning, "warning: ", "         ")).collect()
}

/// What else is to be known, one a paragraph.
#[must_use]
pub fn notes(notes: &[String]) -> String {
    notes.iter().map(|note| wrap(note, "note: ", "      ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn a_whole_result_fits_the_width() {
        for line in run(&example::run(), Rows::All).lines() {
            let real_tools_own = line.starts_with("Running in process mode");
            assert!(
                real_tools_own || line.chars().count() <= WIDTH,
                "{} columns: {line}",
                line.chars().count()
            );
            assert_eq!(line, line.trim_end(), "blanks at the end of {line:?}");
        }
    }

    #[test]
    fn a_replay_says_where_its_columns_end_and_where_those_of_the_run() {
        let mut result = example::run();
        result.machine = result.replay[0].reference.machine.clone();
        let line = "Recorded and replay above end with the recording, after 8.04s; the tables below\ntell of \
                    the whole run, 10.0s.\n";
        assert!(run(&result, Rows::All).contains(line));
        result.window = Some(Window { from_ns: 0, to_ns: 1_000_000_000 });
        assert!(!run(&result, Rows::All).contains("Recorded and replay above"), "both have the same end");
        (result.window, result.engine.simulated_ns) = (None, 8_036_175_000);
        assert!(!run(&result, Rows::All).contains("Recorded and replay above"));
    }

    #[test]
    fn a_run_on_another_machine_says_whose_tables_are_whose() {
        let mut result = example::run();
        result.machine = result.replay[0].reference.machine.clone();
        result.machine.cpus = 8;
        let line = "The tables below tell of the run on recorded, 8 CPUs, kernel 6.1";
        assert!(run(&result, Rows::All).contains(line));
    }

    #[test]
    fn the_end_on_another_machine_stands_beside_that_of_the_replay_on_the_recorded_one() {
        let recorded = example::finish(Some(1_170_000_000), Some(1_640_000_000));
        assert_eq!(
            finish(&recorded, Some(866_000_000)),
            "make and its children (2 tasks): finished at 1.64s (recorded: 1.17s; replayed on\n  \
             the machine that recorded it: 866ms)\n"
        );
        let same = finish(&recorded, Some(1_640_000_000));
        assert_eq!(same, "make and its children (2 tasks): finished at 1.64s (recorded: 1.17s)\n");
    }

    #[test]
    fn wall_time_is_not_in_the_text() {
        let (one, mut two) = (example::run(), example::run());
        two.engine.wall_ns = two.engine.wall_ns.map(|ns| ns * 3);
        assert_eq!(run(&one, Rows::All), run(&two, Rows::All));
    }
}
