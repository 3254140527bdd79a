//! Theorems: on a machine on which nothing costs time, what the scheduler does is what formulas say, to the
//! nanosecond, or to the tick where the tick decides.

mod deadline;
mod dhall;
mod fixed_priority;
mod hierarchies;
mod migrate;
mod shares;
mod turns;

use crate::script::{Clock, ideal};
use machine::{Behaviour, Env, Machine, Outcome, RunOptions, Setup, Step, TaskSpec, Tracing};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, Nanos, Policy};
use std::rc::Rc;

/// One kernel of each way in which real-time tasks were pushed, pulled and searched for.
const PROFILES: [&str; 8] = ["2.6.31", "2.6.36", "3.3", "4.1", "5.10", "6.1", "6.18.y", "7.1"];
/// Those whose fair class is CFS.
const CFS: [&str; 4] = ["2.6.36", "4.1", "5.10", "6.1"];
/// Those whose fair class is EEVDF.
const EEVDF: [&str; 3] = ["6.6", "6.18.y", "7.1"];

/// A job in each period, all from the start of the run on.
#[derive(Clone, Copy, Debug)]
struct Periodic {
    work: Nanos,
    period: Nanos,
}

/// Does the jobs; writes down when each is done.
#[derive(Debug)]
struct Jobs {
    periodic: Periodic,
    done: Clock,
    released: u64,
    is_working: bool,
}

impl Behaviour for Jobs {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        if self.is_working {
            self.done.borrow_mut().push(env.now);
            self.is_working = false;
            self.released += 1;
            return Step::SleepUntil(Nanos(self.periodic.period.0 * self.released));
        }
        self.is_working = true;
        Step::Compute(self.periodic.work)
    }
}

/// A task with these jobs, on one CPU or on all.
fn jobs(comm: &str, periodic: Periodic, policy: Policy, cpu: Option<u16>) -> (TaskSpec, Clock) {
    let done = Clock::default();
    let behaviour = Jobs { periodic, done: Rc::clone(&done), released: 0, is_working: false };
    let cpus = cpu.map(|cpu| CpuMask::single(CpuId(cpu)));
    (TaskSpec { policy, cpus, ..TaskSpec::new(comm, behaviour) }, done)
}

/// From the release of each job to its end.
fn responses(done: &Clock, period: Nanos) -> Vec<Nanos> {
    let done = done.borrow();
    done.iter().enumerate().map(|(job, at)| Nanos(at.0 - period.0 * job as u64)).collect()
}

/// These tasks from the start on, with the checker, and without what keeps real-time tasks from using all.
fn run(profile: &str, cpus: usize, settings: &[&str], length: Nanos, tasks: Vec<TaskSpec>) -> Outcome {
    let mut setup = Setup::new(cpus);
    for task in tasks {
        setup.spawn(Nanos::ZERO, task);
    }
    run_setup(profile, cpus, settings, length, setup)
}

/// The same of tasks that may be in groups.
fn run_setup(profile: &str, cpus: usize, settings: &[&str], length: Nanos, setup: Setup) -> Outcome {
    let config = Config::of_profile(profile).expect("a profile");
    for setting in ["hz=250", "sched_rt_runtime_us=-1"].iter().chain(settings) {
        config.set(setting).unwrap_or_else(|error| panic!("{profile} {setting}: {error}"));
    }
    let trace = Tracing::Everything;
    let options = RunOptions { duration: length, check: true, trace, ..RunOptions::default() };
    let machine = Machine::new(ideal(cpus), config, setup, options).expect("a machine");
    machine.run().unwrap_or_else(|error| panic!("{profile}: {error}"))
}

/// Numbers without a pattern, the same in every run (Knuth's generator modulo 2^64).
struct Numbers(u64);

impl Numbers {
    /// From `least` on, up to and without `most`.
    fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        least + (self.0 >> 33) % (most - least)
    }
}
