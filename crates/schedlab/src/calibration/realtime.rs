//! A real-time policy for the calling thread.

use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue,
    ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

/// Above everything fair, below the kernel's own threads of priority 99.
pub(super) const PRIORITY: u8 = 95;

/// The calling thread is SCHED_FIFO as long as this lives.
#[derive(Debug)]
pub(super) struct Fifo(());

impl Fifo {
    /// Of this priority, 1 to 99. `None` where this process may not have it: no root, no `ulimit -r`, a
    /// cgroup without a budget.
    pub(super) fn new(priority: u8) -> Option<Fifo> {
        let priority = ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(priority).ok()?);
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        set_thread_priority_and_policy(thread_native_id(), priority, policy).ok()?;
        Some(Fifo(()))
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        // Whoever may have become real-time may become fair again.
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
    }
}
