//! Fills holes in the chain of switches.
//!
//! Recorders drop switches: a pid filter hides what happens next to a filtered task, a full buffer loses
//! anything. What remains often proves that a switch happened, because each event carries the task in whose
//! context it was recorded. Replay needs whole chains; this adds the missing links, marked
//! [`Provenance::Inferred`].

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
    /// The sum over them of the time between the earliest and the latest moment at which each can have
    /// happened, ns: by so much CPU times may be wrong in all.
    pub uncertain_ns: u64,
}

/// Adds the switches that events prove and no event records.
///
/// Such a switch is put at the earliest possible time: right after the last event in the context of the task
/// that left, and not before a wakeup of the task that came. Only a task that comes from the idle task
/// unwoken may be put later: many virtual machines record nothing while they idle, so the earliest time is
/// the beginning of that idle time. Such a task came as long before its next `sched_stat_runtime` as that
/// says; without one it stayed as long as it usually does.
///
/// The state of the task that left is `R` for the idle task, `X` after its exit, `R+` if it next runs or
/// moves without having been woken, and `S` otherwise. Where events were lost and counted as such, nothing is
/// added: too much may have happened there.
pub fn infer_missing_switches(trace: &mut Trace) -> Repair {
    let mut occupancy = Occupancy::new(trace);
    let trust_context = occupancy.trusts_context();
    let mut tasks = Tasks { known: PidMap::new() };
    let mut added: Vec<Added> = Vec::new();
    for (n, event) in trace.events.iter().enumerate() {
        if let Some(gone) = occupancy.observe(event).displaced {
            let came = running(event, trust_context);
            let known = tasks.known.get(came);
            let woken_ns = known.map_or(0, |known| known.woken_ns);
            let earliest_ns = gone.last_ns.max(woken_ns).min(event.time_ns);
            // Behind the wakeup in the order of events, too: those of one time stand by the numbers of their
            // CPUs.
            let time_ns = (earliest_ns + u64::from(earliest_ns == woken_ns)).min(event.time_ns);
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
            let unwoken = gone.pid == Pid::IDLE && known.is_none_or(|known| !known.woken);
            tasks.update(came, |known| {
                (known.came_by, known.woken) = ((gone.pid == Pid::IDLE).then_some(added.len()), false);
            });
            added.push(Added {
                event: Event {
                    time_ns,
                    cpu,
                    pid,
                    context: Context::Task,
                    need_resched: NeedResched::Unknown,
                    kind,
                },
                before: n,
                latest_ns: event.time_ns,
                unwoken,
                left_ns: event.time_ns,
                uncertain_ns: event.time_ns - earliest_ns,
            });
        }
        tasks.learn(event, &mut added);
    }
    place_by_usual_stay(&trace.events, &mut added);
    let repair = Repair {
        switches: added.len() as u64,
        uncertain_ns: added.iter().fold(0, |sum: u64, new| sum.saturating_add(new.uncertain_ns)),
    };
    merge(&mut trace.events, added);
    repair
}

/// A switch to add.
struct Added {
    /// At the earliest possible time, until more is known.
    event: Event,
    /// Position of the event that proves it; it comes before that one.
    before: usize,
    /// Time of that event, ns.
    latest_ns: u64,
    /// The task comes from the idle task, and nothing tells when it was woken.
    unwoken: bool,
    /// When the task that came left again, ns; `latest_ns` until that is known.
    left_ns: u64,
    uncertain_ns: u64,
}

impl Added {
    /// The task that came had run for `stay_ns` at `end_ns`: moves the switch there, as far as the events
    /// around it allow.
    fn place(&mut self, end_ns: u64, stay_ns: u64) {
        self.event.time_ns = end_ns.saturating_sub(stay_ns).clamp(self.event.time_ns, self.latest_ns);
        self.unwoken = false;
    }
}

/// Places the arrivals of which nothing else tells the time: the task stayed for as long as it does at the
/// median of the stays that are recorded from one end to the other, and without such stays only for as long
/// as is proven.
fn place_by_usual_stay(events: &Events, added: &mut [Added]) {
    let came =
        |new: &Added| if let EventKind::SchedSwitch(s) = &new.event.kind { s.next.pid } else { Pid::IDLE };
    let mut stays: BTreeMap<Pid, Vec<u64>> =
        added.iter().filter(|new| new.unwoken).map(|new| (came(new), Vec::new())).collect();
    if stays.is_empty() {
        return;
    }
    let mut arrived: BTreeMap<u32, (Pid, u64)> = BTreeMap::new();
    for event in events {
        let EventKind::SchedSwitch(switch) = &event.kind else { continue };
        let since = arrived.insert(event.cpu.0, (switch.next.pid, event.time_ns));
        let whole = since.filter(|(pid, _)| *pid == switch.prev.pid).zip(stays.get_mut(&switch.prev.pid));
        if let Some(((_, since_ns), stays)) = whole {
            stays.push(event.time_ns - since_ns);
        }
    }
    for stays in stays.values_mut() {
        stays.sort_unstable();
    }
    for new in added.iter_mut().filter(|new| new.unwoken) {
        let usual_ns = stays.get(&came(new)).and_then(|stays| stays.get(stays.len() / 2)).copied();
        new.place(new.left_ns, usual_ns.unwrap_or(0));
    }
}

/// What is known of a task from the events so far.
#[derive(Clone, Copy, Debug)]
struct Known {
    task: Option<TaskRef>,
    /// Its last wakeup, ns.
    woken_ns: u64,
    /// It has not come onto a CPU since then.
    woken: bool,
    ended: bool,
    /// The inferred switch by which it left, until its next event has told in which state.
    left_by: Option<usize>,
    /// The inferred switch by which it came from the idle task, until an event has told how long ago that
    /// was.
    came_by: Option<usize>,
}

struct Tasks {
    known: PidMap<Known>,
}

impl Tasks {
    fn update(&mut self, pid: Pid, change: impl FnOnce(&mut Known)) {
        let new = Known { task: None, woken_ns: 0, woken: false, ended: false, left_by: None, came_by: None };
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
                self.update(switch.next.pid, |known| (known.task, known.woken) = (Some(switch.next), false));
                if let Some(new) = self.came_by(switch.prev.pid, added) {
                    new.left_ns = event.time_ns;
                }
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
                    (known.woken_ns, known.woken) = (event.time_ns, true);
                });
                self.settle(wakeup.task.pid, PrevState::Interruptible, added);
            }
            EventKind::SchedProcessExit(task) => {
                let task = *task;
                self.update(task.pid, |known| (known.task, known.ended) = (Some(task), true));
            }
            EventKind::SchedStatRuntime(stat) => {
                if let Some(new) = self.came_by(stat.pid, added) {
                    new.place(event.time_ns, stat.runtime_ns);
                    new.uncertain_ns = 0;
                }
            }
            EventKind::SchedProcessFork(fork) => self.update(fork.child_pid, |known| known.ended = false),
            _ => {}
        }
    }

    /// The switch by which a task came from the idle task, if that was inferred and has not been asked for
    /// yet.
    fn came_by<'a>(&mut self, pid: Pid, added: &'a mut [Added]) -> Option<&'a mut Added> {
        let n = self.known.get(pid)?.came_by?;
        self.update(pid, |known| known.came_by = None);
        added.get_mut(n)
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
    const B_COUNTS: &str = " b-8 [000] d... 0.000199: sched_stat_runtime: comm=b pid=8 runtime=12000 [ns]";
    const A_RUNS: &str = " <idle>-0 [000] d... 0.000300: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 \
                          prev_state=R ==> next_comm=a next_pid=7 next_prio=120";

    /// Machines that record nothing while they idle hide wakeup and arrival, and the idle time may be long.
    #[test]
    fn a_task_that_comes_unwoken_from_the_idle_task_has_run_for_as_long_as_the_kernel_accounts() {
        check(&[A_SLEEPS, B_COUNTS, B_SLEEPS], &["187 swapper/0:R b"], 0);
        // The accounting cannot move it to before the idle task's last sign.
        check(&[A_SLEEPS, &B_COUNTS.replace("=12000", "=120000"), B_SLEEPS], &["100 swapper/0:R b"], 0);
    }

    #[test]
    fn without_accounting_it_stayed_as_long_as_usual() {
        let comes = A_RUNS
            .replace("0.000300", "0.000030")
            .replace("next_comm=a next_pid=7", "next_comm=b next_pid=8");
        let earlier = B_SLEEPS.replace("0.000200", "0.000050");
        let a_comes = A_RUNS.replace("0.000300", "0.000060");
        check(&[&comes, &earlier, &a_comes, A_SLEEPS, B_SLEEPS], &["180 swapper/0:R b"], 100);
        check(&[A_SLEEPS, B_SLEEPS], &["200 swapper/0:R b"], 100);
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
