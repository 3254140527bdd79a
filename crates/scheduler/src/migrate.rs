//! migrate_disable: a task that has a sleeping lock of the kernel stays on its CPU until it gives that back,
//! whatever its affinity says (machine.md 1.5).
//!
//! It still counts as one that may move: a real-time task stays on the pushable list and makes its CPU
//! overloaded. A push or a pull that finds it cannot take it, but may have the stopper move the task *that
//! runs there* instead, so that the one with the lock goes on.

use crate::ThisCpu;
use crate::affinity::leave_where_not_allowed;
use crate::platform::Platform;
use crate::shared::Kept;
use crate::stop::push_away_nowait;

/// Whether a task may leave its CPU; its own.
#[derive(Debug, Default)]
pub struct Migration {
    disabled: Kept<bool>,
    /// The stopper was to move it meanwhile.
    push_when_enabled: Kept<bool>,
}

impl Migration {
    /// Another one has come for the task, which has to stay: once more when it may go.
    pub(crate) fn push_when_enabled(&self) {
        self.push_when_enabled.set(true);
    }

    pub(crate) fn reset(&self) {
        self.disabled.set(false);
        self.push_when_enabled.set(false);
    }

    /// Whether it has to stay.
    #[inline]
    pub fn is_disabled(&self) -> bool {
        self.disabled.get()
    }
}

/// The running task has to stay on this CPU from here on. (There is one level: no path takes a second lock.)
pub fn migrate_disable<P: Platform>(me: ThisCpu<'_, P>) {
    let migration = &me.task(me.curr()).migration;
    debug_assert!(!migration.is_disabled());
    migration.disabled.set(true);
}

/// It may leave again. What was to happen to it meanwhile happens now: its affinity has changed, or the
/// stopper came for it.
pub async fn migrate_enable<P: Platform>(me: ThisCpu<'_, P>) {
    let p = me.curr();
    let migration = &me.task(p).migration;
    debug_assert!(migration.is_disabled());
    migration.disabled.set(false);
    let pushes = migration.push_when_enabled.get();
    migration.push_when_enabled.set(false);
    if !me.task(p).is_allowed_on(me.id) {
        leave_where_not_allowed(me, p).await;
    } else if pushes {
        push_away_nowait(me, me.id, p).await;
    }
}

#[cfg(test)]
mod tests;
