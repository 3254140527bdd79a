//! The kernel of an experiment: a profile, what is set on top of it, and what changes during the run.

mod differences;
mod distributions;
mod error;
mod lacks;
mod named;
mod release;

use crate::error::Error;
use crate::groups::autogroup;
use machine::TimedSetting;
use scheduler::Nanos;
use scheduler::fair::Granularities;
use scheduler::registry::{ALIASES, Config, Feature, SettingError, TunableSetting};
use schema::{ExperimentText, Kernel, KernelChange};
use workload::units;

pub use differences::Difference;
pub use distributions::{Build, DISTRIBUTIONS, Distribution, ModelOrigin};
pub use error::KernelError;
pub(crate) use lacks::rates_of_ticks;
pub use named::NamedKernel;
pub use release::Release;

/// The profile where none is named: the newest one that recordings of its kernel bear out.
pub const DEFAULT_PROFILE: &str = "6.18.y";

/// Why that one, and none that is newer.
pub(crate) const WHY_DEFAULT: &str = "The newest kernel that was compared with recordings of itself \
    (6.18.44): wakeups, turns, new tasks, deadline tasks and the fair server. 7.0 and 7.1 lack no more than \
    it does, but are known from their source alone, and some of what 7.1 changed is uncertain (eevdf-class \
    U2).";

/// A kernel configuration in which every name and value is known to be legal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelConfig {
    named: NamedKernel,
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

impl From<&KernelChange> for Change {
    fn from(change: &KernelChange) -> Change {
        Change { at: Nanos(change.at_ns), setting: change.setting.clone() }
    }
}

impl From<&Change> for KernelChange {
    fn from(change: &Change) -> KernelChange {
        KernelChange { at_ns: change.at.0, setting: change.setting.clone() }
    }
}

impl Default for KernelConfig {
    fn default() -> KernelConfig {
        KernelConfig::new(NamedKernel::of_default_profile())
    }
}

impl KernelConfig {
    /// A kernel as it is.
    #[must_use]
    pub fn new(named: NamedKernel) -> KernelConfig {
        KernelConfig { named, changes: Vec::new() }
    }

    /// The kernel of a word after `--kernel`: a profile, a release, a distribution.
    ///
    /// # Errors
    /// None of this name; the message suggests the nearest.
    pub fn of_name(name: &str) -> Result<KernelConfig, KernelError> {
        Ok(KernelConfig::new(NamedKernel::find(name)?))
    }

    /// The kernel of an experiment, with all its settings; the default one where it names none.
    ///
    /// # Errors
    /// As [`KernelConfig::of_name`] and [`KernelConfig::set`].
    pub fn of_text(text: &ExperimentText) -> Result<KernelConfig, Error> {
        let mut kernel =
            text.kernel.as_deref().map_or_else(|| Ok(KernelConfig::default()), KernelConfig::of_name)?;
        for change in &text.settings {
            kernel.set(change.into())?;
        }
        Ok(kernel)
    }

    /// Another kernel below the same changes.
    #[must_use]
    pub(crate) fn with_named(self, named: NamedKernel) -> KernelConfig {
        KernelConfig { named, ..self }
    }

    /// Adds a setting after those that are there.
    ///
    /// # Errors
    /// An unknown name (with the nearest known one), or a value that it cannot have.
    pub fn set(&mut self, change: Change) -> Result<(), KernelError> {
        // Who is in which session is said before the run.
        if autogroup(&change.setting).is_some() {
            return Err(SettingError::OnlyAtStart { name: "sched_autogroup_enabled" }.into());
        }
        let config = Config::default();
        if change.at == Nanos::ZERO {
            config.set(&change.setting)?;
        } else {
            config.set_later(&change.setting)?;
        }
        self.changes.push(change);
        Ok(())
    }

    /// The kernel without the changes.
    #[must_use]
    pub fn named(&self) -> &NamedKernel {
        &self.named
    }

    /// Name of the profile.
    #[must_use]
    pub fn profile(&self) -> &'static str {
        self.named.profile
    }

    /// Ticks a second, as far as the user says: by a distribution, or by a setting at any time.
    #[must_use]
    pub fn says_hz(&self) -> bool {
        self.named.build.is_some() || self.says("hz")
    }

    /// How often it ticks a second when the run begins; `None` where what is set on top of it is refused.
    #[must_use]
    pub fn ticks_a_second(&self) -> Option<u64> {
        u64::try_from(self.at_start().ok()?.tunables.hz.get()).ok()
    }

    /// Whether the user gives this setting a value, at any time.
    pub(crate) fn says(&self, setting: &str) -> bool {
        self.changes.iter().any(|change| sets(change, setting))
    }

    /// Takes over what the user of another one says of a setting.
    pub(crate) fn take(&mut self, other: &KernelConfig, setting: &str) {
        self.changes.extend(other.changes.iter().filter(|change| sets(change, setting)).cloned());
    }

    /// Whether nothing but this is set, and from the beginning.
    pub(crate) fn sets_only(&self, setting: &str) -> bool {
        self.changes.iter().all(|change| change.at == Nanos::ZERO && sets(change, setting))
    }

    /// What is set on top of the profile, in the order given.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The configuration with which the run begins.
    ///
    /// # Errors
    /// What is set on top of a kernel that has not got it.
    pub(crate) fn at_start(&self) -> Result<Config, KernelError> {
        let config = Config::of_profile(self.named.profile)?;
        if let Some(build) = self.named.build {
            config.tunables.hz.set(i64::from(build.hz));
            config.rules.preempt_model.set(build.preempt_model);
        }
        let mut before = self.changes.iter().filter(|c| c.at == Nanos::ZERO);
        before.try_for_each(|c| config.set(&c.setting))?;
        lacks::check(&self.named, &self.changes, &config)?;
        rt_share_fits(&config)?;
        let later = config.clone();
        for change in self.during_in_order() {
            later.set(&change.setting)?;
            rt_share_fits(&later)?;
            lacks::rt_groups_came_later(&self.named, &change.setting, [&config, &later])?;
        }
        Ok(config)
    }

    /// What changes during the run, as it comes.
    fn during_in_order(&self) -> Vec<TimedSetting> {
        let mut later = self.during();
        later.sort_by_key(|change| change.at);
        later
    }

    /// What changes during the run.
    pub(crate) fn during(&self) -> Vec<TimedSetting> {
        let later = self.changes.iter().filter(|c| c.at > Nanos::ZERO);
        later.map(|c| TimedSetting { at: c.at, setting: c.setting.clone() }).collect()
    }

    /// Whether the configuration has a property at the start or after any change during the run.
    pub(crate) fn is_ever(&self, property: impl Fn(&Config) -> bool) -> bool {
        let Ok(config) = self.at_start() else { return false };
        let later = self.during_in_order();
        property(&config) || later.iter().any(|c| config.set(&c.setting).is_ok() && property(&config))
    }

    /// As a result shows it: complete, as it is in `config` before the run on so many CPUs.
    pub(crate) fn describe(&self, config: &Config, cpus: usize) -> Kernel {
        let in_effect = Granularities::new(config, cpus);
        let tunable = |t: TunableSetting| {
            let value = in_effect.of_tunable(t.name).and_then(|ns| i64::try_from(ns).ok());
            (t.name.to_owned(), value.unwrap_or(t.value))
        };
        let NamedKernel { asked, profile, .. } = &self.named;
        Kernel {
            profile: (*profile).to_owned(),
            asked: (asked != profile).then(|| asked.clone()),
            features: Feature::ALL.iter().map(|f| (f.name().to_owned(), config.has(*f))).collect(),
            rules: config.rules.iter().map(|r| (r.rule.to_owned(), r.value.to_owned())).collect(),
            tunables: config.tunables.iter().map(tunable).collect(),
            changes: self.changes.iter().map(KernelChange::from).collect(),
        }
    }
}

/// The kernel refuses a share of real-time tasks that is longer than its period (rt-class 8.1).
fn rt_share_fits(config: &Config) -> Result<(), KernelError> {
    let (runtime, period) =
        (config.tunables.sched_rt_runtime_us.get(), config.tunables.sched_rt_period_us.get());
    if runtime <= period {
        return Ok(());
    }
    let (name, value) = ("sched_rt_runtime_us".to_owned(), runtime.to_string());
    Err(SettingError::OutOfRange { name, value, min: -1, max: period }.into())
}

/// Whether a change gives this setting a value, by its own name or by another that stands for it.
fn sets(change: &Change, setting: &str) -> bool {
    let written = change.setting.as_str();
    let alias = ALIASES.iter().find(|alias| alias.name == written);
    let all = alias.map_or(std::slice::from_ref(&written), |alias| alias.settings);
    let gives = |one: &&str| {
        let given = one.trim_start_matches("kernel.").strip_prefix(setting);
        given.is_some_and(|value| value.starts_with('='))
    };
    all.iter().any(gives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scheduler::registry::{FROM_THE_START, PreemptModel, RULES, TUNABLES};

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
        let mut kernel = KernelConfig::of_name("6.1").expect("a profile");
        for text in ["RT_PUSH_IPI", "2s:NO_RT_PUSH_IPI", "search=linear"] {
            kernel.set(change(text)).expect("a legal setting");
        }
        let config = kernel.at_start().expect("legal");
        assert!(config.has(Feature::RtPushIpi));
        let described = kernel.describe(&config, 1);
        assert_eq!(described.rules["search"], "linear");
        assert_eq!(described.changes.iter().map(|c| c.at_ns).collect::<Vec<_>>(), [0, 2_000_000_000, 0]);
        assert_eq!(kernel.during().len(), 1);
    }

    #[test]
    fn a_property_may_hold_for_a_part_of_the_run() {
        let mut kernel = KernelConfig::of_name("2.6.36").expect("a profile");
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
            let at_start = FROM_THE_START.iter().any(|name| text.split('=').next() == Some(*name));
            let times: &[&str] = if at_start { &[""] } else { &["", "5ms:"] };
            for at in times {
                let mut kernel = KernelConfig::default();
                assert_eq!(kernel.set(change(&format!("{at}{text}"))), Ok(()), "{text}");
            }
        }
    }

    /// rt-class 8.1.
    #[test]
    fn real_time_tasks_cannot_have_more_than_a_period() {
        let kernel = |settings: &[&str]| {
            let mut kernel = KernelConfig::of_name("6.1").expect("a profile");
            settings.iter().for_each(|text| kernel.set(change(text)).expect("a legal setting"));
            kernel.at_start().map(drop).map_err(|error| error.to_string())
        };
        let refused = kernel(&["sched_rt_runtime_us=2000000"]).expect_err("EINVAL");
        assert!(refused.ends_with("a whole number from -1 to 1000000"), "{refused}");
        assert_eq!(kernel(&["sched_rt_runtime_us=2000000", "sched_rt_period_us=2000000"]), Ok(()));
        assert!(kernel(&["1s:sched_rt_period_us=500000"]).is_err(), "in the middle of a run");
    }

    /// An alias says what it stands for.
    #[test]
    fn who_says_a_setting_by_another_name_says_it() {
        let mut kernel = KernelConfig::of_name("6.18").expect("a profile");
        assert!(!kernel.says("rt_throttle"));
        kernel.set(change("rt_group_sched=0")).expect("a legal setting");
        assert!(kernel.says("rt_throttle") && !kernel.says("rt_group_sched") && !kernel.says("hz"));
    }

    #[test]
    fn a_distribution_brings_its_ticks_and_a_setting_overrides_them() {
        let mut kernel = KernelConfig::of_name("debian11").expect("a distribution");
        let hz = |kernel: &KernelConfig| kernel.at_start().expect("legal").tunables.hz.get();
        assert_eq!((hz(&kernel), kernel.says_hz()), (250, true));
        kernel.set(change("hz=100")).expect("a legal setting");
        assert_eq!(hz(&kernel), 100);
        let described = kernel.describe(&kernel.at_start().expect("legal"), 1);
        assert_eq!((described.profile.as_str(), described.asked.as_deref()), ("5.10", Some("debian11")));
        let plain = KernelConfig::of_name("6.1").expect("a profile");
        assert_eq!((plain.says_hz(), plain.describe(&Config::default(), 1).asked), (false, None));
    }

    /// fair-placement 8.8; what is set goes before it.
    #[test]
    fn a_distribution_brings_its_preemption_model() {
        let mut kernel = KernelConfig::of_name("debian13").expect("a distribution");
        let model = |kernel: &KernelConfig| kernel.at_start().expect("legal").rules.preempt_model.get();
        assert_eq!(model(&kernel), PreemptModel::Voluntary);
        kernel.set(change("preempt_model=full")).expect("a legal setting");
        assert_eq!(model(&kernel), PreemptModel::Full);
        let lazy = KernelConfig::of_name("ubuntu26.04").expect("a distribution");
        assert_eq!(model(&lazy), PreemptModel::Lazy);
    }

    #[test]
    fn a_refused_setting_changes_nothing() {
        let mut kernel = KernelConfig::default();
        let error = kernel.set(change("RT_PUSH_IPY")).expect_err("unknown");
        assert!(error.to_string().contains("did you mean `RT_PUSH_IPI`?"), "{error}");
        assert_eq!(kernel.changes(), []);
    }
}
