//! What is seen of a run from outside: counters, snapshots, windows, and the checks.

pub(crate) mod check;
pub(crate) mod counters;
pub(crate) mod snapshots;
pub(crate) mod windows;
