//! The columns of the specification's tables of kernels, each against its profile.

use crate::registry::{Config, Feature};
use alloc::vec::Vec;

/// What a profile says of a rule, or of a feature: on or off.
fn said(profile: &str, name: &str) -> &'static str {
    let config = Config::of_profile(profile).expect("a profile");
    if let Some(feature) = Feature::ALL.iter().find(|feature| feature.name() == name) {
        return if config.has(*feature) { "on" } else { "off" };
    }
    config.rules.iter().find(|rule| rule.rule == name).expect(name).value
}

/// The rows of a table: a name, and a word for each column.
fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    table.lines().map(|line| {
        let mut words = line.split_whitespace();
        (words.next().expect("a name"), words.collect())
    })
}

/// For each column, the first one that says the same.
fn alike(words: &[&str]) -> Vec<usize> {
    words.iter().map(|word| words.iter().position(|w| w == word).unwrap_or_default()).collect()
}

/// fair-placement 8.1. Where its words are not those of the rules here (`v417`), the columns of one word have
/// one value, and no others have it; on and off are what they say.
#[test]
fn cfs_kernels_are_the_columns_of_fair_placement_8_1() {
    const KERNELS: [&str; 6] = ["4.4", "4.19", "5.4", "5.10", "5.15", "6.1"];
    const TABLE: &str = "\
GENTLE_FAIR_SLEEPERS on on on on on on
START_DEBIT on on on on on on
LAST_BUDDY on on on on on on
CACHE_HOT_BUDDY on on on on on on
NEXT_BUDDY off off off off off off
HRTICK off off off off off off
LB_BIAS on on off off off off
NONTASK_CAPACITY on on on on on on
ATTACH_AGE_LOAD on on on on on on
TTWU_QUEUE on on on on on on
SIS_AVG_CPU off off off off off off
SIS_PROP off on on on on off
SIS_UTIL off off off off off on
WA_IDLE off on on on on on
WA_WEIGHT off on on on on on
WA_BIAS off on on on on on
UTIL_EST off on on on on on
UTIL_EST_FASTUP off off off on on on
BASE_SLICE off off off off on on
NI_RANDOM off off off off off off
RT_PUSH_IPI on on on on on on
RT_RUNTIME_SHARE on on on off off off
load_tracking pelt pelt pelt pelt pelt pelt
new_task_util full half half half half half
balance_load runnable runnable runnable all all all
pelt_lag off off off off off on
cpu_capacity average pelt pelt pelt pelt pelt
wake_placement v44 v417 v417 v417 v61 v61
wake_wide on on on on on on
recent_used off waker waker waker overwritten overwritten
idle_sibling v44 v49 v49 v49 v61 v61
bound_kthread off off off any any task
sched_idle_cpu off off v54 v57 v57 v57
fork_balance load spare spare types types types
lb v44 v419 v419 types types types
lb_params v44 v44 v44 v510 v510 v510
lb_active any_failure any_failure any_failure any_failure task_only task_only
detach_scale half half half load_shift load_shift shift
smt_hot hot hot hot cold cold cold
misfit_reduced off off off off off on
numa_imbalance off off off min2 quarter channels
newidle_gate migration_cost migration_cost migration_cost migration_cost migration_cost cost
nohz_balance v44 v417 v417 v417 v513 v516
ttwu_list cache cache cache v58 v58 v60
wake_on_cpu spin spin spin list list list
floor_order without_task with_task with_task with_task with_task with_task
blocked_floor held released released released released released
idle_batch_preempts on on on on on on
idle_never_hot on on on on on on
idle_short_sleeper off off off off off on
idle_least_slice equal equal equal equal equal short
renice same_stint by_direction by_direction compares compares compares
affinity_cpu first first first distribute distribute distribute
affinity_stint new new new new new new
skew_tick off off off off off off
pick_any first first first first distribute distribute
push_ipi_walker per_source root_domain root_domain root_domain root_domain root_domain
rto_skip_self off off off off off off
deboost_order before after after after after after
rtmutex_spin no no no no yes yes
lock_kind queued queued queued queued queued queued";
    for (name, words) in rows(TABLE) {
        let ours = KERNELS.map(|kernel| said(kernel, name));
        assert_eq!(alike(&ours), alike(&words), "{name}: {ours:?}");
        let switches = words.iter().all(|word| ["on", "off"].contains(word));
        assert!(!switches || ours.as_slice() == words, "{name}: {ours:?}");
    }
}

/// eevdf-class 0.3, of which 0.5 has the words. Its row `newidle` is three switches here.
#[test]
fn eevdf_kernels_are_the_columns_of_eevdf_class_0_3() {
    const KERNELS: [&str; 7] = ["6.6", "6.12", "6.12.y", "6.18", "6.18.y", "7.0", "7.1"];
    const TABLE: &str = "\
v_ref min min zero min zero zero zero
lag_limit own own own own longest longest longest
protection deadline deadline deadline shortest shortest shortest shortest
protect_when set_next set_next set_next set_next pick pick pick
tick_end deadline or_lost or_lost unprotected unprotected unprotected unprotected
short_wakeup none cancel cancel pick pick pick pick
trim never never never short short always always
wake_buddy every every every every every deadline deadline
fork_preempts yes yes yes yes yes no no
idle_protection kept kept cancelled cancelled cancelled cancelled cancelled
yield_form deadline deadline forfeit deadline forfeit forfeit forfeit
reweight keep about_v about_v place rescale place rescale
lb_lag off off off on on on on
HRTICK off off off off off off on
NI_RANDOM off off on off on on on
NI_RATE off off off off off off on
newidle_failure time_taken time_taken time_taken raised time_taken time_taken time_taken";
    for (name, words) in rows(TABLE) {
        assert_eq!(KERNELS.map(|kernel| said(kernel, name)).as_slice(), words, "{name}");
    }
    let slices = KERNELS.map(|kernel| {
        let config = Config::of_profile(kernel).expect("a profile");
        config.tunables.base_slice_ns.get()
    });
    assert_eq!(slices, [750_000, 750_000, 700_000, 700_000, 700_000, 700_000, 700_000]);
    let delay_lag = KERNELS[1..].iter().map(|kernel| said(kernel, "delay_lag"));
    assert_eq!(delay_lag.collect::<Vec<_>>(), ["clip", "clip", "clip", "clip", "clip", "monotonic"]);
}
