//! In which task groups the recorded tasks begin.

use super::recording::{Begin, RecordedTask};
use crate::groups::Members;
use scheduler::GroupId;

/// What the user says of it.
pub(super) struct Place<'a> {
    pub members: &'a Members,
    /// The group of those that are in no other.
    pub session: Option<GroupId>,
}

impl Place<'_> {
    /// The group of a task; `None`: that of who forks it, or the root.
    pub fn group_of(&self, task: &RecordedTask) -> Option<GroupId> {
        let named = self.members.group_of(|whom| whom.is(task));
        // Who is forked begins where its parent is.
        named.or(self.session.filter(|_| task.begin != Begin::Forked))
    }
}
