//! Which of a CPU's queues is in front: `rq.fair` is the queue that the disciplines work on.
//!
//! The queues change places instead of being named in every call: a machine without groups has but one, and
//! pays nothing. Whoever brings a queue to the front puts the former one back, so outside of the paths of
//! this folder the root's queue is there.

use crate::GroupId;
use crate::fair::queue::CfsRq;
use crate::platform::Platform;
use crate::rq::{RqGuard, RqState};
use crate::shared::{RqLock, Shared};
use core::hint::cold_path;
use core::mem::swap;

impl RqState {
    /// Brings the queue of a group to the front; which group's was there before.
    #[inline]
    pub(in crate::fair) fn bring(&mut self, group: GroupId) -> GroupId {
        let before = self.fair.group;
        if before != group {
            cold_path();
            self.change_places(before, group);
        }
        before
    }

    #[inline(never)]
    fn change_places(&mut self, before: GroupId, group: GroupId) {
        // The place of the queue in front holds the root's.
        if before != GroupId::ROOT {
            swap(&mut self.fair, &mut self.groups[before.index() - 1]);
        }
        if group != GroupId::ROOT {
            swap(&mut self.fair, &mut self.groups[group.index() - 1]);
        }
    }

    /// The queue of a group, wherever it is.
    #[inline]
    pub fn queue(&self, group: GroupId) -> &CfsRq {
        if self.fair.group == group {
            return &self.fair;
        }
        cold_path();
        self.queue_behind(group)
    }

    #[inline(never)]
    fn queue_behind(&self, group: GroupId) -> &CfsRq {
        let place = if group == GroupId::ROOT { self.fair.group } else { group };
        &self.groups[place.index() - 1]
    }
}

impl<'k, P: Platform> RqGuard<'k, P> {
    /// The floor of virtual time of the queue in front.
    #[inline]
    pub(in crate::fair) fn floor(&self) -> &'k Shared<u64, RqLock> {
        if self.fair.group == GroupId::ROOT {
            return &self.published.min_vruntime;
        }
        self.me.k.floor_of(self.fair.group, self.cpu)
    }
}
