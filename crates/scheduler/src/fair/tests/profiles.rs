//! The table of profiles (fair-class 0.4) and of tunables (3.1, 3.2).

use crate::registry::{Config, Feature};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// latency, min_granularity and wakeup_granularity in µs, nr_latency, then what the columns of 0.4 say.
const TABLE: &[(&str, [i64; 4], &str)] = &[
    (
        "2.6.31",
        [20_000, 4_000, 5_000, 5],
        "first full NEXT LAST adaptive next_first every_wake ungated passive_pull",
    ),
    (
        "2.6.31.3",
        [20_000, 4_000, 5_000, 5],
        "first full NEXT LAST adaptive next_first every_wake ungated passive_pull",
    ),
    ("tip", [5_000, 1_000, 1_000, 5], "half LAST adaptive clear_tested every_wake ungated present_load"),
    (
        "tip+",
        [5_000, 1_000, 1_000, 5],
        "half LAST adaptive last_first preempt_vr gated check busy present_load",
    ),
    (
        "tip+x",
        [20_000, 4_000, 5_000, 5],
        "full LAST adaptive last_first preempt_vr gated check busy present_load",
    ),
    (
        "tipx",
        [20_000, 4_000, 5_000, 5],
        "full NEXT LAST adaptive clear_tested every_wake ungated present_load",
    ),
    (
        "2.6.32",
        [5_000, 1_000, 1_000, 5],
        "half LAST adaptive last_first preempt_vr gated check busy present_load",
    ),
    (
        "2.6.33",
        [5_000, 1_000, 1_000, 5],
        "half LAST adaptive last_first preempt_any gated check busy sibling present_load",
    ),
    (
        "2.6.35",
        [6_000, 2_000, 1_000, 3],
        "half LAST last_first preempt_any gated check busy sibling present_load",
    ),
    (
        "2.6.35.2+D",
        [6_000, 750, 1_000, 8],
        "half LAST last_first preempt_any gated check busy vrt sibling present_load",
    ),
    (
        "2.6.36",
        [6_000, 750, 1_000, 8],
        "half LAST last_first preempt_any gated check busy sibling present_load",
    ),
];

/// What a profile says, in the order of the table.
fn words(config: &Config) -> String {
    let rules = &config.rules;
    let rule = |name: &str| rules.iter().find(|s| s.rule == name).map_or("", |s| s.value);
    let on = |name| rule(name) == "on";
    let first = config.tunables.sched_child_runs_first.get() == 1;
    let words = [
        (first, "first"),
        (config.has(Feature::GentleFairSleepers), "half"),
        (!config.has(Feature::GentleFairSleepers), "full"),
        (config.has(Feature::NextBuddy), "NEXT"),
        (config.has(Feature::LastBuddy), "LAST"),
        (config.has(Feature::AdaptiveGran), "adaptive"),
        (true, rule("pick_mode")),
        (true, rule("last_set")),
        (on("buddy_gate"), "gated"),
        (!on("buddy_gate"), "ungated"),
        (on("tick_latency_check"), "check"),
        (on("hot_buddy_dst_busy"), "busy"),
        (on("tick_vrt_cmp"), "vrt"),
        (on("idle_sibling"), "sibling"),
        (true, rule("wake_placement")),
    ];
    let said: Vec<&str> = words.iter().filter(|(said, _)| *said).map(|(_, word)| *word).collect();
    said.join(" ")
}

#[test]
fn profiles_are_those_of_table_0_4() {
    for (name, numbers, expected) in TABLE {
        let config = Config::of_profile(name).expect("a profile");
        let t = &config.tunables;
        let us = |ns: i64| ns / 1000;
        let got = [
            us(t.sched_latency_ns.get()),
            us(t.sched_min_granularity_ns.get()),
            us(t.sched_wakeup_granularity_ns.get()),
            t.sched_nr_latency.get(),
        ];
        assert_eq!((got, words(&config).as_str()), (*numbers, *expected), "{name}");
        assert_eq!(t.sched_migration_cost_ns.get(), 500_000, "{name}");
        assert_eq!((t.sched_nr_migrate.get(), t.sched_compat_yield.get()), (32, 0), "{name}");
    }
}

/// Section 9: what each era has switched on, in the order in which it prints its features.
#[test]
fn features_are_those_of_section_9() {
    let on = |profile: &str| {
        let config = Config::of_profile(profile).expect("a profile");
        let fair = Feature::ALL.iter().filter(|f| f.source().contains("fair-class"));
        fair.filter(|f| config.has(**f)).map(|f| f.name()).collect::<Vec<_>>().join(" ")
    };
    let common = "AFFINE_WAKEUPS LAST_BUDDY CACHE_HOT_BUDDY LB_BIAS";
    assert_eq!(
        on("2.6.31"),
        "FAIR_SLEEPERS START_DEBIT WAKEUP_PREEMPT ADAPTIVE_GRAN ASYM_GRAN SYNC_WAKEUPS AFFINE_WAKEUPS \
         NEXT_BUDDY LAST_BUDDY CACHE_HOT_BUDDY LB_BIAS"
    );
    assert_eq!(
        on("2.6.32"),
        "FAIR_SLEEPERS GENTLE_FAIR_SLEEPERS START_DEBIT WAKEUP_PREEMPT ADAPTIVE_GRAN ASYM_GRAN SYNC_WAKEUPS \
         AFFINE_WAKEUPS SYNC_LESS LAST_BUDDY CACHE_HOT_BUDDY LB_BIAS"
    );
    for profile in ["2.6.35", "2.6.35.2+D", "2.6.36"] {
        let expected = format!(
            "FAIR_SLEEPERS GENTLE_FAIR_SLEEPERS START_DEBIT WAKEUP_PREEMPT ASYM_GRAN SYNC_WAKEUPS {common}"
        );
        assert_eq!(on(profile), expected, "{profile}");
    }
}

/// 0.3: the alias sets five selectors at once.
#[test]
fn strong_buddies_set_five_rules_at_once() {
    let five = |setting: &str| {
        let config = Config::of_profile("2.6.32").expect("a profile");
        config.set(setting).expect("legal");
        let names = ["pick_mode", "last_set", "buddy_gate", "tick_latency_check", "hot_buddy_dst_busy"];
        let values = config.rules.iter().filter(|s| names.contains(&s.rule)).map(|s| s.value);
        values.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(five("STRONG_BUDDIES"), "last_first preempt_vr on on on");
    assert_eq!(five("NO_STRONG_BUDDIES"), "clear_tested every_wake off off off");
}

/// fair-placement 8.7, 8.5: what the stable branch of 6.1 mended, its releases before have not got.
#[test]
fn releases_have_not_got_what_their_stable_branches_mended() {
    const RULES: &str = "affine_count fork_counts scan_counts lb_average hot_count";
    let values = |profile: &str| {
        let config = Config::of_profile(profile).expect("a profile");
        let values = config.rules.iter().filter(|s| RULES.split(' ').any(|name| name == s.rule));
        values.map(|s| s.value).collect::<Vec<_>>().join(" ")
    };
    for (profiles, expected) in [
        ("6.1.y 6.12.y 6.18.y 7.0 7.1", "waker allowed allowed stays moved"),
        ("6.1 6.1-rt 5.15 5.10 5.4", "idle all allowed wraps tested"),
        ("4.19", "idle all all wraps tested"),
        ("6.6 6.12", "waker all allowed stays tested"),
        ("6.18", "waker all allowed stays moved"),
    ] {
        for profile in profiles.split(' ') {
            assert_eq!(values(profile), expected, "{profile}");
        }
    }
}
