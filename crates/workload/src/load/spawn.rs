//! What loads have in common when they put their tasks into a setup.

use super::command::usage;
use super::error::LoadError;
use crate::program::{Block, Program, Template};
use machine::Setup;
use scheduler::{CpuMask, Nanos, Pid, Policy, RtPriority};

/// Scheduling policies by the names that chrt and rt-tests use; the priority comes from an option of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum PolicyName {
    /// SCHED_OTHER.
    #[value(alias = "normal")]
    Other,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
}

impl PolicyName {
    /// Whether it needs a priority.
    pub fn is_rt(self) -> bool {
        matches!(self, PolicyName::Fifo | PolicyName::Rr)
    }

    /// The policy; `what` of this load has `priority`, which matters under a real-time policy only.
    pub fn policy(self, load: &str, what: &str, priority: i64) -> Result<Policy, LoadError> {
        Ok(match self {
            PolicyName::Other => Policy::Normal,
            PolicyName::Batch => Policy::Batch,
            PolicyName::Idle => Policy::Idle,
            PolicyName::Fifo => Policy::Fifo(rt_priority(load, what, priority)?),
            PolicyName::Rr => Policy::Rr(rt_priority(load, what, priority)?),
        })
    }
}

/// A real-time priority, or an error that says whose it would be.
pub(super) fn rt_priority(load: &str, what: &str, value: i64) -> Result<RtPriority, LoadError> {
    u8::try_from(value).ok().and_then(RtPriority::new).ok_or_else(|| {
        usage(load, format!("{what} would have real-time priority {value}: priorities are 1 to 99"))
    })
}

/// The CPUs of an affinity that the machine has.
pub(super) fn affinity(load: &str, wanted: &CpuMask, setup: &Setup) -> Result<CpuMask, LoadError> {
    let cpus = wanted.and(&CpuMask::first_n(setup.cpus()));
    if cpus.is_empty() {
        let last = setup.cpus().saturating_sub(1);
        return Err(usage(load, format!("no CPU of {wanted} exists: the machine has CPUs 0 to {last}")));
    }
    Ok(cpus)
}

/// The program of a block of this load.
pub(super) fn program(load: &str, block: Block) -> Result<Program, LoadError> {
    Program::new(block).map_err(|source| LoadError::Program { load: load.to_string(), source })
}

/// A task from the start of the run.
pub(super) fn spawn(setup: &mut Setup, template: &Template) -> Pid {
    spawn_at(setup, Nanos::ZERO, template)
}

/// The same, later.
pub(super) fn spawn_at(setup: &mut Setup, at: Nanos, template: &Template) -> Pid {
    let (_, pid) = setup.spawn(at, template.spec());
    pid
}
