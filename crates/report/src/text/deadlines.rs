//! The table of deadline tasks.

use super::Rows;
use super::table::Align::{Left, Right};
use super::table::{Heading, Table};
use crate::numbers::{count_u64, duration_ns, exact_duration};
use schema::{DeadlineResult, TaskResult};
use std::cmp::Reverse;

/// More tasks than this are not shown, unless all are asked for.
const MAX_ROWS: usize = 32;

pub(super) const COLUMNS: [Heading; 10] = [
    ("\npid", Right),
    ("deadline\ntask", Left),
    ("runtime/\ndeadline/period", Right),
    ("\njobs", Right),
    ("\nmissed", Right),
    ("longest\nresponse", Right),
    ("\nlate by", Right),
    ("\nthrottles", Right),
    ("\nthrottled", Right),
    ("replen-\nishments", Right),
];

fn of_class(task: &TaskResult) -> Option<(&TaskResult, &DeadlineResult)> {
    Some((task, task.deadline.as_ref()?))
}

/// What each deadline task asked for, how late its jobs were, and how often it had to wait for a budget.
#[must_use]
pub fn deadlines(tasks: &[TaskResult], rows: Rows) -> String {
    let mut all: Vec<(&TaskResult, &DeadlineResult)> = tasks.iter().filter_map(of_class).collect();
    if all.is_empty() {
        return String::new();
    }
    let left_out = if rows == Rows::All { 0 } else { all.len().saturating_sub(MAX_ROWS) };
    if left_out > 0 {
        // The worst are shown.
        all.sort_by_key(|row| Reverse(row.1.stat.missed));
        all.truncate(MAX_ROWS);
    }
    let mut table = Table::new(&COLUMNS).labelled_by(2);
    for (task, DeadlineResult { runtime_ns, deadline_ns, period_ns, reclaims, stat }) in all {
        let [runtime, relative, period] = [*runtime_ns, *deadline_ns, *period_ns].map(exact_duration);
        let late = stat.longest_response_ns.saturating_sub(*deadline_ns);
        let of_jobs = |text: String| if stat.jobs > 0 { text } else { "-".to_owned() };
        table.row([
            task.pid.to_string(),
            task.comm.clone(),
            format!("{runtime}/{relative}/{period}{}", if *reclaims { "+" } else { "" }),
            count_u64(stat.jobs),
            of_jobs(count_u64(stat.missed)),
            of_jobs(duration_ns(stat.longest_response_ns)),
            of_jobs(if late > 0 { duration_ns(late) } else { "0".to_owned() }),
            count_u64(stat.throttles),
            duration_ns(stat.throttled_ns),
            count_u64(stat.replenishments),
        ]);
    }
    let mut out = table.render();
    if left_out > 0 {
        out += &format!("({left_out} more tasks, which missed no more)\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{DeadlineStat, Policy, example};

    #[test]
    fn a_row_for_each_deadline_task() {
        let late = example::deadline();
        let idle = DeadlineResult {
            reclaims: false,
            stat: DeadlineStat { jobs: 0, missed: 0, longest_response_ns: 0, ..late.stat },
            ..late
        };
        let task = |pid, deadline| TaskResult { deadline, ..example::task(pid, "job", Policy::Deadline, 0) };
        let tasks = [task(1_000, Some(late)), task(1_001, Some(idle)), task(1_002, None)];
        insta::assert_snapshot!(deadlines(&tasks, Rows::Folded), @r"
             deadline         runtime/              longest
         pid task      deadline/period jobs missed response late by throttles throttled
        1000 job      10ms/50ms/100ms+   30      1   54.1ms  4.10ms        25     1.20s
        1001 job       10ms/50ms/100ms    0      -        -       -        25     1.20s

             deadline  replen-
         pid task     ishments
        1000 job            25
        1001 job            25
        ");
        assert_eq!(deadlines(&tasks[2..], Rows::Folded), "");
        let many: Vec<TaskResult> = (0..40).map(|pid| task(pid, Some(late))).collect();
        let rows = |text: &str| text.matches("10ms/50ms/100ms").count();
        let folded = deadlines(&many, Rows::Folded);
        assert!(folded.ends_with("(8 more tasks, which missed no more)\n"));
        assert_eq!((rows(&folded), rows(&deadlines(&many, Rows::All))), (32, 40));
    }
}
