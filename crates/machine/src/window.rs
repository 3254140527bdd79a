//! A stretch of a run that is measured by itself.

use crate::outcome::{DecisionCount, TaskOutcome};
use scheduler::Nanos;
use schema::{CpuIdle, CpuResult, Stretch, Totals};

/// A stretch of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Where it begins.
    pub from: Nanos,
    /// Where it ends, at the latest with the run.
    pub to: Nanos,
}

impl Window {
    /// All of a run.
    pub const ALL: Window = Window { from: Nanos::ZERO, to: Nanos::NEVER };

    /// The same stretch of something that begins so much later.
    #[must_use]
    pub fn after(self, start: Nanos) -> Window {
        Window { from: self.from.saturating_add(start), to: self.to.saturating_add(start) }
    }
}

impl From<Stretch> for Window {
    fn from(stretch: Stretch) -> Window {
        Window { from: Nanos(stretch.from_ns), to: stretch.to_ns.map_or(Nanos::NEVER, Nanos) }
    }
}

impl From<Window> for Stretch {
    fn from(window: Window) -> Stretch {
        Stretch { from_ns: window.from.0, to_ns: (window.to != Nanos::NEVER).then_some(window.to.0) }
    }
}

/// What was counted between two moments of a run. CPU time and waiting are cut at both; a latency counts
/// where it ends.
#[derive(Debug)]
pub struct WindowOutcome {
    /// The stretch. It ends with the run if that ended before.
    pub window: Window,
    /// Every task that lived in it, by pid.
    pub tasks: Vec<TaskOutcome>,
    /// Every CPU.
    pub cpus: Vec<CpuResult>,
    /// How each CPU used its idle states; empty where the machine has one.
    pub idle_states: Vec<CpuIdle>,
    /// Machine-wide counters.
    pub totals: Totals,
    /// How often each decision fell for each reason that occurred.
    pub decisions: Vec<DecisionCount>,
}
