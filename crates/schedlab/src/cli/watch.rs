//! The wall clock, for what happens on the real machine.

use std::time::Duration;

/// Runs from its start.
#[derive(Debug)]
#[allow(clippy::disallowed_types)] // No result of a simulation depends on it.
pub struct Watch(std::time::Instant);

#[allow(clippy::disallowed_types)]
impl Watch {
    pub fn start() -> Watch {
        Watch(std::time::Instant::now())
    }

    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
