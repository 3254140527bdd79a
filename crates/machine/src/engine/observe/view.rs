//! A machine to look at.

use crate::engine::hardware::Hw;
use crate::engine::userland::Userland;
use scheduler::Scheduler;

/// All there is to see of a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'s> {
    pub k: &'s Scheduler<Hw>,
    pub user: &'s Userland,
}

impl<'s> View<'s> {
    pub fn hw(self) -> &'s Hw {
        &self.k.platform
    }
}
