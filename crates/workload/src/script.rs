//! A stand-in for the machine in tests: walks one behaviour, each step taking exactly its nominal time.

use machine::{Behaviour, Env, Purpose, Rng, Step, TaskCounters};
use scheduler::{CpuId, Nanos, Pid, TaskId};

/// One task on an imaginary machine of its own, on which nothing disturbs it and nothing blocks it.
#[derive(Debug)]
pub struct Script {
    /// The clock. Tests may move it between steps, to make the task late.
    pub now: Nanos,
    /// The task's counters.
    pub counters: TaskCounters,
    /// Passes of the main loop.
    pub iterations: u64,
    /// What `env.last_child` shows.
    pub last_child: Option<TaskId>,
    rng: Rng,
    behaviour: Box<dyn Behaviour>,
}

impl Script {
    pub fn new(behaviour: impl Behaviour + 'static) -> Script {
        Script::boxed(Box::new(behaviour))
    }

    pub fn boxed(behaviour: Box<dyn Behaviour>) -> Script {
        Script {
            now: Nanos::ZERO,
            counters: TaskCounters::default(),
            iterations: 0,
            last_child: None,
            rng: Rng::keyed(1, Purpose::Task, 1000),
            behaviour,
        }
    }

    /// Gives the task the stream of random numbers of another task.
    pub fn reseed(&mut self, number: u64) {
        self.rng = Rng::keyed(1, Purpose::Task, number);
    }

    /// The next step, after which its nominal time has passed.
    pub fn step(&mut self) -> Step {
        let mut env = Env {
            now: self.now,
            cpu: CpuId(0),
            task: TaskId(1),
            pid: Pid(1000),
            last_child: self.last_child,
            rng: &mut self.rng,
            iterations: &mut self.iterations,
            traced: true,
            counters: self.counters,
        };
        let step = self.behaviour.next(&mut env);
        match &step {
            Step::Compute(d) | Step::ComputeByClock(d) | Step::KernelCompute(d) | Step::SleepFor(d) => {
                self.now += *d
            }
            Step::SpinUntil(t) | Step::SleepUntil(t) => self.now = self.now.max(*t),
            _ => {}
        }
        step
    }

    /// The next `n` steps as debug text.
    pub fn steps(&mut self, n: usize) -> Vec<String> {
        (0..n).map(|_| format!("{:?}", self.step())).collect()
    }

    /// All steps before the exit, as debug text.
    pub fn until_exit(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        loop {
            match self.step() {
                Step::Exit => return out,
                step => out.push(format!("{step:?}")),
            }
            assert!(out.len() < 1_000_000, "does not end");
        }
    }
}
