//! Counters of one CPU, and of the whole machine.

use serde::{Deserialize, Serialize};

/// Counters of one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuResult {
    /// CPU number.
    pub cpu: u32,
    /// Picks of a task other than the current one, the idle task included.
    pub nr_switches: u64,
    /// Time in the idle task, nanoseconds.
    pub idle_ns: u64,
    /// The lock of this CPU's run queue.
    pub rq_lock: RqLockStats,
    /// Interrupts sent to other CPUs (reschedule and push).
    pub ipis_sent: u64,
    /// Interrupts received from other CPUs (reschedule and push).
    pub ipis_received: u64,
}

/// How a run-queue lock fared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RqLockStats {
    /// Times it was taken.
    pub acquisitions: u64,
    /// Of these, how many had to wait.
    pub contended: u64,
    /// Longest wait, nanoseconds.
    pub wait_max_ns: u64,
    /// All waits together, nanoseconds.
    pub wait_sum_ns: u64,
    /// Most CPUs that waited at one time.
    pub waiters_max: u32,
    /// Most CPUs that waited at one time while each held the lock of its own run queue.
    pub waiters_holding_own_max: u32,
}

/// Sums over the whole machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// Context switches, those to and from idle included.
    pub context_switches: u64,
    /// Wakeups that made a sleeping task runnable, new tasks included.
    pub wakeups: u64,
    /// Assignments of a task to another CPU.
    pub migrations: u64,
    /// Tasks moved by a push of the real-time class.
    pub pushes: u64,
    /// Tasks moved by a pull of the real-time class.
    pub pulls: u64,
    /// Push interrupts sent (`RT_PUSH_IPI`).
    pub push_ipis: u64,
    /// Searches for the CPU of lowest real-time priority.
    pub rt_searches: u64,
    /// Time that these searches took.
    pub rt_search_ns: u64,
    /// Most push interrupts that were under way at one time.
    pub push_ipis_in_flight_max: u32,
    /// Most of these that were under way at one time on behalf of one CPU that lowered its priority.
    pub push_ipis_in_flight_by_source_max: u32,
    /// Running tasks that a wakeup preempted.
    pub wakeup_preemptions: u64,
    /// Sleeps in the back-off of user-space spinlocks.
    pub spinlock_sleeps: u64,
    /// Running tasks that lost their CPU while they held a mutex or a user-space spinlock.
    pub lock_holder_preemptions: u64,
    /// CPU time that tasks spent on fetching what the caches had lost, nanoseconds.
    pub cache_refill_ns: u64,
}
