//! Random settings: every feature, rule and tunable of the registry.

use proptest::prelude::*;
use proptest::sample::select;
use scheduler::registry::{FROM_THE_START, Feature, PROFILES, RULES, TUNABLES, TunableInfo};

/// The name of a kernel profile.
pub fn kernel() -> impl Strategy<Value = &'static str> {
    let names: Vec<&str> = PROFILES.iter().map(|p| p.name).collect();
    select(names)
}

/// One setting in Linux's syntax.
pub fn setting() -> impl Strategy<Value = String> {
    select(all_settings())
}

/// One that may change in the middle of a run.
pub fn later_setting() -> impl Strategy<Value = String> {
    let settings = all_settings().into_iter();
    let from_the_start = |s: &String| {
        let name = s.split('=').next();
        FROM_THE_START.iter().any(|rule| Some(*rule) == name)
    };
    select(settings.filter(|s| !from_the_start(s)).collect::<Vec<_>>())
}

/// Every feature on and off, every rule with each value, every tunable with some values.
pub fn all_settings() -> Vec<String> {
    let features = Feature::ALL.iter().flat_map(|f| [f.name().to_string(), format!("NO_{}", f.name())]);
    let rules = RULES.iter().flat_map(|r| r.values.iter().map(|v| format!("{}={}", r.name, v.name)));
    let tunables =
        TUNABLES.iter().flat_map(|t| values(t).iter().map(|v| format!("{}={v}", t.name)).collect::<Vec<_>>());
    features.chain(rules).chain(tunables).collect()
}

/// Values of a tunable that make a difference to runs of some milliseconds. None of them forbids real-time
/// tasks to run at all, or no run would end.
pub fn values(tunable: &TunableInfo) -> Vec<i64> {
    match tunable.name {
        "sched_latency_ns" => vec![100_000, 1_000_000, 20_000_000],
        "sched_min_granularity_ns" => vec![100_000, 750_000, 4_000_000],
        "sched_wakeup_granularity_ns" => vec![0, 100_000, 5_000_000],
        "sched_nr_latency" => vec![1, 3, 8],
        "sched_migration_cost_ns" => vec![-1, 0, 500_000],
        "sched_nr_migrate" => vec![1, 2, 32],
        "sched_scaling_cpus_max" => vec![1, 4, 512],
        "sched_rr_timeslice_ms" => vec![-1, 3, 1],
        "sched_rt_period_us" => vec![1_000, 10_000],
        // Of 10 ms: small CPUs beside a large one need up to 12 % for their fair servers.
        "sched_rt_runtime_us" => vec![-1, 1_200, 9_000],
        "hz" => vec![100, 250, 4_000],
        "base_slice_ns" => vec![100_000, 700_000, 5_000_000],
        "sched_util_clamp_min" | "sched_util_clamp_max" | "sched_util_clamp_min_rt_default" => {
            vec![1_024, 300, 0]
        }
        "schedutil_rate_limit_us" => vec![0, 500, 20_000],
        "nr_cpus" => vec![1, 64, 255],
        _ => (tunable.min..=tunable.max.min(tunable.min + 3)).collect(),
    }
}
