//! Steps as text, as logs, traces and workload files have them: a word and its operands, the numbers of
//! objects and nanoseconds among them.

use crate::behaviour::ForkKind;
use crate::sections::Sections;
use crate::setup::OutsideChange;
use crate::step::{Operand, ToldStep};
use scheduler::{CpuMask, Policy};
use std::fmt::Write;

/// Behind the word of a step that concerns another task, whose pid follows.
pub const OF_ANOTHER: &str = "-of";

impl ToldStep {
    /// Its text.
    pub fn text(mut self) -> String {
        let mut text = self.word().to_owned();
        self.operands(|operand| write(&mut text, operand));
        text
    }
}

fn write(text: &mut String, operand: Operand<'_>) {
    // Writing to a string cannot fail.
    let _ = match operand {
        Operand::Time(time) => write!(text, " {}", time.0),
        Operand::Count(count) => write!(text, " {count}"),
        Operand::Mutex(mutex) => write!(text, " {}", mutex.0),
        Operand::Spinlock(lock) => write!(text, " {}", lock.0),
        Operand::Channel(channel) => write!(text, " {}", channel.0),
        Operand::Device(device) => write!(text, " {}", device.0),
        Operand::Futex(futex) => write!(text, " {}", futex.0),
        Operand::Barrier(barrier) => write!(text, " {}", barrier.0),
        Operand::Channels(channels) => channels.iter().try_for_each(|channel| write!(text, " {}", channel.0)),
        Operand::Sections(work) => {
            let Sections { first, part, hold, .. } = work;
            let _ = write!(text, " {} {} {}", first.0, part.0, hold.0);
            work.locks().iter().try_for_each(|lock| write!(text, " {}", lock.0))
        }
        Operand::Policy(policy) => write!(text, " {}", policy_text(*policy)),
        Operand::Nice(nice) => write!(text, " {}", nice.get()),
        Operand::Cpus(&mut CpuMask::ALL) => write!(text, " all"),
        Operand::Cpus(cpus) => write!(text, " {cpus}"),
        Operand::ForkKind(kind) => write!(text, " {}", kind.word()),
        Operand::Text(line) => write!(text, " {}", line.replace('\n', " ")),
        Operand::Target(None) => Ok(()),
        Operand::Target(Some(pid)) => write!(text, "{OF_ANOTHER} {}", pid.0),
    };
}

/// What somebody outside changes, as the log has it.
pub(crate) fn change_text(change: OutsideChange) -> String {
    match change {
        OutsideChange::Policy { pid, policy } => format!("policy of {}: {}", pid.0, policy_text(policy)),
        OutsideChange::Cpus { pid, cpus } => format!("cpus of {}: {cpus}", pid.0),
        OutsideChange::Limit { group, quota, burst } => {
            format!("limit of group {}: {} ns, burst {} ns", group.index(), quota.0, burst.0)
        }
    }
}

/// A policy as texts of steps have it.
pub fn policy_text(policy: Policy) -> String {
    match policy {
        Policy::Normal => "other".to_owned(),
        Policy::Batch => "batch".to_owned(),
        Policy::Idle => "idle".to_owned(),
        Policy::Fifo(priority) => format!("fifo:{}", priority.get()),
        Policy::Rr(priority) => format!("rr:{}", priority.get()),
        Policy::Deadline(params) => {
            let [runtime, deadline, period] = [params.runtime(), params.deadline(), params.period()];
            let reclaim = if params.reclaims() { ":reclaim" } else { "" };
            format!("deadline:{}:{}:{}{reclaim}", runtime.0, deadline.0, period.0)
        }
    }
}

impl ForkKind {
    /// As texts of steps have it.
    pub fn word(self) -> &'static str {
        match self {
            ForkKind::Fork => "process",
            ForkKind::Vfork => "vfork",
            ForkKind::Thread => "thread",
        }
    }
}
