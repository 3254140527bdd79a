//! Tests on recordings of real kernels (tests/fixtures), and on damaged copies of them.

mod bad_input;
mod common;
mod damage;
mod export;
mod perf_latency;
mod recordings;
mod variants;
