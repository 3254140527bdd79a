//! Rules of what serves all classes: locks, wakeups, preemption, ticks, stoppers (rt-class 3, 5.6, 7, 10;
//! fair-placement 2, 5).

rules! {
    WakeLock wake_lock "Which lock does a waker hold while it selects a CPU?" "rt-class 3.1, Eras" {
        PiLock "pi_lock" "The sleeper's own pi_lock; then exactly one run-queue lock (3.0 on).",
        OldRq "old_rq"
            "The run-queue lock of the sleeper's last CPU, then that of the new one (up to 2.6.38).",
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
    MutexSpin mutex_spin "Does who finds a mutex of the kernel taken spin?" "machine.md 3.1, 3.4" {
        Osq "osq"
            "While the owner is on a CPU: one looks, the others queue up behind it (3.15 on).",
        OwnerOnCpu "owner_on_cpu" "While the owner is on a CPU: all look (2.6.29 to 3.14).",
        Never "never" "It sleeps at once (up to 2.6.28).",
    }
    DeboostOrder deboost_order "What comes first when a boosted owner unlocks a PI mutex?" "rt-class 7.5" {
        DeboostThenWake "deboost_then_wake" "It drops its priority, then wakes the waiter (4.12 on).",
        WakeThenDeboost "wake_then_deboost" "It wakes the waiter while still boosted.",
    }
    LockKind lock_kind "How are kernel spinlocks handed over?" "rt-class 10.5" {
        Queued "queued" "Each waiter spins on its own line, first come first served (x86 since 4.2).",
        Ticket "ticket"
            "First come first served; the hand-over gets dearer with each spinner (2.6.25 to 4.1).",
        TestAndSet "test_and_set"
            "Unfair: whoever's write arrives first, near CPUs before far ones (up to 2.6.24).",
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
    KernelLocks kernel_locks
        "Can a task be preempted that has a lock of the kernel?" "machine.md 1.2, 1.3, 1.11" {
        Spin "spin" "No: what is under a spinlock is atomic (kernels without PREEMPT_RT).",
        Sleeping "sleeping"
            "Yes, but for raw spinlocks: a tenth of what is atomic else; to take a lock costs twice as much, \
             and who wants that of a preempted task sleeps and lends it its priority (PREEMPT_RT).",
    }
    SkewTick skew_tick "Do the ticks of all CPUs fall together?" "fair-class 2.7; fair-placement 5.1" {
        Off "off" "Yes (2.6.36 on; from 3.5 on without the boot option skew_tick=1).",
        On "on" "No: they are spread over half a period, by nr_cpus (up to 2.6.35).",
    }
    IrqAccounting irq_accounting
        "Is the time of interrupts left out of the CPU time of whom they interrupt?" "fair-placement 1.9" {
        Off "off" "No: it is charged to the running task (builds without IRQ_TIME_ACCOUNTING).",
        On "on" "Yes: it is measured, and left out of the task clock (builds with it, 2.6.37 on).",
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
    ClockRead clock_read
        "What does a task that reads its CPU clock bring up to date?" "deadline-groups A5" {
        Charges "charges"
            "What its class accounts: the budget of a deadline task, the limit of its group, its slice \
             (3.18 on).",
        Adds "adds" "Nothing: the time since the last charge is only added (up to 3.17).",
    }
    AffinityStint affinity_stint
        "What becomes of a queued fair task that gets another affinity?"
        "fair-placement 5.5; eevdf-class 3.1" {
        New "new"
            "It leaves its queue and comes back, as with another nice value: a running one begins a new stint \
             (4.3 on).",
        Same "same" "Nothing, as long as it may stay (up to 4.2).",
    }
    AffinityCpu affinity_cpu
        "Where does sched_setaffinity send a task that may not stay?" "fair-placement 5.5" {
        Distribute "distribute"
            "To the next CPU that is allowed after the last answer, by a count of the executing CPU (5.7 \
             on).",
        First "first" "To the lowest CPU that is allowed (up to 5.6).",
    }
    StopperForm stopper
        "Who moves a task that runs, for an exec, a new affinity or active balancing?" "fair-placement 5.5" {
        Thread "thread" "The thread migration/N of its CPU.",
        Interrupt "interrupt" "An interrupt, without the thread's switches: older profiles, approximately.",
    }
    IrqThreads irq_threads "Which interrupts of devices are handled in threads?" "machine.md 1.6" {
        Driver "driver" "Those of drivers that ask for it: none here.",
        Forced "forced"
            "All: the interrupt itself only wakes irq/N-dev, FIFO 50, one for each CPU here (PREEMPT_RT, or \
             the boot option threadirqs).",
    }
    HrtimerContext hrtimer_context "Where does the timer of a sleep expire?" "machine.md 1.8" {
        AllHard "all_hard" "In the interrupt itself, which wakes the sleeper (kernels without PREEMPT_RT).",
        ByPolicy "by_policy"
            "That of a real-time or deadline task in the interrupt; that of a fair task in the soft interrupt \
             (PREEMPT_RT).",
    }
    TimerSlack timer_slack
        "May a fair task's sleep last longer than it asked for, to share an interrupt?" "machine.md 5.2" {
        Range "range"
            "By up to its slack: the clock is programmed for the end of that, and any timer interrupt of the \
             CPU in it wakes the task (2.6.28 on).",
        None "none" "No: its timer has a time, as that of a real-time task (up to 2.6.27).",
    }
    SoftirqWhere softirq_where "Where are soft interrupts served?" "machine.md 1.7, 2.2" {
        IrqExit "irq_exit"
            "On the way out of the interrupt, on top of whoever runs.",
        Task "task" "In threads that can be preempted, periodic balancing too (PREEMPT_RT).",
    }
    TimerThread timer_thread "Which thread serves timers, where soft interrupts are served in threads?"
        "machine.md 0.4, 1.8" {
        Ksoftirqd "ksoftirqd" "ksoftirqd/N, a fair task, as for all else (PREEMPT_RT of 5.15 to 6.12).",
        Ktimers "ktimers" "ktimers/N, FIFO 1 (6.13 on; with the -rt patches about 5.16 on).",
    }
    SoftirqLock softirq_lock
        "Do the threads that serve soft interrupts exclude each other?" "machine.md 1.7" {
        None "none" "No: whoever is higher goes first (6.18 on).",
        PerCpu "per_cpu"
            "Yes, by a lock of their CPU with inheritance, for as long as a round takes (PREEMPT_RT up to \
             6.17).",
    }
}
