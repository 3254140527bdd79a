//! Fills holes in the chain of switches.
//!
//! Recorders drop switches: a pid filter hides what happens next to a filtered task, a full buffer loses anything. What
//! remains often proves that a switch happened, because each event carries the task in whose context it was recorded.
//! Replay needs whole chains; this adds the missing links, marked [`Provenance::Inferred`].

use std::collections::BTreeMap;

use crate::events::Events;
use crate::model::{
    Context, Event, EventKind, NeedResched, Pid, Provenance, SchedSwitch, TaskRef, Thread, Trace,
};
use crate::occupancy::{Occupancy, Stay, running};
use crate::pidmap::PidMap;
use crate::state::PrevState;
use crate::strings::Strings;

/// What [`infer_missing_switches`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Repair {
    /// Switches added.
    pub switches: u64,
    /// The sum over them of the time between the earliest and the latest moment at which each can have happened, ns: by
    /// so much CPU times may be wrong in all.
    pub uncertain_ns: u64,
}

/// Adds the switches that events prove and no event records.
///
/// Such a switch is put at the earliest possible time: right after the last event in the context of the task that left, and
/// not before a wakeup of the task that came. The state of the task that left is `R` for the idle task, `X` after its exit,
/// `R+` if it next runs or moves without having been woken, and `S` otherwise. Where events were lost and counted as such,
/// nothing is added: too much may have happened there.
pub fn infer_missing_switches(trace: &mut Trace) -> Repair {
    let mut occupancy = Occupancy::new(trace);
    let trust_context = occupancy.trusts_context();
    let mut tasks = Tasks { known: PidMap::new() };
    let mut added: Vec<Added> = Vec::new();
    let mut repair = Repair::default();
    for (n, event) in trace.events.iter().enumerate() {
        if let Some(gone) = occupancy.observe(event).displaced {
            let came = running(event, trust_context);
            let woken_ns = tasks.known.get(came).map_or(0, |known| known.woken_ns);
            let time_ns = gone.last_ns.max(woken_ns).min(event.time_ns);
            repair.switches += 1;
            repair.uncertain_ns = repair.uncertain_ns.saturating_add(event.time_ns - time_ns);
            let next = match &event.kind {
                EventKind::SchedSwitch(switch) => switch.prev,
                _ => tasks.name(came, event, &trace.threads, &mut trace.strings),
            };
            let prev = tasks.name(gone.pid, event, &trace.threads, &mut trace.strings);
            let prev_state = tasks.leave(gone, added.len());
            let kind = EventKind::SchedSwitch(SchedSwitch {
                prev,
                prev_state,
                next,
                provenance: Provenance::Inferred,
            });
            let (cpu, pid) = (event.cpu, gone.pid);
            let need_resched = NeedResched::Unknown;
            let event = Event { time_ns, cpu, pid, context: Context::Task, need_resched, kind };
            added.push(Added { event, before: n });
        }
        tasks.learn(event, &mut added);
    }
    merge(&mut trace.events, added);
    repair
}

/// A switch to add.
struct Added {
    event: Event,
    /// Position of the event that proves it; it comes before that one.
    before: usize,
}

/// What is known of a task from the events so far.
#[derive(Clone, Copy, Debug)]
struct Known {
    task: Option<TaskRef>,
    /// Its last wakeup, ns.
    woken_ns: u64,
    ended: bool,
    /// The inferred switch by which it left, until its next event has told in which state.
    left_by: Option<usize>,
}

struct Tasks {
    known: PidMap<Known>,
}

impl Tasks {
    fn update(&mut self, pid: Pid, change: impl FnOnce(&mut Known)) {
        let new = Known { task: None, woken_ns: 0, ended: false, left_by: None };
        let mut known = self.known.get(pid).unwrap_or(new);
        change(&mut known);
        self.known.insert(pid, known);
    }

    /// A task leaves by the inferred switch number `n`; returns its state as far as it is known now.
    fn leave(&mut self, gone: Stay, n: usize) -> PrevState {
        if gone.pid == Pid::IDLE {
            return PrevState::Running;
        }
        let known = self.known.get(gone.pid);
        if known.is_some_and(|known| known.ended) {
            return PrevState::Dead;
        }
        // A wakeup since its last sign of running means that it had gone to sleep by then.
        if known.is_none_or(|known| known.woken_ns <= gone.last_ns) {
            self.update(gone.pid, |known| known.left_by = Some(n));
        }
        PrevState::Interruptible
    }

    fn name(
        &self,
        pid: Pid,
        event: &Event,
        threads: &BTreeMap<Pid, Thread>,
        strings: &mut Strings,
    ) -> TaskRef {
        if let Some(task) = self.known.get(pid).and_then(|known| known.task)
            && pid != Pid::IDLE
        {
            return task;
        }
        let comm = match threads.get(&pid) {
            Some(thread) if pid != Pid::IDLE => thread.comm,
            None if pid != Pid::IDLE => strings.intern("<...>"),
            _ => strings.intern(&format!("swapper/{}", event.cpu)),
        };
        TaskRef { comm, pid, prio: 120 }
    }

    /// Takes in what an event says of the tasks that it names.
    fn learn(&mut self, event: &Event, added: &mut [Added]) {
        match &event.kind {
            EventKind::SchedSwitch(switch) => {
                self.update(switch.prev.pid, |known| known.task = Some(switch.prev));
                self.update(switch.next.pid, |known| known.task = Some(switch.next));
                self.settle(switch.prev.pid, PrevState::Preempted, added);
                self.settle(switch.next.pid, PrevState::Preempted, added);
            }
            EventKind::SchedMigrateTask(moved) => {
                self.update(moved.task.pid, |known| known.task = Some(moved.task));
                self.settle(moved.task.pid, PrevState::Preempted, added);
            }
            EventKind::SchedWaking(wakeup)
            | EventKind::SchedWakeup(wakeup)
            | EventKind::SchedWakeupNew(wakeup) => {
                self.update(wakeup.task.pid, |known| {
                    known.task = Some(wakeup.task);
                    known.woken_ns = event.time_ns;
                });
                self.settle(wakeup.task.pid, PrevState::Interruptible, added);
            }
            EventKind::SchedProcessExit(task) => {
                let task = *task;
                self.update(task.pid, |known| (known.task, known.ended) = (Some(task), true));
            }
            EventKind::SchedProcessFork(fork) => self.update(fork.child_pid, |known| known.ended = false),
            _ => {}
        }
    }

    /// The first event of a task after an inferred switch tells in which state it left.
    fn settle(&mut self, pid: Pid, state: PrevState, added: &mut [Added]) {
        let Some(n) = self.known.get(pid).and_then(|known| known.left_by) else { return };
        self.update(pid, |known| known.left_by = None);
        if let EventKind::SchedSwitch(switch) = &mut added[n].event.kind {
            switch.prev_state = state;
        }
    }
}

/// Puts the added events in their places.
fn merge(events: &mut Events, mut added: Vec<Added>) {
    if added.is_empty() {
        return;
    }
    added.sort_by_key(|new| (new.event.time_ns, new.event.cpu, new.before));
    let old = std::mem::take(events);
    let mut added = added.into_iter().peekable();
    for (n, event) in old.into_iter().enumerate() {
        let place = (event.time_ns, event.cpu, n);
        while let Some(new) = added.next_if(|new| (new.event.time_ns, new.event.cpu, new.before) <= place) {
            events.push(new.event);
        }
        events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// The inferred switches of a text as `time_us prev:state next`, and the uncertainty in µs.
    fn check(lines: &[&str], expected: &[&str], uncertain_us: u64) {
        let mut trace = read(lines.join("\n").as_bytes()).expect("a trace");
        let repair = infer_missing_switches(&mut trace);
        let mut got = Vec::new();
        for event in &trace.events {
            if let EventKind::SchedSwitch(SchedSwitch {
                prev,
                prev_state,
                next,
                provenance: Provenance::Inferred,
            }) = &event.kind
            {
                let (us, prev_name, next_name) =
                    (event.time_ns / 1000, &trace.strings[prev.comm], &trace.strings[next.comm]);
                got.push(format!("{us} {prev_name}:{prev_state} {next_name}"));
            }
        }
        assert_eq!(got, expected);
        assert_eq!((repair.switches, repair.uncertain_ns), (expected.len() as u64, uncertain_us * 1000));
        let mut occupancy = Occupancy::new(&trace);
        assert!(
            trace.events.iter().all(|event| occupancy.observe(event).displaced.is_none()),
            "whole chains"
        );
        assert!(trace.events.iter().is_sorted_by_key(|event| (event.time_ns, event.cpu)));
    }

    const A_SLEEPS: &str = " a-7 [000] d... 0.000100: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> \
                            next_comm=swapper/0 next_pid=0 next_prio=120";
    const B_SLEEPS: &str = " b-8 [000] d... 0.000200: sched_switch: prev_comm=b prev_pid=8 prev_prio=120 prev_state=S ==> \
                            next_comm=swapper/0 next_pid=0 next_prio=120";
    const A_RUNS: &str = " <idle>-0 [000] d... 0.000300: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 \
                          prev_state=R ==> next_comm=a next_pid=7 next_prio=120";

    #[test]
    fn a_task_that_leaves_must_have_come_after_the_idle_tasks_last_sign() {
        check(&[A_SLEEPS, B_SLEEPS], &["100 swapper/0:R b"], 100);
    }

    #[test]
    fn and_not_before_it_was_woken() {
        let woken = " x-9 [001] d... 0.000150: sched_wakeup: comm=b pid=8 prio=120 target_cpu=000";
        check(&[A_SLEEPS, woken, B_SLEEPS], &["150 swapper/0:R b"], 50);
        let late = " <idle>-0 [000] d... 0.000180: sched_waking: comm=c pid=9 prio=120 target_cpu=000";
        check(&[A_SLEEPS, woken, late, B_SLEEPS], &["180 swapper/0:R b"], 20);
    }

    #[test]
    fn the_next_event_of_a_task_tells_how_it_left() {
        let wakes =
            |time| format!(" <idle>-0 [001] d... {time}: sched_wakeup: comm=a pid=7 prio=120 target_cpu=000");
        let again = A_RUNS.replace("0.000300", "0.000400");
        check(&[A_RUNS, &wakes("0.000390"), &again], &["300 a:S swapper/0"], 100);
        check(&[A_RUNS, &again], &["300 a:R+ swapper/0"], 100);
        let exits = " a-7 [000] d... 0.000350: sched_process_exit: comm=a pid=7 prio=120";
        check(
            &[A_RUNS, exits, &again.replace("next_comm=a next_pid=7", "next_comm=b next_pid=8")],
            &["350 a:X swapper/0"],
            50,
        );
    }

    #[test]
    fn the_context_of_any_event_is_a_proof() {
        let other = " b-8 [000] d... 0.000350: sched_waking: comm=c pid=9 prio=120 target_cpu=001";
        check(&[A_RUNS, other], &["300 a:S b"], 50);
    }

    #[test]
    fn whole_chains_stay_as_they_are() {
        check(&[A_SLEEPS, A_RUNS], &[], 0);
    }

    #[test]
    fn nothing_is_added_where_events_were_lost() {
        check(&[A_SLEEPS, "CPU:0 [LOST 5 EVENTS]", B_SLEEPS], &[], 0);
    }
}
