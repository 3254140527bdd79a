//! The kernel of an experiment: a profile, what is set on top of it, and what changes during the run.

use crate::error::Error;
use machine::TimedSetting;
use report::schema::{Kernel, KernelChange};
use scheduler::Nanos;
use scheduler::registry::{Config, Feature, PROFILES, SettingError};
use workload::units;

/// The profile where none is named.
pub const DEFAULT_PROFILE: &str = "6.1";

/// A kernel configuration in which every name and value is known to be legal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelConfig {
    profile: String,
    changes: Vec<Change>,
}

/// One setting on top of the profile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// When it takes effect; zero: before the run.
    pub at: Nanos,
    /// In Linux's syntax, as [`Config::set`] takes it.
    pub setting: String,
}

impl Change {
    /// Reads `SETTING` or `TIME:SETTING`; a time without unit is in seconds.
    ///
    /// # Errors
    /// A time that is none. The setting is not looked at.
    pub fn parse(text: &str) -> Result<Change, Error> {
        let Some((time, setting)) = text.split_once(':') else {
            return Ok(Change { at: Nanos::ZERO, setting: text.to_owned() });
        };
        match units::duration(time, Nanos::from_secs(1)) {
            Ok(at) => Ok(Change { at, setting: setting.to_owned() }),
            Err(problem) => Err(Error::SettingTime { text: text.to_owned(), problem }),
        }
    }
}

/// The profile for a kernel's `uname`, such as `Linux 6.18.44 x86_64`: the one of that name, of the same version, or the newest
/// one before it; `None` for a text without a version.
#[must_use]
pub fn profile_of(uname: &str) -> Option<&'static str> {
    if let Some(profile) = PROFILES.iter().find(|p| uname.strip_prefix("Linux ") == Some(p.name)) {
        return Some(profile.name);
    }
    let release = uname.split(' ').find_map(|word| Some((word, version(word.split(['-', '+']).next()?)?)));
    let (word, release) = release?;
    let plain = PROFILES.iter().filter_map(|p| Some((version(p.name)?, p.name)));
    let (_, name) = plain.filter(|(version, _)| *version <= release).max()?;
    // PREEMPT_RT kernels say so in their release.
    let with_rt = PROFILES.iter().find(|p| word.contains("-rt") && p.name == format!("{name}-rt"));
    Some(with_rt.map_or(name, |p| p.name))
}

/// `[2, 6, 36]` of `2.6.36`; `None` for anything that is not numbers with dots between.
fn version(text: &str) -> Option<Vec<u32>> {
    let numbers: Option<Vec<u32>> = text.split('.').map(|n| n.parse().ok()).collect();
    numbers.filter(|n| n.len() >= 2)
}

impl Default for KernelConfig {
    fn default() -> KernelConfig {
        KernelConfig { profile: DEFAULT_PROFILE.to_owned(), changes: Vec::new() }
    }
}

impl KernelConfig {
    /// A profile as it is.
    ///
    /// # Errors
    /// No profile of this name; the message suggests the nearest.
    pub fn of_profile(name: &str) -> Result<KernelConfig, SettingError> {
        Config::of_profile(name)?;
        Ok(KernelConfig { profile: name.to_owned(), changes: Vec::new() })
    }

    /// Another profile below the same changes.
    ///
    /// # Errors
    /// No profile of this name.
    pub fn set_profile(&mut self, name: &str) -> Result<(), SettingError> {
        self.profile = KernelConfig::of_profile(name)?.profile;
        Ok(())
    }

    /// Adds a setting after those that are there.
    ///
    /// # Errors
    /// An unknown name (with the nearest known one), or a value that it cannot have.
    pub fn set(&mut self, change: Change) -> Result<(), SettingError> {
        Config::default().set(&change.setting)?;
        self.changes.push(change);
        Ok(())
    }

    /// Name of the profile.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// What is set on top of the profile, in the order given.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The configuration with which the run begins.
    pub(crate) fn at_start(&self) -> Result<Config, SettingError> {
        let config = Config::of_profile(&self.profile)?;
        let mut before = self.changes.iter().filter(|c| c.at == Nanos::ZERO);
        before.try_for_each(|c| config.set(&c.setting))?;
        Ok(config)
    }

    /// What changes during the run.
    pub(crate) fn during(&self) -> Vec<TimedSetting> {
        let later = self.changes.iter().filter(|c| c.at > Nanos::ZERO);
        later.map(|c| TimedSetting { at: c.at, setting: c.setting.clone() }).collect()
    }

    /// Whether the configuration has a property at the start or after any change during the run.
    pub(crate) fn is_ever(&self, property: impl Fn(&Config) -> bool) -> bool {
        let Ok(config) = self.at_start() else { return false };
        let mut later = self.during();
        later.sort_by_key(|change| change.at);
        property(&config) || later.iter().any(|c| config.set(&c.setting).is_ok() && property(&config))
    }

    /// As a result shows it: complete, as it is in `config` before the run.
    pub(crate) fn describe(&self, config: &Config) -> Kernel {
        let change = |c: &Change| KernelChange { at_ns: c.at.0, setting: c.setting.clone() };
        Kernel {
            profile: self.profile.clone(),
            features: Feature::ALL.iter().map(|f| (f.name().to_owned(), config.has(*f))).collect(),
            rules: config.rules.iter().map(|r| (r.rule.to_owned(), r.value.to_owned())).collect(),
            tunables: config.tunables.iter().map(|t| (t.name.to_owned(), t.value)).collect(),
            changes: self.changes.iter().map(change).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::registry::{ALIASES, RULES, TUNABLES};

    fn change(text: &str) -> Change {
        Change::parse(text).expect("a legal time")
    }

    #[test]
    fn a_time_may_stand_before_a_setting() {
        assert_eq!(change("NO_RT_PUSH_IPI").at, Nanos::ZERO);
        assert_eq!(change("2s:NO_RT_PUSH_IPI").at, Nanos::from_secs(2));
        assert_eq!(change("1.5:search=linear").at, Nanos::from_millis(1500));
        assert_eq!(change("250us:search=linear").setting, "search=linear");
        assert!(Change::parse("soon:RT_PUSH_IPI").is_err());
    }

    #[test]
    fn only_settings_without_a_time_hold_at_the_start() {
        let mut kernel = KernelConfig::of_profile("6.1").expect("a profile");
        for text in ["RT_PUSH_IPI", "2s:NO_RT_PUSH_IPI", "search=linear"] {
            kernel.set(change(text)).expect("a legal setting");
        }
        let config = kernel.at_start().expect("legal");
        assert!(config.has(Feature::RtPushIpi));
        let described = kernel.describe(&config);
        assert_eq!(described.rules["search"], "linear");
        assert_eq!(described.changes.iter().map(|c| c.at_ns).collect::<Vec<_>>(), [0, 2_000_000_000, 0]);
        assert_eq!(kernel.during().len(), 1);
    }

    #[test]
    fn a_property_may_hold_for_a_part_of_the_run() {
        let mut kernel = KernelConfig::of_profile("2.6.36").expect("a profile");
        let both = |c: &Config| c.has(Feature::StartDebit) && c.has(Feature::StartNice);
        assert!(!kernel.is_ever(both));
        for text in ["3s:START_DEBIT", "NO_START_DEBIT", "2s:START_NICE"] {
            kernel.set(change(text)).expect("a legal setting");
        }
        assert!(kernel.is_ever(both), "from 3 s on");
    }

    #[test]
    fn every_feature_rule_and_tunable_can_be_set_as_on_the_command_line() {
        let features = Feature::ALL.iter().flat_map(|f| [f.name().to_owned(), format!("NO_{}", f.name())]);
        let rules = RULES.iter().flat_map(|r| r.values.iter().map(|v| format!("{}={}", r.name, v.name)));
        let tunables = TUNABLES.iter().flat_map(|t| [t.min, t.max].map(|n| format!("kernel.{}={n}", t.name)));
        let aliases = ALIASES.iter().map(|a| a.name.to_owned());
        for text in features.chain(rules).chain(tunables).chain(aliases) {
            for at in ["", "5ms:"] {
                let mut kernel = KernelConfig::default();
                assert_eq!(kernel.set(change(&format!("{at}{text}"))), Ok(()), "{text}");
            }
        }
    }

    #[test]
    fn a_recording_kernel_has_the_nearest_older_profile() {
        assert_eq!(profile_of("Linux 6.18.44-cloud x86_64"), Some("6.1"));
        assert_eq!(profile_of("Linux 6.1.0-18-rt-amd64 x86_64"), Some("6.1-rt"));
        assert_eq!(profile_of("Linux 3.10.0 x86_64"), Some("3.3"));
        assert_eq!(profile_of("Linux 2.6.36.4"), Some("2.6.36"));
        assert_eq!(profile_of("Linux tip+"), Some("tip+"), "a run's own trace");
        assert_eq!(profile_of("Linux 2.4.20"), None);
        assert_eq!(profile_of("Linux"), None);
    }

    #[test]
    fn a_refused_setting_changes_nothing() {
        let mut kernel = KernelConfig::default();
        let error = kernel.set(change("RT_PUSH_IPY")).expect_err("unknown");
        assert!(error.to_string().contains("did you mean `RT_PUSH_IPI`?"), "{error}");
        assert_eq!(kernel.changes(), []);
    }
}
