//! Rules: choices between historical behaviours that no kernel could switch at run time (rt-class 0.3,
//! fair-class 0.3, eevdf-class 0.5). The first value of each is that of the profile 6.1.y; of what only EEVDF
//! asks, that of 6.18.y.
//!
//! A rule stands in the file of who asks: in `real_time` and `deadline`; of the fair class in `cfs`, `eevdf`,
//! `select`, `pelt` and `balance`, as in `fair/`; in `kernel` what serves all classes. The table below has
//! them in the order in which they are listed.

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

/// A block for each rule: type, name, question, source, then the values.
macro_rules! rules {
    ($($rule:ident $name:ident $meaning:literal $source:literal {
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
                pub(super) const FIRST: $rule = $rule::$first;

                pub(super) const INFO: super::RuleInfo = super::RuleInfo {
                    name: stringify!($name),
                    meaning: $meaning,
                    source: $source,
                    values: &[
                        super::RuleValue { name: $first_name, meaning: $first_meaning },
                        $(super::RuleValue { name: $value_name, meaning: $value_meaning },)+
                    ],
                };

                pub(super) fn parse(text: &str) -> Option<$rule> {
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
    };
}

mod balance;
mod cfs;
mod deadline;
mod eevdf;
mod group;
mod kernel;
mod pelt;
mod real_time;
mod select;

pub use balance::*;
pub use cfs::*;
pub use deadline::*;
pub use eevdf::*;
pub use group::*;
pub use kernel::*;
pub use pelt::*;
pub use real_time::*;
pub use select::*;

/// The name of each rule and its type.
macro_rules! table {
    ($($field:ident: $rule:ident,)+) => {
        /// The value of every rule, readable and writable while the machine runs.
        #[derive(Clone, Debug)]
        pub struct Rules {
            $(#[doc = concat!("[`", stringify!($rule), "`]")] pub $field: Cell<$rule>,)+
        }

        impl Default for Rules {
            fn default() -> Rules {
                Rules { $($field: Cell::new($rule::FIRST),)+ }
            }
        }

        /// Every rule with its values.
        pub const RULES: &[RuleInfo] = &[$($rule::INFO,)+];

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

table! {
    overload_rule: OverloadRule,
    search: Search,
    cpupri_top: CpupriTop,
    topology: Topology,
    pick_any: PickAny,
    wake_route: WakeRoute,
    wake_verify_target: WakeVerifyTarget,
    wake_lock: WakeLock,
    equal_prio_check: EqualPrioCheck,
    rt_balance: RtBalance,
    push_source: PushSource,
    pull_source: PullSource,
    next_def: NextDef,
    push_fail: PushFail,
    post_push: PostPush,
    pull_filter: PullFilter,
    push_ipi_walker: PushIpiWalker,
    rto_skip_self: RtoSkipSelf,
    push_ipi_bail: PushIpiBail,
    double_lock: DoubleLock,
    rtmutex_spin: RtmutexSpin,
    mutex_spin: MutexSpin,
    deboost_order: DeboostOrder,
    deboost_place: DeboostPlace,
    setscheduler_place: SetschedulerPlace,
    push_revalidate: PushRevalidate,
    lock_kind: LockKind,
    renice: Renice,
    preempt_model: PreemptModel,
    kernel_locks: KernelLocks,
    floor_order: FloorOrder,
    blocked_floor: BlockedFloor,
    idle_batch_preempts: IdleBatchPreempts,
    idle_never_hot: IdleNeverHot,
    idle_short_sleeper: IdleShortSleeper,
    idle_least_slice: IdleLeastSlice,
    slice_cap: SliceCap,
    yield_mode: YieldMode,
    fork_path: ForkPath,
    pick_mode: PickMode,
    next_set: NextSet,
    last_set: LastSet,
    buddy_gate: BuddyGate,
    tick_latency_check: TickLatencyCheck,
    hot_buddy_dst_busy: HotBuddyDstBusy,
    tick_check: TickCheck,
    skew_tick: SkewTick,
    irq_accounting: IrqAccounting,
    irq_threads: IrqThreads,
    hrtimer_context: HrtimerContext,
    timer_slack: TimerSlack,
    softirq_where: SoftirqWhere,
    timer_thread: TimerThread,
    softirq_lock: SoftirqLock,
    tick_vrt_cmp: TickVrtCmp,
    tick_cmp_unsigned: TickCmpUnsigned,
    idle_sibling: IdleSibling,
    overlap_check: OverlapCheck,
    wake_placement: WakePlacement,
    newidle_stop: NewIdleStop,
    rt_load_weight: RtLoadWeight,
    load_balance_amount: LoadBalanceAmount,
    load_tracking: LoadTracking,
    balance_load: BalanceLoad,
    smt_hot: SmtHot,
    new_task_util: NewTaskUtil,
    pelt_lag: PeltLag,
    cpu_capacity: CpuCapacity,
    unequal_cpus: UnequalCpus,
    governor: Governor,
    freq_margin: FreqMargin,
    energy_aware: EnergyAware,
    uclamp: Uclamp,
    wake_wide: WakeWide,
    recent_used: RecentUsed,
    cluster_level: ClusterLevel,
    cluster_wake: ClusterWake,
    bound_kthread: BoundKthread,
    sched_idle_cpu: SchedIdleCpu,
    affine_count: AffineCount,
    fork_balance: ForkBalance,
    fork_counts: ForkCounts,
    scan_counts: ScanCounts,
    lb: Lb,
    lb_average: LbAverage,
    hot_count: HotCount,
    newidle_gate: NewIdleGate,
    idle_tick: IdleTick,
    misfit_reduced: MisfitReduced,
    asym_packing: AsymPacking,
    lb_active: LbActive,
    detach_scale: DetachScale,
    nohz_balance: NohzBalance,
    lb_params: LbParams,
    smt_balance: SmtBalance,
    newidle_failure: NewIdleFailure,
    numa_imbalance: NumaImbalance,
    ttwu_list: TtwuList,
    wake_on_cpu: WakeOnCpu,
    hrtick_for: HrtickFor,
    fair_policy: FairPolicy,
    v_ref: VRef,
    lag_limit: LagLimit,
    protection: Protection,
    protect_when: ProtectWhen,
    tick_end: TickEnd,
    short_wakeup: ShortWakeup,
    trim: Trim,
    wake_buddy: WakeBuddy,
    fork_preempts: ForkPreempts,
    idle_protection: IdleProtection,
    clock_read: ClockRead,
    affinity_stint: AffinityStint,
    affinity_cpu: AffinityCpu,
    stopper: StopperForm,
    custom_slice: CustomSlice,
    yield_form: YieldForm,
    reweight: Reweight,
    delay_lag: DelayLag,
    lb_lag: LbLag,
    group_shares: GroupShares,
    bw_expire: BwExpire,
    bw_throttle: BwThrottle,
    bw_unthrottle: BwUnthrottle,
    delayed_count: DelayedCount,
    dl_class: DlClass,
    dl_wakeup: DlWakeup,
    dl_overload: DlOverload,
    dl_grub: DlGrub,
    dl_bw_release: DlBwRelease,
    dl_server: DlServer,
    dl_server_stop: DlServerStop,
    dl_server_wakeup: DlServerWakeup,
    rt_fit: RtFit,
    rt_throttle: RtThrottle,
    throttled_count: ThrottledCount,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_calls_every_rule_by_its_name() {
        let rules = Rules::default();
        let named: alloc::vec::Vec<_> = rules.iter().map(|setting| setting.rule).collect();
        assert_eq!(named, RULES.iter().map(|rule| rule.name).collect::<alloc::vec::Vec<_>>());
    }
}
