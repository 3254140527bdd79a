//! The objects that told steps name, made anew for a run.

use machine::{
    BarrierId, ChannelId, DeviceId, FutexId, Objects, Sections, Setup, SpinlockId, Step, ToldStep,
};
use scheduler::MutexId;

/// What stands in a run for each recorded object, by its recorded number.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    mutexes: Vec<MutexId>,
    channels: Vec<ChannelId>,
    barriers: Vec<BarrierId>,
    futexes: Vec<FutexId>,
    spinlocks: Vec<SpinlockId>,
    devices: Vec<DeviceId>,
}

impl Made {
    pub fn make(objects: &Objects, setup: &mut Setup) -> Made {
        let Objects { channels, mutexes, barriers, futexes, spinlocks, devices } = objects;
        Made {
            mutexes: mutexes.iter().map(|mutex| setup.mutex(mutex.name.clone(), mutex.kind)).collect(),
            channels: channels.iter().map(|spec| setup.channel(*spec)).collect(),
            barriers: barriers.iter().map(|parties| setup.barrier(*parties)).collect(),
            futexes: (0..*futexes).map(|_| setup.futex()).collect(),
            spinlocks: spinlocks.iter().map(|backoff| setup.spinlock(*backoff)).collect(),
            devices: devices.iter().map(|spec| setup.device(spec.clone())).collect(),
        }
    }

    /// What stands for a recorded channel.
    pub fn channel(&self, recorded: ChannelId) -> ChannelId {
        self.channels[recorded.0 as usize]
    }

    /// What stands for a recorded mutex.
    pub fn mutex(&self, recorded: MutexId) -> MutexId {
        self.mutexes[recorded.index()]
    }

    /// What stands for a recorded device.
    pub fn device(&self, recorded: DeviceId) -> DeviceId {
        self.devices[recorded.0 as usize]
    }

    fn spinlock(&self, recorded: SpinlockId) -> SpinlockId {
        self.spinlocks[recorded.0 as usize]
    }

    /// The step with the objects of the run; whoever read it has looked whether they exist. `None` for a step
    /// that a
    /// [`Recorded`] of its own stands for.
    ///
    /// [`Recorded`]: super::recording::Recorded
    pub fn step(&self, recorded: &ToldStep) -> Option<Step> {
        Some(match recorded {
            ToldStep::SpinUntil(time) => Step::SpinUntil(*time),
            ToldStep::KernelCompute(length) => Step::KernelCompute(*length),
            ToldStep::Lock(mutex) => Step::Lock(self.mutex(*mutex)),
            ToldStep::Unlock(mutex) => Step::Unlock(self.mutex(*mutex)),
            ToldStep::SpinLock(lock) => Step::SpinLock(self.spinlock(*lock)),
            ToldStep::SpinUnlock(lock) => Step::SpinUnlock(self.spinlock(*lock)),
            ToldStep::Sections(work) => {
                let locks = work.locks().iter().map(|lock| self.spinlock(*lock));
                Step::Sections(Sections::new(locks, work.first, work.part, work.hold))
            }
            ToldStep::Send(channel) => Step::Send(self.channel(*channel)),
            ToldStep::TrySend(channel) => Step::TrySend(self.channel(*channel)),
            ToldStep::TrySendAll(channels) => {
                Step::TrySendAll(channels.iter().map(|channel| self.channel(*channel)).collect())
            }
            ToldStep::GiveBack { policy, wakes } => Step::GiveBack {
                policy: *policy,
                wakes: wakes.iter().map(|channel| self.channel(*channel)).collect(),
            },
            ToldStep::Receive(channel) => Step::Receive(self.channel(*channel)),
            ToldStep::Submit { device, service, done } => {
                Step::Submit { device: self.device(*device), service: *service, done: self.channel(*done) }
            }
            ToldStep::FutexWait(futex) => Step::FutexWait(self.futexes[futex.0 as usize]),
            ToldStep::FutexWake { futex, count } => {
                Step::FutexWake { futex: self.futexes[futex.0 as usize], count: *count }
            }
            ToldStep::BarrierWait(barrier) => Step::BarrierWait(self.barriers[barrier.0 as usize]),
            ToldStep::WaitChild => Step::WaitChild,
            ToldStep::Yield => Step::Yield,
            ToldStep::SetPolicy(policy) => Step::SetPolicy { target: None, policy: *policy },
            ToldStep::SetNice(nice) => Step::SetNice { target: None, nice: *nice },
            ToldStep::SetAffinity(cpus) => Step::SetAffinity { target: None, cpus: *cpus },
            ToldStep::Compute(_) | ToldStep::SleepUntil(_) | ToldStep::SleepFor(_) => return None,
            ToldStep::Fork(_) | ToldStep::Exec(_) | ToldStep::Exit => return None,
            ToldStep::SetPolicyOf { .. } | ToldStep::Untold => return None,
        })
    }
}
