//! One thread of a load: walks its phases, asks for steps, and writes its line of the log after each loop.

use super::cost;
use super::log::{Line, signed};
use super::marker::{self, Position};
use super::model::{Event, Phase, Repeat, Scheduling, Task, TimerRef, What};
use super::shared::Shared;
use crate::program::FAIR_TIMER_SLACK;
use machine::{Behaviour, ChannelId, Env, ForkKind, Step, TaskSpec};
use scheduler::{CpuMask, Nanos, Nice, Policy};
use std::collections::VecDeque;
use std::rc::Rc;

/// What is to be done next: steps of the machine, and what happens between two steps.
#[derive(Clone, Copy, Debug)]
enum Op {
    Compute(Nanos),
    /// As many writes as it takes, one a step.
    Write {
        left: u64,
    },
    SpinUntil(Nanos),
    SleepFor(Nanos),
    SleepUntil(Nanos),
    Lock(usize),
    Unlock(usize),
    Send(ChannelId),
    Receive(ChannelId),
    Barrier(usize),
    Yield,
    Fork(usize),
    SetPolicy(Policy),
    SetNice(Nice),
    SetAffinity(CpuMask),
    Mark(Mark),
    Exit,
    // Between two steps:
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
    WorkDone {
        since: Nanos,
    },
    /// The wait of `runtime` is over; the loop of work that was under way is not.
    SpinDone {
        since: Nanos,
        cpu_time: Nanos,
    },
    /// The timer that was due then has woken the thread.
    Woken {
        due: Nanos,
    },
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
    let Scheduling { policy, nice } = definition.scheduling;
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
        ops: VecDeque::new(),
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
                    self.ops.push_back(Op::SleepUntil(task.delay));
                }
                self.stage = Stage::LoopStart;
            }
            Stage::LoopStart => {
                if shared.is_over(env.now) {
                    shared.remaining.none();
                    // rt-app would keep what an earlier loop has locked; here the others may go on.
                    self.ops.extend(self.held.drain(..).map(Op::Unlock));
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
                self.ops.push_back(Op::Begin);
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
                self.ops.push_back(Op::Exit);
            }
        }
    }

    /// What rt-app sets before each loop: the affinity if it differs, the scheduling if another phase set it
    /// last.
    fn change_attributes(&mut self, phase: &Phase, affinity: CpuMask) {
        if affinity != self.affinity {
            self.affinity = affinity;
            self.ops.push_back(Op::SetAffinity(affinity));
        }
        let Some(wanted) = phase.scheduling.filter(|_| self.scheduled_by != Some(self.at.phase)) else {
            return;
        };
        self.scheduled_by = Some(self.at.phase);
        if wanted.policy != self.scheduling.policy || wanted.policy.is_rt() {
            self.ops.push_back(Op::SetPolicy(wanted.policy));
        }
        self.scheduling = wanted;
        self.ops.extend(wanted.nice.map(Op::SetNice));
    }

    fn event(&mut self, what: What, env: &mut Env<'_>) {
        let shared = self.shared.clone();
        match what {
            What::Run(time) => {
                self.line.c_duration += time;
                self.line.perf += shared.perf(time);
                self.ops.push_back(Op::Compute(shared.work(time)));
                self.ops.push_back(Op::WorkDone { since: env.now });
            }
            What::Runtime(time) => {
                self.line.c_duration += time;
                self.ops.push_back(Op::SpinUntil(env.now.saturating_add(time)));
                let cpu_time = env.counters.sum_exec_runtime;
                self.ops.push_back(Op::SpinDone { since: env.now, cpu_time });
            }
            What::Mem { bytes } => self.ops.push_back(Op::Compute(cost::MEMSET.time(bytes))),
            What::IoRun { bytes } => self.ops.push_back(Op::Write { left: bytes }),
            What::Sleep(time) => self.ops.push_back(Op::SleepFor(time)),
            What::Timer { timer, period } => self.timer(timer, period, env.now),
            What::Lock(mutex) => {
                self.open_locks += 1;
                self.held.push(mutex);
                self.ops.push_back(Op::Lock(mutex));
            }
            What::Unlock(mutex) => {
                self.open_locks -= 1;
                self.held.retain(|held| *held != mutex);
                self.ops.push_back(Op::Unlock(mutex));
            }
            What::Wait { condition, mutex } => self.wait(condition, mutex),
            What::Sync { condition, mutex } => {
                let locked_here = !self.held.contains(&mutex);
                if locked_here {
                    self.ops.push_back(Op::Lock(mutex));
                }
                self.ops.push_back(Op::Signal(condition));
                self.wait(condition, mutex);
                if locked_here {
                    self.ops.push_back(Op::Unlock(mutex));
                }
            }
            What::Suspend { condition, mutex } => {
                self.ops.push_back(Op::Lock(mutex));
                self.wait(condition, mutex);
                self.ops.push_back(Op::Unlock(mutex));
            }
            What::Resume { condition, mutex } => {
                self.ops.extend([Op::Lock(mutex), Op::Broadcast(condition), Op::Unlock(mutex)]);
            }
            What::Signal(condition) => self.ops.push_back(Op::Signal(condition)),
            What::Broadcast(condition) => self.ops.push_back(Op::Broadcast(condition)),
            What::Barrier(barrier) => self.ops.extend([Op::Arrive, Op::Barrier(barrier), Op::Pass]),
            What::Fork(task) => self.ops.push_back(Op::Fork(task)),
            What::Yield => self.ops.push_back(Op::Yield),
            What::SemPost(semaphore) => self.ops.push_back(Op::Send(shared.semaphores[semaphore])),
            What::SemWait(semaphore) => self.ops.push_back(Op::Receive(shared.semaphores[semaphore])),
        }
    }

    /// pthread_cond_wait.
    fn wait(&mut self, condition: usize, mutex: usize) {
        if let Some(channel) = self.channel {
            self.ops.extend([
                Op::Enqueue(condition),
                Op::Unlock(mutex),
                Op::Receive(channel),
                Op::Lock(mutex),
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
            self.ops.extend([Op::SleepUntil(due), Op::Woken { due }]);
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
        self.ops.push_back(Op::Compute(cost::LOOP));
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

    /// Does what takes no time, or says which step it is.
    fn perform(&mut self, op: Op, env: &Env<'_>) -> Option<Step> {
        let shared = &self.shared;
        Some(match op {
            Op::Compute(time) => Step::Compute(time),
            Op::Write { left } => return self.write(left),
            Op::SpinUntil(time) => Step::SpinUntil(time),
            Op::SleepFor(time) => Step::SleepFor(time),
            Op::SleepUntil(time) => Step::SleepUntil(time),
            Op::Lock(mutex) => Step::Lock(shared.mutexes[mutex]),
            Op::Unlock(mutex) => Step::Unlock(shared.mutexes[mutex]),
            Op::Send(channel) => Step::Send(channel),
            Op::Receive(channel) => Step::Receive(channel),
            Op::Barrier(barrier) => Step::BarrierWait(shared.barriers[barrier]),
            Op::Yield => Step::Yield,
            Op::Fork(task) => return self.fork(task),
            Op::SetPolicy(policy) => Step::SetPolicy { target: None, policy },
            Op::SetNice(nice) => Step::SetNice { target: None, nice },
            Op::SetAffinity(cpus) => Step::SetAffinity { target: None, cpus },
            Op::Mark(mark) if env.traced => Step::Marker(self.text(mark, env.now)),
            Op::Mark(_) => Step::Marker(Box::default()),
            Op::Exit => Step::Exit,
            Op::Enqueue(condition) => {
                let Scheduling { policy, nice } = self.scheduling;
                let prio = policy.normal_prio(nice.unwrap_or_default());
                if let Some(channel) = self.channel {
                    shared.state.borrow_mut().wait(condition, prio, channel);
                }
                return None;
            }
            Op::Arrive => {
                shared.state.borrow_mut().arrive();
                return None;
            }
            Op::Pass => {
                shared.state.borrow_mut().pass();
                return None;
            }
            Op::Signal(condition) => return shared.state.borrow_mut().signal(condition).map(Step::Send),
            Op::Broadcast(condition) => {
                // Those who wait now, not those who come while they are being woken.
                for channel in shared.state.borrow_mut().broadcast(condition).rev() {
                    self.ops.push_front(Op::Send(channel));
                }
                return None;
            }
            Op::Begin => {
                self.line = Line { start: env.now, ..Line::default() };
                self.open_locks = 0;
                return None;
            }
            Op::WorkDone { since } => {
                self.line.run += env.now.saturating_sub(since);
                return None;
            }
            Op::SpinDone { since, cpu_time } => {
                self.finish_runtime(since, env.counters.sum_exec_runtime.saturating_sub(cpu_time));
                return None;
            }
            Op::Woken { due } => {
                self.line.wu_lat += env.now.saturating_sub(due);
                return None;
            }
        })
    }

    /// `runtime` looks at the clock between loops of work, so the loop under way when its time is up is
    /// finished.
    fn finish_runtime(&mut self, since: Nanos, cpu_time: Nanos) {
        let loop_time = self.shared.work(cost::RUNTIME_LOOP).0;
        if loop_time > 0 {
            let loops = cpu_time.0.div_ceil(loop_time).max(1);
            self.line.perf += loops * self.shared.perf(cost::RUNTIME_LOOP);
            self.ops.push_back(Op::Compute(Nanos(loops * loop_time - cpu_time.0)));
        }
        self.ops.push_back(Op::WorkDone { since });
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
