//! Settings in Linux's syntax: `NAME`, `NO_NAME`, `name=value`.

use super::{Feature, Profile, RULES, Rules, TUNABLES, Tunables};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::Cell;
use core::fmt;

/// The configuration of a scheduler: every feature, rule and tunable. Shared cells, so a setting takes effect
/// at once, also in the middle of a run; state that was recorded under the old setting stays (fair-class
/// 0.3).
#[derive(Clone, Debug, Default)]
pub struct Config {
    features: Cell<u64>,
    /// The rules.
    pub rules: Rules,
    /// The tunables.
    pub tunables: Tunables,
}

/// A name that stands for several settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alias {
    /// As the user writes it.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it sets, in order.
    pub settings: &'static [&'static str],
}

/// Every alias; an alias with a `=` stands for exactly that text.
pub const ALIASES: &[Alias] = &[
    Alias {
        name: "STRONG_BUDDIES",
        meaning: "Seed 004 applied: buddies are kept until used, gated by load and bounded by the tick.",
        source: "fair-class 0.3",
        settings: &[
            "pick_mode=after",
            "last_set=preempt_vr",
            "buddy_gate=on",
            "tick_latency_check=on",
            "hot_buddy_dst_busy=on",
        ],
    },
    Alias {
        name: "NO_STRONG_BUDDIES",
        meaning: "The fair class as it was before seed 004.",
        source: "fair-class 0.3",
        settings: &[
            "pick_mode=tip",
            "last_set=every_wake",
            "buddy_gate=off",
            "tick_latency_check=off",
            "hot_buddy_dst_busy=off",
        ],
    },
    Alias {
        name: "NEW_FAIR_SLEEPERS",
        meaning: "The name that Linux 2.6.31 has for FAIR_SLEEPERS.",
        source: "fair-class 3.1, 9",
        settings: &["FAIR_SLEEPERS"],
    },
    Alias {
        name: "NO_NEW_FAIR_SLEEPERS",
        meaning: "The name that Linux 2.6.31 has for NO_FAIR_SLEEPERS.",
        source: "fair-class 3.1, 9",
        settings: &["NO_FAIR_SLEEPERS"],
    },
    Alias {
        name: "WAKEUP_PREEMPTION",
        meaning: "The name that Linux 6.1 has for WAKEUP_PREEMPT.",
        source: "sched_features of a recorded 6.1 kernel",
        settings: &["WAKEUP_PREEMPT"],
    },
    Alias {
        name: "NO_WAKEUP_PREEMPTION",
        meaning: "The name that Linux 6.1 has for NO_WAKEUP_PREEMPT.",
        source: "sched_features of a recorded 6.1 kernel",
        settings: &["NO_WAKEUP_PREEMPT"],
    },
    Alias {
        name: "balance_mode=pull",
        meaning: "A lowering CPU pulls under the other CPUs' locks.",
        source: "rt-class 5.5",
        settings: &["NO_RT_PUSH_IPI"],
    },
    Alias {
        name: "balance_mode=ipi_root_domain",
        meaning: "A lowering CPU asks by IPI; one walker for the root domain.",
        source: "rt-class 6.4",
        settings: &["RT_PUSH_IPI", "push_ipi_walker=root_domain"],
    },
    Alias {
        name: "balance_mode=ipi_per_source",
        meaning: "A lowering CPU asks by IPI; one walker for each lowering CPU.",
        source: "rt-class 6.3",
        settings: &["RT_PUSH_IPI", "push_ipi_walker=per_source"],
    },
    Alias {
        name: "balance_mode=ipi_broadcast",
        meaning: "A lowering CPU interrupts every overloaded CPU.",
        source: "rt-class 6.2",
        settings: &["RT_PUSH_IPI", "push_ipi_walker=broadcast"],
    },
];

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
    /// range. Nothing is changed then.
    pub fn set(&self, setting: &str) -> Result<(), SettingError> {
        if let Some(alias) = ALIASES.iter().find(|a| a.name == setting) {
            return alias.settings.iter().try_for_each(|s| self.set(s));
        }
        match setting.split_once('=') {
            None => self.set_feature(setting),
            Some((name, value)) => self.set_value(name.strip_prefix("kernel.").unwrap_or(name), value),
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
            None if wants_a_value => return self.set_value(setting, ""),
            None => return Err(SettingError::Unknown { name: setting.to_string() }),
        }
        Ok(())
    }

    fn set_value(&self, name: &str, value: &str) -> Result<(), SettingError> {
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
            if let Some(cell) = self.tunables.cell(name) {
                cell.set(number);
            }
            if name == "sched_latency_ns" || name == "sched_min_granularity_ns" {
                self.recompute_nr_latency();
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

    /// After any write, nr_latency is latency / min_granularity, rounded up (fair-class 3.3).
    fn recompute_nr_latency(&self) {
        let (latency, gran) =
            (self.tunables.sched_latency_ns.get(), self.tunables.sched_min_granularity_ns.get());
        self.tunables.sched_nr_latency.set((latency + gran - 1) / gran);
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
            SettingError::OutOfRange { name, value, min, max } => {
                write!(f, "`{name}` cannot be `{value}`; it is a whole number from {min} to {max}")
            }
            SettingError::UnknownProfile { name } => write!(f, "unknown kernel profile `{name}`"),
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
        assert_eq!(config.set("kernel.sched_latency_ns=20000000"), Ok(()));
        assert_eq!(config.tunables.sched_nr_latency.get(), 27, "ceil(20 / 0.75)");
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
        assert!(text("search=quadratic").contains("cpupri_2007, linear_mask, linear"));
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
    fn aliases_consist_of_legal_settings() {
        for alias in ALIASES {
            assert_eq!(Config::default().set(alias.name), Ok(()), "{}", alias.name);
        }
    }

    #[test]
    fn an_unknown_profile_is_an_error() {
        assert!(Config::of_profile("6.2-nope").is_err());
    }
}
