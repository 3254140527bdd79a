//! What a task does next, and what is left of a step once all is done that needs nobody to wait.

use crate::behaviour::{ForkKind, TaskSpec};
use crate::engine::hardware::IrqWork;
use crate::objects::{BarrierId, ChannelId, FutexId};
use crate::told::ToldMessage;
use scheduler::fair::Balancing;
use scheduler::wakeup::WakeFlags;
use scheduler::{ClampRequest, CpuMask, MutexId, Nanos, Nice, Policy, TaskId};

/// What a task does next.
#[derive(Debug)]
pub(crate) enum Next {
    /// It executes so much, or until an interrupt.
    Execute(Length),
    /// It has taken a step, of which this is left.
    Follow(Rest),
}

/// How much a task executes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    /// What takes so long at full speed.
    Work(Nanos),
    /// It watches something for so long, however fast.
    Time(Nanos),
}

impl Length {
    /// Up to a point of the kernel, if that comes first.
    pub fn at_most(self, point: Nanos) -> Length {
        match self {
            Length::Work(work) => Length::Work(work.min(point)),
            Length::Time(time) => Length::Time(time.min(point)),
        }
    }
}

/// What is left of a step. Most steps of most loads leave no more than the first three, and no future is made
/// for them. It fits into a register: what is written to memory in parts and read as a whole at once has the
/// processor wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rest {
    /// Nothing: the step is done, or under way, as the task's activity says.
    Nothing,
    /// The task sleeps, or has been woken since: state and activity say so.
    Sleep,
    /// It wakes a task.
    Wake { task: TaskId, flags: WakeFlags },
    /// Something in which others may have to be waited for more than once. It lies beside the tasks
    /// (`take_slow`).
    Slow,
}

const _: () = assert!(size_of::<Rest>() <= 8);

/// The system calls, and halves of such, that wait on the way.
#[derive(Debug)]
pub(crate) enum Slow {
    /// It wakes several tasks, one after the other.
    WakeAll(Vec<TaskId>),
    /// It wakes two, in this order.
    WakeBoth { first: TaskId, second: TaskId, flags: WakeFlags },
    /// It wakes so many of those that wait for room in a channel.
    WakeWriters { channel: ChannelId, waiting: usize },
    /// It enters the kernel for a mutex that is not free.
    Lock(MutexId),
    /// It has slept, or spun, for the mutex and tries again.
    LockAgain(MutexId),
    /// It comes to a spinlock of the kernel that others may have.
    KernelLock,
    /// It gives back one that others may want.
    KernelUnlock,
    /// It comes to the mutex of a pipe that others have.
    KernelMutex,
    /// It has given that back while others sleep for it; then it goes on with the rest, of which the slow
    /// part lies here.
    KernelMutexUnlock { mutex: MutexId, rest: Rest, slow: Option<Box<Slow>> },
    /// It wakes a task under the lock of a channel.
    WakeUnderLock { channel: ChannelId, task: TaskId, flags: WakeFlags },
    /// It enters the kernel for a mutex that others want.
    Unlock(MutexId),
    /// It puts a message into each of these without waiting for room.
    SendAll(Box<[ChannelId]>),
    /// It takes another policy, then does the same.
    GiveBack { policy: Policy, wakes: Box<[ChannelId]> },
    /// It wakes up to `count` waiters.
    FutexWake { futex: FutexId, count: u32 },
    /// It was the last that a barrier waited for, and wakes the others.
    Open { barrier: BarrierId, waiting: Vec<TaskId> },
    /// It creates a task.
    Fork { child: Box<TaskSpec>, kind: ForkKind },
    /// The task has been created: it starts, and a vforking parent waits for it.
    Forked { child: TaskId, vfork: bool },
    /// It executes another program.
    Exec,
    /// It leaves.
    Exit,
    /// It lets others of its kind run.
    Yield,
    /// A task gets another policy.
    SetPolicy { target: TaskId, policy: Policy },
    /// A task gets another nice value.
    SetNice { target: TaskId, nice: Nice },
    /// It asks for slices of another length.
    SetSlice { runtime: Nanos },
    /// It asks for other clamps of utilisation.
    SetClamps(ClampRequest),
    /// It reads its CPU clock, to execute until that has advanced by so much.
    ByClock(Nanos),
    /// It reads its CPU clock again, until that shows so much.
    ReadClock { until: Nanos },
    /// A task gets other allowed CPUs.
    SetAffinity { target: TaskId, cpus: Box<CpuMask> },
    /// A thread serves a round of soft interrupts in which nobody preempts it.
    SoftirqRound,
    /// A thread that serves soft interrupts waits until those that do are done.
    SoftirqLock(MutexId),
    /// It tries again.
    SoftirqLockAgain(MutexId),
    /// It lets the others that wait go on.
    SoftirqUnlock(MutexId),
    /// It balances.
    Balance(Balancing),
    /// It does what an interrupt of a device has left.
    Handle(IrqWork),
    /// It puts a message of the timer wheel into its channel.
    Message(ToldMessage),
    /// The run has failed and must not go on.
    Stop,
}

impl Rest {
    /// It wakes a task in the plain way.
    pub fn wake(task: TaskId) -> Rest {
        Rest::Wake { task, flags: WakeFlags::default() }
    }
}
