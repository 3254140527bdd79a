//! How much memory tasks have touched on a CPU (machine.md 6.1).

use scheduler::Nanos;

/// Bytes that a task touches in a nanosecond of its own work, and how many of them in a stint if nobody knows
/// its working set (machine.md 6.1).
const TOUCHED_PER_NS: u64 = 5;
const TOUCHED_AT_MOST: u64 = 256 << 10;
/// How many nanoseconds of work in the kernel touch one.
const KERNEL_NS_PER_BYTE: u64 = 10;

/// Bytes that tasks have touched on a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touched {
    /// Those who were there before.
    before: u64,
    /// The one that executes: no more than its working set.
    stint: u64,
}

/// A time that a task has executed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    pub time: Nanos,
    /// Bytes that it works with; 0: nobody knows.
    pub working_set: u64,
    /// It was in the kernel.
    pub in_kernel: bool,
}

impl Touched {
    /// The task that executes has gone on.
    #[must_use]
    pub fn and(self, run: Executed) -> Touched {
        let most = if run.working_set == 0 { TOUCHED_AT_MOST } else { run.working_set };
        let bytes = if run.in_kernel { run.time.0 / KERNEL_NS_PER_BYTE } else { run.time.0 * TOUCHED_PER_NS };
        Touched { stint: (self.stint + bytes).min(most), ..self }
    }

    /// Another one takes its place.
    #[must_use]
    pub fn by_others(self) -> Touched {
        Touched { before: self.bytes(), stint: 0 }
    }

    /// All of it.
    pub fn bytes(self) -> u64 {
        self.before + self.stint
    }
}
