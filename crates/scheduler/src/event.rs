//! What the scheduler tells about itself: tracepoints (rt-class 11.2) and decisions with their reasons.

use crate::{CpuId, Nanos, Prio, TaskId};

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
    /// A decision, and why it fell so.
    Decision {
        /// About whom.
        task: TaskId,
        /// Why.
        reason: Reason,
    },
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
    WakeRouted "wake_routed" "The woken RT task goes to a CPU with a lower priority.";
    WakeTargetRose "wake_target_rose" "The CPU found for the woken RT task had risen meanwhile; it stays.";
    WakeAffine "wake_affine" "The woken fair task is pulled to the waker's CPU.";
    WakePrevious "wake_previous" "The woken fair task stays on its previous CPU.";
    WakeIdleSibling "wake_idle_sibling" "The woken fair task goes to an idle CPU that shares cache.";
    WakeLoad "wake_load" "The woken RT task was routed by load, blind to its priority.";
    WakeFallback "wake_fallback" "The chosen CPU was not allowed; any allowed one was taken.";
    WakePassive "wake_passive"
        "The woken fair task comes to the waker's CPU, which is clearly less loaded (2.6.31).";
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
    RrSlice "rr_slice" "The running SCHED_RR task used up its slice and has company.";
    Pushed "pushed" "An RT task was pushed to a CPU with a lower priority.";
    PushNoTarget "push_no_target" "No CPU with a lower priority for the task to be pushed.";
    PushPreempts "push_preempts" "The task to be pushed beats the running one and is about to run here.";
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
    Throttled "throttled" "The RT queue used up its run time for this period.";
    Unthrottled "unthrottled" "The RT queue may run again.";
    BalancedPeriodic "balanced_periodic" "Periodic balancing moved a fair task here.";
    BalancedNewIdle "balanced_newidle" "Balancing of a newly idle CPU moved a fair task here.";
    BalancedActive "balanced_active" "A busy CPU was asked to give a fair task away.";
    NotMovedHeavy "not_moved_heavy" "Balancing left a task: it weighs more than twice what is to move.";
    NotMovedAffinity "not_moved_affinity" "Balancing left a task: it may not run on the other CPU.";
    NotMovedRunning "not_moved_running" "Balancing left a task: it runs.";
    NotMovedBuddy "not_moved_buddy" "Balancing left a task: it is a buddy of its queue.";
    NotMovedHot "not_moved_hot" "Balancing left a task: it is cache-hot.";
    NotMovedLag "not_moved_lag" "Balancing left a task: it owes service to the others of its queue.";
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
