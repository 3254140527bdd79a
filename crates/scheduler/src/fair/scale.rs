//! Granularities grow with the number of CPUs (fair-class 3.2), unless somebody has written them (3.3).
//!
//! Nothing is cached: the tunables may change at any moment, and the factor is a logarithm of a small number.
//! The cap of 200 ms that kernels up to 2.6.32 had is left out: their defaults reach it at 512 CPUs and never
//! exceed it.

use crate::platform::Platform;
use crate::registry::{Config, Scaled};
use crate::{Nanos, Scheduler};

const SCALING_NONE: i64 = 0;
const SCALING_LINEAR: i64 = 2;

/// What a kernel multiplies its latency, granularities and slice by.
#[inline]
fn factor(config: &Config, cpus: usize) -> u64 {
    let tunables = &config.tunables;
    let counted = (cpus as u64).min(tunables.sched_scaling_cpus_max.get() as u64);
    match tunables.sched_tunable_scaling.get() {
        SCALING_NONE => 1,
        SCALING_LINEAR => counted,
        _ => 1 + u64::from(counted.ilog2()),
    }
}

/// Latency, granularities and slice in effect: what Linux shows under their names.
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
    /// sched_nr_latency, which is never scaled.
    pub nr_latency: u32,
}

/// A tunable as it is in effect on so many CPUs.
#[inline]
fn in_effect(config: &Config, cpus: usize, scaled: Scaled) -> Nanos {
    let built_in = || Nanos(scaled.on_one_cpu(&config.tunables).0 * factor(config, cpus));
    config.written.get(scaled).unwrap_or_else(built_in)
}

#[inline]
fn nr_latency_of(config: &Config, cpus: usize) -> u32 {
    if config.written.nr_latency_follows.get() {
        let [latency, least] =
            [Scaled::Latency, Scaled::MinGranularity].map(|scaled| in_effect(config, cpus, scaled));
        latency.0.div_ceil(least.0) as u32
    } else {
        config.tunables.sched_nr_latency.get() as u32
    }
}

impl Granularities {
    /// Those of a kernel on so many CPUs.
    pub fn new(config: &Config, cpus: usize) -> Granularities {
        let of = |scaled| in_effect(config, cpus, scaled);
        Granularities {
            latency: of(Scaled::Latency),
            min_granularity: of(Scaled::MinGranularity),
            wakeup_granularity: of(Scaled::WakeupGranularity),
            base_slice: of(Scaled::BaseSlice),
            nr_latency: nr_latency_of(config, cpus),
        }
    }

    /// The value of a tunable, if it is one of these.
    pub fn of_tunable(&self, name: &str) -> Option<u64> {
        match Scaled::named(name) {
            Some(Scaled::Latency) => Some(self.latency.0),
            Some(Scaled::MinGranularity) => Some(self.min_granularity.0),
            Some(Scaled::WakeupGranularity) => Some(self.wakeup_granularity.0),
            Some(Scaled::BaseSlice) => Some(self.base_slice.0),
            None => (name == "sched_nr_latency").then_some(self.nr_latency.into()),
        }
    }
}

// One by one: they are asked several times in each event, and whoever needs one of them pays for that one.

/// sched_latency in ns.
pub(super) fn latency<P: Platform>(k: &Scheduler<P>) -> u64 {
    in_effect(&k.config, k.cpus(), Scaled::Latency).0
}

/// sched_min_granularity in ns.
pub(super) fn min_granularity<P: Platform>(k: &Scheduler<P>) -> u64 {
    in_effect(&k.config, k.cpus(), Scaled::MinGranularity).0
}

/// sched_wakeup_granularity in ns.
pub(super) fn wakeup_granularity<P: Platform>(k: &Scheduler<P>) -> u64 {
    in_effect(&k.config, k.cpus(), Scaled::WakeupGranularity).0
}

/// base_slice in ns (eevdf-class 0.6).
pub(super) fn base_slice<P: Platform>(k: &Scheduler<P>) -> u64 {
    in_effect(&k.config, k.cpus(), Scaled::BaseSlice).0
}

/// sched_nr_latency.
pub(super) fn nr_latency<P: Platform>(k: &Scheduler<P>) -> u32 {
    nr_latency_of(&k.config, k.cpus())
}

/// sched_migration_cost; −1, "always cache-hot", reads as for ever.
pub(super) fn migration_cost<P: Platform>(k: &Scheduler<P>) -> Nanos {
    u64::try_from(k.config.tunables.sched_migration_cost_ns.get()).map_or(Nanos::NEVER, Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;

    fn factor_of(profile: &str, cpus: usize) -> u64 {
        factor(&Config::of_profile(profile).expect("a profile"), cpus)
    }

    /// Table of fair-class 3.2: CPUs, factor up to 2.6.32, factor from 2.6.33.
    #[test]
    fn factors_of_3_2() {
        for (cpus, old, new) in
            [(1, 1, 1), (2, 2, 2), (3, 2, 2), (4, 3, 3), (8, 4, 4), (16, 5, 4), (31, 5, 4)]
        {
            assert_eq!(factor_of("2.6.32", cpus), old, "{cpus} CPUs");
            assert_eq!(factor_of("2.6.33", cpus), new, "{cpus} CPUs");
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
        let factor = |cpus, setting| {
            let config = Config::of_profile("6.1.y").expect("a profile");
            config.set(setting).expect("legal");
            super::factor(&config, cpus)
        };
        assert_eq!(factor(6, "sched_tunable_scaling=0"), 1);
        assert_eq!(factor(6, "sched_tunable_scaling=2"), 6);
        assert_eq!(factor(16, "sched_tunable_scaling=2"), 8);
    }

    /// fair-class 3.3: the file shows the scaled value, and a write replaces that.
    #[test]
    fn what_is_written_is_not_scaled() {
        let settings = ["sched_latency_ns=20000000", "sched_wakeup_granularity_ns=0"];
        let lab = Lab::new(8, "6.1.y", &settings);
        assert_eq!((latency(&lab.k), wakeup_granularity(&lab.k)), (20_000_000, 0));
        assert_eq!(min_granularity(&lab.k), 4 * 750_000, "not written");
        let eevdf = Lab::new(8, "6.18.y", &["base_slice_ns=2800001"]);
        assert_eq!(base_slice(&eevdf.k), 2_800_001);
        assert_eq!(eevdf.k.config.tunables.base_slice_ns.get(), 700_000, "eevdf-class 0.6: base1 stays");
    }

    /// fair-class 3.3: after any write ceil(latency / min_granularity), of the values in effect.
    #[test]
    fn a_write_makes_nr_latency_the_quotient() {
        let nr_latency = |cpus, settings: &[&str]| nr_latency(&Lab::new(cpus, "6.1.y", settings).k);
        assert_eq!(nr_latency(1, &["sched_latency_ns=20000000"]), 27, "ceil(20 / 0.75)");
        assert_eq!(nr_latency(8, &["sched_latency_ns=20000000"]), 7, "ceil(20 / 3)");
        assert_eq!(nr_latency(8, &["sched_min_granularity_ns=750000"]), 32, "24 / 0.75");
        assert_eq!(nr_latency(8, &["sched_min_granularity_ns=750000", "sched_nr_latency=3"]), 3);
    }
}
