//! An experiment as plain data: what the command line, an experiment file or a result says of it.

use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

use crate::{DeadlineText, GroupText, KernelChange, MemberText};

/// Everything that decides about a run, as it can be written down: the same text and the same files give the
/// same result. What is left out has the default of `schedlab run`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExperimentText {
    /// What runs, all at the same time.
    pub loads: Vec<LoadText>,
    /// On what.
    pub machine: MachineText,
    /// The kernel: a profile, a release or a distribution. Without one it is that of the first recording
    /// among the loads that says its own, or else the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// What is set on top of it or changes during the run, in the order in which it takes effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<KernelChange>,
    /// Task groups; none: all tasks compete with each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupText>,
    /// Who is in them; of several that mean a task the last counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberText>,
    /// Tasks that are SCHED_DEADLINE ones, whatever load they are of; of several that mean a task the last
    /// counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deadlines: Vec<DeadlineText>,
    /// Whether each load is a session with a group of its own (`sched_autogroup_enabled`), for tasks that are
    /// in no other group.
    #[serde(skip_serializing_if = "is_default")]
    pub autogroup: bool,
    /// CPUs in no sched domain (`isolcpus=`): `2-3`, `1,4-7`. Tasks get there by asking for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolcpus: Option<String>,
    /// CPUs that stop their tick beside a single task (`nohz_full=`): `2-3`, `1,4-7`. Timers and kernel
    /// threads that need not be there are elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nohz_full: Option<String>,
    /// Everything random derives from it.
    pub seed: u64,
    /// Other seeds from moments of the run on, in the order in which they come: what `schedlab search` finds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redraws: Vec<RedrawText>,
    /// Simulated time, nanoseconds, above 0. Without it the run lasts as long as its loads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// The stretch of the run to tell of; without one it is all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Stretch>,
    /// The tasks to tell of, each a name, a pattern of names or a pid; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// Files of Linux to show of moments of the run: `sched_debug@2s`, `schedstat@end`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dumps: Vec<String>,
    /// Whether the scheduler's invariants are checked after every event.
    #[serde(skip_serializing_if = "is_default")]
    pub check: bool,
    /// Where they are checked, only those of a moment, after every so many events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_every: Option<NonZeroU32>,
    /// Whether it is summed up what latencies are due to.
    #[serde(skip_serializing_if = "is_default")]
    pub why: bool,
    /// Whether replays are *not* compared with their recordings.
    #[serde(skip_serializing_if = "is_default")]
    pub without_fidelity: bool,
}

impl Default for ExperimentText {
    /// No load, on the default machine under the default kernel, with seed 1.
    fn default() -> ExperimentText {
        ExperimentText {
            loads: Vec::new(),
            machine: MachineText::default(),
            kernel: None,
            settings: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            deadlines: Vec::new(),
            autogroup: false,
            isolcpus: None,
            nohz_full: None,
            seed: 1,
            redraws: Vec::new(),
            duration_ns: None,
            stretch: None,
            tasks: Vec::new(),
            dumps: Vec::new(),
            check: false,
            check_every: None,
            why: false,
            without_fidelity: false,
        }
    }
}

/// A text that is no experiment: what is wrong, in serde's words.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct ExperimentError {
    source: serde_json::Error,
}

impl ExperimentText {
    /// Members by which an experiment's text may begin.
    pub const FIRST: [&str; 7] =
        ["loads", "machine", "kernel", "settings", "seed", "duration_ns", Self::IN_RESULTS];
    /// The member that results have it in.
    const IN_RESULTS: &str = "experiment";

    /// Reads an object with the members of this type, or one with such an object as its only member
    /// `experiment`, as it stands in results.
    ///
    /// # Errors
    /// No JSON, unknown members, values that cannot be: with line and column.
    pub fn from_json(text: &str) -> Result<ExperimentText, ExperimentError> {
        let first = text.split('"').nth(1);
        let parsed = if first == Some(Self::IN_RESULTS) {
            serde_json::from_str(text).map(|Wrapped { experiment }| experiment)
        } else {
            serde_json::from_str(text)
        };
        parsed.map_err(|source| ExperimentError { source })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped {
    experiment: ExperimentText,
}

/// Other random numbers from a moment of a run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RedrawText {
    /// From when on, nanoseconds since the run began.
    pub at_ns: u64,
    /// Everything random derives from it from then on. What was drawn before holds.
    pub seed: u64,
}

/// A load of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadText {
    /// As a command line has it: that of the real tool (`cyclictest -t8 -p90`), or the name of a file.
    pub load: String,
    /// How the file is read; absent for a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileText>,
}

/// How a load is read from a file. What is left out has the default of `schedlab run`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FileText {
    /// XXH3 of the file's content, 128 bits in hexadecimal digits, as `xxh128sum` prints it: a file of
    /// another content is refused. Absent for what was read from a pipe, and where any content will do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xxh128: Option<String>,
    /// Which program would read it, if it is an rt-app file.
    #[serde(skip_serializing_if = "is_default")]
    pub dialect: RtAppDialect,
    /// What waits for locks are, if it is a recording.
    #[serde(skip_serializing_if = "is_default")]
    pub locks: RecordedLocks,
    /// Whether its tasks are in the task groups in which they were, if it is a recording.
    #[serde(skip_serializing_if = "is_default")]
    pub groups: RecordedGroups,
    /// What decides how long it takes from a wakeup to the woken task, if it is a recording.
    #[serde(skip_serializing_if = "is_default")]
    pub wakeup_costs: WakeupCosts,
    /// Changes of its tasks, if it is a recording: `policy=TASK=fifo:50`, and likewise `nice`, `affinity`,
    /// `scale`, `outside`, `until-end`, `until-done` and
    /// `without`. Each list is made at once, on top of those before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Vec<String>>,
    /// The machine on which it was recorded, if it is a recording; an empty one is that of the run. Without
    /// it nothing is known of that machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<MachineText>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MachineText {
    /// A machine that comes with the program, or a machine file. Without it, it is that which is described
    /// beside a recording among the loads, or else the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Content of the machine file. Without it the file of this name is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Number of CPUs; without it, it is the machine's own, or that of a recording on its own machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
}

impl MachineText {
    /// This machine, and where it says nothing, the other.
    #[must_use]
    pub fn or(self, other: &MachineText) -> MachineText {
        let named = if self.name.is_some() { &self } else { other }.clone();
        MachineText { cpus: self.cpus.or(other.cpus), ..named }
    }
}

/// A stretch of a run, in simulated time; of a replay, since the first event of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// Where it begins, nanoseconds.
    pub from_ns: u64,
    /// Where it ends, nanoseconds; without it, at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<u64>,
}

/// Which program would read an rt-app file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RtAppDialect {
    /// workgen in front of rt-app: every repeated key counts, `"suspend"` needs no value.
    #[default]
    Workgen,
    /// rt-app alone: of a repeated key the last value counts, at the place of the first; each key needs a
    /// value.
    RtApp,
}

/// What waits for locks are in a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordedLocks {
    /// Plain mutexes are inferred where nearly every stretch shows for which a task had one. All other waits
    /// last as they were recorded.
    #[default]
    Auto,
    /// Each that was recorded lasts until its waker gets there, and no other arises; priorities are lent as
    /// they were.
    Recorded,
    /// Mutexes are inferred where any show, those with priority inheritance, too: whoever comes first has
    /// one.
    Inferred,
}

/// In which task groups the tasks of a replay are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RecordedGroups {
    /// In those that the recorder wrote down, with their weights and limits. Where it wrote none down, in
    /// none, unless members are named.
    #[default]
    Recorded,
    /// In none, unless members are named: all compete with each other.
    Flat,
}

/// What decides how long it takes from a wakeup to the woken task, where nothing else comes between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WakeupCosts {
    /// On the machine of a recording, how long it took there, as far as that shows; elsewhere the machine
    /// file.
    #[default]
    Recorded,
    /// The machine file.
    Machine,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_has_its_default_and_what_is_misspelt_is_refused() {
        let read = serde_json::from_str::<ExperimentText>;
        assert_eq!(read("{}").expect("readable"), ExperimentText::default());
        let machine = read(r#"{"machine": {"cpus": 2}}"#).expect("readable").machine;
        assert_eq!(machine, MachineText { cpus: Some(2), ..MachineText::default() });
        for wrong in [r#"{"sede": 2}"#, r#"{"machine": {"cpu": 2}}"#, r#"{"loads": [{}]}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_machine_is_filled_up_part_by_part_and_keeps_its_file() {
        let machine = |name: Option<&str>, content: Option<&str>, cpus| MachineText {
            name: name.map(str::to_owned),
            content: content.map(str::to_owned),
            cpus,
        };
        let common = machine(Some("vm.toml"), Some("name = 'vm'"), Some(4));
        assert_eq!(machine(None, None, Some(8)).or(&common), MachineText { cpus: Some(8), ..common.clone() });
        assert_eq!(
            machine(Some("laptop"), None, None).or(&common),
            machine(Some("laptop"), None, Some(4)),
            "another machine has not the content of this one's file"
        );
    }
}
