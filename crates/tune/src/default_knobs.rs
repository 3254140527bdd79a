//! What can be set on a running kernel: the knobs where no file names any.
//!
//! All its features, the other way round; its tunables, in steps of two around their value; its preemption
//! models. Rules of the registry are no knobs: no kernel could switch them.

use crate::knob::{Knob, KnobValue};
use lab::Release;
use scheduler::registry::{Feature, RULES, TUNABLES, TunableInfo};
use schema::Kernel;

/// The steps around the value of a tunable.
const FACTORS: [(i64, i64); 4] = [(1, 4), (1, 2), (2, 1), (4, 1)];

/// Tunables of this model that no running kernel lets one write: how it was built, and what follows from
/// others (fair-class 3, 4.1).
const NOT_WRITTEN: [&str; 4] = ["hz", "nr_cpus", "sched_scaling_cpus_max", "sched_nr_latency"];

/// Tunables that matter only where CPUs are not worth the same, or change their frequency: who tunes such a
/// machine names them (deadline-groups B11, C2).
const OF_UNEQUAL_CPUS: [&str; 4] = [
    "sched_util_clamp_min",
    "sched_util_clamp_max",
    "sched_util_clamp_min_rt_default",
    "schedutil_rate_limit_us",
];

/// Features that release kernels have from a release on, or before one, where the registry does not say so,
/// because patched kernels had them as well: fair-class 9 for those that are gone (2.6.32 has them, 2.6.35
/// has not), fair-placement 8.3 for ATTACH_AGE_LOAD, which came with the load tracking of 4.3, rt-class 0.4
/// for RT_PUSH_IPI. That of TTWU_QUEUE is assumed: no source here tells it.
const RELEASED: &[(Feature, Release, Release)] = &[
    before_2_6_35(Feature::FairSleepers),
    before_2_6_35(Feature::NormalizedSleeper),
    before_2_6_35(Feature::AdaptiveGran),
    before_2_6_35(Feature::AsymGran),
    before_2_6_35(Feature::WakeupSync),
    before_2_6_35(Feature::WakeupOverlap),
    before_2_6_35(Feature::WakeupRunning),
    before_2_6_35(Feature::SyncWakeups),
    before_2_6_35(Feature::AffineWakeups),
    before_2_6_35(Feature::SyncLess),
    before_2_6_35(Feature::SyncMore),
    // Seed 003 never was in a release.
    (Feature::StartNice, OLDEST, OLDEST),
    (Feature::TtwuQueue, Release::new(3, 0, 0), NEWEST),
    (Feature::AttachAgeLoad, Release::new(4, 3, 0), NEWEST),
    (Feature::RtPushIpi, Release::new(4, 1, 0), NEWEST),
];
const OLDEST: Release = Release::new(0, 0, 0);
const NEWEST: Release = Release::new(u32::MAX, 0, 0);
/// sched_compat_yield is gone from here on (fair-placement 8.1).
const WITHOUT_COMPAT_YIELD: Release = Release::new(2, 6, 39);

const fn before_2_6_35(feature: Feature) -> (Feature, Release, Release) {
    (feature, OLDEST, Release::new(2, 6, 35))
}

/// The knobs of a kernel, of which `takes` says whether it knows a setting at all.
#[must_use]
pub fn default_knobs(kernel: &Kernel, release: Release, takes: impl Fn(&str) -> bool) -> Vec<Knob> {
    let has = |feature: &&Feature| is_released(**feature, release) && is_built(**feature, kernel, release);
    let features = Feature::ALL.iter().filter(has);
    let features = features.map(|feature| {
        let name = feature.name();
        let on = kernel.features.get(name).copied().unwrap_or(false);
        let other = if on { format!("NO_{name}") } else { name.to_owned() };
        (name.to_owned(), vec![other])
    });
    let tunables = TUNABLES.iter().filter(|tunable| is_written(tunable.name, release));
    let tunables = tunables.filter_map(|tunable| {
        let value = *kernel.tunables.get(tunable.name)?;
        let mut others = others(tunable, value, kernel);
        // The file in debugfs takes no value below 0, says a patch of 2026 that would change that; whether
        // it is so from 5.13 on is assumed.
        others.retain(|other| {
            tunable.name != "sched_migration_cost_ns" || *other >= 0 || release < Release::new(5, 13, 0)
        });
        Some((tunable.name.to_owned(), others.iter().map(|n| format!("{}={n}", tunable.name)).collect()))
    });
    let models = RULES.iter().filter(|rule| rule.name == "preempt_model").map(|rule| {
        let now = kernel.rules.get(rule.name).map_or("", String::as_str);
        let others = rule.values.iter().filter(|value| value.name != now);
        (rule.name.to_owned(), others.map(|value| format!("{}={}", rule.name, value.name)).collect())
    });
    features
        .chain(tunables)
        .chain(models)
        .map(|(name, settings): (String, Vec<String>)| {
            let values = settings.into_iter().filter(|setting| takes(setting)).map(KnobValue::Words);
            Knob { name, values: values.collect() }
        })
        .filter(|knob| !knob.values.is_empty())
        .collect()
}

fn is_released(feature: Feature, release: Release) -> bool {
    let known = RELEASED.iter().find(|(known, ..)| *known == feature);
    known.is_none_or(|(_, from, before)| *from <= release && release < *before)
}

/// PREEMPT_LAZY is a switch of the patches that made PREEMPT_RT, up to 6.11; in 6.12-rt, without patches, and
/// in kernels that are built without PREEMPT_RT there is none (machine.md 1.10).
fn is_built(feature: Feature, kernel: &Kernel, release: Release) -> bool {
    feature != Feature::PreemptLazy || kernel.profile.contains("-rt") && release < Release::new(6, 12, 0)
}

fn is_written(tunable: &str, release: Release) -> bool {
    ![&NOT_WRITTEN[..], &OF_UNEQUAL_CPUS].concat().contains(&tunable)
        && (tunable != "sched_compat_yield" || release < WITHOUT_COMPAT_YIELD)
}

/// Values around the one that it has.
fn others(tunable: &TunableInfo, value: i64, kernel: &Kernel) -> Vec<i64> {
    let mut values: Vec<i64> = match tunable.name {
        // A switch, or one of a few.
        _ if tunable.max <= 2 => (tunable.min..=tunable.max).collect(),
        // It is a share of the period: none, half, all but a little, all, no limit.
        "sched_rt_runtime_us" => {
            let period = kernel.tunables.get("sched_rt_period_us").copied().unwrap_or(1_000_000);
            vec![period / 2, period * 95 / 100, period, -1]
        }
        // The share would become another one.
        "sched_rt_period_us" => Vec::new(),
        "sched_migration_cost_ns" => {
            let around = FACTORS.map(|(times, over)| value * times / over);
            around.into_iter().chain([0, -1]).collect()
        }
        _ => FACTORS.map(|(times, over)| value * times / over).into(),
    };
    values.retain(|other| *other != value && (tunable.min..=tunable.max).contains(other));
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::{Experiment, Files, KernelConfig, LoadSpec, NamedKernel, Nanos};
    use std::collections::BTreeSet;

    fn settings(kernel: &str) -> BTreeSet<String> {
        let files = Files::new();
        let named = NamedKernel::find(kernel).expect("a kernel");
        let mut experiment = Experiment::new(lab::machine("laptop", Some(1), &files).expect("a machine"));
        experiment.kernel = KernelConfig::new(named.clone());
        experiment.loads = vec![LoadSpec::open("hog -n 1", &files).expect("a load")];
        experiment.duration = Some(Nanos::from_micros(1));
        let described = experiment.run().expect("it runs").result.kernel;
        let takes = |setting: &str| {
            let text = lab::ExperimentText { kernel: Some(kernel.to_owned()), ..Default::default() };
            let words = lab::Settings::parse(setting).expect("a setting");
            Experiment::open(&words.over(&text), &files).is_ok()
        };
        let knobs = default_knobs(&described, named.nearest_release(), takes);
        knobs.iter().flat_map(|knob| &knob.values).map(|value| value.text().to_owned()).collect()
    }

    #[test]
    fn a_kernel_has_its_own_knobs_and_no_others() {
        for (kernel, has, lacks) in [
            (
                "6.18.y",
                vec![
                    "NO_RUN_TO_PARITY",
                    "NO_DELAY_DEQUEUE",
                    "RT_PUSH_IPI",
                    "preempt_model=lazy",
                    "base_slice_ns=1400000",
                ],
                vec![
                    "START_DEBIT",
                    "NO_START_DEBIT",
                    "hz=500",
                    "SYNC_WAKEUPS",
                    "START_NICE",
                    "NI_RATE",
                    "sched_latency_ns=3000000",
                ],
            ),
            (
                "6.1",
                vec![
                    "NO_START_DEBIT",
                    "NO_RT_PUSH_IPI",
                    "NO_SIS_UTIL",
                    "sched_latency_ns=3000000",
                    "sched_child_runs_first=1",
                ],
                vec![
                    "NO_RUN_TO_PARITY",
                    "base_slice_ns=1500000",
                    "sched_compat_yield=1",
                    "FAIR_SLEEPERS",
                    "NO_AFFINE_WAKEUPS",
                    "PREEMPT_LAZY",
                    "NO_PREEMPT_LAZY",
                ],
            ),
            ("6.1-rt", vec!["NO_PREEMPT_LAZY"], vec!["PREEMPT_LAZY", "preempt_model=lazy"]),
            ("6.12-rt", vec!["NO_DELAY_DEQUEUE"], vec!["PREEMPT_LAZY", "NO_PREEMPT_LAZY"]),
            (
                "2.6.32",
                vec!["NO_FAIR_SLEEPERS", "NO_AFFINE_WAKEUPS", "sched_compat_yield=1"],
                vec![
                    "RT_PUSH_IPI",
                    "NO_RT_PUSH_IPI",
                    "TTWU_QUEUE",
                    "START_NICE",
                    "NO_SIS_UTIL",
                    "preempt_model=lazy",
                ],
            ),
        ] {
            let settings = settings(kernel);
            for setting in has {
                assert!(settings.contains(setting), "{kernel} {setting}: {settings:?}");
            }
            for setting in lacks {
                assert!(!settings.contains(setting), "{kernel} {setting}: {settings:?}");
            }
        }
    }
}
