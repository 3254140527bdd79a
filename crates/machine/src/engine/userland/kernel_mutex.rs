//! Where a task is with the mutex of a pipe that somebody has.

use super::activity::Resume;
use crate::engine::hardware::Ahead;
use crate::objects::ChannelId;
use scheduler::{CpuId, MutexId, Nanos};

/// A task has come to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForMutex {
    pub channel: ChannelId,
    pub mutex: MutexId,
    /// What it does with it, and with what it goes on then.
    pub work: Nanos,
    pub then: Resume,
    /// When it found it taken.
    pub since: Nanos,
    /// Who was before it then.
    pub ahead: Ahead,
    /// It has slept for it.
    pub slept: bool,
    /// It still wants it. (What it wanted last stays: the next wait takes no new memory.)
    pub wanted: bool,
}

impl ForMutex {
    /// It has it now.
    pub fn take(&mut self) -> ForMutex {
        self.wanted = false;
        *self
    }

    /// It is on the way to it.
    pub fn new(channel: ChannelId, mutex: MutexId, work: Nanos, then: Resume) -> ForMutex {
        let (since, ahead) = (Nanos::ZERO, Ahead { holder: CpuId(0), waiters: 0 });
        ForMutex { channel, mutex, work, then, since, ahead, slept: false, wanted: true }
    }
}
