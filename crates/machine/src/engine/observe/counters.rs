//! What the machine has counted up to some moment.

use super::view::View;
use crate::outcome::{CpuOutcome, DecisionCount, TotalsOutcome};
use scheduler::{CpuId, Nanos, Reason};

impl<'s> View<'s> {
    /// What each CPU has counted up to `at`.
    pub fn cpu_outcomes(self, at: Nanos) -> Vec<CpuOutcome> {
        let cpus = (0..self.k.cpus()).map(|c| CpuId(c as u16));
        let outcome = |cpu| {
            let hw = self.hw().cpu(cpu);
            CpuOutcome {
                cpu,
                nr_switches: self.hw().recorder.switches_on(cpu),
                idle: self.hw().recorder.idle_time(cpu, at),
                rq_lock: self.hw().lock_stats(cpu),
                ipis_sent: hw.ipis_sent.get(),
                ipis_received: hw.ipis_received.get(),
            }
        };
        cpus.map(outcome).collect()
    }

    /// What the machine has counted.
    pub fn totals(self) -> TotalsOutcome {
        let totals = &self.k.totals;
        TotalsOutcome {
            context_switches: self.hw().recorder.switches(),
            wakeups: totals.wakeups.get(),
            migrations: totals.migrations.get(),
            pushes: totals.pushes.get(),
            pulls: totals.pulls.get(),
            push_ipis: totals.push_ipis.get(),
            rt_searches: totals.rt_searches.get(),
            rt_search_time: totals.rt_search_time.get(),
            push_ipis_in_flight_max: self.hw().push_ipis.most(),
            push_ipis_in_flight_by_source_max: self.hw().push_ipis.most_by_source(),
            wakeup_preemptions: totals.wakeup_preemptions.get(),
        }
    }

    /// How often each decision has fallen, in the order of [`Reason::ALL`].
    pub fn decisions(self) -> impl Iterator<Item = DecisionCount> + 's {
        let totals = &self.k.totals;
        Reason::ALL.iter().map(|reason| DecisionCount { reason: *reason, count: totals.decisions(*reason) })
    }
}
