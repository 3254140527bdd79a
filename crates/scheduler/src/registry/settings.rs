//! Settings in Linux's syntax: `NAME`, `NO_NAME`, `name=value`.

use super::{ALIASES, Feature, GONE, NOT_MODELLED, Profile, RULES, Rules, TUNABLES, Tunables, Written};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

/// Rules that cannot change while tasks are queued: the two fair disciplines keep different things of them,
/// and the threads of the kernel are there from the start.
pub const FROM_THE_START: &[&str] = &[
    "fair_policy",
    "stopper",
    "irq_threads",
    "hrtimer_context",
    "softirq_where",
    "timer_thread",
    "softirq_lock",
];

/// The configuration of a scheduler: every feature, rule and tunable. Shared cells, so a setting takes effect
/// at once, also in the middle of a run; state that was recorded under the old setting stays (fair-class
/// 0.3).
#[derive(Clone, Debug, Default)]
pub struct Config {
    features: Cell<u64>,
    /// The rules.
    pub rules: Rules,
    /// The tunables, as the kernel brings them where it scales them.
    pub tunables: Tunables,
    /// What was written over those.
    pub written: Written,
}

/// Whose value of a tunable it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The kernel's own, before it scales.
    BuiltIn,
    /// Written to its file.
    File,
}

impl Config {
    /// The configuration of a kernel profile.
    ///
    /// # Errors
    /// Where no profile has this name.
    pub fn of_profile(name: &str) -> Result<Config, SettingError> {
        let unknown = || SettingError::UnknownProfile { name: name.to_string() };
        let profile = Profile::find(name).ok_or_else(unknown)?;
        let config = Config::default();
        profile.apply(&config)?;
        Ok(config)
    }

    /// Whether a feature is on.
    #[inline]
    pub fn has(&self, feature: Feature) -> bool {
        self.features.get() >> feature as u64 & 1 == 1
    }

    /// Switches a feature on or off.
    pub fn switch(&self, feature: Feature, on: bool) {
        let bit = 1 << feature as u64;
        self.features.set(if on { self.features.get() | bit } else { self.features.get() & !bit });
    }

    /// Applies one setting: `NAME`, `NO_NAME` (features), `name=value` (rules and tunables, `kernel.` allowed
    /// in front), or an alias. Rules that are a feature on Linux may be written either way
    /// (`ttwu_queue=off`).
    ///
    /// # Errors
    /// An unknown name, an unknown value (with the known ones), or a value out of
    /// range, or a setting that is gone. Nothing is changed then.
    pub fn set(&self, setting: &str) -> Result<(), SettingError> {
        self.apply(setting, Origin::File)
    }

    /// The same for what a kernel is built with: tunables that it scales are for one CPU.
    ///
    /// # Errors
    /// As [`Config::set`].
    pub fn build_in(&self, setting: &str) -> Result<(), SettingError> {
        self.apply(setting, Origin::BuiltIn)
    }

    fn apply(&self, setting: &str, origin: Origin) -> Result<(), SettingError> {
        if let Some(alias) = ALIASES.iter().find(|a| a.name == setting) {
            return alias.settings.iter().try_for_each(|s| self.apply(s, origin));
        }
        let name = setting.split_once('=').map_or(setting, |(name, _)| name);
        if let Some(gone) = GONE.iter().find(|gone| gone.name == name) {
            return Err(SettingError::Gone { name: gone.name, why: gone.why });
        }
        let feature = name.strip_prefix("NO_").unwrap_or(name);
        if let Some(known) = NOT_MODELLED.iter().find(|known| known.name == feature) {
            return Err(SettingError::NotModelled { name: known.name, what: known.what });
        }
        match setting.split_once('=') {
            None => self.set_feature(setting),
            Some((name, value)) => {
                self.set_value(name.strip_prefix("kernel.").unwrap_or(name), value, origin)
            }
        }
    }

    /// The same in the middle of a run.
    ///
    /// # Errors
    /// As [`Config::set`], and a rule that holds from the start.
    pub fn set_later(&self, setting: &str) -> Result<(), SettingError> {
        let name = setting.split_once('=').map_or(setting, |(name, _)| name);
        match FROM_THE_START.iter().find(|rule| **rule == name) {
            Some(rule) => Err(SettingError::OnlyAtStart { name: rule }),
            None => self.set(setting),
        }
    }

    fn set_feature(&self, setting: &str) -> Result<(), SettingError> {
        let (name, on) = match setting.strip_prefix("NO_") {
            Some(name) => (name, false),
            None => (setting, true),
        };
        let wants_a_value =
            RULES.iter().any(|r| r.name == setting) || TUNABLES.iter().any(|t| t.name == setting);
        match Feature::ALL.iter().find(|f| f.name() == name) {
            Some(feature) => self.switch(*feature, on),
            None if wants_a_value => return self.set_value(setting, "", Origin::File),
            None => return Err(SettingError::Unknown { name: setting.to_string() }),
        }
        Ok(())
    }

    fn set_value(&self, name: &str, value: &str, origin: Origin) -> Result<(), SettingError> {
        if let Some(rule) = RULES.iter().find(|r| r.name == name) {
            return self.rules.set(name, value).ok_or_else(|| SettingError::UnknownValue {
                name: name.to_string(),
                value: value.to_string(),
                known: rule.values.iter().map(|v| v.name).collect(),
            });
        }
        if let Some(tunable) = TUNABLES.iter().find(|t| t.name == name) {
            let number = value.parse().ok().filter(|n| (tunable.min..=tunable.max).contains(n));
            let number = number.ok_or_else(|| SettingError::OutOfRange {
                name: name.to_string(),
                value: value.to_string(),
                min: tunable.min,
                max: tunable.max,
            })?;
            if origin == Origin::File && self.written.take(name, number) {
                return Ok(());
            }
            if let Some(cell) = self.tunables.cell(name) {
                cell.set(number);
            }
            if name == "sched_nr_latency" {
                self.written.nr_latency_follows.set(false);
            }
            return Ok(());
        }
        if let Some(feature) = Feature::ALL.iter().find(|f| f.name().eq_ignore_ascii_case(name)) {
            match value {
                "on" => self.switch(*feature, true),
                "off" => self.switch(*feature, false),
                _ => {
                    return Err(SettingError::UnknownValue {
                        name: name.to_string(),
                        value: value.to_string(),
                        known: ["on", "off"].into(),
                    });
                }
            }
            return Ok(());
        }
        Err(SettingError::Unknown { name: name.to_string() })
    }
}

/// Why a setting was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettingError {
    /// No feature, rule, tunable or alias has this name.
    Unknown {
        /// What was written.
        name: String,
    },
    /// The rule or feature has no such value.
    UnknownValue {
        /// The rule.
        name: String,
        /// What was written.
        value: String,
        /// What it may be.
        known: Vec<&'static str>,
    },
    /// There was such a setting.
    Gone {
        /// Its name.
        name: &'static str,
        /// Why it went.
        why: &'static str,
    },
    /// It holds from the start, and cannot change in the middle of a run.
    OnlyAtStart {
        /// Its name.
        name: &'static str,
    },
    /// The tunable's value is no number or outside its range.
    OutOfRange {
        /// The tunable.
        name: String,
        /// What was written.
        value: String,
        /// Smallest legal value.
        min: i64,
        /// Largest legal value.
        max: i64,
    },
    /// The kernel has no such thing.
    NotInKernel {
        /// As it was written.
        setting: String,
        /// Name of the kernel.
        kernel: String,
        /// Which kernels have it, and what to set instead, if anything.
        why: String,
    },
    /// A feature or tunable of some kernels that is not modelled.
    NotModelled {
        /// Its name.
        name: &'static str,
        /// What it does, and how the model behaves.
        what: &'static str,
    },
    /// No kernel profile has this name.
    UnknownProfile {
        /// What was written.
        name: String,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::Unknown { name } => write!(f, "unknown feature, rule or tunable `{name}`"),
            SettingError::UnknownValue { name, value, known } => {
                write!(f, "`{name}` cannot be `{value}`; it is one of {}", known.join(", "))
            }
            SettingError::Gone { name, why } => write!(f, "`{name}` is gone, leave it out: {why}"),
            SettingError::NotModelled { name, what } => write!(f, "`{name}` is not modelled: {what}"),
            SettingError::OnlyAtStart { name } => {
                write!(f, "`{name}` cannot change in the middle of a run: leave the time before it out")
            }
            SettingError::OutOfRange { name, value, min, max } => {
                write!(f, "`{name}` cannot be `{value}`; it is a whole number from {min} to {max}")
            }
            SettingError::NotInKernel { setting, kernel, why } => {
                write!(f, "`{setting}` is not in {kernel}: {why}")
            }
            SettingError::UnknownProfile { name } => write!(f, "unknown kernel `{name}`"),
        }
    }
}

impl core::error::Error for SettingError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Search;

    #[test]
    fn features_switch_by_name_and_no_name() {
        let config = Config::default();
        assert_eq!(config.set("RT_PUSH_IPI"), Ok(()));
        assert!(config.has(Feature::RtPushIpi));
        assert_eq!(config.set("NO_RT_PUSH_IPI"), Ok(()));
        assert!(!config.has(Feature::RtPushIpi));
        assert_eq!(config.set("rt_push_ipi=on"), Ok(()));
        assert!(config.has(Feature::RtPushIpi));
    }

    #[test]
    fn rules_and_tunables_are_set_by_value() {
        let config = Config::default();
        assert_eq!(config.set("search=linear"), Ok(()));
        assert_eq!(config.rules.search.get(), Search::Linear);
        assert_eq!(config.set("kernel.sched_rr_timeslice_ms=20"), Ok(()));
        assert_eq!(config.tunables.sched_rr_timeslice_ms.get(), 20);
    }

    #[test]
    fn a_refusal_says_what_may_be_set() {
        let config = Config::default();
        let text = |s: &str| config.set(s).map_err(|e| e.to_string()).err().unwrap_or_default();
        assert!(text("search").contains("it is one of cpupri"), "a rule without a value: {}", text("search"));
        assert!(text("hz").contains("a whole number from"), "a tunable without a value: {}", text("hz"));
        for strange in ["", "foo", "RT_PUSH_IPY", "NO_START_DEBI", "foo=1"] {
            assert!(text(strange).starts_with("unknown feature, rule or tunable"), "{}", text(strange));
        }
        assert!(text("search=quadratic").contains("cpupri_gap, linear_mask, linear"));
        assert!(text("sched_latency_ns=5").contains("100000 to 1000000000"));
    }

    #[test]
    fn every_rule_value_can_be_set_and_is_read_back() {
        let config = Config::default();
        for rule in RULES {
            for value in rule.values {
                assert_eq!(config.rules.set(rule.name, value.name), Some(()), "{}", rule.name);
                let now = config.rules.iter().find(|s| s.rule == rule.name).map(|s| s.value);
                assert_eq!(now, Some(value.name));
            }
        }
    }

    #[test]
    fn the_fair_discipline_cannot_change_in_the_middle_of_a_run() {
        let config = Config::default();
        let refused = config.set_later("fair_policy=eevdf");
        assert_eq!(refused, Err(SettingError::OnlyAtStart { name: "fair_policy" }));
        assert_eq!(config.set_later("v_ref=min"), Ok(()));
        assert_eq!(config.set("fair_policy=eevdf"), Ok(()));
    }

    #[test]
    fn an_unknown_profile_is_an_error() {
        assert!(Config::of_profile("6.2-nope").is_err());
    }
}
