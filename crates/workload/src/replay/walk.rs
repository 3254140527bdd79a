//! Walks through the events of a trace in order of time and drafts each task's program.
//!
//! What a CPU does between two events is one task's CPU time; a step is drafted at the point of that time at
//! which its event lies. Where the kernel accounts run time (`sched_stat_runtime`: the fair class always, the
//! others since Linux 6.8), the task's CPU time is what it says: time that the host stole, and what recording
//! costs, are not the task's. A wakeup counts when it ends a sleep: `sched_waking` says who does it,
//! `sched_wakeup` that it has an effect. A waker on another CPU may be so early that its sleeper has not
//! switched out yet.

mod activity;
mod calls;
mod pieces;
mod wakeups;

use super::counts::Counts;
use super::mutexes::Evidence;
use super::paths::{Slept, Ways};
use super::recording::{Begin, FIRST_FAIR_PRIO, TaskIndex};
use super::ticks::TickSample;
use super::track::{Draft, DraftStep, State, Track};
use super::whereabouts::Wait;
use super::yields::{Departure, Left};
pub(super) use activity::Kernel;
use calls::LastCall;
use machine::CountedFrom;
use std::collections::BTreeMap;
use trace::{
    Event, EventKind, NoteKind, Occupancy, Pid, PrevState, Provenance, SchedSwitch, Since, Stay, StrId,
    TaskRef, Trace, WakeupEvent,
};

/// The kernel accounts from picking a task on, and to picking the next one; a switch is recorded a little
/// later. Differences of this size are no missing switches, and what a switch costs is taken out by
/// `overhead`, from switch to switch.
const WAY_TO_THE_NEXT_NS: u64 = 1_000;

/// What a CPU does.
#[derive(Clone, Copy, Debug, Default)]
struct CpuNow {
    /// The task that runs, idle left out, and since when its CPU time has not been added up yet.
    running: Option<(TaskIndex, u64)>,
    /// When that task came.
    arrived_ns: u64,
    idle: bool,
    /// A task was queued here since then, so that it may be preempted.
    disturbed: bool,
    /// Time since the kernel last accounted that task's run time, or since it came.
    unaccounted_ns: u64,
    /// The kernel has accounted some of this stay. It does so for the last time just before the task leaves.
    accounted: bool,
    /// The stay began before the trace.
    cut: bool,
    /// The system call that the task may still be in.
    last_call: Option<LastCall>,
}

/// See the module's head.
pub(super) struct Walk<'a> {
    trace: &'a Trace,
    occupancy: Occupancy,
    pub tasks: Vec<Track>,
    by_pid: BTreeMap<Pid, TaskIndex>,
    cpus: Vec<CpuNow>,
    pub counts: Counts,
    /// What only a tick can have caused: departures of fair tasks whose slice is over, and wakeups of RCU's
    /// threads by soft interrupts.
    pub by_ticks: Vec<TickSample>,
    /// Other wakeups by soft interrupts: those of soft timers come with the tick.
    pub soft_wakeups: Vec<TickSample>,
    /// Expiries of the tick's own timer.
    pub ticks: Vec<TickSample>,
    /// Who has mutexes.
    pub mutexes: Evidence,
    /// From where times after wakeups count.
    pub counted_from: CountedFrom,
    /// Ways from wakeups to switches.
    pub ways: Ways,
    /// What else the kernel did.
    pub kernel: Kernel,
    /// The last task that fell asleep in state D.
    asked_last: Option<TaskIndex>,
    /// Whether a task that nobody woke must have been runnable from the start.
    whole: bool,
    idle_cpus: usize,
    /// Time during which at least one CPU was idle, up to `idle_since`.
    idle_ns: u64,
    idle_since: u64,
    /// When the trace begins, ns.
    start_ns: u64,
}

impl<'a> Walk<'a> {
    /// Walks through the whole trace.
    pub fn all(trace: &'a Trace) -> Walk<'a> {
        let mut walk = Walk {
            trace,
            occupancy: Occupancy::new(trace),
            tasks: Vec::new(),
            by_pid: BTreeMap::new(),
            cpus: vec![CpuNow::default(); trace.cpus as usize],
            counts: Counts::default(),
            by_ticks: Vec::new(),
            soft_wakeups: Vec::new(),
            ticks: Vec::new(),
            mutexes: Evidence::default(),
            counted_from: match WakeupEvent::of(trace) {
                WakeupEvent::Wakeup => CountedFrom::Wakeup,
                WakeupEvent::Waking => CountedFrom::Waking,
            },
            ways: Ways::default(),
            kernel: Kernel::new(trace),
            asked_last: None,
            whole: trace.meta.gaps.is_empty() && trace.notes.count(NoteKind::NoWakeups) == 0,
            idle_cpus: 0,
            idle_ns: 0,
            idle_since: trace.start_ns(),
            start_ns: trace.start_ns(),
        };
        walk.idle_at_start();
        for event in &trace.events {
            let event = walk.kernel.with_context(event);
            match &event.kind {
                EventKind::Activity(activity) => walk.activity(&event, activity),
                _ => walk.event(&event),
            }
        }
        for cpu in 0..walk.cpus.len() {
            walk.account(cpu, trace.end_ns());
        }
        for task in 0..walk.tasks.len() {
            let track = &mut walk.tasks[task];
            let (pending, early) = (track.pending.take(), track.early.take());
            walk.cancel(pending);
            walk.cancel(early);
        }
        walk
    }

    /// The first event of a CPU tells what it did before.
    fn idle_at_start(&mut self) {
        let mut seen = vec![false; self.cpus.len()];
        for event in self.trace.events.iter().filter(|event| !event.kind.is_activity()) {
            let cpu = event.cpu.index();
            if !std::mem::replace(&mut seen[cpu], true) {
                let runs = match &event.kind {
                    EventKind::SchedSwitch(switch) => switch.prev.pid,
                    _ => event.pid,
                };
                self.set_idle(cpu, runs == Pid::IDLE, self.trace.start_ns());
            }
        }
    }

    fn event(&mut self, event: &Event) {
        let observed = self.occupancy.observe(event);
        let cpu = event.cpu.index();
        for stay in [observed.displaced, observed.lost].into_iter().flatten() {
            self.vanish(cpu, stay);
        }
        if let EventKind::SchedSwitch(switch) = &event.kind {
            if let Some(stay) = observed.left {
                self.appear(cpu, stay, event.time_ns);
            }
            return self.switch(event, switch);
        }
        if let Some(stay) = self.occupancy.on(event.cpu) {
            self.appear(cpu, stay, event.time_ns);
        }
        match &event.kind {
            EventKind::SchedSwitch(_) | EventKind::Activity(_) => {}
            EventKind::SchedWaking(w) | EventKind::SchedWakeup(w) | EventKind::SchedWakeupNew(w)
                if w.task.pid == Pid::IDLE => {}
            EventKind::SchedMigrateTask(moved) if moved.task.pid == Pid::IDLE => {}
            EventKind::SchedProcessFork(fork)
                if fork.child_pid == Pid::IDLE || fork.parent_pid == Pid::IDLE => {}
            EventKind::SchedProcessExit(task) if task.pid == Pid::IDLE => {}
            EventKind::SchedPiSetprio(pi) if pi.pid == Pid::IDLE => {}
            EventKind::SchedStatRuntime(stat) if stat.pid == Pid::IDLE => {}
            EventKind::SchedWaking(wakeup) => self.waking(event, wakeup),
            EventKind::SchedWakeup(wakeup) => self.wakeup(event, wakeup),
            EventKind::SchedWakeupNew(wakeup) => self.wakeup_new(event, wakeup),
            EventKind::SchedMigrateTask(moved) => {
                self.sighted(&moved.task);
                self.disturb(moved.dest_cpu.index());
            }
            EventKind::SchedProcessFork(fork) => {
                let parent = self.named(fork.parent_pid, fork.parent_comm);
                let child = self.child(fork.child_pid);
                self.tasks[child.index()].first_comm.get_or_insert(fork.child_comm);
                self.fork(event, Some(parent), child);
            }
            EventKind::SchedProcessExec(exec) => {
                let task = self.task(exec.pid);
                self.counts.by_stopper += u64::from(self.tasks[task.index()].was_moved_by_exec());
                self.step(event, exec.pid, Draft::Exec(exec.filename));
            }
            EventKind::SchedProcessExit(task) => {
                let task = self.sighted(task);
                self.tasks[task.index()].ended = true;
            }
            EventKind::SchedPiSetprio(pi) => {
                let task = self.named(pi.pid, pi.comm);
                let track = &mut self.tasks[task.index()];
                track.first_prio.get_or_insert(pi.oldprio);
                track.prio.get_or_insert(super::track::Prio::new(pi.oldprio)).inherit(pi.newprio);
                self.counts.inherited += 1;
                self.inheritance(event, task, pi);
                self.another_rank(task, event.time_ns);
            }
            EventKind::SchedStatRuntime(stat) => {
                let task = self.named(stat.pid, stat.comm);
                self.accounted(task, stat.runtime_ns, event.time_ns);
            }
            EventKind::Marker(text) => self.step(event, event.pid, Draft::Marker(*text)),
        }
    }

    // Who is where.

    fn task(&mut self, pid: Pid) -> TaskIndex {
        match self.by_pid.get(&pid) {
            Some(task) => *task,
            None => self.add(pid, 0),
        }
    }

    fn add(&mut self, pid: Pid, incarnation: u32) -> TaskIndex {
        let task = TaskIndex(self.tasks.len() as u32);
        self.tasks.push(Track::new(pid, incarnation));
        self.by_pid.insert(pid, task);
        task
    }

    fn named(&mut self, pid: Pid, comm: StrId) -> TaskIndex {
        let task = self.task(pid);
        let track = &mut self.tasks[task.index()];
        track.first_comm.get_or_insert(comm);
        track.last_comm = Some(comm);
        task
    }

    /// An event names a task and its priority.
    fn sighted(&mut self, who: &TaskRef) -> TaskIndex {
        let task = self.named(who.pid, who.comm);
        self.counts.priority_changes += u64::from(self.tasks[task.index()].sight(who.prio));
        task
    }

    /// A switch names a task. One that was inferred has its priority from another moment.
    fn switched(&mut self, who: &TaskRef, provenance: Provenance) -> TaskIndex {
        match provenance {
            Provenance::Recorded => self.sighted(who),
            Provenance::Inferred => self.named(who.pid, who.comm),
        }
    }

    /// The child of a fork: a new task, unless its id belongs to one that has not ended.
    fn child(&mut self, pid: Pid) -> TaskIndex {
        let task = self.task(pid);
        let track = &self.tasks[task.index()];
        // Not every recorder writes sched_process_exit.
        let is_over = track.ended || track.state == State::Dead;
        if is_over { self.add(pid, track.incarnation + 1) } else { task }
    }

    // CPU time.

    /// Adds up the CPU time of the task that runs on `cpu`, until now.
    fn account(&mut self, cpu: usize, now_ns: u64) {
        let now = &mut self.cpus[cpu];
        if let Some((task, from_ns)) = &mut now.running {
            let passed_ns = now_ns.saturating_sub(*from_ns);
            self.tasks[task.index()].run(passed_ns);
            now.unaccounted_ns = now.unaccounted_ns.saturating_add(passed_ns);
            *from_ns = now_ns.max(*from_ns);
        }
    }

    /// The CPU on which a task runs.
    fn cpu_of(&self, task: TaskIndex) -> Option<usize> {
        self.cpus.iter().position(|now| now.running.is_some_and(|(running, _)| running == task))
    }

    /// The kernel says for how long a task has run since it last said so.
    fn accounted(&mut self, task: TaskIndex, runtime_ns: u64, now_ns: u64) {
        let Some(cpu) = self.cpu_of(task) else { return };
        self.account(cpu, now_ns);
        let now = &mut self.cpus[cpu];
        let passed_ns = std::mem::take(&mut now.unaccounted_ns);
        let before_the_trace = now.cut && !now.accounted;
        now.accounted = true;
        let before_ns = self.tasks[task.index()].cpu_time_ns.saturating_sub(passed_ns);
        let longest_ns = now_ns.saturating_sub(self.start_ns).saturating_sub(before_ns);
        let runtime_ns = if before_the_trace {
            runtime_ns.min(passed_ns)
        } else if runtime_ns > longest_ns.saturating_add(WAY_TO_THE_NEXT_NS) {
            // Nobody runs longer in all than time has passed; one damaged bit makes centuries of it.
            self.counts.impossible_runtimes += 1;
            passed_ns
        } else {
            runtime_ns
        };
        if runtime_ns.abs_diff(passed_ns) > WAY_TO_THE_NEXT_NS {
            self.tasks[task.index()].correct(passed_ns, runtime_ns);
        }
    }

    /// The task on `cpu` leaves. What has passed since the last accounting was the way to the next task.
    fn settle_stay(&mut self, cpu: usize) {
        let now = self.cpus[cpu];
        let is_long = now.unaccounted_ns > WAY_TO_THE_NEXT_NS;
        if let (Some((task, _)), true) = (now.running, now.accounted && is_long) {
            self.tasks[task.index()].correct(now.unaccounted_ns, 0);
        }
    }

    /// An event proves that a task runs on `cpu`, whose arrival may not have been recorded.
    fn appear(&mut self, cpu: usize, stay: Stay, now_ns: u64) {
        if stay.pid == Pid::IDLE {
            return self.set_idle(cpu, true, now_ns);
        }
        if self.cpus[cpu].running.is_some_and(|(running, _)| self.tasks[running.index()].pid == stay.pid) {
            return;
        }
        let task = self.task(stay.pid);
        let from_ns = match stay.since {
            Since::Start => self.start_ns,
            Since::Seen(ns) => ns,
            Since::Unseen => now_ns,
        };
        self.counts.lost_stays += u64::from(stay.since == Since::Unseen);
        let at_start = stay.since == Since::Start;
        self.arrive(cpu, task, from_ns, at_start);
        self.tasks[task.index()].woken = None;
        self.ways.switched(cpu as u32, now_ns);
    }

    /// The task on `cpu` is gone, and nobody saw it go.
    fn vanish(&mut self, cpu: usize, stay: Stay) {
        self.account(cpu, stay.last_ns);
        self.settle_stay(cpu);
        self.set_idle(cpu, false, stay.last_ns);
        if let Some((task, _)) = self.cpus[cpu].running.take() {
            self.tasks[task.index()].state = State::Lost;
            self.counts.lost_stays += 1;
        }
    }

    fn arrive(&mut self, cpu: usize, task: TaskIndex, now_ns: u64, at_start: bool) {
        let whole = self.whole || at_start;
        let start_ns = self.start_ns;
        let idle_ns = self.idle_clock(now_ns);
        self.set_idle(cpu, false, now_ns);
        self.cpus[cpu] =
            CpuNow { running: Some((task, now_ns)), arrived_ns: now_ns, cut: at_start, ..CpuNow::default() };
        let track = &mut self.tasks[task.index()];
        if track.state == State::Unseen && track.pending.is_some() {
            track.sleep(None, PrevState::Unknown);
            track.begin.get_or_insert(Begin::Asleep);
        }
        match track.state {
            State::Unseen if track.begin.is_none() => {
                let (at, cpu) = (scheduler::Nanos(now_ns - start_ns), cpu as u32);
                track.begin =
                    Some(if whole { Begin::Runnable { cpu } } else { Begin::Appears { at, cpu: Some(cpu) } });
                self.counts.appeared += u64::from(!whole);
            }
            State::Asleep => self.unseen_wakeup(task, now_ns),
            State::Dead => {
                track.revive();
                self.unseen_wakeup(task, now_ns);
            }
            _ => {}
        }
        let early = self.tasks[task.index()].early.take();
        self.cancel(early);
        let track = &mut self.tasks[task.index()];
        track.state = State::Running;
        track.arrivals += 1;
        track.arrive(cpu as u32);
        if track.whereabouts.arrive(cpu, idle_ns) {
            track.whereabouts.since_step = Some(track.steps.len());
            track.steps.push(Draft::Nothing);
        }
    }

    fn switch(&mut self, event: &Event, switch: &SchedSwitch) {
        let (now_ns, cpu) = (event.time_ns, event.cpu.index());
        if switch.prev.pid != Pid::IDLE {
            self.account(cpu, now_ns);
            self.settle_stay(cpu);
            let task = self.switched(&switch.prev, switch.provenance);
            self.depart(cpu, task, switch, now_ns);
        }
        self.cpus[cpu].running = None;
        if switch.next.pid == Pid::IDLE {
            self.set_idle(cpu, true, now_ns);
        } else {
            let task = self.switched(&switch.next, switch.provenance);
            self.arrive(cpu, task, now_ns, false);
            let track = &mut self.tasks[task.index()];
            if let (Some(woken), Some(sleep)) = (track.woken.take(), track.sleeps.len().checked_sub(1)) {
                self.ways.arrives(cpu as u32, now_ns, switch, woken, Slept { task, sleep });
            }
        }
        self.ways.switched(cpu as u32, now_ns);
    }

    fn depart(&mut self, cpu: usize, task: TaskIndex, switch: &SchedSwitch, now_ns: u64) {
        let idle_ns = self.idle_clock(now_ns);
        let beside_lower = self.runs_lower_beside(cpu, switch.prev.prio);
        let now = self.cpus[cpu];
        let track = &mut self.tasks[task.index()];
        if switch.prev_state.is_dead() {
            track.steps.push(Draft::Exit);
            track.exited_ns = Some(now_ns);
            track.state = State::Dead;
        } else if switch.prev_state.is_runnable() {
            track.state = State::Runnable;
            let outranked = switch.next.prio <= switch.prev.prio && switch.next.pid != Pid::IDLE;
            let real_time = switch.prev.prio < FIRST_FAIR_PRIO;
            track.whereabouts.waits =
                Some(Wait { idle_clock_ns: idle_ns, real_time, outranked, beside_lower });
            let left = Left {
                by_call: switch.prev_state == PrevState::Running,
                prio: switch.prev.prio,
                next_prio: (switch.next.pid != Pid::IDLE).then_some(switch.next.prio),
                disturbed: now.disturbed,
                stayed_ns: now_ns.saturating_sub(now.arrived_ns),
            };
            match left.departure() {
                Departure::Preempted if now.disturbed || switch.prev.prio < FIRST_FAIR_PRIO => {}
                Departure::Preempted => {
                    self.by_ticks.push(TickSample { cpu: cpu as u32, at_ns: now_ns });
                }
                Departure::SliceEnd => track.round_robin = true,
                Departure::Yield => {
                    track.steps.push(Draft::Yield);
                }
            }
        } else {
            track.sleep(Some(now_ns), switch.prev_state);
            if switch.prev_state == PrevState::Uninterruptible {
                self.asked_last = Some(task);
            }
        }
    }

    // Idle time, to see which tasks were kept waiting beside it.

    fn set_idle(&mut self, cpu: usize, idle: bool, now_ns: u64) {
        if self.cpus[cpu].idle != idle {
            self.idle_ns = self.idle_clock(now_ns);
            self.idle_since = self.idle_since.max(now_ns);
            self.cpus[cpu].idle = idle;
            self.idle_cpus = if idle { self.idle_cpus + 1 } else { self.idle_cpus - 1 };
        }
    }

    /// Time so far during which some CPU was idle.
    fn idle_clock(&self, now_ns: u64) -> u64 {
        let since = if self.idle_cpus > 0 { now_ns.saturating_sub(self.idle_since) } else { 0 };
        self.idle_ns + since
    }

    fn disturb(&mut self, cpu: usize) {
        self.cpus[cpu].disturbed = true;
    }

    // Steps.

    /// Drafts a step of the task with this id, if it is the one that runs.
    fn step(&mut self, event: &Event, pid: Pid, step: Draft) {
        let cpu = event.cpu.index();
        let Some((task, _)) = self.cpus[cpu].running else { return };
        if self.tasks[task.index()].pid == pid {
            self.draft(cpu, task, event.time_ns, step);
        }
    }

    fn draft(&mut self, cpu: usize, task: TaskIndex, now_ns: u64, step: Draft) -> DraftStep {
        self.account(cpu, now_ns);
        let steps = &mut self.tasks[task.index()].steps;
        steps.push(step);
        let place = DraftStep { task, step: steps.len() - 1 };
        let last_call = &mut self.cpus[cpu].last_call;
        *last_call = LastCall::after(*last_call, step, place, now_ns);
        place
    }
}
