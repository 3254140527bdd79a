//! Rules of where a fair task goes that wakes, is new or calls exec (fair-class 8; fair-placement 2).

rules! {
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
    AffineCount affine_count
        "Which wakeups does schedstat count as affine ones?" "fair-placement 2.6, 8.5, 8.7" {
        Waker "waker" "Those that go to the waker's CPU, whatever idle CPU is found then (6.1.28 on).",
        Idle "idle" "Also those whose last CPU was idle (4.17 to 6.1.27).",
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
    ClusterLevel cluster_level
        "Are cores that share a second-level cache a level of sched domains? (Asked as the machine starts.)"
        "fair-placement 4.1" {
        On "on" "Yes, CLS below MC (5.16 on).",
        Off "off" "No.",
    }
    ClusterWake cluster_wake
        "Does a woken task stay in the cluster of the CPU where it would go?" "eevdf-class 4.3" {
        Off "off" "No: the whole last-level cache is one.",
        On "on"
            "If something idles there; else in the rest of the cache, else its last CPU or the one before (6.7 \
             on).",
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
    ForkCounts fork_counts
        "Which CPUs of a group count where a new task may not use all?" "fair-placement 2.9, 8.7" {
        Allowed "allowed" "Those that it may use (late 6.1.y, 6.12.y and 6.18.y; 7.0).",
        All "all" "All of them (5.5 on).",
    }
    ScanCounts scan_counts
        "Which CPUs count against what a search for an idle one may look at?" "fair-placement 8.5" {
        Allowed "allowed" "Those that the task may use.",
        All "all" "All that the search comes by (4.19).",
    }
    DelayedCount delayed_count
        "Do tasks that stay in their queue asleep count as running where a CPU is chosen?"
        "eevdf-class 3.7, 4.2, 4.5" {
        LeftOut "left_out" "No: neither at a wakeup nor as fair tasks that could be moved (6.14 on).",
        LeftOutAtWakeup "left_out_at_wakeup" "Only as tasks that could be moved (6.13; 6.12.y).",
        Counted "counted" "Yes (6.12).",
    }
}
