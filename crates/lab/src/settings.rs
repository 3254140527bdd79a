//! SETTINGS of a comparison: one configuration as a list of words.

use crate::deadlines;
use crate::error::Error;
use crate::groups;
use crate::kernel::{Change, NamedKernel};
use crate::task_options::TaskOptions;
use scheduler::CpuMask;
use schema::{DeadlineText, ExperimentText, GroupText, KernelChange, MachineText, MemberText};

/// Those of the largest machine.
const MOST_CPUS: u32 = CpuMask::BITS as u32;

/// What a configuration says, beyond what is common to all configurations of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// The words as they were given; the configuration's name in the results.
    pub text: String,
    /// Name of a kernel: `kernel=2.6.36`, or just `2.6.36`; `debian12`.
    pub kernel: Option<String>,
    /// Machine and number of CPUs: `machine=laptop`, `cpus=8`.
    pub machine: MachineText,
    /// Loads in place of those of the base: `load=edited.workload`.
    pub loads: Vec<String>,
    /// Changes of tasks of recordings: `policy=TASK=fifo:50`, `nice=TASK=-5`, `affinity=TASK=0-3`,
    /// `scale=all=1.5`, `without=TASK`.
    pub tasks: TaskOptions,
    /// Task groups, on top of what is said of them: `group=web=cpu.max:400000/100000`.
    pub groups: Vec<GroupText>,
    /// Who is in them: `in=web=cc*`.
    pub members: Vec<MemberText>,
    /// Deadline tasks: `deadline=worker=4ms/16ms`.
    pub deadlines: Vec<DeadlineText>,
    /// Whether each load has a group of its own: `sched_autogroup_enabled=1`.
    pub autogroup: Option<bool>,
    /// CPUs in no sched domain: `isolcpus=2-3`.
    pub isolcpus: Option<String>,
    /// CPUs that stop their tick beside a single task: `nohz_full=2-3`.
    pub nohz_full: Option<String>,
    /// Everything else: `NO_RT_PUSH_IPI`, `search=linear`, `2s:RT_PUSH_IPI`.
    pub changes: Vec<Change>,
}

impl Settings {
    /// Reads words with blanks between them. What a name or value means is checked when the settings are
    /// used.
    ///
    /// # Errors
    /// A word that can be neither, such as `cpus=many` or a second `kernel=`.
    pub fn parse(text: &str) -> Result<Settings, Error> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut settings = Settings { text: words.join(" "), ..Settings::default() };
        for word in words {
            settings.word(word)?;
        }
        Ok(settings)
    }

    fn word(&mut self, word: &str) -> Result<(), Error> {
        match word.split_once('=') {
            Some(("kernel", name)) => once(&mut self.kernel, name.to_owned(), word),
            Some(("machine", name)) => once(&mut self.machine.name, name.to_owned(), word),
            Some(("load", file)) => {
                self.loads.push(file.to_owned());
                Ok(())
            }
            Some(("cpus", number)) => match number.parse() {
                Ok(cpus) if (1..=MOST_CPUS).contains(&cpus) => once(&mut self.machine.cpus, cpus, word),
                _ => {
                    Err(bad(word, &format!("write a number of CPUs from 1 to {}, such as cpus=8", MOST_CPUS)))
                }
            },
            Some(("group", value)) => {
                self.groups.push(groups::group(value).map_err(|problem| bad(word, &problem))?);
                Ok(())
            }
            Some(("in", value)) => {
                self.members.push(groups::member(value).map_err(|problem| bad(word, &problem))?);
                Ok(())
            }
            Some(("deadline", value)) => {
                self.deadlines.push(deadlines::deadline(value).map_err(|problem| bad(word, &problem))?);
                Ok(())
            }
            Some(("isolcpus", value)) => {
                self.isolcpus = Some(groups::isolcpus(value).map_err(|problem| bad(word, &problem))?);
                Ok(())
            }
            Some(("nohz_full", value)) => {
                self.nohz_full = Some(groups::nohz_full(value).map_err(|problem| bad(word, &problem))?);
                Ok(())
            }
            _ if let Some(autogroup) = groups::autogroup(word) => {
                self.autogroup = Some(autogroup);
                Ok(())
            }
            // No setting begins with a digit, but the profiles do, and a misspelt one should be told as such.
            None if NamedKernel::find(word).is_ok() || is_version(word) => {
                once(&mut self.kernel, word.to_owned(), word)
            }
            Some((option, value)) if let Some(read) = self.tasks.word(option, value) => {
                read.map_err(|problem| bad(word, &problem))
            }
            _ => {
                self.changes.push(Change::parse(word)?);
                Ok(())
            }
        }
    }

    /// These settings on top of what an experiment has, except for its loads. (What its kernel is where it
    /// names none depends on them.)
    #[must_use]
    pub fn over(&self, text: &ExperimentText) -> ExperimentText {
        let settings = text.settings.iter().cloned().chain(self.changes.iter().map(KernelChange::from));
        ExperimentText {
            machine: self.machine.clone().or(&text.machine),
            kernel: self.kernel.clone().or_else(|| text.kernel.clone()),
            settings: settings.collect(),
            groups: groups::on_top(&self.groups, &text.groups),
            members: text.members.iter().chain(&self.members).cloned().collect(),
            deadlines: text.deadlines.iter().chain(&self.deadlines).cloned().collect(),
            autogroup: self.autogroup.unwrap_or(text.autogroup),
            isolcpus: self.isolcpus.clone().or_else(|| text.isolcpus.clone()),
            nohz_full: self.nohz_full.clone().or_else(|| text.nohz_full.clone()),
            ..text.clone()
        }
    }
}

fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(':')
}

fn once<T>(place: &mut Option<T>, value: T, word: &str) -> Result<(), Error> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(bad(word, "a configuration has one kernel, one machine and one number of CPUs")),
    }
}

fn bad(word: &str, problem: &str) -> Error {
    Error::Settings { word: word.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::KernelConfig;

    #[test]
    fn each_kind_of_word_finds_its_place() {
        let settings = Settings::parse(" kernel=2.6.36  cpus=8 machine=vm2 NO_RT_PUSH_IPI 2s:search=linear ")
            .expect("legal words");
        assert_eq!(settings.text, "kernel=2.6.36 cpus=8 machine=vm2 NO_RT_PUSH_IPI 2s:search=linear");
        assert_eq!(settings.kernel.as_deref(), Some("2.6.36"));
        let machine = MachineText { name: Some("vm2".into()), cpus: Some(8), ..MachineText::default() };
        assert_eq!(settings.machine, machine);
        let changes: Vec<&str> = settings.changes.iter().map(|c| c.setting.as_str()).collect();
        assert_eq!(changes, ["NO_RT_PUSH_IPI", "search=linear"]);
    }

    #[test]
    fn a_profile_needs_no_key() {
        let kernel = |text| Settings::parse(text).ok().and_then(|s| s.kernel);
        assert_eq!(kernel("6.1-rt"), Some("6.1-rt".to_owned()));
        assert_eq!(kernel("debian12"), Some("debian12".to_owned()));
        assert_eq!(kernel("6.21"), Some("6.21".to_owned()), "to be refused as an unknown kernel");
        assert_eq!(kernel("2s:RT_PUSH_IPI"), None);
    }

    #[test]
    fn groups_come_on_top_of_those_that_are_there() {
        let common = Settings::parse("group=web=cpu.max:200000/100000,cpu.weight:300 in=web=cc* autogroup")
            .expect("legal");
        let own = "group=web=cpu.max:400000 group=b in=b=as sched_autogroup_enabled=0";
        let own = Settings::parse(own).expect("legal");
        let text = own.over(&common.over(&ExperimentText::default()));
        let settings = ["cpu.max:200000/100000", "cpu.weight:300", "cpu.max:400000"].map(str::to_owned);
        assert_eq!(text.groups[0], GroupText { name: "web".into(), settings: settings.into() });
        assert_eq!((text.groups.len(), text.members.len(), text.autogroup), (2, 2, false));
        for wrong in ["group=web=cpu.weight:0", "group=", "in=web", "group=web=cpu.max:1"] {
            let error = Settings::parse(wrong).expect_err("wrong").to_string();
            assert!(error.starts_with(&format!("`{wrong}`: ")), "{error}");
        }
    }

    #[test]
    fn mistakes_are_told_with_the_word() {
        for text in ["cpus=many", "kernel=6.1 4.1", "cpus=2 cpus=3", "later:RT_PUSH_IPI"] {
            assert!(Settings::parse(text).is_err(), "{text}");
        }
        let settings = Settings::parse("6.1 RT_PUSH_IPY").expect("names are checked later");
        assert!(KernelConfig::of_text(&settings.over(&ExperimentText::default())).is_err());
    }

    #[test]
    fn settings_come_after_those_common_to_all() {
        let common = Settings::parse("4.1 cpus=4 search=linear").expect("legal");
        let own = Settings::parse("2.6.36 machine=vm2 search=cpupri").expect("legal");
        let text = own.over(&common.over(&ExperimentText::default()));
        assert_eq!(text.machine, MachineText { name: Some("vm2".into()), cpus: Some(4), content: None });
        let kernel = KernelConfig::of_text(&text).expect("legal");
        assert_eq!(kernel.profile(), "2.6.36");
        let changes: Vec<&str> = kernel.changes().iter().map(|c| c.setting.as_str()).collect();
        assert_eq!(changes, ["search=linear", "search=cpupri"]);
    }
}
