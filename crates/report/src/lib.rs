//! Results: counters, histograms, statistics of a comparison, tables and JSON.
//!
//! This crate knows nothing of the simulator. It defines what a result *is* ([`schema`]) and, from that
//! alone, how it is shown and compared. The way of a result through the house:
//!
//! 1. the command line turns the simulator's counters and latencies into a [`schema::RunResult`];
//! 2. `RunResult` is written as JSON (schema `schedlab/1`, see `docs/schema.md`) or as text ([`text::run`]);
//! 3. results of the same load under several configurations become a [`compare::Comparison`] (schema
//!    `schedlab-compare/1`), whose text is [`text::comparison`];
//! 4. two recordings become a [`recordings::RecordingsComparison`] (schema `schedlab-inspect-compare/1`),
//!    whose text is
//!    [`text::recordings`];
//! 5. results of a published experiment are judged by its figures: a [`reproduce::Reproduction`] (schema
//!    `schedlab-reproduce/1`), whose text is [`text::reproduction`]; what was swept is drawn by [`plot`].
//!
//! Numbers in a result are integers in the unit that their name says, so a result is the same bytes on every
//! machine. The one field that may differ between two identical runs is
//! [`engine.wall_ns`](schema::Engine::wall_ns).

pub mod compare;
pub mod plot;
pub mod recordings;
pub mod reproduce;
pub mod schema;
mod stats;
pub mod text;
