//! P11, P12 and deadline-groups DA7: what a push or a pull may move; MI6: what nothing may.

use super::Findings;
use crate::platform::Platform;
use crate::{Event, Nanos, Prio, Reason, TaskId, ThisCpu};
use alloc::format;

/// The latest assignment to another CPU: whether it was a push or a pull is told right after it.
#[derive(Debug, Default)]
pub(super) struct Moves {
    latest: Option<Move>,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    task: TaskId,
    /// Best priority queued at the destination before.
    best_there: Prio,
    /// Earliest deadline queued at the destination before, a server's included.
    earliest_there: Option<Nanos>,
    /// Priority of the task that runs where it came from.
    runs_here: Prio,
}

impl Moves {
    pub fn event<P: Platform>(&mut self, me: ThisCpu<'_, P>, event: Event, found: &mut Findings) {
        match event {
            Event::Migrate { task, orig, dest } => {
                found.expect("machine.md MI6", !me.task(task).migration.is_disabled(), || {
                    format!("{task:?} goes from CPU {orig} to {dest}, and may not migrate")
                });
                self.latest = Some(Move {
                    task,
                    best_there: me.k.rq(dest).published.rt_highest.get(),
                    earliest_there: me.k.rq(dest).published.dl_earliest.get(),
                    runs_here: me.task(me.k.rq(orig).published.curr.get()).prio.get(),
                });
            }
            Event::Decision { task, reason: Reason::Pushed } => self.beats_the_best(me, task, found),
            Event::Decision { task, reason: Reason::Pulled } => {
                self.beats_the_best(me, task, found);
                self.does_not_beat_who_runs(me, task, found);
            }
            Event::Decision { task, reason: Reason::DlPushed | Reason::DlPulled } => {
                self.is_the_earliest(me, task, found);
            }
            _ => {}
        }
    }

    /// DA7: the deadline of a moved task is before all that are queued where it goes.
    fn is_the_earliest<P: Platform>(&self, me: ThisCpu<'_, P>, p: TaskId, found: &mut Findings) {
        let deadline = me.task(p).dl.deadline();
        let before = |other: Option<Nanos>| other.is_none_or(|other| deadline < other);
        let right = self.latest.is_some_and(|m| m.task == p && before(m.earliest_there));
        found.expect("deadline-groups DA7", right, || {
            format!("{p:?} with deadline {deadline} was moved: {:?}", self.latest)
        });
    }

    /// P11: a moved task beats whatever is queued where it goes.
    fn beats_the_best<P: Platform>(&self, me: ThisCpu<'_, P>, p: TaskId, found: &mut Findings) {
        let prio = me.task(p).prio.get();
        let right = self.latest.is_some_and(|m| m.task == p && prio.beats(m.best_there));
        found.expect("rt-class P11", right, || format!("{p:?} of prio {prio} was moved: {:?}", self.latest));
    }

    /// P12: a pulled task does not beat the one that runs where it was: that CPU is about to switch to it.
    fn does_not_beat_who_runs<P: Platform>(&self, me: ThisCpu<'_, P>, p: TaskId, found: &mut Findings) {
        let prio = me.task(p).prio.get();
        let right = self.latest.is_some_and(|m| !prio.beats(m.runs_here));
        found.expect("rt-class P12", right, || format!("{p:?} of prio {prio} was pulled: {:?}", self.latest));
    }
}
