//! Where a task is in its program.

use crate::objects::{ChannelId, SpinlockId};
use scheduler::{MutexId, Nanos, TaskId};

/// What a task does when it has the CPU. It is looked at each time the CPU has looked around, and says which
/// of its neighbours follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Activity {
    /// Nothing is under way: what comes next, its critical sections say if it is in the middle of some, else
    /// its behaviour.
    #[default]
    Ready,
    /// Executing in user mode.
    Compute { left: Nanos },
    /// Executing in user mode until its CPU clock shows `until`; it has shown `read`.
    ByClock { read: Nanos, until: Nanos },
    /// Executing in the kernel; the system call goes on at the end.
    Kernel { left: Nanos, then: Resume },
    /// Spinning until a time.
    SpinUntil(Nanos),
    /// Trying for a user spinlock.
    Spinning(SpinAttempt),
    /// Spinning in the kernel while the owner of a PI mutex runs.
    SpinOnOwner(MutexId),
    /// Asleep in a system call, or woken and about to go on with it.
    InCall(Resume),
}

impl Activity {
    /// So much in the kernel, if anything, and then the system call goes on.
    pub fn in_kernel(left: Nanos, then: Resume) -> Activity {
        if left == Nanos::ZERO { Activity::InCall(then) } else { Activity::Kernel { left, then } }
    }

    /// Whether it is in user space, or about to be: its last system call is over.
    pub fn is_in_user_space(self) -> bool {
        match self {
            Activity::Ready
            | Activity::Compute { .. }
            | Activity::ByClock { .. }
            | Activity::SpinUntil(_)
            | Activity::Spinning(_) => true,
            // The lock is one of user space: it has slept for a while, and looks again.
            Activity::InCall(Resume::SpinLock(_)) => true,
            Activity::Kernel { .. } | Activity::SpinOnOwner(_) | Activity::InCall(_) => false,
        }
    }
}

/// What a system call goes on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resume {
    /// Return to user mode.
    Return,
    /// Try for the mutex again.
    Lock(MutexId),
    /// Take the spinlock of the kernel to which it has come.
    KernelLock,
    /// Give back that which it has.
    KernelUnlock,
    /// Put the message into the channel.
    Send(ChannelId),
    /// The same after a sleep for room.
    SendAgain(ChannelId),
    /// Take a message.
    Receive(ChannelId),
    /// Try for the user spinlock again, after so many rounds of spinning and sleeping.
    SpinLock(SpinAttempt),
    /// The child has been copied.
    Forked { child: TaskId, vfork: bool },
    /// The old image is gone: a parent in vfork may go on.
    Execed,
    /// Look for a dead child again.
    WaitChild,
    /// Everything is given back.
    Exit,
    /// A thread that serves soft interrupts looks for work.
    Softirq,
    /// It has waited for the others that do.
    SoftirqLock,
    /// It goes on with its round.
    SoftirqRound,
    /// It has done the work of a timer of the setup, since then.
    TaskletDone { timer: u32, began: Nanos },
}

/// How far a task is with taking a user spinlock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SpinAttempt {
    pub lock: SpinlockId,
    /// Tries left before it sleeps.
    pub tries_left: u32,
    /// Last sleep; zero before the first.
    pub slept: Nanos,
}

/// One try of a spinning test-and-set with its pause: 100 tries take 2 to 4 µs (fair-class 12.4).
const TRY: Nanos = Nanos(30);
/// A few tries at a time, so that a release is noticed soon.
const TRIES_PER_LOOK: u32 = 10;

impl SpinAttempt {
    /// How long it tries before it looks around.
    pub fn stint(self) -> Nanos {
        TRY * u64::from(self.tries_left.min(TRIES_PER_LOOK))
    }

    /// What is left of it after trying for so long.
    pub fn after(self, spun: Nanos) -> SpinAttempt {
        let tried = (spun.0 / TRY.0).max(1) as u32;
        SpinAttempt { tries_left: self.tries_left - tried, ..self }
    }
}
