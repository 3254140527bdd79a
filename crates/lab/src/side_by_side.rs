//! Two traces side by side, for `schedlab inspect TRACE OTHER`.

use crate::asked_tasks::{Named, all_are_there, is_meant};
use crate::error::Error;
use crate::inspect::{self, Inspection, OpenedTrace};
use crate::sources::{STANDARD_STREAM, Sources, shown};
use report::recordings::{CommandSamples, LatencySamples, MachineSamples, Recording, compare_recordings};
use schema::recordings::{RecordingHead, RecordingsComparison};
use std::collections::BTreeMap;
use trace::{DelaysFrom, EventKind, NoteKind, TaskSummary, TaskWindow, Trace, WakeupEvent, WindowedSummary};

/// Windows of each trace: enough for a bootstrap, few enough that something happens in each.
const WINDOWS: u32 = 20;

/// Reads two traces and says what differs; one of them may be `-`, standard input.
///
/// # Errors
/// As [`inspect`](crate::inspect); a task that is in neither, and standard input twice.
pub fn inspect_both(
    paths: [&str; 2],
    asked: &Inspection,
    files: &dyn Sources,
) -> Result<RecordingsComparison, Error> {
    look(paths, &open(paths, asked, files)?, asked)
}

/// Reads both, or the parts of them that are to be looked at.
pub(crate) fn open(
    paths: [&str; 2],
    asked: &Inspection,
    files: &dyn Sources,
) -> Result<[OpenedTrace; 2], Error> {
    if paths == [STANDARD_STREAM; 2] {
        return Err(Error::BothFromStdin);
    }
    Ok([read(paths[0], asked, files)?, read(paths[1], asked, files)?])
}

/// Says what differs.
pub(crate) fn look(
    paths: [&str; 2],
    [first, second]: &[OpenedTrace; 2],
    asked: &Inspection,
) -> Result<RecordingsComparison, Error> {
    let (wakeups, mut notes) = wakeups_of_both([&first.trace, &second.trace], asked.delays_from);
    let looked =
        [(paths[0], first), (paths[1], second)].map(|(path, opened)| samples(path, opened, wakeups, asked));
    all_are_there(&asked.tasks, looked.iter().flat_map(|one| one.named.iter().copied()))?;
    for (path, OpenedTrace { trace, behind_end, .. }) in paths.iter().zip([first, second]) {
        notes.extend(
            trace
                .notes
                .iter()
                .filter(|note| note.kind != NoteKind::OtherEvents)
                .map(|note| format!("{}: {note}", shown(path))),
        );
        notes.extend(behind_end.iter().map(|note| format!("{}: {note}", shown(path))));
    }
    let mut result = compare_recordings(&looked[0].recording, &looked[1].recording);
    result.notes = notes;
    Ok(result)
}

fn read(path: &str, asked: &Inspection, files: &dyn Sources) -> Result<OpenedTrace, Error> {
    inspect::open(path, asked, files).map_err(|source| match source {
        // The others name the file themselves.
        source @ (Error::BehindTrace { .. } | Error::EmptyWindow { .. }) => {
            Error::OfRecording { path: shown(path), source: Box::new(source) }
        }
        source => source,
    })
}

/// Latencies from different events must not be compared: they are taken from one that both traces have.
fn wakeups_of_both(traces: [&Trace; 2], asked: DelaysFrom) -> (Option<WakeupEvent>, Vec<String>) {
    let has = |event: fn(&EventKind) -> bool| {
        traces.iter().all(|trace| trace.events.iter().any(|one| event(&one.kind)))
    };
    let wakeup = has(|kind| matches!(kind, EventKind::SchedWakeup(_)));
    let waking = has(|kind| matches!(kind, EventKind::SchedWaking(_)));
    match asked {
        DelaysFrom::Waking if waking => (Some(WakeupEvent::Waking), Vec::new()),
        _ if wakeup => {
            let note = "not both traces have sched_waking: wakeups and latencies are those of sched_wakeup";
            let notes = (asked == DelaysFrom::Waking).then(|| note.to_owned());
            (Some(WakeupEvent::Wakeup), notes.into_iter().collect())
        }
        _ if waking => (
            Some(WakeupEvent::Waking),
            vec!["not both traces have sched_wakeup: wakeups and latencies are those of sched_waking, and contain the \
                  wakeup itself"
                .to_owned()],
        ),
        _ => (
            None,
            vec!["no event for wakeups is in both traces: wakeups and latencies are not compared; record \
                  sched_wakeup in both"
                .to_owned()],
        ),
    }
}

/// A trace, and its tasks.
struct Looked<'t> {
    recording: Recording,
    named: Vec<Named<'t>>,
}

fn samples<'t>(
    path: &str,
    opened: &'t OpenedTrace,
    wakeups: Option<WakeupEvent>,
    asked: &Inspection,
) -> Looked<'t> {
    let OpenedTrace { trace, command, .. } = opened;
    let from = wakeups.unwrap_or_else(|| WakeupEvent::of(trace));
    let windowed = trace::summarise_in_windows(trace, from, WINDOWS);
    let mut named: Vec<Named<'t>> = Vec::new();
    let mut commands: BTreeMap<String, CommandSamples> = BTreeMap::new();
    let mut all = CommandSamples::default();
    for (task, windows) in windowed.summary.tasks.iter().zip(&windowed.tasks) {
        let comm = task.comm.map_or("", |comm| &trace.strings[comm]);
        let pid = task.pid.0.unsigned_abs();
        named.push((pid, comm));
        add(&mut all, task, windows, wakeups.is_some());
        if is_meant(&asked.tasks, pid, comm) {
            let name = if comm.is_empty() { format!(":{}", task.pid.0) } else { comm.to_owned() };
            let samples = commands.entry(name).or_default();
            samples.of_command |= command.contains(&task.pid);
            add(samples, task, windows, wakeups.is_some());
        }
    }
    let head = head(path, trace, &windowed, &all.latency);
    Looked { recording: Recording { head, machine: machine(trace, windowed, all), commands }, named }
}

/// Adds a task to those of its name.
fn add(samples: &mut CommandSamples, task: &TaskSummary, windows: &[TaskWindow], with_wakeups: bool) {
    samples.tasks += 1;
    let mut each = |sums: fn(&mut CommandSamples) -> &mut Vec<u64>, of: fn(&TaskWindow) -> u64| {
        let sums = sums(samples);
        sums.resize(windows.len(), 0);
        sums.iter_mut().zip(windows).for_each(|(sum, window)| *sum = sum.saturating_add(of(window)));
    };
    each(|samples| &mut samples.cpu_time_ns, |window| window.cpu_time_ns);
    each(|samples| &mut samples.voluntary_switches, |window| window.voluntary_switches);
    each(|samples| &mut samples.involuntary_switches, |window| window.involuntary_switches);
    each(|samples| &mut samples.migrations, |window| window.migrations);
    if with_wakeups {
        each(|samples| &mut samples.wakeups, |window| window.wakeups);
        samples.latency.samples_ns.extend(&task.wake_latency.samples_ns);
    }
}

fn machine(trace: &Trace, windowed: WindowedSummary, all: CommandSamples) -> MachineSamples {
    let each = |of: fn(&trace::MachineWindow) -> u64| windowed.machine.iter().map(of).collect();
    MachineSamples {
        cpus: trace.cpus,
        resolution_ns: trace.meta.resolution_ns,
        window_ns: windowed.summary.duration_ns as f64 / f64::from(WINDOWS),
        busy_ns: each(|window| window.busy_ns),
        idle_ns: each(|window| window.idle_ns),
        switches: each(|window| window.switches),
        migrations: all.migrations,
        wakeups: all.wakeups,
        latency: all.latency,
    }
}

fn head(path: &str, trace: &Trace, windowed: &WindowedSummary, latency: &LatencySamples) -> RecordingHead {
    RecordingHead {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: path.to_owned(),
        format: trace.meta.format.to_string(),
        kernel: trace.meta.kernel.clone(),
        duration_ns: windowed.summary.duration_ns,
        cpus: trace.cpus,
        tasks: windowed.summary.tasks.len() as u64,
        latency_max_ns: latency.longest_ns(),
        lost: trace.meta.gaps.iter().filter_map(|gap| gap.events).sum(),
    }
}
