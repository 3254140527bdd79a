//! A comparison as people say it: an experiment, what its base says on top, what each variant says on top of
//! that.

use crate::compare::{Arm, Plan};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::groups::Groups;
use crate::kernel::KernelConfig;
use crate::loads::LoadSpec;
use crate::machines::NamedMachine;
use crate::reading::Reading;
use crate::settings::Settings;
use crate::sources::Sources;
use schema::{ExperimentText, GroupText, is_in_group};
use suggest::suggest;

/// What is to be compared.
#[derive(Debug)]
pub struct CompareWords<'w> {
    /// The experiment as text.
    pub text: ExperimentText,
    /// The same, opened.
    pub experiment: Experiment,
    /// How loads are read that a configuration names in place of the experiment's.
    pub reading: &'w Reading,
    /// The machine on which recordings were made, if somebody says so; else it is the base's.
    pub recorded_on: Option<NamedMachine>,
    /// [`Settings`] of the base, on top of the experiment; may be empty.
    pub base: &'w str,
    /// Settings of each variant, on top of the base.
    pub with: &'w [String],
    /// Number of seeds.
    pub repeat: u32,
}

impl Plan {
    /// The comparison that is meant.
    ///
    /// # Errors
    /// Words that are none; whatever is wrong with a load, a machine, a kernel or a group of a configuration.
    pub fn of_words(words: CompareWords<'_>, files: &dyn Sources) -> Result<Plan, Error> {
        let CompareWords { mut text, experiment, reading, recorded_on, base, with, repeat } = words;
        // What its kernel is where the user names none does not depend on the loads of an arm.
        text.kernel = Some(experiment.kernel.named().asked.clone());
        let settings = Settings::parse(base)?;
        let mut base = arm(&settings, &text, &experiment.loads, reading, files)?;
        // A variant says what differs from the base.
        let text = settings.over(&text);
        let variant = |with: &String| arm(&Settings::parse(with)?, &text, &base.loads, reading, files);
        let mut variants: Vec<Arm> = with.iter().map(variant).collect::<Result<_, _>>()?;
        let origin = recorded_on.unwrap_or_else(|| base.machine.clone());
        for arm in std::iter::once(&mut base).chain(&mut variants) {
            let loads = std::mem::take(&mut arm.loads);
            arm.loads = loads.into_iter().map(|load| load.recorded_on(&origin)).collect();
        }
        Ok(Plan { experiment, base, variants, repeat })
    }
}

/// One configuration: its own settings on top of those of all.
fn arm(
    settings: &Settings,
    text: &ExperimentText,
    loads: &[LoadSpec],
    reading: &Reading,
    files: &dyn Sources,
) -> Result<Arm, Error> {
    let name = if settings.text.is_empty() { "base" } else { &settings.text };
    let own = settings.over(text);
    // That of the common loads: another load is to run on the same machine.
    let machine = NamedMachine::open(&own.machine, loads, files)?;
    let loads: Vec<LoadSpec> = if settings.loads.is_empty() {
        loads.to_vec()
    } else {
        let open = |text: &String| LoadSpec::open_as(text, reading, files);
        settings.loads.iter().map(open).collect::<Result<_, _>>()?
    };
    settings.tasks.check(&loads)?;
    if !own.autogroup && !loads.iter().any(LoadSpec::may_have_groups) {
        have_somebody(&settings.groups, &own, text)?;
    }
    Ok(Arm {
        name: name.to_owned(),
        machine,
        kernel: KernelConfig::of_text(&own)?,
        groups: Groups::of_text(&own)?,
        loads: loads.into_iter().map(|load| load.with_tasks(&settings.tasks)).collect(),
    })
}

/// Makes sure that a configuration does not describe a group that is neither there without it nor gets tasks:
/// it would change nothing, most likely because the name is misspelt. (One with CPUs of its own takes them
/// from others.)
fn have_somebody(said: &[GroupText], own: &ExperimentText, below: &ExperimentText) -> Result<(), Error> {
    let is_there = |group: &GroupText| {
        below.groups.iter().any(|other| is_in_group(&other.name, &group.name))
            || own.members.iter().any(|member| is_in_group(&member.group, &group.name))
            || group.settings.iter().any(|setting| setting.starts_with("cpuset."))
    };
    let Some(GroupText { name, .. }) = said.iter().find(|group| !is_there(group)) else { return Ok(()) };
    let near = suggest(name, below.groups.iter().map(|group| group.name.clone()));
    let advice = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("say which are (in={name}=TASK)"),
    };
    Err(Error::Group { group: name.clone(), problem: format!("no task is in it; {advice}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a variant with these words is told, beside a base with a group `web`.
    fn told(words: &str) -> String {
        let settings = Settings::parse(words).expect("words");
        let below = Settings::parse("group=web=cpu.weight:300 in=web=hog").expect("words");
        let below = below.over(&ExperimentText::default());
        let own = settings.over(&below);
        have_somebody(&settings.groups, &own, &below).err().map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn a_group_of_nobody_is_refused() {
        assert_eq!(told("group=wbe=cpu.max:400000"), "group wbe: no task is in it; did you mean `web`?");
        assert_eq!(
            told("group=database"),
            "group database: no task is in it; say which are (in=database=TASK)"
        );
        for words in [
            "group=web=cpu.max:400000",
            "group=db in=db=postgres",
            "group=a group=a/b in=a/b=postgres",
            "group=rt=cpuset.cpus:1,cpuset.cpus.partition:isolated",
        ] {
            assert_eq!(told(words), "", "{words}");
        }
    }
}
