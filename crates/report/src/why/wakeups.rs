//! Finds the wakeups of a log, each with the ways that it takes to the task's first instruction.

use super::cpus::{Cpu, Served, Since};
use super::mutexes;
use super::tasks::{Call, Place, Task};
use schema::why::Budget;
use schema::{
    CpuId, Log, LogBudget, LogEvent, LogGroup, LogInterrupt, LogPrevState, LogRecord, LogTaskRef, Nanos, Pid,
    Prio,
};
use std::collections::BTreeMap;

/// What a log says, in the order in which explanations ask for it.
#[derive(Debug)]
pub(super) struct Course {
    pub cpus: Vec<Cpu>,
    pub tasks: BTreeMap<Pid, Task>,
    /// In the order of the tasks' first instructions.
    pub wakeups: Vec<Wakeup>,
    /// When the real-time tasks of a CPU, or a task group there, may not run.
    throttles: Vec<Throttle>,
    groups: Vec<LogGroup>,
    /// Who has each mutex.
    owners: Vec<Vec<Since<Option<Pid>>>>,
    /// Their names.
    mutexes: Vec<Box<str>>,
}

/// A budget of a CPU, and when it was used up.
#[derive(Debug)]
struct Throttle {
    cpu: CpuId,
    budget: LogBudget,
    stops: Vec<Since<bool>>,
}

/// A task may not run.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Stopped {
    pub budget: Budget,
    pub until: Option<Nanos>,
}

/// A wakeup whose task has come to execute.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Wakeup {
    pub pid: Pid,
    pub prio: Prio,
    pub due: Wants,
    pub due_at: Nanos,
    pub waking: Nanos,
    pub waker: CpuId,
    /// The task that wakes it, if none of the interrupts does.
    pub by: Option<Pid>,
    pub queued: Nanos,
    pub queue: CpuId,
    pub first: Nanos,
    pub cpu: CpuId,
    /// The ways, without a gap from `due_at` to `first`.
    pub ways: Vec<Way>,
    pub decisions: Vec<Decided>,
    pub refill: Option<Refill>,
}

/// A decision about it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Decided {
    pub at: Nanos,
    pub reason: &'static str,
}

/// What its caches have lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Refill {
    pub from: Option<CpuId>,
    pub cost: Nanos,
}

/// What should have woken a task.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Wants {
    Timer,
    Interrupt(LogInterrupt),
    Task(Pid),
    Mutex(u32),
    Start(Pid),
    /// Nothing tells.
    Nothing,
}

/// Up to when, and on which way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Way {
    pub to: Nanos,
    pub along: Along,
}

/// A part of the way from what should have woken a task to its first instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Along {
    /// Its timer has yet to expire.
    Timer,
    /// Somebody has the mutex.
    Mutex(u32),
    /// This CPU is on its way to wake it, or to queue it, by this interrupt if by any.
    Path { cpu: CpuId, irq: Option<LogInterrupt> },
    /// The waker waits for this CPU.
    WakerWaits { cpu: CpuId, waker: Pid },
    /// One CPU has asked another one.
    Flight { from: CpuId, to: CpuId },
    /// It is in the queue of this CPU; this one has put it there.
    Queue { cpu: CpuId, by: CpuId },
    /// This CPU moves it from one queue to another.
    Move { by: CpuId, from: CpuId, to: CpuId },
    /// This CPU has switched to it.
    Arrival { cpu: CpuId },
}

/// A wakeup on its way.
#[derive(Debug)]
struct Begun {
    wakeup: Wakeup,
    /// It has been handed over to the CPU that is to queue it, then.
    handed: Option<Nanos>,
    /// Where it is queued, and who has put it there.
    at: CpuId,
    by: CpuId,
    is_queued: bool,
    /// A CPU moves it.
    moves: Option<Along>,
}

/// A log, as it is read.
#[derive(Debug)]
struct Reader<'l, Meant> {
    course: Course,
    begun: BTreeMap<Pid, Begun>,
    /// Whom each CPU is waking, and has not handed over.
    waking: Vec<Option<Pid>>,
    /// Whom each CPU is moving.
    moving: Vec<Option<Pid>>,
    meant: &'l Meant,
}

impl Course {
    /// Of a log, with the wakeups of the tasks that are `meant`.
    pub fn of(log: &Log, meant: &impl Fn(Pid, &str) -> bool) -> Course {
        let cpus = log.head.machine.cpus as usize;
        let course = Course {
            cpus: (0..cpus).map(|_| Cpu::new()).collect(),
            tasks: BTreeMap::new(),
            wakeups: Vec::new(),
            throttles: Vec::new(),
            groups: log.head.groups.clone(),
            owners: Vec::new(),
            mutexes: names_of_mutexes(&log.head.objects),
        };
        let begun = BTreeMap::new();
        let mut reader = Reader { course, begun, waking: vec![None; cpus], moving: vec![None; cpus], meant };
        log.records.iter().for_each(|record| reader.see(record));
        let mut course = reader.course;
        course.owners = mutexes::owners(&course);
        course
    }

    /// What a mutex is called; its number, if it has no name.
    pub fn mutex_name(&self, mutex: u32) -> Box<str> {
        let name = self.mutexes.get(mutex as usize).filter(|name| !name.is_empty());
        name.cloned().unwrap_or_else(|| mutex.to_string().into())
    }

    /// Who has a mutex, from each time on.
    pub fn owners(&self, mutex: u32) -> &[Since<Option<Pid>>] {
        self.owners.get(mutex as usize).map_or(&[], Vec::as_slice)
    }

    /// Why a task may not run on a CPU, because of a budget that it shares with others there, and until when.
    pub fn throttled(&self, time: Nanos, cpu: CpuId, pid: Pid, prio: Prio) -> Option<Stopped> {
        let concerns = |budget: LogBudget| match budget {
            LogBudget::RealTime {} => (0..100).contains(&prio.0),
            LogBudget::Group { group } => prio.0 >= 100 && self.is_in_group(pid, group),
        };
        let stopped = |throttle: &Throttle| {
            let next = throttle.stops.partition_point(|since| since.from <= time);
            let holds = next.checked_sub(1).is_some_and(|last| throttle.stops[last].is);
            let until = throttle.stops.get(next).map(|since| since.from);
            holds.then(|| Stopped { budget: self.budget(throttle.budget), until })
        };
        let all = self.throttles.iter().filter(|throttle| throttle.cpu == cpu && concerns(throttle.budget));
        all.filter_map(stopped).next()
    }

    /// When budgets of a CPU, or the task's own, begin or end to keep tasks away, in this stretch.
    pub fn throttle_times(&self, from: Nanos, to: Nanos, cpu: CpuId, pid: Pid) -> Vec<Nanos> {
        let inside = |states: &[Since<bool>]| {
            let first = states.partition_point(|since| since.from <= from);
            let inside = states[first..].iter().take_while(|since| since.from < to);
            inside.map(|since| since.from).collect::<Vec<_>>()
        };
        let own = self.tasks.get(&pid).map(|task| inside(&task.throttled)).unwrap_or_default();
        let all = self.throttles.iter().filter(|throttle| throttle.cpu == cpu);
        let mut times: Vec<Nanos> = all.flat_map(|throttle| inside(&throttle.stops)).chain(own).collect();
        times.sort_unstable();
        times
    }

    fn budget(&self, budget: LogBudget) -> Budget {
        match budget {
            LogBudget::RealTime {} => Budget::RealTime {},
            LogBudget::Group { group } => Budget::Group {
                group: self.groups.get(group as usize).map(|group| group.path.as_str().into()),
            },
        }
    }

    fn is_in_group(&self, pid: Pid, group: u32) -> bool {
        let Some(above) = self.groups.get(group as usize) else { return false };
        let below = |path: &str| {
            path.strip_prefix(above.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.groups.iter().any(|group| below(&group.path) && group.tasks.binary_search(&pid).is_ok())
    }

    pub fn cpu(&self, cpu: CpuId) -> &Cpu {
        &self.cpus[cpu.index()]
    }
}

impl<Meant: Fn(Pid, &str) -> bool> Reader<'_, Meant> {
    fn task(&mut self, pid: Pid) -> &mut Task {
        self.course.tasks.entry(pid).or_default()
    }

    fn see(&mut self, record: &LogRecord) {
        self.course.cpus[record.cpu.index()].see(record);
        self.hands_over(record);
        match &record.event {
            LogEvent::Comm { of, comm } => self.task(*of).is_called(record.time, comm),
            LogEvent::Step { step } => self.task(record.pid).steps(record, step),
            LogEvent::SchedSwitch { prev, prev_state, next } => {
                self.switches(record, prev, *prev_state, next)
            }
            LogEvent::Executes {} => {
                self.task(record.pid).steps.came = record.time;
                if let Some(begun) = self.begun.remove(&record.pid) {
                    self.course.wakeups.push(begun.executes(record));
                }
            }
            LogEvent::SchedWaking { task, .. } => {
                self.begins(record, task);
                self.waking[record.cpu.index()] = Some(task.pid);
            }
            LogEvent::SchedWakeup { task, target_cpu } => self.is_queued(record, task, *target_cpu),
            LogEvent::SchedWakeupNew { task, target_cpu } => {
                self.begins(record, task);
                self.is_queued(record, task, *target_cpu);
            }
            LogEvent::SchedMigrateTask { task, orig_cpu, dest_cpu } => {
                if let Place::Waits(_) = self.task(task.pid).place() {
                    self.task(task.pid).is_at(record.time, Place::Waits(*dest_cpu));
                }
                if let Some(begun) = self.begun.get_mut(&task.pid).filter(|begun| begun.is_queued) {
                    begun.migrates(record, *orig_cpu, *dest_cpu);
                    self.moving[record.cpu.index()] = Some(task.pid);
                }
            }
            LogEvent::SchedPiSetprio { of, oldprio, newprio } => {
                self.task(*of).inherits(record.time, *oldprio, *newprio);
                if let Place::Runs(on) = self.task(*of).place() {
                    self.course.cpus[on.index()].prio_changes(record.time, *newprio);
                }
            }
            LogEvent::CacheRefill { from, cost } => {
                if let Some(begun) = self.begun.get_mut(&record.pid) {
                    begun.wakeup.refill = Some(Refill { from: *from, cost: *cost });
                }
            }
            LogEvent::Decision { of, reason } => {
                if let Some(is) = Task::budget(reason) {
                    self.task(*of).is_throttled(record.time, is);
                }
                if let Some(begun) = self.begun.get_mut(of) {
                    begun.wakeup.decisions.push(Decided { at: record.time, reason });
                }
            }
            LogEvent::ThrottleBegins { of_cpu, budget } => {
                self.throttles(record.time, *of_cpu, *budget, true)
            }
            LogEvent::ThrottleEnds { of_cpu, budget } => self.throttles(record.time, *of_cpu, *budget, false),
            _ => {}
        }
    }

    fn throttles(&mut self, from: Nanos, cpu: CpuId, budget: LogBudget, is: bool) {
        let all = &mut self.course.throttles;
        let known = all.iter().position(|throttle| throttle.cpu == cpu && throttle.budget == budget);
        let place = known.unwrap_or_else(|| {
            all.push(Throttle { cpu, budget, stops: Vec::new() });
            all.len() - 1
        });
        all[place].stops.push(Since { from, is });
    }

    fn switches(&mut self, record: &LogRecord, prev: &LogTaskRef, state: LogPrevState, next: &LogTaskRef) {
        let (now, cpu) = (record.time, record.cpu);
        if prev.pid != Pid::IDLE {
            self.task(prev.pid).leaves(now, state, cpu);
            if let Some(begun) = self.begun.get_mut(&prev.pid) {
                begun.leaves(now, cpu);
            }
        }
        if next.pid != Pid::IDLE {
            self.task(next.pid).is_at(now, Place::Runs(cpu));
            self.task(next.pid).has_prio(now, next.prio);
            if let Some(begun) = self.begun.get_mut(&next.pid) {
                begun.arrives(now, cpu);
            }
        }
    }

    /// A CPU that wakes or moves somebody is through with that: it has asked another one, or goes on.
    fn hands_over(&mut self, record: &LogRecord) {
        let asks = matches!(
            record.event,
            LogEvent::IpiSend { .. }
                | LogEvent::SchedWakeIdleWithoutIpi { .. }
                | LogEvent::Schedule {}
                | LogEvent::SchedSwitch { .. }
                | LogEvent::SchedWaking { .. }
                | LogEvent::Executes {}
                | LogEvent::IrqHandlerExit {}
        );
        if !asks {
            return;
        }
        let cpu = record.cpu.index();
        if let Some(begun) = self.waking[cpu].take().and_then(|pid| self.begun.get_mut(&pid))
            && !begun.is_queued
        {
            begun.handed = Some(record.time);
        }
        if let Some(begun) = self.moving[cpu].take().and_then(|pid| self.begun.get_mut(&pid)) {
            begun.has_moved(record.time);
        }
    }

    /// A wakeup begins.
    fn begins(&mut self, record: &LogRecord, task: &LogTaskRef) {
        let (now, cpu, pid) = (record.time, record.cpu, task.pid);
        self.task(pid).has_prio(now, task.prio);
        if !(self.meant)(pid, self.task(pid).comm_at(now)) {
            return;
        }
        let new = matches!(record.event, LogEvent::SchedWakeupNew { .. });
        if new && self.course.cpu(cpu).serves().is_some() {
            // The setup puts it there.
            return;
        }
        let (place, steps) = (self.task(pid).place(), self.task(pid).steps);
        let serves = self.course.cpu(cpu).serves();
        let by = (serves.is_none() && record.pid != Pid::IDLE).then_some(record.pid);
        let waker = by.map(|by| self.task(by).steps).unwrap_or_default();
        let path = Along::Path { cpu, irq: serves.map(|served| served.irq) };
        let mut ways = Ways::default();
        let (due, due_at) = match (serves, by) {
            (Some(Served { irq, raised, .. }), _) => {
                let is_timer = irq == LogInterrupt::Timer { pid };
                let at = match steps.last {
                    Call::Sleep(until) if is_timer => until.min(raised),
                    _ => raised,
                };
                ways.go(raised, Along::Timer);
                (if is_timer { Wants::Timer } else { Wants::Interrupt(irq) }, at)
            }
            (None, Some(by)) => {
                // It set about it with the step that it has taken last.
                let began = if waker.at == Nanos(0) { now } else { waker.at };
                if let (Place::WantsMutex(mutex), false) = (place, new) {
                    ways.go(began.max(steps.left), Along::Mutex(mutex));
                    (Wants::Mutex(mutex), steps.left)
                } else {
                    let due = if new { Wants::Start(by) } else { Wants::Task(by) };
                    (due, began.max(steps.left).min(now))
                }
            }
            (None, None) => (Wants::Nothing, now),
        };
        if let Some(waker_pid) = by.filter(|_| waker.left > waker.at && waker.came > waker.left) {
            ways.go(waker.left, path);
            ways.go(waker.came, Along::WakerWaits { cpu, waker: waker_pid });
        }
        ways.go(now, path);
        let wakeup = Wakeup {
            pid,
            prio: task.prio,
            due,
            due_at,
            waking: now,
            waker: cpu,
            by,
            queued: now,
            queue: cpu,
            first: now,
            cpu,
            ways: ways.since(due_at),
            decisions: Vec::new(),
            refill: None,
        };
        let begun = Begun { wakeup, handed: None, at: cpu, by: cpu, is_queued: false, moves: None };
        self.begun.insert(pid, begun);
    }

    /// It is in a queue.
    fn is_queued(&mut self, record: &LogRecord, task: &LogTaskRef, target: CpuId) {
        let (now, cpu) = (record.time, record.cpu);
        if !matches!(self.task(task.pid).place(), Place::Runs(_)) {
            self.task(task.pid).is_at(now, Place::Waits(target));
        }
        let serves = self.course.cpu(cpu).serves();
        if let Some(begun) = self.begun.get_mut(&task.pid) {
            begun.is_queued(record, target, serves);
        }
    }
}

/// Ways, one behind the other.
#[derive(Debug, Default)]
struct Ways(Vec<Way>);

impl Ways {
    fn go(&mut self, to: Nanos, along: Along) {
        self.0.push(Way { to, along });
    }

    /// Those of this time on.
    fn since(self, start: Nanos) -> Vec<Way> {
        let mut ways = Vec::new();
        self.0.into_iter().for_each(|way| push(&mut ways, start, way));
        ways
    }
}

/// Goes on behind what is there, if that leads anywhere.
fn push(ways: &mut Vec<Way>, start: Nanos, way: Way) {
    let now = ways.last().map_or(start, |last| last.to);
    match ways.last_mut() {
        _ if way.to <= now => {}
        Some(last) if last.along == way.along => last.to = way.to,
        _ => ways.push(way),
    }
}

impl Begun {
    fn go(&mut self, to: Nanos, along: Along) {
        push(&mut self.wakeup.ways, self.wakeup.due_at, Way { to, along });
    }

    fn is_queued(&mut self, record: &LogRecord, target: CpuId, serves: Option<Served>) {
        let (now, cpu, waker) = (record.time, record.cpu, self.wakeup.waker);
        let path = Along::Path { cpu, irq: serves.map(|served| served.irq) };
        if cpu != waker {
            let handed = self.handed.unwrap_or(self.wakeup.waking);
            let begun = Along::Path { cpu: waker, irq: None };
            self.go(handed, begun);
            let raised = serves.map_or(now, |served| served.raised);
            self.go(raised, Along::Flight { from: waker, to: cpu });
        }
        self.go(now, path);
        (self.wakeup.queued, self.wakeup.queue) = (now, target);
        (self.at, self.by, self.is_queued) = (target, cpu, true);
    }

    /// A CPU switches to it.
    fn arrives(&mut self, now: Nanos, cpu: CpuId) {
        match self.moves.take() {
            Some(moves) => self.go(now, moves),
            None => self.waits(now),
        }
        self.at = cpu;
    }

    /// It has to go before its first instruction, or goes to sleep before it has noticed that it is woken.
    fn leaves(&mut self, now: Nanos, cpu: CpuId) {
        if self.is_queued {
            self.go(now, Along::Arrival { cpu });
        }
        (self.at, self.by) = (cpu, cpu);
    }

    fn waits(&mut self, now: Nanos) {
        self.go(now, Along::Queue { cpu: self.at, by: self.by });
    }

    fn migrates(&mut self, record: &LogRecord, from: CpuId, to: CpuId) {
        match self.moves.take() {
            Some(moves) => self.go(record.time, moves),
            None => self.waits(record.time),
        }
        self.moves = Some(Along::Move { by: record.cpu, from, to });
        (self.at, self.by) = (to, record.cpu);
    }

    fn has_moved(&mut self, now: Nanos) {
        if let Some(moves) = self.moves.take() {
            self.go(now, moves);
        }
    }

    /// It executes.
    fn executes(mut self, record: &LogRecord) -> Wakeup {
        self.go(record.time, Along::Arrival { cpu: record.cpu });
        (self.wakeup.first, self.wakeup.cpu) = (record.time, record.cpu);
        self.wakeup
    }
}

/// By number, from the words of a workload file.
fn names_of_mutexes(objects: &[String]) -> Vec<Box<str>> {
    let names = objects.iter().filter_map(|object| {
        let rest = object.strip_prefix("mutex ")?;
        Some(rest.split_once("name=")?.1.into())
    });
    names.collect()
}
