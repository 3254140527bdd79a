//! What the trace of a run tells of its programs, step by step.
//!
//! The scheduler's events show who woke whom. They do not show a message to a reader who was awake, a lock
//! that was free or a timer that was set: what decides whether a task would have slept if something had come
//! a microsecond later.

use crate::behaviour::{ForkKind, Step};
use crate::objects::{BarrierId, ChannelId, DeviceId, FutexId, SpinlockId};
use crate::sections::Sections;
use crate::setup::Arrival;
use scheduler::{CpuId, CpuMask, MutexId, Nanos, Nice, Pid, Policy};

/// A [`Step`] as a trace tells it. (A marker needs no telling: it is an event of its own.)
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Those of `Step`.
pub enum ToldStep {
    Compute(Nanos),
    SpinUntil(Nanos),
    KernelCompute(Nanos),
    SleepUntil(Nanos),
    SleepFor(Nanos),
    Lock(MutexId),
    Unlock(MutexId),
    SpinLock(SpinlockId),
    SpinUnlock(SpinlockId),
    Sections(Sections),
    Send(ChannelId),
    TrySend(ChannelId),
    TrySendAll(Box<[ChannelId]>),
    GiveBack {
        policy: Policy,
        wakes: Box<[ChannelId]>,
    },
    Receive(ChannelId),
    Submit {
        device: DeviceId,
        service: Nanos,
        done: ChannelId,
    },
    FutexWait(FutexId),
    FutexWake {
        futex: FutexId,
        count: u32,
    },
    BarrierWait(BarrierId),
    /// Which task it makes, sched_process_fork says.
    Fork(ForkKind),
    Exec(Box<str>),
    WaitChild,
    Exit,
    Yield,
    /// Its own.
    SetPolicy(Policy),
    /// That of another task.
    SetPolicyOf {
        pid: Pid,
        policy: Policy,
    },
    /// Its own.
    SetNice(Nice),
    /// Its own.
    SetAffinity(CpuMask),
    /// It cannot be told: it changes another task.
    Untold,
}

impl ToldStep {
    /// How a step is told; `None` for a marker.
    pub(crate) fn of(step: &Step) -> Option<ToldStep> {
        Some(match step {
            Step::Marker(_) => return None,
            Step::Compute(length) => ToldStep::Compute(*length),
            Step::SpinUntil(time) => ToldStep::SpinUntil(*time),
            Step::KernelCompute(length) => ToldStep::KernelCompute(*length),
            Step::SleepUntil(time) => ToldStep::SleepUntil(*time),
            Step::SleepFor(span) => ToldStep::SleepFor(*span),
            Step::Lock(mutex) => ToldStep::Lock(*mutex),
            Step::Unlock(mutex) => ToldStep::Unlock(*mutex),
            Step::SpinLock(lock) => ToldStep::SpinLock(*lock),
            Step::SpinUnlock(lock) => ToldStep::SpinUnlock(*lock),
            Step::Sections(sections) => ToldStep::Sections(*sections),
            Step::Send(channel) => ToldStep::Send(*channel),
            Step::TrySend(channel) => ToldStep::TrySend(*channel),
            Step::TrySendAll(channels) => ToldStep::TrySendAll(channels.clone()),
            Step::GiveBack { policy, wakes } => ToldStep::GiveBack { policy: *policy, wakes: wakes.clone() },
            Step::Receive(channel) => ToldStep::Receive(*channel),
            Step::Submit { device, service, done } => {
                ToldStep::Submit { device: *device, service: *service, done: *done }
            }
            Step::FutexWait(futex) => ToldStep::FutexWait(*futex),
            Step::FutexWake { futex, count } => ToldStep::FutexWake { futex: *futex, count: *count },
            Step::BarrierWait(barrier) => ToldStep::BarrierWait(*barrier),
            Step::Fork { kind, .. } => ToldStep::Fork(*kind),
            Step::Exec { comm } => ToldStep::Exec(comm.clone()),
            Step::WaitChild => ToldStep::WaitChild,
            Step::Exit => ToldStep::Exit,
            Step::Yield => ToldStep::Yield,
            Step::SetPolicy { target: None, policy } => ToldStep::SetPolicy(*policy),
            Step::SetNice { target: None, nice } => ToldStep::SetNice(*nice),
            Step::SetAffinity { target: None, cpus } => ToldStep::SetAffinity(*cpus),
            Step::SetPolicy { .. } | Step::SetNice { .. } | Step::SetAffinity { .. } => ToldStep::Untold,
        })
    }
}

/// A message from outside as a trace tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToldMessage {
    /// Where it goes.
    pub channel: ChannelId,
    /// Which interrupt brings it.
    pub by: Arrival,
    /// When that came, as in [`crate::Outside`]; it may have had to wait.
    pub at: Nanos,
}

/// How a task began: what the program itself does not say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskStart {
    /// Its pid.
    pub pid: Pid,
    /// When it becomes runnable for the first time; `None`: when its parent forks it.
    pub at: Option<Nanos>,
    /// Where a task that nobody forks starts; `None`: the kernel decides.
    pub cpu: Option<CpuId>,
    /// Command name.
    pub comm: Box<str>,
    /// Policy.
    pub policy: Policy,
    /// Nice value.
    pub nice: Nice,
    /// Allowed CPUs; `None`: all.
    pub cpus: Option<CpuMask>,
    /// As in [`crate::TaskSpec`].
    pub working_set_bytes: u64,
    /// As in [`crate::TaskSpec`].
    pub timer_slack: Nanos,
    /// As in [`crate::TaskSpec`].
    pub recorded_work: bool,
}
