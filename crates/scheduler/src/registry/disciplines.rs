//! Settings that one discipline of the fair class knows, and the other one ignores.

use super::FairPolicy;

/// A feature, rule or tunable of one discipline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Belonging {
    /// Its name.
    pub name: &'static str,
    /// The discipline that asks for it.
    pub to: FairPolicy,
    /// Which kernels have it: "exists since 6.12", "existed until 6.5" (eevdf-class 0.4, 0.5).
    pub kernels: &'static str,
}

impl Belonging {
    /// Of a setting of this name; `None` where both disciplines, or neither, ask for it.
    pub fn of(name: &str) -> Option<&'static Belonging> {
        BELONGINGS.iter().find(|belonging| belonging.name == name)
    }
}

const fn cfs(name: &'static str) -> Belonging {
    Belonging { name, to: FairPolicy::Cfs, kernels: "existed until 6.5" }
}

const fn eevdf(name: &'static str, kernels: &'static str) -> Belonging {
    Belonging { name, to: FairPolicy::Eevdf, kernels }
}

/// Every setting of one discipline.
pub const BELONGINGS: &[Belonging] = &[
    cfs("FAIR_SLEEPERS"),
    cfs("GENTLE_FAIR_SLEEPERS"),
    cfs("NORMALIZED_SLEEPER"),
    cfs("START_DEBIT"),
    cfs("START_NICE"),
    cfs("ADAPTIVE_GRAN"),
    cfs("ASYM_GRAN"),
    cfs("WAKEUP_SYNC"),
    cfs("WAKEUP_OVERLAP"),
    cfs("WAKEUP_RUNNING"),
    cfs("LAST_BUDDY"),
    cfs("BASE_SLICE"),
    cfs("renice"),
    cfs("floor_order"),
    cfs("blocked_floor"),
    cfs("idle_batch_preempts"),
    cfs("idle_short_sleeper"),
    cfs("idle_least_slice"),
    cfs("slice_cap"),
    cfs("yield_mode"),
    cfs("pick_mode"),
    cfs("next_set"),
    cfs("last_set"),
    cfs("buddy_gate"),
    cfs("tick_latency_check"),
    cfs("tick_check"),
    cfs("tick_vrt_cmp"),
    cfs("tick_cmp_unsigned"),
    cfs("sched_latency_ns"),
    cfs("sched_min_granularity_ns"),
    cfs("sched_wakeup_granularity_ns"),
    cfs("sched_nr_latency"),
    cfs("sched_child_runs_first"),
    cfs("sched_compat_yield"),
    eevdf("PLACE_LAG", "exists since 6.6"),
    eevdf("PLACE_DEADLINE_INITIAL", "exists since 6.6"),
    eevdf("PLACE_REL_DEADLINE", "exists since 6.12"),
    eevdf("RUN_TO_PARITY", "exists since 6.6"),
    eevdf("PREEMPT_SHORT", "exists since 6.12"),
    eevdf("PICK_BUDDY", "exists since 6.14"),
    eevdf("DELAY_DEQUEUE", "exists since 6.12"),
    eevdf("DELAY_ZERO", "exists since 6.12"),
    eevdf("v_ref", "exists since 6.6"),
    eevdf("lag_limit", "exists since 6.6"),
    eevdf("protection", "exists since 6.6"),
    eevdf("protect_when", "exists since 6.6"),
    eevdf("tick_end", "exists since 6.6"),
    eevdf("short_wakeup", "exists since 6.6"),
    eevdf("trim", "exists since 6.17"),
    eevdf("wake_buddy", "exists since 6.6"),
    eevdf("fork_preempts", "exists since 6.6"),
    eevdf("idle_protection", "exists since 6.6"),
    eevdf("yield_form", "exists since 6.6"),
    eevdf("reweight", "exists since 6.6"),
    eevdf("delay_lag", "exists since 6.12"),
    eevdf("lb_lag", "exists since 6.14"),
    eevdf("base_slice_ns", "exists since 6.6"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Config, Feature, RULES, TUNABLES};
    use alloc::vec::Vec;

    #[test]
    fn each_is_a_setting_and_stands_once() {
        let features = Feature::ALL.iter().map(|feature| feature.name());
        let others = RULES.iter().map(|rule| rule.name).chain(TUNABLES.iter().map(|tunable| tunable.name));
        let known: Vec<&str> = features.chain(others).collect();
        let mut names: Vec<&str> = BELONGINGS.iter().map(|belonging| belonging.name).collect();
        assert!(names.iter().all(|name| known.contains(name)));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    /// eevdf-class 0.4: no kernel with EEVDF has a feature of CFS on, and the other way round.
    #[test]
    fn no_profile_has_a_feature_of_the_other_discipline() {
        for (name, policy) in
            [("6.1", FairPolicy::Cfs), ("6.6", FairPolicy::Eevdf), ("7.1", FairPolicy::Eevdf)]
        {
            let config = Config::of_profile(name).expect("a profile");
            let foreign = BELONGINGS.iter().filter(|belonging| belonging.to != policy);
            for belonging in foreign {
                let feature = Feature::ALL.iter().find(|feature| feature.name() == belonging.name);
                assert!(feature.is_none_or(|feature| !config.has(*feature)), "{name}: {}", belonging.name);
            }
        }
    }
}
