//! What a page says of a recording, and of two.

use super::{Cell, Content, Table, Unit, duration};
use crate::numbers::exact_duration;
use crate::text::recordings::label;
use schema::comparison::Verdict;
use schema::recordings::{CommandOfBoth, FigureDifference, FigureUnit, RecordingHead, RecordingsComparison};
use schema::{InspectDurations, InspectResult};

impl Content {
    /// Of a recording.
    #[must_use]
    pub fn of_inspection(found: &InspectResult) -> Content {
        let mut content = Content {
            title: found.trace.clone(),
            version: found.version.clone(),
            command: found.command.clone(),
            notes: found.notes.iter().map(|note| note.text.clone()).collect(),
            ..Content::default()
        };
        content.fact("trace", &found.trace);
        content.fact("format", &found.format);
        let optional = [("recorded by", &found.tool), ("kernel", &found.kernel), ("clock", &found.clock)];
        for (name, value) in optional {
            if let Some(value) = value {
                content.fact(name, value);
            }
        }
        if let Some(command) = &found.recorded_command {
            content.fact("command", &command.words);
        }
        content.fact("length", duration(found.duration_ns as f64));
        content.fact("resolution", exact_duration(found.resolution_ns).replace("us", "µs"));
        content.fact("CPUs", found.cpus.len().to_string());
        content.fact("tasks", found.tasks.to_string());
        for (name, value) in &found.host {
            content.fact(name, value);
        }
        let worst = found.latency.rows.iter().max_by_key(|row| row.delay_max_ns);
        if let Some(row) = worst {
            content.figure(format!("longest delay, of {}", row.comm), row.delay_max_ns as f64, Unit::Ns);
        }
        content.figure("mean delay", found.delays.mean_ns as f64, Unit::Ns);
        content.figure("mean stay on a CPU", found.stays.mean_ns as f64, Unit::Ns);
        let busy: u64 = found.cpus.iter().map(|cpu| cpu.busy_ns).sum();
        let known: u64 = found.cpus.iter().map(|cpu| cpu.busy_ns + cpu.idle_ns).sum();
        if known > 0 {
            content.figure("CPUs busy", busy as f64 / known as f64, Unit::Share);
        }
        content.table(latencies(found));
        content.table(cpus(found));
        content.table(durations("Delays", &found.delays));
        content.table(durations("Stays on a CPU", &found.stays));
        content.table(groups(found));
        content.table(events(found));
        content
    }

    /// Of two recordings side by side.
    #[must_use]
    pub fn of_recordings(both: &RecordingsComparison) -> Content {
        let mut content = Content {
            title: format!("{} / {}", both.first.trace, both.second.trace),
            version: both.version.clone(),
            command: both.command.clone(),
            notes: both.notes.clone(),
            ..Content::default()
        };
        for head in [&both.first, &both.second] {
            content.fact("trace", recording(head));
        }
        content.table(figures(both));
        content.table(commands(&both.commands));
        for (whose, names) in [("first", &both.only_in_first), ("second", &both.only_in_second)] {
            if !names.is_empty() {
                content.fact(&format!("only in the {whose}"), names.join(", "));
            }
        }
        content
    }
}

fn recording(head: &RecordingHead) -> String {
    let RecordingHead { trace, format, duration_ns: length, cpus, tasks, .. } = head;
    let kernel = head.kernel.as_ref().map_or(String::new(), |kernel| format!(", kernel {kernel}"));
    format!("{trace}: {format}{kernel}, {}, {cpus} CPUs, {tasks} tasks", duration(*length as f64))
}

/// The table of perf sched latency, its times since the first event.
fn latencies(found: &InspectResult) -> Table {
    use Unit::{Count, Id, Ns, Text};
    let columns = [
        ("pid", Id),
        ("task", Text),
        ("runtime", Ns),
        ("switches", Count),
        ("mean delay", Ns),
        ("longest delay", Ns),
        ("from", Ns),
        ("to", Ns),
    ];
    let mut table = Table::new("Delays of tasks, as perf sched latency counts them", &columns);
    let since_start = |at: u64| Cell::count(at.saturating_sub(found.start_ns));
    table.rows = found
        .latency
        .rows
        .iter()
        .map(|row| {
            vec![
                Cell::count(row.pid.into()),
                Cell::text(&row.comm),
                Cell::count(row.runtime_ns),
                Cell::count(row.switches),
                Cell::count(row.delay_mean_ns),
                Cell::count(row.delay_max_ns),
                since_start(row.delay_max_start_ns),
                since_start(row.delay_max_end_ns),
            ]
        })
        .collect();
    table
}

fn cpus(found: &InspectResult) -> Table {
    use Unit::{Count, Id, Ns};
    let columns = [("CPU", Id), ("switches", Count), ("busy", Ns), ("idle", Ns), ("unknown", Ns)];
    let mut table = Table::new("CPUs", &columns);
    let row = |cpu: &schema::InspectCpu| {
        let numbers = [cpu.cpu.into(), cpu.switches, cpu.busy_ns, cpu.idle_ns, cpu.unknown_ns];
        numbers.map(Cell::count).to_vec()
    };
    table.rows = found.cpus.iter().map(row).collect();
    table
}

fn durations(title: &str, durations: &InspectDurations) -> Table {
    let columns = [("from", Unit::Ns), ("to", Unit::Ns), ("times", Unit::Count), ("share", Unit::Share)];
    let mut table = Table::new(title, &columns);
    let row = |bucket: &schema::InspectBucket| {
        let share = bucket.count as f64 / durations.count.max(1) as f64;
        let [from, to, count] = [bucket.from_ns, bucket.to_ns, bucket.count].map(Cell::count);
        vec![from, to, count, Cell::Number(share)]
    };
    table.rows = durations.buckets.iter().map(row).collect();
    table
}

fn groups(found: &InspectResult) -> Table {
    use Unit::{Count, Ns, Text};
    let columns = [("group", Text), ("processes", Count), ("weight", Count), ("quota", Ns), ("period", Ns)];
    let mut table = Table::new("Task groups", &columns);
    let row = |group: &schema::InspectGroup| {
        let limit =
            |of: fn(&schema::GroupLimit) -> u64| Cell::maybe(group.max.as_ref().map(|m| of(m) as f64));
        vec![
            Cell::text(&group.path),
            Cell::count(group.processes),
            Cell::maybe(group.weight.map(|weight| weight as f64)),
            limit(|limit| limit.quota_ns),
            limit(|limit| limit.period_ns),
        ]
    };
    table.rows = found.groups.iter().map(row).collect();
    table
}

fn events(found: &InspectResult) -> Table {
    let mut table = Table::new("Events", &[("event", Unit::Text), ("times", Unit::Count)]);
    let row = |(name, count): (&String, &u64)| vec![Cell::text(name), Cell::count(*count)];
    table.rows = found.events.iter().map(row).collect();
    table
}

fn figures(both: &RecordingsComparison) -> Table {
    use Unit::Text;
    let columns = ["of", "figure", "first", "second", "differs", "95 % interval", "verdict"];
    let mut table = Table::new("What differs", &columns.map(|label| (label, Text)));
    let row = |figure: &FigureDifference| {
        let value = |number: f64| match figure.figure.unit() {
            FigureUnit::Share => format!("{:.1} %", number * 100.0),
            FigureUnit::PerSecond => crate::numbers::count(number),
            FigureUnit::Nanoseconds => duration(number),
        };
        let interval = figure
            .interval
            .map_or(String::new(), |interval| format!("{} to {}", value(interval.low), value(interval.high)));
        let verdict = match figure.verdict {
            Verdict::Changed => "changed",
            Verdict::Untested => "differs, untested",
            Verdict::NotSignificant => "not told from chance",
            Verdict::Identical => "identical",
        };
        vec![
            Cell::text(figure.comm.as_deref().unwrap_or("the machine")),
            Cell::text(label(figure.figure)),
            Cell::text(value(figure.first)),
            Cell::text(value(figure.second)),
            Cell::text(value(figure.difference)),
            Cell::text(interval),
            Cell::text(verdict),
        ]
    };
    table.rows = both.figures.iter().map(row).collect();
    table
}

fn commands(all: &[CommandOfBoth]) -> Table {
    use Unit::{Count, Ns, Text};
    let columns = [
        ("task", Text),
        ("tasks, first", Count),
        ("second", Count),
        ("CPU time, first", Ns),
        ("second", Ns),
        ("longest latency, first", Ns),
        ("second", Ns),
    ];
    let mut table = Table::new("Tasks of the same name", &columns);
    let row = |both: &CommandOfBoth| {
        let of = |value: fn(&schema::recordings::CommandTotals) -> u64| {
            [Cell::count(value(&both.first)), Cell::count(value(&both.second))]
        };
        let pairs = [of(|of| of.tasks), of(|of| of.cpu_time_ns), of(|of| of.latency_max_ns)];
        std::iter::once(Cell::text(&both.comm)).chain(pairs.into_iter().flatten()).collect()
    };
    table.rows = all.iter().map(row).collect();
    table
}
