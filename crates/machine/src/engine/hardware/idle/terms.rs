//! What a governor is told, and what it says.

use scheduler::Nanos;

/// What is known as a CPU is about to idle; all times from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prospect {
    /// Up to its next timer, the tick apart; [`Nanos::NEVER`] without one.
    pub timer: Nanos,
    /// The same with the tick.
    pub with_tick: Nanos,
    /// From one tick to the next.
    pub period: Nanos,
    /// It does not tick any more.
    pub tick_is_stopped: bool,
    /// Longer nobody wants to wait for it (PM QoS).
    pub latency_limit: Nanos,
}

/// What a governor says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    /// The state, by number.
    pub state: usize,
    /// Without its tick.
    pub stops_tick: bool,
}

/// How an idle time went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idled {
    /// The state, by number.
    pub state: usize,
    /// Up to when it had left the state.
    pub length: Nanos,
    /// The tick ended it.
    pub by_tick: bool,
    /// It polled for as long as it may, and nothing came.
    pub polled_in_vain: bool,
}
