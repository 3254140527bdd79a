//! Where an entity enters virtual time (eevdf-class 3.2).

use super::average::{avg_vruntime, sums};
use super::slice;
use crate::fair::queue::FairEntity;
use crate::fair::vruntime::scaled;
use crate::platform::Platform;
use crate::registry::Feature;
use crate::rq::RqGuard;

/// How an entity comes to be placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entrance {
    /// For the first time after its fork.
    Initial,
    /// It has been here, or elsewhere, before.
    Return,
}

/// Gives an entity, which does not compete yet, its virtual runtime and deadline: as far from V as it was
/// when it left. Its coming moves V towards it, so its lag is inflated by what that will take away again.
pub(super) fn place_entity<P: Platform>(rq: &mut RqGuard<'_, P>, se: &FairEntity, entrance: Entrance) {
    let me = rq.me;
    slice::renew(rq, se);
    let mut request = se.vdelta(se.eevdf.slice.get().0);
    let mut lag = 0;
    let others = sums(rq).weights();
    // Where nobody competes, lag means nothing.
    if me.has(Feature::PlaceLag) && others > 0 {
        lag = scaled(se.eevdf.vlag.get(), others + se.weight(), others);
    }
    let vruntime = avg_vruntime(rq).wrapping_add_signed(lag.wrapping_neg());
    se.vruntime.set(vruntime);
    if se.eevdf.rel_deadline.replace(false) && me.has(Feature::PlaceRelDeadline) {
        se.eevdf.deadline.set(vruntime.wrapping_add(se.eevdf.deadline.get()));
        return;
    }
    if entrance == Entrance::Initial && me.has(Feature::PlaceDeadlineInitial) {
        request /= 2;
    }
    se.eevdf.deadline.set(vruntime.wrapping_add(request));
}
