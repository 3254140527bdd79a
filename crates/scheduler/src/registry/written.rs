//! What was written to the files of the tunables that Linux scales by the number of CPUs (fair-class 3.3,
//! eevdf-class 0.6).

use crate::Nanos;
use core::cell::Cell;

/// A kernel brings these for one CPU, as [`Tunables`](super::Tunables) has them, and multiplies them;
/// what somebody writes to their files is taken as it is, on any number of CPUs. `None`: nobody has.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Of sched_latency_ns.
    pub latency: Cell<Option<Nanos>>,
    /// Of sched_min_granularity_ns.
    pub min_granularity: Cell<Option<Nanos>>,
    /// Of sched_wakeup_granularity_ns.
    pub wakeup_granularity: Cell<Option<Nanos>>,
    /// Of base_slice_ns.
    pub base_slice: Cell<Option<Nanos>>,
    /// Whether sched_nr_latency is the quotient of the first two, as after a write to either of them, and no
    /// constant of its own.
    pub nr_latency_follows: Cell<bool>,
}

impl Written {
    /// Whether the number of CPUs scales this tunable.
    pub fn is_scaled(name: &str) -> bool {
        Written::default().cell(name).is_some()
    }

    fn cell(&self, name: &str) -> Option<&Cell<Option<Nanos>>> {
        match name {
            "sched_latency_ns" => Some(&self.latency),
            "sched_min_granularity_ns" => Some(&self.min_granularity),
            "sched_wakeup_granularity_ns" => Some(&self.wakeup_granularity),
            "base_slice_ns" => Some(&self.base_slice),
            _ => None,
        }
    }

    /// Takes a write to a file, if it is one of these.
    pub(super) fn take(&self, name: &str, value: i64) -> bool {
        let Some(cell) = self.cell(name) else { return false };
        cell.set(Some(Nanos(value.unsigned_abs())));
        if matches!(name, "sched_latency_ns" | "sched_min_granularity_ns") {
            self.nr_latency_follows.set(true);
        }
        true
    }
}
