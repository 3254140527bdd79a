//! rt-app's own thread: when the duration is over it wakes whoever waits for another thread, so that all come
//! to their end.
//!
//! Here the first thread that comes to the end of its loop then ends the use case for all. So this one is
//! needed only where none does, because all that are left wait on conditions or at barriers.

use super::shared::Shared;
use crate::program::FAIR_TIMER_SLACK;
use machine::{Behaviour, Env, Step, TaskSpec};
use scheduler::Nanos;
use std::rc::Rc;

/// The thread, if the file has a duration and threads that may wait longer.
pub(super) fn main_thread(shared: &Rc<Shared>) -> Option<TaskSpec> {
    let resources = &shared.app.resources;
    let may_wait = resources.conditions.len() + resources.barriers.len() > 0;
    let end = shared.app.global.duration.filter(|_| may_wait)?;
    let thread = MainThread { shared: shared.clone(), end, has_slept: false };
    Some(TaskSpec { timer_slack: FAIR_TIMER_SLACK, ..TaskSpec::new("rt-app", thread) })
}

#[derive(Debug)]
struct MainThread {
    shared: Rc<Shared>,
    end: Nanos,
    has_slept: bool,
}

impl Behaviour for MainThread {
    fn next(&mut self, _: &mut Env<'_>) -> Step {
        if !self.has_slept {
            self.has_slept = true;
            return Step::SleepUntil(self.end);
        }
        if self.shared.all_wait() {
            self.shared.remaining.none();
        }
        Step::Exit
    }
}
