//! Why a kernel or a setting was refused, and what was probably meant.

use super::DISTRIBUTIONS;
use super::distributions::{releases_of, why_unsettled};
use scheduler::registry::{ALIASES, Feature, PROFILES, RULES, SettingError, TUNABLES};
use std::fmt;
use suggest::suggest;

/// An unknown kernel, feature, rule or tunable, or a value that it cannot have; says what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelError {
    /// What the scheduler says of it.
    pub problem: SettingError,
}

impl KernelError {
    /// What was taken for a setting and is said beside them.
    #[must_use]
    pub fn beside(&self) -> Option<&str> {
        match &self.problem {
            SettingError::Unknown { name } => Some(name.as_str()).filter(|name| BESIDE.contains(name)),
            _ => None,
        }
    }
}

impl From<SettingError> for KernelError {
    fn from(problem: SettingError) -> Self {
        KernelError { problem }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelError { problem } = self;
        write!(f, "{problem}")?;
        match problem {
            SettingError::Unknown { .. } if self.beside().is_some() => {
                f.write_str("; it is said beside the settings")
            }
            SettingError::Unknown { name } => match nearest_setting(name) {
                Some(near) => write!(f, "; did you mean `{near}`?"),
                None => f.write_str("; `schedlab list features`, `list rules` and `list tunables` show all"),
            },
            SettingError::UnknownProfile { name } if why_unsettled(name).is_some() => {
                let why = why_unsettled(name).unwrap_or_default();
                write!(f, ": {why}; name the release, as uname -r prints it, such as 6.12.9-200")
            }
            SettingError::UnknownProfile { name } if !releases_of(name).is_empty() => {
                write!(f, "; name its release: {}", releases_of(name).join(", "))
            }
            SettingError::UnknownProfile { name } => match nearest_kernel(name) {
                Some(near) => write!(f, "; did you mean `{near}`?"),
                None => f.write_str(
                    "; `schedlab list kernels` and `list distributions` show all, and any release will do, as \
                     uname -r prints it",
                ),
            },
            SettingError::UnknownValue { name, value, known } => {
                let tunable = format!("{name}_ns");
                let is_tunable = TUNABLES.iter().any(|known| known.name == tunable);
                match suggest(value, known) {
                    Some(near) => write!(f, "; did you mean `{near}`?"),
                    None if is_tunable => {
                        write!(f, "; its length is the tunable `{tunable}`, in nanoseconds")
                    }
                    None => Ok(()),
                }
            }
            SettingError::OutOfRange { .. }
            | SettingError::OnlyAtStart { .. }
            | SettingError::NotInKernel { .. }
            | SettingError::Gone { .. }
            | SettingError::NotModelled { .. } => Ok(()),
        }
    }
}

impl std::error::Error for KernelError {}

/// What a configuration of a comparison says besides settings; on the command line options of their own.
const BESIDE: [&str; 7] = ["kernel", "machine", "cpus", "group", "autogroup", "isolcpus", "nohz_full"];

/// The setting that was probably meant, as it is written or without the prefix that others have.
fn nearest_setting(name: &str) -> Option<String> {
    similar_setting(name).or_else(|| similar_setting(name.strip_prefix("sched_")?))
}

fn similar_setting(name: &str) -> Option<String> {
    let features = || Feature::ALL.iter().map(|feature| feature.name());
    let others = RULES.iter().map(|rule| rule.name).chain(TUNABLES.iter().map(|tunable| tunable.name));
    let others = others.chain(ALIASES.iter().map(|alias| alias.name));
    let names = features().chain(others).map(str::to_owned);
    let beside = BESIDE.iter().map(|word| (*word).to_owned());
    suggest(name, names.chain(features().map(|feature| format!("NO_{feature}"))).chain(beside))
}

/// The profile or distribution that was probably meant.
fn nearest_kernel(word: &str) -> Option<&'static str> {
    let profiles = PROFILES.iter().map(|profile| profile.name);
    let distributions = DISTRIBUTIONS.iter().flat_map(|d| [Some(d.name), d.codename]).flatten();
    suggest(word, profiles.chain(distributions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_kernel_gets_the_nearest_or_the_lists() {
        let text =
            |name: &str| KernelError::from(SettingError::UnknownProfile { name: name.into() }).to_string();
        assert!(text("bookwurm").ends_with("; did you mean `bookworm`?"), "{}", text("bookwurm"));
        assert!(
            text("solaris").ends_with("any release will do, as uname -r prints it"),
            "{}",
            text("solaris")
        );
    }

    /// Names of distributions that are known, and tell no kernel.
    #[test]
    fn a_distribution_that_moves_on_is_told_from_a_typing_error() {
        let text =
            |name: &str| KernelError::from(SettingError::UnknownProfile { name: name.into() }).to_string();
        for (name, why) in [
            ("fedora", "Fedora moves on to newer kernels within a release"),
            ("Fedora 42", "Fedora moves on"),
            ("fc42", "Fedora moves on"),
            ("arch", "it moves on to newer kernels all the time"),
            ("debian14", "it is not released"),
            ("mint", "ubuntu24.04 in 22"),
            ("mint21.3", "ubuntu22.04 in 21"),
            ("rocky9", "rhel9 in 9"),
            ("fedora:40", "Fedora moves on"),
            ("alpine", "6.12 in 3.21"),
            ("alpine:3.20", "6.6 in 3.19 and 3.20"),
        ] {
            let text = text(name);
            assert!(text.starts_with(&format!("unknown kernel `{name}`: ")) && text.contains(why), "{text}");
            assert!(
                text.ends_with("; name the release, as uname -r prints it, such as 6.12.9-200"),
                "{text}"
            );
        }
        assert!(text("debian15").contains("did you mean"), "{}", text("debian15"));
        let all = "; name its release: debian9, debian10, debian11, debian12, debian13";
        assert!(text("debian").ends_with(all) && text("Debian:").ends_with(all), "{}", text("debian"));
        assert!(text("ubuntu").contains("name its release: ubuntu16.04, "), "{}", text("ubuntu"));
        assert!(text("rhel").ends_with("name its release: rhel7, rhel8, rhel9, rhel10"), "{}", text("rhel"));
        assert!(text("ubuntu:24.04").ends_with("did you mean `ubuntu24.04`?"), "{}", text("ubuntu:24.04"));
    }

    #[test]
    fn unknown_settings_get_the_nearest_and_strange_ones_the_way_to_the_list() {
        let text =
            |name: &str| KernelError::from(SettingError::Unknown { name: name.to_owned() }).to_string();
        for (wrong, right) in [
            ("RT_PUSH_IPY", "RT_PUSH_IPI"),
            ("NO_START_DEBI", "NO_START_DEBIT"),
            ("NO_WAKEUP_PREMPTION", "NO_WAKEUP_PREEMPTION"),
            ("sched_latency", "sched_latency_ns"),
            ("sched_base_slice_ns", "base_slice_ns"),
            ("kernal", "kernel"),
        ] {
            assert!(text(wrong).ends_with(&format!("; did you mean `{right}`?")), "{}", text(wrong));
        }
        assert!(text("kernel").ends_with("; it is said beside the settings"), "{}", text("kernel"));
        let known = vec!["voluntary", "lazy"];
        let value = |value: &str| {
            let (name, value) = ("preempt_model".to_owned(), value.to_owned());
            KernelError::from(SettingError::UnknownValue { name, value, known: known.clone() }).to_string()
        };
        assert!(value("LAZY").ends_with("one of voluntary, lazy; did you mean `lazy`?"), "{}", value("LAZY"));
        let (name, value_of_slice) = ("base_slice".to_owned(), "3ms".to_owned());
        let slice = SettingError::UnknownValue { name, value: value_of_slice, known: vec!["on", "off"] };
        let slice = KernelError::from(slice).to_string();
        assert!(slice.ends_with("its length is the tunable `base_slice_ns`, in nanoseconds"), "{slice}");
        assert!(value("rt").ends_with("one of voluntary, lazy"), "{}", value("rt"));
        for strange in ["", "foo", "quicksilver"] {
            assert!(text(strange).ends_with("`list tunables` show all"), "{}", text(strange));
        }
    }
}
