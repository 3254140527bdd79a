//! The zero-lag point V, and who is left of it (eevdf-class 2.2, 2.3).
//!
//! V is the mean of the virtual runtimes of all that compete, by weight: at V nobody would owe anything. It
//! is kept as two sums over those that wait, counted from a reference `v0`; the running entity is added when
//! somebody asks.

use super::tree::Tree;
use crate::fair::queue::{CfsRq, FairEntity};
use crate::fair::vruntime::{earlier, lag, later};
use crate::platform::Platform;
use crate::registry::VRef;
use crate::rq::RqGuard;
use crate::task::TaskTable;

/// A queue's part of this discipline.
#[derive(Debug)]
pub struct EevdfRq {
    /// Those that wait.
    pub tree: Tree,
    /// Virtual time from which the sums count.
    pub v0: u64,
    /// Of those that wait: sum of weight × (virtual runtime − `v0`).
    pub sum_wv: i128,
    /// Of those that wait: sum of the weights.
    pub sum_w: u64,
}

impl Default for EevdfRq {
    fn default() -> EevdfRq {
        EevdfRq { tree: Tree::default(), v0: CfsRq::INITIAL_MIN_VRUNTIME, sum_wv: 0, sum_w: 0 }
    }
}

impl EevdfRq {
    /// `weight × (virtual runtime − v0)` of an entity.
    pub(super) fn weighted_key(&self, se: &FairEntity) -> i128 {
        i128::from(se.weight()) * i128::from(lag(se.vruntime.get(), self.v0))
    }

    /// Counts from another virtual time.
    fn move_v0(&mut self, by: i64) {
        self.sum_wv -= i128::from(self.sum_w) * i128::from(by);
        self.v0 = self.v0.wrapping_add_signed(by);
    }
}

/// The sums over all that compete, the running entity included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    v0: u64,
    weighted_keys: i128,
    weights: u64,
}

impl Sums {
    /// Those of a queue.
    pub(crate) fn of(tasks: &TaskTable, fair: &CfsRq) -> Sums {
        let runs = fair.curr.map(|c| &tasks.get(c.task()).se);
        Sums::with(fair, runs.filter(|se| se.eevdf.on_rq.get()))
    }

    /// Those of a queue whose running entity, as far as it competes, is `runs`.
    #[inline]
    pub(super) fn with(fair: &CfsRq, runs: Option<&FairEntity>) -> Sums {
        let queue = &fair.eevdf;
        let mut sums = Sums { v0: queue.v0, weighted_keys: queue.sum_wv, weights: queue.sum_w };
        if let Some(curr) = runs {
            sums.weighted_keys += queue.weighted_key(curr);
            sums.weights += curr.weight();
        }
        sums
    }

    /// How far right of the reference V is, rounded towards the left; `None` where nobody competes.
    fn mean(&self) -> Option<i64> {
        // Within the range of virtual times, because it is a mean of them.
        (self.weights > 0).then(|| match (i64::try_from(self.weighted_keys), i64::try_from(self.weights)) {
            // Nearly always: a division of twice the width takes several times as long.
            (Ok(keys), Ok(weights)) => keys.div_euclid(weights),
            _ => self.weighted_keys.div_euclid(i128::from(self.weights)) as i64,
        })
    }

    /// V; `None` where nobody competes.
    pub(crate) fn zero_lag_point(&self) -> Option<u64> {
        self.mean().map(|by| self.v0.wrapping_add_signed(by))
    }

    /// Whether a virtual time is at V or left of it: exact, because nothing is divided.
    #[inline]
    pub(crate) fn eligible(&self, vruntime: u64) -> bool {
        self.weighted_keys >= i128::from(lag(vruntime, self.v0)) * i128::from(self.weights)
    }

    /// Sum of the weights.
    pub(super) fn weights(&self) -> u64 {
        self.weights
    }
}

/// The sums of a held queue.
#[inline]
pub(super) fn sums<P: Platform>(rq: &RqGuard<'_, P>) -> Sums {
    Sums::of(&rq.me.k.tasks, &rq.fair)
}

/// V, rounded towards the left; under `v_ref=zero` the sums count from it afterwards.
pub(in crate::fair) fn avg_vruntime<P: Platform>(rq: &mut RqGuard<'_, P>) -> u64 {
    let sums = sums(rq);
    let from_zero = rq.me.k.config.rules.v_ref.get() == VRef::Zero;
    let by = sums.mean().unwrap_or_else(|| match rq.fair.curr.filter(|_| from_zero) {
        Some(curr) => lag(rq.me.entity(curr).vruntime.get(), sums.v0),
        None => 0,
    });
    if from_zero {
        rq.fair.eevdf.move_v0(by);
    }
    sums.v0.wrapping_add_signed(by)
}

/// Whether an entity is owed service, or nothing.
pub(in crate::fair) fn entity_eligible<P: Platform>(rq: &RqGuard<'_, P>, se: &FairEntity) -> bool {
    sums(rq).eligible(se.vruntime.get())
}

/// Under `v_ref=min` the reference follows the least virtual runtime of all that compete; never back.
pub(super) fn update_min_vruntime<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.me.k.config.rules.v_ref.get() != VRef::Min {
        return;
    }
    let curr = rq.fair.curr.map(|c| rq.me.entity(c)).filter(|c| c.eevdf.on_rq.get());
    let least = rq.fair.eevdf.tree.least_vruntime();
    let candidates = least.into_iter().chain(curr.map(|c| c.vruntime.get()));
    let Some(candidate) = candidates.reduce(earlier) else { return };
    let v0 = rq.fair.eevdf.v0;
    rq.fair.eevdf.move_v0(lag(later(v0, candidate), v0));
}
