//! Results as text: the tables that users of the real tools know, then counters.
//!
//! Everything fits [`WIDTH`] columns, or as many as [`in_columns`] gives, except words that are longer, and
//! lines whose layout belongs to a real tool and that its users parse (cyclictest's, hackbench's, sysbench's,
//! rt-migrate-test's). Nothing here looks at the terminal, the wall clock or the locale: same result and
//! width, same text. A list too long to read is folded, and says how much of it.

mod compare;
mod counters;
mod cpus;
mod cyclictest;
mod fork_storm;
mod format;
mod hackbench;
mod head;
mod inspect;
mod keyrepeat;
mod make;
mod oltp;
mod phases;
mod recordings;
mod replay;
mod reproduction;
mod rt_migrate;
mod rtapp;
mod table;
mod tasks;
mod threads;
mod vmark;
mod wakeup_latency;
mod width;

use schema::{Dump, LoadResult, ReplayFinish, RunResult, Seconds, Window};

pub use compare::comparison;
use counters::{decisions, totals};
use cpus::cpus;
use cyclictest::{cyclictest_histogram, cyclictest_lines};
use fork_storm::fork_storm;
pub(crate) use format::digits3;
pub use format::{exact_duration, fit, many, moment, wrap};
use hackbench::hackbench;
use head::head;
pub use inspect::inspect;
use keyrepeat::keyrepeat;
use make::make;
use oltp::oltp;
use phases::cyclictest_phases;
pub use recordings::recordings;
use replay::{replay_fidelity, replay_verdict};
pub use reproduction::reproduction;
use rt_migrate::rt_migrate;
use rtapp::rtapp;
use tasks::tasks;
use threads::threads;
use vmark::vmark;
use wakeup_latency::wakeup_latency;
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

/// The whole result of a run: head, each load's own table, fidelity of a replay, tasks, CPUs, counters,
/// notes.
#[must_use]
pub fn run(result: &RunResult, rows: Rows) -> String {
    let mut sections = vec![head(result), warnings(&result.warnings)];
    for one in &result.loads {
        sections.push(load(one));
        if let LoadResult::Cyclictest(cyclictest) = one {
            sections.push(cyclictest_phases(cyclictest, result));
        }
    }
    sections.extend(result.replay.iter().map(|fidelity| fit(&replay_fidelity(fidelity, rows))));
    sections.push(where_columns_end(result));
    sections.push(fit(&tasks(&result.tasks, rows)));
    sections.push(fit(&cpus(&result.cpus, rows)));
    let length_ns = result.window.map_or(result.engine.simulated_ns, Window::length_ns);
    sections.push(totals(&result.totals, length_ns));
    sections.push(fit(&decisions(&result.decisions, rows)));
    sections.push(notes(&result.notes));
    sections.push(result.replay.iter().map(replay_verdict).collect());
    sections.extend(result.dumps.iter().map(dump));
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// A replay is compared with its recording up to the end of that; the run goes on until all work is done.
fn where_columns_end(result: &RunResult) -> String {
    let recorded = |load: &LoadResult| match load {
        LoadResult::Replay(replay) => Some(replay.recorded_s.as_ns()),
        _ => None,
    };
    let shortest = result.loads.iter().filter_map(recorded).min();
    let ran = result.engine.simulated_ns;
    match shortest.filter(|recorded| *recorded < ran && result.window.is_none() && !result.replay.is_empty())
    {
        None => String::new(),
        Some(recorded) => format::wrap(
            &format!(
                "Recorded and replay above end with the recording, after {}; the tables below tell of the \
                 whole run, {}.",
                format::duration_ns(recorded),
                format::duration_ns(ran)
            ),
            "",
            "",
        ),
    }
}

/// What one load reports, under the load as it was given.
#[must_use]
pub fn load(result: &LoadResult) -> String {
    let caption = format::wrap(result.load(), "", "  ");
    let body = match result {
        LoadResult::Cyclictest(r) if r.histogram_us.is_some() => cyclictest_histogram(r),
        LoadResult::Cyclictest(r) => cyclictest_lines(r),
        LoadResult::RtMigrate(r) => rt_migrate(r),
        LoadResult::Hackbench(r) => hackbench(r),
        LoadResult::Make(r) => make(r),
        LoadResult::Hog(r) | LoadResult::Periodic(r) => threads(r),
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
            format::wrap(&line, "", "  ") + &r.finish.as_ref().map_or(String::new(), finish)
        }
    };
    caption + &body
}

/// When what was recorded was done.
fn finish(finish: &ReplayFinish) -> String {
    let who = match (&finish.comm, finish.tasks) {
        (Some(command), 1) => command.clone(),
        (Some(command), tasks) => format!("{command} and its children ({tasks} tasks)"),
        (None, tasks) => format!("all tasks that exit ({tasks})"),
    };
    let time = |time: Option<Seconds>| time.map(|s| format::duration_ns(s.as_ns()));
    let done = time(finish.seconds).map_or("not finished".to_owned(), |at| format!("finished at {at}"));
    let recorded = time(finish.recorded_s).map_or(String::new(), |at| format!(" (recorded: {at})"));
    format::wrap(&format!("{who}: {done}{recorded}"), "", "  ")
}

/// A file of Linux, under its name. Its layout is Linux's, so its lines may be longer than [`WIDTH`].
#[must_use]
pub fn dump(dump: &Dump) -> String {
    format!("==> {} <==\n{}", dump.file, dump.text)
}

/// What must not be overlooked, one a paragraph.
#[must_use]
pub fn warnings(warnings: &[String]) -> String {
    warnings.iter().map(|warning| format::wrap(warning, "warning: ", "         ")).collect()
}

/// What else is to be known, one a paragraph.
#[must_use]
pub fn notes(notes: &[String]) -> String {
    notes.iter().map(|note| format::wrap(note, "note: ", "      ")).collect()
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
        let line = "Recorded and replay above end with the recording, after 8.04s; the tables below\ntell of \
                    the whole run, 10.0s.\n";
        assert!(run(&result, Rows::All).contains(line));
        result.window = Some(Window { from_ns: 0, to_ns: 1_000_000_000 });
        assert!(!run(&result, Rows::All).contains("Recorded and replay above"), "both have the same end");
        (result.window, result.engine.simulated_ns) = (None, 8_036_175_000);
        assert!(!run(&result, Rows::All).contains("Recorded and replay above"));
    }

    #[test]
    fn wall_time_is_not_in_the_text() {
        let (one, mut two) = (example::run(), example::run());
        two.engine.wall_ns *= 3;
        assert_eq!(run(&one, Rows::All), run(&two, Rows::All));
    }
}
