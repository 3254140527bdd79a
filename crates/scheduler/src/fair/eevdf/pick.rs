//! Who runs next: of those that are owed service, the earliest deadline (eevdf-class 3.6).

use super::average::Sums;
use super::protect;
use crate::fair::queue::{EntityId, FairEntity};
use crate::fair::vruntime::lag;
use crate::platform::Platform;
use crate::registry::Feature;
use crate::rq::RqGuard;

/// What a pick asks for beside lag and deadlines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Regard {
    /// The running entity stays while it is protected and eligible.
    pub protection: bool,
    /// The next buddy goes first if it is eligible.
    pub buddy: bool,
}

/// Why an entity is the one to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Because {
    /// It is the next buddy.
    Buddy,
    /// It runs, and is protected.
    Protected,
    /// Of all that are eligible it has the earliest deadline, or it is alone.
    Deadline,
}

/// An entity that should run, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub entity: EntityId,
    pub because: Because,
}

/// The entity that should run; `None` where nobody competes. Nothing changes by asking.
pub(super) fn pick_eevdf<P: Platform>(rq: &RqGuard<'_, P>, regard: Regard) -> Option<Choice> {
    let me = rq.me;
    let by = |because| move |entity| Choice { entity, because };
    let runs = rq.fair.curr.map(|curr| me.entity(curr)).filter(|se| se.eevdf.on_rq.get());
    let tree = &rq.fair.eevdf.tree;
    if tree.is_empty() {
        return runs.and(rq.fair.curr).map(by(Because::Deadline));
    }
    let sums = Sums::with(&rq.fair, runs);
    let is_eligible = |entity: &EntityId| sums.eligible(me.entity(*entity).vruntime.get());
    if regard.buddy
        && me.has(Feature::PickBuddy)
        && let Some(next) = rq.fair.buddies.next.filter(is_eligible)
    {
        return Some(Choice { entity: next, because: Because::Buddy });
    }
    let runs = runs.filter(|se| sums.eligible(se.vruntime.get()));
    if regard.protection && runs.is_some_and(|se| protect::is_kept(me, se)) {
        return rq.fair.curr.map(by(Because::Protected));
    }
    let best = tree.earliest(|vruntime| sums.eligible(vruntime));
    let is_first = |se: &FairEntity| best.is_none_or(|best| lag(se.eevdf.deadline.get(), best.deadline) < 0);
    let entity = if runs.is_some_and(is_first) { rq.fair.curr } else { best.map(|best| best.entity) };
    entity.map(by(Because::Deadline))
}
