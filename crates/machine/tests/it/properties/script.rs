//! The program of a random task.

use super::scenario::{Budget, How, Op, Plan};
use machine::{Behaviour, ChannelId, Env, ForkKind, FutexId, Step, TaskSpec};
use scheduler::{ClampRequest, CpuId, CpuMask, DlParams, MutexId, Nanos, Nice, Policy, RtPriority, TaskId};
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Numbers of the things that all tasks share.
#[derive(Clone, Debug)]
pub struct Shared {
    pub cpus: u16,
    pub mutexes: u8,
    pub channels: Vec<ChannelId>,
    pub pipes: Vec<ChannelId>,
    pub futexes: Vec<FutexId>,
    /// Tasks of the setup.
    pub tasks: u8,
    /// Waits at futexes that are still to end.
    pub waits: Rc<Cell<usize>>,
}

impl Shared {
    fn whom(&self, whose: Option<u8>) -> Option<TaskId> {
        whose.map(|n| TaskId(u32::from(self.cpus) + u32::from(n % self.tasks)))
    }

    /// The CPUs of a set that exist, or all.
    pub fn mask(&self, bits: u16) -> CpuMask {
        let some: CpuMask = (0..self.cpus).filter(|c| bits >> c & 1 == 1).map(CpuId).collect();
        if some.is_empty() { CpuMask::first_n(self.cpus.into()) } else { some }
    }
}

pub fn policy(plan: Plan) -> Policy {
    let rt = |n| RtPriority::new(n).expect("1 to 99");
    match plan {
        Plan::Normal => Policy::Normal,
        Plan::Batch => Policy::Batch,
        Plan::Idle => Policy::Idle,
        Plan::Fifo(n) => Policy::Fifo(rt(n)),
        Plan::Rr(n) => Policy::Rr(rt(n)),
        Plan::Deadline(budget) => Policy::Deadline(params(budget)),
        Plan::Reclaiming(budget) => Policy::Deadline(params(budget).reclaiming()),
    }
}

fn params(Budget(runtime, deadline, period): Budget) -> DlParams {
    DlParams::new(us(runtime), us(deadline), us(period)).expect("legal parameters")
}

pub fn nice(n: i8) -> Nice {
    Nice::new(n).expect("-20 to 19")
}

fn us(n: u32) -> Nanos {
    Nanos::from_micros(n.into())
}

/// Executes a list of operations once, then waits for its children and exits.
#[derive(Debug)]
pub struct Script {
    ops: VecDeque<Op>,
    steps: VecDeque<Step>,
    children: u32,
    waiting: bool,
    shared: Shared,
}

impl Script {
    pub fn new(ops: &[Op], shared: &Shared) -> Script {
        let (ops, shared) = (ops.iter().cloned().collect(), shared.clone());
        Script { ops, steps: VecDeque::new(), children: 0, waiting: false, shared }
    }

    fn expand(&mut self, op: Op, now: Nanos) {
        let shared = &self.shared;
        let nth = |ids: &[ChannelId], n: u8| ids[usize::from(n) % ids.len()];
        let steps: Vec<Step> = match op {
            Op::Run(n) => vec![Step::Compute(us(n))],
            Op::Clocked(n) => vec![Step::ComputeByClock(us(n))],
            Op::Kernel(n) => vec![Step::KernelCompute(us(n))],
            Op::Spin(n) => vec![Step::SpinUntil(now + us(n))],
            Op::Sleep(n) => vec![Step::SleepFor(us(n))],
            Op::Yield => vec![Step::Yield],
            Op::Exec => vec![Step::Exec("other".into())],
            Op::Locked { set, run, sleep } => locked(shared.mutexes, set, run, sleep),
            Op::Post(n) => vec![Step::Send(nth(&shared.channels, n))],
            Op::Take(n) => vec![Step::Receive(nth(&shared.channels, n))],
            Op::Write(n) => vec![Step::Send(nth(&shared.pipes, n))],
            Op::Wait(n) => {
                self.waiting = true;
                vec![Step::FutexWait(shared.futexes[usize::from(n) % shared.futexes.len()])]
            }
            Op::Fork { how, policy: plan, ops } => {
                let mut child = TaskSpec::new("child", Script::new(&ops, shared));
                child.policy = policy(plan);
                let kind = match how {
                    How::Fork => ForkKind::Fork,
                    How::Vfork => ForkKind::Vfork,
                    How::Thread => ForkKind::Thread,
                };
                self.children += 1;
                vec![Step::Fork { child: Box::new(child), kind }]
            }
            Op::Reap => {
                self.children = self.children.saturating_sub(1);
                vec![Step::WaitChild]
            }
            Op::Policy { whose, policy: plan } => {
                vec![Step::SetPolicy { target: shared.whom(whose), policy: policy(plan) }]
            }
            Op::Nice { whose, nice: n } => vec![Step::SetNice { target: shared.whom(whose), nice: nice(n) }],
            Op::Slice(us) => vec![Step::SetSlice(Nanos::from_micros(us.into()))],
            Op::Clamps(min, max) => vec![Step::SetClamps(ClampRequest { min, max })],
            Op::Affinity { whose, cpus } => {
                vec![Step::SetAffinity { target: shared.whom(whose), cpus: Box::new(shared.mask(cpus)) }]
            }
        };
        self.steps.extend(steps);
    }
}

/// Ascending, so that no cycle of waits can close.
fn locked(mutexes: u8, set: u8, run: u32, sleep: u32) -> Vec<Step> {
    let of_set = || (0..mutexes).filter(move |m| set >> m & 1 == 1).map(|m| MutexId(m.into()));
    let mut steps: Vec<Step> = of_set().map(Step::Lock).collect();
    steps.push(Step::Compute(us(run)));
    if sleep > 0 {
        steps.push(Step::SleepFor(us(sleep)));
    }
    steps.extend(of_set().map(Step::Unlock));
    steps
}

impl Behaviour for Script {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        if std::mem::take(&mut self.waiting) && self.steps.is_empty() {
            self.shared.waits.set(self.shared.waits.get() - 1);
        }
        while self.steps.is_empty() {
            match self.ops.pop_front() {
                Some(op) => {
                    let waits = matches!(op, Op::Wait(_));
                    self.expand(op, env.now);
                    if waits {
                        return self.steps.pop_front().expect("the wait");
                    }
                }
                None if self.children > 0 => {
                    self.children -= 1;
                    return Step::WaitChild;
                }
                None => return Step::Exit,
            }
        }
        self.steps.pop_front().unwrap_or(Step::Exit)
    }
}

/// Sends so many messages to each channel, one every 100 µs in turn.
#[derive(Debug)]
pub struct Feeder {
    pub left: Vec<(ChannelId, usize)>,
    pub rest: bool,
}

impl Behaviour for Feeder {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        self.rest = !self.rest;
        if !self.rest {
            return Step::SleepFor(us(100));
        }
        self.left.retain(|(_, n)| *n > 0);
        let Some((channel, n)) = self.left.first_mut() else { return Step::Exit };
        *n -= 1;
        let channel = *channel;
        self.left.rotate_left(1);
        Step::Send(channel)
    }
}

/// Takes so many messages out of each pipe, in turn.
#[derive(Debug)]
pub struct Sink {
    pub left: usize,
    pub pipe: ChannelId,
}

impl Behaviour for Sink {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        if self.left == 0 {
            return Step::Exit;
        }
        self.left -= 1;
        Step::Receive(self.pipe)
    }
}

/// Wakes everybody at every futex each 300 µs until no wait is left.
#[derive(Debug)]
pub struct Waker {
    pub waits: Rc<Cell<usize>>,
    pub futexes: Vec<FutexId>,
    pub next: usize,
}

impl Behaviour for Waker {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        if self.waits.get() == 0 {
            return Step::Exit;
        }
        let at = self.next;
        self.next = (at + 1) % (self.futexes.len() + 1);
        match self.futexes.get(at) {
            Some(futex) => Step::FutexWake { futex: *futex, count: u32::MAX },
            None => Step::SleepFor(us(300)),
        }
    }
}
