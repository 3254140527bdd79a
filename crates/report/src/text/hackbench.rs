//! hackbench's own output.

use schema::{HackbenchMode, HackbenchResult};

/// The three lines that hackbench prints, `Time: 1.197` the last.
#[must_use]
pub fn hackbench(result: &HackbenchResult) -> String {
    let mode = match result.mode {
        HackbenchMode::Process => "process",
        HackbenchMode::Thread => "threaded",
    };
    let time = result.time_s.map_or("not finished".to_owned(), |time| format!("{:.3}", time.as_f64()));
    format!(
        "Running in {mode} mode with {} groups using {} file descriptors each (== {} tasks)\n\
         Each sender will pass {} messages of {} bytes\n\
         Time: {time}\n",
        result.groups, result.fds_per_group, result.tasks, result.loops, result.data_size_bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::Seconds;

    fn recorded() -> HackbenchResult {
        HackbenchResult {
            load: "hackbench -p -P -g 4 -l 2000".to_owned(),
            mode: HackbenchMode::Process,
            groups: 4,
            fds_per_group: 40,
            tasks: 160,
            loops: 2_000,
            data_size_bytes: 100,
            time_s: Some(Seconds::from_ns(1_196_900_000)),
        }
    }

    #[test]
    fn the_lines_are_the_real_tools() {
        insta::assert_snapshot!(hackbench(&recorded()), @r"
        Running in process mode with 4 groups using 40 file descriptors each (== 160 tasks)
        Each sender will pass 2000 messages of 100 bytes
        Time: 1.197
        ");
    }

    #[test]
    fn a_run_that_ended_before_says_so() {
        let text = hackbench(&HackbenchResult { time_s: None, mode: HackbenchMode::Thread, ..recorded() });
        assert!(
            text.starts_with("Running in threaded mode") && text.ends_with("\nTime: not finished\n"),
            "{text}"
        );
    }
}
