//! Simulated hardware: virtual time, events, CPUs, interrupts, timers, caches and lock timing.
