//! The events of a recording, read once: what each CPU does, and each wait.

use std::collections::{BTreeMap, BTreeSet};

use super::RecordedLacks;
use super::cpus::{Base, Cpus};
use super::handlers::Handled;
use super::wait::{Began, Left, Move, Moves, TimerDue, Wait, Waker};
use crate::activity::{Activity, KernelAddress};
use crate::model::{
    Context, Cpu, Event, EventKind, Pid, SchedMigrateTask, SchedSwitch, SchedWakeup, TaskRef, Trace,
};
use crate::occupancy::{Occupancy, Since};
use crate::pidmap::PidMap;
use crate::strings::StrId;

/// Clocks are taken for the same if they differ by less than this, ns: what an interrupt takes from reading
/// the time to its event.
const SAME_CLOCK_NS: u64 = 1_000_000;

/// What the recording shows.
#[derive(Debug)]
pub struct Course {
    pub cpus: Cpus,
    pub waits: Vec<Wait>,
    pub moves: Vec<Move>,
    pub lacks: RecordedLacks,
    pub named: BTreeSet<(Pid, StrId)>,
}

impl Course {
    pub fn of(trace: &Trace) -> Course {
        let mut reader = Reader {
            occupancy: Occupancy::new(trace),
            course: Course {
                cpus: Cpus::new(trace.cpus),
                waits: Vec::new(),
                moves: Vec::new(),
                lacks: RecordedLacks {
                    interrupts: true,
                    queued: true,
                    moves: trace.cpus > 1,
                    ends: 0,
                    wakeups: 0,
                },
                named: BTreeSet::new(),
            },
            tasks: Vec::new(),
            by_pid: PidMap::new(),
            switched_ns: vec![0; trace.cpus as usize],
            timers: BTreeMap::new(),
            expired: vec![None; trace.cpus as usize],
        };
        for event in &trace.events {
            reader.event(event);
        }
        let mut course = reader.course;
        course.lacks.ends += course.waits.iter().filter(|wait| !course.is_whole(wait)).count() as u64;
        course
    }

    /// Whether all CPUs were recorded in whose queues a task has waited: on another one it may have executed.
    pub fn is_whole(&self, wait: &Wait) -> bool {
        let moves = &self.moves[wait.moves.from as usize..wait.moves.to as usize];
        let mut queues = moves.iter().map(|one| one.to).chain([wait.placed]);
        queues.all(|cpu| self.cpus.is_recorded(cpu))
    }
}

/// A task, as it is now.
#[derive(Clone, Debug)]
struct Task {
    is: Is,
    task: TaskRef,
    cpu: Cpu,
    left: Option<Left>,
    /// It was woken while it still ran, on its way to sleep.
    early: Option<Woken>,
    /// Its latest wait from a wakeup on, by number.
    woken_wait: Option<u32>,
    /// The time that it waited since that wakeup, ns.
    waited_ns: u64,
}

#[derive(Clone, Debug)]
enum Is {
    Unknown,
    Runs,
    Sleeps,
    Waits(Box<Pending>),
}

/// Who woke whom, and how.
#[derive(Clone, Copy, Debug)]
struct Woken {
    at_ns: u64,
    cpu: Cpu,
    waker: Waker,
    wakers_wait: Option<u32>,
    waker_waited_ns: u64,
    timer: Option<TimerDue>,
}

/// A wait that goes on.
#[derive(Clone, Debug)]
struct Pending {
    began: Began,
    prio: i32,
    woken: Woken,
    placed_ns: u64,
    placed: Cpu,
    queued_ns: Option<u64>,
    queued_by: Cpu,
    moves: Vec<Move>,
}

impl Woken {
    /// By nobody that is known.
    fn untold(at_ns: u64, cpu: Cpu) -> Woken {
        let (waker, wakers_wait, timer) = (Waker::Unknown, None, None);
        Woken { at_ns, cpu, waker, wakers_wait, waker_waited_ns: 0, timer }
    }
}

impl Pending {
    /// In the queue of a CPU from the wakeup on, until more is known.
    fn new(began: Began, prio: i32, woken: Woken, placed: Cpu) -> Pending {
        let (placed_ns, queued_by) = (woken.at_ns, woken.cpu);
        Pending { began, prio, woken, placed_ns, placed, queued_ns: None, queued_by, moves: Vec::new() }
    }
}

/// A high-resolution timer that has expired, and has woken nobody yet.
#[derive(Clone, Copy, Debug)]
struct Expired {
    timer: TimerDue,
    by_ns: u64,
}

struct Reader {
    occupancy: Occupancy,
    course: Course,
    tasks: Vec<Task>,
    by_pid: PidMap<u32>,
    /// The latest switch of each CPU.
    switched_ns: Vec<u64>,
    /// The time for which each timer is set, on its own clock.
    timers: BTreeMap<KernelAddress, i64>,
    expired: Vec<Option<Expired>>,
}

impl Reader {
    fn event(&mut self, event: &Event) {
        self.observe(event);
        match &event.kind {
            EventKind::SchedSwitch(switch) => self.switch(event, switch),
            EventKind::SchedWaking(wakeup) => self.waking(event, wakeup),
            EventKind::SchedWakeup(wakeup) => {
                self.course.lacks.queued = false;
                self.wakeup(event, wakeup, Began::Woken);
            }
            EventKind::SchedWakeupNew(wakeup) => self.wakeup(event, wakeup, Began::New),
            EventKind::SchedMigrateTask(migration) => self.migrate(event, migration),
            EventKind::SchedPiSetprio(boost) => {
                let known = self.task(TaskRef { comm: boost.comm, pid: boost.pid, prio: boost.newprio });
                let (runs, cpu) = (matches!(known.is, Is::Runs), known.cpu);
                if runs {
                    self.course.cpus.has_prio(cpu, event.time_ns, boost.newprio);
                }
            }
            EventKind::Activity(activity) => self.activity(event, activity),
            _ => {}
        }
        if let Some(pid) = event.kind.ended()
            && let Some(number) = self.by_pid.get(pid)
        {
            let task = &mut self.tasks[number as usize];
            (task.left, task.early, task.woken_wait) = (None, None, None);
            // One that says that it exits still runs.
            if matches!(task.is, Is::Sleeps) {
                task.is = Is::Unknown;
            }
        }
    }

    /// What an event says of its CPU beside what it is about.
    fn observe(&mut self, event: &Event) {
        let before = self.occupancy.on(event.cpu).map(|stay| stay.pid);
        let seen = self.occupancy.observe(event);
        for gone in [seen.lost, seen.displaced].into_iter().flatten() {
            self.course.cpus.lose(event.cpu, gone.last_ns);
            self.expired[event.cpu.index()] = None;
            if let Some(number) = self.by_pid.get(gone.pid) {
                let task = &mut self.tasks[number as usize];
                if matches!(task.is, Is::Runs) {
                    (task.is, task.left) = (Is::Unknown, None);
                }
            }
        }
        if let EventKind::SchedSwitch(switch) = &event.kind {
            // Who leaves has been there.
            let came_unseen = before != Some(switch.prev.pid);
            if came_unseen {
                self.seen_on(event.cpu, event.time_ns, switch.prev);
            }
        } else if let Some(stay) = self.occupancy.on(event.cpu)
            && (before != Some(stay.pid) || seen.lost.is_some())
            && !matches!(stay.since, Since::Seen(_))
        {
            let known = self.by_pid.get(stay.pid).map(|number| self.tasks[number as usize].task);
            match known {
                Some(task) => self.seen_on(event.cpu, event.time_ns, task),
                None if stay.pid == Pid::IDLE => {
                    self.course.cpus.has(event.cpu, event.time_ns, Base::Idle, None);
                }
                None => {}
            }
        }
    }

    /// A task executes on a CPU, and its arrival was not recorded.
    fn seen_on(&mut self, cpu: Cpu, at_ns: u64, task: TaskRef) {
        self.course.cpus.has(cpu, at_ns, base(task), None);
        if task.pid == Pid::IDLE {
            return;
        }
        let known = self.task(task);
        let waited = matches!(known.is, Is::Waits(_));
        (known.is, known.cpu, known.left) = (Is::Runs, cpu, None);
        (known.woken_wait, known.waited_ns) = (None, 0);
        self.course.lacks.ends += u64::from(waited);
    }

    fn switch(&mut self, event: &Event, switch: &SchedSwitch) {
        let (now, cpu) = (event.time_ns, event.cpu);
        let since = Some(now);
        self.course.cpus.has(cpu, now, base(switch.next), since);
        self.switched_ns[cpu.index()] = now;
        self.expired[cpu.index()] = None;
        if switch.prev.pid != Pid::IDLE {
            self.leaves(event, switch);
        }
        if switch.next.pid != Pid::IDLE {
            self.comes(switch.next, now, cpu);
        }
    }

    fn leaves(&mut self, event: &Event, switch: &SchedSwitch) {
        let (now, cpu) = (event.time_ns, event.cpu);
        let has_wakeups = !self.course.lacks.queued;
        let task = self.task(switch.prev);
        let early = task.early.take().filter(|_| has_wakeups);
        task.left = Some(Left { at_ns: now, state: switch.prev_state });
        let waits = |began, woken| {
            let pending = Pending::new(began, switch.prev.prio, woken, cpu);
            Is::Waits(Box::new(Pending { placed_ns: now, ..pending }))
        };
        task.is = if switch.prev_state.is_runnable() {
            waits(Began::Preempted, Woken::untold(now, cpu))
        } else if let Some(woken) = early.filter(|_| !switch.prev_state.is_dead()) {
            waits(Began::Woken, woken)
        } else {
            Is::Sleeps
        };
    }

    fn comes(&mut self, next: TaskRef, now: u64, cpu: Cpu) {
        let number = u32::try_from(self.course.waits.len()).unwrap_or(u32::MAX);
        let moved_from = u32::try_from(self.course.moves.len()).unwrap_or(u32::MAX);
        let task = self.task(next);
        task.cpu = cpu;
        let pending = match std::mem::replace(&mut task.is, Is::Runs) {
            Is::Waits(pending) => pending,
            Is::Unknown | Is::Runs | Is::Sleeps => {
                (task.woken_wait, task.waited_ns) = (None, 0);
                let Some(left) = task.left else { return };
                let woken = Woken::untold(left.at_ns, cpu);
                Box::new(Pending::new(Began::Unseen, next.prio, woken, cpu))
            }
        };
        let Pending { began, prio, woken, placed_ns, placed, queued_ns, queued_by, moves } = *pending;
        let wait = Wait {
            task: next,
            began,
            left: task.left,
            began_prio: prio,
            woken_ns: woken.at_ns,
            waker_cpu: woken.cpu,
            waker: woken.waker,
            wakers_wait: woken.wakers_wait,
            waker_waited_ns: woken.waker_waited_ns,
            timer: woken.timer,
            placed_ns,
            placed,
            queued_ns,
            queued_by,
            moves: Moves { from: moved_from, to: moved_from + moves.len() as u32 },
            first_ns: now,
            cpu,
        };
        let waited_ns = now - woken.at_ns.max(task.left.map_or(0, |left| left.at_ns)).min(now);
        match began {
            Began::Preempted => task.waited_ns += waited_ns,
            Began::Woken | Began::New => (task.woken_wait, task.waited_ns) = (Some(number), waited_ns),
            Began::Unseen => {}
        }
        self.course.lacks.wakeups += u64::from(began == Began::Unseen);
        self.course.moves.extend(moves);
        self.course.waits.push(wait);
    }

    fn waking(&mut self, event: &Event, wakeup: &SchedWakeup) {
        if wakeup.task.pid == Pid::IDLE {
            return;
        }
        let woken = self.woken(event);
        let task = self.task(wakeup.task);
        match &task.is {
            Is::Runs => {
                task.early = Some(woken);
                return;
            }
            // It is awake; whoever wakes it has not noticed.
            Is::Waits(pending) if pending.began == Began::Preempted => return,
            Is::Unknown | Is::Sleeps | Is::Waits(_) => {}
        }
        // One that waits and is woken again has executed in between.
        let unseen = matches!(&task.is, Is::Waits(_));
        let pending = Pending::new(Began::Woken, wakeup.task.prio, woken, wakeup.target_cpu);
        task.is = Is::Waits(Box::new(pending));
        self.course.lacks.ends += u64::from(unseen);
    }

    fn wakeup(&mut self, event: &Event, wakeup: &SchedWakeup, began: Began) {
        if wakeup.task.pid == Pid::IDLE {
            return;
        }
        let woken = self.woken(event);
        let task = self.task(wakeup.task);
        match &mut task.is {
            // It was on its way to sleep, and has stayed awake.
            Is::Runs => task.early = None,
            Is::Waits(pending) if pending.began == Began::Preempted || pending.queued_ns.is_some() => {}
            Is::Waits(pending) => {
                (pending.placed_ns, pending.placed) = (event.time_ns, wakeup.target_cpu);
                (pending.queued_ns, pending.queued_by) = (Some(event.time_ns), event.cpu);
                pending.prio = wakeup.task.prio;
                pending.moves.clear();
            }
            Is::Unknown | Is::Sleeps => {
                let pending = Pending::new(began, wakeup.task.prio, woken, wakeup.target_cpu);
                task.is = Is::Waits(Box::new(Pending { queued_ns: Some(event.time_ns), ..pending }));
            }
        }
    }

    fn migrate(&mut self, event: &Event, migration: &SchedMigrateTask) {
        self.course.lacks.moves = false;
        let switched_ns = self.switched_ns[event.cpu.index()];
        let task = self.task(migration.task);
        let Is::Waits(pending) = &mut task.is else { return };
        let woken = &pending.woken;
        // The path that wakes a task also chooses its CPU, and nobody else executes on the waker's meanwhile.
        let by_the_waker = pending.began == Began::Woken
            && pending.queued_ns.is_none()
            && pending.moves.is_empty()
            && event.cpu == woken.cpu
            && switched_ns <= woken.at_ns;
        if by_the_waker {
            (pending.placed_ns, pending.placed) = (event.time_ns, migration.dest_cpu);
        } else {
            pending.moves.push(Move { at_ns: event.time_ns, to: migration.dest_cpu });
        }
    }

    fn activity(&mut self, event: &Event, activity: &Activity) {
        let (now, cpu) = (event.time_ns, event.cpu);
        match activity {
            Activity::HrtimerStart { hrtimer, softexpires_ns, .. } => {
                self.timers.insert(*hrtimer, *softexpires_ns);
            }
            Activity::HrtimerCancel(hrtimer) => {
                self.timers.remove(hrtimer);
            }
            Activity::HrtimerExpireEntry(expiry) => {
                let served_ns = self.course.cpus.serves_since(cpu).unwrap_or(now);
                let timer = self.timers.remove(&expiry.hrtimer).and_then(|asked_ns| {
                    let due_ns = on_the_traces_clock(asked_ns, expiry.now_ns, now)?;
                    Some(TimerDue { due_ns: due_ns.min(served_ns), served_ns })
                });
                self.expired[cpu.index()] = timer.map(|timer| Expired { timer, by_ns: now });
            }
            Activity::HrtimerExpireExit(_) => self.expired[cpu.index()] = None,
            _ => {
                self.course.lacks.interrupts &= Handled::begins(activity).is_none();
                self.course.cpus.does(cpu, now, activity);
            }
        }
    }

    /// Who wakes somebody with this event.
    fn woken(&mut self, event: &Event) -> Woken {
        let (at_ns, cpu) = (event.time_ns, event.cpu);
        let serves = self.course.cpus.serves(cpu);
        let interrupt = match event.context {
            Context::Hardirq | Context::Softirq => true,
            Context::Task => false,
            Context::Unknown => serves.is_some(),
        };
        let mut woken = Woken { waker: Waker::Interrupt(serves), ..Woken::untold(at_ns, cpu) };
        let expired = self.expired[cpu.index()].take();
        let runs = self.course.cpus.at(cpu, at_ns).base;
        if interrupt {
            woken.timer = expired.filter(|expired| expired.by_ns <= at_ns).map(|expired| expired.timer);
            return woken;
        }
        match runs {
            Base::Task(task) => {
                woken.waker = Waker::Task(task);
                if let Some(number) = self.by_pid.get(task.pid) {
                    let known = &self.tasks[number as usize];
                    (woken.wakers_wait, woken.waker_waited_ns) = (known.woken_wait, known.waited_ns);
                }
            }
            // The idle task wakes nobody by itself.
            Base::Idle => {}
            Base::Unknown => woken.waker = Waker::Unknown,
        }
        woken
    }

    fn task(&mut self, task: TaskRef) -> &mut Task {
        let number = self.by_pid.get(task.pid).unwrap_or_else(|| {
            let number = u32::try_from(self.tasks.len()).unwrap_or(u32::MAX);
            self.by_pid.insert(task.pid, number);
            let (cpu, left) = (Cpu(0), None);
            let is = Is::Unknown;
            self.tasks.push(Task { is, task, cpu, left, early: None, woken_wait: None, waited_ns: 0 });
            self.course.named.insert((task.pid, task.comm));
            number
        });
        let known = &mut self.tasks[number as usize];
        if known.task.comm != task.comm {
            self.course.named.insert((task.pid, task.comm));
        }
        known.task = task;
        known
    }
}

/// A time on a timer's clock as one on the trace's, where the timer expires `now_ns` and its event has the
/// time `event_ns`.
fn on_the_traces_clock(asked_ns: i64, now_ns: i64, event_ns: u64) -> Option<u64> {
    let now_ns = u64::try_from(now_ns).ok()?;
    let asked_ns = u64::try_from(asked_ns).ok()?;
    if event_ns.abs_diff(now_ns) < SAME_CLOCK_NS {
        return Some(asked_ns);
    }
    event_ns.checked_sub(now_ns.checked_sub(asked_ns)?)
}

fn base(task: TaskRef) -> Base {
    if task.pid == Pid::IDLE { Base::Idle } else { Base::Task(task) }
}
