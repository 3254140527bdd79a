//! From what happens, in the order of time, to a timeline of a stretch of it.

use super::throttling::{Budget, Throttling, Waiting};
use super::{
    Boost, Decision, Event, Interrupt, Kind, LockKind, LockWait, Marker, Reason, Setting, State, Task,
    Throttle, Timeline,
};
use schema::{Nanos, Pid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// When and where something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// When, on the clock of the run or of the recording.
    pub time: Nanos,
    /// On which CPU.
    pub cpu: u32,
}

/// A task as an event shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Its pid; 0: the idle task.
    pub pid: Pid,
    /// Its effective priority then, as the kernel counts.
    pub prio: i32,
}

/// How a task leaves a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftAs {
    /// It could go on.
    Runnable,
    /// It sleeps.
    Sleeping,
    /// It sleeps and cannot be disturbed.
    Blocked,
    /// It is gone.
    Dead,
}

/// A CPU has spun for a lock, and has it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spun {
    /// Since when.
    pub since: Nanos,
    /// For what kind of lock.
    pub lock: LockKind,
    /// The lock's CPU, pid or number.
    pub of: u32,
    /// Which CPU held it.
    pub holder: u32,
    /// How many CPUs waited already.
    pub waiters: u32,
}

/// Of a task whose priority nothing has told yet, as the kernel counts.
const NICE_0: i32 = 120;

/// What an interrupt is called, and since when it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    name: u32,
    raised: Nanos,
}

/// Collects a timeline.
#[derive(Debug)]
pub struct Builder {
    timeline: Timeline,
    /// The stretch, on the clock of the events.
    from: Nanos,
    to: Nanos,
    numbers: BTreeMap<Pid, u32>,
    interrupt_numbers: BTreeMap<String, u32>,
    reason_numbers: BTreeMap<String, u32>,
    /// By CPU, as far as it is known.
    current: Vec<Option<u32>>,
    states: Vec<State>,
    on_cpu: Vec<u32>,
    /// By task, the event of the stretch with which it was preempted last.
    preempted_by: Vec<Option<usize>>,
    begun: bool,
    raised: Vec<VecDeque<Interrupted>>,
    served: Vec<Vec<(Nanos, Interrupted)>>,
    /// By task, as last seen.
    prios: Vec<i32>,
    throttling: Throttling,
}

impl Builder {
    /// Of the stretch from `from` to `to`, on the clock of the events; `start_ns` is what the reader calls
    /// its beginning. What happens before it decides only how it begins.
    #[must_use]
    pub fn new(name: impl Into<String>, cpus: u32, from: Nanos, to: Nanos, start_ns: u64) -> Builder {
        let timeline = Timeline {
            name: name.into(),
            cpus,
            start_ns,
            length_ns: to.0.saturating_sub(from.0),
            first_on_cpu: Vec::new(),
            tasks: Vec::new(),
            events: Vec::new(),
            lock_waits: Vec::new(),
            interrupts: Vec::new(),
            interrupt_names: Vec::new(),
            decisions: Vec::new(),
            reasons: Vec::new(),
            boosts: Vec::new(),
            throttles: Vec::new(),
            groups: Vec::new(),
            markers: Vec::new(),
            settings: Vec::new(),
        };
        let of_each_cpu = cpus as usize;
        let mut builder = Builder {
            timeline,
            from,
            to,
            numbers: BTreeMap::new(),
            interrupt_numbers: BTreeMap::new(),
            reason_numbers: BTreeMap::new(),
            current: vec![None; of_each_cpu],
            states: Vec::new(),
            on_cpu: Vec::new(),
            preempted_by: Vec::new(),
            begun: false,
            raised: vec![VecDeque::new(); of_each_cpu],
            served: vec![Vec::new(); of_each_cpu],
            prios: Vec::new(),
            throttling: Throttling::default(),
        };
        builder.number(Pid::IDLE);
        builder
    }

    /// All CPUs idle, as at the beginning of a run.
    pub fn all_idle(&mut self) {
        self.current.fill(Some(0));
    }

    fn number(&mut self, pid: Pid) -> u32 {
        let next = self.timeline.tasks.len() as u32;
        let number = *self.numbers.entry(pid).or_insert(next);
        if number == next {
            let names = if pid == Pid::IDLE { vec!["idle".to_owned()] } else { Vec::new() };
            self.timeline.tasks.push(Task { pid: pid.0, names, prio: None, state: State::Absent, cpu: 0 });
            self.states.push(State::Absent);
            self.on_cpu.push(0);
            self.preempted_by.push(None);
            self.prios.push(NICE_0);
        }
        number
    }

    fn seen(&mut self, seen: Seen) -> u32 {
        let number = self.number(seen.pid);
        self.timeline.tasks[number as usize].prio.get_or_insert(seen.prio);
        self.prios[number as usize] = seen.prio;
        number
    }

    /// A task has this name from now on.
    pub fn named(&mut self, pid: Pid, name: &str) {
        let number = self.number(pid) as usize;
        let names = &mut self.timeline.tasks[number].names;
        if pid != Pid::IDLE && names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }

    /// Whether something at this time is in the stretch; where it begins, so does the timeline.
    fn is_inside(&mut self, time: Nanos) -> bool {
        if time < self.from || time > self.to {
            return false;
        }
        if !self.begun {
            self.begun = true;
            self.timeline.first_on_cpu.clone_from(&self.current);
            for ((task, state), cpu) in self.timeline.tasks.iter_mut().zip(&self.states).zip(&self.on_cpu) {
                (task.state, task.cpu) = (*state, *cpu);
            }
        }
        true
    }

    fn inside(&mut self, time: Nanos) -> Option<u64> {
        self.is_inside(time).then(|| time.0 - self.from.0)
    }

    fn event(&mut self, at: At, task: u32, kind: Kind) {
        if let Some(time_ns) = self.inside(at.time) {
            self.timeline.events.push(Event { time_ns, cpu: at.cpu, task, kind });
        }
    }

    /// A CPU goes from one task to another.
    pub fn switch(&mut self, at: At, prev: Seen, left: LeftAs, next: Seen) {
        let (prev, next) = (self.seen(prev), self.seen(next));
        let cpu = at.cpu as usize;
        if self.current[cpu].is_none() {
            // The first that is known of this CPU: so it was from the beginning.
            self.current[cpu] = Some(prev);
            if prev != 0 && self.states[prev as usize] == State::Absent {
                (self.states[prev as usize], self.on_cpu[prev as usize]) = (State::Running, at.cpu);
            }
            if self.begun {
                self.timeline.first_on_cpu[cpu] = Some(prev);
                let task = &mut self.timeline.tasks[prev as usize];
                if prev != 0 && task.state == State::Absent {
                    (task.state, task.cpu) = (State::Running, at.cpu);
                }
            }
        }
        if let Some(current) = self.current[cpu]
            && current != prev
        {
            self.came_unseen(at, current, prev);
        }
        let state = match left {
            _ if prev == 0 => State::Absent,
            LeftAs::Runnable => State::Preempted,
            LeftAs::Sleeping => State::Sleeping,
            LeftAs::Blocked => State::Blocked,
            LeftAs::Dead => State::Absent,
        };
        if state == State::Preempted {
            self.preempted_by[prev as usize] = self.is_inside(at.time).then_some(self.timeline.events.len());
        }
        self.event(at, next, Kind::Switch(state));
        self.current[cpu] = Some(next);
        self.states[prev as usize] = state;
        if next != 0 {
            (self.states[next as usize], self.on_cpu[next as usize]) = (State::Running, at.cpu);
        }
        self.on_cpu[prev as usize] = at.cpu;
        self.follow(at.time, prev);
        self.follow(at.time, next);
    }

    /// A recording does not show how a task came to a CPU that it leaves now: it is shown to come in this
    /// moment. So a wakeup waits until now at most; a task that had been preempted may have executed ever
    /// since, and in what state the CPU's last known task left is not known either.
    fn came_unseen(&mut self, at: At, current: u32, task: u32) {
        let (left, on) = (self.states[current as usize], self.on_cpu[current as usize]);
        let is_last_seen_here = current == 0 || left == State::Running && on == at.cpu;
        let left = if is_last_seen_here { State::Absent } else { left };
        self.states[current as usize] = left;
        let place = task as usize;
        if self.states[place] == State::Preempted {
            match self.preempted_by[place] {
                Some(event) => self.timeline.events[event].kind = Kind::Switch(State::Absent),
                None if self.begun => self.timeline.tasks[place].state = State::Absent,
                None => {}
            }
        }
        self.event(at, task, Kind::Switch(left));
        (self.states[place], self.on_cpu[place]) = (State::Running, at.cpu);
    }

    /// The budgets of queues may concern the task from now on, or no longer.
    fn follow(&mut self, now: Nanos, task: u32) {
        let place = task as usize;
        let (prio, state, cpu) = (self.prios[place], self.states[place], self.on_cpu[place]);
        self.throttling.follow(now, Waiting { task, prio, state, cpu });
    }

    /// A wakeup begins.
    pub fn waking(&mut self, at: At, task: Seen, in_interrupt: bool) {
        let task = self.seen(task);
        self.event(at, task, Kind::Waking { in_interrupt });
    }

    /// A woken task is in the queue of a CPU.
    pub fn wakeup(&mut self, at: At, task: Seen, target: u32) {
        let task = self.queued(at, task, target, Kind::Wakeup(target));
        self.throttling.task_ends(at.time, task);
    }

    /// A new task is.
    pub fn wakeup_new(&mut self, at: At, task: Seen, target: u32) {
        self.queued(at, task, target, Kind::WakeupNew(target));
    }

    fn queued(&mut self, at: At, task: Seen, target: u32, kind: Kind) -> u32 {
        let task = self.seen(task);
        self.event(at, task, kind);
        let state = &mut self.states[task as usize];
        if *state != State::Running {
            (*state, self.on_cpu[task as usize]) = (State::Runnable, target);
        }
        self.follow(at.time, task);
        task
    }

    /// A task gets another CPU.
    pub fn migrate(&mut self, at: At, task: Seen, from: u32, to: u32) {
        let task = self.seen(task);
        self.event(at, task, Kind::Migrate { from, to });
        self.on_cpu[task as usize] = to;
        self.follow(at.time, task);
    }

    /// A CPU has spun for a lock.
    pub fn spun(&mut self, at: At, spun: Spun) {
        let since = spun.since.max(self.from);
        let of = if spun.lock == LockKind::Pi { self.number(Pid(spun.of.cast_signed())) } else { spun.of };
        if let Some(until_ns) = self.inside(at.time) {
            self.timeline.lock_waits.push(LockWait {
                since_ns: since.0 - self.from.0,
                until_ns,
                cpu: at.cpu,
                lock: spun.lock,
                of,
                holder: spun.holder,
                waiters: spun.waiters,
            });
        }
    }

    fn interrupt_number(&mut self, name: &str) -> u32 {
        let names = &mut self.timeline.interrupt_names;
        if let Some(number) = self.interrupt_numbers.get(name) {
            return *number;
        }
        names.push(name.to_owned());
        let number = names.len() as u32 - 1;
        self.interrupt_numbers.insert(name.to_owned(), number);
        number
    }

    /// An interrupt comes to a CPU, which serves them in their order.
    pub fn interrupt_raised(&mut self, at: At, name: &str) {
        let name = self.interrupt_number(name);
        self.raised[at.cpu as usize].push_back(Interrupted { name, raised: at.time });
    }

    /// A CPU begins to serve one.
    pub fn interrupt_begins(&mut self, at: At, name: &str) {
        let name = self.interrupt_number(name);
        let waiting = &mut self.raised[at.cpu as usize];
        let place = waiting.iter().position(|raised| raised.name == name);
        let raised = place.and_then(|place| waiting.remove(place));
        let begun = raised.unwrap_or(Interrupted { name, raised: at.time });
        self.served[at.cpu as usize].push((at.time, begun));
    }

    /// It ends with the last that it began.
    pub fn interrupt_ends(&mut self, at: At) {
        let Some((from, interrupt)) = self.served[at.cpu as usize].pop() else { return };
        let begin = self.from;
        if let Some(until_ns) = self.inside(at.time) {
            self.timeline.interrupts.push(Interrupt {
                from_ns: from.max(begin).0 - begin.0,
                until_ns,
                cpu: at.cpu,
                name: interrupt.name,
                waited_ns: from.0 - interrupt.raised.0,
            });
        }
    }

    /// The scheduler decides something about a task.
    pub fn decision(&mut self, at: At, about: Pid, reason: &str, meaning: &str) {
        let task = self.number(about);
        let next = self.timeline.reasons.len() as u32;
        let number = match self.reason_numbers.get(reason) {
            Some(number) => *number,
            None => {
                self.timeline.reasons.push(Reason { name: reason.to_owned(), meaning: meaning.to_owned() });
                self.reason_numbers.insert(reason.to_owned(), next);
                next
            }
        };
        if let Some(time_ns) = self.inside(at.time) {
            self.timeline.decisions.push(Decision { time_ns, cpu: at.cpu, task, reason: number });
        }
    }

    /// Inheritance changes a priority.
    pub fn boost(&mut self, at: At, pid: Pid, old: i32, new: i32) {
        let task = self.number(pid);
        self.prios[task as usize] = new;
        self.follow(at.time, task);
        if let Some(time_ns) = self.inside(at.time) {
            self.timeline.boosts.push(Boost { time_ns, task, old, new });
        }
    }

    /// A task group by its path, the next number; its tasks are its own and those of the groups below it.
    pub fn group(&mut self, path: &str, tasks: impl IntoIterator<Item = Pid>) {
        let members: BTreeSet<u32> = tasks.into_iter().map(|pid| self.number(pid)).collect();
        self.timeline.groups.push(path.to_owned());
        self.throttling.add_group(members);
    }

    /// A task has used up its own run time.
    pub fn task_throttled(&mut self, at: At, pid: Pid) {
        let task = self.number(pid);
        self.throttling.task_begins(at.time, task);
    }

    /// It may run again.
    pub fn task_unthrottled(&mut self, at: At, pid: Pid) {
        let task = self.number(pid);
        self.throttling.task_ends(at.time, task);
    }

    /// Those of a CPU that share a budget have used it up.
    pub fn queue_throttled(&mut self, at: At, budget: Budget) {
        self.throttling.queue_begins(at.time, at.cpu, budget);
        self.follow_all(at.time);
    }

    /// They may run again.
    pub fn queue_unthrottled(&mut self, at: At, budget: Budget) {
        self.throttling.queue_ends(at.time, at.cpu, budget);
        self.follow_all(at.time);
    }

    fn follow_all(&mut self, now: Nanos) {
        (1..self.states.len() as u32).for_each(|task| self.follow(now, task));
    }

    /// As far as they lie in the stretch, by their ends.
    fn throttles(&mut self) -> Vec<Throttle> {
        self.throttling.end_all(self.to);
        let (from, to) = (self.from.0, self.to.0);
        let inside = |all: Throttle| {
            let (begin, end) = (all.from_ns.max(from), all.until_ns.min(to));
            (begin < end).then(|| Throttle { from_ns: begin - from, until_ns: end - from, ..all })
        };
        let mut all: Vec<Throttle> =
            std::mem::take(&mut self.throttling.done).into_iter().filter_map(inside).collect();
        all.sort_by_key(|throttle| (throttle.until_ns, throttle.whom));
        all
    }

    /// A task writes a text into the trace.
    pub fn marker(&mut self, at: At, pid: Pid, text: &str) {
        let task = self.number(pid);
        if let Some(time_ns) = self.inside(at.time) {
            self.timeline.markers.push(Marker { time_ns, cpu: at.cpu, task, text: text.to_owned() });
        }
    }

    /// A setting changes.
    pub fn setting(&mut self, at: At, text: &str) {
        if let Some(time_ns) = self.inside(at.time) {
            self.timeline.settings.push(Setting { time_ns, text: text.to_owned() });
        }
    }

    /// The timeline.
    #[must_use]
    pub fn finish(mut self) -> Timeline {
        // A stretch in which nothing happened begins, too.
        self.is_inside(self.from);
        self.timeline.throttles = self.throttles();
        self.timeline
    }
}
