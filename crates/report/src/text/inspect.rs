//! What is in a trace: its head, the events, CPUs, the table of `perf sched latency`, distributions, notes.

use super::Rows;
use super::head::labelled;
use super::paragraph::{cut, fit};
use super::table::Align::{Left, Right};
use super::table::{Heading, Table};
use super::width::columns;
use crate::numbers::{count_u64, duration_ns};
use schema::{InspectDurations, InspectGap, InspectGroup, InspectResult, InspectTask};
use std::collections::BTreeMap;

/// Tasks that a folded table shows: the first in perf's order.
const MAX_TASKS: usize = 40;
/// CPUs that a folded table shows.
const MAX_CPUS: usize = 64;
/// Columns of the longest bar.
const BAR: u64 = 40;
/// Columns of the numbers beside it.
const BESIDE_BAR: usize = 24;

/// The whole text.
#[must_use]
pub fn inspect(result: &InspectResult, rows: Rows) -> String {
    let mut sections = vec![
        head(result),
        counts("event", &result.events),
        counts("left out", &result.left_out),
        cpus(result, rows),
        latency(result, rows),
        durations("delay", &result.delays),
        durations("on a CPU", &result.stays),
        super::notes(&result.notes.iter().map(|note| note.text.clone()).collect::<Vec<_>>()),
    ];
    sections.retain(|section| !section.is_empty());
    fit(&sections.join("\n"))
}

fn head(result: &InspectResult) -> String {
    let plural = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut out = format!("schedlab {}\n", result.version);
    out += &labelled("trace", &result.trace);
    let tool = result.tool.as_ref().map_or(String::new(), |tool| format!(", by {tool}"));
    out += &labelled("format", &format!("{}{tool}", result.format));
    if let Some(kernel) = &result.kernel {
        out += &labelled("kernel", kernel);
    }
    if let Some(clock) = &result.clock {
        out += &labelled("clock", clock);
    }
    let (start, length) = (seconds(result.start_ns), duration_ns(result.duration_ns));
    out += &labelled("span", &format!("{length} from {start} s"));
    let seen = result.notes.iter().find(|note| note.name == "some_cpus");
    let seen = seen.map_or(String::new(), |note| format!("{} of ", note.count));
    let cpus = seen + &plural(result.cpus.len() as u64, "CPU");
    out += &labelled("holds", &format!("{cpus}, {}", plural(result.tasks, "task")));
    let mut told = Vec::new();
    if result.tasks_told > 0 {
        told.push(format!("policies and affinities of {}", plural(result.tasks_told, "task")));
    }
    if let Some(polls) = result.idle_polls {
        // Whether they halt or wait with mwait is not told.
        told.push(format!("that idle CPUs {}", if polls { "poll" } else { "do not poll" }));
    }
    if !told.is_empty() {
        out += &labelled("tells", &told.join(", "));
    }
    if let Some(command) = &result.recorded_command {
        out += &labelled("recorded", &format!("{}, process {}", command.words, command.tgid));
    }
    let host = result.host.iter().map(|(name, value)| format!("{name}={value}"));
    let host = host.collect::<Vec<_>>().join(", ");
    if !host.is_empty() {
        out += &labelled("host", &host);
    }
    if !result.groups.is_empty() {
        out += &labelled("groups", &groups(&result.groups));
    }
    // Of those that were overwritten at the beginnings of several CPUs only the sum may be known.
    let overwritten = result.notes.iter().find(|note| note.name == "overwritten").map(|note| note.count);
    let in_sum = |gap: &&InspectGap| gap.lost.is_none() && gap.before_ns == 0 && overwritten.is_some();
    let (summed, gaps): (Vec<&InspectGap>, Vec<&InspectGap>) = result.gaps.iter().partition(in_sum);
    let known = gaps.iter().filter_map(|gap| gap.lost).sum::<u64>()
        + overwritten.filter(|_| !summed.is_empty()).unwrap_or(0);
    let unknown = gaps.iter().filter(|gap| gap.lost.is_none()).count() as u64;
    let lost = match (result.gaps.len() as u64, unknown) {
        (0, _) if result.notes.iter().any(|note| note.severity != "info") => {
            "what the notes at the end say; the recorder counted no lost events".to_owned()
        }
        // The text of perf script has no lines for what perf lost.
        (0, _) if result.format == PERF_SCRIPT => "unknown: the text of perf script does not tell".to_owned(),
        (0, _) => "no events".to_owned(),
        (gaps, 0) => format!("{} in {}", plural(known, "event"), plural(gaps, "gap")),
        (gaps, unknown) if unknown == gaps => {
            format!("an unknown number of events in {}", plural(gaps, "gap"))
        }
        (gaps, unknown) => {
            format!("{} in {}, and more in {unknown} of them", plural(known, "event"), plural(gaps, "gap"))
        }
    };
    out + &labelled("lost", &lost)
}

/// As the reader calls the text of `perf script`.
const PERF_SCRIPT: &str = "perf script text";

/// The groups that are mentioned by name.
const MOST_GROUPS: usize = 8;

/// Groups in words, those first of which more is known than who was in them.
fn groups(groups: &[InspectGroup]) -> String {
    let is_special = |group: &&InspectGroup| {
        group.weight.is_some() || group.max.is_some() || group.rt.is_some() || group.idle
    };
    let (special, plain): (Vec<_>, Vec<_>) = groups.iter().partition(is_special);
    let words = |group: &InspectGroup| {
        let mut words = vec![if group.processes == 1 {
            "1 process".to_owned()
        } else {
            format!("{} processes", group.processes)
        }];
        words.extend(group.weight.map(|weight| format!("weight {weight}")));
        words.extend(group.idle.then(|| "idle".to_owned()));
        words.extend(group.max.map(|max| {
            let burst = if max.burst_ns > 0 {
                format!(" burst {}", duration_ns(max.burst_ns))
            } else {
                String::new()
            };
            format!("{}/{}{burst}", duration_ns(max.quota_ns), duration_ns(max.period_ns))
        }));
        words.extend(group.rt.map(|rt| {
            let runtime = rt.runtime_ns.map_or("all".to_owned(), duration_ns);
            format!("real-time {runtime}/{}", duration_ns(rt.period_ns))
        }));
        format!("{} ({})", group.path, words.join(", "))
    };
    let named = special.iter().chain(&plain).take(MOST_GROUPS).map(|group| words(group));
    let more = groups.len().saturating_sub(MOST_GROUPS);
    let more = (more > 0).then(|| format!("{more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}

fn counts(heading: &str, counts: &BTreeMap<String, u64>) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[(heading, Left), ("count", Right)]);
    for (name, count) in counts {
        table.row([cut(name, 50), count.to_string()]);
    }
    table.render()
}

pub(super) const OF_CPUS: [Heading; 5] =
    [("cpu", Right), ("switches", Right), ("idle", Right), ("busy", Right), ("unknown", Right)];

fn cpus(result: &InspectResult, rows: Rows) -> String {
    let mut table = Table::new(&OF_CPUS);
    let shown = if rows == Rows::All { result.cpus.len() } else { MAX_CPUS };
    for cpu in result.cpus.iter().take(shown) {
        table.row([
            cpu.cpu.to_string(),
            count_u64(cpu.switches),
            duration_ns(cpu.idle_ns),
            duration_ns(cpu.busy_ns),
            duration_ns(cpu.unknown_ns),
        ]);
    }
    table.render() + &folded(shown, result.cpus.len(), "CPUs: the first")
}

/// Says how much of a list was left out.
fn folded(shown: usize, all: usize, what: &str) -> String {
    if shown < all { format!("{shown} of {all} {what}\n") } else { String::new() }
}

pub(super) const COLUMNS: [Heading; 6] = [
    ("\ntask", Left),
    ("runtime\nms", Right),
    ("\nswitches", Right),
    ("avg delay\nms", Right),
    ("max delay\nms", Right),
    ("max start\ns", Right),
];

/// perf's table without the column that follows from the two before it, the end of the longest delay.
fn latency(result: &InspectResult, rows: Rows) -> String {
    let latency = &result.latency;
    let mut table = Table::new(&COLUMNS);
    let shown = if rows == Rows::All { latency.rows.len() } else { MAX_TASKS };
    let mut all: Vec<&InspectTask> = latency.rows.iter().collect();
    // Stable: otherwise they stay in perf's order.
    all.sort_by_key(|task| !task.of_command);
    for task in all.into_iter().take(shown) {
        table.row([
            name(task),
            milliseconds(task.runtime_ns),
            task.switches.to_string(),
            milliseconds(task.delay_mean_ns),
            milliseconds(task.delay_max_ns),
            seconds(task.delay_max_start_ns),
        ]);
    }
    let none = String::new;
    let total = [
        "TOTAL:".to_owned(),
        milliseconds(latency.runtime_ns),
        latency.switches.to_string(),
        none(),
        none(),
        none(),
    ];
    table.row(total);
    let bugs = match (latency.context_switch_bugs, latency.wakeups) {
        (0, _) | (_, 0) => String::new(),
        (bugs, wakeups) => {
            let percent = bugs as f64 / wakeups as f64 * 100.0;
            format!("INFO: {percent:.3}% context switch bugs ({bugs} out of {wakeups})\n")
        }
    };
    let what = match latency.rows.iter().any(|task| task.of_command) {
        true => "tasks: of the command, and those with the longest mean delay",
        false => "tasks: those with the longest mean delay",
    };
    table.render() + &folded(shown, latency.rows.len(), what) + &bugs
}

fn name(task: &InspectTask) -> String {
    format!("{}:{}", cut(&task.comm, 15), task.pid)
}

/// Milliseconds as perf prints them.
fn milliseconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e6)
}

/// Seconds as perf prints times: cut to microseconds.
fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns / 1000 % 1_000_000)
}

/// A bar for each bucket that is not empty.
fn durations(heading: &str, durations: &InspectDurations) -> String {
    let Some(most) = durations.buckets.iter().map(|bucket| bucket.count).max() else { return String::new() };
    let longest = BAR.min(columns().saturating_sub(BESIDE_BAR) as u64);
    let mut table = Table::new(&[(heading, Right), ("up to", Right), ("count", Right), ("", Left)]);
    for bucket in durations.buckets.iter().filter(|bucket| bucket.count > 0) {
        let bar = (u128::from(bucket.count) * u128::from(longest)).div_ceil(u128::from(most.max(1)));
        table.row([
            duration_ns(bucket.from_ns),
            duration_ns(bucket.to_ns),
            bucket.count.to_string(),
            "#".repeat(bar as usize),
        ]);
    }
    let (mean, max) = (duration_ns(durations.mean_ns), duration_ns(durations.max_ns));
    table.render() + &format!("{} in all, mean {mean}, longest {max}\n", durations.count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::WIDTH;
    use schema::example;

    #[test]
    fn a_trace_at_a_glance() {
        insta::assert_snapshot!(inspect(&example::inspect(), Rows::Folded), @r"
        schedlab 0.1.0
        trace    a.perf.data
        format   perf.data, by perf 6.1.192
        kernel   Linux 6.1.0 x86_64
        clock    perf
        span     9.61ms from 4772.028000 s
        holds    1 CPU, 3 tasks
        tells    policies and affinities of 2 tasks, that idle CPUs do not poll
        recorded make -j4, process 812
        host     hz=250, preempt=full
        groups   /web (2 processes, weight 300, 200ms/100ms, real-time 100ms/1.00s)
        lost     12 events in 2 gaps, and more in 1 of them

        event        count
        sched_switch   120
        sched_wakeup    60

        left out          count
        irq_handler_entry     7

        cpu switches   idle  busy unknown
          0      120 9.00ms 600us  12.0us

                           runtime          avg delay max delay   max start
        task                    ms switches        ms        ms           s
        hackbench:9557       2.199       12     1.068     1.916 4772.035383
        kworker/u8:0-wr:12   2.199       12     1.068     0.000 4772.035383
        TOTAL:               4.399       24
        INFO: 75.000% context switch bugs (6 out of 8)

         delay  up to count
        1.02us 2.05us     2 ###
        2.05us 4.10us    30 ########################################
        8.19us 16.4us     1 ##
        33 in all, mean 2.50us, longest 8.10us

        note: data loss: the recorder lost events because its buffer was full (13×)
        ");
    }

    /// The header of the kernel's text says how many were overwritten on all CPUs together.
    #[test]
    fn the_sum_of_what_several_cpus_lost_at_the_beginning_is_said() {
        let mut result = example::inspect();
        result.gaps = [0, 1].map(|cpu| InspectGap { cpu, before_ns: 0, lost: None }).to_vec();
        let lost = |result: &InspectResult| {
            let text = inspect(result, Rows::Folded);
            text.lines().find(|line| line.starts_with("lost")).unwrap_or_default().to_owned()
        };
        assert_eq!(lost(&result), "lost     an unknown number of events in 2 gaps");
        let (name, severity, text) = ("overwritten", "info".to_owned(), String::new());
        result.notes.push(schema::InspectNote { name, severity, count: 133, text });
        assert_eq!(lost(&result), "lost     133 events in 2 gaps");
        result.gaps.push(InspectGap { cpu: 1, before_ns: 7, lost: Some(5) });
        assert_eq!(lost(&result), "lost     138 events in 3 gaps");
        result.gaps.push(InspectGap { cpu: 1, before_ns: 9, lost: None });
        assert_eq!(lost(&result), "lost     138 events in 4 gaps, and more in 1 of them");
    }

    #[test]
    fn a_trace_of_one_cpu_of_several_says_so() {
        let mut result = example::inspect();
        result.cpus.extend_from_within(..);
        let (name, severity, text) = ("some_cpus", "info".to_owned(), String::new());
        result.notes.push(schema::InspectNote { name, severity, count: 1, text });
        assert!(inspect(&result, Rows::Folded).contains("holds    1 of 2 CPUs, 3 tasks"));
    }

    #[test]
    fn text_that_cannot_tell_of_a_loss_does_not_deny_it() {
        let mut result = example::inspect();
        (result.gaps, result.notes) = (Vec::new(), Vec::new());
        result.format = PERF_SCRIPT.to_owned();
        let text = inspect(&result, Rows::Folded);
        assert!(text.contains("lost     unknown: the text of perf script does not tell"), "{text}");
    }

    #[test]
    fn a_truncated_file_does_not_say_that_nothing_is_lost() {
        let mut result = example::inspect();
        result.gaps.clear();
        result.notes.retain(|note| note.severity == "info");
        assert!(inspect(&result, Rows::Folded).contains("lost     no events"));
        let (severity, text) = ("data loss".to_owned(), "the file ends too early".to_owned());
        result.notes.push(schema::InspectNote { name: "truncated", severity, count: 1, text });
        let text = inspect(&result, Rows::Folded);
        assert!(text.contains("lost     what the notes at the end say"), "{text}");
    }

    #[test]
    fn tasks_of_the_recorded_command_come_first_and_are_never_folded_away() {
        let mut result = example::inspect();
        result.latency.rows = vec![result.latency.rows[0].clone(); 100];
        let last = &mut result.latency.rows[99];
        (last.comm, last.of_command) = ("make".to_owned(), true);
        let text = inspect(&result, Rows::Folded);
        let after_heading = text.lines().skip_while(|line| !line.starts_with("task  ")).nth(1);
        assert!(after_heading.is_some_and(|row| row.starts_with("make:")), "{text}");
        assert!(text.contains("40 of 100 tasks: of the command, and those with the longest"), "{text}");
    }

    #[test]
    fn long_names_and_numbers_fit_the_width_and_long_lists_are_folded() {
        let mut result = example::inspect();
        let row = &mut result.latency.rows[0];
        row.comm = "a name of more than 15 bytes".into();
        (row.pid, row.runtime_ns) = (4_194_303, 9_999_999_999_999);
        (row.delay_mean_ns, row.delay_max_ns) = (9_999_999_999, 99_999_999_999);
        row.delay_max_start_ns = 999_999_999_999_999;
        result.latency.rows = vec![result.latency.rows[0].clone(); 100];
        result.cpus = vec![result.cpus[0]; 100];
        let text = inspect(&result, Rows::Folded);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        assert!(text.contains("\n40 of 100 tasks: those with the longest mean delay\n"), "{text}");
        assert!(text.contains("\n64 of 100 CPUs: the first\n"), "{text}");
        assert_eq!(inspect(&result, Rows::All).matches("a name of more").count(), 100);
    }
}
