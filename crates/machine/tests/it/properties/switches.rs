//! Every switch switches something: for each feature, each value of a rule and each tunable there is a run
//! whose trace depends on it.
//!
//! The runs are random ones; [`CONTEXT`] says in which company a switch can matter at all. A switch that the
//! scheduler ignores makes no difference anywhere, and fails here.

use super::lab::{DURATION, run_and_look, run_unchecked};
use super::scenario::{Scenario, any_scenario};
use super::settings::values;
use super::stages::stages;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use scheduler::registry::{Belonging, FairPolicy, Feature, RULES, TUNABLES};

/// Load tracking, and what reads it.
const TRACKED: &[&str] = &[
    "load_tracking=pelt",
    "cpu_capacity=pelt",
    "UTIL_EST",
    "WA_IDLE",
    "WA_WEIGHT",
    "WA_BIAS",
    "wake_placement=idle_or_load",
    "idle_sibling=scan",
    "fork_balance=group_type",
    "lb=group_type",
    "lb_params=by_span",
    "newidle_gate=measured_cost",
    "sched_idle_cpu=on",
    "TTWU_QUEUE",
];

/// Load tracking, clamps of what it finds, and frequencies that follow it.
const CLAMPED: &[&str] = &[
    "load_tracking=pelt",
    "cpu_capacity=pelt",
    "UTIL_EST",
    "unequal_cpus=fit",
    "uclamp=fits",
    "rt_fit=fit",
    "governor=schedutil",
    "wake_placement=idle_or_load",
    "idle_sibling=scan",
    "lb=group_type",
    "lb_params=by_span",
    "newidle_gate=measured_cost",
    "TTWU_QUEUE",
];

/// The same where interrupts are left out of the CPU time of tasks.
const INTERRUPTED: &[&str] = &[
    "irq_accounting=on",
    "load_tracking=pelt",
    "cpu_capacity=pelt",
    "wake_placement=idle_or_load",
    "idle_sibling=scan",
    "lb=group_type",
    "lb_params=by_span",
    "misfit_reduced=on",
    "newidle_gate=measured_cost",
];

/// The search for an idle CPU before that.
const SEARCHED: &[&str] = &[
    "load_tracking=pelt",
    "WA_IDLE",
    "WA_WEIGHT",
    "wake_placement=idle_near_or_load",
    "idle_sibling=core_cpu_thread",
    "lb=group_type",
    "NO_SIS_UTIL",
];

/// The same with a budget.
const BUDGETED: &[&str] = &[
    "load_tracking=pelt",
    "WA_IDLE",
    "WA_WEIGHT",
    "wake_placement=idle_near_or_load",
    "idle_sibling=core_cpu_thread",
    "lb=group_type",
    "NO_SIS_UTIL",
    "SIS_PROP",
];

/// Load tracking on machines with clusters.
const CLUSTERED: &[&str] = &[
    "load_tracking=pelt",
    "cluster_level=on",
    "WA_IDLE",
    "wake_placement=idle_or_load",
    "idle_sibling=scan",
    "lb=group_type",
    "lb_params=by_span",
    "newidle_gate=measured_cost",
];

/// Load tracking where all tasks stay warm.
const WARM: &[&str] = &[
    "load_tracking=pelt",
    "lb=group_type",
    "lb_params=by_span",
    "newidle_gate=measured_cost",
    "sched_migration_cost_ns=100000000",
];

/// Loads of the moment, and what reads them.
const WEIGHED: &[&str] = &[
    "load_tracking=weights",
    "wake_placement=present_load",
    "idle_sibling=off",
    "fork_balance=cpu_load",
    "lb=group_load",
    "lb_params=fixed",
    "AFFINE_WAKEUPS",
    "SYNC_WAKEUPS",
];

/// Searches by dice.
const DICE: &[&str] = &[
    "load_tracking=pelt",
    "idle_sibling=scan",
    "lb=group_type",
    "lb_params=by_span",
    "newidle_gate=measured_cost",
    "NI_RANDOM",
];

/// EEVDF, where wakeups and balancing count tasks.
const SLEEPERS_COUNT: &[&str] = &[
    "fair_policy=eevdf",
    "PLACE_LAG",
    "RUN_TO_PARITY",
    "DELAY_DEQUEUE",
    "load_tracking=pelt",
    "WA_IDLE",
    "WA_WEIGHT",
    "wake_placement=idle_or_load",
    "idle_sibling=scan",
    "lb=group_type",
    "lb_params=by_span",
    "newidle_gate=measured_cost",
];

/// What has to be set for a switch to matter; the longest matching beginning of the switch's text counts.
const CONTEXT: &[(&str, &[&str])] = &[
    ("irq_accounting", TRACKED),
    ("NONTASK_CAPACITY", INTERRUPTED),
    // So large that no sleeper has it, unless it shrinks.
    ("ADAPTIVE_GRAN", &["sched_wakeup_granularity_ns=5000000"]),
    ("overlap_check", &["WAKEUP_OVERLAP"]),
    ("next_set", &["NEXT_BUDDY", "buddy_gate=off"]),
    ("sched_compat_yield", &["yield_mode=keep"]),
    ("CACHE_HOT_BUDDY", &["NEXT_BUDDY", "LAST_BUDDY", "buddy_gate=off", "sched_migration_cost_ns=0"]),
    ("hot_buddy_dst_busy", &["NEXT_BUDDY", "LAST_BUDDY", "buddy_gate=off", "sched_migration_cost_ns=0"]),
    ("pick_mode", &["NEXT_BUDDY", "LAST_BUDDY", "buddy_gate=off"]),
    ("tick_", &["tick_latency_check=on", "sched_min_granularity_ns=100000"]),
    ("tick_check", &["NO_WAKEUP_PREEMPT", "sched_min_granularity_ns=100000"]),
    ("slice_cap", &["sched_latency_ns=1000000", "sched_min_granularity_ns=4000000"]),
    ("last_set", &["LAST_BUDDY", "buddy_gate=off", "WAKEUP_SYNC", "SYNC_WAKEUPS"]),
    ("NI_RANDOM", TRACKED),
    ("NI_RATE", DICE),
    ("newidle_failure", TRACKED),
    ("smt_balance", TRACKED),
    ("delayed_count", SLEEPERS_COUNT),
    ("idle_tick", TRACKED),
    ("RT_RUNTIME_SHARE", &["sched_rt_period_us=10000", "sched_rt_runtime_us=6000"]),
    ("throttled_count", &["sched_rt_period_us=10000", "sched_rt_runtime_us=6000"]),
    ("push_ipi_walker", &["RT_PUSH_IPI"]),
    ("rto_skip_self", &["RT_PUSH_IPI"]),
    ("push_ipi_bail", &["RT_PUSH_IPI"]),
    ("cpupri_top", &["search=cpupri", "wake_route=ge_or_pinned"]),
    ("load_tracking", TRACKED),
    ("new_task_util", TRACKED),
    ("pelt_lag", TRACKED),
    ("cpu_capacity", TRACKED),
    ("wake_wide", TRACKED),
    ("recent_used", TRACKED),
    ("cluster_level", TRACKED),
    ("cluster_wake", CLUSTERED),
    ("bound_kthread", TRACKED),
    ("sched_idle_cpu", TRACKED),
    ("fork_balance", TRACKED),
    ("ttwu_list", TRACKED),
    ("wake_on_cpu", TRACKED),
    ("numa_imbalance", TRACKED),
    ("lb", TRACKED),
    ("lb_params", TRACKED),
    ("newidle_gate", TRACKED),
    ("misfit_reduced", TRACKED),
    ("asym_packing", TRACKED),
    ("unequal_cpus", TRACKED),
    ("governor", CLAMPED),
    ("energy_aware", CLAMPED),
    ("freq_margin", CLAMPED),
    ("schedutil_rate_limit_us", CLAMPED),
    ("uclamp", CLAMPED),
    ("rt_fit", CLAMPED),
    ("sched_util_clamp", CLAMPED),
    ("affine_count", TRACKED),
    ("fork_counts", TRACKED),
    ("scan_counts", BUDGETED),
    ("hot_count", WARM),
    ("UTIL_EST", TRACKED),
    ("ATTACH_AGE_LOAD", TRACKED),
    ("WA_", TRACKED),
    ("SIS_UTIL", TRACKED),
    ("SIS_PROP", SEARCHED),
    ("SIS_AVG_CPU", SEARCHED),
    ("detach_scale", TRACKED),
    ("balance_load", TRACKED),
    ("smt_hot", TRACKED),
    ("nohz_balance", TRACKED),
    ("idle_sibling", TRACKED),
    ("wake_placement", TRACKED),
    ("wake_placement=passive_pull", WEIGHED),
    ("AFFINE_WAKEUPS", WEIGHED),
    ("SYNC_", WEIGHED),
    ("LB_BIAS", WEIGHED),
    ("newidle_stop", WEIGHED),
    ("load_balance_amount", WEIGHED),
    ("rt_load_weight", WEIGHED),
    ("dl_server_stop", &["dl_server=deferred", "rt_throttle=off"]),
    ("dl_server_wakeup", &["dl_server=deferred", "dl_server_stop=on_empty", "rt_throttle=off"]),
    ("PLACE_", EEVDF),
    ("RUN_TO_PARITY", EEVDF),
    ("PREEMPT_SHORT", EEVDF),
    ("PICK_BUDDY", BUDDIES),
    ("DELAY_", EEVDF),
    ("v_ref", EEVDF),
    ("lag_limit", &["fair_policy=eevdf", "PLACE_LAG", "NO_DELAY_DEQUEUE"]),
    ("protection", EEVDF),
    ("protect_when", EEVDF),
    ("tick_end", EEVDF),
    ("short_wakeup", EEVDF),
    // Who worked its debt off in the queue is eligible when it wakes, and preempts.
    ("trim", &["fair_policy=eevdf", "PLACE_LAG", "RUN_TO_PARITY", "PREEMPT_SHORT", "NO_DELAY_DEQUEUE"]),
    ("wake_buddy", BUDDIES),
    ("fork_preempts", EEVDF),
    ("idle_protection", EEVDF),
    ("custom_slice", EEVDF),
    ("yield_form", EEVDF),
    ("reweight", EEVDF),
    ("delay_lag", EEVDF),
    ("lb_lag", EEVDF),
    ("group_shares", TRACKED),
    ("base_slice_ns", EEVDF),
    ("hrtick_for", &["fair_policy=eevdf", "PLACE_LAG", "RUN_TO_PARITY", "HRTICK"]),
];

/// A kernel with EEVDF, whatever the scenario's is.
const EEVDF: &[&str] = &[
    "fair_policy=eevdf",
    "PLACE_LAG",
    "PLACE_DEADLINE_INITIAL",
    "PLACE_REL_DEADLINE",
    "RUN_TO_PARITY",
    "PREEMPT_SHORT",
    "PICK_BUDDY",
    "DELAY_DEQUEUE",
    "DELAY_ZERO",
    "NO_NEXT_BUDDY",
];

const BUDDIES: &[&str] = &[
    "fair_policy=eevdf",
    "PLACE_LAG",
    "RUN_TO_PARITY",
    "PREEMPT_SHORT",
    "PICK_BUDDY",
    "DELAY_DEQUEUE",
    "DELAY_ZERO",
    "NEXT_BUDDY",
];

/// Runs that are tried before a switch is taken to be dead.
const RUNS: usize = 1500;

/// Two settings that must not be the same.
struct Switch {
    usual: String,
    other: String,
}

fn switches() -> Vec<Switch> {
    let features = Feature::ALL
        .iter()
        .map(|f| Switch { usual: format!("NO_{}", f.name()), other: f.name().to_string() });
    let rules = RULES.iter().flat_map(|r| {
        let text = |v: &scheduler::registry::RuleValue| format!("{}={}", r.name, v.name);
        r.values[1..].iter().map(move |v| Switch { usual: text(&r.values[0]), other: text(v) })
    });
    let tunables = TUNABLES.iter().map(|t| {
        let values = values(t);
        let text = |v: Option<&i64>| format!("{}={}", t.name, v.expect("there are at least two"));
        Switch { usual: text(values.first()), other: text(values.last()) }
    });
    features.chain(rules).chain(tunables).collect()
}

fn context(switch: &Switch) -> &'static [&'static str] {
    let matching = CONTEXT.iter().filter(|(name, _)| switch.other.starts_with(name));
    matching.max_by_key(|(name, _)| name.len()).map_or(&[], |(_, settings)| settings)
}

fn under(scenario: &Scenario, company: &[&str], setting: &str) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.settings.extend(company.iter().map(|s| (*s).to_string()));
    scenario.settings.push(setting.to_string());
    scenario.later.clear();
    scenario
}

/// The run under a setting, as text.
fn text(scenario: &Scenario, company: &[&str], setting: &str) -> String {
    format!("{:?}", run_unchecked(&under(scenario, company, setting), DURATION))
}

/// The same with what the files of /proc would count.
fn text_and_counters(scenario: &Scenario, company: &[&str], setting: &str) -> String {
    let scenario = under(scenario, company, setting);
    match run_and_look(&scenario, DURATION) {
        Ok(mut outcome) => {
            // The settings, which a snapshot has too, differ anyway.
            let end = outcome.snapshots.pop();
            format!("{outcome:?} {:?}", end.map(|end| (end.cpus, end.tasks)))
        }
        Err(error) => format!("{error:?}"),
    }
}

fn scenarios() -> Vec<Scenario> {
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(3), ..Config::default() });
    let random = (0..RUNS).map(|_| any_scenario().new_tree(&mut runner).expect("a scenario").current());
    stages().into_iter().chain(random).collect()
}

/// What one discipline of the fair class asks for, the other one ignores: under the wrong one it is refused.
#[test]
fn what_belongs_to_one_discipline_makes_no_difference_under_the_other() {
    let scenarios = scenarios();
    let mut alive = Vec::new();
    for switch in switches() {
        let name = switch.other.split('=').next().unwrap_or(&switch.other);
        let Some(belonging) = Belonging::of(name) else { continue };
        let wrong = match belonging.to {
            FairPolicy::Cfs => "fair_policy=eevdf",
            FairPolicy::Eevdf => "fair_policy=cfs",
        };
        let company: Vec<&str> =
            context(&switch).iter().copied().filter(|s| !s.starts_with("fair_policy")).collect();
        let company = [company, vec![wrong]].concat();
        let same = |s: &Scenario| text(s, &company, &switch.usual) == text(s, &company, &switch.other);
        if !scenarios.iter().take(20).all(same) {
            alive.push(switch.other);
        }
    }
    assert!(alive.is_empty(), "these matter under the other discipline: {alive:?}");
}

#[test]
fn every_switch_makes_a_difference_somewhere() {
    let scenarios = scenarios();
    let mut dead = Vec::new();
    for switch in switches() {
        let company = context(&switch);
        let look = |s: &Scenario, setting: &str| text_and_counters(s, company, setting);
        let differs = |s: &&Scenario| look(s, &switch.usual) != look(s, &switch.other);
        // A kernel without clamps refuses them, which is no difference that its rule makes.
        let counts = |s: &Scenario| switch.other != "uclamp=off" || !s.clamps();
        let found = scenarios.iter().position(|s| counts(s) && differs(&s));
        if found.is_none() {
            dead.push(switch.other);
        }
    }
    assert!(dead.is_empty(), "these make no difference in {RUNS} runs: {dead:?}");
}
