//! A timeline as rows of slices: who ran on each CPU, in which state each task was, and how long woken tasks
//! waited.

use super::{Event, Kind, State, Throttled, Timeline};
use std::collections::BTreeMap;

/// Something that lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice<K> {
    pub from_ns: u64,
    pub to_ns: u64,
    pub what: K,
}

/// The rows of a timeline.
#[derive(Debug)]
pub(super) struct Rows {
    /// Of each CPU the tasks that ran, the idle task left out.
    pub cpus: Vec<Vec<Slice<u32>>>,
    /// Of each task its states, but for when it was not there.
    pub tasks: Vec<Vec<Slice<State>>>,
    /// Each time that a woken task ran.
    latencies: Vec<Latency>,
}

/// From a wakeup until the woken task ran.
#[derive(Debug, Clone, Copy)]
struct Latency {
    task: u32,
    ns: u64,
}

/// What lasts now.
#[derive(Debug, Clone, Copy)]
struct Now<K> {
    what: K,
    since_ns: u64,
}

/// When tasks may not run, by their numbers, in the order of time.
fn stopped(timeline: &Timeline) -> BTreeMap<u32, Vec<Slice<()>>> {
    let mut all: BTreeMap<u32, Vec<Slice<()>>> = BTreeMap::new();
    for throttle in &timeline.throttles {
        if let Throttled::Task(task) = throttle.whom {
            let stretch = Slice { from_ns: throttle.from_ns, to_ns: throttle.until_ns, what: () };
            all.entry(task).or_default().push(stretch);
        }
    }
    all
}

/// The parts of a slice: what waits in such a stretch is throttled.
fn throttled(slice: Slice<State>, stopped: &[Slice<()>]) -> Vec<Slice<State>> {
    if !matches!(slice.what, State::Runnable | State::Preempted) {
        return vec![slice];
    }
    let mut parts = Vec::new();
    let mut rest = slice;
    let first = stopped.partition_point(|one| one.to_ns <= slice.from_ns);
    for one in stopped[first..].iter().take_while(|one| one.from_ns < slice.to_ns) {
        let (begin, end) = (one.from_ns.max(rest.from_ns), one.to_ns.min(slice.to_ns));
        parts.push(Slice { to_ns: begin, ..rest });
        parts.push(Slice { from_ns: begin, to_ns: end, what: State::Throttled });
        rest.from_ns = end.max(rest.from_ns);
    }
    parts.push(rest);
    parts.retain(|part| part.from_ns < part.to_ns);
    parts
}

struct Walk {
    rows: Rows,
    on_cpu: Vec<Now<u32>>,
    states: Vec<Now<State>>,
    woken_ns: Vec<Option<u64>>,
}

impl Rows {
    pub fn of(timeline: &Timeline) -> Rows {
        let cpus = timeline.cpus as usize;
        let first = |cpu: usize| timeline.first_on_cpu.get(cpu).copied().flatten().unwrap_or(0);
        let tasks = timeline.tasks.len();
        let rows =
            Rows { cpus: vec![Vec::new(); cpus], tasks: vec![Vec::new(); tasks], latencies: Vec::new() };
        let mut walk = Walk {
            rows,
            on_cpu: (0..cpus).map(|cpu| Now { what: first(cpu), since_ns: 0 }).collect(),
            states: timeline.tasks.iter().map(|task| Now { what: task.state, since_ns: 0 }).collect(),
            woken_ns: vec![None; tasks],
        };
        for event in &timeline.events {
            walk.event(event);
        }
        let mut rows = walk.finish(timeline.length_ns);
        for (task, stopped) in stopped(timeline) {
            let slices = &mut rows.tasks[task as usize];
            *slices = slices.iter().flat_map(|slice| throttled(*slice, &stopped)).collect();
        }
        rows
    }

    /// From each wakeup of the tasks with these numbers until the task ran, nanoseconds.
    pub fn latencies_of(&self, is_meant: impl Fn(usize) -> bool) -> Vec<u64> {
        self.latencies.iter().filter(|one| is_meant(one.task as usize)).map(|one| one.ns).collect()
    }
}

impl Walk {
    fn event(&mut self, event: &Event) {
        let (task, cpu, now) = (event.task as usize, event.cpu as usize, event.time_ns);
        match event.kind {
            Kind::Switch(left_as) => {
                let prev = self.on_cpu[cpu].what as usize;
                self.state(prev, left_as, now);
                self.run(cpu, event.task, now);
                self.state(task, State::Running, now);
                if let Some(woken) = self.woken_ns[task].take() {
                    self.rows.latencies.push(Latency { task: event.task, ns: now - woken });
                }
            }
            Kind::Waking { .. } => self.wake(task, now),
            Kind::Wakeup(_) | Kind::WakeupNew(_) => {
                self.wake(task, now);
                if self.states[task].what != State::Running {
                    self.state(task, State::Runnable, now);
                }
            }
            Kind::Migrate { .. } => {}
        }
    }

    fn wake(&mut self, task: usize, now: u64) {
        if self.states[task].what != State::Running {
            self.woken_ns[task].get_or_insert(now);
        }
    }

    fn run(&mut self, cpu: usize, task: u32, now: u64) {
        let was = std::mem::replace(&mut self.on_cpu[cpu], Now { what: task, since_ns: now });
        if was.what != 0 && was.since_ns < now {
            self.rows.cpus[cpu].push(Slice { from_ns: was.since_ns, to_ns: now, what: was.what });
        }
    }

    fn state(&mut self, task: usize, state: State, now: u64) {
        if task == 0 {
            return;
        }
        let was = std::mem::replace(&mut self.states[task], Now { what: state, since_ns: now });
        if was.what != State::Absent && was.since_ns < now {
            self.rows.tasks[task].push(Slice { from_ns: was.since_ns, to_ns: now, what: was.what });
        }
    }

    fn finish(mut self, end_ns: u64) -> Rows {
        for cpu in 0..self.on_cpu.len() {
            self.run(cpu, 0, end_ns);
        }
        for task in 0..self.states.len() {
            self.state(task, State::Absent, end_ns);
        }
        self.rows
    }
}
