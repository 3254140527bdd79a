//! What tasks do: the program language, the standard loads, rt-app files and replay of a trace.

pub mod dist;
pub mod load;
pub mod program;
pub mod record;
pub mod rtapp;
pub mod units;

#[cfg(test)]
mod script;
