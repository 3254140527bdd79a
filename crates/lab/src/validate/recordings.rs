//! Recordings without a reference of their own: how they are replayed is told by rules about their paths, in
//! `recordings.toml`.

use super::fault::excerpt;
use super::file::{ReplayFile, TransferFile};
use crate::error::Error;
use serde::Deserialize;
use workload::replay::TaskSelector;

/// Endings of the names of traces.
const ENDINGS: [&str; 6] = [".perf.data", ".perf.data.gz", ".trace.txt", ".trace.txt.gz", ".dat", ".dat.gz"];
/// Names of traces in folders of their own.
const NAMES: [&str; 4] = ["perf.data", "perf.data.gz", "trace.txt", "trace.txt.gz"];

/// Whether a file is a trace, by its name.
pub(super) fn is_recording(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The name of a trace without what says that it is one.
pub(super) fn stem(path: &str) -> &str {
    ENDINGS.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path)
}

/// The file of rules.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    #[serde(default)]
    recording: Vec<Rule>,
}

/// What holds of the recordings whose paths are of a form; of several, what each says adds up.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// The form: `*` for anything.
    path: String,
    /// And not of this one.
    unless: Option<String>,
    /// Those of so many CPUs only.
    cpus: Option<u64>,
    /// Those without a machine file of their own only.
    #[serde(default)]
    without_machine: bool,
    /// Those that do not tell their kernel only, neither themselves nor in a `meta.json` beside them.
    #[serde(default)]
    without_kernel: bool,
    class: Option<String>,
    #[serde(default)]
    settings: String,
    #[serde(default)]
    transfer: Vec<TransferFile>,
}

/// What is known of a recording.
pub(super) struct Known<'a> {
    pub path: &'a str,
    pub cpus: u64,
    pub has_machine: bool,
    pub has_kernel: bool,
}

impl Rules {
    /// Reads a file; `path` is for errors.
    pub fn parse(path: &str, text: &str) -> Result<Rules, Error> {
        toml::from_str(text).map_err(|error| excerpt(path, text, error.span(), error.message()))
    }

    /// How a recording is replayed, and its class: the last one that a rule gives.
    pub fn of(&self, known: &Known<'_>) -> (ReplayFile, String) {
        let mut replay = ReplayFile { recording: known.path.to_owned(), ..ReplayFile::default() };
        let mut class = "native".to_owned();
        for rule in self.recording.iter().filter(|rule| rule.is_about(known)) {
            class = rule.class.clone().unwrap_or(class);
            replay.settings = format!("{} {}", replay.settings, rule.settings).trim().to_owned();
            replay.transfer.extend(rule.transfer.iter().cloned());
        }
        (replay, class)
    }
}

impl Rule {
    fn is_about(&self, known: &Known<'_>) -> bool {
        has_form(&self.path, known.path)
            && !self.unless.as_ref().is_some_and(|form| has_form(form, known.path))
            && self.cpus.is_none_or(|cpus| cpus == known.cpus)
            && !(self.without_machine && known.has_machine)
            && !(self.without_kernel && known.has_kernel)
    }
}

fn has_form(form: &str, path: &str) -> bool {
    form.parse::<TaskSelector>().is_ok_and(|form| form.matches(0, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
        [[recording]]
        path = "*"
        unless = "*/guest*"
        cpus = 2
        without_machine = true
        settings = "machine=vm2"

        [[recording]]
        path = "*/guest*"
        class = "guest"

        [[recording]]
        path = "*-NO_START_DEBIT/*"
        settings = "NO_START_DEBIT"
    "#;

    #[test]
    fn what_the_rules_about_a_path_say_adds_up() {
        let rules = Rules::parse("r.toml", RULES).expect("rules");
        let of = |path, cpus, has_machine| {
            let (replay, class) = rules.of(&Known { path, cpus, has_machine, has_kernel: true });
            (class, replay.settings)
        };
        let words = |class: &str, settings: &str| (class.to_owned(), settings.to_owned());
        assert_eq!(of("d/native/a.dat", 2, false), words("native", "machine=vm2"));
        assert_eq!(of("d/native/a.dat", 4, false).1, "");
        assert_eq!(of("d/native/a.dat", 2, true).1, "", "it has its own machine");
        let guest = of("d/guest-6.1/x-NO_START_DEBIT/trace.txt", 2, false);
        assert_eq!(guest, words("guest", "NO_START_DEBIT"));
    }

    #[test]
    fn traces_are_told_by_their_names() {
        for name in ["a/b.dat", "perf.data", "x/y.perf.data.gz", "x/trace.txt", "a.trace.txt.gz"] {
            assert!(is_recording(name), "{name}");
        }
        for name in ["result.json", "a.dat.machine.toml", "stdout.txt", "perf_sched_latency.txt"] {
            assert!(!is_recording(name), "{name}");
        }
        assert_eq!((stem("a/b.perf.data.gz"), stem("a/b.dat")), ("a/b", "a/b"));
    }
}
