//! Reads a log once, record by record, and finds its wakeups.

use super::Waits;
use super::begun::{Begun, Ways};
use super::course::Course;
use super::cpus::Served;
use super::tasks::{Call, Place, Task};
use super::wakeup::{Along, Decided, Refill, Wakeup, Wants};
use schema::{
    CpuId, Log, LogBudget, LogEvent, LogInterrupt, LogPrevState, LogRecord, LogTaskRef, Nanos, Pid,
};
use std::collections::BTreeMap;

/// The decision to ask a running task to make room, but not at once.
const ASKED_LAZILY: &str = "asked_lazily";

/// A log, as it is read.
#[derive(Debug)]
struct Reader<'l, Meant> {
    course: Course,
    begun: BTreeMap<Pid, Begun>,
    /// Whom each CPU is waking, and has not handed over.
    waking: Vec<Option<Pid>>,
    /// Whom each CPU is moving.
    moving: Vec<Option<Pid>>,
    waits: Waits,
    meant: &'l Meant,
}

/// A log, with such waits of the tasks that are `meant`.
pub(super) fn read(log: &Log, waits: Waits, meant: &impl Fn(Pid, &str) -> bool) -> Course {
    let none = vec![None; log.head.machine.cpus as usize];
    let course = Course::new(log);
    let mut reader =
        Reader { course, begun: BTreeMap::new(), waking: none.clone(), moving: none, waits, meant };
    log.records.iter().for_each(|record| reader.see(record));
    let mut course = reader.course;
    course.is_read();
    course
}

impl<Meant: Fn(Pid, &str) -> bool> Reader<'_, Meant> {
    fn task(&mut self, pid: Pid) -> &mut Task {
        self.course.tasks.entry(pid).or_default()
    }

    fn see(&mut self, record: &LogRecord) {
        self.course.cpus[record.cpu.index()].see(record);
        self.hands_over(record);
        match &record.event {
            LogEvent::IrqRaise { irq: LogInterrupt::Timer { pid }, .. } => {
                self.task(*pid).timer_raised = record.time;
            }
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
            LogEvent::CpusAllowed { of, cpus } => self.task(*of).may_use(record.time, cpus),
            LogEvent::CacheRefill { from, cost } => {
                if let Some(begun) = self.begun.get_mut(&record.pid) {
                    begun.wakeup.refill = Some(Refill { from: *from, cost: *cost });
                }
            }
            LogEvent::Decision { of, reason } => {
                if *reason == ASKED_LAZILY
                    && let Place::Runs(on) = self.task(*of).place()
                {
                    self.course.cpus[on.index()].is_asked_lazily(record.time);
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

    fn throttles(&mut self, now: Nanos, cpu: CpuId, budget: LogBudget, is: bool) {
        match budget {
            LogBudget::Deadline { pid } => self.task(pid).is_throttled(now, is),
            LogBudget::RealTime {} | LogBudget::RtGroup { .. } | LogBudget::Group { .. } => {
                self.course.throttles(now, cpu, budget, is)
            }
        }
    }

    fn switches(&mut self, record: &LogRecord, prev: &LogTaskRef, state: LogPrevState, next: &LogTaskRef) {
        let (now, cpu) = (record.time, record.cpu);
        if prev.pid != Pid::IDLE {
            self.task(prev.pid).leaves(now, state, cpu);
            if let Some(begun) = self.begun.get_mut(&prev.pid) {
                begun.leaves(now, cpu);
            } else if matches!(self.task(prev.pid).place(), Place::Waits(_)) {
                self.has_to_wait(record, prev, next.pid);
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
        let expired = Some(self.task(pid).timer_raised).filter(|raised| *raised > steps.left);
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
            (None, Some(by)) if let (Call::Sleep(until), Some(raised)) = (steps.last, expired) => {
                // A thread serves its timer: the interrupt wakes that, or finds it at work.
                ways.go(raised, Along::Timer);
                if let Some(queued) = self.task(by).queued_from(raised) {
                    ways.go(queued, Along::Path { cpu, irq: Some(LogInterrupt::Timer { pid }) });
                }
                (Wants::Timer, until.min(raised))
            }
            (None, Some(by)) => {
                // It set about it with the step that it has taken last. A thread that does what interrupts
                // leave takes none: it was woken for that.
                let stepless = || self.course.tasks.get(&by).and_then(Task::woken).unwrap_or(now);
                let began = match waker.last {
                    Call::Work => now,
                    _ if waker.at == Nanos(0) => stepless(),
                    _ => waker.at,
                };
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
        let left_since = waker.left > waker.at || waker.at == Nanos(0);
        let left_since = left_since && waker.last != Call::Work;
        if let Some(waker_pid) = by.filter(|_| left_since && waker.came > waker.left) {
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
        self.begun.insert(pid, Begun::on(cpu, wakeup));
    }

    /// A task that wants to go on leaves its CPU.
    fn has_to_wait(&mut self, record: &LogRecord, prev: &LogTaskRef, next: Pid) {
        let (now, cpu, pid) = (record.time, record.cpu, prev.pid);
        if self.waits == Waits::Wakeups || !(self.meant)(pid, self.task(pid).comm_at(now)) {
            return;
        }
        let wakeup = Wakeup {
            pid,
            prio: prev.prio,
            due: Wants::Preempted(next),
            due_at: now,
            waking: now,
            waker: cpu,
            by: None,
            queued: now,
            queue: cpu,
            first: now,
            cpu,
            ways: Vec::new(),
            decisions: Vec::new(),
            refill: None,
        };
        self.begun.insert(pid, Begun::waiting(wakeup));
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
