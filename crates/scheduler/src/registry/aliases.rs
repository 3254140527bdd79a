//! Names that stand for other settings: shorthands, other kernels' names, and names that settings once had.

/// A name that stands for several settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alias {
    /// As the user writes it.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it sets, in order.
    pub settings: &'static [&'static str],
}

/// Every alias; an alias with a `=` stands for exactly that text.
pub const ALIASES: &[Alias] = &[
    Alias {
        name: "STRONG_BUDDIES",
        meaning: "Seed 004 applied: buddies are kept until used, gated by load and bounded by the tick.",
        source: "fair-class 0.3",
        settings: &[
            "pick_mode=last_first",
            "last_set=preempt_vr",
            "buddy_gate=on",
            "tick_latency_check=on",
            "hot_buddy_dst_busy=on",
        ],
    },
    Alias {
        name: "NO_STRONG_BUDDIES",
        meaning: "The fair class as it was before seed 004.",
        source: "fair-class 0.3",
        settings: &[
            "pick_mode=clear_tested",
            "last_set=every_wake",
            "buddy_gate=off",
            "tick_latency_check=off",
            "hot_buddy_dst_busy=off",
        ],
    },
    Alias {
        name: "NEW_FAIR_SLEEPERS",
        meaning: "The name that Linux 2.6.31 has for FAIR_SLEEPERS.",
        source: "fair-class 3.1, 9",
        settings: &["FAIR_SLEEPERS"],
    },
    Alias {
        name: "NO_NEW_FAIR_SLEEPERS",
        meaning: "The name that Linux 2.6.31 has for NO_FAIR_SLEEPERS.",
        source: "fair-class 3.1, 9",
        settings: &["NO_FAIR_SLEEPERS"],
    },
    Alias {
        name: "rt_group_sched=1",
        meaning: "A boot option of kernels with RT_GROUP_SCHED (6.16 on): real-time tasks have groups.",
        source: "deadline-groups B9",
        settings: &["rt_throttle=groups"],
    },
    Alias {
        name: "rt_group_sched=0",
        meaning: "The same without groups of real-time tasks; all together are throttled.",
        source: "deadline-groups B9",
        settings: &["rt_throttle=root"],
    },
    Alias {
        name: "WAKEUP_PREEMPTION",
        meaning: "The name that Linux 6.1 has for WAKEUP_PREEMPT.",
        source: "sched_features of a recorded 6.1 kernel",
        settings: &["WAKEUP_PREEMPT"],
    },
    Alias {
        name: "NO_WAKEUP_PREEMPTION",
        meaning: "The name that Linux 6.1 has for NO_WAKEUP_PREEMPT.",
        source: "sched_features of a recorded 6.1 kernel",
        settings: &["NO_WAKEUP_PREEMPT"],
    },
    Alias {
        name: "sched_itmt_enabled=0",
        meaning: "The sysctl (since 6.15 a file of debugfs) that turns the preference of some CPUs off.",
        source: "deadline-groups C9",
        settings: &["asym_packing=off"],
    },
    Alias {
        name: "balance_mode=pull",
        meaning: "A lowering CPU pulls under the other CPUs' locks.",
        source: "rt-class 5.5",
        settings: &["NO_RT_PUSH_IPI"],
    },
    Alias {
        name: "balance_mode=ipi_root_domain",
        meaning: "A lowering CPU asks by IPI; one walker for the root domain.",
        source: "rt-class 6.4",
        settings: &["RT_PUSH_IPI", "push_ipi_walker=root_domain"],
    },
    Alias {
        name: "balance_mode=ipi_per_source",
        meaning: "A lowering CPU asks by IPI; one walker for each lowering CPU.",
        source: "rt-class 6.3",
        settings: &["RT_PUSH_IPI", "push_ipi_walker=per_source"],
    },
    Alias {
        name: "balance_mode=ipi_broadcast",
        meaning: "A lowering CPU interrupts every overloaded CPU.",
        source: "rt-class 6.2",
        settings: &["RT_PUSH_IPI", "push_ipi_walker=broadcast"],
    },
    former(
        "sched_idle=v61",
        "fair-class 4.3, 6.4, 6.8, 7.7",
        &["idle_batch_preempts=on", "idle_never_hot=on", "idle_short_sleeper=on"],
    ),
    former(
        "sched_idle=v39",
        "fair-class 4.3, 6.4, 6.8, 7.7",
        &["idle_batch_preempts=on", "idle_never_hot=on", "idle_short_sleeper=off"],
    ),
    former(
        "sched_idle=v37",
        "fair-class 4.3, 6.4, 6.8, 7.7",
        &["idle_batch_preempts=off", "idle_never_hot=on", "idle_short_sleeper=off"],
    ),
    former(
        "sched_idle=v36",
        "fair-class 4.3, 6.4, 6.8, 7.7",
        &["idle_batch_preempts=off", "idle_never_hot=off", "idle_short_sleeper=off"],
    ),
    former("equal_prio_check=v6", "rt-class 2.3", &["equal_prio_check=curr_first"]),
    former("equal_prio_check=v2008", "rt-class 2.3", &["equal_prio_check=newcomer_first"]),
    former("floor_order=v49", "fair-class 2.5, 4.5", &["floor_order=with_task"]),
    former("floor_order=v33", "fair-class 2.5, 4.5", &["floor_order=without_task"]),
    former("floor_order=v32", "fair-class 2.5, 4.5", &["floor_order=one_step"]),
    former("next_set=v61", "fair-class 7.2, 7.7", &["next_set=wake_or_preempt"]),
    former("next_set=v32", "fair-class 7.2, 7.7", &["next_set=wake"]),
    former("next_set=v31", "fair-class 7.2, 7.7", &["next_set=wake_or_fork"]),
    former("wake_placement=v32", "fair-class 8.3, 8.7", &["wake_placement=present_load"]),
    former("wake_placement=v31", "fair-class 8.3, 8.7", &["wake_placement=passive_pull"]),
    former("overlap_check=v32", "fair-class 6.4", &["overlap_check=by_overlap"]),
    former("overlap_check=v31", "fair-class 6.4", &["overlap_check=overlap_or_sync"]),
    former("pick_mode=v31", "fair-class 7.3, 7.7", &["pick_mode=next_first"]),
    former("pick_mode=after", "fair-class 7.3, 7.7", &["pick_mode=last_first"]),
    former("pick_mode=tip", "fair-class 7.3, 7.7", &["pick_mode=clear_tested"]),
    former("pick_mode=rc", "fair-class 7.3, 7.7", &["pick_mode=clear_all"]),
    former("search=cpupri_2007", "rt-class 4.3", &["search=cpupri_gap"]),
    former("fork_path=early33", "fair-class 5.1", &["fork_path=early"]),
    former("fork_path=late32", "fair-class 5.1", &["fork_path=late"]),
];

/// A name, by a kernel's version, that a setting had before it was named by what it does.
const fn former(name: &'static str, source: &'static str, settings: &'static [&'static str]) -> Alias {
    Alias { name, meaning: "A former name of what it stands for.", source, settings }
}

/// A setting that was taken away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gone {
    /// As it was written before the `=`.
    pub name: &'static str,
    /// Why it is of no use.
    pub why: &'static str,
}

/// Every setting that was taken away.
pub(super) const GONE: &[Gone] = &[
    Gone {
        name: "overload_scope",
        why: "the modelled machine is one root domain, so its two values came to the same",
    },
    Gone {
        name: "softirq_rest",
        why: "what a round of soft interrupts leaves ksoftirqd does, as in every kernel",
    },
];

/// A feature or tunable of some kernels that is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotModelled {
    /// Its name in `sched_features`, or in the folder `sched` of debugfs.
    pub name: &'static str,
    /// What it does, and how the model behaves.
    pub what: &'static str,
}

/// Of what only writes into the kernel's log.
const WARNS: &str = "it writes warnings, and decides nothing";

/// Those that somebody may know from there, and look for in vain.
pub const NOT_MODELLED: &[NotModelled] = &[
    NotModelled {
        name: "ALT_PERIOD",
        what: "it is on where BASE_SLICE is, which came with it: a period is that of all tasks of the CPU",
    },
    NotModelled {
        name: "DOUBLE_TICK",
        what: "it matters where HRTICK is on, and not between ticks; 6.18 has it no longer",
    },
    NotModelled {
        name: "HRTICK_DL",
        what: "the budget of a deadline task is looked at by ticks, as where it is off",
    },
    NotModelled { name: "HZ_BW", what: "limits of groups are enforced wherever a tick is needed for them" },
    NotModelled {
        name: "LB_MIN",
        what: "balancing leaves no task alone for its small load, as where it is off",
    },
    NotModelled { name: "LATENCY_WARN", what: WARNS },
    NotModelled { name: "PARANOID_AVG", what: "sums of virtual time do not overflow here" },
    NotModelled { name: "WARN_DOUBLE_CLOCK", what: WARNS },
    NotModelled {
        name: "idle_min_granularity_ns",
        what: "a SCHED_IDLE task beside others has 0.75 ms, or what all have: rule idle_least_slice",
    },
    NotModelled { name: "latency_warn_ms", what: WARNS },
    NotModelled { name: "latency_warn_once", what: WARNS },
    NotModelled {
        name: "numa_balancing",
        what: "tasks do not move to the node of their memory, as where it is 0 (limit numa)",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Config, SettingError};
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn aliases_set_what_they_stand_for() {
        for alias in ALIASES {
            let [by_alias, one_by_one] = [(); 2].map(|()| Config::of_profile("2.6.31").expect("a profile"));
            assert_eq!(by_alias.set(alias.name), Ok(()), "{}", alias.name);
            for setting in alias.settings {
                assert_eq!(one_by_one.set(setting), Ok(()), "{setting}");
            }
            assert_eq!(format!("{by_alias:?}"), format!("{one_by_one:?}"), "{}", alias.name);
        }
    }

    /// The former values of `sched_idle`, by what kernels of their time do (fair-class 7.7).
    #[test]
    fn the_parts_of_sched_idle_came_one_after_the_other() {
        for (former, profile) in [("v61", "6.1"), ("v39", "4.0"), ("v37", "2.6.37"), ("v36", "2.6.36")] {
            let config = Config::of_profile(profile).expect("a profile");
            let before = format!("{config:?}");
            assert_eq!(config.set(&format!("sched_idle={former}")), Ok(()));
            assert_eq!(format!("{config:?}"), before, "{profile} has it");
        }
    }

    #[test]
    fn a_setting_that_is_gone_says_why() {
        for setting in ["overload_scope=global", "overload_scope=root_domain", "overload_scope"] {
            let refused = Config::default().set(setting);
            assert!(matches!(refused, Err(SettingError::Gone { name: "overload_scope", .. })), "{refused:?}");
            let text = refused.map_err(|e| e.to_string()).err().unwrap_or_default();
            assert!(
                text.starts_with("`overload_scope` is gone, leave it out: the modelled machine"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_feature_that_is_not_modelled_says_how_the_model_behaves() {
        for known in NOT_MODELLED {
            for setting in [known.name.to_string(), format!("NO_{}", known.name), format!("{}=1", known.name)]
            {
                let text =
                    Config::default().set(&setting).map_err(|e| e.to_string()).err().unwrap_or_default();
                assert_eq!(text, format!("`{}` is not modelled: {}", known.name, known.what));
            }
        }
    }
}
