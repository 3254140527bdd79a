//! Writes Perfetto's protobuf, as its own recorders would: Linux events as ftrace bundles of a CPU each, from
//! which the viewer derives scheduling slices, thread states and wakers by itself; annotations as track
//! events.

use std::collections::BTreeMap;
use std::io::{self, Write};

use prost::encoding::message;

use super::annotations::{Annotations, Details, Instant, Slice, Track, TrackKind, Value};
use super::common_flags;
use super::ftrace_event::ftrace_event;
use super::proto::{
    CounterDescriptor, Data, DebugAnnotation, FtraceEvent, FtraceEventBundle, Process, ProcessTree,
    SystemInfo, Thread as ThreadMessage, ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent, Utsname,
};
use crate::model::{Cpu, Event, Pid, Thread, Trace};
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
            common_flags: common_flags(event).map(u32::from),
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
        let mut marks = slice_marks(annotations, &mut report);
        marks.extend(annotations.instants.iter().map(|i| Mark { at_ns: i.at_ns, what: What::Instant(i) }));
        marks.extend(annotations.values.iter().map(|v| Mark { at_ns: v.at_ns, what: What::Value(v) }));
        marks.sort_by_key(|mark| mark.at_ns);
        for Mark { at_ns, what } in marks {
            let event = Data::TrackEvent(what.event(annotations));
            self.packet(Some(at_ns), ANNOTATION_SEQUENCE, None, event)?;
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

fn track_event(track: usize, kind: i32) -> TrackEvent {
    TrackEvent { r#type: Some(kind), track_uuid: Some(FIRST_UUID + track as u64), ..TrackEvent::default() }
}

/// Where an event of a track begins, ends or is. There are millions, so each becomes a message only when it
/// is written.
struct Mark<'a> {
    at_ns: u64,
    what: What<'a>,
}

enum What<'a> {
    Begin(&'a Slice),
    End { track: usize },
    Instant(&'a Instant),
    Value(&'a Value),
}

impl What<'_> {
    fn event(&self, annotations: &Annotations) -> TrackEvent {
        let named = |track, kind, name, details: Details| TrackEvent {
            name: Some(annotations.strings[name].to_owned()),
            debug_annotations: debug_annotations(annotations, details),
            ..track_event(track, kind)
        };
        match *self {
            What::Begin(slice) => named(slice.track, 1, slice.name, slice.details),
            What::End { track } => track_event(track, 2),
            What::Instant(instant) => named(instant.track, 3, instant.name, instant.details),
            What::Value(value) => {
                TrackEvent { counter_value: Some(value.value), ..track_event(value.track, 4) }
            }
        }
    }
}

fn debug_annotations(annotations: &Annotations, details: Details) -> Vec<DebugAnnotation> {
    let details = annotations.details(details).map(|detail| DebugAnnotation {
        name: Some(detail.name.to_owned()),
        string_value: Some(detail.value.to_owned()),
    });
    details.collect()
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
fn slice_marks<'a>(annotations: &'a Annotations, report: &mut PerfettoReport) -> Vec<Mark<'a>> {
    let mut slices: Vec<&Slice> = annotations.slices.iter().collect();
    slices.sort_by_key(|slice| (slice.track, slice.start_ns, std::cmp::Reverse(slice.end_ns)));
    let mut marks = Vec::with_capacity(2 * slices.len());
    for of_track in slices.chunk_by(|a, b| a.track == b.track) {
        let mut open: Vec<u64> = Vec::new();
        let track = of_track[0].track;
        let end = |at_ns| Mark { at_ns, what: What::End { track } };
        for slice in of_track {
            while let Some(end_ns) = open.pop_if(|end_ns| *end_ns <= slice.start_ns) {
                marks.push(end(end_ns));
            }
            let most = open.last().copied().unwrap_or(u64::MAX);
            report.cut_slices += u64::from(slice.end_ns > most);
            marks.push(Mark { at_ns: slice.start_ns, what: What::Begin(slice) });
            open.push(slice.end_ns.min(most));
        }
        marks.extend(open.into_iter().rev().map(end));
    }
    marks
}

/// A kernel's version as far as the viewer cares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct KernelVersion {
    major: u32,
    minor: u32,
}

/// The release to write. The viewer decodes task states by it, and we always write the bits of kernels since
/// 4.14; a trace of an older kernel, or of an unknown one, is therefore labelled as 6.1 (its `uname` stands
/// in the version).
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

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::read;
    use crate::write::proto::Ftrace;

    #[derive(Clone, PartialEq, Message)]
    struct TraceFile {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<TracePacket>,
    }

    fn written(text: &str, annotations: &Annotations) -> (Vec<TracePacket>, PerfettoReport) {
        let trace = read(text.as_bytes()).expect("a trace");
        let mut out = Vec::new();
        let report = write_perfetto(&trace, annotations, &mut out).expect("memory takes everything");
        (TraceFile::decode(&*out).expect("our own message").packet, report)
    }

    const SWITCH: &str = "\
        a-7 (      5) [001] d... 0.000002: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=R+ ==> \
        next_comm=b next_pid=8 next_prio=97\n";

    #[test]
    fn events_go_into_bundles_of_their_cpu() {
        let more = "b-8 (      5) [000] d... 0.000001: tracing_mark_write: hello\n\
                    CPU:1 [LOST 3 EVENTS]\n\
                    b-8 (      5) [001] d... 0.000003: sched_stat_runtime: comm=b pid=8 runtime=9 [ns]\n";
        let (packets, _) = written(&format!("{SWITCH}{more}"), &Annotations::new());
        let mut bundles = Vec::new();
        for packet in packets {
            if let Some(Data::FtraceEvents(bundle)) = packet.data {
                bundles.push(bundle);
            }
        }
        let shape: Vec<_> = bundles.iter().map(|b| (b.cpu, b.lost_events, b.event.len())).collect();
        assert_eq!(shape, [(Some(1), None, 1), (Some(0), None, 1), (Some(1), Some(true), 1)]);
        let Some(Ftrace::SchedSwitch(switch)) = &bundles[0].event[0].event else { panic!("a switch") };
        assert_eq!((switch.prev_state, switch.next_prio, switch.next_pid), (Some(0x100), Some(97), Some(8)));
        assert_eq!((bundles[0].event[0].timestamp, bundles[0].event[0].pid), (Some(2000), Some(7)));
        let Some(Ftrace::Print(print)) = &bundles[1].event[0].event else { panic!("a marker") };
        assert_eq!(print.buf.as_deref(), Some("I|0|hello"));
        let Some(Ftrace::Generic(runtime)) = &bundles[2].event[0].event else { panic!("a generic event") };
        assert_eq!((runtime.event_name.as_deref(), runtime.field.len()), (Some("sched_stat_runtime"), 3));
    }

    #[test]
    fn slices_of_a_track_nest_or_are_cut() {
        let mut annotations = Annotations::new();
        let group = annotations.track("schedlab", None);
        let track = annotations.track("decisions", Some(group));
        annotations.slice(track, 10, 20, "outer", &[("why", "because")]);
        annotations.slice(track, 12, 12, "point", &[]);
        annotations.slice(track, 15, 25, "too long", &[]);
        annotations.slice(track, 20, 22, "next", &[]);
        annotations.instant(track, 11, "here", &[]);
        let depth = annotations.counter("depth", "tasks", None);
        annotations.value(depth, 5, -3);
        let (packets, report) = written(SWITCH, &annotations);
        assert_eq!(report.cut_slices, 1);
        let mut events = Vec::new();
        let mut parents = Vec::new();
        for packet in &packets {
            match &packet.data {
                Some(Data::TrackEvent(event)) => {
                    let name = event.name.as_deref().unwrap_or_default();
                    events.push((
                        packet.timestamp.unwrap_or_default(),
                        event.r#type.unwrap_or_default(),
                        name,
                    ));
                }
                Some(Data::TrackDescriptor(track)) => parents.push((track.uuid, track.parent_uuid)),
                _ => {}
            }
        }
        let expected = [
            (5, 4, ""),
            (10, 1, "outer"),
            (11, 3, "here"),
            (12, 1, "point"),
            (12, 2, ""),
            (15, 1, "too long"),
            (20, 2, ""),
            (20, 2, ""),
            (20, 1, "next"),
            (22, 2, ""),
        ];
        assert_eq!(events, expected);
        let first = Some(FIRST_UUID);
        assert_eq!(parents, [(first, None), (Some(FIRST_UUID + 1), first), (Some(FIRST_UUID + 2), None)]);
    }

    #[test]
    fn known_processes_are_named() {
        let (packets, _) = written(SWITCH, &Annotations::new());
        let tree = packets.iter().find_map(|packet| match &packet.data {
            Some(Data::ProcessTree(tree)) => Some(tree.threads.clone()),
            _ => None,
        });
        let thread = ThreadMessage { tid: Some(7), name: Some("a".into()), tgid: Some(5) };
        assert_eq!(tree, Some(vec![thread]));
    }

    #[test]
    fn the_release_is_one_whose_state_bits_we_write() {
        assert_eq!(release(Some("Linux vm 6.18.44-fc-v657 x86_64")), "6.18.44-fc-v657");
        assert_eq!(release(Some("Linux vm 4.14.0 x86_64")), "4.14.0");
        assert_eq!(release(Some("Linux vm 4.4.0-rt x86_64")), "6.1.0");
        assert_eq!(release(Some("2.6.23-rt5")), "6.1.0");
        assert_eq!(release(None), "6.1.0");
    }
}
