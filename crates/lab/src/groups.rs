//! The task groups of an experiment, and its isolated CPUs: from words to groups and parts of a machine.

use crate::deadlines;
use crate::error::Error;
use crate::kernel::{NamedKernel, Release};
use machine::{
    GroupOutcome, GroupSpec, PartitionKind, PartitionOutcome, QuotaSpec, RtLimitSpec, Setup, TaskOrigin,
    TaskOutcome,
};
use scheduler::registry::RtThrottle;
use scheduler::{Clamps, CpuMask, DlParams, GroupId, Nanos};
use schema::{
    ExperimentText, GroupClamps, GroupLimit, GroupResult, GroupStat, GroupText, MemberText, PartitionResult,
    RtGroupLimit, is_in_group,
};
use suggest::suggest;
use workload::deadlines::Deadlines;
use workload::groups::{Group, Member, Members, group_at, weight_of_shares};
use workload::replay::TaskSelector;
use workload::units;

/// The first releases with something of groups (deadline-groups B5 to B7).
const FIRST_GROUPS: Release = Release::new(2, 6, 24);
const FIRST_AUTOGROUP: Release = Release::new(2, 6, 38);
const FIRST_LIMITS: Release = Release::new(3, 2, 0);
pub(crate) const FIRST_BURSTS: Release = Release::new(5, 14, 0);
const FIRST_IDLE: Release = Release::new(5, 15, 0);
const FIRST_CLAMPS: Release = Release::new(5, 3, 0);
pub(crate) const FIRST_PARTITIONS: Release = Release::new(5, 0, 0);
pub(crate) const FIRST_ISOLATED: Release = Release::new(6, 1, 0);
/// CONFIG_NO_HZ_FULL (deadline-groups B10 [R]).
pub(crate) const FIRST_NOHZ_FULL: Release = Release::new(3, 10, 0);

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

/// Reads the list of `isolcpus=`: `2-3`, `domain,2-3`.
///
/// # Errors
/// No list of CPUs, or a kind of isolation that is not modelled.
pub fn isolcpus(text: &str) -> Result<String, String> {
    let list = text.strip_prefix("domain,").unwrap_or(text);
    if list.split(',').any(|part| part == "nohz") {
        return Err("`nohz` is an option of its own here: leave it out, and say nohz_full=".to_owned());
    }
    let flags = ["managed_irq"];
    if let Some(flag) = flags.into_iter().find(|flag| list.split(',').any(|part| part == *flag)) {
        return Err(format!("`{flag}` is not modelled (limit isolation); leave it out"));
    }
    units::cpu_list(list).map(|_| list.to_owned())
}

/// Reads the list of `nohz_full=`: `2-3`.
///
/// # Errors
/// No list of CPUs.
pub fn nohz_full(text: &str) -> Result<String, String> {
    units::cpu_list(text).map(|_| text.to_owned())
}

/// Reads `NAME`, or `NAME=FILE:VALUE,…`: `web=cpu.max:200000/100000,cpu.weight:300`.
///
/// # Errors
/// No name, a file that a group has not got, a value that the kernel does not take.
pub fn group(word: &str) -> Result<GroupText, String> {
    let (name, settings) = word.split_once('=').unwrap_or((word, ""));
    let mut group = Group::new(name)?;
    group.write(words_of(settings).iter().map(String::as_str))?;
    Ok(text_of(&group))
}

/// The words between commas; a comma may also stand in a list of CPUs: `cpuset.cpus:0-1,4,cpu.weight:300`.
fn words_of(settings: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in settings.split(',').filter(|part| !part.is_empty()) {
        match words.last_mut().filter(|last| last.starts_with("cpuset.cpus:") && !part.contains(':')) {
            Some(list) => list.extend([",", part]),
            None => words.push(part.to_owned()),
        }
    }
    words
}

/// Reads `NAME=TASK`: `web=nginx`, `web=cc*`.
///
/// # Errors
/// No such form.
pub fn member(word: &str) -> Result<MemberText, String> {
    let (name, task) = word.split_once('=').ok_or("write GROUP=TASK, such as web=nginx or web=cc*")?;
    let whom: TaskSelector = if task == "all" { "*" } else { task }.parse()?;
    Ok(MemberText { group: Group::new(name)?.path().to_owned(), task: whom.word() })
}

/// Reads the sysctl of autogroup, on (`autogroup`, `sched_autogroup_enabled=1`) or off; `None` for another
/// setting.
#[must_use]
pub fn autogroup(word: &str) -> Option<bool> {
    let word = word.strip_prefix("kernel.").unwrap_or(word);
    match word.strip_prefix("sched_autogroup_enabled=").or(word.strip_prefix("autogroup=")) {
        Some("1") => Some(true),
        Some("0") => Some(false),
        Some(_) => None,
        None => (word == "autogroup").then_some(true),
    }
}

fn text_of(group: &Group) -> GroupText {
    GroupText { name: group.path().to_owned(), settings: group.words().to_vec() }
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
            near.map_or("describe it, too (group)".to_owned(), |near| format!("did you mean `{near}`?"));
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

    /// Refuses what the kernel has not got.
    ///
    /// # Errors
    /// What it is, and since when there is such a thing.
    pub(crate) fn check(&self, kernel: &NamedKernel, throttle: RtThrottle) -> Result<(), Error> {
        let release = kernel.nearest_release();
        let any = |has: fn(&Group) -> bool| self.described.iter().find(|group| has(group)).map(Group::path);
        let first = self.described.first().map(Group::path);
        for (group, what, since) in [
            (first, "task groups", FIRST_GROUPS),
            (self.autogroup.then_some("autogroup"), "autogroup", FIRST_AUTOGROUP),
            (any(|group| group.settings().is_limited()), "cpu.max", FIRST_LIMITS),
            (any(|group| group.settings().has_burst()), "cpu.max.burst", FIRST_BURSTS),
            (any(|group| group.settings().is_idle()), "cpu.idle", FIRST_IDLE),
            (any(|group| group.settings().is_clamped()), "cpu.uclamp.min and .max", FIRST_CLAMPS),
            (any(is_partition), "cpuset.cpus.partition", FIRST_PARTITIONS),
            (any(is_isolated), "cpuset.cpus.partition:isolated", FIRST_ISOLATED),
            (self.nohz_full.as_ref().map(|_| "nohz_full"), "nohz_full", FIRST_NOHZ_FULL),
        ] {
            if let Some(group) = group.filter(|_| release < since) {
                let problem = format!("{} has no {what}: it exists since {since}", kernel.asked);
                return Err(Error::Group { group: group.to_owned(), problem });
            }
        }
        match any(|group| group.settings().has_rt_limit()).filter(|_| throttle != RtThrottle::Groups) {
            Some(group) => Err(Error::Group { group: group.to_owned(), problem: no_rt_groups(kernel) }),
            None => Ok(()),
        }
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

    /// Makes deadline tasks of those that are to be some, whatever load they are of.
    pub(crate) fn give_deadlines(&self, setup: &mut Setup) -> Deadlines {
        let deadlines = Deadlines::new(self.deadlines.iter().cloned());
        setup.change_tasks(0, |pid, spec| deadlines.first(pid, spec));
        deadlines
    }

    /// Makes sure that each rule has met somebody.
    ///
    /// # Errors
    /// The first that has not.
    pub(crate) fn all_met(&self, members: &Members, deadlines: &Deadlines) -> Result<(), Error> {
        if let Some(Member { whom, group }) = members.unmet().next().map(|place| &self.members[place]) {
            return Err(Error::NobodyIn { group: group.clone(), whom: whom.clone() });
        }
        match deadlines.unmet().next().map(|place| &self.deadlines[place].0) {
            Some(whom) => Err(Error::NoDeadlineTask { whom: whom.clone() }),
            None => Ok(()),
        }
    }
}

/// Takes from the groups of recordings what the kernel of the run has not got; a sentence for each. (What the
/// user said of groups has passed [`Groups::check`].)
///
/// # Errors
/// It has no groups at all.
pub(crate) fn fit(
    setup: &mut Setup,
    kernel: &NamedKernel,
    throttle: RtThrottle,
) -> Result<Vec<String>, Error> {
    let release = kernel.nearest_release();
    if let Some(group) = setup.groups().first().filter(|_| release < FIRST_GROUPS) {
        let problem = format!(
            "{} has no task groups: they exist since {FIRST_GROUPS}; replay the recording without its own, all \
             tasks in one group (`flat`)",
            kernel.asked
        );
        return Err(Error::Group { group: group.name.clone(), problem });
    }
    let mut left_out = Vec::new();
    setup.change_groups(|group| {
        let has_rt = group.rt.is_some_and(|rt| rt != RtLimitSpec::default());
        if has_rt && throttle != RtThrottle::Groups {
            left_out.push(format!(
                "the recorded cpu.rt_runtime_us of group {} is left out: {}",
                group.name,
                no_rt_groups(kernel)
            ));
            group.rt = Some(RtLimitSpec::default());
        }
        let mut lacks = |what: &str, since: Release| {
            let GroupSpec { name, .. } = group;
            left_out.push(format!(
                "the recorded {what} of group {name} is left out: {} has none (since {since})",
                kernel.asked
            ));
        };
        if release < FIRST_LIMITS && group.quota.is_some() {
            lacks("cpu.max", FIRST_LIMITS);
            group.quota = None;
        }
        let unburdened = |quota: QuotaSpec| QuotaSpec { burst: Nanos::ZERO, ..quota };
        if release < FIRST_BURSTS && group.quota.is_some_and(|quota| quota != unburdened(quota)) {
            lacks("cpu.max.burst", FIRST_BURSTS);
            group.quota = group.quota.map(unburdened);
        }
        if release < FIRST_CLAMPS && group.clamps != Clamps::NONE {
            lacks("cpu.uclamp.min and .max", FIRST_CLAMPS);
            group.clamps = Clamps::NONE;
        }
        if release < FIRST_IDLE && group.idle {
            lacks("cpu.idle", FIRST_IDLE);
            group.idle = false;
        }
    });
    Ok(left_out)
}

/// What groups came to, in the order in which they were made.
pub(crate) fn results(groups: &[GroupOutcome], tasks: &[TaskOutcome]) -> Vec<GroupResult> {
    let own = tasks.iter().filter(|task| task.origin != TaskOrigin::Machine);
    let all = own.map(|task| task.counters.sum_exec_runtime).sum();
    groups.iter().map(|group| result(group, above(group, groups).unwrap_or(all))).collect()
}

/// A note if there are groups in which no task was, nor in any below them. A partition divides the machine
/// all the same.
pub(crate) fn of_nobody(groups: &[GroupOutcome], tasks: &[TaskOutcome]) -> Option<String> {
    let mut has_some = vec![false; groups.len()];
    for task in tasks {
        let mut group = task.group;
        while let Some(place) = group.index().checked_sub(1).filter(|place| *place < groups.len()) {
            has_some[place] = true;
            group = groups[place].spec.parent;
        }
    }
    let is_empty = |(group, has_some): &(&GroupOutcome, bool)| {
        !has_some && group.spec.partition == PartitionKind::Member
    };
    let empty = groups.iter().zip(has_some).filter(is_empty);
    let names: Vec<&str> = empty.map(|(group, _)| group.spec.name.as_str()).collect();
    let [first, ..] = names[..] else { return None };
    let which = if names.len() == 1 { "group" } else { "groups" };
    Some(format!("no task was in {which} {}; say which are to be (in: {first}=TASK)", names.join(", ")))
}

/// What the group above one used; `None` of one at the top.
fn above(group: &GroupOutcome, groups: &[GroupOutcome]) -> Option<Nanos> {
    // The root is the first of the machine's table, and not among these.
    Some(groups.get(group.spec.parent.index().checked_sub(1)?)?.usage)
}

/// How the machine was divided among these groups.
pub(crate) fn partitions(parts: &[PartitionOutcome], groups: &[GroupOutcome]) -> Vec<PartitionResult> {
    let name = |group: GroupId| Some(groups.get(group.index().checked_sub(1)?)?.spec.name.clone());
    let part = |part: &PartitionOutcome| PartitionResult {
        cpus: part.cpus.to_string(),
        group: name(part.group),
        isolated: part.isolated,
    };
    parts.iter().map(part).collect()
}

/// Why a kernel takes no cpu.rt_runtime_us.
fn no_rt_groups(kernel: &NamedKernel) -> String {
    format!(
        "{} has no cpu.rt_runtime_us: it is built without RT_GROUP_SCHED; set rt_throttle=groups for one \
         that has it",
        kernel.asked
    )
}

fn is_partition(group: &Group) -> bool {
    group.settings().partition() != PartitionKind::Member
}

fn is_isolated(group: &Group) -> bool {
    group.settings().partition() == PartitionKind::Isolated
}

fn result(group: &GroupOutcome, of_all: Nanos) -> GroupResult {
    let spec = &group.spec;
    let limit = group.quota.unwrap_or_default();
    GroupResult {
        name: spec.name.clone(),
        weight: (!spec.idle).then(|| weight_of_shares(spec.shares)),
        max: spec.quota.map(|quota| GroupLimit {
            quota_ns: quota.quota.0,
            period_ns: quota.period.0,
            burst_ns: quota.burst.0,
        }),
        rt: group.rt.map(|rt| RtGroupLimit {
            runtime_ns: rt.limit.runtime.map(|runtime| runtime.0),
            period_ns: rt.limit.period.0,
        }),
        cpus: spec.cpus.as_ref().map(ToString::to_string),
        clamps: (spec.clamps != Clamps::NONE)
            .then_some(GroupClamps { min: spec.clamps.min, max: spec.clamps.max }),
        stat: GroupStat {
            usage_ns: group.usage.0,
            share_permille: permille(group.usage, of_all),
            nr_periods: limit.nr_periods,
            nr_throttled: limit.nr_throttled,
            throttled_ns: limit.throttled.0,
            nr_bursts: limit.nr_bursts,
            burst_ns: limit.burst.0,
            nr_rt_throttled: group.rt.map_or(0, |rt| rt.nr_throttled),
            rt_throttled_ns: group.rt.map_or(0, |rt| rt.throttled.0),
        },
    }
}

/// The nearest whole number of thousandths; 0 of nothing.
fn permille(part: Nanos, whole: Nanos) -> u64 {
    let (part, whole) = (u128::from(part.0), u128::from(whole.0));
    (part * 1000 + whole / 2).checked_div(whole).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::QuotaOutcome;

    fn text(groups: &[&str], members: &[&str]) -> ExperimentText {
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

    /// A comma separates files, and CPUs of a list.
    #[test]
    fn a_list_of_cpus_may_have_commas() {
        let told = group("rt=cpuset.cpus:2-3,5,cpuset.cpus.partition:root,cpu.weight:300").expect("legal");
        assert_eq!(told.settings, ["cpuset.cpus:2-3,5", "cpuset.cpus.partition:root", "cpu.weight:300"]);
        assert!(group("rt=cpuset.cpus:2-x").is_err() && group("rt=cpu.weight:3,4").is_err());
    }

    #[test]
    fn what_is_isolated_is_a_list_of_cpus() {
        assert_eq!(isolcpus("domain,2-3"), Ok("2-3".to_owned()));
        assert!(isolcpus("managed_irq,2").is_err_and(|problem| problem.contains("not modelled")));
        assert!(isolcpus("nohz,2").is_err_and(|problem| problem.contains("say nohz_full=")));
        assert!(nohz_full("2-3").is_ok() && nohz_full("two").is_err());
        assert!(isolcpus("two").is_err() && isolcpus("").is_err());
        let text = ExperimentText { isolcpus: Some("2-3".to_owned()), ..ExperimentText::default() };
        let groups = Groups::of_text(&text).expect("legal");
        assert!(!groups.is_empty() && groups.said_in(ExperimentText::default()) == text);
    }

    #[test]
    fn a_member_needs_its_group() {
        assert!(Groups::of_text(&text(&["a/b"], &["a/b=x", "a=cc*", "/a/b=7"])).is_ok());
        let misspelt = error(&["web"], &["wbe=x"]);
        assert_eq!(misspelt, "group wbe: it has members and is not there; did you mean `web`?");
        assert!(error(&["database"], &["web=x"]).ends_with("describe it, too (group)"));
        assert!(member("web").is_err() && member("web=").is_err() && member("=x").is_err());
        assert_eq!(member("web=all").expect("legal").task, "*");
    }

    /// deadline-groups B5 to B7.
    #[test]
    fn what_a_kernel_has_not_got_is_refused_with_its_release() {
        let said = |kernel: &str, word: &str| {
            let kernel = NamedKernel::find(kernel).expect("a kernel");
            let groups = Groups::of_text(&text(&[word], &[])).expect("legal");
            groups.check(&kernel, RtThrottle::Root).err().map_or(String::new(), |error| error.to_string())
        };
        assert_eq!(
            said("2.6.36", "web=cpu.max:20000"),
            "group web: 2.6.36 has no cpu.max: it exists since 3.2"
        );
        assert!(said("5.10", "web=cpu.max:20000,cpu.max.burst:20000").contains("since 5.14"));
        assert!(said("5.10", "web=cpu.idle:1").contains("since 5.15"));
        assert!(
            said("4.19", "web=cpu.uclamp.min:20").contains("no cpu.uclamp.min and .max: it exists since 5.3")
        );
        assert!(said("2.6.23-rt5", "web").contains("since 2.6.24"));
        for (kernel, word) in [
            ("2.6.36", "web=cpu.weight:50"),
            ("3.3", "web=cpu.max:20000"),
            ("5.15", "web=cpu.idle:1"),
            ("5.4", "web=cpu.uclamp.max:20"),
            ("debian12", "web=cpu.max:20000,cpu.max.burst:20000"),
        ] {
            assert_eq!(said(kernel, word), "", "{kernel} {word}");
        }
        let autogroup = Groups { autogroup: true, ..Groups::default() };
        let at =
            |kernel| autogroup.check(&NamedKernel::find(kernel).expect("a kernel"), RtThrottle::Root).is_ok();
        assert!(at("2.6.38") && !at("2.6.37"));
    }

    /// deadline-groups B9: as most kernels are built.
    #[test]
    fn a_kernel_without_groups_of_real_time_tasks_takes_no_limit_of_theirs() {
        let text = text(&["a=cpu.rt_runtime_us:100000"], &[]);
        let groups = Groups::of_text(&text).expect("legal");
        let kernel = NamedKernel::find("debian12").expect("a kernel");
        let refused = groups.check(&kernel, RtThrottle::Root).expect_err("no such file").to_string();
        assert!(refused.contains("debian12 has no cpu.rt_runtime_us: it is built without RT_GROUP_SCHED"));
        assert!(groups.check(&kernel, RtThrottle::Groups).is_ok());
        let rt = RtLimitSpec { runtime: Some(Nanos::from_millis(100)), period: None };
        for (throttle, stays) in [(RtThrottle::Off, false), (RtThrottle::Groups, true)] {
            let mut setup = Setup::new(1);
            setup.group(GroupSpec { rt: Some(rt), ..GroupSpec::new("a") });
            let said = fit(&mut setup, &kernel, throttle).expect("it has groups");
            assert_eq!((setup.groups()[0].rt == Some(rt), said.is_empty()), (stays, stays));
        }
    }

    #[test]
    fn what_a_recording_had_and_a_kernel_has_not_is_left_out_and_said() {
        let fitted = |kernel: &str| {
            let mut setup = Setup::new(1);
            let [quota, period, burst] = [20, 100, 5].map(Nanos::from_millis);
            let limits = Some(QuotaSpec { quota, period, burst });
            setup.group(GroupSpec { quota: limits, ..GroupSpec::new("web") });
            setup.group(GroupSpec { idle: true, ..GroupSpec::new("batch") });
            let said = fit(&mut setup, &NamedKernel::find(kernel).expect("a kernel"), RtThrottle::Root);
            let groups: Vec<_> = setup.groups().iter().map(|group| (group.quota, group.idle)).collect();
            (said.map_err(|error| error.to_string()), groups)
        };
        let (said, groups) = fitted("2.6.36");
        assert_eq!(groups, [(None, false), (None, false)]);
        let limit = "the recorded cpu.max of group web is left out: 2.6.36 has none (since 3.2)";
        assert_eq!(said.expect("it has groups")[0], limit);
        let (said, groups) = fitted("5.10");
        let quota = groups[0].0.expect("limited");
        assert_eq!((quota.quota, quota.burst), (Nanos::from_millis(20), Nanos::ZERO));
        assert_eq!(said.expect("it has groups").len(), 2, "burst and idle");
        let (said, groups) = fitted("6.18");
        assert_eq!((said.as_deref(), groups[1].1), (Ok(&[][..]), true));
        assert!(fitted("2.6.23-rt5").0.expect_err("no groups").contains("in one group (`flat`)"));
    }

    /// deadline-groups B13.3: root{A 100 {A1 100, A2 300}, task T}: T 0.5, A1 0.125, A2 0.375.
    #[test]
    fn a_share_is_one_of_what_the_group_above_used() {
        let outcome = |name: &str, parent, usage_ms| GroupOutcome {
            spec: GroupSpec { parent: GroupId(parent), ..GroupSpec::new(name) },
            usage: Nanos::from_millis(usage_ms),
            quota: None,
            rt: None,
        };
        let mut groups = [outcome("A", 0, 500), outcome("A/1", 1, 125), outcome("A/2", 1, 375)];
        groups[0].quota = Some(QuotaOutcome { nr_periods: 10, ..QuotaOutcome::default() });
        let all = Nanos::from_secs(1);
        let told: Vec<GroupStat> =
            groups.iter().map(|group| result(group, above(group, &groups).unwrap_or(all)).stat).collect();
        assert_eq!(told.iter().map(|stat| stat.share_permille).collect::<Vec<_>>(), [500, 250, 750]);
        assert_eq!((told[0].usage_ns, told[0].nr_periods), (500_000_000, 10));
        assert_eq!(permille(Nanos::ZERO, Nanos::ZERO), 0);
    }
}
