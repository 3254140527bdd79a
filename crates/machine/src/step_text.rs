//! Steps as text, as logs, traces and workload files have them: a word and its operands, the numbers of
//! objects and nanoseconds among them.

use crate::behaviour::ForkKind;
use crate::sections::Sections;
use crate::setup::OutsideChange;
use crate::step::{Operand, ToldStep};
use scheduler::{ClampRequest, CpuMask, Policy};
use schema::LogStep;

/// Behind the word of a step that concerns another task, whose pid follows.
pub const OF_ANOTHER: &str = "-of";

impl ToldStep {
    /// Its text.
    pub fn text(mut self) -> String {
        let mut text = (*self.word()).to_owned();
        self.operands(|operand| match Spelled::from(operand) {
            Spelled::Number(number) => text += &format!(" {number}"),
            Spelled::Text(operand) => text += &operand,
        });
        text
    }

    /// As a log keeps it.
    pub(crate) fn logged(mut self) -> LogStep {
        let (mut last, mut is_only) = (None, true);
        self.operands(|operand| is_only = last.replace(Spelled::from(operand)).is_none());
        match last {
            Some(Spelled::Number(number)) if is_only => LogStep::of_number(self.word(), number),
            _ => LogStep::of_text(self.text()),
        }
    }
}

/// An operand as it is written.
enum Spelled {
    Number(u64),
    /// With what parts it from the one before.
    Text(String),
}

impl From<Operand<'_>> for Spelled {
    fn from(operand: Operand<'_>) -> Spelled {
        let numbers = |numbers: &mut dyn Iterator<Item = u64>| {
            Spelled::Text(numbers.map(|number| format!(" {number}")).collect())
        };
        match operand {
            Operand::Time(time) => Spelled::Number(time.0),
            Operand::Count(count) => Spelled::Number((*count).into()),
            Operand::Mutex(mutex) => Spelled::Number(mutex.0.into()),
            Operand::Spinlock(lock) => Spelled::Number(lock.0.into()),
            Operand::Channel(channel) => Spelled::Number(channel.0.into()),
            Operand::Device(device) => Spelled::Number(device.0.into()),
            Operand::Futex(futex) => Spelled::Number(futex.0.into()),
            Operand::Barrier(barrier) => Spelled::Number(barrier.0.into()),
            Operand::Channels(channels) => numbers(&mut channels.iter().map(|channel| channel.0.into())),
            Operand::Sections(work) => {
                let Sections { first, part, hold, .. } = *work;
                let locks = work.locks().iter().map(|lock| lock.0.into());
                numbers(&mut [first.0, part.0, hold.0].into_iter().chain(locks))
            }
            Operand::Policy(policy) => Spelled::Text(format!(" {}", policy_text(*policy))),
            Operand::Nice(nice) => Spelled::Text(format!(" {}", nice.get())),
            Operand::Clamps(ClampRequest { min, max }) => {
                let one = |clamp: &Option<u16>| clamp.map_or("-".to_owned(), |clamp| clamp.to_string());
                Spelled::Text(format!(" {}:{}", one(min), one(max)))
            }
            Operand::Cpus(&mut CpuMask::ALL) => Spelled::Text(" all".into()),
            Operand::Cpus(cpus) => Spelled::Text(format!(" {cpus}")),
            Operand::ForkKind(kind) => Spelled::Text(format!(" {}", kind.word())),
            Operand::Text(line) => Spelled::Text(format!(" {}", line.replace('\n', " "))),
            Operand::Target(None) => Spelled::Text(String::new()),
            Operand::Target(Some(pid)) => Spelled::Text(format!("{OF_ANOTHER} {}", pid.0)),
        }
    }
}

/// What somebody outside changes, as the log has it.
pub(crate) fn change_text(change: OutsideChange) -> String {
    match change {
        OutsideChange::Policy { pid, policy } => format!("policy of {}: {}", pid.0, policy_text(policy)),
        OutsideChange::Cpus { pid, cpus } => format!("cpus of {}: {cpus}", pid.0),
        OutsideChange::Limit { group, quota, burst } => {
            format!("limit of group {}: {} ns, burst {} ns", group.index(), quota.0, burst.0)
        }
        OutsideChange::RtRuntime { group, runtime } => {
            let runtime = runtime.map_or_else(|| "all".to_owned(), |runtime| format!("{} ns", runtime.0));
            format!("real-time of group {}: {runtime}", group.index())
        }
        OutsideChange::CpuDmaLatency { limit } => format!("cpu_dma_latency: {} ns", limit.0),
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
