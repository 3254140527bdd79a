//! Kernel profiles: named sets of settings (rt-class 0.4, fair-class 0.4). Each builds on an older entry or
//! on the defaults, so a document's before and after differ in one line.

mod cfs;
#[cfg(test)]
mod columns;
mod eevdf;
mod old;

use super::{Config, SettingError};

/// A named kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// As after `--kernel`.
    pub name: &'static str,
    /// In one sentence.
    pub meaning: &'static str,
    /// Where its settings come from.
    pub source: &'static str,
    /// The profile whose settings come first.
    pub base: Option<&'static str>,
    /// What it changes, in order.
    pub settings: &'static [&'static str],
}

impl Profile {
    /// The profile of this name.
    pub fn find(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|p| p.name == name)
    }

    /// Whether it describes a kernel, and is not only a base for others.
    pub fn is_kernel(&self) -> bool {
        self.name != FAIR_BASE && self.name != PLACEMENT_BASE
    }

    /// Whether it is that profile, or changes it directly or through others: an older kernel than that.
    pub fn builds_on(&self, name: &str) -> bool {
        self.name == name || self.base.and_then(Profile::find).is_some_and(|base| base.builds_on(name))
    }

    /// Applies the settings of the bases, then its own.
    ///
    /// # Errors
    /// None for the profiles of [`PROFILES`]: a test applies each.
    pub fn apply(&self, config: &Config) -> Result<(), SettingError> {
        if let Some(base) = self.base.and_then(Profile::find) {
            base.apply(config)?;
        }
        self.settings.iter().try_for_each(|s| config.build_in(s))
    }
}

/// What all profiles from 2.6.31 on share; of the later kernels not all have these switches.
const FAIR_BASE: &str = "fair-base";
/// The same with the placement of the old kernels.
const PLACEMENT_BASE: &str = "fair-base-2.6.36";

/// Every profile.
pub const PROFILES: &[Profile] = &all();

const PARTS: [&[Profile]; 3] = [cfs::PROFILES, eevdf::PROFILES, old::PROFILES];

const fn all() -> [Profile; PARTS[0].len() + PARTS[1].len() + PARTS[2].len()] {
    let mut all = [PARTS[0][0]; PARTS[0].len() + PARTS[1].len() + PARTS[2].len()];
    let (mut part, mut at, mut next) = (0, 0, 0);
    while part < PARTS.len() {
        if at == PARTS[part].len() {
            (part, at) = (part + 1, 0);
            continue;
        }
        all[next] = PARTS[part][at];
        (at, next) = (at + 1, next + 1);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{DoubleLock, Feature, PreemptModel, RtmutexSpin};
    use alloc::format;
    use alloc::vec::Vec;

    #[test]
    fn every_profile_applies() {
        for profile in PROFILES {
            assert!(profile.base.is_none_or(|b| Profile::find(b).is_some()), "{}", profile.name);
            assert_eq!(profile.apply(&Config::default()), Ok(()), "{}", profile.name);
        }
    }

    /// The switches of table 0.3 as a profile sets them.
    fn rt_switches(config: &Config) -> Vec<(&'static str, &'static str)> {
        const FEATURES: [Feature; 3] = [Feature::RtPushIpi, Feature::TtwuQueue, Feature::RtRuntimeShare];
        const RULES: &str = "overload_rule search topology pick_any wake_route wake_verify_target \
                             equal_prio_check push_source pull_source next_def push_fail post_push pull_filter \
                             push_ipi_walker rto_skip_self deboost_order deboost_place";
        let rules = config.rules.iter().filter(|s| RULES.split(' ').any(|name| name == s.rule));
        let rules: Vec<_> = rules.map(|s| (s.rule, s.value)).collect();
        assert_eq!(rules.len(), RULES.split(' ').count());
        let feature = |f: &Feature| (f.name(), if config.has(*f) { "on" } else { "off" });
        rules.into_iter().chain(FEATURES.iter().map(feature)).collect()
    }

    /// rt-class 0.4, row by row: each says what differs from 6.1.y. Which double_lock, see 5.6.
    #[test]
    fn presets_are_those_of_rt_class_0_4() {
        // What a kernel has not got yet, its row leaves out: the choice among equals (4.5), verification
        // (3.3), next (1.5).
        const NOT_YET: &str = "pick_any=first wake_verify_target=off next_def=second_best";
        const RT5: &str = "overload_rule=depth search=linear topology=off wake_route=cfs_load \
                           equal_prio_check=off push_source=queue_scan pull_source=queue_scan push_fail=retry3 \
                           post_push=tail_relock pull_filter=none balance_mode=pull deboost_order=wake_then_deboost \
                           deboost_place=tail NO_TTWU_QUEUE";
        const V36: &str = "search=cpupri_locked pick_any=first wake_route=any_rt wake_verify_target=off \
                           equal_prio_check=newcomer_first pull_source=queue_scan next_def=second_best \
                           push_fail=drop_and_continue post_push=tail_relock balance_mode=pull \
                           deboost_order=wake_then_deboost RT_RUNTIME_SHARE NO_TTWU_QUEUE";
        const V40: &str = "pick_any=first wake_verify_target=off balance_mode=pull post_push=tail_relock \
                           deboost_order=wake_then_deboost RT_RUNTIME_SHARE";
        const GH: &str = "overload_rule=migratory search=cpupri_gap topology=on wake_route=not_preempting";
        let rows: &[(&str, &[&str])] = &[
            ("2.6.23-rt5", &[RT5, NOT_YET]),
            ("2.6.23-rt5-gh", &[RT5, NOT_YET, GH]),
            ("2.6.36", &[V36]),
            ("2.6.36+S0", &[V36, "wake_route=strictly_higher"]),
            ("2.6.37", &[V36, "wake_route=higher_or_pinned"]),
            ("3.3", &[V40, "pull_source=queue_scan"]),
            ("4.0", &[V40]),
            ("4.1", &[V40, "wake_verify_target=on balance_mode=ipi_per_source"]),
            // fair-placement 8.1.
            (
                "4.4",
                &["balance_mode=ipi_per_source rto_skip_self=off pick_any=first \
                     deboost_order=wake_then_deboost RT_RUNTIME_SHARE"],
            ),
            ("6.1.y", &["balance_mode=pull"]),
            ("6.1", &["balance_mode=ipi_root_domain rto_skip_self=off"]),
            ("6.1-rt", &["balance_mode=ipi_root_domain rto_skip_self=off NO_TTWU_QUEUE"]),
        ];
        for (profile, settings) in rows {
            let expected = Config::default();
            // The defaults of 0.3 that are features.
            assert_eq!(expected.set("TTWU_QUEUE"), Ok(()));
            for setting in settings.iter().flat_map(|s| s.split_whitespace()) {
                assert_eq!(expected.set(setting), Ok(()), "{profile}");
            }
            let config = Config::of_profile(profile).expect("a profile");
            assert_eq!(rt_switches(&config), rt_switches(&expected), "{profile}");
        }
    }

    /// fair-placement 8.1: what the column of 4.4 says, as 8.6 names it, is what the profile has already.
    #[test]
    fn the_profile_4_4_is_the_column_of_fair_placement_8_1() {
        const TUNABLES: &str = "sched_latency_ns=6000000 sched_min_granularity_ns=750000 \
                                sched_wakeup_granularity_ns=1000000 sched_nr_latency=8 \
                                sched_migration_cost_ns=500000 sched_nr_migrate=32 sched_child_runs_first=0 \
                                sched_tunable_scaling=1 sched_rr_timeslice_ms=100 sched_rt_period_us=1000000 \
                                sched_rt_runtime_us=950000";
        const FEATURES: &str = "GENTLE_FAIR_SLEEPERS START_DEBIT LAST_BUDDY CACHE_HOT_BUDDY WAKEUP_PREEMPT \
                                NO_NEXT_BUDDY NO_HRTICK LB_BIAS ATTACH_AGE_LOAD TTWU_QUEUE NO_SIS_AVG_CPU \
                                NO_SIS_PROP NO_SIS_UTIL NO_WA_IDLE NO_WA_WEIGHT NO_WA_BIAS NO_UTIL_EST \
                                NO_UTIL_EST_FASTUP NO_BASE_SLICE NO_NI_RANDOM RT_PUSH_IPI RT_RUNTIME_SHARE";
        const FAIR: &str = "load_tracking=pelt new_task_util=full balance_load=queued pelt_lag=off \
                            cpu_capacity=windows wake_placement=load_only wake_wide=on recent_used=off \
                            idle_sibling=idle_group bound_kthread=off sched_idle_cpu=off \
                            fork_balance=group_load lb=group_room_newest lb_params=by_span_slow \
                            lb_active=any_failure detach_scale=half smt_hot=on misfit_reduced=off \
                            numa_imbalance=off newidle_gate=migration_cost nohz_balance=balance_only \
                            ttwu_list=other_cache wake_on_cpu=spin floor_order=without_task \
                            idle_batch_preempts=on idle_never_hot=on idle_short_sleeper=off \
                            pick_mode=next_first next_set=wake_or_preempt yield_mode=skip \
                            last_set=preempt_fair skew_tick=off renice=same_stint";
        const RT: &str = "search=cpupri pick_any=first wake_route=ge_or_pinned wake_verify_target=on \
                          wake_lock=pi_lock equal_prio_check=curr_first push_source=pushable_list \
                          pull_source=pushable_list push_revalidate=still_queued push_fail=stop \
                          post_push=callback_locked push_ipi_walker=per_source \
                          deboost_order=wake_then_deboost rtmutex_spin=never lock_kind=queued \
                          double_lock=trylock preempt_model=voluntary";
        let config = Config::of_profile("4.4").expect("a profile");
        for setting in [TUNABLES, FEATURES, FAIR, RT].iter().flat_map(|column| column.split_whitespace()) {
            let before = format!("{config:?}");
            assert_eq!(config.build_in(setting), Ok(()), "{setting}");
            assert_eq!(format!("{config:?}"), before, "{setting}");
        }
    }

    /// machine.md 0.3: they do since 5.15.
    #[test]
    fn only_waiters_of_5_15_and_newer_kernels_spin() {
        for profile in PROFILES {
            let config = Config::of_profile(profile.name).expect("a profile");
            let spins = config.rules.rtmutex_spin.get() == RtmutexSpin::OwnerOnCpu;
            let expected = !profile.is_kernel() || profile.builds_on("6.1.y") && !profile.builds_on("5.10");
            assert_eq!(spins, expected, "{}", profile.name);
        }
    }

    /// rt-class 5.6: a build that can preempt takes a second lock fairly, whatever table 0.4 leaves out;
    /// before PREEMPT_DYNAMIC such a build also preempted.
    #[test]
    fn double_lock_follows_the_build() {
        for profile in PROFILES.iter().filter(|p| p.is_kernel()) {
            let config = Config::default();
            assert_eq!(profile.apply(&config), Ok(()));
            let dynamic = profile.builds_on("6.1.y") && !profile.builds_on("5.10");
            let can_preempt = dynamic || config.rules.preempt_model.get() == PreemptModel::Full;
            let fair = config.rules.double_lock.get() == DoubleLock::Fair;
            assert_eq!(fair, can_preempt, "{}", profile.name);
        }
    }
}
