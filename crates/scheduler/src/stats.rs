//! What tasks, CPUs and domains count, with Linux's names and meaning (rt-class 11.1, fair-class 11).
//!
//! Everything is a cell: counting needs no lock of its own, and a report may read at any moment.

use crate::Nanos;
use crate::shared::{Kept, KeptSince};
use core::ops::Add;

/// Their type, then a line for each counter: meaning, name.
macro_rules! counters {
    ($(#[$meaning:meta])* $name:ident: $number:ty { $($(#[$of_field:meta])* $field:ident,)+ }) => {
        $(#[$meaning])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            $($(#[$of_field])* pub $field: Kept<$number>,)+
        }
    };
}

counters! {
    /// How a task was woken. A wakeup may count under several of these. (There may be very many tasks.)
    WakeupCounts: u32 {
        /// With the hint that the waker is about to sleep.
        sync,
        /// To another CPU than its last one.
        migrate,
        /// To the waker's CPU.
        local,
        /// To any other one.
        remote,
        /// Times the affine test was asked about it.
        affine_attempts,
        /// Times the answer was yes.
        affine,
        /// Drawn to the waker's CPU by the passive test of 2.6.31.
        passive,
        /// To an idle CPU that shares cache.
        idle,
    }
}

counters! {
    /// What balancing made of a task that it looked at.
    BalancedCounts: u32 {
        /// Left: it may not run on the other CPU.
        failed_affine,
        /// Left: it runs.
        failed_running,
        /// Left: it is cache-hot, or a buddy.
        failed_hot,
        /// Moved although it is cache-hot, after failures.
        forced,
    }
}

counters! {
    /// What a CPU counts for schedstat (fair-class 11.4).
    CpuCounts: u64 {
        /// Calls of sched_yield (yld_count).
        yields,
        /// Calls of schedule() (sched_count).
        schedules,
        /// Switches to the idle task (sched_goidle).
        went_idle,
        /// Wakeups of tasks to this CPU (ttwu_count).
        wakeups,
        /// Of these, by a waker on this CPU (ttwu_local).
        local_wakeups,
        /// Updates of the averaged load (nr_load_updates).
        load_updates,
        /// Time that tasks ran here, up to the last switch, in ns.
        run_time_ns,
        /// Time that tasks waited here for the CPU, in ns.
        wait_time_ns,
        /// Times a task got the CPU (pcount).
        slices,
    }
}

counters! {
    /// Balancing of one domain in one situation.
    BalanceCounts: u64 {
        /// Times it was tried.
        attempts,
        /// Of these, nothing had to be done.
        balanced,
        /// Of these, something had to be done and nothing could.
        failed,
        /// What should have moved, where that was counted as load.
        imbalance_load,
        /// The same as utilisation.
        imbalance_util,
        /// The same as tasks.
        imbalance_task,
        /// How often one task was wanted that needs a better CPU.
        imbalance_misfit,
        /// Tasks that came.
        pulled,
        /// Of these, cache-hot ones.
        hot_pulled,
        /// Times no CPU of the busiest group was busy enough.
        no_busier_queue,
        /// Times no group was busier.
        no_busier_group,
    }
}

counters! {
    /// What else a CPU counts for one of its domains.
    DomainCounts: u64 {
        /// Times it asked a busy CPU to push a task.
        active,
        /// Of these, nothing came.
        active_failed,
        /// Tasks that came.
        active_pushed,
        /// Wakeups to another CPU of this domain and of none below.
        wake_remote,
        /// Wakeups drawn here by the affine test.
        move_affine,
        /// Wakeups drawn here by the passive test of 2.6.31.
        move_balance,
    }
}

/// Counters of a task, with Linux's names (rt-class 11.1, fair-class 11.1).
///
/// In this order in memory ([`crate::task::Task`] says why): what every wakeup and switch counts comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct TaskStats {
    /// Since when it runs unaccounted.
    pub exec_start: Kept<Nanos>,
    /// CPU time used, up to the last accounting.
    pub sum_exec_runtime: Kept<Nanos>,
    /// `sum_exec_runtime` when it was last picked; the difference is how long it has been running.
    pub prev_sum_exec_runtime: Kept<Nanos>,
    /// Longest run time accounted at once.
    pub exec_max: Kept<Nanos>,
    /// When it last left a CPU.
    pub last_ran: Kept<Nanos>,
    /// When it was last woken, until it runs. For the platform, which measures latencies.
    pub(crate) woken_at: KeptSince,
    /// Since when it waits for a CPU, if it does.
    pub wait_start: KeptSince,
    /// Number of such waits that ended.
    pub wait_count: Kept<u64>,
    /// Total time runnable but not running.
    pub wait_sum: Kept<Nanos>,
    /// Longest such wait.
    pub wait_max: Kept<Nanos>,
    /// Times it got the CPU (pcount).
    pub nr_slices: Kept<u64>,
    /// Successful wakeups.
    pub nr_wakeups: Kept<u64>,
    /// Switches away while blocking.
    pub nr_voluntary_switches: Kept<u64>,
    /// Switches away while runnable.
    pub nr_involuntary_switches: Kept<u64>,
    /// Of these, by kind.
    pub woken: WakeupCounts,
    /// Times it was assigned another CPU.
    pub nr_migrations: Kept<u64>,
    /// What balancing made of it.
    pub balanced: BalancedCounts,
    /// Longest stint in competition: with a CPU load of at least twice its weight.
    pub slice_max: Kept<Nanos>,
    /// Since when it sleeps interruptibly, if it does.
    pub sleep_start: KeptSince,
    /// Longest such sleep.
    pub sleep_max: Kept<Nanos>,
    /// Since when it sleeps uninterruptibly, if it does.
    pub block_start: KeptSince,
    /// Longest such sleep.
    pub block_max: Kept<Nanos>,
    /// Total time asleep, of either kind.
    pub sum_sleep_runtime: Kept<Nanos>,
    /// Of this, uninterruptibly.
    pub sum_block_runtime: Kept<Nanos>,
}

impl TaskStats {
    pub(crate) fn reset(&self) {
        self.nr_voluntary_switches.set(0);
        self.nr_involuntary_switches.set(0);
        self.nr_migrations.set(0);
        self.nr_wakeups.set(0);
        self.woken.reset();
        self.balanced.reset();
        self.nr_slices.set(0);
        self.sum_exec_runtime.set(Nanos::ZERO);
        self.exec_start.set(Nanos::ZERO);
        self.prev_sum_exec_runtime.set(Nanos::ZERO);
        self.wait_start.set(None);
        self.wait_sum.set(Nanos::ZERO);
        self.wait_max.set(Nanos::ZERO);
        self.wait_count.set(0);
        self.woken_at.set(None);
        self.last_ran.set(Nanos::ZERO);
        self.exec_max.set(Nanos::ZERO);
        self.slice_max.set(Nanos::ZERO);
        self.sleep_start.set(None);
        self.sleep_max.set(Nanos::ZERO);
        self.block_start.set(None);
        self.block_max.set(Nanos::ZERO);
        self.sum_sleep_runtime.set(Nanos::ZERO);
        self.sum_block_runtime.set(Nanos::ZERO);
    }

    /// It runs: when it was woken for that, if it was.
    pub fn take_woken_at(&self) -> Option<Nanos> {
        self.woken_at.take()
    }

    /// When it was woken, if it has not run since.
    pub fn woken_at(&self) -> Option<Nanos> {
        self.woken_at.get()
    }

    /// Its latency counts from `since`, if it has been woken and not run yet.
    pub fn latency_counts_from(&self, since: Nanos) {
        self.woken_at.set(self.woken_at.get().map(|_| since));
    }

    /// Starts waiting for a CPU.
    pub(crate) fn wait_start(&self, now: Nanos) {
        self.wait_start.set(Some(now));
    }

    /// Stops waiting, if it waited; how long it did.
    pub(crate) fn wait_end(&self, now: Nanos) -> Nanos {
        let Some(start) = self.wait_start.take() else { return Nanos::ZERO };
        let waited = now.saturating_sub(start);
        self.wait_sum.set(self.wait_sum.get() + waited);
        self.wait_max.set(self.wait_max.get().max(waited));
        self.wait_count.set(self.wait_count.get() + 1);
        waited
    }

    /// It has run for `delta` up to now.
    #[inline]
    pub(crate) fn ran(&self, delta: Nanos, now: Nanos) {
        self.exec_start.set(now);
        self.sum_exec_runtime.set(self.sum_exec_runtime.get() + delta);
        if delta > self.exec_max.get() {
            self.exec_max.set(delta);
        }
    }

    /// Forgets what only the fair class counted before 5.16: waiting and sleeping.
    pub fn forget_waits(&self) {
        self.wait_start.set(None);
        self.wait_count.set(0);
        self.sleep_start.set(None);
        self.block_start.set(None);
        let sums = [&self.wait_sum, &self.wait_max, &self.sum_sleep_runtime, &self.sum_block_runtime];
        sums.into_iter().chain([&self.sleep_max, &self.block_max]).for_each(|time| time.set(Nanos::ZERO));
    }

    /// Goes to sleep.
    pub(crate) fn sleep_start(&self, now: Nanos, uninterruptible: bool) {
        let start = if uninterruptible { &self.block_start } else { &self.sleep_start };
        start.set(Some(now));
    }

    /// Wakes up, if it slept.
    pub(crate) fn sleep_end(&self, now: Nanos) {
        let slept = |start: &KeptSince, max: &Kept<Nanos>| {
            let slept = now.saturating_sub(start.take()?);
            max.set(max.get().max(slept));
            self.sum_sleep_runtime.set(self.sum_sleep_runtime.get() + slept);
            Some(slept)
        };
        slept(&self.sleep_start, &self.sleep_max);
        if let Some(blocked) = slept(&self.block_start, &self.block_max) {
            self.sum_block_runtime.set(self.sum_block_runtime.get() + blocked);
        }
    }
}

impl WakeupCounts {
    fn reset(&self) {
        let WakeupCounts { sync, migrate, local, remote, affine_attempts, affine, passive, idle } = self;
        let all = [sync, migrate, local, remote, affine_attempts, affine, passive, idle];
        all.iter().for_each(|counter| counter.set(0));
    }
}

impl BalancedCounts {
    fn reset(&self) {
        let BalancedCounts { failed_affine, failed_running, failed_hot, forced } = self;
        [failed_affine, failed_running, failed_hot, forced].iter().for_each(|counter| counter.set(0));
    }
}

/// Adds one to a counter.
#[inline]
pub(crate) fn bump<N: Copy + Add<Output = N> + From<u8>>(counter: &Kept<N>) {
    counter.set(counter.get() + N::from(1));
}

/// Adds a time to a counter of nanoseconds.
#[inline]
pub(crate) fn add(counter: &Kept<u64>, time: Nanos) {
    counter.set(counter.get() + time.0);
}
