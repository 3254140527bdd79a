//! Writes trace.dat, the file of trace-cmd and KernelShark.

mod activity;
mod container;
mod formats;
mod pages;
mod records;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

pub use container::{DatHeader, DatPages, DatSystem, write_dat_container};
use pages::{PAGE_SIZE, Pages};
use records::Records;

use crate::model::{EventKind, Pid, Trace};
use crate::strings::StrId;

/// What could not be written as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatReport {
    /// Markers and paths that did not fit into a page, 4 kB, and were cut.
    pub cut_texts: u64,
}

/// Writes a whole trace as trace.dat of version 6.
///
/// Names of tasks have 15 bytes at most, as on Linux: longer ones are cut. Which process a thread belongs to
/// has no place in such a file.
///
/// # Errors
/// Those of `out`.
pub fn write_trace_dat(trace: &Trace, out: impl Write) -> io::Result<DatReport> {
    let mut cpus = vec![Pages::default(); trace.cpus as usize];
    let mut records = Records::default();
    let mut gaps = trace.meta.gaps.iter().peekable();
    for event in &trace.events {
        while let Some(gap) = gaps.next_if(|gap| gap.before_ns <= event.time_ns) {
            cpus[gap.cpu.index()].gap(gap.events);
        }
        cpus[event.cpu.index()].push(event.time_ns, records.make(event, &trace.strings));
    }
    let mut systems =
        vec![DatSystem { name: "sched".to_owned(), formats: records::sched_formats(&trace.events) }];
    for system in records.activity.systems(&trace.strings) {
        match systems.iter_mut().find(|known| known.name == system.name) {
            Some(known) => known.formats.extend(system.formats),
            None => systems.push(system),
        }
    }
    let header = DatHeader {
        header_page: formats::HEADER_PAGE.to_owned(),
        header_event: formats::HEADER_EVENT.to_owned(),
        ftrace_formats: vec![formats::PRINT.text()],
        systems,
        symbols: formats::SYMBOLS.to_owned() + &records.activity.symbols(&trace.strings),
        printk_formats: String::new(),
        cmdlines: cmdlines(trace),
        page_size: PAGE_SIZE as u32,
        clock: format!("[{}]", trace.meta.clock.as_deref().unwrap_or("local")),
        uname: trace.meta.kernel.clone(),
        tool: trace.meta.tool.clone(),
        cpu_stats: Vec::new(),
    };
    let pages: Vec<Vec<u8>> = cpus.into_iter().map(Pages::finish).collect();
    let cpus = pages.iter().map(|pages| DatPages { len: pages.len() as u64, pages: &pages[..] }).collect();
    write_dat_container(&header, cpus, out)?;
    Ok(DatReport { cut_texts: records.cut_texts })
}

/// A line for each task: as the file names it, or by the last event that does.
fn cmdlines(trace: &Trace) -> String {
    let mut names: BTreeMap<Pid, StrId> = BTreeMap::new();
    for event in &trace.events {
        match &event.kind {
            EventKind::SchedSwitch(s) => {
                names.insert(s.prev.pid, s.prev.comm);
                names.insert(s.next.pid, s.next.comm);
            }
            EventKind::SchedWakeup(w) | EventKind::SchedWakeupNew(w) => {
                names.insert(w.task.pid, w.task.comm);
            }
            EventKind::SchedProcessFork(f) => {
                names.insert(f.child_pid, f.child_comm);
            }
            _ => {}
        }
    }
    names.extend(trace.threads.iter().map(|(pid, thread)| (*pid, thread.comm)));
    // The idle tasks are known to every reader.
    names.remove(&Pid::IDLE);
    let mut lines = String::new();
    for (pid, comm) in names {
        // Writing into a text cannot fail.
        let _ = writeln!(lines, "{pid} {}", trace.strings[comm].replace('\n', " "));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Context, Cpu, Event, Format, Gap, NeedResched, SchedProcessExec, SchedStatRuntime, VirtualNanos,
    };
    use crate::{TraceBuilder, read};

    fn written(trace: &Trace) -> (Vec<u8>, DatReport) {
        let mut bytes = Vec::new();
        let report = write_trace_dat(trace, &mut bytes).expect("memory takes everything");
        (bytes, report)
    }

    /// A switch, so that the trace is one, and what `fill` adds.
    fn built(fill: impl FnOnce(&mut TraceBuilder)) -> Trace {
        let text = b"a-7 [000] d... 0.000000: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 \
            prev_state=R+ ==> next_comm=b next_pid=8 next_prio=97\n";
        let trace = read(text).expect("a trace");
        let mut builder = TraceBuilder::new(2);
        builder.strings = trace.strings;
        trace.events.into_iter().for_each(|event| builder.push(event));
        fill(&mut builder);
        builder.finish()
    }

    fn event(time_ns: u64, kind: EventKind) -> Event {
        let (context, need_resched) = (Context::Hardirq, NeedResched::Yes);
        Event { time_ns, cpu: Cpu(1), pid: Pid(7), context, need_resched, kind }
    }

    #[test]
    fn events_of_all_lengths_and_distances_come_back() {
        let trace = built(|builder| {
            let mut time_ns = 5;
            for n in 0..600usize {
                time_ns += [0, 1, (1 << 27) - 1, 1 << 27, 10_000_000_000][n * 7 % 5];
                let text =
                    format!("{n}{}", "x".repeat([1, 80, 90, 91, 92, 93, 94, 95, 96, 300, 3000][n % 11]));
                let id = builder.strings.intern(&text);
                builder.push(event(time_ns, EventKind::Marker(id)));
                let exec = SchedProcessExec { filename: id, pid: Pid(7), old_pid: Pid(9) };
                builder.push(event(time_ns, EventKind::SchedProcessExec(exec)));
            }
        });
        let (bytes, report) = written(&trace);
        let back = read(&bytes).expect("our own file");
        assert_eq!((report.cut_texts, back.cpus, back.meta.format), (0, 2, Format::TraceDat { version: 6 }));
        assert_eq!(back.notes.worst(), trace.notes.worst(), "{}", back.notes);
        let text = |trace: &Trace, event: &Event| match &event.kind {
            EventKind::Marker(id) => trace.strings[*id].to_owned(),
            EventKind::SchedProcessExec(e) => {
                format!("{} {} {}", &trace.strings[e.filename], e.pid, e.old_pid)
            }
            other => format!("{other:?}"),
        };
        assert_eq!(trace.events.len(), back.events.len());
        for (a, b) in trace.events.iter().zip(&back.events) {
            assert_eq!((a.time_ns, a.cpu, a.pid, a.context), (b.time_ns, b.cpu, b.pid, b.context));
            assert!(a.need_resched == b.need_resched || a.need_resched == NeedResched::Unknown);
            assert_eq!(text(&trace, a), text(&back, b));
        }
    }

    #[test]
    fn gaps_come_back_with_their_counts_even_before_a_page_filling_marker() {
        let trace = built(|builder| {
            let long = builder.strings.intern(&"é".repeat(5000));
            let short = builder.strings.intern("x");
            for (n, events) in [(1u64, Some(42)), (2, None)] {
                builder.meta.gaps.push(Gap { cpu: Cpu(1), before_ns: 10 * n, events });
                builder.push(event(10 * n, EventKind::Marker(long)));
                builder.push(event(10 * n + 1, EventKind::Marker(short)));
            }
        });
        let (bytes, report) = written(&trace);
        let back = read(&bytes).expect("our own file");
        assert_eq!(report.cut_texts, 2);
        assert_eq!(back.meta.gaps, trace.meta.gaps);
        assert_eq!(back.events.len(), 5);
    }

    #[test]
    fn run_time_is_written_with_and_without_virtual_time() {
        for vruntime in [None, Some(VirtualNanos::new(7))] {
            let trace = built(|builder| {
                let comm = builder.strings.intern("a name that is too long for Linux");
                let kind = SchedStatRuntime { comm, pid: Pid(7), runtime_ns: 1 << 40, vruntime };
                builder.push(event(3, EventKind::SchedStatRuntime(kind)));
            });
            let back = read(&written(&trace).0).expect("our own file");
            let EventKind::SchedStatRuntime(r) = back.events[1].kind else { panic!("run time") };
            assert_eq!((r.runtime_ns, r.vruntime), (1 << 40, vruntime));
            assert_eq!(&back.strings[r.comm], "a name that is ");
        }
    }
}
