//! Rules: choices between historical behaviours that no kernel could switch at run time (rt-class 0.3,
//! fair-class 0.3, eevdf-class 0.5). The first value of each is that of the profile 6.1.y; of what only EEVDF
//! asks, that of 6.18.y.

use core::cell::Cell;

/// One value of a rule, for listings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleValue {
    /// As written after the `=`.
    pub name: &'static str,
    /// What the scheduler does under it, in one sentence.
    pub meaning: &'static str,
}

/// One rule, for listings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleInfo {
    /// As written before the `=`.
    pub name: &'static str,
    /// The question it answers.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its values, the default one first.
    pub values: &'static [RuleValue],
}

/// A block for each rule: type, field (also its name), question, source, then the values.
macro_rules! rules {
    ($($rule:ident $field:ident $meaning:literal $source:literal {
        $first:ident $first_name:literal $first_meaning:literal,
        $($value:ident $value_name:literal $value_meaning:literal,)+
    })+) => {
        $(
            #[doc = $meaning]
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub enum $rule {
                #[doc = $first_meaning] $first,
                $(#[doc = $value_meaning] $value,)+
            }

            impl $rule {
                fn parse(text: &str) -> Option<$rule> {
                    match text {
                        $first_name => Some($rule::$first),
                        $($value_name => Some($rule::$value),)+
                        _ => None,
                    }
                }

                /// The value's name, as written after the `=`.
                pub const fn name(self) -> &'static str {
                    match self {
                        $rule::$first => $first_name,
                        $($rule::$value => $value_name,)+
                    }
                }
            }
        )+

        /// The value of every rule, readable and writable while the machine runs.
        #[derive(Clone, Debug)]
        pub struct Rules {
            $(#[doc = $meaning] pub $field: Cell<$rule>,)+
        }

        impl Default for Rules {
            fn default() -> Rules {
                Rules { $($field: Cell::new($rule::$first),)+ }
            }
        }

        /// Every rule with its values.
        pub const RULES: &[RuleInfo] = &[
            $(RuleInfo {
                name: stringify!($field),
                meaning: $meaning,
                source: $source,
                values: &[
                    RuleValue { name: $first_name, meaning: $first_meaning },
                    $(RuleValue { name: $value_name, meaning: $value_meaning },)+
                ],
            },)+
        ];

        impl Rules {
            /// Sets a rule by name; `None` where either name is unknown.
            pub(super) fn set(&self, rule: &str, value: &str) -> Option<()> {
                match rule {
                    $(stringify!($field) => self.$field.set($rule::parse(value)?),)+
                    _ => return None,
                }
                Some(())
            }

            /// Every rule's name and the name of its value, in the order of [`RULES`].
            pub fn iter(&self) -> impl Iterator<Item = RuleSetting> {
                [$(RuleSetting { rule: stringify!($field), value: self.$field.get().name() },)+].into_iter()
            }
        }
    };
}

/// A rule and the value it has now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleSetting {
    /// Name of the rule.
    pub rule: &'static str,
    /// Name of its value.
    pub value: &'static str,
}

rules! {
    OverloadRule overload_rule "When does a CPU count as RT-overloaded?" "seed 002 item 3; rt-class 1.6" {
        Migratory "migratory" "More than one RT task is queued and at least one of them may move.",
        Depth "depth" "More than one RT task is queued, movable or not.",
    }
    Search search "How is the CPU with the lowest priority found?" "seed 002 item 4; rt-class 4" {
        Cpupri "cpupri" "2-d search by priority level, without locks, counts before masks (3.2 on).",
        CpupriLocked "cpupri_locked"
            "2-d search over a bitmap of active levels; writers lock each level (2.6.27 to 3.1).",
        CpupriGap "cpupri_gap"
            "As cpupri_locked, but a CPU leaves its old level before it enters the new one (2007).",
        LinearMask "linear_mask" "Scan of every CPU's queue that returns all the lowest ones (2.6.25).",
        Linear "linear" "Scan of every CPU's queue that stops at the first without RT tasks (2.6.23-rt5).",
    }
    Topology topology
        "Does the search prefer CPUs near the task's last one?" "seed 002 item 1; rt-class 4.5" {
        On "on" "Last CPU first, then outwards through the sched domains.",
        Off "off" "Lowest CPU number.",
    }
    PickAny pick_any "Which of several equally good CPUs?" "rt-class 4.5" {
        Distribute "distribute" "The next one after the previous answer (5.10 on).",
        First "first" "The lowest-numbered.",
    }
    WakeRoute wake_route "When does a woken RT task look for another CPU?" "seed 000; rt-class 3.3" {
        GeOrPinned "ge_or_pinned" "The running RT task beats or equals it, or is pinned (3.2 to 6.1).",
        HigherOrPinned "higher_or_pinned" "The running RT task beats it, or is pinned (2.6.37 to 3.1).",
        StrictlyHigher "strictly_higher" "The running RT task beats it (seed 000 applied).",
        AnyRt "any_rt" "Any RT task runs there, even a lower one (2.6.25 to 2.6.36).",
        NotPreempting "not_preempting" "It does not beat the best RT task queued there (the 2007 series).",
        CfsLoad "cfs_load" "Never: routed by load like a fair task, blind to RT priority (2.6.23-rt5).",
    }
    WakeVerifyTarget wake_verify_target
        "Is the found CPU's priority checked again before the task goes there?" "rt-class 3.3" {
        On "on" "Yes, against its current best queued priority (4.1 on).",
        Off "off" "No.",
    }
    WakeLock wake_lock "Which lock does a waker hold while it selects a CPU?" "rt-class 3.1, Eras" {
        PiLock "pi_lock" "The sleeper's own pi_lock; then exactly one run-queue lock (3.0 on).",
        OldRq "old_rq"
            "The run-queue lock of the sleeper's last CPU, then that of the new one (up to 2.6.38).",
    }
    EqualPrioCheck equal_prio_check
        "Does a pinned newcomer evict an equal that can run elsewhere?" "rt-class 2.3" {
        CurrFirst "curr_first" "Yes; first asks whether the running task has a lower CPU.",
        NewcomerFirst "newcomer_first" "Yes; first asks about the newcomer (2008).",
        Off "off" "No.",
    }
    PushSource push_source "Where does push find its candidate?" "rt-class 5.2" {
        PushableList "pushable_list" "First entry of the list of pushable tasks (2.6.30 on).",
        QueueScan "queue_scan" "By walking the run queue from the best priority.",
    }
    PullSource pull_source "Where does pull find its candidate?" "rt-class 5.5" {
        PushableList "pushable_list" "First allowed entry of the other CPU's pushable list (3.11 on).",
        QueueScan "queue_scan" "By walking the other CPU's run queue.",
    }
    NextDef next_def "What is highest_prio.next?" "rt-class 1.5" {
        FirstPushable "first_pushable" "The priority of the first pushable task (3.1 on).",
        SecondBest "second_best" "The second best queued priority, kept incrementally (2.6.30 to 3.0).",
    }
    PushFail push_fail "What does push do when its candidate cannot move?" "rt-class 5.3" {
        Stop "stop" "Gives up; the task stays pushable (3.1 on).",
        DropAndContinue "drop_and_continue"
            "Takes it off the pushable list and tries the next (2.6.30 to 3.0).",
        Retry3 "retry3" "Gives up; restarts at most three times when the candidate changed (2007).",
    }
    PostPush post_push "When does the push after a context switch run?" "rt-class 5.4" {
        CallbackLocked "callback_locked" "Under the run-queue lock still held from schedule (4.2 on).",
        TailRelock "tail_relock" "After the lock was released, taking it again.",
    }
    PullFilter pull_filter "Does pull look before it locks?" "rt-class 5.5a" {
        NextPrio "next_prio" "Skips CPUs whose highest_prio.next would not run here (2.6.30 on).",
        None "none" "Locks every overloaded CPU.",
    }
    PushIpiWalker push_ipi_walker "Whom does RT_PUSH_IPI interrupt?" "seed 001; rt-class 6.2 to 6.4" {
        RootDomain "root_domain" "One walker for the whole root domain visits every overloaded CPU (2017).",
        PerSource "per_source" "One walker for each lowering CPU visits those with something better (2015).",
        Broadcast "broadcast" "All overloaded CPUs at once (seed 001's first draft).",
    }
    RtoSkipSelf rto_skip_self
        "May the root-domain walker send its IPI to the CPU that it is on?" "rt-class 6.4" {
        On "on" "No (2026 fix).",
        Off "off" "Yes: one overloaded CPU can keep interrupting itself.",
    }
    DoubleLock double_lock "How is a second run-queue lock taken?" "rt-class 5.6" {
        Fair "fair"
            "Own lock released first, then both in CPU order (builds that can preempt: PREEMPT, PREEMPT_RT, \
             since 5.12 PREEMPT_DYNAMIC).",
        TryLock "trylock"
            "Tried at once; own lock released only where the order demands it (builds that cannot).",
    }
    RtmutexSpin rtmutex_spin "Does the top waiter of a PI mutex spin?" "machine.md 3.2" {
        OwnerOnCpu "owner_on_cpu"
            "While the owner is on a CPU, unless it has to reschedule itself (5.15 on).",
        Never "never" "It sleeps at once.",
    }
    DeboostOrder deboost_order "What comes first when a boosted owner unlocks a PI mutex?" "rt-class 7.5" {
        DeboostThenWake "deboost_then_wake" "It drops its priority, then wakes the waiter (4.12 on).",
        WakeThenDeboost "wake_then_deboost" "It wakes the waiter while still boosted.",
    }
    DeboostPlace deboost_place "Where does a task go in its list when its priority drops?" "rt-class 2.2" {
        Head "head" "To the head: it does not lose its turn for having held a lock (2.6.34 on).",
        Tail "tail" "To the tail.",
    }
    SetschedulerPlace setscheduler_place
        "Where does a task go in its list when sched_setscheduler lowers it?" "rt-class 2.1" {
        Head "head" "To the head (since 2012).",
        Tail "tail" "To the tail.",
    }
    PushRevalidate push_revalidate
        "What must still hold of the task to be pushed after the own lock was dropped?"
        "rt-class 5.4 step 4" {
        FirstPushable "first_pushable" "It is still the first pushable task.",
        StillQueued "still_queued" "It is still queued here and does not run.",
    }
    LockKind lock_kind "How are kernel spinlocks handed over?" "rt-class 10.5" {
        Queued "queued" "Each waiter spins on its own line, first come first served (x86 since 4.2).",
        Ticket "ticket"
            "First come first served; the hand-over gets dearer with each spinner (2.6.25 to 4.1).",
        TestAndSet "test_and_set"
            "Unfair: whoever's write arrives first, near CPUs before far ones (up to 2.6.24).",
    }
    Renice renice "What follows from another nice value?" "fair-class 2.6; fair-placement 3.4, 8.5" {
        Compares "compares"
            "A running task begins a new stint, and makes room only if it got worse; a waiting one competes as \
             after a wakeup (5.6 on).",
        ByDirection "by_direction"
            "A running task begins a new stint; whoever improved reschedules its CPU, and so does a running \
             one that got worse (4.9 to 5.5).",
        SameStint "same_stint" "As by_direction, but the stint of a running task goes on (up to 4.8).",
    }
    PreemptModel preempt_model
        "Can a task be preempted inside the kernel?"
        "fair-class 2.6, U15; rt-class 5.6; eevdf-class 5.1; deadline-groups D1; machine.md 4.1" {
        Voluntary "voluntary"
            "When a system call returns or blocks, and at its points, might_sleep and cond_resched \
             (CONFIG_PREEMPT_VOLUNTARY).",
        None "none" "As voluntary, but of the points only at cond_resched (CONFIG_PREEMPT_NONE).",
        Full "full" "Wherever no lock is held (CONFIG_PREEMPT, PREEMPT_RT).",
        Lazy "lazy"
            "As full for real-time tasks; for fair ones when a system call returns, or at the second tick \
             (CONFIG_PREEMPT_LAZY, 6.13 on).",
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
    IdleBatchPreempts idle_batch_preempts
        "Does a SCHED_BATCH wakeup preempt a SCHED_IDLE task?" "fair-class 6.4, 7.7" {
        On "on" "Yes, as a SCHED_NORMAL one does (2.6.39 on).",
        Off "off" "No.",
    }
    IdleNeverHot idle_never_hot
        "Does balancing take a SCHED_IDLE task whatever its cache holds?" "fair-class 6.8, 7.7" {
        On "on" "Yes: it is never cache-hot (2.6.37 on).",
        Off "off" "No: it is cache-hot like any other.",
    }
    IdleShortSleeper idle_short_sleeper
        "Is the sleeper credit of a SCHED_IDLE task smaller?" "fair-class 4.3, 7.7; fair-placement 8.1" {
        On "on" "Yes: it wakes at most a min_granularity left of the others (5.16 on).",
        Off "off" "No: it has the credit of all.",
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
    HotBuddyDstBusy hot_buddy_dst_busy
        "When are buddies cache-hot for balancing?" "seed 004; fair-class 7.6" {
        On "on" "Only if the CPU doing the balancing already has work.",
        Off "off" "Always.",
    }
    TickCheck tick_check
        "What does the tick do while WAKEUP_PREEMPT is off?" "fair-class 6.1; fair-placement 3.2" {
        Always "always" "What it does otherwise: nothing for a task without company (6.1).",
        ByFeature "by_feature" "Only the slice ends a stint, also of a task without company (2.6.36).",
    }
    SkewTick skew_tick "Do the ticks of all CPUs fall together?" "fair-class 2.7; fair-placement 5.1" {
        Off "off" "Yes (2.6.36 on; from 3.5 on without the boot option skew_tick=1).",
        On "on" "No: they are spread over half a period, by nr_cpus (up to 2.6.35).",
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
    IdleSibling idle_sibling
        "Does a wakeup look for an idle CPU that shares cache?" "fair-class 8.4; fair-placement 2.7" {
        Scan "scan"
            "Yes: the last CPU, the one before, a whole idle core, then one after the other (5.12 to 6.1).",
        CoreCpuThread "core_cpu_thread"
            "Yes: the last CPU, the one before, a whole idle core, some CPUs from where it would go, then a \
             thread beside that (4.9 to 5.11).",
        IdleGroup "idle_group"
            "Yes: the last CPU, then a group of CPUs that all idle, first of the cache, then of smaller parts \
             of it (3.x to 4.8).",
        On "on" "Yes, near ones first, up to the domain of waker and last CPU (2.6.33 on).",
        Off "off" "No.",
    }
    OverlapCheck overlap_check "When does WAKEUP_OVERLAP preempt?" "fair-class 6.4" {
        ByOverlap "by_overlap" "Where both tasks overlap little; asked before WAKEUP_PREEMPT (2.6.32 on).",
        OverlapOrSync "overlap_or_sync" "With the sync hint too; asked after WAKEUP_PREEMPT (2.6.31).",
    }
    WakePlacement wake_placement
        "Which form of the affine wakeup test?" "fair-class 8.3, 8.7; fair-placement 2.6" {
        IdleOrLoad "idle_or_load"
            "An idle CPU of the two, else by load with its averages and what is left of the CPUs (5.12 on).",
        IdleNearOrLoad "idle_near_or_load"
            "As idle_or_load, but the last CPU counts as idle only where both share a cache (4.17 to 5.11).",
        LoadOnly "load_only"
            "By the loads of both CPUs alone, for what these are worth (4.3 to 4.13).",
        PresentLoad "present_load" "wake_affine with averaged loads of index 0 (2.6.32 on).",
        PassivePull "passive_pull" "Loads of index 1, then the passive pull test (2.6.31).",
    }
    NewIdleStop newidle_stop "When does new-idle balancing give up?" "fair-class 8.6" {
        OnMove "on_move"
            "At the first domain where something moved; skipped while the CPU's mean idle time is short \
             (2.6.33 on).",
        OnBusiest "on_busiest"
            "Also at a domain where a busiest queue was found but nothing could move (up to 2.6.32).",
        Never "never" "There is no balancing of newly idle CPUs (2.6.31).",
    }
    RtLoadWeight rt_load_weight "What does an RT task add to its CPU's load?" "fair-class 1.1; rt-class 9" {
        Zero "zero" "Nothing (2.6.35 on).",
        TwiceMax "twice_max"
            "Twice the weight of nice -20, 177522: fair tasks avoid a CPU that runs RT tasks (up to 2.6.34).",
    }
    LoadBalanceAmount load_balance_amount
        "What limits how much load one balancing moves?" "fair-class 8.5 step 4" {
        Capacity "capacity" "The tasks in excess of the busiest group's capacity (2.6.34 on).",
        LoadPerTask "load_per_task" "One mean task of the busiest group must stay (up to 2.6.33).",
    }
    LoadTracking load_tracking
        "What does a task count where CPUs are compared?" "fair-class 8.2; fair-placement 1" {
        Pelt "pelt" "Decaying averages of how much it was runnable, and ran (3.8 on, in the form of 4.3).",
        Weights "weights" "All its weight while it is runnable, nothing while it sleeps (up to 3.7).",
    }
    BalanceLoad balance_load
        "Which of its tasks are the load of a CPU, where CPUs are compared?" "fair-placement 1.6, 8.5" {
        All "all" "All, those asleep too (5.7 on).",
        Queued "queued" "Those that are queued (3.8 to 5.6).",
    }
    SmtHot smt_hot
        "Is a task cache-hot for another thread of its core?" "fair-placement 4.8, 8.5" {
        Off "off" "No (5.10 on).",
        On "on" "Yes, as for any other CPU.",
    }
    NewTaskUtil new_task_util "What does a new task count as using?" "fair-placement 1.7, 8.5" {
        Half "half" "Half of what is free on its CPU (4.7 on).",
        Full "full" "All of a CPU (up to 4.6).",
    }
    PeltLag pelt_lag
        "Does a task that leaves an idle CPU asleep fade for all of its sleep?" "fair-placement 1.7" {
        On "on" "Yes (6.0 on).",
        Off "off" "Only up to the last update of that CPU's queue.",
    }
    CpuCapacity cpu_capacity
        "Is a CPU worth less to fair tasks by what real-time ones use of it?" "fair-placement 1.9" {
        Pelt "pelt" "Yes, by a decaying average of it (4.19 on).",
        Windows "windows"
            "Yes, by their time in the last half second, and half of that in each half second before (up to \
             4.18).",
        Ignored "ignored" "No.",
    }
    WakeWide wake_wide
        "Does a task that wakes many others lose its pull on them?" "fair-placement 2.5" {
        On "on" "Yes, where waker and woken switch partners more often than the cache has CPUs (4.3 on).",
        Off "off" "No.",
    }
    RecentUsed recent_used
        "Is the CPU before the last one tried for a woken task?" "fair-placement 2.7, 8.5" {
        Prev "prev" "Yes; it is noted at each wakeup that gets that far (6.1.42 on).",
        Overwritten "overwritten"
            "The same, but whether the task may run there is asked of the last CPU (5.15 to 6.1.41).",
        Waker "waker"
            "Yes; it is noted when it is taken, and of a waker where it wakes others (4.16 to 5.11).",
        Off "off" "No.",
    }
    BoundKthread bound_kthread
        "Does what a bound kernel thread wakes stay on its CPU?" "fair-placement 2.7" {
        Task "task" "Yes, if it wakes in its own right and nobody else runs there (6.1).",
        Any "any" "Yes, if nobody else runs there, also if an interrupt wakes meanwhile (5.7 to 5.15).",
        Off "off" "No.",
    }
    SchedIdleCpu sched_idle_cpu
        "Is a CPU that runs only SCHED_IDLE tasks as good as an idle one?" "fair-placement 2.8, 8.5" {
        On "on" "Yes, at wakeup, fork, exec and in the intervals of balancing (5.7 on).",
        LastResort "last_resort"
            "A woken task's own CPUs yes; any other, and for new tasks, where none is idle (5.4 to 5.6).",
        Off "off" "No.",
    }
    ForkBalance fork_balance "Where does a new task go, or one that calls exec?" "fair-placement 2.9, 8.5" {
        GroupType "group_type"
            "To where CPUs are idle, itself left out; by load only where none is (5.5 on).",
        SpareTime "spare_time"
            "One that calls exec to where a CPU has most time to spare, if it needs it; else by load, of the \
             queued tasks, then of all (4.11 to 5.4).",
        GroupLoad "group_load"
            "To the group with clearly the least load for what its CPUs are worth, its own load included, and \
             there to an idle CPU (up to about 4.8).",
        CpuLoad "cpu_load" "To the group with the least load for each CPU, its own load included.",
    }
    Lb lb "How does balancing compare groups of CPUs?" "fair-class 8.5; fair-placement 4" {
        GroupType "group_type"
            "By what they are: with CPU time to spare, busy, overloaded; who has not run for longest goes \
             first (5.5 on).",
        GroupRoom "group_room"
            "By their load for what they are worth, and by whether their tasks have room; who has not run \
             for longest goes first (4.15 to 5.4).",
        GroupRoomNewest "group_room_newest"
            "As group_room, but who was queued last goes first, and only a CPU about to idle helps a group \
             without room whatever its load (4.3 to 4.14).",
        GroupLoad "group_load" "By their load, with a capacity in tasks (2.6.36).",
    }
    NewIdleGate newidle_gate
        "How long must a CPU's mean idle time be to look for work?" "fair-placement 4.9, 8.5" {
        MeasuredCost "measured_cost" "As long as looking took lately (5.16 on).",
        MigrationCost "migration_cost" "As sched_migration_cost (2.6.33 to 5.15).",
    }
    IdleTick idle_tick "When does the tick of a CPU that idles stop?" "fair-placement 5.2" {
        Keep "keep"
            "After the first one that it has in idle; that one balances (6.1.167 on without a governor).",
        Drop "drop" "At once.",
    }
    MisfitReduced misfit_reduced
        "Does an idle CPU take the only fair task of one that real-time tasks use?" "fair-placement 4.5" {
        On "on" "Yes, as a task that deserves a better CPU (6.0 on).",
        Off "off" "Only through repeated failures and the stopper.",
    }
    LbActive lb_active
        "After which failures is a busy CPU asked to give its running task away?" "fair-placement 4.9, 8.5" {
        TaskCounts "task_counts" "Those of passes that count tasks (5.13 on).",
        AnyFailure "any_failure" "All of them (up to 5.12).",
    }
    DetachScale detach_scale
        "How do failures let balancing take heavier tasks?" "fair-placement 4.8, 8.5" {
        Halves "halves" "Each halves what a task counts (5.16 on).",
        HalvesLoad "halves_load" "Each halves the load of a task, and not its use of a CPU (5.10 to 5.15).",
        Half "half" "They do not: a task counts half of its load (up to 5.9).",
    }
    NohzBalance nohz_balance
        "What does an idle CPU do that was asked to balance for all?" "fair-placement 4.10, 8.5" {
        NextDue "next_due"
            "It sees to their averages and balances those that are due, those behind it first; it may be \
             asked only to find out when the next is due (5.16 on).",
        Behind "behind" "The same, but for that (5.13 to 5.15).",
        Ascending "ascending" "It sees to the lowest first, and to itself last (4.17 to 5.12).",
        BalanceOnly "balance_only"
            "It balances the others that are due, the lowest first, then itself, and sees to nobody's averages \
             besides (up to 4.16).",
    }
    LbParams lb_params
        "Which intervals and tolerances does balancing have?" "fair-class 8.1; fair-placement 4.1, 8.4" {
        BySpan "by_span"
            "1 to 2 ms for each CPU of the level, busy CPUs 16 times that, 110 % between threads of a core, \
             117 % above (5.10 on).",
        BySpanSlow "by_span_slow"
            "1 to 2 ms for each CPU of the level, busy CPUs 32 times that, 110 % between threads of a core, \
             117 % in a cache, 125 % above (4.4 to 5.9).",
        Fixed "fixed" "The same on all levels: 1 to 4 ms, busy CPUs 64 times that, 125 % (2.6.36).",
    }
    SmtBalance smt_balance
        "Is a core on which several fair tasks run more than a busy group?" "eevdf-class 4.5" {
        Off "off" "No (up to 6.5).",
        On "on"
            "Yes: CPUs that idle come to its help, and only they spread tasks over siblings (6.6 on).",
    }
    NewIdleFailure newidle_failure
        "What has a search for work cost that found none?" "eevdf-class 4.6" {
        TimeTaken "time_taken" "The time that it took.",
        Raised "raised"
            "Half as much again as the dearest so far, so that idle CPUs soon stop trying (6.17, 6.18).",
    }
    NumaImbalance numa_imbalance
        "May few tasks stay together on a node while another one is idle?" "fair-placement 4.12, 8.5" {
        Channels "channels"
            "Yes, as many as the node seems to have memory channels, and no more than two apart (5.18 on).",
        Quarter "quarter"
            "Yes, on less than a quarter of the node's CPUs, and no more than two apart (5.11 to 5.17).",
        Pair "pair" "Yes, two of them; a new one stays while its node has an idle CPU (5.6 to 5.10).",
        Off "off" "No (up to 5.5).",
    }
    TtwuList ttwu_list
        "To which CPUs does TTWU_QUEUE hand a wakeup over?" "rt-class 3.6; fair-placement 2.3, 8.5" {
        EmptyTarget "empty_target" "To those of another cache, and those with nothing to run (6.0 on).",
        LastCpu "last_cpu"
            "To those of another cache, and to the one that the sleeper is just leaving, if nobody waits \
             there (5.8 to 5.19).",
        OtherCache "other_cache" "To those of another cache (3.0 to 5.7).",
    }
    WakeOnCpu wake_on_cpu
        "What becomes of a sleeper that its CPU is still switching away from?" "fair-placement 2.2" {
        List "list" "It is handed over to that CPU, if TTWU_QUEUE allows, and no CPU is chosen (5.8 on).",
        Spin "spin" "The waker waits for the switch, then chooses a CPU (up to 5.7).",
    }
    HrtickFor hrtick_for "For when does HRTICK set its timer?" "eevdf-class 5.4" {
        Slice "slice" "For when the task has run for a slice since it was picked; it asks lazily (to 7.0).",
        Request "request" "Under EEVDF for the end of the request; it asks in full (7.1 on).",
    }
    // EEVDF.
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
    StopperForm stopper
        "Who moves a task that runs, for an exec, a new affinity or active balancing?" "fair-placement 5.5" {
        Thread "thread" "The thread migration/N of its CPU.",
        Interrupt "interrupt" "An interrupt, without the thread's switches: older profiles, approximately.",
    }
    CustomSlice custom_slice "Does sched_setattr give a fair task a slice of its own?" "eevdf-class 0.6" {
        Kept "kept" "Yes, from 0.1 to 100 ms (6.12 on).",
        Ignored "ignored" "No: all have the same.",
    }
    YieldForm yield_form "What does sched_yield cost under EEVDF?" "eevdf-class 3.9" {
        Forfeit "forfeit" "The rest of the request (7.0 on; 6.18.y, 6.12.y).",
        Deadline "deadline" "One more slice until the deadline, and no service.",
    }
    Reweight reweight "What does another weight change beside the lag?" "eevdf-class 3.8" {
        Rescale "rescale" "The distance to the deadline, too (6.13 on).",
        Keep "keep" "Nothing (6.6 to 6.12).",
    }
    DelayLag delay_lag "May the debt of a task grow while it stays in its queue asleep?" "eevdf-class 3.7" {
        Clip "clip" "Yes.",
        Monotonic "monotonic" "No (7.1 on).",
    }
    LbLag lb_lag "Does balancing look at lag?" "eevdf-class 4.5" {
        On "on" "It leaves entities that are not eligible, unless that has failed (6.14 on).",
        Off "off" "No.",
    }
    DelayedCount delayed_count
        "Do tasks that stay in their queue asleep count as running where a CPU is chosen?"
        "eevdf-class 3.7, 4.2, 4.5" {
        LeftOut "left_out" "No: neither at a wakeup nor as fair tasks that could be moved (6.14 on).",
        LeftOutAtWakeup "left_out_at_wakeup" "Only as tasks that could be moved (6.13; 6.12.y).",
        Counted "counted" "Yes (6.12).",
    }
    // The deadline class.
    DlClass dl_class "Is there a deadline class?" "deadline-groups 0.2" {
        On "on" "Yes (3.14 on).",
        Off "off" "No: SCHED_DEADLINE is refused.",
    }
    DlWakeup dl_wakeup
        "What does a deadline task that wakes have left of its period?" "deadline-groups A5" {
        CbsRevised "cbs_revised"
            "What it had, if its bandwidth allows; one whose deadline lies before the end of its period never \
             gets more than its density allows up to that deadline (4.13 on).",
        Cbs "cbs" "What it had, if its bandwidth allows, else a new period.",
    }
    DlOverload dl_overload "When does a CPU have deadline tasks to give away?" "deadline-groups A9" {
        Count "count" "When two are queued and one of them may move.",
        Pushable "pushable" "When one that may move waits (6.12 on).",
    }
    DlGrub dl_grub "How slowly is a deadline task charged that reclaims?" "deadline-groups A7" {
        One "one" "By its share of what is in use and not promised (4.13 to 6.5).",
        UMax "u_max" "The same, against the 95 % that may be promised (6.6 on).",
        Off "off" "Nobody reclaims: the flag is refused.",
    }
    DlBwRelease dl_bw_release
        "When is the bandwidth of a deadline task free that leaves the class?" "deadline-groups A6" {
        ZeroLag "zero_lag" "When it would have used up its share (4.13 on).",
        Immediate "immediate" "At once.",
    }
    DlServer dl_server
        "How does the fair class get its share against real-time tasks?" "deadline-groups A11" {
        Off "off" "Only by real-time throttling (up to 6.11).",
        Deferred "deferred"
            "By a deadline server of each CPU, 50 ms in each second, that waits until fair tasks would get \
             less than that (6.12 on).",
        Plain "plain" "By such a server that does not wait: fair tasks go first in each second.",
    }
    DlServerStop dl_server_stop "When does that server stop?" "deadline-groups A11" {
        Lazy "lazy" "When it is to run and the CPU has no fair task (6.17 on; 6.12.92 on).",
        LazyIdle "lazy_idle" "Then, and when the CPU has idled for a whole period (7.0 on).",
        OnEmpty "on_empty" "When the last fair task leaves the CPU (6.12 to 6.16).",
    }
    DlServerWakeup dl_server_wakeup
        "What has that server left that stopped within its period?" "deadline-groups A11" {
        RevisedRunning "revised_running"
            "Its bandwidth up to its deadline if fair tasks were starving, else a new period (6.12.103 on).",
        RevisedAll "revised_all"
            "Its bandwidth up to its deadline, and it does not wait: fair tasks that wake go before real-time \
             ones (6.12.83 to 6.12.102).",
        NewPeriod "new_period" "A new period (6.12.0 to 6.12.82).",
    }
    RtThrottle rt_throttle "Are real-time tasks throttled?" "deadline-groups A12; rt-class 8.1" {
        Root "root"
            "Yes, each CPU's to sched_rt_runtime_us in each period (up to 6.11, and with RT_GROUP_SCHED later, \
             too).",
        Off "off" "No (6.12 on, without RT_GROUP_SCHED).",
    }
    ThrottledCount throttled_count
        "Do throttled real-time tasks count as running on their CPU?" "rt-class 8.1" {
        LeftOut "left_out"
            "No: the CPU is idle without others, looks for work and is woken to (3.16 on).",
        Counted "counted" "Yes.",
    }
}
