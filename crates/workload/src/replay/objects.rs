//! The objects that told steps name, made anew for a run.

use machine::{
    BarrierId, ChannelId, DeviceId, FutexId, NotAlone, Objects, Operand, Sections, Setup, SpinlockId, Step,
    ToldStep,
};
use scheduler::MutexId;

/// What stands in a run for each recorded object, by its recorded number.
#[derive(Clone, Debug, Default)]
pub(super) struct RunObjects {
    mutexes: Vec<MutexId>,
    channels: Vec<ChannelId>,
    barriers: Vec<BarrierId>,
    futexes: Vec<FutexId>,
    spinlocks: Vec<SpinlockId>,
    devices: Vec<DeviceId>,
}

impl RunObjects {
    pub fn make(objects: &Objects, setup: &mut Setup) -> RunObjects {
        let Objects { channels, mutexes, barriers, futexes, spinlocks, devices } = objects;
        RunObjects {
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

    /// The step with the objects of the run; whoever read it has looked whether they exist.
    ///
    /// # Errors
    /// It concerns another task: a [`ReplayStep`] of its own stands for such.
    ///
    /// [`ReplayStep`]: super::recording::ReplayStep
    pub fn step(&self, recorded: &ToldStep) -> Result<Step, NotAlone> {
        let mut step = recorded.clone();
        step.operands(|operand| match operand {
            Operand::Mutex(mutex) => *mutex = self.mutex(*mutex),
            Operand::Spinlock(lock) => *lock = self.spinlock(*lock),
            Operand::Channel(channel) => *channel = self.channel(*channel),
            Operand::Device(device) => *device = self.device(*device),
            Operand::Futex(futex) => *futex = self.futexes[futex.0 as usize],
            Operand::Barrier(barrier) => *barrier = self.barriers[barrier.0 as usize],
            Operand::Channels(channels) => {
                channels.iter_mut().for_each(|channel| *channel = self.channel(*channel));
            }
            Operand::Sections(work) => {
                let locks = work.locks().iter().map(|lock| self.spinlock(*lock));
                *work = Sections::new(locks, work.first, work.part, work.hold);
            }
            Operand::Time(_)
            | Operand::Count(_)
            | Operand::Policy(_)
            | Operand::Nice(_)
            | Operand::Clamps(_) => {}
            Operand::Cpus(_) | Operand::ForkKind(_) | Operand::Text(_) | Operand::Target(_) => {}
        });
        step.again()
    }
}
