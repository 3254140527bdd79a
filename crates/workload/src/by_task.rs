//! What a user says of tasks by their names, whatever load they are of: those that others fork, too.

use crate::replay::TaskSelector;
use machine::{Behaviour, Env, Step, TaskSpec};
use scheduler::Pid;
use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;

/// Rules, each of which says something of the tasks that it means. Cheap to clone; all clones count whom the
/// rules met.
#[derive(Clone, Debug)]
pub(crate) struct ByTask<T>(Rc<[Rule<T>]>);

#[derive(Debug)]
struct Rule<T> {
    whom: TaskSelector,
    says: T,
    /// Whether it has met a task.
    met: Cell<bool>,
}

impl<T: Copy> ByTask<T> {
    pub fn new(rules: impl IntoIterator<Item = (TaskSelector, T)>) -> ByTask<T> {
        ByTask(rules.into_iter().map(|(whom, says)| Rule { whom, says, met: Cell::new(false) }).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the last rule says that means whom this is true of; `None` where none does.
    pub fn of(&self, mut is_meant: impl FnMut(&TaskSelector) -> bool) -> Option<T> {
        let mut says = None;
        for rule in self.0.iter().filter(|rule| is_meant(&rule.whom)) {
            rule.met.set(true);
            says = Some(rule.says);
        }
        says
    }

    /// Of a task that begins with the run.
    pub fn of_first(&self, pid: Pid, spec: &TaskSpec) -> Option<T> {
        self.of(|whom| whom.matches(pid.0.unsigned_abs(), &spec.comm))
    }

    /// Of one that another one forks: its id is not known yet.
    pub fn of_forked(&self, spec: &TaskSpec) -> Option<T> {
        self.of(|whom| !matches!(whom, TaskSelector::Pid(_)) && whom.matches(0, &spec.comm))
    }

    /// The rules that have met nobody so far, by their places.
    pub fn unmet(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter(|(_, rule)| !rule.met.get()).map(|(place, _)| place)
    }
}

/// What is said of tasks that others fork.
pub(crate) trait OfForked: Clone + Debug + 'static {
    /// Such a task, as it is to begin.
    fn forked(&self, spec: TaskSpec) -> TaskSpec;

    /// A task whose children are looked at.
    fn watched(&self, spec: TaskSpec) -> TaskSpec {
        let behaviour = Box::new(Forker { inner: spec.behaviour, rules: self.clone() });
        TaskSpec { behaviour, ..spec }
    }
}

#[derive(Debug)]
struct Forker<R> {
    inner: Box<dyn Behaviour>,
    rules: R,
}

impl<R: OfForked> Behaviour for Forker<R> {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        match self.inner.next(env) {
            Step::Fork { child, kind } => Step::Fork { child: Box::new(self.rules.forked(*child)), kind },
            other => other,
        }
    }
}
