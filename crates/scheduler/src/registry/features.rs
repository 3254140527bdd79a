//! Scheduler features: on or off, with the kernel's own names (fair-class 9, rt-class 6).
//!
//! Some that the kernels list are not here, because nothing in this model could depend on them: ARCH_POWER
//! (all CPUs have the same power), DOUBLE_TICK (off in every one of them), LB_SHARES_UPDATE and
//! ASYM_EFF_LOAD (there are no groups), OWNER_SPIN (the kernel itself has no mutexes), PARANOID_AVG (the sums
//! of EEVDF are wide enough here never to overflow).

/// One line a feature: variant, the kernel's name, meaning, source.
macro_rules! features {
    ($($variant:ident $name:literal $meaning:literal $source:literal;)+) => {
        /// A switchable scheduler feature; `NO_` before its name switches it off.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Feature {
            $(#[doc = $meaning] $variant,)+
        }

        impl Feature {
            /// Every feature, the older ones in the order in which `sched_features` prints them.
            pub const ALL: &[Feature] = &[$(Feature::$variant,)+];

            /// The kernel's name.
            pub const fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name,)+ }
            }

            /// What it does, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Feature::$variant => $meaning,)+ }
            }

            /// Where it comes from.
            pub const fn source(self) -> &'static str {
                match self { $(Feature::$variant => $source,)+ }
            }
        }
    };
}

features! {
    FairSleepers "FAIR_SLEEPERS"
        "A waking task is placed up to one latency left of min_vruntime." "fair-class 4.3, 9";
    GentleFairSleepers "GENTLE_FAIR_SLEEPERS" "The sleeper credit is halved." "fair-class 4.3, 9";
    NormalizedSleeper "NORMALIZED_SLEEPER"
        "The sleeper credit is scaled by the task's weight." "fair-class 4.3, 9";
    StartDebit "START_DEBIT"
        "A new task starts one virtual slice to the right of min_vruntime." "fair-class 4.2, 5";
    StartNice "START_NICE"
        "After a fork, parent and child are charged faster for about one slice."
        "seed 003; fair-class 5.3 to 5.8";
    WakeupPreemption "WAKEUP_PREEMPT" "A woken fair task may preempt the running one." "fair-class 6.4, 9";
    AdaptiveGran "ADAPTIVE_GRAN"
        "The wakeup granularity shrinks for tasks that wake others often." "fair-class 6.5, 6.6, 9";
    AsymGran "ASYM_GRAN"
        "The wakeup granularity is scaled by the weight of the woken task, not of the running one."
        "fair-class 6.5, 9";
    WakeupSync "WAKEUP_SYNC" "A wakeup with the sync hint always preempts." "fair-class 6.4, 9";
    WakeupOverlap "WAKEUP_OVERLAP"
        "A woken task always preempts if both it and the running one sleep soon after they wake others."
        "fair-class 6.4, 6.6, 9";
    WakeupRunning "WAKEUP_RUNNING"
        "A woken task always preempts one that runs for longer at a time." "fair-class 6.4, 6.6, 9";
    SyncWakeups "SYNC_WAKEUPS" "The hint that the waker is about to sleep is honoured." "fair-class 8.3, 9";
    AffineWakeups "AFFINE_WAKEUPS"
        "A wakeup may pull the woken task to the waker's CPU." "fair-class 8.3, 8.4, 9";
    SyncLess "SYNC_LESS"
        "The affine wakeup ignores the sync hint of tasks that go on running after they wake others."
        "fair-class 8.3, 9";
    SyncMore "SYNC_MORE"
        "The affine wakeup assumes the sync hint for tasks that sleep soon after they wake others."
        "fair-class 8.3, 9";
    NextBuddy "NEXT_BUDDY"
        "The task woken last is preferred at the next pick, if it is near the leftmost."
        "seed 004; fair-class 7, 9";
    LastBuddy "LAST_BUDDY"
        "A task that a wakeup interrupted is preferred at the next pick, if it is near the leftmost."
        "seed 004; fair-class 7, 9";
    CacheHotBuddy "CACHE_HOT_BUDDY"
        "Balancing treats the buddies of a queue as cache-hot." "fair-class 7.6, 9";
    LbBias "LB_BIAS" "Balancing uses averaged loads (cpu_load) biased against moving." "fair-class 8.2, 9";
    BaseSlice "BASE_SLICE" "A slice is at least sched_min_granularity." "fair-class 4.1, 7.7";
    RtPushIpi "RT_PUSH_IPI"
        "A CPU that lowers its priority asks overloaded CPUs by IPI to push, instead of pulling under their \
         locks." "seed 001; rt-class 6";
    TtwuQueue "TTWU_QUEUE"
        "Remote wakeups are queued on the target CPU, which does the enqueue itself after an IPI."
        "rt-class 3.6";
    RtRuntimeShare "RT_RUNTIME_SHARE"
        "A CPU about to be throttled borrows unused real-time runtime from other CPUs." "rt-class 8.1";
    UtilEst "UTIL_EST"
        "A woken task is expected to use what it used before it slept." "fair-placement 1.10";
    UtilEstFastup "UTIL_EST_FASTUP"
        "That estimate follows a rise at once, and only a fall slowly." "fair-placement 1.10";
    AttachAgeLoad "ATTACH_AGE_LOAD"
        "The averages of a task that another class served fade for that time." "fair-placement 1.7";
    NontaskCapacity "NONTASK_CAPACITY"
        "Time of interrupts that is left out of the CPU time of tasks makes the CPU worth less to fair ones."
        "fair-placement 1.9, 8.1";
    WaIdle "WA_IDLE"
        "The affine wakeup prefers an idle CPU, and one whose only task is about to sleep."
        "fair-placement 2.6";
    WaWeight "WA_WEIGHT" "The affine wakeup compares the loads of both CPUs." "fair-placement 2.6";
    WaBias "WA_BIAS"
        "That comparison leans towards the waker's CPU, by half of what balancing tolerates."
        "fair-placement 2.6";
    SisUtil "SIS_UTIL"
        "The fuller a cache's CPUs are, the fewer of them a wakeup looks at." "fair-placement 2.8";
    SisProp "SIS_PROP"
        "The shorter CPUs idle for what looking costs, the fewer of them a wakeup looks at (4.13 to 6.6)."
        "fair-placement 2.8, 8.5";
    SisAvgCpu "SIS_AVG_CPU"
        "A wakeup looks at no CPU where that takes longer than the waker's CPU idles (4.9 to 5.11)."
        "fair-placement 8.5";
    NiRandom "NI_RANDOM"
        "A newly idle CPU looks for work less often where it seldom finds any, by dice (6.1.160 on)."
        "fair-placement 4.9, 8.7";
    NiRate "NI_RATE"
        "The dice of NI_RANDOM also count how rarely they are thrown: a CPU that seldom goes idle always \
         looks (7.1 on)."
        "eevdf-class 0.4, 4.6";
    PreemptLazy "PREEMPT_LAZY"
        "A fair task that has a sleeping lock of the kernel is preempted by another fair one only when it \
         has given that back (-rt patches)."
        "machine.md 1.10";
    Hrtick "HRTICK"
        "A timer of each CPU ends the running fair task's turn when it is over, and not at the tick after."
        "eevdf-class 0.4, 5.4";
    // EEVDF.
    PlaceLag "PLACE_LAG"
        "An entity keeps its lag over sleep and migration; without it, it enters at the zero-lag point."
        "eevdf-class 0.4, 3.2";
    PlaceDeadlineInitial "PLACE_DEADLINE_INITIAL"
        "The first request of a new task is half a slice." "eevdf-class 0.4, 3.2";
    PlaceRelDeadline "PLACE_REL_DEADLINE"
        "An entity that leaves its queue without sleeping keeps its distance to its deadline."
        "eevdf-class 0.4, 3.2, 3.7";
    RunToParity "RUN_TO_PARITY"
        "The picked entity is protected from others for a slice, as long as it is eligible."
        "eevdf-class 0.4, 3.4";
    PreemptShort "PREEMPT_SHORT"
        "A woken entity with a shorter slice overrides the protection of the running one."
        "eevdf-class 0.4, 3.5";
    PickBuddy "PICK_BUDDY" "EEVDF picks the next buddy before all others, if it is eligible."
        "eevdf-class 0.4, 3.6";
    DelayDequeue "DELAY_DEQUEUE"
        "A task that blocks with too much service stays in its queue until it has worked that off."
        "eevdf-class 0.4, 3.7";
    DelayZero "DELAY_ZERO" "A task that stayed in its queue so does not come out of it with positive lag."
        "eevdf-class 0.4, 3.7";
}
