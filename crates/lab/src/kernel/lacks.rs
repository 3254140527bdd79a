//! What a kernel has not got: setting it is an error, and not ignored.

use super::named::NamedKernel;
use super::release::Release;
use super::{Change, KernelError};
use scheduler::Nanos;
use scheduler::registry::{
    ALIASES, Belonging, Config, FairPolicy, Feature, Lifetime, RtThrottle, SettingError,
};
use std::slice;

/// The first release with lazy preemption, and the first without the models none and voluntary (eevdf-class
/// 5.1).
const FIRST_LAZY: Release = Release::new(6, 13, 0);
const FIRST_WITHOUT_NONE: Release = Release::new(7, 0, 0);
/// The first release whose model can be chosen at boot and changed in debugfs (eevdf-class 5.1 [R]).
const FIRST_DYNAMIC: Release = Release::new(5, 12, 0);
/// The first release without that sysctl (fair-placement 8.1).
const WITHOUT_COMPAT_YIELD: Release = Release::new(2, 6, 39);
/// The first release that measures the time of interrupts (fair-placement 1.9).
const FIRST_IRQ_ACCOUNTING: Release = Release::new(2, 6, 37);
/// The first release with clamps of utilisation, and with a sysctl for those of real-time tasks
/// (deadline-groups 0.2, B11 [R]).
const FIRST_CLAMPS: Release = Release::new(5, 3, 0);
/// The first release with schedutil (deadline-groups 0.4).
const FIRST_SCHEDUTIL: Release = Release::new(4, 7, 0);
/// RT_GROUP_SCHED, and since when a boot option decides about it (deadline-groups B9 [R]).
const FIRST_RT_GROUPS: Release = Release::new(2, 6, 25);
const FIRST_RT_GROUP_OPTION: Release = Release::new(6, 16, 0);
const FIRST_RT_CLAMP: Release = Release::new(5, 8, 0);

/// Refuses changes of what this kernel, which begins as `config`, has not got.
pub(super) fn check(named: &NamedKernel, changes: &[Change], config: &Config) -> Result<(), KernelError> {
    for change in changes {
        let written = change.setting.as_str();
        let alias = ALIASES.iter().find(|alias| alias.name == written);
        for setting in alias.map_or(slice::from_ref(&written), |alias| alias.settings) {
            let why = no_rate_of_ticks(setting)
                .or_else(|| no_boot_option(written, named))
                .or_else(|| foreign(setting, config))
                .or_else(|| outlived(setting, named, config))
                .or_else(|| model_not_offered(setting, named))
                .or_else(|| model_built_in(setting, change.at, named))
                .or_else(|| measures_no_interrupts(setting, named))
                .or_else(|| came_later(setting, named))
                .or_else(|| went(setting, named));
            if let Some(why) = why {
                let (setting, kernel) = (written.to_owned(), named.asked.clone());
                return Err(SettingError::NotInKernel { setting, kernel, why }.into());
            }
        }
    }
    Ok(())
}

/// Refuses to make a kernel one with groups of real-time tasks, or one without, while it runs: `configs` are
/// those before and after (deadline-groups B9).
pub(super) fn rt_groups_came_later(
    named: &NamedKernel,
    setting: &str,
    configs: [&Config; 2],
) -> Result<(), KernelError> {
    let [before, after] = configs.map(|config| config.rules.rt_throttle.get() == RtThrottle::Groups);
    if before == after {
        return Ok(());
    }
    let why = "a kernel has RT_GROUP_SCHED from its start, or not at all; set it without a time".to_owned();
    let (setting, kernel) = (setting.to_owned(), named.asked.clone());
    Err(SettingError::NotInKernel { setting, kernel, why }.into())
}

/// Why a setting has nothing to do where this discipline serves, if that is so.
fn foreign(setting: &str, config: &Config) -> Option<String> {
    let name = setting.split_once('=').map_or(setting, |(name, _)| name);
    let name = name.strip_prefix("kernel.").unwrap_or(name);
    let feature = name.strip_prefix("NO_").unwrap_or(name).to_uppercase();
    let belonging = Belonging::of(name).or_else(|| Belonging::of(&feature))?;
    let (serves, owner) = match (config.rules.fair_policy.get(), belonging.to) {
        (serves, owner) if serves == owner => return None,
        (FairPolicy::Cfs, _) => ("CFS", "EEVDF"),
        (FairPolicy::Eevdf, _) => ("EEVDF", "CFS"),
    };
    Some(format!("it belongs to {owner} and {}; {serves} serves fair tasks here", belonging.kernels))
}

/// Why a kernel has not got a feature, if that is so: its release lies outside the feature's life. What came
/// later than a release can be switched off if the nearest profile, as which it runs, has it on; and rules
/// can be set in any kernel: who sets another discipline than the kernel's own has a fair class of no
/// release, with all its features.
fn outlived(setting: &str, named: &NamedKernel, config: &Config) -> Option<String> {
    let upper = setting.to_uppercase();
    let name = upper.split_once('=').map_or(upper.as_str(), |(name, _)| name);
    let name = name.strip_prefix("NO_").unwrap_or(name);
    let feature = *Feature::ALL.iter().find(|feature| feature.name() == name)?;
    let lifetime = Lifetime::of(feature)?;
    let profile = Config::of_profile(named.profile).ok()?;
    let is_own_class = profile.rules.fair_policy.get() == config.rules.fair_policy.get();
    let release = named.nearest_release().numbers();
    let came_later = named.is_nearest() && release < lifetime.main[0];
    let keeps = profile.has(feature) && (came_later || lifetime.is_of_patches());
    let has = lifetime.holds(release) || keeps;
    (is_own_class && !has).then(|| format!("it {}", lifetime.kernels))
}

/// Why a kernel has not got a sysctl any more, if that is so (fair-class 3, fair-placement 8.1).
fn went(setting: &str, named: &NamedKernel) -> Option<String> {
    let name = setting.split_once('=').map_or(setting, |(name, _)| name);
    let is_gone = name.strip_prefix("kernel.").unwrap_or(name) == "sched_compat_yield"
        && named.nearest_release() >= WITHOUT_COMPAT_YIELD;
    is_gone.then(|| "it existed until 2.6.38".to_owned())
}

/// Why a kernel cannot have a preemption model, if that is so.
fn model_not_offered(setting: &str, named: &NamedKernel) -> Option<String> {
    let asked = setting.strip_prefix("preempt_model=")?;
    let kernel = Offers::of(named);
    let exists = match asked {
        "none" | "voluntary" if kernel.preempt_rt => "it exists without PREEMPT_RT",
        "none" | "voluntary" if kernel.release >= FIRST_WITHOUT_NONE => "it existed until 6.19",
        "lazy" if kernel.release < FIRST_LAZY => "it exists since 6.13",
        _ => return None,
    };
    let offers = ["none", "voluntary", "full", "lazy"].into_iter().filter(|model| kernel.has(model));
    Some(format!("{exists}; set {}", offers.collect::<Vec<_>>().join(" or ")))
}

/// Why a kernel cannot change its preemption model at this time, if that is so.
fn model_built_in(setting: &str, at: Nanos, named: &NamedKernel) -> Option<String> {
    let changes = at > Nanos::ZERO && setting.starts_with("preempt_model=");
    let is_older = named.nearest_release() < FIRST_DYNAMIC;
    (changes && is_older).then(|| {
        "kernels before 5.12 are built for a model (PREEMPT_DYNAMIC came with that); set it without a time"
            .to_owned()
    })
}

/// Why a kernel cannot leave the time of interrupts out of that of tasks, if that is so.
fn measures_no_interrupts(setting: &str, named: &NamedKernel) -> Option<String> {
    let is_older = named.nearest_release() < FIRST_IRQ_ACCOUNTING;
    (setting == "irq_accounting=on" && is_older).then(|| "it exists since 2.6.37".to_owned())
}

/// Why a kernel has not got a sysctl of clamps of utilisation, schedutil, or groups of real-time tasks, if
/// that is so.
fn came_later(setting: &str, named: &NamedKernel) -> Option<String> {
    let name = setting.split_once('=').map_or(setting, |(name, _)| name);
    let since = match name.strip_prefix("kernel.").unwrap_or(name) {
        "sched_util_clamp_min" | "sched_util_clamp_max" => FIRST_CLAMPS,
        "sched_util_clamp_min_rt_default" => FIRST_RT_CLAMP,
        "schedutil_rate_limit_us" => FIRST_SCHEDUTIL,
        _ if setting == "governor=schedutil" => FIRST_SCHEDUTIL,
        _ if setting == "rt_throttle=groups" => FIRST_RT_GROUPS,
        _ => return None,
    };
    (named.nearest_release() < since).then(|| format!("it exists since {since}"))
}

impl NamedKernel {
    /// Whether one of that release may have been built with groups of real-time tasks.
    pub(crate) fn may_have_rt_groups(&self) -> bool {
        self.nearest_release() >= FIRST_RT_GROUPS
    }
}

/// CONFIG_HZ: what one may choose on x86, and the other rates that some architecture offers.
const RATES: [&str; 4] = ["100", "250", "300", "1000"];
const OTHER_RATES: [&str; 11] = ["24", "32", "48", "64", "128", "200", "256", "500", "512", "1024", "1200"];

/// Why no kernel ticks so often, if none does.
fn no_rate_of_ticks(setting: &str) -> Option<String> {
    let rate = setting.trim_start_matches("kernel.").strip_prefix("hz=")?;
    let is_offered = RATES.iter().chain(&OTHER_RATES).any(|known| *known == rate);
    (!is_offered).then(|| format!("CONFIG_HZ is {}", rates_of_ticks()))
}

/// How often a kernel may tick, as it is built.
pub fn rates_of_ticks() -> String {
    format!("{} or, not on x86, {}", RATES.join(", "), OTHER_RATES.join(", "))
}

/// Why a kernel has not got a boot option, if that is so.
fn no_boot_option(written: &str, named: &NamedKernel) -> Option<String> {
    let is_older = named.nearest_release() < FIRST_RT_GROUP_OPTION;
    let is_option = written.starts_with("rt_group_sched=");
    (is_option && is_older).then(|| format!("it exists since {FIRST_RT_GROUP_OPTION}; say rt_throttle="))
}

/// What decides which preemption models a kernel has.
struct Offers {
    release: Release,
    preempt_rt: bool,
}

impl Offers {
    fn of(named: &NamedKernel) -> Offers {
        Offers { release: named.nearest_release(), preempt_rt: named.profile.contains("-rt") }
    }

    fn has(&self, model: &str) -> bool {
        match model {
            "none" | "voluntary" => !self.preempt_rt && self.release < FIRST_WITHOUT_NONE,
            "lazy" => self.release >= FIRST_LAZY,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::KernelConfig;
    use super::*;

    /// What is said to a setting of a kernel; empty if it is taken.
    fn said(kernel: &str, settings: &[&str]) -> String {
        let mut config = KernelConfig::of_name(kernel).expect("a kernel");
        for setting in settings {
            config.set(Change::parse(setting).expect("a time")).expect("a setting");
        }
        config.at_start().err().map_or(String::new(), |error| error.to_string())
    }

    /// fair-placement 1.9: since 2.6.37.
    #[test]
    fn old_kernels_do_not_measure_interrupts() {
        assert!(said("2.6.36", &["irq_accounting=on"]).contains("since 2.6.37"));
        assert_eq!(said("2.6.36", &["irq_accounting=off"]), "");
        assert_eq!(said("2.6.37", &["irq_accounting=on"]), "");
    }

    /// A model that can be chosen came with PREEMPT_DYNAMIC.
    #[test]
    fn before_5_12_a_kernel_keeps_the_model_that_it_was_built_for() {
        assert!(said("4.19", &["5ms:preempt_model=full"]).contains("PREEMPT_DYNAMIC came with that"));
        assert_eq!(said("4.19", &["preempt_model=full"]), "");
        assert_eq!(said("5.15", &["5ms:preempt_model=full"]), "");
    }

    /// deadline-groups B9.
    #[test]
    fn groups_of_real_time_tasks_are_there_from_the_start() {
        assert_eq!(said("6.18", &["rt_throttle=groups"]), "");
        assert_eq!(said("2.6.31", &["rt_throttle=groups"]), "");
        assert!(said("2.6.24", &["rt_throttle=groups"]).contains("it exists since 2.6.25"));
        for written in ["rt_group_sched=1", "rt_group_sched=0"] {
            assert_eq!(said("6.18", &[written]), "");
            assert!(said("6.12", &[written]).contains("it exists since 6.16; say rt_throttle="));
        }
        assert!(said("6.18", &["1s:rt_throttle=groups"]).contains("from its start, or not at all"));
        assert!(said("6.18", &["rt_group_sched=1", "1s:rt_throttle=off"]).contains("from its start"));
        assert_eq!(said("6.18", &["1s:rt_throttle=root"]), "");
    }

    #[test]
    fn kernels_tick_as_often_as_they_can_be_built_to() {
        for rate in ["100", "250", "300", "1000", "24", "1024"] {
            assert_eq!(said("6.18", &[&format!("hz={rate}")]), "", "{rate}");
        }
        assert_eq!(
            said("6.18", &["hz=77"]),
            "`hz=77` is not in 6.18: CONFIG_HZ is 100, 250, 300, 1000 or, not on x86, 24, 32, 48, 64, 128, 200, \
             256, 500, 512, 1024, 1200"
        );
        assert!(!said("2.6.36", &["kernel.hz=10000"]).is_empty());
    }

    /// deadline-groups B11.
    #[test]
    fn clamps_came_with_5_3_and_schedutil_with_4_7() {
        assert!(said("4.19", &["sched_util_clamp_min=20"]).contains("it exists since 5.3"));
        assert!(said("5.4", &["kernel.sched_util_clamp_min_rt_default=0"]).contains("since 5.8"));
        assert_eq!(said("5.4", &["sched_util_clamp_max=512"]), "");
        assert!(said("4.4", &["governor=schedutil"]).contains("since 4.7"));
        assert_eq!(said("4.19", &["governor=schedutil", "schedutil_rate_limit_us=500"]), "");
    }

    /// eevdf-class 0.3 and 5.1, deadline-groups 0.2: none, voluntary and full; lazy from 6.13; from 7.0 only
    /// full and lazy.
    #[test]
    fn each_kernel_offers_its_preemption_models() {
        for (kernel, offered) in [
            ("2.6.36", "none voluntary full"),
            ("tip+", "none voluntary full"),
            ("6.1", "none voluntary full"),
            ("6.12.y", "none voluntary full"),
            ("6.13", "none voluntary full lazy"),
            ("6.18.y", "none voluntary full lazy"),
            ("6.19", "none voluntary full lazy"),
            ("7.0", "full lazy"),
            ("7.3", "full lazy"),
            ("6.1-rt", "full"),
            ("6.12-rt", "full"),
            ("6.18-rt", "full lazy"),
            ("2.6.23-rt5", "full"),
        ] {
            for model in ["none", "voluntary", "full", "lazy"] {
                let said = said(kernel, &[&format!("preempt_model={model}")]);
                assert_eq!(
                    said.is_empty(),
                    offered.split(' ').any(|m| m == model),
                    "{kernel} {model}: {said}"
                );
            }
        }
        assert_eq!(
            said("6.12.y", &["1s:preempt_model=lazy"]),
            "`preempt_model=lazy` is not in 6.12.y: it exists since 6.13; set none or voluntary or full"
        );
        let gone = said("7.0", &["preempt_model=voluntary"]);
        assert!(gone.ends_with("is not in 7.0: it existed until 6.19; set full or lazy"), "{gone}");
    }

    /// fair-placement 8.8: no fallback is needed.
    #[test]
    fn each_distribution_boots_with_a_model_that_its_kernel_offers() {
        for distribution in super::super::DISTRIBUTIONS {
            let named = NamedKernel::find(distribution.name).expect("a kernel");
            assert!(Offers::of(&named).has(distribution.build.preempt_model.name()), "{}", distribution.name);
        }
    }

    #[test]
    fn a_setting_of_the_other_discipline_is_refused() {
        assert_eq!(
            said("6.1", &["NO_DELAY_DEQUEUE"]),
            "`NO_DELAY_DEQUEUE` is not in 6.1: it belongs to EEVDF and exists since 6.12; CFS serves fair \
             tasks here"
        );
        let cfs = said("6.6", &["kernel.sched_latency_ns=6000000"]);
        assert!(cfs.contains("it belongs to CFS and existed until 6.5"), "{cfs}");
        for (kernel, setting) in [("6.1", "place_lag=on"), ("7.0", "STRONG_BUDDIES"), ("6.1", "2s:v_ref=min")]
        {
            assert!(!said(kernel, &[setting]).is_empty(), "{kernel} {setting}");
        }
        assert_eq!(said("6.1", &["PLACE_LAG", "fair_policy=eevdf"]), "", "whatever their order");
        assert_eq!(said("6.1", &["DELAY_DEQUEUE", "fair_policy=eevdf"]), "", "of no release");
        assert_eq!(said("6.6", &["NEXT_BUDDY", "NO_WAKEUP_PREEMPTION", "RT_PUSH_IPI"]), "", "both have it");
    }

    /// eevdf-class 0.4, fair-placement 8.1 and 8.3.
    #[test]
    fn a_feature_that_came_later_or_went_before_is_refused() {
        assert_eq!(said("6.6", &["DELAY_DEQUEUE"]), "`DELAY_DEQUEUE` is not in 6.6: it exists since 6.12");
        assert_eq!(said("6.12", &["SIS_PROP"]), "`SIS_PROP` is not in 6.12: it existed from 4.13 to 6.6");
        for (kernel, setting) in [
            ("6.6", "NO_DELAY_ZERO"),
            ("6.6", "1s:PREEMPT_SHORT"),
            ("6.8", "place_rel_deadline=on"),
            ("7.0", "NI_RATE"),
            ("6.1", "NI_RANDOM"),
            ("6.2", "NI_RANDOM"),
            ("6.1", "LB_BIAS"),
            ("6.1", "SIS_AVG_CPU"),
            ("5.10", "SIS_UTIL"),
            ("5.10", "BASE_SLICE"),
            ("4.1", "UTIL_EST"),
            ("2.6.36", "WA_IDLE"),
            ("2.6.36", "RT_PUSH_IPI"),
            ("2.6.36", "TTWU_QUEUE"),
            ("6.1", "NO_FAIR_SLEEPERS"),
            ("5.14", "NO_FAIR_SLEEPERS"),
            ("4.4", "START_NICE"),
            ("7.1", "NO_SYNC_WAKEUPS"),
            ("6.18.y", "AFFINE_WAKEUPS"),
            ("6.12", "NO_UTIL_EST_FASTUP"),
            ("6.6", "NO_PICK_BUDDY"),
            ("6.12-rt", "PREEMPT_LAZY"),
            ("6.1", "PREEMPT_LAZY"),
            ("6.1.y", "sched_compat_yield=1"),
        ] {
            assert!(!said(kernel, &[setting]).is_empty(), "{kernel} {setting}");
        }
        for (kernel, setting) in [
            ("6.12", "DELAY_DEQUEUE"),
            ("6.1.y", "NI_RANDOM"),
            ("6.1.160", "NI_RANDOM"),
            ("6.18.y", "NO_NI_RANDOM"),
            ("7.1", "NI_RATE"),
            ("6.6", "SIS_PROP"),
            ("4.19", "NO_LB_BIAS"),
            ("6.1-rt", "NO_PREEMPT_LAZY"),
            ("5.10.0-rt", "NO_PREEMPT_LAZY"),
            ("2.6.36", "START_NICE"),
            ("tip+", "NO_FAIR_SLEEPERS"),
            ("2.6.36", "sched_compat_yield=1"),
            ("4.0", "RT_PUSH_IPI"),
            ("6.12.y", "NO_PICK_BUDDY"),
            ("6.8", "NO_PICK_BUDDY"),
        ] {
            assert_eq!(said(kernel, &[setting]), "", "{kernel} {setting}");
        }
        // 5.12 runs as 5.15, and a note says with what it is nearer.
        assert_eq!(said("5.12", &["NO_BASE_SLICE"]), "");
        assert_eq!(said("6.6", &["delayed_count=left_out", "protection=shortest"]), "", "rules are free");
    }
}
