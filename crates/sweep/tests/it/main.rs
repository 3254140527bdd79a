//! Sweeps from outside, on a folder in memory.

mod hashes;
mod interrupted;
mod refused;
mod rows;
mod support;
