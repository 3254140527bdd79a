//! Who runs on each CPU, followed through the events of a trace.
//!
//! `sched_switch` says who leaves and who comes. Between two switches every event says once more who runs,
//! because an event is recorded in the context of the task that it interrupts. Real recordings have holes (a
//! full buffer, a pid filter), and this is where they show: the CPU runs a task that never came.

use crate::model::{Cpu, Event, EventKind, Pid, Trace};
use crate::notes::NoteKind;

/// Since when a task has been running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Since {
    /// Its switch-in was recorded at this time, ns.
    Seen(u64),
    /// Since before the first event of this CPU: it runs when the trace begins.
    Start,
    /// It came at a moment that was not recorded.
    Unseen,
}

/// A task on a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stay {
    /// The task.
    pub pid: Pid,
    /// Its arrival.
    pub since: Since,
    /// Time of the last event that proves that it was there, ns.
    pub last_ns: u64,
}

/// What an event says about its CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// Until now we believed that this task was running, but another one is: it left unseen.
    pub displaced: Option<Stay>,
    /// Events were lost before this one, and with them the certainty that this task still ran.
    pub lost: Option<Stay>,
    /// This task leaves by a recorded switch.
    pub left: Option<Stay>,
}

/// The state of one CPU.
#[derive(Clone, Debug, Default)]
struct CpuState {
    current: Option<Stay>,
    /// Whether there has been any event.
    begun: bool,
    /// Ends of gaps still to come, ns, the latest first.
    gaps: Vec<u64>,
}

/// The state of all CPUs at the current event.
#[derive(Clone, Debug)]
pub struct Occupancy {
    cpus: Vec<CpuState>,
    trust_context: bool,
}

impl Occupancy {
    /// For the events of `trace`, to be observed in their order.
    pub fn new(trace: &Trace) -> Self {
        let mut cpus = vec![CpuState::default(); trace.cpus as usize];
        for gap in trace.meta.gaps.iter().rev() {
            cpus[gap.cpu.index()].gaps.push(gap.before_ns);
        }
        Occupancy { cpus, trust_context: trace.notes.count(NoteKind::ContextUnreliable) == 0 }
    }

    /// Whether the context column of this trace tells who ran.
    pub fn trusts_context(&self) -> bool {
        self.trust_context
    }

    /// Takes in the next event. [`Activity`](crate::Activity) tells of no task: who runs is the same with it
    /// and without.
    pub fn observe(&mut self, event: &Event) -> Observed {
        let state = &mut self.cpus[event.cpu.index()];
        let mut observed = Observed::default();
        while state.gaps.last().is_some_and(|end| *end <= event.time_ns) {
            state.gaps.pop();
            state.begun = true;
            observed.lost = state.current.take().or(observed.lost);
        }
        if event.kind.is_activity() {
            return observed;
        }
        let runs = running(event, self.trust_context);
        if runs != Pid::UNKNOWN {
            match &mut state.current {
                Some(stay) if stay.pid == runs => stay.last_ns = event.time_ns,
                current => {
                    let since = if state.begun { Since::Unseen } else { Since::Start };
                    observed.displaced = current.replace(Stay { pid: runs, since, last_ns: event.time_ns });
                }
            }
            state.begun = true;
        }
        if let EventKind::SchedSwitch(switch) = &event.kind {
            let (pid, time_ns) = (switch.next.pid, event.time_ns);
            observed.left =
                state.current.replace(Stay { pid, since: Since::Seen(time_ns), last_ns: time_ns });
        }
        observed
    }

    /// Who runs on `cpu` after the last observed event, as far as is known.
    pub fn on(&self, cpu: Cpu) -> Option<Stay> {
        self.cpus.get(cpu.index())?.current
    }

    /// Who runs on each CPU after the last observed event; `None` for a CPU without events.
    pub fn current(&self) -> impl Iterator<Item = Option<Stay>> {
        self.cpus.iter().map(|state| state.current)
    }
}

/// Who runs on the event's CPU when it is recorded, or [`Pid::UNKNOWN`].
pub(crate) fn running(event: &Event, trust_context: bool) -> Pid {
    match &event.kind {
        EventKind::SchedSwitch(switch) => switch.prev.pid,
        _ if trust_context => event.pid,
        _ => Pid::UNKNOWN,
    }
}
