//! What the scheduler tells about itself: tracepoints (rt-class 11.2) and decisions with their reasons.

use crate::{CpuId, GroupId, Nanos, Prio, TaskId};

/// Something that happened on the executing CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// sched_switch: under the run-queue lock, before the register switch.
    Switch {
        /// Who leaves.
        prev: TaskId,
        /// In which state.
        prev_state: SwitchState,
        /// Who comes.
        next: TaskId,
    },
    /// sched_waking: start of a wakeup, in the waker's context; the CPU is the sleeper's last.
    Waking {
        /// Who is woken.
        task: TaskId,
        /// Its last CPU.
        target: CpuId,
    },
    /// sched_wakeup: after enqueue and preemption check.
    Wakeup {
        /// Who is woken.
        task: TaskId,
        /// The CPU chosen for it.
        target: CpuId,
    },
    /// sched_wakeup_new: first wakeup after fork.
    WakeupNew {
        /// The child.
        task: TaskId,
        /// The CPU chosen for it.
        target: CpuId,
    },
    /// sched_migrate_task: before the task's CPU field changes.
    Migrate {
        /// Who moves.
        task: TaskId,
        /// From where.
        orig: CpuId,
        /// To where.
        dest: CpuId,
    },
    /// sched_pi_setprio: inheritance changed an effective priority.
    PiSetprio {
        /// Whose.
        task: TaskId,
        /// Before.
        old: Prio,
        /// After.
        new: Prio,
    },
    /// sched_stat_runtime: run time was accounted.
    StatRuntime {
        /// Whose.
        task: TaskId,
        /// How much.
        runtime: Nanos,
        /// The task's virtual runtime afterwards, in ns.
        vruntime: u64,
    },
    /// Tasks of a CPU have used up their time there, and may not run.
    ThrottleBegins {
        /// The CPU.
        cpu: CpuId,
        /// Which tasks.
        whom: Throttled,
    },
    /// They have got more.
    ThrottleEnds {
        /// The CPU.
        cpu: CpuId,
        /// Which tasks.
        whom: Throttled,
    },
    /// A task group whose tasks have slept has worked off its debt in the queue of the group above it, and
    /// leaves that (eevdf-class 3.7). No kernel traces it; the checks have to know.
    GroupLeaves {
        /// Which.
        group: GroupId,
        /// On which CPU.
        cpu: CpuId,
    },
    /// A CPU runs at another frequency from now on.
    Frequency {
        /// The CPU.
        cpu: CpuId,
        /// In kHz.
        khz: u32,
    },
    /// A decision, and why it fell so.
    Decision {
        /// About whom.
        task: TaskId,
        /// Why.
        reason: Reason,
    },
}

/// Tasks whose budget on a CPU is used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Throttled {
    /// All real-time tasks (rt-class 8.1).
    RealTime,
    /// Those of a task group and of the groups below it (deadline-groups B7).
    Group(GroupId),
    /// The real-time ones of a task group and of the groups below it (deadline-groups B9).
    RtGroup(GroupId),
    /// A deadline task, by its own budget (deadline-groups A5). It may come to another CPU meanwhile.
    Deadline(TaskId),
}

/// State in which a task leaves a CPU (rt-class 11.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SwitchState {
    /// Runnable and not preempted (yield): R.
    Runnable,
    /// Preempted: R+.
    Preempted,
    /// Interruptible sleep: S.
    Interruptible,
    /// Uninterruptible sleep: D.
    Uninterruptible,
    /// Gone: X.
    Dead,
}

macro_rules! reasons {
    ($($variant:ident $name:literal $meaning:literal;)+) => {
        /// Why a decision fell as it did: one variant for each way out, counted where it happens.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Reason {
            $(#[doc = $meaning] $variant,)+
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &[Reason] = &[$(Reason::$variant,)+];

            /// Short name, as in counters and traces.
            pub const fn name(self) -> &'static str {
                match self { $(Reason::$variant => $name,)+ }
            }

            /// In a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Reason::$variant => $meaning,)+ }
            }
        }
    };
}

reasons! {
    WakePinned "wake_pinned" "The woken task may run on one CPU only.";
    WakeStay "wake_stay" "The woken RT task stays on its last CPU: the routing rule asks for no search.";
    WakeLowestHere "wake_lowest_here"
        "The woken RT task stays: its last CPU is among those with the lowest priority.";
    WakeNoLower "wake_no_lower" "The woken RT task found no CPU with a lower priority and stays.";
    WakeNoFit "wake_no_fit"
        "The woken RT task stays on a CPU that is worth too little for it: no better one has a lower \
         priority.";
    WakeRouted "wake_routed" "The woken RT task goes to a CPU with a lower priority.";
    WakeTargetRose "wake_target_rose" "The CPU found for the woken RT task had risen meanwhile; it stays.";
    WakeAffine "wake_affine" "The woken fair task is pulled to the waker's CPU.";
    WakePrevious "wake_previous" "The woken fair task stays on its previous CPU.";
    WakeIdleSibling "wake_idle_sibling" "The woken fair task goes to an idle CPU that shares cache.";
    WakeLoad "wake_load" "The woken RT task was routed by load, blind to its priority.";
    WakeFallback "wake_fallback" "The chosen CPU was not allowed; any allowed one was taken.";
    WakePassive "wake_passive"
        "The woken fair task comes to the waker's CPU, which is clearly less loaded (2.6.31).";
    WakeOnCpuList "wake_on_cpu_list"
        "The woken task stays: its CPU is still switching away from it, and wakes it itself.";
    WakeWide "wide"
        "The woken fair task is not drawn to the waker: both change partners too often for one cache.";
    WakerCpuForbidden "waker_cpu_forbidden" "The woken fair task may not run on the waker's CPU.";
    WaPrevIdle "wa_prev_idle" "Of the waker's CPU and the last one, the last one is idle.";
    WaThisIdle "wa_this_idle" "An interrupt woke the fair task on an idle CPU; its last one is busy.";
    WaSync "wa_sync" "The waker is about to sleep and alone on its CPU: the woken fair task takes its place.";
    WaWeight "wa_weight" "With the woken fair task, the waker's CPU has less load than the last one has now.";
    WaNo "wa_no" "Neither idleness nor load speaks for the waker's CPU; the last one it is.";
    EnergyBest "energy_best" "The woken fair task goes to the CPU where it costs the least energy.";
    EnergyPrevious "energy_previous"
        "The woken fair task stays on its last CPU: nowhere does it cost less energy.";
    SisTarget "sis_target" "The CPU where the search for an idle one starts is idle.";
    SisPrev "sis_prev" "The woken fair task's last CPU is idle and shares cache.";
    SisKthread "sis_kthread" "A bound kernel thread, alone on its CPU, wakes the fair task where both ran.";
    SisRecent "sis_recent" "The CPU before the last one is idle.";
    SisSmt "sis_smt" "Another thread of the last CPU's core is idle.";
    SisCore "sis_core" "A whole core is idle.";
    SisCpu "sis_cpu" "The scan of the cache's CPUs found one idle.";
    SisFits "sis_fits" "The woken fair task goes to an idle CPU that is worth enough for it.";
    SisLargest "sis_largest"
        "The woken fair task fits no idle CPU and goes to the one that is worth most.";
    SisNone "sis_none" "No CPU of the cache is idle.";
    SisCut "sis_cut" "The CPUs that may be looked at are busy (SIS_UTIL, SIS_PROP).";
    SisRefused "sis_refused" "The cache's CPUs are so full that SIS_UTIL forbids to look.";
    LocalType "local_type" "The new or exec'ing task stays in its group: the best other one has more to do.";
    LocalMargin "local_margin" "The new or exec'ing task stays in its group: no other has clearly less load.";
    LocalIdle "local_idle" "The new or exec'ing task stays in its group: no other has more idle CPUs.";
    NumaAllowance "numa_allowance"
        "The new or exec'ing task stays on its node, where few tasks run, although another one is idler.";
    OtherType "other_type" "The new or exec'ing task goes to a group that has less to do by its type.";
    OtherLoad "other_load" "The new or exec'ing task goes to a group with clearly less load.";
    OtherIdle "other_idle" "The new or exec'ing task goes to a group with more idle CPUs.";
    ForkLocal "fork_local" "The new task stays where its parent runs: no other CPU is clearly less loaded.";
    ForkIdlest "fork_idlest" "The new task goes to the idlest CPU of the idlest group.";
    ForkChildFirst "fork_child_first" "A new task changed places with its parent, to run first.";
    PreemptClass "preempt_class" "The woken task's class goes before that of the running one.";
    PreemptPrio "preempt_prio" "The woken RT task beats the running one.";
    PreemptEqual "preempt_equal" "An equal RT task that can run elsewhere makes room for one that cannot.";
    PreemptVruntime "preempt_vruntime"
        "The woken fair task is left of the running one by more than the granularity.";
    PreemptIdlePolicy "preempt_idle_policy" "A SCHED_IDLE task makes room for any other.";
    PreemptSync "preempt_sync" "A wakeup with the sync hint preempts, by WAKEUP_SYNC.";
    PreemptOverlap "preempt_overlap" "The woken task and the running one overlap little, by WAKEUP_OVERLAP.";
    PreemptRunning "preempt_running"
        "The woken task runs for shorter at a time than the running one, by WAKEUP_RUNNING.";
    PreemptDeadline "preempt_deadline" "The woken fair task is the one that EEVDF would pick.";
    PreemptShort "preempt_short"
        "The woken fair task has a shorter slice, and EEVDF would pick it but for the running one's \
         protection.";
    AskedLazily "asked_lazily"
        "A fair task is to make room when it returns to user mode, or at the next tick.";
    LazyHardened "lazy_hardened"
        "A tick found a task that had been asked lazily, and asked it in full.";
    PreemptPending "preempt_pending" "The running fair task was already asked to make room.";
    NoPreemptPolicy "no_preempt_policy" "A SCHED_BATCH or SCHED_IDLE task does not preempt when it wakes.";
    NoPreemptOff "no_preempt_off" "WAKEUP_PREEMPT is off.";
    NoPreemptRight "no_preempt_right" "The woken fair task is not left of the running one.";
    NoPreemptGran "no_preempt_gran"
        "The woken fair task is left of the running one, but by no more than the granularity.";
    NoPreemptDeadline "no_preempt_deadline" "The woken fair task is not the one that EEVDF would pick.";
    NoPreemptNew "no_preempt_new" "A task that is new, or asleep in its queue, does not preempt (7.0).";
    NoPreempt "no_preempt" "The woken task does not preempt.";
    TickSlice "tick_slice" "The running fair task used up its slice.";
    TickLatency "tick_latency" "The running fair task is ahead of the leftmost by more than a slice.";
    RequestEnd "request_end" "The running fair task's request ended, and others are queued.";
    ProtectionEnd "protection_end"
        "The running fair task is not protected any more, and others are queued: the pick shall decide.";
    HrtickEnd "hrtick_end" "The running fair task's turn was over, as its CPU's timer told (HRTICK).";
    RrSlice "rr_slice" "The running SCHED_RR task used up its slice and has company.";
    DlWakeStay "dl_wake_stay"
        "The woken deadline task stays on its last CPU: nothing there has an earlier deadline.";
    DlWakeRouted "dl_wake_routed"
        "The woken deadline task goes to a CPU without deadline tasks or with a later one.";
    DlWakeNoLater "dl_wake_no_later" "The woken deadline task found no CPU with a later deadline and stays.";
    DlPreempt "dl_preempt" "The newly queued deadline task has an earlier deadline than the running one.";
    DlThrottled "dl_throttled" "A deadline task used up its run time and waits for its next period.";
    DlReplenished "dl_replenished" "The next period of a throttled deadline task begins.";
    FairServerStarts "fair_server_starts"
        "The fair server takes the CPU from a real-time or a later deadline task.";
    FairServerEnds "fair_server_ends" "The fair server has used up its run time for this period.";
    DlPushed "dl_pushed" "A deadline task was pushed to a CPU with a later deadline, or none.";
    DlPulled "dl_pulled" "A deadline task was pulled from an overloaded CPU.";
    Pushed "pushed" "An RT task was pushed to a CPU with a lower priority.";
    PushNoTarget "push_no_target" "No CPU with a lower priority for the task to be pushed.";
    PushPreempts "push_preempts" "The task to be pushed beats the running one and is about to run here.";
    PushHeld "push_held"
        "The task to be pushed has migration disabled: it stays, and so does what waits behind it.";
    PushAway "push_away"
        "The stopper is asked to move the running task, since one that waits has migration disabled.";
    PushChanged "push_changed" "The task to be pushed ran, moved or changed while the lock was dropped.";
    Pulled "pulled" "An RT task was pulled from an overloaded CPU.";
    PullSkipped "pull_skipped" "An overloaded CPU was passed over without locking: it has nothing better.";
    PullNothing "pull_nothing" "An overloaded CPU was locked for nothing.";
    PullPreempts "pull_preempts"
        "A task was not pulled: it beats its CPU's running task and is about to run there.";
    PrioRaised "prio_raised" "A waiting task beats the running one since its priority or class changed.";
    PrioDropped "prio_dropped" "The running task dropped below another one that waits there.";
    Boosted "boosted" "A lock owner inherits the priority of its top waiter.";
    Deboosted "deboosted" "A lock owner drops back after unlocking.";
    Stolen "stolen" "A higher task took a lock before the waiter it was handed to.";
    MutexSpins "mutex_spins"
        "A task found a mutex or semaphore of the kernel taken and spins, as its owner runs.";
    MutexSleeps "mutex_sleeps" "A task sleeps for a mutex or semaphore of the kernel.";
    RtlockSpins "rtlock_spins"
        "A task found a spinlock of the kernel taken and spins, as its owner runs (PREEMPT_RT).";
    RtlockSleeps "rtlock_sleeps" "A task sleeps for a spinlock of the kernel (PREEMPT_RT).";
    MutexHandedOver "mutex_handed_over"
        "A mutex of the kernel was handed to the first waiter, which had been woken in vain.";
    SliceIgnored "slice_ignored" "A fair task asked for a slice of its own, and this kernel gives none.";
    Throttled "throttled" "The RT queue used up its run time for this period.";
    Unthrottled "unthrottled" "The RT queue may run again.";
    LbNone "lb_none" "Balancing found no other group with a fair task.";
    LbMisfit "lb_misfit" "Balancing helps a fair task that deserves a better CPU: real-time tasks use its own, \
                          or it is worth too little.";
    LbAsymPacking "lb_asym_packing"
        "Balancing helps a group whose CPUs are less preferred than the idle one that looks (ITMT).";
    LbImbalanced "lb_imbalanced" "Balancing helps a group that bound tasks keep from evening out.";
    LbLocalBusier "lb_local_busier" "Balancing left things as they are: its own group has more to do.";
    LbWithinPct "lb_within_pct" "Balancing left things as they are: both groups are overloaded about alike.";
    LbSibling "lb_sibling" "Balancing spreads tasks over groups that share little.";
    LbBusy "lb_busy" "Balancing left things as they are: a busy CPU takes from overloaded groups only.";
    LbIdleEven "lb_idle_even" "Balancing left things as they are: the groups have about as many idle CPUs.";
    LbOneTask "lb_one_task" "Balancing left things as they are: the busiest group has one fair task.";
    LbEnergy "lb_energy"
        "Balancing left things as they are: tasks are placed by energy, and each CPU has enough for its own.";
    LbMove "lb_move" "Balancing found a group with more to do.";
    LbZero "lb_zero" "Balancing left things as they are: less than a task is too much there.";
    LbAllPinned "lb_all_pinned" "No task of the busiest CPU may come here; balancing tried the next.";
    LbRedirected "lb_redirected" "Balancing went on for a CPU next to its own, where a task may run.";
    NiNoOverload "ni_no_overload" "A CPU about to idle did not look for work: nobody waits anywhere.";
    NiShortIdle "ni_short_idle" "A CPU about to idle did not look for work: it is never idle for long.";
    NiCost "ni_cost" "A CPU about to idle looked no further: that takes longer than it idles.";
    NiDice "ni_dice" "A CPU about to idle passed over a domain where it seldom finds work.";
    KickOverload "kick_overload" "A CPU with waiting tasks asked an idle one to balance.";
    KickCapacity "kick_capacity" "A CPU that real-time tasks use asked an idle one to take its fair task.";
    KickMisfit "kick_misfit"
        "A CPU that is worth too little for its fair task asked an idle one to balance.";
    KickAsymPacking "kick_asym_packing"
        "A CPU with a fair task asked an idle one to balance, as one idles that is preferred to it (ITMT).";
    KickBusyLlc "kick_busy_llc" "A CPU that shares its cache with busy ones asked an idle one to balance.";
    BalancedPeriodic "balanced_periodic" "Periodic balancing moved a fair task here.";
    BalancedNewIdle "balanced_newidle" "Balancing of a newly idle CPU moved a fair task here.";
    ActiveAsymPacking "active_asym_packing"
        "A busy CPU is to give its running task away, to an idle one that is preferred to it (ITMT).";
    BalancedActive "balanced_active" "A busy CPU was asked to give a fair task away.";
    NotMovedHeavy "not_moved_heavy" "Balancing left a task: it weighs more than twice what is to move.";
    NotMovedAffinity "not_moved_affinity" "Balancing left a task: it may not run on the other CPU.";
    NotMovedRunning "not_moved_running" "Balancing left a task: it runs.";
    NotMovedBuddy "not_moved_buddy" "Balancing left a task: it is a buddy of its queue.";
    NotMovedHot "not_moved_hot" "Balancing left a task: it is cache-hot.";
    NotMovedLag "not_moved_lag" "Balancing left a task: it owes service to the others of its queue.";
    NotMovedFits "not_moved_fits"
        "Balancing left a task: it fits its CPU, and looked for was one that does not.";
    NotMovedThrottled "not_moved_throttled"
        "Balancing left a task: its group has used up its time on one of both CPUs.";
    AffinityMove "affinity_move" "The task was moved because its CPU is no longer allowed.";
    BuddyLast "buddy_last" "The last buddy was picked over the leftmost.";
    BuddyNext "buddy_next" "The next buddy was picked over the leftmost.";
    BuddyRefused "buddy_refused" "A buddy was too far right of the leftmost.";
    BuddySkipped "buddy_skipped" "The leftmost task had yielded and was passed over for the second.";
    PickProtected "pick_protected" "The running fair task stayed because it is protected and eligible.";
    DelayedDequeue "delayed_dequeue"
        "A fair task that blocked stayed in its queue, to work off the service that it had too much.";
    DelayedFinished "delayed_finished"
        "A task that slept in its queue would have been picked, or changes its class: it left.";
    DelayedWoken "delayed_woken" "A task that slept in its queue was woken where it stood.";
    NicePenalty "nice_penalty" "A fork raised the START_NICE penalty of parent and child.";
}
