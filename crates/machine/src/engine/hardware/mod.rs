//! The simulated hardware: clock and events, CPUs and their interrupts, locks and cache lines in time, noise.

pub(crate) mod bare;
pub(crate) mod cpu;
pub(crate) mod hw;
pub(crate) mod lines;
pub(crate) mod locks;
pub(crate) mod noise;
pub(crate) mod push_ipis;
pub(crate) mod queue;
pub(crate) mod transfers;
pub(crate) mod wake_paths;
