//! Rules of the real-time class (rt-class 1 to 6, 8).

rules! {
    OverloadRule overload_rule "When does a CPU count as RT-overloaded?" "seed 002 item 3; rt-class 1.6" {
        Migratory "migratory" "More than one RT task is queued and at least one of them may move.",
        Depth "depth" "More than one RT task is queued, movable or not.",
        Pushable "pushable" "An RT task waits that may move, alone or not (6.7 on; no profile has it yet).",
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
    CpupriTop cpupri_top "Does cpupri serve the two highest priorities?" "LinSched; rt-class 4.3" {
        Searched "searched" "Yes, as all others.",
        Missed "missed"
            "No: for user priorities 98 and 99 it finds no CPU; nobody places or pushes them (3.2 to 3.15).",
    }
    Topology topology
        "Does the search prefer CPUs near the task's last one?" "seed 002 item 1; rt-class 4.5" {
        On "on" "Last CPU first, then outwards through the sched domains.",
        Off "off" "Lowest CPU number.",
    }
    PickAny pick_any "Which of several equally good CPUs?" "rt-class 4.5" {
        Distribute "distribute" "The next one after the previous answer (5.11 on).",
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
    EqualPrioCheck equal_prio_check
        "Does a pinned newcomer evict an equal that can run elsewhere?" "rt-class 2.3" {
        CurrFirst "curr_first" "Yes; first asks whether the running task has a lower CPU.",
        NewcomerFirst "newcomer_first" "Yes; first asks about the newcomer (2008).",
        Off "off" "No.",
    }
    RtBalance rt_balance "Do CPUs push and pull real-time tasks?" "rt-class 5" {
        On "on" "Yes (2.6.25 on).",
        Off "off"
            "No: once woken, a task waits where it is while something higher runs there, as before.",
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
    PushIpiBail push_ipi_bail
        "What does a CPU that is asked to push do if its candidate goes before the running task?"
        "deadline-groups E1, E3" {
        On "on" "It asks itself to reschedule, and pushes nothing.",
        Limited "limited" "The same, 15 times in a row; then it pushes (proposed in May 2026, never merged).",
        Off "off" "It pushes the candidate all the same (proposed in May 2026, never merged).",
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
    RtFit rt_fit
        "Must a real-time task fit a CPU, where CPUs are worth more and less?" "deadline-groups C1" {
        Fit "fit"
            "Wakeups and pushes prefer CPUs that are worth its lower clamp, which by itself is all of the best \
             one (5.6 on).",
        Ignored "ignored" "No.",
    }
    RtThrottle rt_throttle "Are real-time tasks throttled?" "deadline-groups A12, B9; rt-class 8.1" {
        Root "root"
            "Yes, each CPU's to sched_rt_runtime_us in each period (up to 6.11, and with RT_GROUP_SCHED later, \
             too).",
        Groups "groups"
            "Yes, and those of a task group on each CPU to its cpu.rt_runtime_us in each cpu.rt_period_us: \
             kernels built with RT_GROUP_SCHED (2.6.25 on). It is so from the start of a run, or not at all.",
        Off "off" "No (6.12 on, without RT_GROUP_SCHED).",
    }
    ThrottledCount throttled_count
        "Do throttled real-time tasks count as running on their CPU?" "rt-class 8.1" {
        LeftOut "left_out"
            "No: the CPU is idle without others, looks for work and is woken to (3.16 on).",
        Counted "counted" "Yes.",
    }
}
