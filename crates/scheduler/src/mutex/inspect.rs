//! What a mutex looks like from outside, for the checking mode.

use super::kernel::first_spinner;
use super::object::MutexTable;
use super::waiters::{Key, pi_key};
use crate::task::TaskTable;
use crate::{MutexId, Prio, TaskId};

impl MutexTable {
    /// Priority, among waiters, of the first one that waits for `m`; `None` also while its list is being
    /// changed.
    pub(crate) fn top_waiter_prio(&self, m: MutexId) -> Option<Prio> {
        self.get(m).waiters()?.top().map(|top| top.key.prio)
    }

    /// The first one that waits for the PI mutex `m`, or that of the kernel.
    pub(crate) fn top_waiter(&self, m: MutexId) -> Option<TaskId> {
        self.get(m).top.get()
    }

    /// The head of those that spin for the mutex `m` of the kernel.
    pub(crate) fn first_spinner(&self, m: MutexId) -> Option<TaskId> {
        first_spinner(self.get(m))
    }

    /// How many spin for the mutex `m` of the kernel, but for its first waiter.
    pub fn spinners(&self, m: MutexId) -> usize {
        self.get(m).spinners.borrow().len()
    }

    /// A waiter of the PI mutex `m` that is not where its effective priority belongs.
    pub(crate) fn misplaced_waiter(&self, m: MutexId, tasks: &TaskTable) -> Option<TaskId> {
        let waiters = self.get(m).waiters()?;
        let mut last: Option<Key> = None;
        waiters.iter().find_map(|w| {
            // The deadline is that of the moment when it began to wait.
            let wrong =
                last.is_some_and(|last| w.key.beats(last)) || w.key.prio != pi_key(tasks.get(w.task)).prio;
            last = Some(w.key);
            wrong.then_some(w.task)
        })
    }
}
