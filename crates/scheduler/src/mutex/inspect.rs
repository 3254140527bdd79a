//! What a mutex looks like from outside, for the checking mode.

use super::MutexKind;
use super::object::MutexTable;
use super::waiters::pi_key;
use crate::task::TaskTable;
use crate::{MutexId, Prio, TaskId, TaskState};

impl MutexTable {
    /// The kind of `m`.
    pub(crate) fn kind(&self, m: MutexId) -> MutexKind {
        self.get(m).kind.get()
    }

    /// Who owns `m`, if that task still lives.
    pub(crate) fn living_owner(&self, m: MutexId, tasks: &TaskTable) -> Option<TaskId> {
        let owner = self.get(m).owner.get()?;
        let task = tasks.get(owner.task);
        let lives = !matches!(task.state.get(), TaskState::Dead | TaskState::Free);
        (lives && task.pid.get() == owner.pid).then_some(owner.task)
    }

    /// Priority, among waiters, of the first one that waits for `m`; `None` also while its list is being changed.
    pub(crate) fn top_waiter_prio(&self, m: MutexId) -> Option<Prio> {
        self.get(m).waiters()?.top().map(|top| top.key)
    }

    /// A waiter of the PI mutex `m` that is not where its effective priority belongs.
    pub(crate) fn misplaced_waiter(&self, m: MutexId, tasks: &TaskTable) -> Option<TaskId> {
        let waiters = self.get(m).waiters()?;
        let mut last = Prio(0);
        waiters.iter().find_map(|w| {
            let wrong = w.key.beats(last) || w.key != pi_key(tasks.get(w.task).prio.get());
            last = w.key;
            wrong.then_some(w.task)
        })
    }
}
