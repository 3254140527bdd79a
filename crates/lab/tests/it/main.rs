//! The library from outside, in one program.

mod experiment_text;
mod experiments;
mod groups;
mod idle_states;
mod limits;
mod memory;
mod oracle;
#[cfg(feature = "plots")]
mod pictures;
// Stored results are also texts.
mod recorded_deadlines;
mod replayed_cpus;
#[cfg(all(feature = "text", feature = "threads"))]
mod reproduce;
mod rt_tests;
mod untold;
mod validate;
mod why;
