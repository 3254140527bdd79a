//! Kernels with load tracking (PELT) and CFS, the newest first; each as differences to the one after it
//! (fair-placement 8).

use super::{FAIR_BASE, Profile};

pub(super) const PROFILES: &[Profile] = &[
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
            "LAST_BUDDY",
            "CACHE_HOT_BUDDY",
        ],
    },
    Profile {
        name: "6.1.y",
        meaning: "Linux 6.1.192, the stable branch of 6.1, without PREEMPT_RT: CFS with load tracking \
                  (PELT), RT balancing by pull; built with PREEMPT_DYNAMIC and started with voluntary \
                  preemption, hence double_lock=fair.",
        source: "fair-placement 1 to 5, 8.1, 8.7; rt-class 0.3, 0.4, 5.6; fair-class 7.7; machine.md 0.4",
        base: Some(FAIR_BASE),
        settings: &[
            "BASE_SLICE",
            "TTWU_QUEUE",
            "NO_RT_PUSH_IPI",
            "UTIL_EST",
            "UTIL_EST_FASTUP",
            "ATTACH_AGE_LOAD",
            "WA_IDLE",
            "WA_WEIGHT",
            "WA_BIAS",
            "SIS_UTIL",
            "NI_RANDOM",
        ],
    },
    Profile {
        name: "6.1",
        meaning: "Linux 6.1 as released, without PREEMPT_RT: RT_PUSH_IPI is on, newly idle CPUs throw \
                  no dice before they look for work, the tick of an idle CPU stops at once.",
        source: "fair-placement 8.1, 8.7",
        base: Some("6.1.y"),
        settings: &[
            "NO_NI_RANDOM",
            "idle_tick=drop",
            "RT_PUSH_IPI",
            "rto_skip_self=off",
            "push_revalidate=still_queued",
        ],
    },
    Profile {
        name: "6.1-rt",
        meaning: "Linux 6.1 as released, with PREEMPT_RT: remote wakeups take the remote lock, balancing \
                  looks at eight tasks.",
        source: "rt-class 0.3, 0.4; fair-placement 8.1",
        base: Some("6.1"),
        settings: &["NO_TTWU_QUEUE", "preempt_model=full", "sched_nr_migrate=8"],
    },
];
