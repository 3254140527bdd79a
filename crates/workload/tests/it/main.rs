//! Tests of loads and replays from outside, in one program: building one more takes as long as running them
//! all. Apart from them stands `allocation.rs`, which has an allocator of its own.

mod golden;
mod idle_states;
mod replay;
mod rtapp;
