//! What is known to differ between a release of Linux and the profile as which it runs.

use super::release::Release;

/// One known difference: how releases from one to before another behave, and the profile does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Profiles that behave otherwise.
    profiles: &'static [&'static str],
    /// First release that behaves so.
    from: Release,
    /// First release that does not any more.
    before: Release,
    /// How the release behaves, in a few words.
    pub what: &'static str,
    /// What `--set` makes the profile behave so, where something does.
    pub setting: Option<&'static str>,
    /// What that makes of the figures, where it is of a kind that must not be overlooked; of all profiles.
    pub implies: Option<&'static str>,
    /// Profiles that behave so, whatever release they stand for.
    described_by: &'static [&'static str],
    /// Where that is documented.
    pub source: &'static str,
}

impl Difference {
    /// Whether this release, run as this profile, behaves otherwise.
    pub fn applies(&self, release: Release, profile: &str) -> bool {
        self.profiles.contains(&profile) && self.is_of(release)
    }

    /// Whether a profile behaves so.
    pub fn is_in(&self, profile: &str) -> bool {
        self.described_by.contains(&profile)
    }

    /// Whether this release behaves so.
    pub fn is_of(&self, release: Release) -> bool {
        self.from <= release && release < self.before
    }

    const fn between(self, from: [u32; 3], before: [u32; 3]) -> Difference {
        let [from, before] =
            [Release::new(from[0], from[1], from[2]), Release::new(before[0], before[1], before[2])];
        Difference { from, before, ..self }
    }

    const fn since(self, from: [u32; 3]) -> Difference {
        self.between(from, [u32::MAX, 0, 0])
    }

    const fn until(self, before: [u32; 3]) -> Difference {
        self.between([0, 0, 0], before)
    }

    const fn set(self, setting: &'static str) -> Difference {
        Difference { setting: Some(setting), ..self }
    }

    const fn described_by(self, described_by: &'static [&'static str]) -> Difference {
        Difference { described_by, ..self }
    }

    const fn implies(self, what: &'static str) -> Difference {
        Difference { implies: Some(what), ..self }
    }
}

const fn releases(profiles: &'static [&'static str], source: &'static str, what: &'static str) -> Difference {
    let always = Release::new(0, 0, 0);
    Difference {
        profiles,
        from: always,
        before: always,
        what,
        setting: None,
        implies: None,
        described_by: &[],
        source,
    }
}

/// Releases run as the profile before them.
const V2637: &[&str] = &["2.6.37"];
const V44: &[&str] = &["4.4"];
/// Those before 4.2 that releases from 3.8 on are run as.
const BEFORE_PELT: &[&str] = &["3.3", "4.0", "4.1"];
const V612: &[&str] = &["6.12", "6.12-rt"];
const V70: &[&str] = &["7.0"];
/// Kernels with EEVDF.
const EEVDF: &[&str] = &["6.6", "6.12", "6.12-rt", "6.12.y", "6.18", "6.18-rt", "6.18.y", "7.0", "7.1"];
const V419: &[&str] = &["4.19"];
const V54: &[&str] = &["5.4"];
const V510: &[&str] = &["5.10"];
const V515: &[&str] = &["5.15"];
/// Releases from 5.19 to 6.5, and from 4.15 to 6.11 those that are built for PREEMPT_RT.
const V61: &[&str] = &["6.1"];
const V61_BOTH: &[&str] = &["6.1", "6.1-rt"];

/// From 6.6 on, which places fair tasks as 6.1.y does, too.
const ASKS_RECENT: Difference =
    releases(V61_BOTH, "fair-placement 8.7", "no woken task is sent to a recent CPU that it may not use")
        .set("recent_used=prev");

const BELOW_AVERAGE: Difference =
    releases(V61_BOTH, "fair-placement 8.7", "a group that is busy with more than the average pulls no more")
        .set("lb_average=stays");
const FORK_COUNTS: Difference =
    releases(V61_BOTH, "fair-placement 8.7", "for a new task CPUs do not count that it may not use")
        .set("fork_counts=allowed");

/// What stable branches got that 6.1 as released has not; most of them late.
const SELF_IPI: Difference =
    releases(V61_BOTH, "fair-placement 8.7", "RT_PUSH_IPI does not interrupt its own CPU")
        .set("rto_skip_self=on");
const LATE_6_1: &[&str] = &["6.1.y"];
const RT: &[&str] = &["6.1-rt"];

/// Every known difference: the largest first, then those of old releases.
pub const DIFFERENCES: &[Difference] = &[
    releases(V61_BOTH, "eevdf-class 0.3", "EEVDF serves fair tasks, in place of CFS")
        .since([6, 6, 0])
        .described_by(EEVDF)
        .implies(
            "preemptions, order and latencies of fair tasks are CFS's here; real-time tasks are not \
                  concerned",
        ),
    releases(V2637, "fair-class 6.7", "sched_yield lets the next task run")
        .since([2, 6, 39])
        .set("yield_mode=skip"),
    releases(V2637, "fair-class 6.4", "SCHED_BATCH preempts SCHED_IDLE")
        .since([2, 6, 39])
        .set("idle_batch_preempts=on"),
    releases(V2637, "rt-class 3.1", "a waker holds the sleeper's pi_lock")
        .since([3, 0, 0])
        .set("wake_lock=pi_lock"),
    releases(V2637, "rt-class 3.6", "remote wakeups are queued by IPI").since([3, 0, 0]).set("TTWU_QUEUE"),
    releases(V2637, "rt-class 5.3", "a task that cannot be pushed stays pushable")
        .since([3, 1, 0])
        .set("push_fail=stop"),
    releases(V2637, "rt-class 1.5", "highest_prio.next is the first pushable task")
        .since([3, 1, 0])
        .set("next_def=first_pushable"),
    releases(V2637, "rt-class 3.3", "a woken real-time task also avoids its equal")
        .since([3, 2, 0])
        .set("wake_route=ge_or_pinned"),
    releases(&["3.3"], "rt-class 5.5", "pull looks at pushable tasks only")
        .since([3, 11, 0])
        .set("pull_source=pushable_list"),
    releases(&["3.3"], "machine 3.1", "tasks that spin for a mutex of the kernel queue up, and one looks")
        .since([3, 15, 0])
        .set("mutex_spin=osq"),
    releases(&["3.3"], "rt-class 8.1", "throttled real-time tasks do not count as running")
        .since([3, 16, 0])
        .set("throttled_count=left_out"),
    releases(V44, "fair-placement 8.3, U8", "load tracking in an older form, without utilisation")
        .until([4, 3, 0]),
    releases(V44, "fair-placement 8.3", "another test of who wakes too many to draw them to its CPU")
        .until([4, 3, 0]),
    releases(
        V44,
        "fair-placement 5.5",
        "a running fair task goes on with its stint when its affinity changes",
    )
    .until([4, 3, 0])
    .set("affinity_stint=same"),
    releases(V44, "fair-placement 1.7", "a new task counts as using half of what is free on its CPU")
        .since([4, 7, 0])
        .set("new_task_util=half"),
    releases(V44, "fair-class 4.5", "a fair task enters after the running one is charged")
        .since([4, 9, 0])
        .set("floor_order=with_task"),
    releases(V44, "fair-class 2.4", "a task that has blocked no longer holds min_vruntime back")
        .since([4, 9, 0])
        .set("blocked_floor=released"),
    releases(V44, "fair-placement 3.4", "a running task begins a new stint with another nice value")
        .since([4, 9, 0])
        .set("renice=by_direction"),
    releases(V44, "fair-placement 8.3, 8.5", "a wakeup looks for an idle core, then for any idle CPU")
        .since([4, 9, 0])
        .set("idle_sibling=core_cpu_thread"),
    releases(V44, "fair-placement 8.5", "who calls exec goes to where a CPU has most time to spare")
        .since([4, 11, 0])
        .set("fork_balance=spare_time"),
    releases(V44, "rt-class 7.5", "a PI owner drops its priority before it wakes the waiter")
        .since([4, 12, 0])
        .set("deboost_order=deboost_then_wake"),
    releases(V44, "fair-placement 8.3", "how far a wakeup looks goes by how long CPUs idle")
        .since([4, 13, 0])
        .set("SIS_PROP"),
    releases(V44, "deadline-groups C9", "idle CPUs that the firmware prefers take tasks from others (ITMT)")
        .since([4, 10, 0])
        .set("asym_packing=by_priority"),
    releases(V515, "deadline-groups C9", "CPUs that the firmware prefers look at how busy cores are (ITMT)")
        .since([5, 16, 0])
        .set("asym_packing=busy_threads"),
    releases(
        RT,
        "deadline-groups C9",
        "CPUs that the firmware prefers do not look at the rest of a core (ITMT)",
    )
    .until([5, 16, 0])
    .set("asym_packing=by_priority"),
    releases(
        V61_BOTH,
        "deadline-groups C9",
        "a CPU takes tasks as preferred only if all of its core idles (ITMT)",
    )
    .since([6, 5, 0])
    .set("asym_packing=idle_cores"),
    releases(V44, "deadline-groups A5", "a constrained deadline task keeps to its density")
        .since([4, 13, 0])
        .set("dl_wakeup=cbs_revised"),
    releases(V44, "deadline-groups A7", "deadline tasks may reclaim what others leave (GRUB)")
        .since([4, 13, 0])
        .set("dl_grub=one"),
    releases(V44, "deadline-groups A6", "a deadline task that leaves the class frees its share later")
        .since([4, 13, 0])
        .set("dl_bw_release=zero_lag"),
    releases(V419, "deadline-groups B7", "what a CPU has drawn of a group's quota seldom expires")
        .until([4, 18, 0])
        .set("bw_expire=off"),
    releases(V54, "deadline-groups B7", "what a CPU has drawn of a group's quota expires with the period")
        .until([5, 4, 0])
        .set("bw_expire=on"),
    releases(V510, "deadline-groups A3", "deadlines are admitted by CPUs, whatever they are worth")
        .until([5, 9, 0]),
    releases(V419, "rt-class 6.3", "RT_PUSH_IPI has a walker for each lowering CPU")
        .until([4, 15, 0])
        .set("push_ipi_walker=per_source"),
    releases(V419, "fair-placement 8.3, 8.5", "balancing takes who was queued last")
        .until([4, 15, 0])
        .set("lb=group_room_newest"),
    releases(V419, "fair-placement U7", "a wakeup compares the waker's CPU and the last one in other ways")
        .until([4, 17, 0]),
    releases(V419, "fair-placement 8.3, 8.5", "nobody sees to the averages of idle CPUs")
        .until([4, 17, 0])
        .set("nohz_balance=balance_only"),
    releases(V419, "fair-placement 8.3", "nothing is expected of a task but what it uses")
        .until([4, 17, 0])
        .set("NO_UTIL_EST"),
    releases(V419, "fair-placement 8.3", "the CPU before the last one is not tried for a woken task")
        .until([4, 16, 0])
        .set("recent_used=off"),
    releases(V419, "fair-placement 8.3, 8.5", "what real-time tasks take of a CPU is measured in windows")
        .until([4, 19, 0])
        .set("cpu_capacity=windows"),
    releases(V54, "fair-placement 8.3", "a CPU that runs only SCHED_IDLE tasks is busy")
        .until([5, 4, 0])
        .set("sched_idle_cpu=off"),
    releases(
        &["5.10", "6.1-rt"],
        "fair-placement 3.4",
        "whoever gets a better nice value reschedules its CPU",
    )
    .until([5, 6, 0])
    .set("renice=by_direction"),
    releases(V510, "fair-placement 8.3", "few tasks may not stay on a node while another one is idle")
        .until([5, 6, 0])
        .set("numa_imbalance=off"),
    releases(V510, "fair-placement 8.3", "sleepers are no load of their CPU")
        .until([5, 7, 0])
        .set("balance_load=queued"),
    releases(V510, "fair-placement 5.5", "sched_setaffinity sends tasks to the lowest CPU that is allowed")
        .until([5, 7, 0])
        .set("affinity_cpu=first"),
    releases(V510, "fair-placement 8.3", "bound kernel threads do not keep whom they wake")
        .until([5, 7, 0])
        .set("bound_kthread=off"),
    releases(V510, "fair-placement 8.3", "a CPU that runs only SCHED_IDLE tasks is a last resort")
        .until([5, 7, 0])
        .set("sched_idle_cpu=last_resort"),
    releases(V510, "fair-placement 8.3", "wakeups are handed over to other caches only")
        .until([5, 8, 0])
        .set("ttwu_list=other_cache"),
    releases(V510, "fair-placement 8.3", "a waker waits for a sleeper that is leaving its CPU")
        .until([5, 8, 0])
        .set("wake_on_cpu=spin"),
    releases(V510, "fair-placement 8.3, 8.4", "busy CPUs balance half as often, and tolerate more")
        .until([5, 10, 0])
        .set("lb_params=by_span_slow"),
    releases(V510, "fair-placement 8.3, 8.5", "failures of balancing do not let heavier tasks go")
        .until([5, 10, 0])
        .set("detach_scale=half"),
    releases(&["5.10", "6.1-rt"], "fair-placement 8.1", "CPUs lend each other real-time run time")
        .until([5, 10, 0])
        .set("RT_RUNTIME_SHARE"),
    releases(V510, "fair-placement 8.1, 8.3", "of equal CPUs a real-time task takes one after the other")
        .since([5, 11, 0])
        .set("pick_any=distribute"),
    releases(
        V510,
        "fair-placement 8.3, 8.5",
        "few tasks may stay on a node of whose CPUs they use a quarter",
    )
    .since([5, 11, 0])
    .set("numa_imbalance=quarter"),
    releases(RT, "fair-placement 8.1", "of equal CPUs a real-time task takes the first")
        .until([5, 11, 0])
        .set("pick_any=first"),
    releases(&["5.15", "6.1-rt"], "fair-placement 8.1", "slices may be shorter than min_granularity")
        .until([5, 13, 0])
        .set("NO_BASE_SLICE"),
    releases(V515, "fair-placement 8.3, 8.5", "any failures of balancing move a running task")
        .until([5, 13, 0])
        .set("lb_active=any_failure"),
    releases(V515, "fair-placement 8.3, 8.5", "an idle CPU that balances for all begins with the lowest")
        .until([5, 13, 0])
        .set("nohz_balance=ascending"),
    releases(&["5.15", "6.1-rt"], "machine 0.3, 3.2", "waiters for a PI mutex do not spin")
        .until([5, 15, 0])
        .set("rtmutex_spin=never"),
    releases(V515, "fair-placement 8.1, U2", "how far a wakeup looks goes by how full the cache's CPUs are")
        .between([5, 15, 100], [5, 16, 0])
        .set("SIS_UTIL"),
    releases(V515, "fair-placement 8.1, U2", "and not by how long CPUs idle")
        .between([5, 15, 100], [5, 16, 0])
        .set("NO_SIS_PROP"),
    releases(V515, "fair-placement 8.1, U2", "wakeups are handed over to CPUs with nothing to run")
        .between([5, 15, 100], [5, 16, 0])
        .set("ttwu_list=empty_target"),
    releases(V515, "fair-placement 8.1, U2", "bound kernel threads keep whom they wake, interrupts do not")
        .between([5, 15, 100], [5, 16, 0])
        .set("bound_kthread=task"),
    releases(V515, "fair-placement 8.1, 8.3", "SCHED_IDLE wakes with a smaller sleeper credit")
        .since([5, 16, 0])
        .set("idle_short_sleeper=on"),
    releases(V515, "fair-placement 3.2", "slices of SCHED_IDLE are 0.75 ms at least")
        .since([5, 16, 0])
        .set("idle_least_slice=short"),
    releases(V515, "fair-placement 4.1", "clusters of cores are a level of balancing")
        .since([5, 16, 0])
        .set("cluster_level=on"),
    releases(
        V515,
        "fair-placement 8.3",
        "a newly idle CPU looks for work if it idles longer than that takes",
    )
    .since([5, 16, 0])
    .set("newidle_gate=measured_cost"),
    releases(V515, "fair-placement 8.3", "an idle CPU is also asked when the next of all is due")
        .since([5, 16, 0])
        .set("nohz_balance=next_due"),
    releases(V515, "fair-placement 8.3", "few tasks may stay on a node, by its memory channels")
        .since([5, 18, 0])
        .set("numa_imbalance=channels"),
    releases(RT, "fair-placement 8.1", "SCHED_IDLE wakes with the full sleeper credit")
        .until([5, 16, 0])
        .set("idle_short_sleeper=off"),
    releases(RT, "fair-placement 3.2", "slices of SCHED_IDLE are as long as those of others")
        .until([5, 16, 0])
        .set("idle_least_slice=equal"),
    releases(V61_BOTH, "fair-placement 8.3", "what a task used fades until its idle CPU is looked at only")
        .until([6, 0, 0])
        .set("pelt_lag=off"),
    releases(V61_BOTH, "fair-placement 8.3", "no idle CPU looks for a task that real-time ones crowd out")
        .until([6, 0, 0])
        .set("misfit_reduced=off"),
    releases(
        V61,
        "fair-placement 8.3",
        "within a cache only a CPU that the sleeper leaves is handed a wakeup",
    )
    .until([6, 0, 0])
    .set("ttwu_list=last_cpu"),
    releases(V515, "fair-placement 8.7; eevdf-class 0.4", "RT_PUSH_IPI is off")
        .between([5, 15, 212], [5, 16, 0])
        .set("NO_RT_PUSH_IPI"),
    releases(&["5.15", "6.1-rt"], "fair-placement 8.7", "RT_PUSH_IPI does not interrupt its own CPU")
        .between([5, 15, 202], [5, 16, 0])
        .set("rto_skip_self=on"),
    BELOW_AVERAGE.between([6, 1, 25], [6, 2, 0]),
    BELOW_AVERAGE.since([6, 3, 0]),
    FORK_COUNTS.between([6, 1, 178], [6, 2, 0]),
    ASKS_RECENT.between([6, 1, 42], [6, 2, 0]),
    ASKS_RECENT.since([6, 6, 0]),
    SELF_IPI.between([6, 1, 165], [6, 2, 0]),
    releases(V61_BOTH, "fair-placement 8.7", "schedstat counts affine wakeups to the waker only")
        .between([6, 1, 28], [6, 2, 0])
        .set("affine_count=waker"),
    releases(V61_BOTH, "fair-placement 8.7", "schedstat counts hot tasks as they move")
        .between([6, 1, 129], [6, 2, 0])
        .set("hot_count=moved"),
    releases(V61_BOTH, "fair-placement 8.7", "newly idle CPUs that found nothing soon stop looking")
        .between([6, 1, 149], [6, 1, 160])
        .set("newidle_failure=raised"),
    releases(RT, "machine 0.3, 0.4", "ksoftirqd, a fair task, serves timers")
        .until([5, 16, 0])
        .set("timer_thread=ksoftirqd"),
    releases(&["6.12-rt"], "machine 0.3, 0.4", "ktimers, FIFO 1, serves timers")
        .since([6, 13, 0])
        .set("timer_thread=ktimers"),
    releases(&["6.18-rt"], "machine 0.4", "threads that serve soft interrupts exclude each other")
        .between([6, 17, 0], [6, 18, 0])
        .set("softirq_lock=per_cpu"),
    releases(RT, "fair-placement 8.7", "a newly idle CPU throws dice before it looks for work")
        .between([6, 1, 160], [6, 2, 0])
        .set("NI_RANDOM"),
    releases(RT, "fair-placement 8.7", "an idle CPU without a governor keeps its tick for a period")
        .between([6, 1, 167], [6, 2, 0])
        .set("idle_tick=keep"),
    releases(RT, "fair-placement 8.7", "a push asks again whether its task is the first")
        .between([6, 1, 191], [6, 2, 0])
        .set("push_revalidate=first_pushable"),
    releases(LATE_6_1, "fair-placement 8.7", "RT_PUSH_IPI is on").until([6, 1, 178]).set("RT_PUSH_IPI"),
    releases(LATE_6_1, "fair-placement 8.7", "RT_PUSH_IPI may interrupt its own CPU")
        .until([6, 1, 165])
        .set("rto_skip_self=off"),
    releases(LATE_6_1, "fair-placement 8.7", "the tick of an idle CPU stops at once")
        .until([6, 1, 167])
        .set("idle_tick=drop"),
    releases(LATE_6_1, "fair-placement 8.7", "a push asks only whether its task is still queued")
        .until([6, 1, 191])
        .set("push_revalidate=still_queued"),
    releases(V61_BOTH, "fair-placement 3.2", "the tick ends turns that are longer than sched_latency")
        .between([6, 3, 0], [6, 6, 0])
        .set("slice_cap=latency"),
    releases(V61_BOTH, "deadline-groups B7", "a CPU is called by an interrupt to let its groups go on")
        .since([6, 3, 0])
        .set("bw_unthrottle=ipi"),
    releases(&["6.18", "6.18-rt"], "deadline-groups B7", "a limit freezes a group, and not task by task")
        .between([6, 17, 0], [6, 18, 0])
        .set("bw_throttle=entity"),
    releases(&["6.12.y"], "eevdf-class 0.4", "RT_PUSH_IPI is on")
        .between([6, 12, 0], [6, 12, 96])
        .set("RT_PUSH_IPI"),
    releases(&["6.12.y"], "deadline-groups E1", "RT_PUSH_IPI may interrupt its own CPU")
        .between([6, 12, 0], [6, 12, 75])
        .set("rto_skip_self=off"),
    releases(&["6.12.y"], "deadline-groups A11", "fair tasks that come to an emptied CPU go first")
        .between([6, 12, 83], [6, 12, 103])
        .set("dl_server_wakeup=revised_all"),
    releases(&["6.12.y"], "deadline-groups A11", "a fair server that has stopped begins with a new period")
        .until([6, 12, 83])
        .set("dl_server_wakeup=new_period"),
    releases(&["6.12.y"], "deadline-groups A11", "the fair server stops when the last fair task leaves")
        .until([6, 12, 92])
        .set("dl_server_stop=on_empty"),
    releases(V70, "deadline-groups A11", "from April 2026: fair tasks that wake go before real-time ones")
        .until([7, 0, 0])
        .set("dl_server_wakeup=revised_all"),
    releases(&["6.12-rt"], "deadline-groups E1", "RT_PUSH_IPI does not interrupt its own CPU")
        .between([6, 12, 75], [6, 13, 0])
        .set("rto_skip_self=on"),
    releases(&["6.18.y"], "eevdf-class U1", "what this branch got up to April 2026 is partly missing")
        .between([6, 18, 0], [6, 18, 44]),
    releases(&["6.6"], "eevdf-class 0.4, U5", "newly idle CPUs throw dice in late releases of this branch")
        .between([6, 6, 1], [6, 7, 0])
        .set("NI_RANDOM"),
    releases(&["6.6"], "eevdf-class 4.3", "a woken task stays in the cluster of the CPU where it would go")
        .since([6, 7, 0])
        .set("cluster_wake=on"),
    releases(V612, "eevdf-class 3.8, U10", "another weight also scales the distance to the deadline")
        .since([6, 13, 0])
        .set("reweight=place"),
    releases(V612, "eevdf-class 3.5", "a wakeup ends the protection of a SCHED_IDLE task")
        .since([6, 15, 0])
        .set("idle_protection=cancelled"),
    releases(V612, "fair-placement 8.7 [R]", "schedstat counts hot tasks as they move")
        .since([6, 14, 0])
        .set("hot_count=moved"),
    releases(V612, "rt-class 5.4 [R]", "a push asks again whether its task is the first")
        .since([6, 15, 0])
        .set("push_revalidate=first_pushable"),
    releases(V612, "eevdf-class 4.5, U10", "balancing looks at lag").since([6, 14, 0]).set("lb_lag=on"),
    releases(V612, "eevdf-class 4.2", "a waker is alone beside tasks that sleep in its queue")
        .between([6, 13, 0], [6, 14, 0])
        .set("delayed_count=left_out_at_wakeup"),
    releases(V612, "eevdf-class 4.5", "balancing does not count tasks that sleep in their queue")
        .since([6, 14, 0])
        .set("delayed_count=left_out"),
    releases(
        V612,
        "eevdf-class 0.6, U10",
        "slices of 0.7 ms on one CPU, of 2.8 from 8 on (set base_slice_ns)",
    )
    .since([6, 15, 0]),
    releases(V70, "eevdf-class 2.4, U10", "the limit of lag goes by the own slice")
        .until([7, 0, 0])
        .set("lag_limit=own"),
    releases(V70, "eevdf-class 3.4, U10", "protection begins whenever a task becomes the running one")
        .until([7, 0, 0])
        .set("protect_when=set_next"),
    releases(V70, "eevdf-class 5.1, U10", "a build for voluntary preemption")
        .until([7, 0, 0])
        .set("preempt_model=voluntary"),
    releases(
        &["7.1"],
        "eevdf-class 0.3",
        "all fair tasks of a CPU, of whatever group, stand in one queue, with weights that contain those of \
         their groups, which count once for each CPU that a group keeps busy (cgroup_mode concur; without groups \
         it makes no difference)",
    )
    .since([7, 3, 0]),
    releases(
        BEFORE_PELT,
        "fair-placement U8",
        "fair tasks are placed and balanced by load that is tracked over time (PELT), here by what is runnable \
         at the moment",
    )
    .between([3, 8, 0], [4, 2, 0]),
    releases(&["3.3"], "deadline-groups 0.2", "there is SCHED_DEADLINE, which is refused here")
        .since([3, 14, 0]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::NamedKernel;
    use scheduler::registry::{BwExpire, Config, DlServerStop, DlServerWakeup, Feature, Profile};

    /// Each difference is one: the profile has not got that setting already.
    #[test]
    fn every_setting_changes_its_profiles() {
        for difference in DIFFERENCES {
            for name in difference.profiles {
                assert!(Profile::find(name).is_some(), "{name}");
                let Some(setting) = difference.setting else { continue };
                let [before, after] = [(); 2].map(|()| Config::of_profile(name).expect("a profile"));
                assert_eq!(after.set(setting), Ok(()), "{setting}");
                assert_ne!(format!("{before:?}"), format!("{after:?}"), "{name} has {setting} already");
            }
        }
    }

    /// A release as its profile and what is known to differ make it.
    fn config_of(text: &str) -> Config {
        let named = NamedKernel::find(text).expect("a release");
        let config = Config::of_profile(named.profile).expect("a profile");
        named.differences().filter_map(|d| d.setting).for_each(|s| config.set(s).expect("legal"));
        config
    }

    /// deadline-groups B7, rule 7: what a queue has drawn seldom expired up to 4.17, and never from 5.4 on.
    #[test]
    fn quotas_expire_from_4_18_to_5_3() {
        let expires = |text| config_of(text).rules.bw_expire.get() == BwExpire::On;
        for release in ["4.18", "4.19", "4.20", "5.0", "5.3"] {
            assert!(expires(release), "{release}");
        }
        for release in ["4.4", "4.14", "4.17", "ubuntu18.04", "5.4", "5.10", "6.1"] {
            assert!(!expires(release), "{release}");
        }
    }

    /// deadline-groups A11: what the stable releases of 6.12 made of the fair server.
    #[test]
    fn the_fair_server_of_6_12_changed_with_its_releases() {
        use DlServerStop::{Lazy, OnEmpty};
        use DlServerWakeup::{NewPeriod, RevisedAll, RevisedRunning};
        for (release, wakeup, stop) in [
            ("6.12", NewPeriod, OnEmpty),
            ("6.12.82", NewPeriod, OnEmpty),
            ("6.12.83", RevisedAll, OnEmpty),
            ("6.12.92", RevisedAll, Lazy),
            ("6.12.102", RevisedAll, Lazy),
            ("6.12.103", RevisedRunning, Lazy),
        ] {
            let rules = &config_of(release).rules;
            assert_eq!(
                (rules.dl_server_wakeup.get(), rules.dl_server_stop.get()),
                (wakeup, stop),
                "{release}"
            );
        }
    }

    /// Fair-placement 8.7, eevdf-class 0.4: RT_PUSH_IPI was on until the stable releases of 2026, branch by
    /// branch.
    #[test]
    fn rt_push_ipi_went_off_branch_by_branch() {
        let on = |text: &str| config_of(text).has(Feature::RtPushIpi);
        for release in ["4.2", "4.4", "4.19", "5.15.211", "6.1.50", "6.1.177", "6.8", "6.12.95", "6.18"] {
            assert!(on(release), "{release}");
        }
        for release in ["5.15.212", "6.1.178", "6.1.0-56-amd64", "6.12.96", "7.0"] {
            assert!(!on(release), "{release}");
        }
    }
}
