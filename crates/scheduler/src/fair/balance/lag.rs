//! Who stays where it is because it owes service to the others of its queue (eevdf-class 4.5).

use crate::fair::discipline;
use crate::fair::queue::EntityId;
use crate::platform::Platform;
use crate::registry::{Feature, LbLag};
use crate::rq::RqGuard;
use crate::{CpuId, TaskId};

/// Under `lb_lag=on` whoever owes service to the others of its queue stays, unless the destination has
/// nothing to do or that has failed before.
pub(super) fn owes_service<P: Platform>(from: &RqGuard<'_, P>, dest: CpuId, p: TaskId, failed: u32) -> bool {
    looks_at_lag(from)
        && failed == 0
        && from.me.k.rq(dest).published.nr_running.get() > 0
        && !discipline::is_eligible(from, EntityId::of(p))
}

/// Whether a task works its debt off asleep: then it stays, unless it is load that is to move.
pub(super) fn works_off_its_debt<P: Platform>(from: &RqGuard<'_, P>, p: TaskId) -> bool {
    looks_at_lag(from) && from.me.task(p).se.eevdf.sched_delayed.get()
}

fn looks_at_lag<P: Platform>(from: &RqGuard<'_, P>) -> bool {
    from.me.k.config.rules.lb_lag.get() == LbLag::On && from.me.has(Feature::PlaceLag)
}
