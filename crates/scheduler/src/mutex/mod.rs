//! Mutexes that tasks block on: with priority inheritance, and plain (rt-class 7).

/// A task's part in priority inheritance.
#[derive(Debug, Default)]
pub struct PiState {}

impl PiState {
    pub(crate) fn reset(&self) {}
}

/// Every mutex.
#[derive(Debug, Default)]
pub struct MutexTable {}
