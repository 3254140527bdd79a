//! What results come to: statistics of comparisons, verdicts on replays, tables, plots.
//!
//! This crate knows nothing of the simulator. What a result *is* says the crate `schema`; from that alone it
//! is shown and compared here. The way of a result through the house:
//!
//! 1. the command line turns the simulator's counters and latencies into a [`schema::RunResult`], a replay
//!    with how close it came to its recording ([`replay`]);
//! 2. `RunResult` is written as JSON (schema `schedlab/1`, see `docs/schema.md`) or as text ([`text::run`]);
//! 3. results of the same load under several configurations become a [`schema::comparison::Comparison`]
//!    ([`compare`]), whose text is [`text::comparison`];
//! 4. two recordings become a [`schema::recordings::RecordingsComparison`] ([`recordings`]), whose text is
//!    [`text::recordings`];
//! 5. results of a published experiment are judged by its figures: a [`schema::reproduction::Reproduction`]
//!    ([`reproduce`]), whose text is [`text::reproduction`]; what was swept is drawn by [`plot`];
//! 6. recorded figures beside simulated ones become a [`schema::validation::Validation`] ([`validate`]),
//!    whose text is [`text::validation`], and docs/accuracy.md;
//! 7. of thousands of runs of a sweep a [`schema::SweepResult`] tells what they come to: [`text::sweep`];
//! 8. any of these becomes a page to look at in a browser, with timelines of what happened: [`page`].
//!
//! Texts are the feature `text`, plots the feature `plots`, pages the feature `page`: who wants data needs
//! none of them.

pub mod compare;
mod naming;
pub mod numbers;
#[cfg(feature = "page")]
pub mod page;
#[cfg(feature = "plots")]
pub mod plot;
pub mod recordings;
pub mod replay;
pub mod reproduce;
pub mod stats;
#[cfg(feature = "text")]
pub mod text;
pub mod validate;
pub mod why;

pub use stats::nine_digits;
