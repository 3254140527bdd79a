//! What all files here build on: tasks that follow a script, and runs on machines whose costs are known.

use machine::{
    Behaviour, ChannelSpec, Env, LoneStep, Machine, MachineSpec, Outcome, RunError, RunOptions, Setup, Step,
    TaskSpec,
};
use scheduler::registry::Config;
use scheduler::{Nanos, Policy, RtPriority, Topology};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Times at which a script's steps were asked for, in the order of asking.
pub(crate) type Clock = Rc<RefCell<Vec<Nanos>>>;

/// Does its steps in order, then exits.
#[derive(Debug)]
struct Script {
    steps: VecDeque<Step>,
    clock: Clock,
}

impl Behaviour for Script {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        self.clock.borrow_mut().push(env.now);
        self.steps.pop_front().unwrap_or(Step::Exit)
    }
}

pub(crate) fn script(comm: &str, steps: impl IntoIterator<Item = Step>) -> (TaskSpec, Clock) {
    let clock = Clock::default();
    let steps = steps.into_iter().collect();
    (TaskSpec::new(comm, Script { steps, clock: Rc::clone(&clock) }), clock)
}

pub(crate) fn fifo(priority: u8) -> Policy {
    Policy::Fifo(RtPriority::new(priority).expect("1 to 99"))
}

pub(crate) const fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

pub(crate) const fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

/// A machine on which nothing costs time.
pub(crate) fn ideal(cpus: usize) -> MachineSpec {
    MachineSpec::ideal(Topology::flat(cpus))
}

/// Does these steps again and again.
#[derive(Debug)]
pub(crate) struct Cycle(pub Vec<LoneStep>);

impl Behaviour for Cycle {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        let at = *env.iterations as usize % self.0.len();
        *env.iterations += 1;
        self.0[at].step()
    }
}

pub(crate) fn run_with(
    spec: MachineSpec,
    profile: &str,
    setup: Setup,
    options: RunOptions,
) -> Result<Outcome, RunError> {
    Machine::new(spec, Config::of_profile(profile).expect("a known profile"), setup, options)?.run()
}

pub(crate) fn run(spec: MachineSpec, setup: Setup) -> Outcome {
    run_with(spec, "6.1", setup, RunOptions { check: true, ..RunOptions::default() })
        .expect("a run without error")
}

/// Messages cost nothing.
pub(crate) const FREE_CHANNEL: ChannelSpec = ChannelSpec::new(9);
