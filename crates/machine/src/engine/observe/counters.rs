//! What the machine has counted up to some moment.

use super::view::View;
use crate::outcome::DecisionCount;
use scheduler::{CpuId, Nanos, Reason};
use schema::{CpuIdle, CpuResult, Totals};

impl<'s> View<'s> {
    /// What each CPU has counted up to `at`.
    pub fn cpu_results(self, at: Nanos) -> Vec<CpuResult> {
        let cpus = (0..self.k.cpus()).map(|c| CpuId(c as u16));
        let result = |cpu: CpuId| {
            let hw = self.hw().cpu(cpu);
            CpuResult {
                cpu: u32::from(cpu.0),
                nr_switches: self.hw().recorder.switches_on(cpu),
                idle_ns: self.hw().recorder.idle_time(cpu, at).0,
                rq_lock: self.hw().lock_stats(cpu),
                ipis_sent: hw.ipis_sent.get(),
                ipis_received: hw.ipis_received.get(),
                polled: hw.polled.get(),
            }
        };
        cpus.map(result).collect()
    }

    /// How each CPU has used its idle states up to `at`; empty where the machine has one.
    pub fn idle_results(self, at: Nanos) -> Vec<CpuIdle> {
        self.hw().idle.as_ref().map_or_else(Vec::new, |idle| idle.results(at))
    }

    /// What the machine has counted.
    pub fn totals(self) -> Totals {
        let (totals, user) = (&self.k.totals, self.user);
        Totals {
            context_switches: self.hw().recorder.switches(),
            wakeups: totals.wakeups.get(),
            migrations: totals.migrations.get(),
            pushes: totals.pushes.get(),
            pulls: totals.pulls.get(),
            push_ipis: totals.push_ipis.get(),
            rt_searches: totals.rt_searches.get(),
            rt_search_ns: totals.rt_search_time.get().0,
            push_ipis_in_flight_max: self.hw().push_ipis.most(),
            push_ipis_in_flight_by_source_max: self.hw().push_ipis.most_by_source(),
            wakeup_preemptions: totals.wakeup_preemptions.get(),
            spinlock_sleeps: user.spinlocks.sleeps(),
            lock_holder_preemptions: user.tasks.lock_holder_preemptions.get(),
            kernel_mutex_spins: user.kernel_mutexes.spun.times.get(),
            kernel_mutex_spin_ns: user.kernel_mutexes.spun.time.get().0,
            kernel_mutex_sleeps: user.kernel_mutexes.slept.times.get(),
            kernel_mutex_sleep_ns: user.kernel_mutexes.slept.time.get().0,
            rwsem_spins: user.kernel_locks.spun.times.get(),
            rwsem_spin_ns: user.kernel_locks.spun.time.get().0,
            rwsem_sleeps: user.kernel_locks.slept.times.get(),
            rwsem_sleep_ns: user.kernel_locks.slept.time.get().0,
            polled: self.hw().cpus.iter().map(|cpu| cpu.polled.get()).sum(),
            cache_refill_ns: user.tasks.cache_refill.get().0,
            interrupts_ns: self.hw().cpus.iter().map(|cpu| cpu.in_interrupts.get().0).sum(),
        }
    }

    /// How often each decision has fallen, in the order of [`Reason::ALL`].
    pub fn decisions(self) -> impl Iterator<Item = DecisionCount> + 's {
        let totals = &self.k.totals;
        Reason::ALL.iter().map(|reason| DecisionCount { reason: *reason, count: totals.decisions(*reason) })
    }
}
