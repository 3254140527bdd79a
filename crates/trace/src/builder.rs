//! Collects events in any order and makes a [`Trace`] of them. Readers and simulators both end here, so that
//! every trace keeps the same promises: events by time, CPU numbers in range, no negative ids, breaks noted.

mod describe;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::clock::{self, MAX_DISORDER_NS, Silences, Span};
use crate::events::Events;
use crate::facts::{IdleKind, TaskFacts, TaskNote};
use crate::host::{Host, HostNote};
use crate::model::{
    Cpu, Event, EventKind, Format, Gap, MAX_CPUS, Meta, Pid, SchedWakeup, TaskRef, Thread, Trace,
};
use crate::notes::{ImportNotes, NoteKind, Position};
use crate::strings::{StrId, Strings};
use describe::describe;

/// A trace in the making.
#[derive(Clone, Debug)]
pub struct TraceBuilder {
    /// Names and texts for the events to come.
    pub strings: Strings,
    /// Origin, clock, gaps; [`finish`](Self::finish) puts the gaps in order.
    pub meta: Meta,
    /// Trouble so far.
    pub notes: ImportNotes,
    /// By the CPU on which they happened.
    events: Vec<CpuEvents>,
    threads: BTreeMap<Pid, Thread>,
    facts: BTreeMap<Pid, TaskFacts>,
    /// When a recorder of ours said something of each task.
    noted: BTreeMap<Pid, Noted>,
    idle: Option<IdleKind>,
    host: Host,
    cpus: u32,
    /// The CPU number that a header gave; 0 for none.
    declared_cpus: u32,
}

/// When a recorder of ours said something of a task: for the first time, and what has been taken.
#[derive(Clone, Copy, Debug)]
struct Noted {
    first_ns: u64,
    taken_ns: u64,
}

/// The events of one CPU in recorded order.
#[derive(Clone, Debug, Default)]
struct CpuEvents {
    events: Events,
    /// Latest time seen, ns.
    last_ns: u64,
    /// Time went back.
    unsorted: bool,
    /// By more than disorder explains.
    jumped: bool,
}

impl TraceBuilder {
    /// An empty trace of a machine with `cpus` CPUs. With 0 the events decide; above [`MAX_CPUS`] counts as
    /// that.
    pub fn new(cpus: u32) -> Self {
        let meta = Meta {
            format: Format::Built,
            kernel: None,
            clock: None,
            tool: None,
            resolution_ns: 1,
            gaps: Vec::new(),
        };
        let mut builder = TraceBuilder {
            strings: Strings::new(),
            meta,
            notes: ImportNotes::new(),
            events: Vec::new(),
            threads: BTreeMap::new(),
            facts: BTreeMap::new(),
            noted: BTreeMap::new(),
            idle: None,
            host: Host::default(),
            cpus: 0,
            declared_cpus: 0,
        };
        builder.declare_cpus(cpus);
        builder
    }

    /// A header says how many CPUs the machine has.
    pub(crate) fn declare_cpus(&mut self, cpus: u32) {
        self.declared_cpus = self.declared_cpus.max(cpus.min(MAX_CPUS));
        self.cpus = self.cpus.max(self.declared_cpus);
    }

    /// Names a thread that events may or may not mention. The first name given stays.
    pub fn thread(&mut self, pid: Pid, comm: StrId, tgid: Option<Pid>) {
        let thread = self.threads.entry(pid).or_insert(Thread { comm, tgid });
        thread.tgid = thread.tgid.or(tgid);
    }

    /// Adds an event. Events may come in any order; those of one CPU and time keep the order in which they
    /// come. An event with an impossible CPU or a negative task id is counted and dropped.
    pub fn push(&mut self, event: Event) {
        self.push_at(event, Position::Time(event.time_ns));
    }

    /// As [`push`](Self::push), for an event from a known place.
    pub(crate) fn push_at(&mut self, event: Event, at: Position) {
        if let EventKind::Marker(text) = event.kind {
            if let Some(note) = TaskNote::parse(&self.strings[text]) {
                return self.note(note, event.time_ns);
            }
            if let Some(idle) = IdleKind::parse(&self.strings[text]) {
                return self.idle = Some(idle);
            }
            if let Some(note) = HostNote::parse(&self.strings[text]) {
                return self.host.take(note);
            }
        }
        if lowest_pid(&event.kind) < Pid(0) {
            return self.notes.add(NoteKind::NegativePid, at);
        }
        let cpu = event.cpu.max(highest_cpu(&event.kind).unwrap_or(Cpu(0)));
        if cpu.0 >= MAX_CPUS {
            return self.notes.add_detailed(NoteKind::CpuOutOfRange, at, || format!("CPU {cpu}"));
        }
        if cpu.0 >= self.cpus {
            if self.declared_cpus > 0 {
                self.notes.add(NoteKind::CpuBeyondHeader, at);
            }
            self.cpus = cpu.0 + 1;
        }
        if event.cpu.index() >= self.events.len() {
            self.events.resize(self.cpus as usize, CpuEvents::default());
        }
        let list = &mut self.events[event.cpu.index()];
        let back = list.last_ns.saturating_sub(event.time_ns);
        list.unsorted |= back > 0;
        if back > MAX_DISORDER_NS {
            list.jumped = true;
        } else if back > 0 {
            self.notes
                .add_detailed(NoteKind::ClockWentBack, at, || format!("by {back} ns on CPU {}", event.cpu));
        }
        if back == 0 || back > MAX_DISORDER_NS {
            list.last_ns = event.time_ns;
        }
        list.events.push(event);
    }

    /// Takes in what a recorder of ours knew about a task. The first that it says stays: later it may be
    /// another task, or what it did itself. Only in its first moments, in which `taskset` and `chrt` prepare
    /// what they then run, the last counts. CPUs' notes come one CPU after the other.
    fn note(&mut self, note: TaskNote, time_ns: u64) {
        const SETTLING_NS: u64 = 250_000_000;
        let TaskNote { pid, comm, facts } = note;
        let comm = self.strings.intern(&comm);
        self.thread(pid, comm, Some(facts.tgid));
        let Some(noted) = self.noted.get_mut(&pid) else {
            self.noted.insert(pid, Noted { first_ns: time_ns, taken_ns: time_ns });
            self.facts.insert(pid, facts);
            return;
        };
        noted.first_ns = noted.first_ns.min(time_ns);
        let last_ns = noted.first_ns.saturating_add(SETTLING_NS);
        // Better than what has been taken: later, but not too late; or that was too late itself.
        if time_ns <= last_ns && (time_ns >= noted.taken_ns || noted.taken_ns > last_ns) {
            noted.taken_ns = time_ns;
            self.facts.insert(pid, facts);
        }
    }

    /// Latest time of an event on `cpu`, ns; 0 if it has none yet.
    pub(crate) fn last_ns(&self, cpu: Cpu) -> u64 {
        self.events.get(cpu.index()).map_or(0, |list| list.last_ns)
    }

    /// Counts events that `cpu`'s buffer lost before time `before_ns`; `None` where their number is not
    /// known.
    pub(crate) fn lost(&mut self, cpu: Cpu, before_ns: u64, events: Option<u64>, at: Position) {
        if cpu.0 < MAX_CPUS {
            self.notes.add_many(NoteKind::LostEvents, events.unwrap_or(1), at);
            self.meta.gaps.push(Gap { cpu, before_ns, events });
        }
    }

    /// The trace of everything added so far, without what has an impossible time: for recordings, in which a
    /// bit may be wrong.
    pub(crate) fn finish_recording(mut self) -> Trace {
        if self.events.iter().any(|list| list.jumped) {
            self.leave_out_misplaced();
        }
        let mut trace = self.merged();
        leave_out_beyond_silence(&mut trace);
        describe(&mut trace);
        trace
    }

    /// Where a CPU's clock goes back by much, something was shifted. What lies within the time of the rest is
    /// put in order, as if pieces of the file had changed places; what does not is left out.
    fn leave_out_misplaced(&mut self) {
        let misplaced: Vec<_> = self
            .events
            .iter()
            .map(|list| if list.jumped { clock::misplaced(&list.events) } else { Vec::new() })
            .collect();
        let lists = self.events.iter().zip(&misplaced);
        let Some(span) =
            Span::of(lists.flat_map(|(list, misplaced)| clock::without(&list.events, misplaced)))
        else {
            return;
        };
        for (n, (list, misplaced)) in self.events.iter_mut().zip(misplaced).enumerate() {
            if misplaced.is_empty() {
                continue;
            }
            let cpu = Cpu(n as u32);
            let mut misplaced = misplaced.iter().peekable();
            // Left out since the last event that stays.
            let mut missing = 0;
            for (n, event) in std::mem::take(&mut list.events).into_iter().enumerate() {
                while misplaced.next_if(|range| range.end <= n).is_some() {}
                let at = Position::Time(event.time_ns);
                if misplaced.peek().is_some_and(|range| range.contains(&n)) {
                    let detail = || format!("on CPU {cpu}");
                    if !span.reaches(event.time_ns) {
                        missing += 1;
                        self.notes.add_detailed(NoteKind::ClockJumped, at, detail);
                        continue;
                    }
                    self.notes.add_detailed(NoteKind::ClockWentBack, at, detail);
                } else if missing > 0 {
                    self.meta.gaps.push(Gap { cpu, before_ns: event.time_ns, events: Some(missing) });
                    missing = 0;
                }
                list.events.push(event);
            }
        }
    }

    /// The trace of everything added so far.
    pub fn finish(self) -> Trace {
        let mut trace = self.merged();
        describe(&mut trace);
        trace
    }

    fn merged(self) -> Trace {
        let events = merge(self.events);
        let mut meta = self.meta;
        meta.gaps.retain(|gap| gap.cpu.0 < self.cpus);
        meta.gaps.sort_by_key(|gap| (gap.before_ns, gap.cpu));
        let (strings, threads) = (self.strings, self.threads);
        Trace {
            cpus: self.cpus,
            events,
            strings,
            threads,
            facts: self.facts,
            idle: self.idle,
            host: self.host,
            meta,
            notes: self.notes,
        }
    }
}

/// Leaves out what lies beyond a silence that no machine keeps, and notes long ones that remain.
fn leave_out_beyond_silence(trace: &mut Trace) {
    let silences = Silences::find(&trace.events, trace.cpus);
    let believed = silences.believed;
    let left_out = trace.events.len() - believed.len();
    if left_out > 0 {
        let first = if believed.start > 0 { 0 } else { believed.end };
        let at = Position::Time(trace.events[first].time_ns);
        let events = std::mem::take(&mut trace.events);
        trace.events = events.into_iter().skip(believed.start).take(believed.len()).collect();
        trace.notes.add_many(NoteKind::ClockJumped, left_out as u64, at);
    }
    if silences.long > 0 {
        let at = Position::Time(silences.first_ns);
        let longest_s = silences.longest_ns / 1_000_000_000;
        trace.notes.add_detailed(NoteKind::LongSilence, at, || format!("the longest lasts {longest_s} s"));
        trace.notes.add_many(NoteKind::LongSilence, silences.long - 1, at);
    }
}

/// All CPUs' events by time, then CPU; what is equal in both keeps its recorded order.
fn merge(cpus: Vec<CpuEvents>) -> Events {
    let mut next = BinaryHeap::new();
    let mut fronts = Vec::new();
    for (cpu, mut list) in cpus.into_iter().enumerate() {
        if list.unsorted {
            list.events.sort_by_time();
        }
        let front = list.events.into_front();
        next.extend(front.peek().map(|event| Reverse((event.time_ns, cpu))));
        fronts.push(front);
    }
    let mut all = Events::new();
    while let Some(Reverse((_, cpu))) = next.pop() {
        // This CPU goes on until another one's turn comes.
        let turn = next.peek().map_or((u64::MAX, usize::MAX), |Reverse(turn)| *turn);
        let front = &mut fronts[cpu];
        front.take_while(&mut all, |event| (event.time_ns, cpu) < turn);
        next.extend(front.peek().map(|event| Reverse((event.time_ns, cpu))));
    }
    all
}

/// The highest CPU that the event's own fields name.
fn highest_cpu(kind: &EventKind) -> Option<Cpu> {
    match kind {
        EventKind::SchedWaking(SchedWakeup { target_cpu, .. })
        | EventKind::SchedWakeup(SchedWakeup { target_cpu, .. })
        | EventKind::SchedWakeupNew(SchedWakeup { target_cpu, .. }) => Some(*target_cpu),
        EventKind::SchedMigrateTask(m) => Some(m.orig_cpu.max(m.dest_cpu)),
        _ => None,
    }
}

/// The lowest task id that the event's own fields name.
fn lowest_pid(kind: &EventKind) -> Pid {
    match kind {
        EventKind::SchedSwitch(s) => s.prev.pid.min(s.next.pid),
        EventKind::SchedWaking(w) | EventKind::SchedWakeup(w) | EventKind::SchedWakeupNew(w) => w.task.pid,
        EventKind::SchedMigrateTask(m) => m.task.pid,
        EventKind::SchedProcessFork(f) => f.parent_pid.min(f.child_pid),
        EventKind::SchedProcessExec(e) => e.pid.min(e.old_pid),
        EventKind::SchedProcessExit(TaskRef { pid, .. }) => *pid,
        EventKind::SchedPiSetprio(p) => p.pid,
        EventKind::SchedStatRuntime(r) => r.pid,
        EventKind::Activity(activity) => activity.pid().unwrap_or(Pid::IDLE),
        EventKind::Marker(_) => Pid::IDLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Context, NeedResched, SchedMigrateTask, SchedSwitch};
    use crate::{PrevState, Provenance, Severity};

    fn event(time_ns: u64, cpu: u32, pid: i32, kind: EventKind) -> Event {
        let (context, need_resched) = (Context::Task, NeedResched::Unknown);
        Event { time_ns, cpu: Cpu(cpu), pid: Pid(pid), context, need_resched, kind }
    }

    fn task(builder: &mut TraceBuilder, pid: i32) -> TaskRef {
        TaskRef { comm: builder.strings.intern("t"), pid: Pid(pid), prio: 120 }
    }

    fn switch(builder: &mut TraceBuilder, time_ns: u64, cpu: u32, prev: i32, next: i32) {
        let kind = EventKind::SchedSwitch(SchedSwitch {
            prev: task(builder, prev),
            prev_state: PrevState::Interruptible,
            next: task(builder, next),
            provenance: Provenance::Recorded,
        });
        builder.push(event(time_ns, cpu, prev, kind));
    }

    #[test]
    fn events_come_out_by_time_then_cpu_then_recorded_order() {
        let mut builder = TraceBuilder::new(2);
        switch(&mut builder, 30, 1, 0, 7);
        switch(&mut builder, 40, 1, 7, 0);
        switch(&mut builder, 30, 0, 0, 5);
        switch(&mut builder, 30, 0, 5, 6);
        let trace = builder.finish();
        let order: Vec<_> = trace.events.iter().map(|e| (e.time_ns, e.cpu.0, e.pid.0)).collect();
        assert_eq!(order, [(30, 0, 0), (30, 0, 5), (30, 1, 0), (40, 1, 7)]);
        assert_eq!(trace.notes.count(NoteKind::ClockWentBack), 0);
        assert_eq!(trace.notes.count(NoteKind::BrokenSwitchChain), 0);
    }

    #[test]
    fn time_going_back_on_a_cpu_is_counted() {
        let mut builder = TraceBuilder::new(1);
        switch(&mut builder, 50, 0, 0, 7);
        switch(&mut builder, 40, 0, 7, 0);
        let trace = builder.finish();
        assert_eq!(trace.notes.count(NoteKind::ClockWentBack), 1);
        assert_eq!(trace.events[0].time_ns, 40);
    }

    #[test]
    fn impossible_cpus_and_ids_are_dropped_and_counted() {
        let mut builder = TraceBuilder::new(2);
        switch(&mut builder, 1, MAX_CPUS, 0, 7);
        switch(&mut builder, 2, 0, -5, 7);
        let moved =
            SchedMigrateTask { task: task(&mut builder, 7), orig_cpu: Cpu(0), dest_cpu: Cpu(1 << 30) };
        let kind = EventKind::SchedMigrateTask(moved);
        builder.push(event(3, 0, 0, kind));
        switch(&mut builder, 4, 5, 0, 7);
        let trace = builder.finish();
        assert_eq!(trace.events.len(), 1);
        assert_eq!(trace.cpus, 6);
        assert_eq!(trace.notes.count(NoteKind::CpuOutOfRange), 2);
        assert_eq!(trace.notes.count(NoteKind::NegativePid), 1);
        assert_eq!(trace.notes.count(NoteKind::CpuBeyondHeader), 1);
    }

    #[test]
    fn a_task_that_leaves_without_having_come_breaks_the_chain() {
        let mut builder = TraceBuilder::new(1);
        switch(&mut builder, 1, 0, 0, 7);
        switch(&mut builder, 2, 0, 8, 0);
        switch(&mut builder, 3, 0, 0, 7);
        switch(&mut builder, 4, 0, 7, 0);
        let trace = builder.finish();
        assert_eq!(breaks(&trace), [1, 0, 0]);
        assert_eq!(trace.notes.worst(), Some(Severity::DataLoss));
    }

    /// Breaks by kind: lost events, untraced idle switches, tasks that the recorder hides.
    fn breaks(trace: &Trace) -> [u64; 3] {
        [NoteKind::BrokenSwitchChain, NoteKind::UntracedIdle, NoteKind::HiddenTask]
            .map(|kind| trace.notes.count(kind))
    }

    #[test]
    fn a_switch_of_the_idle_task_that_was_not_traced_is_no_loss() {
        let mut builder = TraceBuilder::new(1);
        switch(&mut builder, 1, 0, 7, 0);
        switch(&mut builder, 2, 0, 8, 7);
        switch(&mut builder, 3, 0, 7, 8);
        switch(&mut builder, 4, 0, 0, 7);
        let trace = builder.finish();
        assert_eq!((breaks(&trace), trace.notes.worst()), ([0, 2, 0], Some(Severity::Info)));
    }

    #[test]
    fn a_task_that_never_leaves_is_hidden_by_a_filter() {
        let mut builder = TraceBuilder::new(1);
        switch(&mut builder, 1, 0, 7, 9);
        switch(&mut builder, 2, 0, 8, 9);
        switch(&mut builder, 3, 0, 7, 0);
        let trace = builder.finish();
        assert_eq!((breaks(&trace), trace.notes.worst()), ([0, 0, 2], Some(Severity::Info)));
    }
}
