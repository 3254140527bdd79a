//! Tasks that programs describe: what a load spawns and what a program forks.

use super::code::Program;
use machine::TaskSpec;
use scheduler::{CpuMask, Nanos, Nice, Policy};
use std::fmt;
use std::rc::Rc;

/// Timer slack of fair tasks on Linux (PR_SET_TIMERSLACK's default); real-time tasks have none.
pub(crate) const FAIR_TIMER_SLACK: Nanos = Nanos::from_micros(50);

/// A kind of task, of which any number can be made.
#[derive(Clone, Debug)]
pub struct Template {
    /// Command name.
    pub comm: String,
    /// Scheduling policy.
    pub policy: Policy,
    /// Nice value.
    pub nice: Nice,
    /// Allowed CPUs; `None`: all.
    pub cpus: Option<CpuMask>,
    /// As in [`TaskSpec`].
    pub nth_cpu: Option<u32>,
    /// Working set in bytes (fair-class 12.1).
    pub working_set_bytes: u64,
    /// As in [`TaskSpec`].
    pub reads_bytes_per_us: u32,
    /// What it does.
    pub program: Program,
}

impl Template {
    /// A normal task, nice 0, on any CPU, without a working set.
    pub fn new(comm: impl Into<String>, program: Program) -> Template {
        Template {
            comm: comm.into(),
            policy: Policy::Normal,
            nice: Nice::default(),
            cpus: None,
            nth_cpu: None,
            working_set_bytes: 0,
            reads_bytes_per_us: 0,
            program,
        }
    }

    /// A task of this kind at the start of its program, with Linux's timer slack for its policy.
    pub fn spec(&self) -> TaskSpec {
        TaskSpec {
            policy: self.policy,
            nice: self.nice,
            cpus: self.cpus,
            nth_cpu: self.nth_cpu,
            working_set_bytes: self.working_set_bytes,
            reads_bytes_per_us: self.reads_bytes_per_us,
            timer_slack: if self.policy.is_rt() { Nanos::ZERO } else { FAIR_TIMER_SLACK },
            ..TaskSpec::new(self.comm.clone(), self.program.start())
        }
    }
}

/// Makes the child of a fork: a [`Template`], or anything that gives a [`TaskSpec`].
#[derive(Clone)]
pub struct Child(Rc<dyn Fn() -> TaskSpec>);

impl Child {
    /// Calls `make` at each fork.
    pub fn from_fn(make: impl Fn() -> TaskSpec + 'static) -> Child {
        Child(Rc::new(make))
    }

    /// The next child.
    pub fn spec(&self) -> TaskSpec {
        (self.0)()
    }
}

impl From<Template> for Child {
    fn from(template: Template) -> Child {
        Child::from_fn(move || template.spec())
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Child(..)")
    }
}
