//! What is in a trace, for `schedlab inspect`.

use crate::asked_tasks::{all_are_there, is_meant};
use crate::error::Error;
use crate::sources::{Input, Sources};
use machine::Window;
use report::numbers::{exact_duration, moment};
use scheduler::Nanos;
use schema::{
    GroupLimit, InspectCommand, InspectCpu, InspectDurations, InspectGap, InspectGroup, InspectLatency,
    InspectNote, InspectResult, InspectTask, RtGroupLimit,
};
use std::collections::{BTreeMap, BTreeSet};
use trace::{
    CgroupCpu, CpuQuota, DelaysFrom, Host, NoteKind, Pid, RuntimeSource, SchedLatency, SeenCpus, Severity,
    Trace,
};
use workload::groups::weight_of_shares;
use workload::replay::{TaskSelector, command_pids};

/// What of a trace to look at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inspection {
    /// From which event on a task waits.
    pub delays_from: DelaysFrom,
    /// Tasks in the table of latencies; empty: all.
    pub tasks: Vec<TaskSelector>,
    /// The stretch to look at, since the first event; `None`: all of it.
    pub window: Option<Window>,
}

/// Reads a trace and says what is in it; `-` is standard input.
///
/// # Errors
/// A file that cannot be read, is no trace, or holds no `sched_switch`; a time without events, a task that is
/// not there.
pub fn inspect(path: &str, asked: &Inspection, files: &dyn Sources) -> Result<InspectResult, Error> {
    look(path, open(path, asked, files)?, asked)
}

/// A trace, or the part of it that is looked at.
#[derive(Debug)]
pub(crate) struct OpenedTrace {
    pub trace: Trace,
    /// Time of the first event of the whole.
    pub zero_ns: u64,
    /// Number of events of the whole.
    pub events: usize,
    /// The recorded command and its descendants, as far as the whole shows them.
    pub command: BTreeSet<Pid>,
    /// In words, that the part was to be longer than the whole.
    pub behind_end: Option<String>,
}

/// Reads a trace, or the part of it that is to be looked at.
pub(crate) fn open(path: &str, asked: &Inspection, files: &dyn Sources) -> Result<OpenedTrace, Error> {
    let trace = Input::open(path, files)?.into_trace()?;
    let stretch = asked.window.map(|stretch| since_first_event(&trace, stretch));
    let (zero_ns, command, behind_end) =
        (trace.start_ns(), command_pids(&trace), behind_end(&trace, stretch));
    let events = trace.events.len();
    Ok(OpenedTrace { trace: window(trace, stretch)?, zero_ns, events, command, behind_end })
}

/// Says what is in it.
pub(crate) fn look(path: &str, opened: OpenedTrace, asked: &Inspection) -> Result<InspectResult, Error> {
    let OpenedTrace { trace, command, behind_end, .. } = opened;
    let delays_from = asked.delays_from;
    let (summary, mut table) = (trace::summarise(&trace), trace::sched_latency(&trace, delays_from));
    let named = |task: &trace::TaskDelays| {
        (task.pid.0.unsigned_abs(), task.comm.map_or("", |comm| &trace.strings[comm]))
    };
    all_are_there(&asked.tasks, table.tasks.iter().map(named))?;
    table.tasks.retain(|task| {
        let (pid, comm) = named(task);
        is_meant(&asked.tasks, pid, comm)
    });
    let cpu = |cpu: &trace::CpuSummary| InspectCpu {
        cpu: cpu.cpu.0,
        switches: cpu.switches,
        idle_ns: cpu.idle_ns,
        busy_ns: cpu.busy_ns,
        unknown_ns: cpu.unknown_ns,
    };
    let gap = |gap: &trace::Gap| InspectGap { cpu: gap.cpu.0, before_ns: gap.before_ns, lost: gap.events };
    let events = events(&trace);
    Ok(InspectResult {
        schema: schema::InspectSchema,
        command: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: path.to_owned(),
        format: trace.meta.format.to_string(),
        tool: trace.meta.tool.clone(),
        kernel: trace.meta.kernel.clone(),
        clock: trace.meta.clock.clone(),
        resolution_ns: trace.meta.resolution_ns,
        start_ns: trace.start_ns(),
        duration_ns: summary.duration_ns,
        tasks: summary.tasks.len() as u64,
        tasks_told: trace.facts.len() as u64,
        idle_polls: trace.idle.map(|idle| idle == trace::IdleKind::Polls),
        recorded_command: trace.host.command.as_ref().map(|command| InspectCommand {
            tgid: command.pid.0.unsigned_abs(),
            words: command.words.clone(),
        }),
        host: trace.host.facts.clone(),
        groups: groups(&trace.host),
        left_out: trace.notes.other_events().clone(),
        gaps: trace.meta.gaps.iter().map(gap).collect(),
        cpus: summary.cpus.iter().map(cpu).collect(),
        notes: notes(&trace, &events, delays_from)
            .into_iter()
            .chain(behind_end.map(behind_end_note))
            .collect(),
        events,
        latency: latency(&trace, &table, delays_from, &command),
        delays: InspectDurations::of(&table.delays),
        stays: InspectDurations::of(&table.stays),
    })
}

/// In words, that the stretch to look at was to last longer than the trace.
fn behind_end(trace: &Trace, stretch: Option<Window>) -> Option<String> {
    let (to, length) = (stretch?.to, length(trace));
    (to != Nanos::NEVER && to > length).then(|| {
        let (to, length) = (exact_duration(to.0), moment(length.0));
        format!("info: the stretch was to end at {to}, after the end of the trace: it ends at {length}")
    })
}

fn behind_end_note(text: String) -> InspectNote {
    InspectNote { name: "to_behind_end", severity: "info".to_owned(), count: 1, text }
}

/// From the first event to the last.
fn length(trace: &Trace) -> Nanos {
    Nanos(trace.end_ns() - trace.start_ns())
}

/// A stretch as people name it: times that lie behind the end of the trace, since its first event, are on its
/// own clock, as explanations show them.
fn since_first_event(trace: &Trace, stretch: Window) -> Window {
    let (start, length) = (Nanos(trace.start_ns()), length(trace));
    let is_on_clock = |time: Nanos| time > length && (start.0..=trace.end_ns()).contains(&time.0);
    let Window { from, to } = stretch;
    if !is_on_clock(from) && (from != Nanos::ZERO || !is_on_clock(to)) {
        return stretch;
    }
    let to = if to == Nanos::NEVER { to } else { to.saturating_sub(start) };
    Window { from: from.saturating_sub(start), to }
}

/// The part of a trace between two times since its first event, as if nothing else had been recorded.
fn window(mut trace: Trace, stretch: Option<Window>) -> Result<Trace, Error> {
    let Some(window) = stretch else { return Ok(trace) };
    let length = length(&trace);
    if window.from > length {
        return Err(Error::BehindTrace { from: window.from, length });
    }
    let Window { from: Nanos(from), to: Nanos(to) } = window.after(Nanos(trace.start_ns()));
    let all = std::mem::take(&mut trace.events);
    for event in all.into_iter().filter(|event| (from..=to).contains(&event.time_ns)) {
        trace.events.push(event);
    }
    trace.meta.gaps.retain(|gap| (from..=to).contains(&gap.before_ns));
    if trace.events.is_empty() { Err(Error::EmptyWindow { length }) } else { Ok(trace) }
}

/// The groups of which something is known: who was in them, or what they get.
fn groups(host: &Host) -> Vec<InspectGroup> {
    let mut processes: BTreeMap<String, u64> = host.cgroups.keys().map(|path| (path.clone(), 0)).collect();
    for group in host.groups.values() {
        let path = match (group.cgroup.as_str(), group.autogroup) {
            ("/", Some(session)) => format!("autogroup-{session}"),
            (path, _) => path.to_owned(),
        };
        *processes.entry(path).or_insert(0) += 1;
    }
    let of = |(path, processes): (String, u64)| {
        let CgroupCpu { quota, weight, shares, burst_us, idle, rt, clamps: _ } =
            host.cgroups.get(&path).copied().unwrap_or_default();
        let ns = |us: u64| us * 1_000;
        InspectGroup {
            path,
            processes,
            weight: weight.or(shares.map(weight_of_shares)).filter(|_| !idle),
            idle,
            max: quota.map(|CpuQuota { quota_us, period_us }| GroupLimit {
                quota_ns: ns(quota_us),
                period_ns: ns(period_us),
                burst_ns: ns(burst_us.unwrap_or(0)),
            }),
            rt: rt.map(|rt| RtGroupLimit {
                runtime_ns: u64::try_from(rt.runtime_us).ok().map(ns),
                period_ns: ns(rt.period_us),
            }),
        }
    };
    processes.into_iter().map(of).collect()
}

fn events(trace: &Trace) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for event in &trace.events {
        *counts.entry(event.kind.name()).or_insert(0) += 1;
    }
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

fn latency(
    trace: &Trace,
    table: &SchedLatency,
    delays_from: DelaysFrom,
    command: &BTreeSet<Pid>,
) -> InspectLatency {
    let row = |task: &trace::TaskDelays| InspectTask {
        pid: task.pid.0.unsigned_abs(),
        comm: task.comm.map_or(String::new(), |comm| trace.strings[comm].to_owned()),
        of_command: command.contains(&task.pid),
        runtime_ns: task.runtime_ns,
        switches: task.switches,
        delay_mean_ns: task.delay_mean_ns(),
        delay_max_ns: task.delay_max_ns,
        delay_max_start_ns: task.max_start_ns,
        delay_max_end_ns: task.max_end_ns,
    };
    InspectLatency {
        delays_from: match delays_from {
            DelaysFrom::Wakeup => "wakeup",
            DelaysFrom::Waking => "waking",
        },
        runtime_from: match table.runtime_source {
            RuntimeSource::SchedStatRuntime => "sched_stat_runtime",
            RuntimeSource::SchedSwitch => "sched_switch",
        },
        runtime_ns: table.runtime_sum_ns(),
        switches: table.switches(),
        wakeups: table.wakeups,
        context_switch_bugs: table.context_switch_bugs,
        rows: table.tasks.iter().map(row).collect(),
    }
}

/// The importer's notes, and one of our own where perf's rule hides most delays.
fn notes(trace: &Trace, events: &BTreeMap<String, u64>, delays_from: DelaysFrom) -> Vec<InspectNote> {
    let mut notes: Vec<InspectNote> = trace
        .notes
        .iter()
        // Its events are counted one by one.
        .filter(|note| note.kind != NoteKind::OtherEvents)
        .map(|note| InspectNote {
            name: note.kind.name(),
            severity: note.kind.severity().to_string(),
            count: note.count,
            text: note.to_string(),
        })
        .collect();
    let wakings = events.get("sched_waking").copied().unwrap_or(0);
    if wakings > 0 && !events.contains_key("sched_wakeup") && delays_from == DelaysFrom::Wakeup {
        notes.push(InspectNote {
            name: "wakings_not_counted",
            severity: "info".to_owned(),
            count: wakings,
            text: format!(
                "info: the trace has {wakings} sched_waking but no sched_wakeup, and perf 6.1 counts no delay from \
                 sched_waking; counted from there, there are some"
            ),
        });
    }
    if let Some(cpus) = SeenCpus::of(trace) {
        notes.push(InspectNote {
            name: "some_cpus",
            severity: Severity::Info.to_string(),
            count: cpus.seen.len() as u64,
            text: format!(
                "{}: the trace is of {} of {} CPUs: it has {cpus}, and what they did there is not in it",
                Severity::Info,
                cpus.seen.len(),
                trace.cpus
            ),
        });
    }
    notes
}
