//! Who is in which task group.

use crate::replay::TaskSelector;
use machine::{Behaviour, Env, Step, TaskSpec};
use scheduler::{GroupId, Pid};
use std::cell::Cell;
use std::rc::Rc;

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
pub struct Members(Rc<[Rule]>);

#[derive(Debug)]
struct Rule {
    whom: TaskSelector,
    group: GroupId,
    /// Whether it has met a task.
    met: Cell<bool>,
}

impl Members {
    /// Nobody is in a group of his own.
    #[must_use]
    pub fn none() -> Members {
        Members::new([])
    }

    /// Of these rules, each with its group.
    pub fn new(rules: impl IntoIterator<Item = (TaskSelector, GroupId)>) -> Members {
        let rule = |(whom, group)| Rule { whom, group, met: Cell::new(false) };
        Members(rules.into_iter().map(rule).collect())
    }

    /// The group of whom this is true; `None` where no rule means it.
    pub(crate) fn group_of(&self, mut is_meant: impl FnMut(&TaskSelector) -> bool) -> Option<GroupId> {
        let mut group = None;
        for rule in self.0.iter().filter(|rule| is_meant(&rule.whom)) {
            rule.met.set(true);
            group = Some(rule.group);
        }
        group
    }

    /// A task of a setup in its group, as all that it forks; `session` is the group of those that are in no
    /// other.
    #[must_use]
    pub fn first(&self, pid: Pid, spec: TaskSpec, session: Option<GroupId>) -> TaskSpec {
        let number = pid.0.unsigned_abs();
        let group = self.group_of(|whom| whom.matches(number, &spec.comm)).or(spec.group).or(session);
        self.watched(TaskSpec { group, ..spec })
    }

    fn forked(&self, spec: TaskSpec) -> TaskSpec {
        let named =
            |whom: &TaskSelector| !matches!(whom, TaskSelector::Pid(_)) && whom.matches(0, &spec.comm);
        let group = self.group_of(named).or(spec.group);
        self.watched(TaskSpec { group, ..spec })
    }

    fn watched(&self, spec: TaskSpec) -> TaskSpec {
        if self.0.is_empty() {
            return spec;
        }
        let behaviour = Box::new(Forker { inner: spec.behaviour, members: self.clone() });
        TaskSpec { behaviour, ..spec }
    }

    /// The rules that have met nobody so far, by their places.
    pub fn unmet(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, rule)| !rule.met.get()).map(|(place, _)| place)
    }
}

/// A task whose children are looked at.
#[derive(Debug)]
struct Forker {
    inner: Box<dyn Behaviour>,
    members: Members,
}

impl Behaviour for Forker {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        match self.inner.next(env) {
            Step::Fork { child, kind } => Step::Fork { child: Box::new(self.members.forked(*child)), kind },
            other => other,
        }
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
