//! ftrace text: the kernel's `trace` file, `trace-cmd report` and `trace-cmd report -R`, and what `perf
//! script` makes of the same events.
//!
//! They differ in columns and in how they write fields; [`line`] and [`fields`] accept all of them line by
//! line, so the dialect need not be known beforehand and is only reported at the end.

mod activity;
mod fields;
mod line;

use fields::{Style, Task};
use line::Line;
use memchr::memchr;
use std::collections::BTreeSet;

use crate::activity::Tracepoint;
use crate::builder::TraceBuilder;
use crate::error::ReadError;
use crate::input::{Source, Stream};
use crate::model::{
    Cpu, Event, EventKind, Format, Gap, Pid, Provenance, SchedMigrateTask, SchedPiSetprio, SchedProcessExec,
    SchedProcessFork, SchedStatRuntime, SchedSwitch, SchedWakeup, TaskRef, Trace, VirtualNanos,
};
use crate::notes::{NoteKind, Position};
use crate::pidmap::PidMap;
use crate::read::check_switches;
use crate::state::PrevState;

/// Reads text. If no line is an event, this is not a trace.
pub(crate) fn read(source: &Source<'_>) -> Result<Trace, ReadError> {
    let mut reader = Reader::new();
    let mut stream = Stream::new(source, 0, u64::MAX);
    let mut number = 0;
    let mut wanted = 1;
    while stream.remaining() > 0 {
        let all = stream.remaining();
        let bytes = stream.peek(wanted)?;
        let mut used = 0;
        while let Some(len) = memchr(b'\n', &bytes[used..]) {
            number += 1;
            reader.line(without_return(&bytes[used..used + len]), number, true);
            used += len + 1;
        }
        if bytes.len() as u64 >= all && used < bytes.len() {
            reader.line(without_return(&bytes[used..]), number + 1, false);
            used = bytes.len();
        }
        // A line that was not fetched whole: twice as much next time, so that no line is searched again and
        // again.
        wanted = 2 * (bytes.len() - used) + 1;
        stream.skip(used as u64);
    }
    reader.finish()
}

/// Whether the beginning of something that may never end holds a line that text of a trace has.
pub(crate) fn check_head(head: &[u8]) -> Result<(), ReadError> {
    let mut reader = Reader::new();
    for (n, line) in head.split(|byte| *byte == b'\n').enumerate() {
        if Line::parse(line).is_some() {
            return Ok(());
        }
        reader.other_line(line, n as u64 + 1);
    }
    if reader.has_header() { Ok(()) } else { Err(NO_EVENT) }
}

const NO_EVENT: ReadError = ReadError::NotATrace {
    found: "text in which no line is an event",
    advice: "give a trace.dat, a perf.data, a Perfetto trace, or text from trace-cmd report, tracefs or perf \
             script",
};

/// perf prints `:17217` where it knows no name of a thread, although the events themselves may have it.
fn is_number(comm: &[u8], pid: Pid) -> bool {
    let number = comm.strip_prefix(b":").and_then(|number| std::str::from_utf8(number).ok());
    number.and_then(|number| number.parse().ok()) == Some(pid.0)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Events that the recorder says it lost, to be placed at the next event of that CPU.
struct PendingLoss {
    cpu: Cpu,
    events: Option<u64>,
    line: u64,
}

/// Older events than those in the file, which newer ones took the place of.
#[derive(Default)]
struct Overwritten {
    /// How many in all, where the header says so. It does not say on which CPUs.
    events: u64,
    /// CPUs whose buffers begin behind others, as lines among the events say.
    cpus: BTreeSet<Cpu>,
}

struct Reader {
    builder: TraceBuilder,
    events: u64,
    pending: Vec<PendingLoss>,
    overwritten: Overwritten,
    /// Whether the thread's process is known, for threads that have been named.
    named: PidMap<bool>,
    decimals: u8,
    tracefs_header: bool,
    report_header: bool,
    flags: bool,
    perf: bool,
    raw: u64,
    plugin: u64,
}

impl Reader {
    fn new() -> Self {
        Reader {
            builder: TraceBuilder::new(0),
            events: 0,
            pending: Vec::new(),
            overwritten: Overwritten::default(),
            named: PidMap::new(),
            decimals: 0,
            tracefs_header: false,
            report_header: false,
            flags: false,
            perf: false,
            raw: 0,
            plugin: 0,
        }
    }

    /// Takes in a line. `complete` is false for the last one if it does not end.
    fn line(&mut self, text: &[u8], number: u64, complete: bool) {
        let at = Position::Line(number);
        let known = match Line::parse(text) {
            Some(line) => {
                self.event(&line, number);
                true
            }
            None => self.other_line(text, number),
        };
        match (known, complete) {
            (true, true) => {}
            (true, false) => self.builder.notes.add(NoteKind::OpenLastLine, at),
            (false, true) => self.builder.notes.add_detailed(NoteKind::UnparsedLine, at, || excerpt(text)),
            (false, false) => self.builder.notes.add_detailed(NoteKind::Truncated, at, || excerpt(text)),
        }
    }

    /// Takes in a line that is no event; false if it is of no known kind.
    fn other_line(&mut self, line: &[u8], number: u64) -> bool {
        let text = String::from_utf8_lossy(&line[..line.len().min(200)]);
        let text = text.trim();
        if text.starts_with("=>") || text.starts_with("<stack trace>") {
            self.builder.notes.add_other_event("stack trace", 1, Position::Line(number));
        } else if let Some(started) = text.strip_prefix("##### CPU ") {
            let cpu = started.split(' ').next().and_then(|cpu| cpu.parse().ok()).map(Cpu);
            self.overwritten.cpus.extend(cpu.filter(|cpu| cpu.0 < crate::MAX_CPUS));
        } else if let Some(header) = text.strip_prefix('#') {
            self.header(header.trim());
        } else if let Some(cpus) = text.strip_prefix("cpus=") {
            self.report_header = true;
            self.builder.declare_cpus(cpus.parse().unwrap_or(0));
        } else if let Some(lost) = text.strip_prefix("CPU:") {
            return self.lost(lost, number);
        } else {
            return text.is_empty()
                || text.starts_with("version = ")
                || (text.starts_with("CPU ") && text.ends_with(" is empty"));
        }
        true
    }

    /// A comment of the kernel's own header.
    fn header(&mut self, header: &str) {
        self.tracefs_header |= header.starts_with("tracer:") || header.starts_with("entries-in-buffer");
        let Some(counts) = header.strip_prefix("entries-in-buffer/entries-written:") else { return };
        let (counts, cpus) = counts.split_once("#P:").unwrap_or((counts, "0"));
        self.builder.declare_cpus(cpus.trim().parse().unwrap_or(0));
        let Some((kept, written)) = counts.trim().split_once('/') else { return };
        let (Ok(kept), Ok(written)) = (kept.parse::<u64>(), written.parse::<u64>()) else { return };
        if written > kept {
            self.builder.notes.add_many(NoteKind::Overwritten, written - kept, Position::Whole);
            self.overwritten.events = self.overwritten.events.saturating_add(written - kept);
        }
    }

    /// The gaps at the beginnings of CPUs: whoever has lost older events has newer ones.
    fn place_overwritten(&mut self) {
        let Overwritten { events, mut cpus } = std::mem::take(&mut self.overwritten);
        if events > 0 {
            let has_events = |cpu: &Cpu| self.builder.last_ns(*cpu) > 0;
            cpus.extend((0..crate::MAX_CPUS).map(Cpu).filter(has_events));
        }
        let events = (cpus.len() == 1 && events > 0).then_some(events);
        let gaps = cpus.into_iter().map(|cpu| Gap { cpu, before_ns: 0, events });
        self.builder.meta.gaps.splice(0..0, gaps);
    }

    /// `CPU:1 [LOST 5 EVENTS]` of the kernel, `CPU:1 [5 EVENTS DROPPED]` or without number of trace-cmd.
    fn lost(&mut self, text: &str, line: u64) -> bool {
        let Some((cpu, what)) = text.split_once(" [") else { return false };
        let Ok(cpu) = cpu.parse() else { return false };
        if !(what.contains("LOST") || what.contains("DROPPED")) {
            return false;
        }
        let events = what.split(' ').find_map(|word| word.parse().ok());
        self.pending.push(PendingLoss { cpu: Cpu(cpu), events, line });
        true
    }

    fn event(&mut self, line: &Line<'_>, number: u64) {
        self.events += 1;
        self.flags |= line.flags;
        self.perf |= line.of_perf;
        self.decimals = self.decimals.max(line.time.decimals);
        let at = Position::Line(number);
        if line.time.decimals == 0 {
            self.builder.notes.add(NoteKind::UnusableClock, at);
        }
        self.name_thread(line);
        if !self.pending.is_empty() {
            self.place_losses(line.cpu, line.time.value);
        }
        match self.kind(line, at) {
            Some(Some(kind)) => {
                let unknown = line.pid == Pid::IDLE && line.comm == b"<...>";
                let pid = if unknown { Pid::UNKNOWN } else { line.pid };
                let (time_ns, cpu) = (line.time.value, line.cpu);
                let (context, need_resched) = (line.context, line.need_resched);
                let event = Event { time_ns, cpu, pid, context, need_resched, kind };
                self.builder.push_at(event, at);
            }
            Some(None) => {}
            None => self.builder.notes.add_detailed(NoteKind::BadEventText, at, || excerpt(line.body)),
        }
    }

    fn name_thread(&mut self, line: &Line<'_>) {
        let news = match self.named.get(line.pid) {
            Some(tgid_known) => !tgid_known && line.tgid.is_some(),
            None => line.pid != Pid::IDLE && line.comm != b"<...>" && !is_number(line.comm, line.pid),
        };
        if news {
            let comm = self.builder.strings.intern_bytes(line.comm);
            self.builder.thread(line.pid, comm, line.tgid);
            self.named.insert(line.pid, line.tgid.is_some());
        }
    }

    fn place_losses(&mut self, cpu: Cpu, time_ns: u64) {
        let builder = &mut self.builder;
        self.pending.retain(|loss| {
            if loss.cpu != cpu {
                return true;
            }
            builder.lost(cpu, time_ns, loss.events, Position::Line(loss.line));
            false
        });
    }

    /// `None` if the fields cannot be read, `Some(None)` if the event is not kept.
    fn kind(&mut self, line: &Line<'_>, at: Position) -> Option<Option<EventKind>> {
        let strings = &mut self.builder.strings;
        let mut task = |t: Task<'_>| TaskRef { comm: strings.intern_bytes(t.comm), pid: t.pid, prio: t.prio };
        let kind = match line.event {
            b"sched_switch" => {
                let switch = fields::sched_switch(line.body)?;
                let (prev, next) = (task(switch.prev), task(switch.next));
                self.note_switch(&switch, at);
                let prev_state = switch.prev_state;
                EventKind::SchedSwitch(SchedSwitch {
                    prev,
                    prev_state,
                    next,
                    provenance: Provenance::Recorded,
                })
            }
            b"sched_waking" | b"sched_wakeup" | b"sched_wakeup_new" => {
                let wakeup = fields::wakeup(line.body)?;
                if !wakeup.success {
                    self.builder.notes.add(NoteKind::WakeupWithoutEffect, at);
                    return Some(None);
                }
                let event = SchedWakeup { task: task(wakeup.task), target_cpu: wakeup.target_cpu };
                match line.event {
                    b"sched_waking" => EventKind::SchedWaking(event),
                    b"sched_wakeup" => EventKind::SchedWakeup(event),
                    _ => EventKind::SchedWakeupNew(event),
                }
            }
            b"sched_migrate_task" => {
                let moved = fields::migrate_task(line.body)?;
                let (orig_cpu, dest_cpu) = (moved.orig_cpu, moved.dest_cpu);
                EventKind::SchedMigrateTask(SchedMigrateTask { task: task(moved.task), orig_cpu, dest_cpu })
            }
            b"sched_process_fork" => {
                let fork = fields::process_fork(line.body)?;
                EventKind::SchedProcessFork(SchedProcessFork {
                    parent_comm: strings.intern_bytes(fork.parent_comm),
                    parent_pid: fork.parent_pid,
                    child_comm: strings.intern_bytes(fork.child_comm),
                    child_pid: fork.child_pid,
                })
            }
            b"sched_process_exec" => {
                let exec = fields::process_exec(line.body)?;
                let filename = strings.intern_bytes(exec.filename);
                EventKind::SchedProcessExec(SchedProcessExec {
                    filename,
                    pid: exec.pid,
                    old_pid: exec.old_pid,
                })
            }
            b"sched_process_exit" => EventKind::SchedProcessExit(task(fields::process_exit(line.body)?)),
            b"sched_pi_setprio" => {
                let pi = fields::pi_setprio(line.body)?;
                let comm = strings.intern_bytes(pi.comm);
                let (oldprio, newprio) = (pi.oldprio, pi.newprio);
                EventKind::SchedPiSetprio(SchedPiSetprio { comm, pid: pi.pid, oldprio, newprio })
            }
            b"sched_stat_runtime" => {
                let stat = fields::stat_runtime(line.body)?;
                EventKind::SchedStatRuntime(SchedStatRuntime {
                    comm: strings.intern_bytes(stat.comm),
                    pid: stat.pid,
                    runtime_ns: stat.runtime_ns,
                    vruntime: stat.vruntime_ns.map(VirtualNanos::new),
                })
            }
            b"tracing_mark_write" => EventKind::Marker(strings.intern_bytes(line.body)),
            b"print" => EventKind::Marker(strings.intern_bytes(fields::print_text(line.body))),
            name => {
                if let Some(activity) = activity::syscall(name, line.body, strings) {
                    return Some(Some(EventKind::Activity(activity)));
                }
                let tracepoint = std::str::from_utf8(name).ok().and_then(Tracepoint::find);
                if let Some(tracepoint) = tracepoint {
                    let activity = activity::activity(tracepoint, line.body, strings)?;
                    return Some(Some(EventKind::Activity(activity)));
                }
                let name = if name.is_empty() { "function".into() } else { String::from_utf8_lossy(name) };
                self.builder.notes.add_other_event(&name, 1, at);
                return Some(None);
            }
        };
        Some(Some(kind))
    }

    fn note_switch(&mut self, switch: &fields::Switch<'_>, at: Position) {
        match switch.style {
            Style::Kernel => {}
            Style::Raw => {
                if self.raw == 0 {
                    self.builder.notes.add(NoteKind::AssumedStateBits, at);
                }
                self.raw += 1;
            }
            Style::Plugin => {
                self.plugin += 1;
                if switch.prev_state == PrevState::Running {
                    self.builder.notes.add(NoteKind::NoPreemptionMark, at);
                }
            }
        }
        if switch.prev_state == PrevState::Unknown {
            self.builder.notes.add(NoteKind::UnknownPrevState, at);
        }
    }

    /// Whether there was a comment that only traces have.
    fn has_header(&self) -> bool {
        self.tracefs_header || self.report_header
    }

    fn finish(mut self) -> Result<Trace, ReadError> {
        if self.events == 0 && !self.has_header() {
            return Err(NO_EVENT);
        }
        for PendingLoss { cpu, events, line } in std::mem::take(&mut self.pending) {
            self.builder.lost(cpu, self.builder.last_ns(cpu), events, Position::Line(line));
        }
        self.place_overwritten();
        self.builder.meta.resolution_ns = 10u64.pow(9 - u32::from(self.decimals));
        self.builder.meta.format = if self.perf {
            Format::PerfScript
        } else if self.raw > 0 {
            Format::TraceCmdReportRaw
        } else if self.plugin > 0 || self.report_header || (!self.flags && !self.tracefs_header) {
            Format::TraceCmdReport
        } else {
            Format::TracefsText
        };
        check_switches(self.builder.finish_recording(), self.events)
    }
}

/// The beginning of a line, for a message.
fn excerpt(line: &[u8]) -> String {
    let head = String::from_utf8_lossy(&line[..line.len().min(100)]);
    if line.len() > 100 { format!("{head}…") } else { head.into_owned() }
}
