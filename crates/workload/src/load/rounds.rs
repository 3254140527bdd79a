//! Tasks whose next steps depend on what has come in meanwhile: they plan a round of steps at a time.

use crate::program::FAIR_TIMER_SLACK;
use machine::{Behaviour, Env, Step, TaskSpec};
use std::collections::VecDeque;
use std::fmt::Debug;

/// Decides on one round after the other.
pub(super) trait Rounds: Debug {
    /// Adds the steps of the next round; all those of the round before are done. A round without steps ends
    /// the task.
    fn plan(&mut self, env: &mut Env<'_>, steps: &mut VecDeque<Step>);
}

/// A normal task that does so.
pub(super) fn task(comm: &str, working_set_bytes: u64, rounds: impl Rounds + 'static) -> TaskSpec {
    let behaviour = Planned { rounds, steps: VecDeque::new() };
    TaskSpec { working_set_bytes, timer_slack: FAIR_TIMER_SLACK, ..TaskSpec::new(comm, behaviour) }
}

/// Takes the steps of its rounds.
#[derive(Debug)]
struct Planned<R> {
    rounds: R,
    steps: VecDeque<Step>,
}

impl<R: Rounds> Behaviour for Planned<R> {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        if self.steps.is_empty() {
            self.rounds.plan(env, &mut self.steps);
        }
        self.steps.pop_front().unwrap_or(Step::Exit)
    }
}
