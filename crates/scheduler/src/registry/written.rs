//! What was written to the files of the tunables that Linux scales by the number of CPUs (fair-class 3.3,
//! eevdf-class 0.6).

use super::Tunables;
use crate::Nanos;
use core::cell::Cell;

/// A tunable that a kernel brings for one CPU, as [`Tunables`] has it, and multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scaled {
    /// sched_latency.
    Latency,
    /// sched_min_granularity.
    MinGranularity,
    /// sched_wakeup_granularity.
    WakeupGranularity,
    /// base_slice.
    BaseSlice,
}

impl Scaled {
    const ALL: [Scaled; 4] =
        [Scaled::Latency, Scaled::MinGranularity, Scaled::WakeupGranularity, Scaled::BaseSlice];

    /// The one of this name, if it is scaled.
    pub fn named(name: &str) -> Option<Scaled> {
        Scaled::ALL.into_iter().find(|scaled| scaled.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Scaled::Latency => "sched_latency_ns",
            Scaled::MinGranularity => "sched_min_granularity_ns",
            Scaled::WakeupGranularity => "sched_wakeup_granularity_ns",
            Scaled::BaseSlice => "base_slice_ns",
        }
    }

    /// As the kernel has it for one CPU.
    #[inline]
    pub(crate) fn on_one_cpu(self, tunables: &Tunables) -> Nanos {
        let cell = match self {
            Scaled::Latency => &tunables.sched_latency_ns,
            Scaled::MinGranularity => &tunables.sched_min_granularity_ns,
            Scaled::WakeupGranularity => &tunables.sched_wakeup_granularity_ns,
            Scaled::BaseSlice => &tunables.base_slice_ns,
        };
        Nanos(cell.get() as u64)
    }
}

/// What somebody wrote to their files is taken as it is, on any number of CPUs.
#[derive(Clone, Debug, Default)]
pub struct Written {
    values: [Cell<Option<Nanos>>; Scaled::ALL.len()],
    /// Whether sched_nr_latency is the quotient of latency and least granularity, as after a write to either
    /// of them, and no constant of its own.
    pub nr_latency_follows: Cell<bool>,
}

impl Written {
    /// What was written to the file of one of them, if anything was.
    #[inline]
    pub fn get(&self, scaled: Scaled) -> Option<Nanos> {
        self.values[scaled as usize].get()
    }

    /// Takes a write to a file, if it is one of these.
    pub(super) fn take(&self, name: &str, value: i64) -> bool {
        let Some(scaled) = Scaled::named(name) else { return false };
        self.values[scaled as usize].set(Some(Nanos(value.unsigned_abs())));
        if matches!(scaled, Scaled::Latency | Scaled::MinGranularity) {
            self.nr_latency_follows.set(true);
        }
        true
    }
}
