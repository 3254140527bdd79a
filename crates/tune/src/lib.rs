//! Which settings serve a load best.
//!
//! [`tune`] takes an experiment, a goal (`p99(cyclictest)`), constraints (`hackbench time < 1.05 x base`) and
//! knobs: what may be set, with the values to try ([`KnobsFile`]), or else whatever the kernel has
//! ([`default_knobs`]). The way to the answer, [`Tuning`], knows no laboratory: it asks whoever makes the
//! runs ([`Trials`]). docs/tuning.md explains it.
//!
//! [`search`] looks for the worst case of a figure: the run, of all that the loads and the machine allow,
//! that is worst in it ([`Search`] says how).
//!
//! Runs may be kept in a folder, as those of sweeps are: then a tuning that was stopped goes on where it was.
//!
//! The crate touches neither disk nor clock: files come from [`lab::Sources`].

mod advice;
mod default_knobs;
mod error;
mod expression;
mod goal;
mod judge;
mod keeping;
mod knob;
mod knobs_file;
mod lab_trials;
mod procedure;
mod request;
mod search;
mod search_request;
mod trials;
mod trust;

pub use advice::how_to;
pub use default_knobs::default_knobs;
pub use error::Error;
pub use expression::resolve;
pub use goal::{Constraint, Goal};
pub use judge::Question;
pub use knob::{Knob, KnobValue};
pub use knobs_file::KnobsFile;
pub use lab_trials::{Told, Words};
pub use procedure::{Found, Tuning};
pub use request::{Request, tune};
pub use search::{Scenario, Scenarios, Search, Searched};
pub use search_request::{SearchRequest, search};
pub use trials::{Candidate, Sample, Trials};
pub use trust::trust;
