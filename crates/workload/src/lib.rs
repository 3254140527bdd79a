//! What tasks do: the program language, the standard loads, rt-app files and replay of a trace.

pub mod dist;
pub mod program;
pub mod record;

#[cfg(test)]
mod script;
