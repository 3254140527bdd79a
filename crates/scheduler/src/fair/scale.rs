//! Granularities grow with the number of CPUs (fair-class 3.2).
//!
//! Nothing is cached: the tunables may change at any moment, and the factor is a logarithm of a small number.
//! The cap of 200 ms that kernels up to 2.6.32 had is left out: their defaults reach it at 512 CPUs and never
//! exceed it.

use crate::platform::Platform;
use crate::{Nanos, Scheduler};

const SCALING_NONE: i64 = 0;
const SCALING_LINEAR: i64 = 2;

/// What latency, min_granularity and wakeup_granularity are multiplied by.
fn factor<P: Platform>(k: &Scheduler<P>) -> u64 {
    let tunables = &k.config.tunables;
    let counted = (k.cpus() as u64).min(tunables.sched_scaling_cpus_max.get() as u64);
    match tunables.sched_tunable_scaling.get() {
        SCALING_NONE => 1,
        SCALING_LINEAR => counted,
        _ => 1 + u64::from(counted.ilog2()),
    }
}

/// sched_latency in ns, scaled.
pub(super) fn latency<P: Platform>(k: &Scheduler<P>) -> u64 {
    k.config.tunables.sched_latency_ns.get() as u64 * factor(k)
}

/// sched_min_granularity in ns, scaled.
pub(super) fn min_granularity<P: Platform>(k: &Scheduler<P>) -> u64 {
    k.config.tunables.sched_min_granularity_ns.get() as u64 * factor(k)
}

/// sched_wakeup_granularity in ns, scaled.
pub(super) fn wakeup_granularity<P: Platform>(k: &Scheduler<P>) -> u64 {
    k.config.tunables.sched_wakeup_granularity_ns.get() as u64 * factor(k)
}

/// base_slice in ns, scaled (eevdf-class 0.6).
pub(super) fn base_slice<P: Platform>(k: &Scheduler<P>) -> u64 {
    k.config.tunables.base_slice_ns.get() as u64 * factor(k)
}

/// All of them, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Granularities {
    /// sched_latency.
    pub latency: Nanos,
    /// sched_min_granularity.
    pub min_granularity: Nanos,
    /// sched_wakeup_granularity.
    pub wakeup_granularity: Nanos,
    /// base_slice.
    pub base_slice: Nanos,
}

/// Latency, granularities and slice as scaled by the number of CPUs: what Linux shows under their names.
pub fn granularities<P: Platform>(k: &Scheduler<P>) -> Granularities {
    Granularities {
        latency: Nanos(latency(k)),
        min_granularity: Nanos(min_granularity(k)),
        wakeup_granularity: Nanos(wakeup_granularity(k)),
        base_slice: Nanos(base_slice(k)),
    }
}

/// sched_nr_latency; never scaled.
pub(super) fn nr_latency<P: Platform>(k: &Scheduler<P>) -> u32 {
    k.config.tunables.sched_nr_latency.get() as u32
}

/// sched_migration_cost; −1, "always cache-hot", reads as for ever.
pub(super) fn migration_cost<P: Platform>(k: &Scheduler<P>) -> Nanos {
    u64::try_from(k.config.tunables.sched_migration_cost_ns.get()).map_or(Nanos::NEVER, Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;

    /// Table of fair-class 3.2: CPUs, factor up to 2.6.32, factor from 2.6.33.
    #[test]
    fn factors_of_3_2() {
        for (cpus, old, new) in
            [(1, 1, 1), (2, 2, 2), (3, 2, 2), (4, 3, 3), (8, 4, 4), (16, 5, 4), (31, 5, 4)]
        {
            assert_eq!(factor(&Lab::new(cpus, "2.6.32", &[]).k), old, "{cpus} CPUs");
            assert_eq!(factor(&Lab::new(cpus, "2.6.33", &[]).k), new, "{cpus} CPUs");
        }
    }

    #[test]
    fn four_cpus_have_15_3_3_ms_in_2_6_32_and_60_12_15_ms_in_2_6_31() {
        let all = |profile| {
            let lab = Lab::new(4, profile, &[]);
            (latency(&lab.k), min_granularity(&lab.k), wakeup_granularity(&lab.k))
        };
        assert_eq!(all("2.6.32"), (15_000_000, 3_000_000, 3_000_000));
        assert_eq!(all("2.6.31"), (60_000_000, 12_000_000, 15_000_000));
    }

    #[test]
    fn scaling_can_be_off_or_linear() {
        assert_eq!(factor(&Lab::new(6, "6.1.y", &["sched_tunable_scaling=0"]).k), 1);
        assert_eq!(factor(&Lab::new(6, "6.1.y", &["sched_tunable_scaling=2"]).k), 6);
        assert_eq!(factor(&Lab::new(16, "6.1.y", &["sched_tunable_scaling=2"]).k), 8);
    }
}
