//! Rules of EEVDF, that of whether there is EEVDF first (eevdf-class 0.5, 2, 3, 5).

rules! {
    FairPolicy fair_policy "Which queue discipline serves fair tasks?" "eevdf-class 0.5" {
        Cfs "cfs" "CFS: whoever is furthest left in virtual time (up to 6.5).",
        Eevdf "eevdf" "EEVDF: of those that are owed service, the earliest virtual deadline (6.6 on).",
    }
    VRef v_ref "From where are the sums of EEVDF counted?" "eevdf-class 2.2" {
        Zero "zero" "From the zero-lag point, which may move back (7.0 on; 6.18.y, 6.12.y).",
        Min "min" "From min_vruntime, which may not.",
    }
    LagLimit lag_limit "How far from the zero-lag point may an entity leave its queue?" "eevdf-class 2.4" {
        Longest "longest" "By the longest slice that is queued, and a tick (7.0 on; 6.18.y).",
        Own "own" "By twice its own slice, but at least a tick.",
    }
    Protection protection "How long is the picked entity protected?" "eevdf-class 3.4" {
        Shortest "shortest" "For the shortest slice that is queued (6.17 on).",
        Deadline "deadline" "Until its deadline moves.",
    }
    ProtectWhen protect_when "When does the protection begin?" "eevdf-class 3.4" {
        Pick "pick" "When an entity is picked (7.0 on; 6.18.y).",
        SetNext "set_next" "Also when it comes back after a change of nice, policy or affinity.",
    }
    TickEnd tick_end "When does charging the running entity ask for a reschedule?" "eevdf-class 3.3" {
        Unprotected "unprotected" "At the end of its request, and whenever it is not protected (6.17 on).",
        OrLost "or_lost"
            "At the end of its request, and when it is neither protected nor eligible (6.12 to 6.16).",
        Deadline "deadline" "At the end of its request (6.6 to 6.11).",
    }
    ShortWakeup short_wakeup "What does a woken entity with a shorter slice do?" "eevdf-class 3.5" {
        Pick "pick" "Whether it would be picked is asked without the running one's protection (6.17 on).",
        Cancel "cancel" "It ends the running one's protection for good (6.12 to 6.16).",
        None "none" "Nothing more than others.",
    }
    Trim trim "When does a wakeup that does not preempt shorten the protection?" "eevdf-class 3.5" {
        Short "short" "When the woken entity has the shorter slice (6.18).",
        Always "always" "Each time (7.0 on).",
        Never "never" "Never.",
    }
    WakeBuddy wake_buddy "How does a wakeup record the next buddy under EEVDF?" "eevdf-class 3.5" {
        Every "every" "Always, before anything is decided.",
        Deadline "deadline"
            "If its deadline is the earliest; whether it preempts, the pick itself answers (7.0 on).",
    }
    ForkPreempts fork_preempts "May a new task preempt at once?" "eevdf-class 3.5" {
        Yes "yes" "Yes, like a woken one.",
        No "no" "Only with a shorter slice (7.0 on).",
    }
    IdleProtection idle_protection
        "Does a SCHED_IDLE task that has to make room lose its protection?" "eevdf-class 3.5" {
        Cancelled "cancelled" "Yes (6.15 on; 6.12.y).",
        Kept "kept" "No: it may be picked again.",
    }
    CustomSlice custom_slice "Does sched_setattr give a fair task a slice of its own?" "eevdf-class 0.6" {
        Kept "kept" "Yes, from 0.1 to 100 ms (6.12 on).",
        Ignored "ignored" "No: all have the same.",
    }
    YieldForm yield_form "What does sched_yield cost under EEVDF?" "eevdf-class 3.9" {
        Forfeit "forfeit" "The rest of the request (7.0 on; 6.18.y, 6.12.y).",
        Deadline "deadline" "One more slice until the deadline, and no service.",
    }
    Reweight reweight "What does another weight change, beside the lag of a task?" "eevdf-class 3.8" {
        Rescale "rescale"
            "What is left of a task's request; of a group's entity lag, request and protection, V stays \
             (7.1 on, and 6.18.y).",
        Place "place"
            "What is left of a task's request; a group's entity is placed as if it came, and one that runs \
             loses or gains by it (6.13 to 7.0).",
        AboutV "about_v" "Nothing; of a group's entity lag and request, V stays (6.7 to 6.12).",
        Keep "keep" "Nothing; of a group's entity the request, and it stays where it is (6.6).",
    }
    DelayLag delay_lag "May the debt of a task grow while it stays in its queue asleep?" "eevdf-class 3.7" {
        Clip "clip" "Yes.",
        Monotonic "monotonic" "No (7.1 on).",
    }
    HrtickFor hrtick_for "For when does HRTICK set its timer?" "eevdf-class 5.4" {
        Slice "slice" "For when the task has run for a slice since it was picked; it asks lazily (to 7.0).",
        Request "request" "Under EEVDF for the end of the request; it asks in full (7.1 on).",
    }
}
