//! What tasks do: the program language, the standard loads, rt-app files and replay of a trace.

mod by_task;
pub mod deadlines;
pub mod dist;
pub mod flag;
pub mod groups;
pub mod latency;
pub mod load;
mod max_series;
pub mod program;
pub mod replay;
pub mod rtapp;
mod run_trace;
mod told;
pub mod units;

pub use run_trace::run_trace;
pub use told::{Decided, told_at_start, told_objects};

#[cfg(test)]
mod script;
