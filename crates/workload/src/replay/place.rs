//! In which task groups the recorded tasks begin.

use super::groups::ReplayGroups;
use super::recording::{Begin, RecordedTask, TaskIndex};
use crate::groups::{Members, group_at};
use machine::Setup;
use scheduler::GroupId;

/// What the user and the recording say of it.
pub(super) struct Place<'a> {
    pub recorded: &'a ReplayGroups,
    pub members: &'a Members,
    /// The group of those that are in no other.
    pub session: Option<GroupId>,
}

impl Place<'_> {
    /// The group of a task, the one at `index`; `None`: that of who forks it, or the root.
    pub fn group_of(&self, index: TaskIndex, task: &RecordedTask, setup: &mut Setup) -> Option<GroupId> {
        let named = self.members.group_of(|whom| whom.is(task));
        let recorded = || {
            let path = self.recorded.of.get(&index)?;
            Some(group_at(setup, path, &self.recorded.described))
        };
        let named = named.or_else(recorded);
        // Who is forked begins where its parent is.
        named.or(self.session.filter(|_| task.begin != Begin::Forked))
    }
}
