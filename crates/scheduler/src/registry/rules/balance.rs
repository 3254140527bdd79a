//! Rules of balancing fair tasks over CPUs (fair-class 8; fair-placement 4; eevdf-class 4).

rules! {
    IdleNeverHot idle_never_hot
        "Does balancing take a SCHED_IDLE task whatever its cache holds?" "fair-class 6.8, 7.7" {
        On "on" "Yes: it is never cache-hot (2.6.37 on).",
        Off "off" "No: it is cache-hot like any other.",
    }
    HotBuddyDstBusy hot_buddy_dst_busy
        "When are buddies cache-hot for balancing?" "seed 004; fair-class 7.6" {
        On "on" "Only if the CPU doing the balancing already has work.",
        Off "off" "Always.",
    }
    NewIdleStop newidle_stop "When does new-idle balancing give up?" "fair-class 8.6" {
        OnMove "on_move"
            "At the first domain where something moved; skipped while the CPU's mean idle time is short \
             (2.6.33 on).",
        OnBusiest "on_busiest"
            "Also at a domain where a busiest queue was found but nothing could move (up to 2.6.32).",
        Never "never" "There is no balancing of newly idle CPUs (2.6.31).",
    }
    LoadBalanceAmount load_balance_amount
        "What limits how much load one balancing moves?" "fair-class 8.5 step 4" {
        Capacity "capacity" "The tasks in excess of the busiest group's capacity (2.6.34 on).",
        LoadPerTask "load_per_task" "One mean task of the busiest group must stay (up to 2.6.33).",
    }
    SmtHot smt_hot
        "Is a task cache-hot for another thread of its core?" "fair-placement 4.8, 8.5" {
        Off "off" "No (5.10 on).",
        On "on" "Yes, as for any other CPU.",
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
        Drop "drop" "At once where no governor says more (4.17 on).",
        Always "always" "At once, whatever a governor expects (up to 4.16).",
    }
    MisfitReduced misfit_reduced
        "Does an idle CPU take the only fair task of one that real-time tasks use?" "fair-placement 4.5" {
        On "on" "Yes, as a task that deserves a better CPU (6.0 on).",
        Off "off" "Only through repeated failures and the stopper.",
    }
    AsymPacking asym_packing
        "Whose tasks does an idle CPU take that the firmware prefers (ITMT)?" "deadline-groups C1, C9" {
        BusyThreads "busy_threads"
            "Those of less preferred CPUs, and those that share a core, wherever they are; a core takes some of \
             CPUs without siblings only if all of it idles (5.16 to 6.4).",
        IdleCores "idle_cores"
            "Those of less preferred CPUs, if all of its core idles and theirs runs no other (6.5 on).",
        ByPriority "by_priority"
            "Those of less preferred CPUs, whatever else their cores do (4.10 to 5.15).",
        Off "off" "Nobody's: it balances as any CPU does (up to 4.9, and with sched_itmt_enabled=0).",
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
    LbAverage lb_average
        "Does a group that is busy with more than the average load pull more?" "fair-placement 4.7, 8.7" {
        Stays "stays" "No (6.1.25 and 6.3 on).",
        Wraps "wraps"
            "Yes, as much as the busiest group has above the average: what it has below it itself, less than \
             nothing, is taken for a huge amount (5.5 to 6.1.24).",
    }
    HotCount hot_count "Which moved tasks does schedstat count as cache-hot?" "fair-placement 8.7" {
        Moved "moved" "Those that moved although they were (6.14, 6.1.129 on).",
        Tested "tested" "Also those that were too heavy in the end.",
    }
    SmtBalance smt_balance
        "Is a core on which several fair tasks run more than a busy group?" "eevdf-class 4.5" {
        Off "off" "No (up to 6.5).",
        On "on"
            "Yes: CPUs that idle come to its help, those of idle cores first, and only they spread tasks over \
             siblings (6.6 on).",
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
    LbLag lb_lag "Does balancing look at lag?" "eevdf-class 4.5" {
        On "on" "It leaves entities that are not eligible, unless that has failed (6.14 on).",
        Off "off" "No.",
    }
}
