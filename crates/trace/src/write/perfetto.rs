//! Writes Perfetto's protobuf, as its own recorders would: Linux events as ftrace bundles of a CPU each, from which the
//! viewer derives scheduling slices, thread states and wakers by itself; annotations as track events.

use std::collections::BTreeMap;
use std::io::{self, Write};

use prost::encoding::message;

use super::annotations::{Annotations, Detail, Slice, Track, TrackKind};
use super::proto::{
    CounterDescriptor, Data, DebugAnnotation, Ftrace, FtraceEvent, FtraceEventBundle, Generic, GenericField,
    GenericValue, Print, Process, ProcessTree, SchedMigrateTask, SchedPiSetprio, SchedProcessExec,
    SchedProcessExit, SchedProcessFork, SchedSwitch, SchedWakeup, SystemInfo, Thread as ThreadMessage,
    ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent, Utsname,
};
use crate::model::{self, Cpu, Event, EventKind, Pid, Thread, Trace};
use crate::strings::Strings;

/// Events of a CPU are written in bundles of this many.
const BUNDLE: usize = 512;
/// Packets of events.
const EVENT_SEQUENCE: u32 = 1;
/// Packets of annotations.
const ANNOTATION_SEQUENCE: u32 = 2;
/// Sequence flag: nothing from before applies.
const STATE_CLEARED: u32 = 1;
/// Track ids are this plus the track's number; 0 would mean the default track.
const FIRST_UUID: u64 = 0x5c4e_d1ab_0000_0001;
/// The first kernel whose state bits we write.
const STATE_BITS_KERNEL: KernelVersion = KernelVersion { major: 4, minor: 14 };

/// What could not be written as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerfettoReport {
    /// Slices that reached beyond the one in which they began, and were cut at its end.
    pub cut_slices: u64,
}

/// Writes a whole trace and what there is to say about it.
pub fn write_perfetto(
    trace: &Trace,
    annotations: &Annotations,
    out: impl Write,
) -> io::Result<PerfettoReport> {
    let mut writer = PerfettoWriter::new(out, trace.meta.kernel.as_deref(), trace.cpus)?;
    writer.threads(&trace.threads, &trace.strings)?;
    let mut gaps = trace.meta.gaps.iter().peekable();
    for event in &trace.events {
        while let Some(gap) = gaps.next_if(|gap| gap.before_ns <= event.time_ns) {
            writer.gap(gap.cpu)?;
        }
        writer.event(event, &trace.strings)?;
    }
    let report = writer.annotations(annotations, &trace.threads)?;
    writer.finish()?;
    Ok(report)
}

/// Events of a CPU that wait to be written.
#[derive(Clone, Debug, Default)]
struct Pending {
    events: Vec<FtraceEvent>,
    lost: bool,
}

/// Writes packet by packet.
pub struct PerfettoWriter<W: Write> {
    out: W,
    pending: Vec<Pending>,
    buffer: Vec<u8>,
}

impl<W: Write> PerfettoWriter<W> {
    /// Writes what describes the machine. `kernel` is `uname`'s text.
    pub fn new(out: W, kernel: Option<&str>, cpus: u32) -> io::Result<Self> {
        let mut writer =
            PerfettoWriter { out, pending: vec![Pending::default(); cpus as usize], buffer: Vec::new() };
        let utsname = Utsname {
            sysname: Some("Linux".into()),
            version: kernel.map(str::to_owned),
            release: Some(release(kernel)),
        };
        let info = SystemInfo { utsname: Some(utsname), num_cpus: Some(cpus) };
        writer.packet(None, EVENT_SEQUENCE, Some(STATE_CLEARED), Data::SystemInfo(info))?;
        Ok(writer)
    }

    /// Writes the names of threads, and to which processes they belong where that is known.
    pub fn threads(&mut self, threads: &BTreeMap<Pid, Thread>, strings: &Strings) -> io::Result<()> {
        let mut tree = ProcessTree { processes: Vec::new(), threads: Vec::new() };
        for (pid, thread) in threads {
            let Some(tgid) = thread.tgid else { continue };
            let name = strings[thread.comm].to_owned();
            if tgid == *pid {
                tree.processes.push(Process { pid: Some(pid.0), cmdline: vec![name.clone()] });
            }
            tree.threads.push(ThreadMessage { tid: Some(pid.0), name: Some(name), tgid: Some(tgid.0) });
        }
        if tree.threads.is_empty() {
            return Ok(());
        }
        self.packet(None, EVENT_SEQUENCE, None, Data::ProcessTree(tree))
    }

    /// Takes an event whose ids are of `strings`. Events of a CPU must come in order of time.
    pub fn event(&mut self, event: &Event, strings: &Strings) -> io::Result<()> {
        let pid = u32::try_from(event.pid.0).ok();
        let message = FtraceEvent {
            timestamp: Some(event.time_ns),
            pid,
            event: Some(ftrace_event(&event.kind, strings)),
        };
        let pending = self.pending(event.cpu);
        pending.events.push(message);
        if pending.events.len() >= BUNDLE {
            self.flush_cpu(event.cpu)?;
        }
        Ok(())
    }

    /// Events of this CPU are missing before its next one.
    pub fn gap(&mut self, cpu: Cpu) -> io::Result<()> {
        self.flush_cpu(cpu)?;
        self.pending(cpu).lost = true;
        Ok(())
    }

    /// Writes annotations; any number of times, but the numbering of tracks begins anew each time.
    pub fn annotations(
        &mut self,
        annotations: &Annotations,
        threads: &BTreeMap<Pid, Thread>,
    ) -> io::Result<PerfettoReport> {
        for (n, track) in annotations.tracks.iter().enumerate() {
            let descriptor = Data::TrackDescriptor(track_descriptor(n, track, threads));
            self.packet(None, ANNOTATION_SEQUENCE, (n == 0).then_some(STATE_CLEARED), descriptor)?;
        }
        let mut report = PerfettoReport::default();
        let mut events = slice_events(annotations, &mut report);
        for instant in &annotations.instants {
            let event = TrackEvent { name: Some(instant.name.clone()), ..track_event(instant.track, 3) };
            let event = TrackEvent { debug_annotations: debug_annotations(&instant.details), ..event };
            events.push(TimedEvent { at_ns: instant.at_ns, event });
        }
        for value in &annotations.values {
            let event = TrackEvent { counter_value: Some(value.value), ..track_event(value.track, 4) };
            events.push(TimedEvent { at_ns: value.at_ns, event });
        }
        events.sort_by_key(|event| event.at_ns);
        for TimedEvent { at_ns, event } in events {
            self.packet(Some(at_ns), ANNOTATION_SEQUENCE, None, Data::TrackEvent(event))?;
        }
        Ok(report)
    }

    /// Writes what is pending and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        for cpu in 0..self.pending.len() {
            self.flush_cpu(Cpu(cpu as u32))?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn pending(&mut self, cpu: Cpu) -> &mut Pending {
        if self.pending.len() <= cpu.index() {
            self.pending.resize(cpu.index() + 1, Pending::default());
        }
        &mut self.pending[cpu.index()]
    }

    fn flush_cpu(&mut self, cpu: Cpu) -> io::Result<()> {
        let Pending { events, lost } = std::mem::take(self.pending(cpu));
        if events.is_empty() {
            self.pending(cpu).lost = lost;
            return Ok(());
        }
        let bundle = FtraceEventBundle { cpu: Some(cpu.0), event: events, lost_events: lost.then_some(true) };
        self.packet(None, EVENT_SEQUENCE, None, Data::FtraceEvents(bundle))
    }

    fn packet(
        &mut self,
        timestamp: Option<u64>,
        sequence: u32,
        sequence_flags: Option<u32>,
        data: Data,
    ) -> io::Result<()> {
        let packet = TracePacket {
            timestamp,
            trusted_packet_sequence_id: Some(sequence),
            sequence_flags,
            data: Some(data),
        };
        self.buffer.clear();
        message::encode(1, &packet, &mut self.buffer);
        self.out.write_all(&self.buffer)
    }
}

/// A track event and its time.
struct TimedEvent {
    at_ns: u64,
    event: TrackEvent,
}

fn track_event(track: usize, kind: i32) -> TrackEvent {
    TrackEvent { r#type: Some(kind), track_uuid: Some(FIRST_UUID + track as u64), ..TrackEvent::default() }
}

fn debug_annotations(details: &[Detail]) -> Vec<DebugAnnotation> {
    let message = |detail: &Detail| DebugAnnotation {
        name: Some(detail.name.clone()),
        string_value: Some(detail.value.clone()),
    };
    details.iter().map(message).collect()
}

fn track_descriptor(n: usize, track: &Track, threads: &BTreeMap<Pid, Thread>) -> TrackDescriptor {
    let mut descriptor = TrackDescriptor {
        uuid: Some(FIRST_UUID + n as u64),
        name: Some(track.name.clone()).filter(|name| !name.is_empty()),
        parent_uuid: track.parent.map(|parent| FIRST_UUID + parent as u64),
        ..TrackDescriptor::default()
    };
    match &track.kind {
        TrackKind::Named => {}
        TrackKind::Task(tid) => {
            let pid = threads.get(tid).and_then(|thread| thread.tgid).unwrap_or(*tid);
            descriptor.thread = Some(ThreadDescriptor { pid: Some(pid.0), tid: Some(tid.0.into()) });
        }
        TrackKind::Counter { unit } => {
            descriptor.counter = Some(CounterDescriptor { unit_name: Some(unit.clone()) })
        }
    }
    descriptor
}

/// Begins and ends of slices, so that those of one track nest.
fn slice_events(annotations: &Annotations, report: &mut PerfettoReport) -> Vec<TimedEvent> {
    let mut slices: Vec<&Slice> = annotations.slices.iter().collect();
    slices.sort_by_key(|slice| (slice.track, slice.start_ns, std::cmp::Reverse(slice.end_ns)));
    let mut events = Vec::with_capacity(2 * slices.len());
    for of_track in slices.chunk_by(|a, b| a.track == b.track) {
        let mut open: Vec<u64> = Vec::new();
        let track = of_track[0].track;
        let end = |at_ns| TimedEvent { at_ns, event: track_event(track, 2) };
        for slice in of_track {
            while let Some(end_ns) = open.pop_if(|end_ns| *end_ns <= slice.start_ns) {
                events.push(end(end_ns));
            }
            let most = open.last().copied().unwrap_or(u64::MAX);
            report.cut_slices += u64::from(slice.end_ns > most);
            let event = TrackEvent { name: Some(slice.name.clone()), ..track_event(track, 1) };
            let event = TrackEvent { debug_annotations: debug_annotations(&slice.details), ..event };
            events.push(TimedEvent { at_ns: slice.start_ns, event });
            open.push(slice.end_ns.min(most));
        }
        events.extend(open.into_iter().rev().map(end));
    }
    events
}

/// A kernel's version as far as the viewer cares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct KernelVersion {
    major: u32,
    minor: u32,
}

/// The release to write. The viewer decodes task states by it, and we always write the bits of kernels since 4.14; a trace
/// of an older kernel, or of an unknown one, is therefore labelled as 6.1 (its `uname` stands in the version).
fn release(kernel: Option<&str>) -> String {
    let words = kernel.unwrap_or_default().split(' ');
    let release = words.clone().find(|word| version(word).is_some());
    match release.filter(|word| version(word) >= Some(STATE_BITS_KERNEL)) {
        Some(word) => word.to_owned(),
        None => "6.1.0".to_owned(),
    }
}

/// `6.18` of `6.18.44-fc`.
fn version(word: &str) -> Option<KernelVersion> {
    let mut numbers = word.split(|c: char| !c.is_ascii_digit());
    let (major, minor) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    word.contains('.').then_some(KernelVersion { major, minor })
}

fn wakeup(w: &model::SchedWakeup, strings: &Strings) -> SchedWakeup {
    SchedWakeup {
        comm: Some(strings[w.task.comm].to_owned()),
        pid: Some(w.task.pid.0),
        prio: Some(w.task.prio),
        success: Some(1),
        target_cpu: Some(w.target_cpu.0 as i32),
    }
}

fn ftrace_event(kind: &EventKind, strings: &Strings) -> Ftrace {
    let comm = |id| Some(strings[id].to_owned());
    match kind {
        EventKind::SchedSwitch(s) => Ftrace::SchedSwitch(SchedSwitch {
            prev_comm: comm(s.prev.comm),
            prev_pid: Some(s.prev.pid.0),
            prev_prio: Some(s.prev.prio),
            prev_state: Some(s.prev_state.bits()),
            next_comm: comm(s.next.comm),
            next_pid: Some(s.next.pid.0),
            next_prio: Some(s.next.prio),
        }),
        EventKind::SchedWaking(w) => Ftrace::SchedWaking(wakeup(w, strings)),
        EventKind::SchedWakeup(w) => Ftrace::SchedWakeup(wakeup(w, strings)),
        EventKind::SchedWakeupNew(w) => Ftrace::SchedWakeupNew(wakeup(w, strings)),
        EventKind::SchedMigrateTask(m) => Ftrace::SchedMigrateTask(SchedMigrateTask {
            comm: comm(m.task.comm),
            pid: Some(m.task.pid.0),
            prio: Some(m.task.prio),
            orig_cpu: Some(m.orig_cpu.0 as i32),
            dest_cpu: Some(m.dest_cpu.0 as i32),
        }),
        EventKind::SchedProcessFork(f) => Ftrace::SchedProcessFork(SchedProcessFork {
            parent_comm: comm(f.parent_comm),
            parent_pid: Some(f.parent_pid.0),
            child_comm: comm(f.child_comm),
            child_pid: Some(f.child_pid.0),
        }),
        EventKind::SchedProcessExec(e) => Ftrace::SchedProcessExec(SchedProcessExec {
            filename: comm(e.filename),
            pid: Some(e.pid.0),
            old_pid: Some(e.old_pid.0),
        }),
        EventKind::SchedProcessExit(t) => Ftrace::SchedProcessExit(SchedProcessExit {
            comm: comm(t.comm),
            pid: Some(t.pid.0),
            tgid: None,
            prio: Some(t.prio),
        }),
        EventKind::SchedPiSetprio(p) => Ftrace::SchedPiSetprio(SchedPiSetprio {
            comm: comm(p.comm),
            newprio: Some(p.newprio),
            oldprio: Some(p.oldprio),
            pid: Some(p.pid.0),
        }),
        EventKind::SchedStatRuntime(r) => {
            let field = |name: &str, value| GenericField { name: Some(name.to_owned()), value: Some(value) };
            let mut fields = vec![
                field("comm", GenericValue::Str(strings[r.comm].to_owned())),
                field("pid", GenericValue::Int(r.pid.0.into())),
                field("runtime", GenericValue::Uint(r.runtime_ns)),
            ];
            fields.extend(r.vruntime_ns.map(|ns| field("vruntime", GenericValue::Uint(ns))));
            Ftrace::Generic(Generic { event_name: Some(kind.name().to_owned()), field: fields })
        }
        EventKind::Marker(text) => Ftrace::Print(Print { buf: Some(marker(&strings[*text])) }),
    }
}

/// The viewer takes printed text for atrace's commands and counts everything else as a failure. A marker that is no such
/// command becomes the command for an instant with that name; process 0 leaves open to which process the task belongs.
fn marker(text: &str) -> String {
    let mut chars = text.chars();
    let command = matches!(chars.next(), Some('B' | 'E' | 'C' | 'S' | 'F' | 'G' | 'H' | 'I' | 'N'));
    let is_atrace = command && matches!(chars.next(), None | Some('|'));
    if is_atrace { text.to_owned() } else { format!("I|0|{text}") }
}
