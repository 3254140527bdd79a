//! Kernel profiles: named sets of settings (rt-class 0.4, fair-class 0.4). Each builds on an older entry or
//! on the defaults, so a document's before and after differ in one line.

use super::{Config, SettingError};

/// A named kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// As after `--kernel`.
    pub name: &'static str,
    /// In one sentence.
    pub meaning: &'static str,
    /// Where its settings come from.
    pub source: &'static str,
    /// The profile whose settings come first.
    pub base: Option<&'static str>,
    /// What it changes, in order.
    pub settings: &'static [&'static str],
}

impl Profile {
    /// The profile of this name.
    pub fn find(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|p| p.name == name)
    }

    /// Whether it is that profile, or changes it directly or through others: an older kernel than that.
    pub fn builds_on(&self, name: &str) -> bool {
        self.name == name || self.base.and_then(Profile::find).is_some_and(|base| base.builds_on(name))
    }

    /// Applies the settings of the bases, then its own.
    ///
    /// # Errors
    /// None for the profiles of [`PROFILES`]: a test applies each.
    pub fn apply(&self, config: &Config) -> Result<(), SettingError> {
        if let Some(base) = self.base.and_then(Profile::find) {
            base.apply(config)?;
        }
        self.settings.iter().try_for_each(|s| config.set(s))
    }
}

/// What all profiles from 2.6.31 on share; of the later kernels not all have these switches.
const FAIR_BASE: &str = "fair-base";

/// Every profile.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: FAIR_BASE,
        meaning: "The settings of the fair class that all profiles from 2.6.31 on share; no kernel, but a \
                  base for the others.",
        source: "fair-class 9",
        base: None,
        settings: &[
            "FAIR_SLEEPERS",
            "GENTLE_FAIR_SLEEPERS",
            "START_DEBIT",
            "WAKEUP_PREEMPT",
            "ASYM_GRAN",
            "AFFINE_WAKEUPS",
            "SYNC_WAKEUPS",
            "LAST_BUDDY",
            "CACHE_HOT_BUDDY",
            "LB_BIAS",
        ],
    },
    Profile {
        name: "6.1",
        meaning: "Linux 6.1 (6.1.178 or later) without PREEMPT_RT, but with the placement of 2.6.36 for fair \
                  tasks: RT balancing by pull, slices of at least min_granularity, the next buddy before the \
                  last; built with PREEMPT_DYNAMIC and started with voluntary preemption, hence \
                  double_lock=fair.",
        source: "rt-class 0.3, 0.4, 5.6; fair-class 0.4, 7.7; machine.md 0.4",
        base: Some(FAIR_BASE),
        settings: &["BASE_SLICE", "TTWU_QUEUE", "NO_RT_PUSH_IPI"],
    },
    Profile {
        name: "6.1.y",
        meaning: "Linux 6.1.192, the stable branch of 6.1, with its own fair class: load tracking (PELT), \
                  placement and balancing of 6.1; the rest as 6.1.",
        source: "fair-placement 1 to 5, 8.1, 8.7",
        base: Some("6.1"),
        settings: &[
            "NO_AFFINE_WAKEUPS",
            "NO_SYNC_WAKEUPS",
            "NO_LB_BIAS",
            "load_tracking=pelt",
            "cpu_capacity=pelt",
            "UTIL_EST",
            "UTIL_EST_FASTUP",
            "ATTACH_AGE_LOAD",
            "WA_IDLE",
            "WA_WEIGHT",
            "WA_BIAS",
            "SIS_UTIL",
            "wake_placement=idle_or_load",
            "wake_wide=on",
            "idle_sibling=scan",
            "recent_used=prev",
            "bound_kthread=task",
            "sched_idle_cpu=on",
            "fork_balance=group_type",
            "wake_on_cpu=list",
            "numa_imbalance=channels",
            "lb=group_type",
            "lb_params=by_span",
            "newidle_gate=measured_cost",
            "misfit_reduced=on",
            "idle_tick=keep",
            "NI_RANDOM",
            "last_set=preempt_fair",
            "tick_check=always",
            "skew_tick=off",
        ],
    },
    Profile {
        name: "6.1-rt",
        meaning: "Linux 6.1 with PREEMPT_RT: RT_PUSH_IPI on, remote wakeups take the remote lock.",
        source: "rt-class 0.3, 0.4",
        base: Some("6.1"),
        settings: &["NO_TTWU_QUEUE", "RT_PUSH_IPI", "preempt_model=full"],
    },
    Profile {
        name: "6.6",
        meaning: "Linux 6.6 without PREEMPT_RT: EEVDF serves fair tasks; they are placed and balanced as under \
                  6.1.y.",
        source: "eevdf-class 0.3, 0.4",
        base: Some("6.1.y"),
        settings: &[
            "fair_policy=eevdf",
            "NO_FAIR_SLEEPERS",
            "NO_GENTLE_FAIR_SLEEPERS",
            "NO_START_DEBIT",
            "NO_LAST_BUDDY",
            "NO_ASYM_GRAN",
            "NO_BASE_SLICE",
            "PLACE_LAG",
            "PLACE_DEADLINE_INITIAL",
            "RUN_TO_PARITY",
            "PICK_BUDDY",
            "base_slice_ns=750000",
            "v_ref=min",
            "lag_limit=own",
            "protection=deadline",
            "protect_when=set_next",
            "tick_end=deadline",
            "short_wakeup=none",
            "trim=never",
            "idle_protection=kept",
            "yield_form=deadline",
            "reweight=keep",
            "lb_lag=off",
            "NO_NI_RANDOM",
            "RT_PUSH_IPI",
        ],
    },
    Profile {
        name: "6.12",
        meaning: "Linux 6.12 as released, without PREEMPT_RT: delayed dequeue, slices of a task's own, \
                  preemption by short slices.",
        source: "eevdf-class 0.3, 0.4",
        base: Some("6.6"),
        settings: &[
            "PLACE_REL_DEADLINE",
            "PREEMPT_SHORT",
            "DELAY_DEQUEUE",
            "DELAY_ZERO",
            "tick_end=or_lost",
            "short_wakeup=cancel",
        ],
    },
    Profile {
        name: "6.12.y",
        meaning: "Linux 6.12.117, the end of that stable branch: slices of 0.7 ms, sums from the zero-lag \
                  point, yield forfeits the request.",
        source: "eevdf-class 0.3, 0.4",
        base: Some("6.12"),
        settings: &[
            "base_slice_ns=700000",
            "v_ref=zero",
            "idle_protection=cancelled",
            "yield_form=forfeit",
            "NI_RANDOM",
            "NO_RT_PUSH_IPI",
        ],
    },
    Profile {
        name: "6.18",
        meaning: "Linux 6.18 as released, without PREEMPT_RT: protection for the shortest slice; balancing \
                  looks at lag.",
        source: "eevdf-class 0.3, 0.4",
        base: Some("6.12"),
        settings: &[
            "base_slice_ns=700000",
            "protection=shortest",
            "tick_end=unprotected",
            "short_wakeup=pick",
            "trim=short",
            "idle_protection=cancelled",
            "reweight=rescale",
            "lb_lag=on",
        ],
    },
    Profile {
        name: "6.18.y",
        meaning: "Linux 6.18.44, of that stable branch: sums from the zero-lag point, lag up to the longest \
                  slice, protection only by a pick, yield forfeits the request.",
        source: "eevdf-class 0.3, 0.4, U1",
        base: Some("6.18"),
        settings: &[
            "v_ref=zero",
            "lag_limit=longest",
            "protect_when=pick",
            "yield_form=forfeit",
            "NI_RANDOM",
            "NO_RT_PUSH_IPI",
        ],
    },
    Profile {
        name: "7.0",
        meaning: "Linux 7.0 without PREEMPT_RT: lazy preemption; new tasks do not preempt, every wakeup \
                  shortens the protection.",
        source: "eevdf-class 0.3, 0.4, 5.1",
        base: Some("6.18.y"),
        settings: &["trim=always", "wake_buddy=deadline", "fork_preempts=no", "preempt_model=lazy"],
    },
    Profile {
        name: "7.1",
        meaning: "Linux 7.1 and 7.2 without PREEMPT_RT: debt does not grow in a queue, and requests end when \
                  they are over (HRTICK).",
        source: "eevdf-class 0.3, 0.4, 5.4, U2",
        base: Some("7.0"),
        settings: &["delay_lag=monotonic", "HRTICK", "hrtick_for=request"],
    },
    Profile {
        name: "4.0",
        meaning: "Linux 4.0, before seed 001: RT balancing by pull, ticket spinlocks; built for voluntary \
                  preemption, hence double_lock=trylock (for CONFIG_PREEMPT set preempt_model=full \
                  double_lock=fair).",
        source: "rt-class 0.4 (v4.0), 5.6; fair-class U15; machine.md 3.2",
        base: Some("6.1"),
        settings: &[
            "pick_any=first",
            "wake_route=ge_or_pinned",
            "wake_verify_target=off",
            "NO_RT_PUSH_IPI",
            "post_push=tail_relock",
            "deboost_order=wake_then_deboost",
            "rtmutex_spin=never",
            "RT_RUNTIME_SHARE",
            "lock_kind=ticket",
            "double_lock=trylock",
            "push_revalidate=still_queued",
            "NO_BASE_SLICE",
            "floor_order=without_task",
            "idle_short_sleeper=off",
        ],
    },
    Profile {
        name: "4.1",
        meaning: "Linux 4.1, seed 001 applied: RT_PUSH_IPI with one walker for each lowering CPU.",
        source: "rt-class 0.4 (v4.1)",
        base: Some("4.0"),
        settings: &["wake_verify_target=on", "RT_PUSH_IPI", "push_ipi_walker=per_source"],
    },
    Profile {
        name: "3.3",
        meaning: "Linux 3.3: as 4.0, but pull scans the other queue.",
        source: "rt-class 0.4 (v3.3)",
        base: Some("4.0"),
        settings: &["pull_source=queue_scan", "setscheduler_place=tail"],
    },
    Profile {
        name: "2.6.36",
        meaning: "Linux 2.6.36, before seed 000: a woken RT task avoids any RT task.",
        source: "rt-class 0.4 (v2.6.36); fair-class 0.4 (v2.6.36)",
        base: Some("4.0"),
        settings: &[
            "search=cpupri_locked",
            "wake_route=any_rt",
            "wake_lock=old_rq",
            "equal_prio_check=newcomer_first",
            "pull_source=queue_scan",
            "next_def=second_best",
            "push_fail=drop_and_continue",
            "setscheduler_place=tail",
            "NO_TTWU_QUEUE",
            "pick_mode=last_first",
            "next_set=wake",
            "idle_batch_preempts=off",
            "idle_never_hot=off",
            "yield_mode=keep",
        ],
    },
    Profile {
        name: "2.6.36+S0",
        meaning: "Linux 2.6.36 with seed 000: a woken RT task stays unless a higher one runs.",
        source: "rt-class 0.4 (v2.6.36+S0)",
        base: Some("2.6.36"),
        settings: &["wake_route=strictly_higher"],
    },
    Profile {
        name: "2.6.37",
        meaning: "Linux 2.6.37: as 2.6.36+S0, and a pinned running RT task is avoided too.",
        source: "rt-class 0.4 (v2.6.37)",
        base: Some("2.6.36+S0"),
        settings: &["wake_route=higher_or_pinned", "idle_never_hot=on"],
    },
    Profile {
        name: "2.6.35",
        meaning: "Linux 2.6.35: fair class with min_granularity 2 ms.",
        source: "fair-class 0.4 (v2.6.35), 3.1",
        base: Some("2.6.36"),
        settings: &["sched_latency_ns=6000000", "sched_min_granularity_ns=2000000", "sched_nr_latency=3"],
    },
    Profile {
        name: "2.6.35.2+D",
        meaning: "Seed 003's base kernel: 2.6.35.2 with min_granularity 0.75 ms and the vruntime comparison \
                  patch.",
        source: "fair-class 0.4 (v2.6.35.2+D), 6.2",
        base: Some("2.6.35"),
        settings: &["sched_min_granularity_ns=750000", "sched_nr_latency=8", "tick_vrt_cmp=on"],
    },
    Profile {
        name: "2.6.33",
        meaning: "Linux 2.6.33 and 2.6.34: granularities 5/1/1 ms, idle-sibling wakeups, adaptive wakeup \
                  granularity.",
        source: "fair-class 0.4 (v2.6.33), 3.1",
        base: Some("2.6.36"),
        settings: &[
            "sched_latency_ns=5000000",
            "sched_min_granularity_ns=1000000",
            "sched_wakeup_granularity_ns=1000000",
            "sched_nr_latency=5",
            "ADAPTIVE_GRAN",
            "SYNC_LESS",
            "load_balance_amount=load_per_task",
            "rt_load_weight=twice_max",
            "deboost_place=tail",
        ],
    },
    Profile {
        name: "2.6.32",
        meaning: "Linux 2.6.32, seed 004 applied: strong buddies, plain affine wakeups.",
        source: "fair-class 0.4 (tip+)",
        base: Some("2.6.33"),
        settings: &[
            "STRONG_BUDDIES",
            "idle_sibling=off",
            "fork_path=late",
            "floor_order=one_step",
            "newidle_stop=on_busiest",
            "sched_scaling_cpus_max=512",
        ],
    },
    Profile {
        name: "tip",
        meaning: "The development tree at 2.6.32-rc5, before seed 004: buddies are cleared as soon as they \
                  are tested.",
        source: "seed 004; fair-class 0.4",
        base: Some("2.6.32"),
        settings: &["NO_STRONG_BUDDIES"],
    },
    Profile {
        name: "tip+",
        meaning: "That tree with seed 004 applied, whose fair class 2.6.32 has unchanged.",
        source: "seed 004; fair-class 0.4",
        base: Some("tip"),
        settings: &["STRONG_BUDDIES"],
    },
    Profile {
        name: "tip+x",
        meaning: "tip+ with the granularities and the sleeper credit of 2.6.31.",
        source: "seed 004; fair-class 0.4",
        base: Some("tip+"),
        settings: &[
            "NO_GENTLE_FAIR_SLEEPERS",
            "sched_latency_ns=20000000",
            "sched_min_granularity_ns=4000000",
            "sched_wakeup_granularity_ns=5000000",
        ],
    },
    Profile {
        name: "tipx",
        meaning: "tip with the granularities and the sleeper credit of 2.6.31, and NEXT_BUDDY.",
        source: "seed 004; fair-class 0.4, U4",
        base: Some("tip+x"),
        settings: &["NO_STRONG_BUDDIES", "NEXT_BUDDY"],
    },
    Profile {
        name: "2.6.31",
        meaning: "Linux 2.6.31: granularities 20/4/5 ms, full sleeper credit, child runs first.",
        source: "fair-class 0.4 (v2.6.31), 8.7",
        base: Some("2.6.32"),
        settings: &[
            "NO_GENTLE_FAIR_SLEEPERS",
            "sched_latency_ns=20000000",
            "sched_min_granularity_ns=4000000",
            "sched_wakeup_granularity_ns=5000000",
            "sched_nr_latency=5",
            "sched_child_runs_first=1",
            "NEXT_BUDDY",
            "pick_mode=next_first",
            "next_set=wake_or_fork",
            "last_set=every_wake",
            "buddy_gate=off",
            "tick_latency_check=off",
            "hot_buddy_dst_busy=off",
            "wake_placement=passive_pull",
            "NO_SYNC_LESS",
            "overlap_check=overlap_or_sync",
            "newidle_stop=never",
        ],
    },
    Profile {
        name: "2.6.31.3",
        meaning: "Linux 2.6.31.3, the last column of seed 004's tables; its fair class is that of 2.6.31.",
        source: "seed 004; fair-class 0.4",
        base: Some("2.6.31"),
        settings: &[],
    },
    Profile {
        name: "2.6.23-rt5",
        meaning: "Linux 2.6.23.1-rt5, before seed 002: linear search, RT wakeups routed by load, overload by \
                  depth.",
        source: "rt-class 0.4 (rt5)",
        base: Some("2.6.31"),
        settings: &[
            "overload_rule=depth",
            "search=linear",
            "topology=off",
            "wake_route=cfs_load",
            "equal_prio_check=off",
            "push_source=queue_scan",
            "pull_source=queue_scan",
            "next_def=second_best",
            "push_fail=retry3",
            "post_push=tail_relock",
            "pull_filter=none",
            "NO_RT_PUSH_IPI",
            "deboost_order=wake_then_deboost",
            "deboost_place=tail",
            "sched_rt_runtime_us=-1",
            "NO_RT_RUNTIME_SHARE",
            "NO_ADAPTIVE_GRAN",
            "lock_kind=test_and_set",
            "preempt_model=full",
            "double_lock=fair",
        ],
    },
    Profile {
        name: "2.6.23-rt5-gh",
        meaning: "2.6.23.1-rt5 with seed 002: topology, 2-d search, true overload, RT routing by priority.",
        source: "rt-class 0.4 (rt5-gh)",
        base: Some("2.6.23-rt5"),
        settings: &[
            "overload_rule=migratory",
            "search=cpupri_gap",
            "topology=on",
            "pick_any=first",
            "wake_route=not_preempting",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{DoubleLock, Feature, PreemptModel, RtmutexSpin};
    use alloc::vec::Vec;

    #[test]
    fn every_profile_applies() {
        for profile in PROFILES {
            assert!(profile.base.is_none_or(|b| Profile::find(b).is_some()), "{}", profile.name);
            assert_eq!(profile.apply(&Config::default()), Ok(()), "{}", profile.name);
        }
    }

    /// The switches of table 0.3 as a profile sets them.
    fn rt_switches(config: &Config) -> Vec<(&'static str, &'static str)> {
        const FEATURES: [Feature; 3] = [Feature::RtPushIpi, Feature::TtwuQueue, Feature::RtRuntimeShare];
        const RULES: &str = "overload_rule search topology pick_any wake_route wake_verify_target \
                             equal_prio_check push_source pull_source next_def push_fail post_push pull_filter \
                             push_ipi_walker rto_skip_self deboost_order deboost_place";
        let rules = config.rules.iter().filter(|s| RULES.split(' ').any(|name| name == s.rule));
        let rules: Vec<_> = rules.map(|s| (s.rule, s.value)).collect();
        assert_eq!(rules.len(), RULES.split(' ').count());
        let feature = |f: &Feature| (f.name(), if config.has(*f) { "on" } else { "off" });
        rules.into_iter().chain(FEATURES.iter().map(feature)).collect()
    }

    /// rt-class 0.4, row by row: each says what differs from 6.1. Which double_lock, see 5.6.
    #[test]
    fn presets_are_those_of_rt_class_0_4() {
        // What a kernel has not got yet, its row leaves out: the choice among equals (4.5), verification
        // (3.3), next (1.5).
        const NOT_YET: &str = "pick_any=first wake_verify_target=off next_def=second_best";
        const RT5: &str = "overload_rule=depth search=linear topology=off wake_route=cfs_load \
                           equal_prio_check=off push_source=queue_scan pull_source=queue_scan push_fail=retry3 \
                           post_push=tail_relock pull_filter=none balance_mode=pull deboost_order=wake_then_deboost \
                           deboost_place=tail NO_TTWU_QUEUE";
        const V36: &str = "search=cpupri_locked pick_any=first wake_route=any_rt wake_verify_target=off \
                           equal_prio_check=newcomer_first pull_source=queue_scan next_def=second_best \
                           push_fail=drop_and_continue post_push=tail_relock balance_mode=pull \
                           deboost_order=wake_then_deboost RT_RUNTIME_SHARE NO_TTWU_QUEUE";
        const V40: &str = "pick_any=first wake_verify_target=off balance_mode=pull post_push=tail_relock \
                           deboost_order=wake_then_deboost RT_RUNTIME_SHARE";
        const GH: &str = "overload_rule=migratory search=cpupri_gap topology=on wake_route=not_preempting";
        let rows: &[(&str, &[&str])] = &[
            ("2.6.23-rt5", &[RT5, NOT_YET]),
            ("2.6.23-rt5-gh", &[RT5, NOT_YET, GH]),
            ("2.6.36", &[V36]),
            ("2.6.36+S0", &[V36, "wake_route=strictly_higher"]),
            ("2.6.37", &[V36, "wake_route=higher_or_pinned"]),
            ("3.3", &[V40, "pull_source=queue_scan"]),
            ("4.0", &[V40]),
            ("4.1", &[V40, "wake_verify_target=on balance_mode=ipi_per_source"]),
            ("6.1", &["balance_mode=pull"]),
            ("6.1-rt", &["balance_mode=ipi_root_domain NO_TTWU_QUEUE"]),
        ];
        for (profile, settings) in rows {
            let expected = Config::default();
            // The defaults of 0.3 that are features.
            assert_eq!(expected.set("TTWU_QUEUE"), Ok(()));
            for setting in settings.iter().flat_map(|s| s.split_whitespace()) {
                assert_eq!(expected.set(setting), Ok(()), "{profile}");
            }
            let config = Config::of_profile(profile).expect("a profile");
            assert_eq!(rt_switches(&config), rt_switches(&expected), "{profile}");
        }
    }

    /// machine.md 0.3: they do since 5.15.
    #[test]
    fn only_waiters_of_6_1_and_newer_kernels_spin() {
        for profile in PROFILES {
            let config = Config::of_profile(profile.name).expect("a profile");
            let spins = config.rules.rtmutex_spin.get() == RtmutexSpin::OwnerOnCpu;
            let expected = profile.name == FAIR_BASE || profile.builds_on("6.1") && !profile.builds_on("4.0");
            assert_eq!(spins, expected, "{}", profile.name);
        }
    }

    /// rt-class 5.6: a build that can preempt takes a second lock fairly, whatever table 0.4 leaves out;
    /// before PREEMPT_DYNAMIC such a build also preempted.
    #[test]
    fn double_lock_follows_the_build() {
        for profile in PROFILES.iter().filter(|p| p.name != FAIR_BASE) {
            let config = Config::default();
            assert_eq!(profile.apply(&config), Ok(()));
            let dynamic = profile.builds_on("6.1") && !profile.builds_on("4.0");
            let can_preempt = dynamic || config.rules.preempt_model.get() == PreemptModel::Full;
            let fair = config.rules.double_lock.get() == DoubleLock::Fair;
            assert_eq!(fair, can_preempt, "{}", profile.name);
        }
    }
}
