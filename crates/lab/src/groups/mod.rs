//! The task groups of an experiment, and its isolated CPUs: from texts to groups and parts of a machine.

mod kernel;
mod results;
mod words;

pub use words::{autogroup, group, isolcpus, member, nohz_full};

pub(crate) use kernel::{FIRST_BURSTS, FIRST_ISOLATED, FIRST_NOHZ_FULL, FIRST_PARTITIONS, fit};
pub(crate) use results::{of_nobody, partitions, results};

use crate::deadlines;
use crate::error::Error;
use crate::loads::LoadSpec;
use machine::{GroupSpec, Setup, TaskOrigin, TaskOutcome};
use scheduler::{CpuMask, DlParams, GroupId};
use schema::{ExperimentText, GroupText, MemberText, is_in_group};
use std::collections::BTreeSet;
use suggest::suggest;
use words::text_of;
use workload::deadlines::Deadlines;
use workload::groups::{Group, Member, Members, group_at};
use workload::replay::TaskSelector;
use workload::units;

/// Which task groups there are, and who is in them; who is a deadline task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Groups {
    described: Vec<Group>,
    members: Vec<Member>,
    /// Deadline tasks, of whatever load.
    deadlines: Vec<(TaskSelector, DlParams)>,
    /// Whether each load has a group of its own, for tasks that are in no other.
    autogroup: bool,
    /// CPUs in no sched domain, as they were written down.
    isolcpus: Option<Named>,
    /// CPUs that may stop their tick, likewise.
    nohz_full: Option<Named>,
}

/// CPUs that an option of the kernel names.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Named {
    text: String,
    cpus: CpuMask,
}

/// Groups on top of others: what is said of a group that is there is written into its files after what is
/// there.
#[must_use]
pub fn on_top(own: &[GroupText], below: &[GroupText]) -> Vec<GroupText> {
    let mut all = below.to_vec();
    for group in own {
        match all.iter_mut().find(|there| there.name == group.name) {
            Some(there) => there.settings.extend(group.settings.iter().cloned()),
            None => all.push(group.clone()),
        }
    }
    all
}

/// Groups into whose files this was written.
fn written(groups: &[GroupText]) -> Result<Vec<Group>, Error> {
    let made = |GroupText { name, settings }: &GroupText| {
        let mut made = Group::new(name)?;
        made.write(settings.iter().map(String::as_str))?;
        Ok(made)
    };
    let of = |group: &GroupText| {
        made(group).map_err(|problem| Error::Group { group: group.name.clone(), problem })
    };
    groups.iter().map(of).collect()
}

impl Groups {
    /// Those of a text.
    ///
    /// # Errors
    /// A group that the kernel would not make so, a member of a group that is not there.
    pub fn of_text(text: &ExperimentText) -> Result<Groups, Error> {
        let described = written(&on_top(&text.groups, &[]))?;
        let named = |option: &str, text: &Option<String>| {
            let read = text.as_ref().map(|text| match units::cpu_list(text) {
                Ok(cpus) => Ok(Named { text: text.clone(), cpus }),
                Err(problem) => Err(Error::Settings { word: format!("{option}={text}"), problem }),
            });
            read.transpose()
        };
        let isolcpus = named("isolcpus", &text.isolcpus)?;
        let nohz_full = named("nohz_full", &text.nohz_full)?;
        let (members, autogroup) = (Vec::new(), text.autogroup);
        let deadlines = deadlines::of_text(text)?;
        let groups = Groups { described, members, deadlines, autogroup, isolcpus, nohz_full };
        let member = |member: &MemberText| groups.member(member);
        Ok(Groups { members: text.members.iter().map(member).collect::<Result<_, _>>()?, ..groups })
    }

    fn member(&self, MemberText { group, task }: &MemberText) -> Result<Member, Error> {
        let whom = task.parse().map_err(|problem| Error::Settings { word: task.clone(), problem })?;
        let of = |problem| Error::Group { group: group.clone(), problem };
        let path = Group::new(group).map_err(of)?.path().to_owned();
        if self.described.iter().any(|described| is_in_group(described.path(), &path)) {
            return Ok(Member { whom, group: path });
        }
        let near = suggest(&path, self.described.iter().map(|group| group.path().to_owned()));
        let advice =
            near.map_or(format!("make it, too (group={path})"), |near| format!("did you mean `{near}`?"));
        Err(Error::Group { group: path, problem: format!("it has members and is not there; {advice}") })
    }

    /// Says them in a text.
    pub(crate) fn said_in(&self, text: ExperimentText) -> ExperimentText {
        let member = |member: &Member| MemberText { group: member.group.clone(), task: member.whom.word() };
        ExperimentText {
            groups: self.described.iter().map(text_of).collect(),
            members: self.members.iter().map(member).collect(),
            deadlines: deadlines::said(&self.deadlines),
            autogroup: self.autogroup,
            isolcpus: self.isolcpus.as_ref().map(|isolated| isolated.text.clone()),
            nohz_full: self.nohz_full.as_ref().map(|named| named.text.clone()),
            ..text
        }
    }

    /// Whether the user says nothing of groups, of deadline tasks or of isolated CPUs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Groups::default()
    }

    /// The groups and who is in them, and nothing else.
    pub(crate) fn groups_alone(&self) -> Groups {
        let Groups { described, members, autogroup, .. } = self.clone();
        Groups { described, members, autogroup, ..Groups::default() }
    }

    /// Whether the user says which CPUs are in no sched domain.
    pub(crate) fn isolates(&self) -> bool {
        self.isolcpus.is_some()
    }

    /// Whether the user says which CPUs may stop their tick.
    pub(crate) fn has_nohz_full(&self) -> bool {
        self.nohz_full.is_some()
    }

    /// Whether the user says something of the CPUs of this group.
    pub(crate) fn divides(&self, group: &str) -> bool {
        let of_cpus = |word: &String| word.starts_with("cpuset.");
        self.described.iter().any(|own| own.path() == group && own.words().iter().any(of_cpus))
    }

    /// What is said of them and of those that were recorded: what the user writes comes after what was
    /// written there.
    ///
    /// # Errors
    /// What the kernel does not take into files of a group.
    pub(crate) fn with_recorded(&self, recorded: &[&Group]) -> Result<Vec<Group>, Error> {
        let recorded: Vec<GroupText> = recorded.iter().copied().map(text_of).collect();
        let own: Vec<GroupText> = self.described.iter().map(text_of).collect();
        let all = written(&on_top(&own, &recorded))?;
        // What was recorded a kernel has taken.
        let is_said = |group: &&Group| self.described.iter().any(|own| own.path() == group.path());
        for group in all.iter().filter(is_said) {
            let of = |problem| Error::Group { group: group.path().to_owned(), problem };
            group.settings().check().map_err(of)?;
        }
        Ok(all)
    }

    /// Makes them on a machine, before its tasks, as they are `described`: the user's, and those above them.
    pub(crate) fn make(&self, setup: &mut Setup, described: &[Group]) -> Members {
        for group in &self.described {
            group_at(setup, group.path(), described);
        }
        if let Some(isolated) = &self.isolcpus {
            setup.isolate(isolated.cpus);
        }
        if let Some(named) = &self.nohz_full {
            setup.nohz_full(named.cpus);
        }
        let member = |member: &Member| (member.whom.clone(), group_at(setup, &member.group, described));
        Members::new(self.members.iter().map(member).collect::<Vec<_>>())
    }

    /// The group of a load's session, if each has one: numbers count from 1.
    pub(crate) fn session(&self, setup: &mut Setup, number: usize) -> Option<GroupId> {
        let name = format!("autogroup-{number}");
        let session = |setup: &mut Setup| setup.group(GroupSpec { rt: None, ..GroupSpec::new(&name) });
        self.autogroup.then(|| setup.find_group(&name).unwrap_or_else(|| session(setup)))
    }

    /// Who is to be a deadline task, of whatever load.
    pub(crate) fn deadlines(&self) -> Deadlines {
        Deadlines::new(self.deadlines.iter().cloned())
    }

    /// These loads with the deadline tasks of recordings; `None` where there are none to be made.
    pub(crate) fn in_recordings(&self, loads: &[LoadSpec]) -> Option<Vec<LoadSpec>> {
        let some = !self.deadlines.is_empty() && loads.iter().any(|load| load.recorded().is_some());
        some.then(|| loads.iter().map(|load| load.clone().with_deadlines(&self.deadlines)).collect())
    }

    /// Makes sure that each rule has met somebody.
    ///
    /// # Errors
    /// The first that has not.
    pub(crate) fn all_met(
        &self,
        members: &Members,
        deadlines: &Deadlines,
        tasks: &[TaskOutcome],
    ) -> Result<(), Error> {
        if let Some(Member { whom, group }) = members.unmet().next().map(|place| &self.members[place]) {
            let (group, whom, tasks) = (group.clone(), whom.clone(), names(tasks));
            return Err(Error::NobodyIn { group, whom, tasks });
        }
        match deadlines.unmet().next().map(|place| &self.deadlines[place].0) {
            Some(whom) => Err(Error::NoDeadlineTask { whom: whom.clone(), tasks: names(tasks) }),
            None => Ok(()),
        }
    }
}

/// The names of the loads' tasks, each once.
fn names(tasks: &[TaskOutcome]) -> Vec<String> {
    let of_loads = tasks.iter().filter(|task| task.origin != TaskOrigin::Machine);
    let names: BTreeSet<&str> = of_loads.map(|task| &*task.comm).collect();
    names.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::QuotaSpec;
    use scheduler::Nanos;

    pub(super) fn text(groups: &[&str], members: &[&str]) -> ExperimentText {
        ExperimentText {
            groups: groups.iter().map(|word| group(word).expect("a group")).collect(),
            members: members.iter().map(|word| member(word).expect("a member")).collect(),
            ..ExperimentText::default()
        }
    }

    fn error(groups: &[&str], members: &[&str]) -> String {
        let described =
            Groups::of_text(&text(groups, members)).and_then(|groups| groups.with_recorded(&[]).map(drop));
        described.expect_err("refused").to_string()
    }

    /// B7: what the kernel asks of all files of a group is asked of those that were recorded and written.
    #[test]
    fn recorded_files_of_a_group_stand_until_they_are_written() {
        let of = |word: &str| {
            Groups::of_text(&text(&[word], &[])).expect("words that a kernel takes").described[0].clone()
        };
        let recorded = [of("web=cpu.max:20000/50000,cpu.weight:300"), of("db=cpu.idle:1")];
        let recorded: Vec<&Group> = recorded.iter().collect();
        let with = |word: &str| {
            let said = Groups::of_text(&text(&[word], &[])).expect("words that a kernel takes");
            said.with_recorded(&recorded).map_err(|error| error.to_string())
        };
        let all = with("web=cpu.max.burst:20000").expect("no more than the recorded quota");
        assert_eq!(
            all,
            [of("web=cpu.max:20000/50000,cpu.weight:300,cpu.max.burst:20000"), of("db=cpu.idle:1")]
        );
        assert!(with("web=cpu.max.burst:20001").is_err_and(|error| error.starts_with("group web: ")));
        let idle = with("db=cpu.weight:50").expect_err("EINVAL");
        assert!(idle.starts_with("group db: ") && idle.contains("cpu.idle"), "{idle}");
    }

    #[test]
    fn what_is_said_of_a_group_later_comes_on_top() {
        let groups =
            [group("web=cpu.max:200000/50000,cpu.weight:300"), group("/web=cpu.max:100000"), group("b")];
        let groups = groups.map(|group| group.expect("legal"));
        let all = on_top(&groups[1..], &groups[..1]);
        assert_eq!(all.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["web", "b"]);
        let experiment = ExperimentText { groups: all, ..ExperimentText::default() };
        let groups = Groups::of_text(&experiment).expect("legal");
        let mut setup = Setup::new(1);
        groups.make(&mut setup, &groups.described);
        let [web, _] = setup.groups() else { panic!("two groups") };
        let [quota, period] = [100, 50].map(Nanos::from_millis);
        assert_eq!(web.quota, Some(QuotaSpec { quota, period, burst: Nanos::ZERO }));
        assert_eq!(web.shares, 3072);
        assert_eq!(groups.said_in(ExperimentText::default()), experiment);
    }

    #[test]
    fn a_member_needs_its_group() {
        assert!(Groups::of_text(&text(&["a/b"], &["a/b=x", "a=cc*", "/a/b=7"])).is_ok());
        let misspelt = error(&["web"], &["wbe=x"]);
        assert_eq!(misspelt, "group wbe: it has members and is not there; did you mean `web`?");
        assert!(error(&["database"], &["web=x"]).ends_with("not there; make it, too (group=web)"));
        assert!(member("web").is_err() && member("web=").is_err() && member("=x").is_err());
        assert_eq!(member("web=all").expect("legal").task, "*");
    }
}
