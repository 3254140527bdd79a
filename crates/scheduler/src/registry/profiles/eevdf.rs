//! Kernels with EEVDF (eevdf-class 0.4).

use super::Profile;

pub(super) const PROFILES: &[Profile] = &[
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
            "custom_slice=ignored",
            "idle_protection=kept",
            "yield_form=deadline",
            "reweight=keep",
            "lb_lag=off",
            "delayed_count=counted",
            "smt_balance=on",
            "NO_NI_RANDOM",
            "RT_PUSH_IPI",
            "dl_grub=u_max",
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
            "custom_slice=kept",
            "tick_end=or_lost",
            "short_wakeup=cancel",
            "dl_overload=pushable",
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
            "delayed_count=left_out_at_wakeup",
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
            "delayed_count=left_out",
            "newidle_failure=raised",
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
            "newidle_failure=time_taken",
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
        meaning: "Linux 7.1 and 7.2 without PREEMPT_RT: debt does not grow in a queue, a timer ends requests \
                  (HRTICK).",
        source: "eevdf-class 0.3, 0.4, 5.4, U2",
        base: Some("7.0"),
        settings: &["delay_lag=monotonic", "NI_RATE", "HRTICK", "hrtick_for=request"],
    },
];
