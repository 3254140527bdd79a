//! Task groups against a real kernel: figures that were recorded on Linux 6.18.44 with 2 CPUs and HZ 250
//! (deadline-groups B5, B6, B8, B13; native-6.18-groups). Each was recorded three times; what is expected
//! here lies within the three, widened by what a tick can make of it. Other work of that machine took a
//! percent, so shares are compared among the named tasks.

mod limits;
mod shares;

use crate::script::{Cycle, ideal, ms};
use machine::{GroupSpec, LoneStep, Machine, Outcome, QuotaOutcome, QuotaSpec, RunOptions, Setup, TaskSpec};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, GroupId, Nanos, Nice};

fn hog(comm: &str) -> TaskSpec {
    TaskSpec::new(comm, Cycle(vec![LoneStep::Compute(ms(1))]))
}

/// Works for so long, then sleeps.
fn periodic(comm: &str, work: Nanos, sleep: Nanos) -> TaskSpec {
    TaskSpec::new(comm, Cycle(vec![LoneStep::Compute(work), LoneStep::SleepFor(sleep)]))
}

fn nice(spec: TaskSpec, nice: i8) -> TaskSpec {
    TaskSpec { nice: Nice::new(nice).expect("-20 to 19"), ..spec }
}

fn on(cpu: u16, spec: TaskSpec) -> TaskSpec {
    TaskSpec { cpus: Some(CpuMask::single(CpuId(cpu))), ..spec }
}

/// Groups and tasks to be.
struct Load {
    setup: Setup,
    cpus: usize,
}

impl Load {
    fn new(cpus: usize) -> Load {
        Load { setup: Setup::new(cpus), cpus }
    }

    fn group(&mut self, name: &str, parent: GroupId, shares: u64) -> GroupId {
        self.setup.group(GroupSpec { parent, shares, ..GroupSpec::new(name) })
    }

    /// A group with a limit.
    fn limited(&mut self, name: &str, parent: GroupId, quota: QuotaSpec) -> GroupId {
        self.setup.group(GroupSpec { parent, quota: Some(quota), ..GroupSpec::new(name) })
    }

    fn idle_group(&mut self, name: &str) -> GroupId {
        self.setup.group(GroupSpec { idle: true, ..GroupSpec::new(name) })
    }

    fn task(&mut self, group: GroupId, spec: TaskSpec) {
        self.setup.spawn(Nanos::ZERO, TaskSpec { group: Some(group), ..spec });
    }

    /// Under the checker, with a tick of 4 ms.
    fn run(self, kernel: &str, length: Nanos) -> Ran {
        self.run_with(kernel, RunOptions { duration: length, check: true, ..RunOptions::default() })
    }

    /// The same with further settings.
    fn run_under(self, kernel: &str, settings: &[&str], length: Nanos) -> Ran {
        let options = RunOptions { duration: length, check: true, ..RunOptions::default() };
        self.run_by(kernel, settings, options)
    }

    fn run_with(self, kernel: &str, options: RunOptions) -> Ran {
        self.run_by(kernel, &[], options)
    }

    fn run_by(self, kernel: &str, settings: &[&str], options: RunOptions) -> Ran {
        let length = options.duration;
        let config = Config::of_profile(kernel).expect("a profile");
        config.set("hz=250").expect("a setting");
        settings.iter().for_each(|setting| config.set(setting).expect("a setting"));
        let machine = Machine::new(ideal(self.cpus), config, self.setup, options).expect("a legal setup");
        Ran { outcome: machine.run().expect("a run"), length }
    }
}

struct Ran {
    outcome: Outcome,
    length: Nanos,
}

impl Ran {
    /// The part of one CPU that a task had.
    fn share(&self, comm: &str) -> f64 {
        let task = self.outcome.tasks.iter().find(|t| &*t.comm == comm).expect("a task of this name");
        task.counters.sum_exec_runtime.0 as f64 / self.length.0 as f64
    }

    /// The same of a group.
    fn usage(&self, name: &str) -> f64 {
        let group = self.outcome.groups.iter().find(|g| g.spec.name == name).expect("a group of this name");
        group.usage.0 as f64 / self.length.0 as f64
    }

    /// What became of its limit.
    fn quota(&self, name: &str) -> QuotaOutcome {
        let group = self.outcome.groups.iter().find(|g| g.spec.name == name).expect("a group of this name");
        group.quota.expect("a group with a limit")
    }
}

fn assert_near(what: &str, is: f64, right: f64, within: f64) {
    assert!((is - right).abs() <= within, "{what}: {is:.4}, not {right} within {within}");
}

const KERNELS: [&str; 6] = ["6.18.y", "6.12.y", "6.6", "6.1.y", "4.4", "2.6.36"];
