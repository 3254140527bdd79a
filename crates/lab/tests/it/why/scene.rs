//! A scene: a machine on which only what it says costs time, and tasks that follow a script.

use lab::machine::{Behaviour, Env, Machine, MachineSpec, RunOptions, Setup, Step, TaskSpec, Tracing};
use report::why::{Waits, Wakeups};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Policy, RtPriority, Topology};
use schema::Log;
use schema::why::{Cause, Explanation};
use std::collections::VecDeque;

/// Does its steps in order, then exits.
#[derive(Debug)]
struct Script(VecDeque<Step>);

impl Behaviour for Script {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        self.0.pop_front().unwrap_or(Step::Exit)
    }
}

pub fn us(n: u64) -> Nanos {
    Nanos::from_micros(n)
}

pub fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

pub fn fifo(priority: u8) -> Policy {
    Policy::Fifo(RtPriority::new(priority).expect("1 to 99"))
}

/// Between two ticks.
pub const BEGIN: Nanos = Nanos::from_micros(1_300);

pub struct Scene {
    pub spec: MachineSpec,
    pub setup: Setup,
    pub kernel: &'static str,
    pub settings: Vec<&'static str>,
    pub until: Nanos,
}

impl Scene {
    pub fn new(cpus: usize) -> Scene {
        Scene {
            spec: MachineSpec::ideal(Topology::flat(cpus)),
            setup: Setup::new(cpus),
            kernel: "6.1",
            settings: Vec::new(),
            until: ms(100),
        }
    }

    /// A task on one CPU.
    pub fn on(&mut self, cpu: u16, comm: &str, policy: Policy, steps: impl IntoIterator<Item = Step>) {
        self.task(comm, policy, steps, |task| task.cpus = Some(CpuMask::single(CpuId(cpu))));
    }

    /// A task that is something more.
    pub fn task(
        &mut self,
        comm: &str,
        policy: Policy,
        steps: impl IntoIterator<Item = Step>,
        more: impl FnOnce(&mut TaskSpec),
    ) {
        let mut task = TaskSpec::new(comm, Script(steps.into_iter().collect()));
        task.policy = policy;
        task.timer_slack = Nanos::ZERO;
        more(&mut task);
        self.setup.spawn(Nanos::ZERO, task);
    }

    /// All that happens in it.
    pub fn log(self) -> Log {
        let config = Config::of_profile(self.kernel).expect("a profile");
        self.settings.iter().for_each(|setting| config.set(setting).expect("a setting"));
        let options = RunOptions {
            duration: self.until,
            trace: Tracing::Everything,
            check: true,
            ..RunOptions::default()
        };
        let machine = Machine::new(self.spec, config, self.setup, options).expect("a sound setup");
        super::log(machine.run().expect("a run without error"))
    }

    /// Explains the wakeups of a task, its beginning left out.
    pub fn explain(self, comm: &str) -> Vec<Explanation> {
        self.explain_waits(comm, Waits::Wakeups)
    }

    /// The same of other waits, too.
    pub fn explain_waits(self, comm: &str, waits: Waits) -> Vec<Explanation> {
        let log = self.log();
        let wakeups = Wakeups::of_waits(&log, waits, |_, name| name == comm);
        let all = (0..wakeups.len()).map(|number| wakeups.explain(number, |_| ""));
        let explained: Vec<Explanation> =
            all.filter(|one| !matches!(one.due, schema::why::Due::Start { .. })).collect();
        explained.iter().for_each(adds_up);
        explained
    }

    /// The only wakeup of a task: each cause with its length.
    pub fn causes(self, comm: &str) -> Vec<(Cause, u64)> {
        let explained = self.explain(comm);
        assert_eq!(explained.len(), 1, "{explained:#?}");
        explained[0].stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect()
    }
}

/// The stretches follow each other without a gap and add up to the latency.
pub fn adds_up(one: &Explanation) {
    let mut at = one.due_at;
    for stretch in &one.stretches {
        assert_eq!(stretch.from, at, "a gap: {one:#?}");
        assert!(stretch.to > stretch.from, "nothing: {one:#?}");
        let shares: u64 = stretch.shares.iter().map(|share| share.length.0).sum();
        assert_eq!(stretch.own_length().0 + shares, stretch.length().0, "{one:#?}");
        at = stretch.to;
    }
    assert_eq!(at, one.first, "{one:#?}");
    let sum: u64 = one.stretches.iter().map(|stretch| stretch.length().0).sum();
    assert_eq!((sum, one.latency.0), (one.latency.0, one.first.0 - one.due_at.0), "{one:#?}");
}
