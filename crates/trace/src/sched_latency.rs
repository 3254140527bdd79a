//! The table of `perf sched latency`: for each task its run time, how often it came to run after having
//! waited, and how long it waited.
//!
//! The rules are those of perf 6.1, found from its behaviour, so that the figures agree with its own to the
//! last digit:
//!
//! - Time is given by `sched_stat_runtime`, which the fair class emits at each accounting. A trace without
//!   that event gets the time between switches instead.
//! - A *delay* begins when a sleeping task is woken (`sched_wakeup`, `sched_wakeup_new`) or when a task
//!   leaves its CPU in state `R`, and ends when a switch brings the task. Switches count the ends of delays,
//!   not all switches.
//! - `sched_waking` begins no delay, although `perf sched record` records it in place of `sched_wakeup` on
//!   kernels that have it. [`DelaysFrom::Waking`] departs from perf here.
//! - A task in state `R+`, preempted, is taken for asleep: perf looks at the lowest bit of the state alone.
//!   Its delay begins with the next wakeup event, of which a preempted task has none.
//! - A task first seen when it comes or is accounted counts as one that has waited from this moment on: its
//!   first delay is 0.
//! - A task id is one task, also where it was given out again.

use schema::{Histogram, Precision};
use std::cmp::Reverse;

use crate::model::{Event, EventKind, Pid, SchedSwitch, Trace};
use crate::pidmap::PidMap;
use crate::state::PrevState;
use crate::strings::StrId;

/// A task's row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskDelays {
    /// Thread id.
    pub pid: Pid,
    /// The name that the recorder gives it, else the last one in an event; `None` if nothing names it.
    pub comm: Option<StrId>,
    /// Time on a CPU, ns.
    pub runtime_ns: u64,
    /// How many delays came to their end.
    pub switches: u64,
    /// Their sum, ns.
    pub delay_sum_ns: u64,
    /// The longest of them, ns.
    pub delay_max_ns: u64,
    /// When the longest began, ns on the trace's clock; 0 if no delay was longer than 0.
    pub max_start_ns: u64,
    /// When it ended, ns.
    pub max_end_ns: u64,
}

impl TaskDelays {
    /// The mean delay, ns, rounded down.
    pub fn delay_mean_ns(&self) -> u64 {
        self.delay_sum_ns.checked_div(self.switches).unwrap_or(0)
    }
}

/// Which wakeups begin a delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DelaysFrom {
    /// `sched_wakeup` and `sched_wakeup_new`: the task is on a run queue. As perf 6.1.
    #[default]
    Wakeup,
    /// `sched_waking` too, where the wakeup begins.
    Waking,
}

/// From which events run times were taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuntimeSource {
    /// `sched_stat_runtime`, as perf does.
    SchedStatRuntime,
    /// The time between switches: the trace has no `sched_stat_runtime`.
    SchedSwitch,
}

/// The whole table.
#[derive(Clone, PartialEq, Debug)]
pub struct SchedLatency {
    /// The tasks that waited at least once, the idle task left out: those with the longest mean delay first,
    /// then by longest delay, switches and run time.
    pub tasks: Vec<TaskDelays>,
    /// Where the run times come from.
    pub runtime_source: RuntimeSource,
    /// Wakeups of sleeping tasks; perf calls them timestamps and sets the next figure in relation to them.
    pub wakeups: u64,
    /// How often a CPU switched away from a task that had not come to it.
    pub context_switch_bugs: u64,
    /// All delays, those of 0 included, the idle task left out.
    pub delays: Histogram,
    /// How long tasks stayed on a CPU between two recorded switches, the idle task left out.
    pub stays: Histogram,
}

impl SchedLatency {
    /// Run time of all tasks of the table, ns.
    pub fn runtime_sum_ns(&self) -> u64 {
        self.tasks.iter().fold(0, |sum, task| sum.saturating_add(task.runtime_ns))
    }

    /// Switches of all tasks of the table.
    pub fn switches(&self) -> u64 {
        self.tasks.iter().map(|task| task.switches).sum()
    }
}

/// Computes the table.
pub fn sched_latency(trace: &Trace, delays_from: DelaysFrom) -> SchedLatency {
    let mut table = Tabulator::new(trace, delays_from);
    for event in &trace.events {
        table.event(event);
    }
    table.finish(trace)
}

/// What a task does, as far as this table is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not seen yet.
    New,
    /// It has left its CPU, and does not wait.
    Sleeps,
    Waits {
        since_ns: u64,
    },
    Runs,
}

#[derive(Clone, Debug)]
struct Progress {
    row: TaskDelays,
    state: State,
    /// Time between switches, ns.
    on_cpu_ns: u64,
}

/// A task that is on a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Current {
    pid: Pid,
    since_ns: u64,
}

struct Tabulator {
    delays_from: DelaysFrom,
    tasks: Vec<Progress>,
    by_pid: PidMap<u32>,
    /// Who runs on each CPU by the last switch there.
    current: Vec<Option<Current>>,
    accounted: bool,
    wakeups: u64,
    context_switch_bugs: u64,
    delays: Histogram,
    stays: Histogram,
}

impl Tabulator {
    fn new(trace: &Trace, delays_from: DelaysFrom) -> Self {
        Tabulator {
            delays_from,
            tasks: Vec::new(),
            by_pid: PidMap::new(),
            current: vec![None; trace.cpus as usize],
            accounted: false,
            wakeups: 0,
            context_switch_bugs: 0,
            delays: Histogram::new(Precision::OneDigit),
            stays: Histogram::new(Precision::OneDigit),
        }
    }

    fn event(&mut self, event: &Event) {
        let now = event.time_ns;
        match &event.kind {
            EventKind::SchedSwitch(switch) => self.switch(event, switch),
            EventKind::SchedStatRuntime(stat) => {
                self.accounted = true;
                let task = self.task(stat.pid, stat.comm);
                if task.state == State::New {
                    task.state = State::Waits { since_ns: now };
                }
                task.row.runtime_ns = task.row.runtime_ns.saturating_add(stat.runtime_ns);
            }
            EventKind::SchedWaking(_) if self.delays_from == DelaysFrom::Wakeup => {}
            EventKind::SchedWaking(wakeup)
            | EventKind::SchedWakeup(wakeup)
            | EventKind::SchedWakeupNew(wakeup) => {
                let task = self.task(wakeup.task.pid, wakeup.task.comm);
                if matches!(task.state, State::New | State::Sleeps) {
                    task.state = State::Waits { since_ns: now };
                    self.wakeups += 1;
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, event: &Event, switch: &SchedSwitch) {
        let now = event.time_ns;
        let prev = self.task(switch.prev.pid, switch.prev.comm);
        prev.state = match switch.prev_state {
            PrevState::Running => State::Waits { since_ns: now },
            _ => State::Sleeps,
        };
        let coming = Current { pid: switch.next.pid, since_ns: now };
        if let Some(gone) = self.current[event.cpu.index()].replace(coming) {
            if gone.pid != switch.prev.pid {
                self.context_switch_bugs += 1;
            } else if gone.pid != Pid::IDLE {
                let stay = now.saturating_sub(gone.since_ns);
                self.stays.record(stay);
                let on_cpu_ns = &mut self.task(gone.pid, switch.prev.comm).on_cpu_ns;
                *on_cpu_ns = on_cpu_ns.saturating_add(stay);
            }
        }
        let next = self.task(switch.next.pid, switch.next.comm);
        let waited_from = match next.state {
            State::New => Some(now),
            State::Waits { since_ns } => Some(since_ns),
            State::Sleeps | State::Runs => None,
        };
        if let Some(start) = waited_from {
            let delay = now.saturating_sub(start);
            next.state = State::Runs;
            next.row.switches += 1;
            next.row.delay_sum_ns += delay;
            if delay > next.row.delay_max_ns {
                (next.row.delay_max_ns, next.row.max_start_ns, next.row.max_end_ns) = (delay, start, now);
            }
            if switch.next.pid != Pid::IDLE {
                self.delays.record(delay);
            }
        }
    }

    fn task(&mut self, pid: Pid, comm: StrId) -> &mut Progress {
        let n = match self.by_pid.get(pid) {
            Some(n) => n,
            None => {
                let row = TaskDelays {
                    pid,
                    comm: None,
                    runtime_ns: 0,
                    switches: 0,
                    delay_sum_ns: 0,
                    delay_max_ns: 0,
                    max_start_ns: 0,
                    max_end_ns: 0,
                };
                self.tasks.push(Progress { row, state: State::New, on_cpu_ns: 0 });
                let n = self.tasks.len() as u32 - 1;
                self.by_pid.insert(pid, n);
                n
            }
        };
        let task = &mut self.tasks[n as usize];
        task.row.comm = Some(comm);
        task
    }

    fn finish(self, trace: &Trace) -> SchedLatency {
        let accounted = self.accounted;
        let rows = self.tasks.into_iter().map(|task| {
            let mut row = task.row;
            if !accounted {
                row.runtime_ns = task.on_cpu_ns;
            }
            row.comm = trace.threads.get(&row.pid).map(|thread| thread.comm).or(row.comm);
            row
        });
        let mut tasks: Vec<_> = rows.filter(|row| row.pid != Pid::IDLE && row.switches > 0).collect();
        let key = |row: &TaskDelays| {
            Reverse((row.delay_mean_ns(), row.delay_max_ns, row.switches, row.runtime_ns, row.pid))
        };
        tasks.sort_unstable_by_key(key);
        let runtime_source =
            if accounted { RuntimeSource::SchedStatRuntime } else { RuntimeSource::SchedSwitch };
        SchedLatency {
            tasks,
            runtime_source,
            wakeups: self.wakeups,
            context_switch_bugs: self.context_switch_bugs,
            delays: self.delays,
            stays: self.stays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// Mean and longest delay, switches and run time of pid 7, in µs.
    fn check(events: &[&str], delays_from: DelaysFrom, expected: Option<(u64, u64, u64, u64)>) {
        let text: String = events.iter().map(|event| format!("x-1 [000] d... {event}\n")).collect();
        let table = sched_latency(&read(text.as_bytes()).expect("a trace"), delays_from);
        let row = table.tasks.iter().find(|task| task.pid == Pid(7));
        let figures = |row: &TaskDelays| {
            (row.delay_mean_ns() / 1000, row.delay_max_ns / 1000, row.switches, row.runtime_ns / 1000)
        };
        assert_eq!(row.map(figures), expected, "{events:?}");
    }

    fn switch(at_us: u32, prev: u32, state: &str, next: u32) -> String {
        format!(
            "0.{at_us:06}: sched_switch: prev_comm=t prev_pid={prev} prev_prio=120 prev_state={state} ==> \
             next_comm=t next_pid={next} next_prio=120"
        )
    }

    #[test]
    fn a_delay_lasts_from_the_wakeup_of_a_sleeper_to_its_switch() {
        let wakeup = "0.000150: sched_wakeup: comm=t pid=7 prio=120 target_cpu=000";
        let again = "0.000160: sched_wakeup: comm=t pid=7 prio=120 target_cpu=000";
        let events =
            [&switch(100, 7, "S", 8), wakeup, again, &switch(180, 8, "S", 7), &switch(200, 7, "S", 0)];
        check(&events, DelaysFrom::Wakeup, Some((30, 30, 1, 20)));
    }

    #[test]
    fn waking_begins_a_delay_only_where_it_is_asked_for() {
        let waking = "0.000150: sched_waking: comm=t pid=7 prio=120 target_cpu=000";
        let events = [&switch(100, 7, "S", 8), waking, &switch(180, 8, "S", 7), &switch(200, 7, "S", 0)];
        check(&events, DelaysFrom::Wakeup, None);
        check(&events, DelaysFrom::Waking, Some((30, 30, 1, 20)));
    }

    #[test]
    fn a_task_that_leaves_runnable_waits_but_a_preempted_one_does_not() {
        let events = |state: &str| [switch(100, 7, state, 8), switch(140, 8, "S", 7)];
        check(&events("R").each_ref().map(|s| &s[..]), DelaysFrom::Wakeup, Some((40, 40, 1, 0)));
        check(&events("R+").each_ref().map(|s| &s[..]), DelaysFrom::Wakeup, None);
    }

    #[test]
    fn a_task_that_comes_unheard_of_has_not_waited() {
        let accounted = "0.000090: sched_stat_runtime: comm=t pid=7 runtime=5000 [ns]";
        check(&[&switch(100, 8, "S", 7)], DelaysFrom::Wakeup, Some((0, 0, 1, 0)));
        check(&[accounted, &switch(100, 8, "S", 7)], DelaysFrom::Wakeup, Some((10, 10, 1, 5)));
    }

    #[test]
    fn the_longest_mean_delay_comes_first_and_then_the_higher_id() {
        let text =
            format!("x-1 [000] d... {}\nx-1 [001] d... {}\n", switch(100, 0, "R", 7), switch(100, 0, "R", 9));
        let table = sched_latency(&read(text.as_bytes()).expect("a trace"), DelaysFrom::Wakeup);
        let order: Vec<_> = table.tasks.iter().map(|task| task.pid.0).collect();
        assert_eq!(
            (order, table.switches(), table.runtime_source),
            (vec![9, 7], 2, RuntimeSource::SchedSwitch)
        );
    }
}
