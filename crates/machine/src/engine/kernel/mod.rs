//! What CPUs do: the loop of each, interrupts, and the steps of the task that runs.

pub(crate) mod cpu;
pub(crate) mod execution;
pub(crate) mod kthreads;
pub(crate) mod sim;
pub(crate) mod steps;
