//! Balancing since 5.5 (fair-placement 4, `lb=group_type`): by what groups of CPUs are, and not by their load
//! alone. Up to 5.4 the groups were compared otherwise (`room`), and the rest was the same.
//!
//! At a tick `rebalance` looks which domains are due; for each, `load_balance` asks `statistics` for the
//! groups' figures, `decide` for whether and how much, and moves what `detach` finds. `new_idle` does the
//! same for a CPU that is about to idle, `nohz` for those whose ticks are stopped.

mod decide;
mod detach;
mod load_balance;
mod new_idle;
mod nohz;
mod packing;
mod rebalance;
mod room;
mod statistics;
#[cfg(test)]
mod tests;
mod unequal;

pub(super) use new_idle::{end_idle_spell, pre_schedule, wants_pre_schedule};
pub(in crate::fair) use nohz::NohzRoot;
pub(in crate::fair) use nohz::Request;
pub(super) use nohz::nohz_idle_balance;
pub(crate) use nohz::tick_stopped;
pub use nohz::{nohz_csd_func, raise_nohz_balance};
pub(in crate::fair) use packing::Preferences;
pub(crate) use packing::may_be_drained;
pub(super) use rebalance::{rebalance_now, tick_balances_later, trigger_load_balance};

use crate::fair::cpu_load::tick_period;
use crate::platform::Platform;
use crate::{Nanos, ThisCpu};

/// The tick in which a moment lies.
fn jiffies<P: Platform>(me: ThisCpu<'_, P>, at: Nanos) -> u64 {
    at.0 / tick_period(me).0
}

/// Counts a reason about no task in particular: about the one that this CPU runs.
fn note<P: Platform>(me: ThisCpu<'_, P>, reason: crate::Reason) {
    me.decide(me.curr(), reason);
}
