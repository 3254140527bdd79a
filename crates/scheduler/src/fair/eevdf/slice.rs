//! How long a request is (eevdf-class 0.6).

use crate::fair::queue::FairEntity;
use crate::fair::scale;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Nanos, Scheduler};

/// Slices that a task may ask for: what lies outside is moved to the nearer end.
pub const CUSTOM_SLICES: core::ops::RangeInclusive<Nanos> = Nanos(100_000)..=Nanos(100_000_000);

/// sched_setattr with a run time for a fair task: that is its slice from now on. Zero: it has the slice of
/// all again.
pub(crate) fn set_custom_slice<P: Platform>(k: &Scheduler<P>, se: &FairEntity, runtime: Nanos) {
    let custom = runtime > Nanos::ZERO;
    se.eevdf.custom_slice.set(custom);
    let slice = if custom {
        runtime.clamp(*CUSTOM_SLICES.start(), *CUSTOM_SLICES.end())
    } else {
        Nanos(scale::base_slice(k))
    };
    se.eevdf.slice.set(slice);
}

/// At the beginning of a request: the slice of all may have changed since the last one.
pub(super) fn renew<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) {
    if !se.eevdf.custom_slice.get() {
        se.eevdf.slice.set(Nanos(scale::base_slice(rq.me.k)));
    }
}

/// The shortest slice of all that compete, the running entity included.
pub(in crate::fair) fn min_slice<P: Platform>(rq: &RqGuard<'_, P>) -> Option<Nanos> {
    running(rq).into_iter().chain(rq.fair.eevdf.tree.shortest_slice()).min()
}

/// The longest slice of all that compete, the running entity included.
pub(super) fn max_slice<P: Platform>(rq: &RqGuard<'_, P>) -> Option<Nanos> {
    running(rq).into_iter().chain(rq.fair.eevdf.tree.longest_slice()).max()
}

fn running<P: Platform>(rq: &RqGuard<'_, P>) -> Option<Nanos> {
    let curr = rq.fair.curr.map(|c| rq.me.entity(c)).filter(|c| c.eevdf.on_rq.get());
    curr.map(|c| c.eevdf.slice.get())
}
