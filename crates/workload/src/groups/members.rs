//! Who is in which task group.

use crate::by_task::{ByTask, OfForked};
use crate::replay::TaskSelector;
use machine::TaskSpec;
use scheduler::{GroupId, Pid};

/// Tasks that are in a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// The tasks, by the names and ids with which they begin; of a recording, by any of theirs.
    pub whom: TaskSelector,
    /// Path of the group.
    pub group: String,
}

/// Says of each task of a run in which group it begins: that of the last rule that means it, else that of who
/// forks it. Cheap to clone; all clones count whom the rules met.
#[derive(Clone, Debug)]
pub struct Members(ByTask<GroupId>);

impl Members {
    /// Nobody is in a group of his own.
    #[must_use]
    pub fn none() -> Members {
        Members::new([])
    }

    /// Of these rules, each with its group.
    pub fn new(rules: impl IntoIterator<Item = (TaskSelector, GroupId)>) -> Members {
        Members(ByTask::new(rules))
    }

    /// The group of whom this is true; `None` where no rule means it.
    pub(crate) fn group_of(&self, is_meant: impl FnMut(&TaskSelector) -> bool) -> Option<GroupId> {
        self.0.of(is_meant)
    }

    /// A task of a setup in its group, as all that it forks; `session` is the group of those that are in no
    /// other.
    #[must_use]
    pub fn first(&self, pid: Pid, spec: TaskSpec, session: Option<GroupId>) -> TaskSpec {
        let group = self.0.of_first(pid, &spec).or(spec.group).or(session);
        self.inside(group, spec)
    }

    fn inside(&self, group: Option<GroupId>, spec: TaskSpec) -> TaskSpec {
        let spec = TaskSpec { group, ..spec };
        if self.0.is_empty() { spec } else { self.watched(spec) }
    }

    /// The rules that have met nobody so far, by their places.
    pub fn unmet(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.unmet()
    }
}

impl OfForked for Members {
    fn forked(&self, spec: TaskSpec) -> TaskSpec {
        self.inside(self.0.of_forked(&spec).or(spec.group), spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Block, Program, Template};

    fn members(rules: &[(&str, u32)]) -> Members {
        let rule = |(whom, group): &(&str, u32)| (whom.parse().expect("a task"), GroupId(*group));
        Members::new(rules.iter().map(rule))
    }

    fn task(comm: &str) -> TaskSpec {
        Template::new(comm, Program::new(Block::new()).expect("a program")).spec()
    }

    #[test]
    fn the_last_rule_that_means_a_task_says_its_group() {
        let members = members(&[("*", 1), ("cc*", 2), ("1001", 3)]);
        let group = |pid, comm| members.first(Pid(pid), task(comm), Some(GroupId(9))).group;
        assert_eq!(group(1000, "make"), Some(GroupId(1)));
        assert_eq!(group(1000, "cc1"), Some(GroupId(2)));
        assert_eq!(members.unmet().collect::<Vec<_>>(), [2]);
        assert_eq!(group(1001, "cc1"), Some(GroupId(3)));
    }

    #[test]
    fn whom_no_rule_means_keeps_its_own_group_or_has_that_of_its_session() {
        let members = members(&[("cc1", 2)]);
        let other =
            |own| members.first(Pid(1000), TaskSpec { group: own, ..task("sh") }, Some(GroupId(9))).group;
        assert_eq!([other(None), other(Some(GroupId(5)))], [Some(GroupId(9)), Some(GroupId(5))]);
        assert_eq!(members.forked(task("sh")).group, None, "that of who forks it");
        assert_eq!(members.forked(task("cc1")).group, Some(GroupId(2)));
    }
}
