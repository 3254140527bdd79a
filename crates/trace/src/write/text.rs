//! Writes the kernel's own text, as in the tracefs `trace` file.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::activity_text;
use crate::model::{
    Context, Cpu, Event, EventKind, Gap, NeedResched, Pid, SchedWakeup, TaskRef, Thread, Trace,
};
use crate::pidmap::PidMap;
use crate::strings::{StrId, Strings};

/// How many decimals times have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimePrecision {
    /// Nine: nothing is lost, and every reader that we know takes it.
    #[default]
    Nanoseconds,
    /// Six, as the kernel prints; times are cut, not rounded.
    Microseconds,
}

/// How to write text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextOptions {
    /// Decimals of times.
    pub precision: TimePrecision,
}

/// Writes a whole trace, header and lost-event lines included.
///
/// Line breaks inside names and markers become blanks. Counts of events that the trace does not hold
/// ([`ImportNotes`](crate::ImportNotes)) are not written.
pub fn write_ftrace_text(trace: &Trace, options: TextOptions, out: impl Write) -> io::Result<()> {
    let mut writer =
        TextWriter::new(out, options, trace.cpus, Some(trace.events.len() as u64), &trace.threads)?;
    let mut gaps = trace.meta.gaps.iter().peekable();
    for event in &trace.events {
        while let Some(gap) = gaps.next_if(|gap| gap.before_ns <= event.time_ns) {
            writer.gap(gap)?;
        }
        writer.event(event, &trace.strings)?;
    }
    writer.finish().map(drop)
}

/// Writes text event by event.
pub struct TextWriter<W: Write> {
    out: W,
    options: TextOptions,
    /// Latest name of each task.
    names: PidMap<StrId>,
    tgids: BTreeMap<Pid, Pid>,
    line: Vec<u8>,
}

const HEADER: &str = "\
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
";

const HEADER_WITH_TGID: &str = "\
#                                            _-----=> irqs-off/BH-disabled
#                                           / _----=> need-resched
#                                          | / _---=> hardirq/softirq
#                                          || / _--=> preempt-depth
#                                          ||| / _-=> migrate-disable
#                                          |||| /     delay
#           TASK-PID      TGID       CPU#  |||||  TIMESTAMP  FUNCTION
#              | |          |          |   |||||     |         |
";

impl<W: Write> TextWriter<W> {
    /// Writes the header. `events` is their number, where it is known in advance; `threads` gives names for
    /// tasks that no event has named yet, and processes for the process column, which is there if any process
    /// is known.
    pub fn new(
        mut out: W,
        options: TextOptions,
        cpus: u32,
        events: Option<u64>,
        threads: &BTreeMap<Pid, Thread>,
    ) -> io::Result<Self> {
        let mut names = PidMap::new();
        for (pid, thread) in threads {
            names.insert(*pid, thread.comm);
        }
        let tgids: BTreeMap<Pid, Pid> = threads.iter().filter_map(|(pid, t)| Some((*pid, t.tgid?))).collect();
        out.write_all(b"# tracer: nop\n#\n")?;
        if let Some(events) = events {
            writeln!(out, "# entries-in-buffer/entries-written: {events}/{events}   #P:{cpus}\n#")?;
        }
        out.write_all(if tgids.is_empty() { HEADER } else { HEADER_WITH_TGID }.as_bytes())?;
        Ok(TextWriter { out, options, names, tgids, line: Vec::new() })
    }

    /// Writes the line by which the kernel says that events are missing. It belongs before the next event of
    /// that CPU.
    pub fn gap(&mut self, gap: &Gap) -> io::Result<()> {
        match gap.events {
            Some(events) => writeln!(self.out, "CPU:{} [LOST {events} EVENTS]", gap.cpu),
            None => writeln!(self.out, "CPU:{} [LOST EVENTS]", gap.cpu),
        }
    }

    /// Writes an event whose ids are of `strings`.
    pub fn event(&mut self, event: &Event, strings: &Strings) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        self.columns(&mut line, event, strings)?;
        what(&mut line, &event.kind, strings)?;
        for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.line = line;
        self.learn(&event.kind);
        Ok(())
    }

    /// Flushes and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn columns(&self, line: &mut Vec<u8>, event: &Event, strings: &Strings) -> io::Result<()> {
        let name = match (event.pid, self.names.get(event.pid)) {
            (Pid::IDLE, _) => "<idle>",
            (_, Some(comm)) => &strings[comm],
            (_, None) => "<...>",
        };
        // A context that is not known is written as `<...>-0`, which the kernel never prints and our reader
        // takes back.
        let pid = event.pid.0.max(0);
        write!(line, "{name:>16}-{pid:<7} ")?;
        if !self.tgids.is_empty() {
            match self.tgids.get(&event.pid) {
                Some(tgid) => write!(line, "({:>7}) ", tgid.0)?,
                None => write!(line, "(-------) ")?,
            }
        }
        let (seconds, ns) = (event.time_ns / 1_000_000_000, event.time_ns % 1_000_000_000);
        let context = match event.context {
            Context::Unknown | Context::Task => '.',
            Context::Softirq => 's',
            Context::Hardirq => 'h',
        };
        let need_resched = match event.need_resched {
            NeedResched::Unknown | NeedResched::No => '.',
            NeedResched::Lazy => 'L',
            NeedResched::Yes => 'N',
        };
        write!(line, "[{:03}] .{need_resched}{context}.. {seconds:>5}.", event.cpu.0)?;
        match self.options.precision {
            TimePrecision::Nanoseconds => write!(line, "{ns:09}: "),
            TimePrecision::Microseconds => write!(line, "{:06}: ", ns / 1000),
        }
    }

    fn learn(&mut self, kind: &EventKind) {
        match kind {
            EventKind::SchedSwitch(switch) => {
                self.names.insert(switch.prev.pid, switch.prev.comm);
                self.names.insert(switch.next.pid, switch.next.comm);
            }
            EventKind::SchedWaking(SchedWakeup { task, .. })
            | EventKind::SchedWakeup(SchedWakeup { task, .. })
            | EventKind::SchedWakeupNew(SchedWakeup { task, .. })
            | EventKind::SchedProcessExit(task) => self.names.insert(task.pid, task.comm),
            EventKind::SchedProcessFork(fork) => self.names.insert(fork.child_pid, fork.child_comm),
            _ => {}
        }
    }
}

/// The event's name and fields.
fn what(line: &mut Vec<u8>, kind: &EventKind, strings: &Strings) -> io::Result<()> {
    if let EventKind::Activity(activity) = kind {
        return activity_text::write(line, activity, strings);
    }
    write!(line, "{}: ", kind.name())?;
    let comm = |id: StrId| &strings[id];
    match kind {
        EventKind::SchedSwitch(s) => write!(
            line,
            "prev_comm={} prev_pid={} prev_prio={} prev_state={} ==> next_comm={} next_pid={} next_prio={}",
            comm(s.prev.comm),
            s.prev.pid,
            s.prev.prio,
            s.prev_state,
            comm(s.next.comm),
            s.next.pid,
            s.next.prio
        ),
        EventKind::SchedWaking(w) | EventKind::SchedWakeup(w) | EventKind::SchedWakeupNew(w) => {
            task(line, &w.task, strings)?;
            write!(line, " target_cpu={:03}", w.target_cpu.0)
        }
        EventKind::SchedMigrateTask(m) => {
            task(line, &m.task, strings)?;
            let (Cpu(orig), Cpu(dest)) = (m.orig_cpu, m.dest_cpu);
            write!(line, " orig_cpu={orig} dest_cpu={dest}")
        }
        EventKind::SchedProcessFork(f) => write!(
            line,
            "comm={} pid={} child_comm={} child_pid={}",
            comm(f.parent_comm),
            f.parent_pid,
            comm(f.child_comm),
            f.child_pid
        ),
        EventKind::SchedProcessExec(e) => {
            write!(line, "filename={} pid={} old_pid={}", comm(e.filename), e.pid, e.old_pid)
        }
        EventKind::SchedProcessExit(exited) => task(line, exited, strings),
        EventKind::SchedPiSetprio(p) => {
            write!(line, "comm={} pid={} oldprio={} newprio={}", comm(p.comm), p.pid, p.oldprio, p.newprio)
        }
        EventKind::SchedStatRuntime(r) => {
            write!(line, "comm={} pid={} runtime={} [ns]", comm(r.comm), r.pid, r.runtime_ns)?;
            match r.vruntime {
                Some(vruntime) => write!(line, " vruntime={} [ns]", vruntime.get()),
                None => Ok(()),
            }
        }
        EventKind::Marker(text) => line.write_all(comm(*text).as_bytes()),
        EventKind::Activity(_) => Ok(()),
    }
}

fn task(line: &mut Vec<u8>, task: &TaskRef, strings: &Strings) -> io::Result<()> {
    write!(line, "comm={} pid={} prio={}", &strings[task.comm], task.pid, task.prio)
}
