//! The table of tasks.

use std::collections::BTreeMap;

use super::Rows;
use super::paragraph::{cut, wrap};
use super::table::Align::{Left, Right};
use super::table::{Heading, Table};
use crate::numbers::{count_u64, duration_ns};
use schema::{Policy, TaskResult};

/// More tasks than this are folded by command name, more names than this by CPU time.
const MAX_ROWS: usize = 32;

/// CPU time, waiting time, switches, migrations, wakeup latency and time of exit of each task; folded, of
/// each command name (latencies are then those of its worst task, the exit is that of its last). Those of the
/// recorded command come first.
#[must_use]
pub fn tasks(tasks: &[TaskResult], rows: Rows) -> String {
    if tasks.is_empty() {
        return String::new();
    }
    let mut lines: Vec<Line> = tasks.iter().map(Line::of).collect();
    if rows == Rows::Folded && lines.len() > MAX_ROWS {
        lines = folded(lines);
    }
    // Stable: otherwise they stay in their order.
    lines.sort_by_key(|line| !line.of_command);
    let exits = lines.iter().any(|line| line.exited_ns.is_some());
    let with_exits = exits.then(|| table(&lines, true)).filter(Table::fits);
    let mut out = with_exits.unwrap_or_else(|| table(&lines, false)).render();
    if lines.iter().any(|line| line.class.ends_with(CHANGED)) {
        out += &wrap("* had another class or priority, too: this is that of most of its CPU time", "", "  ");
    }
    out
}

/// Marks the class of a task that had several.
const CHANGED: char = '*';

/// The last one only where it fits.
pub(super) const COLUMNS: [Heading; 11] = [
    ("\npid", Right),
    ("\ntask", Left),
    ("\nclass", Left),
    ("cpu\ntime", Right),
    ("\nwait", Right),
    ("\nvol", Right),
    ("\nnonvol", Right),
    ("\nmigr", Right),
    ("wakeup\np99", Right),
    ("latency\nmax", Right),
    ("\nexit", Right),
];

fn table(lines: &[Line], with_exits: bool) -> Table {
    let shown = if with_exits { COLUMNS.len() } else { COLUMNS.len() - 1 };
    let mut table = Table::new(&COLUMNS[..shown]).labelled_by(2);
    for line in lines {
        let mut cells = vec![
            line.who.clone(),
            cut(&line.name, 15),
            line.class.clone(),
            duration_ns(line.cpu_ns),
            duration_ns(line.wait_ns),
            count_u64(line.voluntary),
            count_u64(line.involuntary),
            count_u64(line.migrations),
            duration_ns(line.p99_ns),
            duration_ns(line.max_ns),
        ];
        if with_exits {
            cells.push(line.exited_ns.map_or("-".to_owned(), duration_ns));
        }
        table.row(cells);
    }
    table
}

/// A task, or several folded into one.
struct Line {
    who: String,
    tasks: usize,
    name: String,
    class: String,
    cpu_ns: u64,
    wait_ns: u64,
    voluntary: u64,
    involuntary: u64,
    migrations: u64,
    p99_ns: u64,
    max_ns: u64,
    of_command: bool,
    /// `None` if one of them has not exited.
    exited_ns: Option<u64>,
}

impl Line {
    fn of(task: &TaskResult) -> Self {
        Self {
            who: task.pid.to_string(),
            tasks: 1,
            name: task.comm.clone(),
            class: class(task),
            cpu_ns: task.sum_exec_runtime_ns,
            wait_ns: task.wait_sum_ns,
            voluntary: task.nr_voluntary_switches,
            involuntary: task.nr_involuntary_switches,
            migrations: task.nr_migrations,
            p99_ns: task.wakeup_latency_ns.p99,
            max_ns: task.wakeup_latency_ns.max,
            of_command: task.of_command,
            exited_ns: task.exited_ns,
        }
    }

    fn take_in(&mut self, other: &Self) {
        self.tasks += other.tasks;
        self.who = format!("{} x", self.tasks);
        if self.class != other.class {
            self.class = "mixed".to_owned();
        }
        self.cpu_ns += other.cpu_ns;
        self.wait_ns += other.wait_ns;
        self.voluntary += other.voluntary;
        self.involuntary += other.involuntary;
        self.migrations += other.migrations;
        self.p99_ns = self.p99_ns.max(other.p99_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.of_command |= other.of_command;
        self.exited_ns = self.exited_ns.zip(other.exited_ns).map(|(a, b)| a.max(b));
    }
}

/// One line a command name, the most CPU time first, the rest in a last line.
fn folded(lines: Vec<Line>) -> Vec<Line> {
    let mut by_name: BTreeMap<String, Line> = BTreeMap::new();
    for line in lines {
        match by_name.get_mut(&line.name) {
            Some(sum) => sum.take_in(&line),
            None => {
                by_name.insert(line.name.clone(), line);
            }
        }
    }
    let mut names: Vec<Line> = by_name.into_values().collect();
    // Stable: names with equal time stay in the order of their letters.
    names.sort_by_key(|line| (!line.of_command, std::cmp::Reverse(line.cpu_ns)));
    if names.len() > MAX_ROWS {
        let mut rest = names.split_off(MAX_ROWS - 1).into_iter();
        if let Some(mut other) = rest.next() {
            other.name = "(others)".to_owned();
            rest.for_each(|line| other.take_in(&line));
            names.push(other);
        }
    }
    names
}

/// Class and priority as `ps` shows them: `FF 90`, `RR 10`, `TS -5`, `IDL`, `DLN`. A mark says that it had
/// others, too.
pub(crate) fn class(task: &TaskResult) -> String {
    let letters = task.policy.class_letters();
    let mut class = match task.policy {
        Policy::Fifo | Policy::Rr => format!("{letters} {}", task.rt_priority),
        Policy::Other | Policy::Batch => format!("{letters} {}", task.nice),
        Policy::Idle | Policy::Deadline => letters.to_owned(),
    };
    if !task.time_under.is_empty() {
        class.push(CHANGED);
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::example;

    #[test]
    fn one_row_a_task() {
        let mut list = example::run().tasks;
        (list[2].nice, list[2].of_command) = (-5, false);
        insta::assert_snapshot!(tasks(&list, Rows::Folded), @r"
                                  cpu                          wakeup latency
         pid task       class    time   wait   vol nonvol migr    p99     max  exit
        1001 cyclictest FF 90  45.0ms 12.0ms 10001     15    1 10.4us  31.2us     -
        1002 cyclictest FF 89  45.0ms 12.0ms 10002     16    2 10.4us  31.2us     -
        1020 periodic   TS -5* 45.0ms 12.0ms 10020      0    0 10.4us  31.2us 9.80s
        * had another class or priority, too: this is that of most of its CPU time
        ");
    }

    #[test]
    fn tasks_of_the_recorded_command_come_first_folded_or_not() {
        let mut list: Vec<_> =
            (0..40).map(|n| example::task(n, &format!("t{n}"), Policy::Other, 0)).collect();
        (list[35].of_command, list[35].sum_exec_runtime_ns) = (true, 1);
        for (of, rows) in [(&list[30..], Rows::Folded), (&list[..], Rows::Folded), (&list[..], Rows::All)] {
            let text = tasks(of, rows);
            assert!(text.lines().nth(2).expect("a row").contains(" t35 "), "{text}");
        }
    }

    #[test]
    fn many_tasks_are_folded_by_name() {
        let mut list: Vec<_> = (0..40).map(|n| example::task(2_000 + n, "cc1", Policy::Other, 0)).collect();
        list.push(example::task(1_900, "make", Policy::Other, 0));
        list.push(example::task(1_901, "irq/9", Policy::Fifo, 50));
        list.push(example::task(1_902, "irq/9", Policy::Fifo, 51));
        insta::assert_snapshot!(tasks(&list, Rows::Folded), @r"
                            cpu                           wakeup latency
         pid task  class   time   wait    vol nonvol migr    p99     max
        40 x cc1   TS 0   1.80s  480ms 440780    353   80 10.4us  31.2us
         2 x irq/9 mixed 90.0ms 24.0ms  21803     29    3 10.4us  31.2us
        1900 make  TS 0  45.0ms 12.0ms  10900     13    0 10.4us  31.2us
        ");
        assert_eq!(tasks(&list, Rows::All).lines().count(), 2 + 43);
    }

    #[test]
    fn many_names_end_in_a_row_of_others() {
        let list: Vec<_> = (0..50).map(|n| example::task(n, &format!("t{n}"), Policy::Other, 0)).collect();
        let text = tasks(&list, Rows::Folded);
        assert_eq!(text.lines().count(), 2 + MAX_ROWS);
        let last = text.lines().last().expect("rows");
        assert!(last.contains("19 x (others)"), "{last}");
    }

    #[test]
    fn the_widest_row_fits() {
        let mut wide = example::task(4_194_304, "a-comm-of-fifteen", Policy::Fifo, 99);
        wide.sum_exec_runtime_ns = 86_400_000_000_000;
        wide.wait_sum_ns = 86_400_000_000_000;
        wide.nr_voluntary_switches = 999_999;
        wide.nr_involuntary_switches = 999_999;
        wide.nr_migrations = 999_999;
        wide.wakeup_latency_ns = example::latency(1, 12_345_678);
        wide.exited_ns = Some(86_400_000_000_000);
        for line in tasks(&[wide], Rows::All).lines() {
            assert!(line.chars().count() <= super::super::WIDTH, "{line}");
        }
    }
}
