//! Kernels with load tracking (PELT) and CFS, the newest first; each as differences to the one after it
//! (fair-placement 8).

use super::{FAIR_BASE, Profile};

pub(super) const PROFILES: &[Profile] = &[
    Profile {
        name: FAIR_BASE,
        meaning: "The settings of the fair class that all profiles from 2.6.31 on share; no kernel, but a \
                  base for the others.",
        source: "fair-class 9; deadline-groups 0.2",
        base: None,
        settings: &[
            "FAIR_SLEEPERS",
            "GENTLE_FAIR_SLEEPERS",
            "START_DEBIT",
            "WAKEUP_PREEMPT",
            "ASYM_GRAN",
            "LAST_BUDDY",
            "CACHE_HOT_BUDDY",
            "bw_throttle=entity",
            "bw_unthrottle=inline",
        ],
    },
    Profile {
        name: "6.1.y",
        meaning: "Linux 6.1.192, the stable branch of 6.1, without PREEMPT_RT: CFS with load tracking \
                  (PELT), RT balancing by pull; built with PREEMPT_DYNAMIC and started with voluntary \
                  preemption, hence double_lock=fair.",
        source: "fair-placement 1 to 5, 8.1, 8.7; rt-class 0.3, 0.4, 5.6; fair-class 7.7; machine.md 0.4",
        base: Some(FAIR_BASE),
        settings: &[
            "BASE_SLICE",
            "TTWU_QUEUE",
            "NO_RT_PUSH_IPI",
            "UTIL_EST",
            "UTIL_EST_FASTUP",
            "ATTACH_AGE_LOAD",
            "NONTASK_CAPACITY",
            "WA_IDLE",
            "WA_WEIGHT",
            "WA_BIAS",
            "SIS_UTIL",
            "NI_RANDOM",
        ],
    },
    Profile {
        name: "6.1",
        meaning: "Linux 6.1 as released, without PREEMPT_RT: RT_PUSH_IPI is on, newly idle CPUs throw \
                  no dice before they look for work, the tick of an idle CPU stops at once.",
        source: "fair-placement 8.1, 8.7",
        base: Some("6.1.y"),
        settings: &[
            "NO_NI_RANDOM",
            "idle_tick=drop",
            "recent_used=overwritten",
            "lb_average=wraps",
            "hot_count=tested",
            "uclamp=margin",
            "affine_count=idle",
            "fork_counts=all",
            "RT_PUSH_IPI",
            "rto_skip_self=off",
            "push_revalidate=still_queued",
        ],
    },
    Profile {
        name: "6.1-rt",
        meaning: "Linux 6.1 as released, with the -rt patches and PREEMPT_RT: interrupts of devices, soft \
                  interrupts and the timers of fair tasks in threads, ktimers among them; remote wakeups take the remote lock, \
                  balancing looks at eight tasks; spinlocks sleep. Its times are assumed: none was compared \
                  with a real kernel.",
        source: "rt-class 0.3, 0.4; fair-placement 8.1; machine.md 0.4, 1.3, 1.5 to 1.8, 1.10 to 1.12",
        base: Some("6.1"),
        settings: &[
            "NO_TTWU_QUEUE",
            "preempt_model=full",
            "sched_nr_migrate=8",
            "kernel_locks=sleeping",
            "PREEMPT_LAZY",
            "irq_threads=forced",
            "hrtimer_context=by_policy",
            "softirq_where=task",
            "softirq_lock=per_cpu",
            "timer_thread=ktimers",
        ],
    },
    Profile {
        name: "5.15",
        meaning: "Linux 5.15 as released, without PREEMPT_RT: how far a wakeup looks for an idle CPU goes \
                  by how long CPUs idle, a newly idle CPU looks for work if it idles for \
                  sched_migration_cost.",
        source: "fair-placement 8.1, 8.2, 8.5",
        base: Some("6.1"),
        settings: &[
            "SIS_PROP",
            "NO_SIS_UTIL",
            "pelt_lag=off",
            "misfit_reduced=off",
            "asym_packing=by_priority",
            "numa_imbalance=quarter",
            "newidle_gate=migration_cost",
            "nohz_balance=behind",
            "ttwu_list=last_cpu",
            "cluster_level=off",
            "bound_kthread=any",
            "idle_short_sleeper=off",
            "idle_least_slice=equal",
            "energy_aware=sixteenth",
            "detach_scale=halves_load",
        ],
    },
    Profile {
        name: "5.10",
        meaning: "Linux 5.10 as released, without PREEMPT_RT, built for voluntary preemption, hence \
                  double_lock=trylock: an older search for an idle CPU, slices that may be shorter than \
                  min_granularity, waiters of a PI mutex sleep.",
        source: "fair-placement 8.1, 8.2, 8.5",
        base: Some("5.15"),
        settings: &[
            "NO_BASE_SLICE",
            "wake_placement=idle_near_or_load",
            "recent_used=waker",
            "idle_sibling=core_cpu_thread",
            "lb_active=any_failure",
            "numa_imbalance=pair",
            "nohz_balance=ascending",
            "pick_any=first",
            "rtmutex_spin=never",
            "double_lock=trylock",
        ],
    },
    Profile {
        name: "5.4",
        meaning: "Linux 5.4, without PREEMPT_RT: groups of CPUs are compared by load and by whether their \
                  tasks have room, a new task goes by load, a waker waits for a sleeper that is still \
                  leaving its CPU.",
        source: "fair-placement 8.1, 8.2, 8.5",
        base: Some("5.10"),
        settings: &[
            "NO_UTIL_EST_FASTUP",
            "RT_RUNTIME_SHARE",
            "balance_load=queued",
            "bound_kthread=off",
            "sched_idle_cpu=last_resort",
            "fork_balance=spare_time",
            "lb=group_room",
            "lb_params=by_span_slow",
            "detach_scale=half",
            "smt_hot=on",
            "unequal_cpus=ignored",
            "rt_fit=ignored",
            "numa_imbalance=off",
            "ttwu_list=other_cache",
            "wake_on_cpu=spin",
            "renice=by_direction",
            "affinity_cpu=first",
        ],
    },
    Profile {
        name: "4.19",
        meaning: "Linux 4.19, without PREEMPT_RT: balancing leans against moving, by averages of the CPUs' \
                  loads; CPUs that run only SCHED_IDLE tasks are busy.",
        source: "fair-placement 8.1, 8.2, 8.5",
        base: Some("5.4"),
        settings: &[
            "LB_BIAS",
            "sched_idle_cpu=off",
            "scan_counts=all",
            "bw_expire=on",
            "uclamp=off",
            "energy_aware=off",
        ],
    },
    Profile {
        name: "4.4",
        meaning: "Linux 4.4, without PREEMPT_RT: a woken task goes by the loads of two CPUs, then to a core \
                  that idles; a new one goes by load; balancing takes who was queued last; RT_PUSH_IPI with \
                  one walker for each lowering CPU.",
        source: "fair-placement 8.1, 8.2, 8.5; deadline-groups A5 to A7, B7",
        base: Some("4.19"),
        settings: &[
            "NO_UTIL_EST",
            "NO_SIS_PROP",
            "NO_WA_IDLE",
            "NO_WA_WEIGHT",
            "NO_WA_BIAS",
            "new_task_util=full",
            "cpu_capacity=windows",
            "wake_placement=load_only",
            "recent_used=off",
            "idle_sibling=idle_group",
            "fork_balance=group_load",
            "lb=group_room_newest",
            "nohz_balance=balance_only",
            "asym_packing=off",
            "floor_order=without_task",
            "blocked_floor=held",
            "renice=same_stint",
            "push_ipi_walker=per_source",
            "deboost_order=wake_then_deboost",
            "group_shares=avg",
            "bw_expire=off",
            "dl_wakeup=cbs",
            "dl_grub=off",
            "dl_bw_release=immediate",
        ],
    },
];
