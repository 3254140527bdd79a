//! The clocks of this computer, as the library asks for them. No result of a simulation depends on one.

use rustix::time::{ClockId, Timespec, clock_gettime};
use scheduler::Nanos;

/// The clock of the wall: it never goes back.
#[must_use]
pub fn wall() -> Nanos {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// CPU time of the calling thread.
#[must_use]
pub fn thread_cpu_time() -> Nanos {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

fn nanos(time: Timespec) -> Nanos {
    Nanos::from_secs(time.tv_sec.unsigned_abs()) + Nanos(time.tv_nsec.unsigned_abs())
}
