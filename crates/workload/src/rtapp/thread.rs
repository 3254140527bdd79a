//! One thread of a load: walks its phases, asks for steps, and writes its line of the log after each loop.

use super::cost;
use super::log::{Line, signed};
use super::marker::{self, Position};
use super::model::{Event, Phase, Repeat, Scheduling, Task, TimerRef, What};
use super::shared::Shared;
use crate::program::FAIR_TIMER_SLACK;
use machine::{Behaviour, ChannelId, Env, ForkKind, Step, TaskSpec};
use scheduler::{ClampRequest, CpuMask, Nanos};
use std::collections::VecDeque;
use std::rc::Rc;

/// What is to be done next.
#[derive(Debug)]
enum Op {
    /// A step of the machine.
    Step(Step),
    // Steps that are made when the thread gets to them:
    /// As many writes as it takes, one a step.
    Write { left: u64 },
    /// Another instance of a task.
    Fork(usize),
    /// A text for the trace.
    Mark(Mark),
    /// Something between two steps.
    Between(Between),
}

impl From<Step> for Op {
    fn from(step: Step) -> Op {
        Op::Step(step)
    }
}

impl From<Between> for Op {
    fn from(between: Between) -> Op {
        Op::Between(between)
    }
}

/// What happens between two steps, and takes no time.
#[derive(Clone, Copy, Debug)]
enum Between {
    /// Enter the list of waiters of a condition.
    Enqueue(usize),
    /// Count as one that waits at a barrier.
    Arrive,
    /// No longer.
    Pass,
    /// Wake the first waiter.
    Signal(usize),
    /// Wake all waiters.
    Broadcast(usize),
    /// The loop begins now.
    Begin,
    /// The work that began then is done.
    WorkDone { since: Nanos },
    /// The wait of `runtime` is over; the loop of work that was under way is not.
    SpinDone { since: Nanos, cpu_time: Nanos },
    /// The timer that was due then has woken the thread.
    Woken { due: Nanos },
}

/// Text for the trace, made when it is written.
#[derive(Clone, Copy, Debug)]
enum Mark {
    Clock,
    Task(&'static str),
    Loop { edge: &'static str, at: Position },
    Event(usize),
    Stats { end: Nanos },
}

/// Where the thread stands in its phase.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Start,
    LoopStart,
    /// Before this event.
    Event(usize),
    /// Between its marker and the event itself.
    Marked(usize),
    LoopEnd,
    Over,
}

/// The behaviour of a thread. Nothing is allocated in steady state, except the boxes of forks and markers.
#[derive(Debug)]
pub(super) struct Thread {
    shared: Rc<Shared>,
    task: usize,
    /// Its entry in the log.
    number: usize,
    /// For its waits on conditions; `None` if it has no such event.
    channel: Option<ChannelId>,
    own_timers: Vec<Option<Nanos>>,
    stage: Stage,
    at: Position,
    ops: VecDeque<Op>,
    /// The latest change of policy or nice came from this phase; `None`: from the task.
    scheduled_by: Option<usize>,
    scheduling: Scheduling,
    /// Allowed CPUs at its creation.
    inherited: CpuMask,
    affinity: CpuMask,
    held: Vec<usize>,
    /// Locks less unlocks in this loop: when the use case is over, a loop that holds locks goes on to give
    /// them back.
    open_locks: i64,
    line: Line,
}

/// A thread as the machine wants it, entered in the log. `inherited` are the CPUs of whoever creates it:
/// pthread_create hands them on, and they count where the file names none.
pub(super) fn spec(
    shared: &Rc<Shared>,
    task: usize,
    name: String,
    channel: Option<ChannelId>,
    inherited: CpuMask,
) -> TaskSpec {
    let definition = &shared.app.tasks[task];
    let Scheduling { policy, nice, slice, clamps } = definition.scheduling;
    let set_clamps = (clamps != ClampRequest::default()).then_some(Step::SetClamps(clamps));
    let affinity = shared.phase_cpus[task][0].unwrap_or(inherited);
    let number = {
        let log = &mut shared.state.borrow_mut().log;
        log.push(super::log::RtAppThread::new(name.clone(), shared.app.global.loop_ns.is_some()));
        log.len() - 1
    };
    let thread = Thread {
        shared: shared.clone(),
        task,
        number,
        channel,
        own_timers: vec![None; definition.own_timers.len()],
        stage: Stage::Start,
        at: Position { thread_loop: 0, phase: 0, phase_loop: 0 },
        ops: slice.map(Step::SetSlice).into_iter().chain(set_clamps).map(Op::Step).collect(),
        scheduled_by: None,
        scheduling: definition.scheduling,
        inherited,
        affinity,
        held: Vec::new(),
        open_locks: 0,
        line: Line::default(),
    };
    TaskSpec {
        policy,
        nice: nice.unwrap_or_default(),
        cpus: Some(affinity),
        group: shared.groups[task],
        working_set_bytes: working_set(definition, shared.app.global.mem_buffer_bytes),
        timer_slack: if policy.is_rt() { Nanos::ZERO } else { FAIR_TIMER_SLACK },
        ..TaskSpec::new(name, thread)
    }
}

/// The part of the thread's memory buffer that its largest event touches.
fn working_set(task: &Task, buffer_bytes: u64) -> u64 {
    let bytes = |event: &Event| match event.what {
        What::Mem { bytes } | What::IoRun { bytes } => bytes.min(buffer_bytes),
        _ => 0,
    };
    task.phases.iter().flat_map(|phase| &phase.events).map(bytes).max().unwrap_or(0)
}

impl Behaviour for Thread {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        loop {
            match self.ops.pop_front() {
                // Every loop ends with a computation, so this ends.
                None => self.plan(env),
                Some(op) => {
                    if let Some(step) = self.perform(op, env) {
                        return step;
                    }
                }
            }
        }
    }
}

impl Thread {
    /// Plans the next stretch. The clock shows the time at which the one before ended.
    fn plan(&mut self, env: &mut Env<'_>) {
        let shared = self.shared.clone();
        let task = &shared.app.tasks[self.task];
        let phase = &task.phases[self.at.phase];
        match self.stage {
            Stage::Start => {
                shared.state.borrow_mut().log[self.number].pid = Some(env.pid);
                if shared.app.global.ftrace.task {
                    if self.number == 0 {
                        self.ops.push_back(Op::Mark(Mark::Clock));
                    }
                    self.ops.push_back(Op::Mark(Mark::Task("start")));
                }
                if task.delay > Nanos::ZERO {
                    self.ops.push_back(Step::SleepUntil(task.delay).into());
                }
                self.stage = Stage::LoopStart;
            }
            Stage::LoopStart => {
                if shared.is_over(env.now) {
                    shared.remaining.none();
                    // rt-app would keep what an earlier loop has locked; here the others may go on.
                    let unlock = |mutex: usize| Op::Step(Step::Unlock(shared.mutexes[mutex]));
                    self.ops.extend(self.held.drain(..).map(unlock));
                    self.stage = Stage::Over;
                    return;
                }
                if task.repeat == Repeat::Times(self.at.thread_loop) {
                    shared.remaining.one_less();
                    self.stage = Stage::Over;
                    return;
                }
                let affinity = shared.phase_cpus[self.task][self.at.phase].unwrap_or(self.inherited);
                self.change_attributes(phase, affinity);
                if shared.app.global.ftrace.r#loop {
                    self.ops.push_back(Op::Mark(Mark::Loop { edge: "start", at: self.at }));
                }
                self.ops.push_back(Between::Begin.into());
                self.stage = Stage::Event(0);
            }
            Stage::Event(number) => {
                let goes_on = !shared.is_over(env.now) || self.open_locks > 0;
                if number == phase.events.len() || !goes_on {
                    self.stage = Stage::LoopEnd;
                    return;
                }
                self.stage = Stage::Marked(number);
                if shared.app.global.ftrace.event {
                    self.ops.push_back(Op::Mark(Mark::Event(number)));
                }
            }
            Stage::Marked(number) => {
                self.stage = Stage::Event(number + 1);
                let what = phase.events[number].what;
                if !shared.is_over(env.now) || matches!(what, What::Lock(_) | What::Unlock(_)) {
                    self.event(what, env);
                }
            }
            Stage::LoopEnd => self.end_loop(task, phase, env),
            Stage::Over => {
                if shared.app.global.ftrace.task {
                    self.ops.push_back(Op::Mark(Mark::Task("end")));
                }
                self.ops.push_back(Step::Exit.into());
            }
        }
    }

    /// What rt-app sets before each loop: the affinity if it differs, the scheduling if another phase set it
    /// last.
    fn change_attributes(&mut self, phase: &Phase, affinity: CpuMask) {
        if affinity != self.affinity {
            self.affinity = affinity;
            self.ops.push_back(Step::SetAffinity { target: None, cpus: Box::new(affinity) }.into());
        }
        let Some(wanted) = phase.scheduling.filter(|_| self.scheduled_by != Some(self.at.phase)) else {
            return;
        };
        self.scheduled_by = Some(self.at.phase);
        if wanted.policy != self.scheduling.policy || wanted.policy.is_rt() {
            self.ops.push_back(Step::SetPolicy { target: None, policy: wanted.policy }.into());
        }
        // Those that it says nothing of stay as they are.
        let ClampRequest { min, max } = self.scheduling.clamps;
        let clamps = ClampRequest { min: wanted.clamps.min.or(min), max: wanted.clamps.max.or(max) };
        let changes_clamps = clamps != self.scheduling.clamps;
        self.scheduling = Scheduling { clamps, ..wanted };
        let set_nice = |nice| Op::Step(Step::SetNice { target: None, nice });
        self.ops.extend(wanted.nice.map(set_nice));
        self.ops.extend(wanted.slice.map(|slice| Op::Step(Step::SetSlice(slice))));
        self.ops.extend(changes_clamps.then_some(Op::Step(Step::SetClamps(clamps))));
    }

    fn event(&mut self, what: What, env: &mut Env<'_>) {
        let shared = self.shared.clone();
        match what {
            What::Run(time) => {
                self.line.c_duration += time;
                self.line.perf += shared.perf(time);
                self.ops.push_back(Step::Compute(shared.work(time)).into());
                self.ops.push_back(Between::WorkDone { since: env.now }.into());
            }
            What::Runtime(time) => {
                self.line.c_duration += time;
                self.ops.push_back(Step::SpinUntil(env.now.saturating_add(time)).into());
                let cpu_time = env.counters.sum_exec_runtime;
                self.ops.push_back(Between::SpinDone { since: env.now, cpu_time }.into());
            }
            What::Mem { bytes } => self.ops.push_back(Step::Compute(cost::MEMSET.time(bytes)).into()),
            What::IoRun { bytes } => self.ops.push_back(Op::Write { left: bytes }),
            What::Sleep(time) => self.ops.push_back(Step::SleepFor(time).into()),
            What::Timer { timer, period } => self.timer(timer, period, env.now),
            What::Lock(mutex) => {
                self.open_locks += 1;
                self.held.push(mutex);
                self.ops.push_back(Step::Lock(shared.mutexes[mutex]).into());
            }
            What::Unlock(mutex) => {
                self.open_locks -= 1;
                self.held.retain(|held| *held != mutex);
                self.ops.push_back(Step::Unlock(shared.mutexes[mutex]).into());
            }
            What::Wait { condition, mutex } => self.wait(condition, mutex),
            What::Sync { condition, mutex } => {
                let locked_here = !self.held.contains(&mutex);
                if locked_here {
                    self.ops.push_back(Step::Lock(shared.mutexes[mutex]).into());
                }
                self.ops.push_back(Between::Signal(condition).into());
                self.wait(condition, mutex);
                if locked_here {
                    self.ops.push_back(Step::Unlock(shared.mutexes[mutex]).into());
                }
            }
            What::Suspend { condition, mutex } => {
                self.ops.push_back(Step::Lock(shared.mutexes[mutex]).into());
                self.wait(condition, mutex);
                self.ops.push_back(Step::Unlock(shared.mutexes[mutex]).into());
            }
            What::Resume { condition, mutex } => {
                let mutex = shared.mutexes[mutex];
                let broadcast = Between::Broadcast(condition).into();
                self.ops.extend([Step::Lock(mutex).into(), broadcast, Step::Unlock(mutex).into()]);
            }
            What::Signal(condition) => self.ops.push_back(Between::Signal(condition).into()),
            What::Broadcast(condition) => self.ops.push_back(Between::Broadcast(condition).into()),
            What::Barrier(barrier) => {
                let wait = Step::BarrierWait(shared.barriers[barrier]).into();
                self.ops.extend([Between::Arrive.into(), wait, Between::Pass.into()]);
            }
            What::Fork(task) => self.ops.push_back(Op::Fork(task)),
            What::Yield => self.ops.push_back(Step::Yield.into()),
            What::SemPost(semaphore) => self.ops.push_back(Step::Send(shared.semaphores[semaphore]).into()),
            What::SemWait(semaphore) => {
                self.ops.push_back(Step::Receive(shared.semaphores[semaphore]).into())
            }
        }
    }

    /// pthread_cond_wait.
    fn wait(&mut self, condition: usize, mutex: usize) {
        if let Some(channel) = self.channel {
            let mutex = self.shared.mutexes[mutex];
            self.ops.extend([
                Between::Enqueue(condition).into(),
                Step::Unlock(mutex).into(),
                Step::Receive(channel).into(),
                Step::Lock(mutex).into(),
            ]);
        }
    }

    fn timer(&mut self, timer: TimerRef, period: Nanos, now: Nanos) {
        let shared = self.shared.clone();
        let absolute = shared.is_absolute(self.task, timer);
        let mut state = shared.state.borrow_mut();
        let next = match timer {
            TimerRef::Shared(number) => state.shared_timer(number),
            TimerRef::Own(number) => &mut self.own_timers[number],
        };
        // A timer starts with the first thread that uses it: at the start of the use case and after its
        // delay.
        let due = next.unwrap_or(shared.app.tasks[self.task].delay).saturating_add(period);
        let line = &mut self.line;
        line.has_timer = true;
        line.c_period += period;
        let slack = signed(due) - signed(now);
        line.slack_ns = if shared.app.global.cumulative_slack { line.slack_ns + slack } else { slack };
        if now < due {
            *next = Some(due);
            self.ops.extend([Step::SleepUntil(due).into(), Between::Woken { due }.into()]);
        } else {
            *next = Some(if absolute { due } else { now });
            line.wu_lat = Nanos::ZERO;
        }
    }

    fn end_loop(&mut self, task: &Task, phase: &Phase, env: &mut Env<'_>) {
        let shared = self.shared.clone();
        // rt-app drops the line of a loop that was cut short.
        if !shared.is_over(env.now) {
            shared.state.borrow_mut().log[self.number].add(&self.line, env.now);
            *env.iterations += 1;
        }
        if shared.app.global.ftrace.r#loop {
            self.ops.push_back(Op::Mark(Mark::Loop { edge: "end", at: self.at }));
        }
        if shared.app.global.ftrace.stats {
            self.ops.push_back(Op::Mark(Mark::Stats { end: env.now }));
        }
        self.ops.push_back(Step::Compute(cost::LOOP).into());
        self.stage = Stage::LoopStart;
        self.at.phase_loop += 1;
        if phase.repeat == Repeat::Times(self.at.phase_loop) {
            self.at.phase_loop = 0;
            self.at.phase += 1;
            if self.at.phase == task.phases.len() {
                self.at.phase = 0;
                self.at.thread_loop += 1;
            }
        }
    }

    /// Takes a step, or does what takes no time.
    fn perform(&mut self, op: Op, env: &Env<'_>) -> Option<Step> {
        match op {
            Op::Step(step) => Some(step),
            Op::Write { left } => self.write(left),
            Op::Fork(task) => self.fork(task),
            Op::Mark(mark) => {
                Some(Step::Marker(if env.traced { self.text(mark, env.now) } else { Box::default() }))
            }
            Op::Between(between) => {
                self.between(between, env);
                None
            }
        }
    }

    fn between(&mut self, between: Between, env: &Env<'_>) {
        let shared = &self.shared;
        match between {
            Between::Enqueue(condition) => {
                let Scheduling { policy, nice, .. } = self.scheduling;
                let prio = policy.normal_prio(nice.unwrap_or_default());
                if let Some(channel) = self.channel {
                    shared.state.borrow_mut().wait(condition, prio, channel);
                }
            }
            Between::Arrive => shared.state.borrow_mut().arrive(),
            Between::Pass => shared.state.borrow_mut().pass(),
            Between::Signal(condition) => {
                if let Some(channel) = shared.state.borrow_mut().signal(condition) {
                    self.ops.push_front(Step::Send(channel).into());
                }
            }
            Between::Broadcast(condition) => {
                // Those who wait now, not those who come while they are being woken.
                for channel in shared.state.borrow_mut().broadcast(condition).rev() {
                    self.ops.push_front(Step::Send(channel).into());
                }
            }
            Between::Begin => {
                self.line = Line { start: env.now, ..Line::default() };
                self.open_locks = 0;
            }
            Between::WorkDone { since } => self.line.run += env.now.saturating_sub(since),
            Between::SpinDone { since, cpu_time } => {
                self.finish_runtime(since, env.counters.sum_exec_runtime.saturating_sub(cpu_time));
            }
            Between::Woken { due } => self.line.wu_lat += env.now.saturating_sub(due),
        }
    }

    /// `runtime` looks at the clock between loops of work, so the loop under way when its time is up is
    /// finished.
    fn finish_runtime(&mut self, since: Nanos, cpu_time: Nanos) {
        let loop_time = self.shared.work(cost::RUNTIME_LOOP).0;
        if loop_time > 0 {
            let loops = cpu_time.0.div_ceil(loop_time).max(1);
            self.line.perf += loops * self.shared.perf(cost::RUNTIME_LOOP);
            self.ops.push_back(Step::Compute(Nanos(loops * loop_time - cpu_time.0)).into());
        }
        self.ops.push_back(Between::WorkDone { since }.into());
    }

    fn write(&mut self, left: u64) -> Option<Step> {
        let global = &self.shared.app.global;
        let part = left.min(global.mem_buffer_bytes);
        let copy = if global.io_is_null { Nanos::ZERO } else { cost::PAGE_CACHE_COPY.time(part) };
        if part == 0 {
            return None;
        }
        self.ops.push_front(Op::Write { left: left - part });
        Some(Step::KernelCompute(cost::WRITE_CALL + copy))
    }

    fn fork(&mut self, task: usize) -> Option<Step> {
        let (forked, number) = {
            let mut state = self.shared.state.borrow_mut();
            (state.fork(task)?, state.log.len())
        };
        let name = format!("{}-{number}-{:04}", self.shared.app.tasks[task].name, forked.count);
        self.shared.remaining.one_more();
        let child = spec(&self.shared, task, name, forked.channel, self.affinity);
        Some(Step::Fork { child: Box::new(child), kind: ForkKind::Thread })
    }

    fn text(&self, mark: Mark, now: Nanos) -> Box<str> {
        match mark {
            Mark::Clock => marker::clock_reference(now),
            Mark::Task(edge) => marker::task(edge),
            Mark::Loop { edge, at } => marker::r#loop(edge, at),
            Mark::Event(number) => {
                marker::event(number, &self.shared.app.tasks[self.task].phases[self.at.phase].events[number])
            }
            Mark::Stats { end } => marker::stats(&self.line, end),
        }
    }
}
