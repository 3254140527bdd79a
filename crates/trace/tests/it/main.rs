//! Tests on recordings of real kernels (tests/fixtures), and on damaged copies of them.

mod activity;
mod bad_input;
mod clock;
mod common;
mod compact;
mod damage;
mod export;
#[path = "../grown/mod.rs"]
mod grown;
mod odd;
mod perf_latency;
mod perfetto;
mod recordings;
mod streams;
mod timehist;
mod variants;
mod why;
