//! Rules of CFS: virtual time, wakeup preemption, buddies, the tick (fair-class 2 to 7).

rules! {
    Renice renice "What follows from another nice value?" "fair-class 2.6; fair-placement 3.4, 8.5" {
        Compares "compares"
            "A running task begins a new stint, and makes room only if it got worse; a waiting one competes as \
             after a wakeup (5.6 on).",
        ByDirection "by_direction"
            "A running task begins a new stint; whoever improved reschedules its CPU, and so does a running \
             one that got worse (4.9 to 5.5).",
        SameStint "same_stint" "As by_direction, but the stint of a running task goes on (up to 4.8).",
    }
    FloorOrder floor_order
        "From which min_vruntime does a task that leaves or enters a queue count its distance?"
        "fair-class 2.5, 4.5" {
        WithTask "with_task"
            "Leaving: as it was with the task; entering: after the running task is charged (4.9 on).",
        WithoutTask "without_task"
            "Leaving: as it moves without the task; entering: before the running task is charged (2.6.33 to \
             4.8).",
        OneStep "one_step"
            "As without_task, but from one queue to the other in one step, when the CPU is chosen (up to \
             2.6.32).",
    }
    BlockedFloor blocked_floor
        "Does a running task that has just blocked hold min_vruntime back?" "fair-class 2.4" {
        Released "released" "No: the floor goes on without it as it leaves its queue (4.9 on).",
        Held "held" "Yes, until it is replaced and somebody is charged (up to 4.8).",
    }
    IdleBatchPreempts idle_batch_preempts
        "Does a SCHED_BATCH wakeup preempt a SCHED_IDLE task?" "fair-class 6.4, 7.7" {
        On "on" "Yes, as a SCHED_NORMAL one does (2.6.39 on).",
        Off "off" "No.",
    }
    IdleShortSleeper idle_short_sleeper
        "Is the sleeper credit of a SCHED_IDLE task smaller?" "fair-class 4.3, 7.7; fair-placement 8.1" {
        On "on" "Yes: it wakes at most a min_granularity left of the others (5.16 on).",
        Off "off" "No: it has the credit of all.",
    }
    IdleLeastSlice idle_least_slice
        "Is the least slice of a SCHED_IDLE task beside others shorter?" "fair-placement 3.2, 8.1" {
        Short "short" "Yes: 0.75 ms, however many CPUs there are (5.16 on).",
        Equal "equal" "No: it is sched_min_granularity for all.",
    }
    SliceCap slice_cap "How long is the turn that a tick allows, at most?" "fair-placement 3.2" {
        Off "off" "As long as the slice: many light tasks beside a heavy one make it longer (up to 6.2).",
        Latency "latency" "sched_latency (6.3 to 6.5).",
    }
    YieldMode yield_mode "What does sched_yield do in the fair class?" "fair-class 6.7, 7.1" {
        Skip "skip"
            "The task is passed over at the next pick, if the second from the left is near (2.6.39 on).",
        Keep "keep"
            "It keeps its place; SCHED_BATCH, and all under sched_compat_yield, go behind all others (up to \
             2.6.38).",
    }
    ForkPath fork_path "When is a forked child placed on the virtual time line?" "fair-class 5.1" {
        Early "early" "At the start of fork, on the parent's queue (2.6.33 on).",
        Late "late" "At the end of fork, on the destination queue (up to 2.6.32).",
    }
    PickMode pick_mode "How are buddies tested and cleared when picking?" "seed 004; fair-class 7.3, 7.7" {
        NextFirst "next_first"
            "next before last; only the picked one is cleared (2.6.31, and again from 2.6.39 on).",
        LastFirst "last_first"
            "last has the final word; only the picked one is cleared (seed 004 applied, to 2.6.38).",
        ClearTested "clear_tested"
            "next before last; each is cleared as soon as it is tested (parent of seed 004).",
        ClearAll "clear_all" "next before last; both cleared at every pick (2.6.32-rc1 to rc5).",
    }
    NextSet next_set "When is the next buddy recorded?" "fair-class 7.2, 7.7" {
        WakeOrPreempt "wake_or_preempt"
            "At a wakeup check under NEXT_BUDDY, and whenever a wakeup preempts by virtual time (2.6.39 on).",
        Wake "wake" "At a wakeup check under NEXT_BUDDY (2.6.32 to 2.6.38).",
        WakeOrFork "wake_or_fork" "Also at the check after a fork (2.6.31).",
    }
    LastSet last_set "When is the last buddy recorded?" "seed 004; fair-class 7.2" {
        PreemptFair "preempt_fair" "Whenever a wakeup of a fair task preempts (2.6.37 on).",
        PreemptAny "preempt_any" "Whenever a wakeup preempts (2.6.33 on).",
        PreemptVr "preempt_vr" "When a wakeup preempts by virtual time (2.6.32).",
        EveryWake "every_wake" "At every wakeup check (before seed 004).",
    }
    BuddyGate buddy_gate "Are buddies recorded only under load?" "seed 004; fair-class 7.2" {
        On "on" "Only with at least sched_nr_latency tasks runnable.",
        Off "off" "Always.",
    }
    TickLatencyCheck tick_latency_check
        "Does the tick bound how long a task may be ahead of the leftmost?" "seed 004; fair-class 6.1" {
        On "on" "Yes, once it ran for sched_min_granularity.",
        Off "off" "No: only the slice ends its stint.",
    }
    TickCheck tick_check
        "What does the tick do while WAKEUP_PREEMPT is off?" "fair-class 6.1; fair-placement 3.2" {
        Always "always" "What it does otherwise: nothing for a task without company (6.1).",
        ByFeature "by_feature" "Only the slice ends a stint, also of a task without company (2.6.36).",
    }
    TickVrtCmp tick_vrt_cmp
        "What does the tick's latency check compare the lag with?" "seed 003's base kernel; fair-class 6.2" {
        Off "off" "The slice in real time.",
        On "on" "The slice in the running task's virtual time.",
    }
    TickCmpUnsigned tick_cmp_unsigned "Is a negative lag taken for a huge one?" "fair-class 6.3" {
        Off "off" "No.",
        On "on" "Yes, as in 64-bit builds from 2.6.32 to 2.6.36.",
    }
    OverlapCheck overlap_check "When does WAKEUP_OVERLAP preempt?" "fair-class 6.4" {
        ByOverlap "by_overlap" "Where both tasks overlap little; asked before WAKEUP_PREEMPT (2.6.32 on).",
        OverlapOrSync "overlap_or_sync" "With the sync hint too; asked after WAKEUP_PREEMPT (2.6.31).",
    }
}
