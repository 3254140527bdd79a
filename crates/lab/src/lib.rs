//! A laboratory for the Linux CPU scheduler, to program against.
//!
//! One type holds a whole experiment, [`Experiment`]: loads, machine, kernel configuration, seed, length. It
//! runs to a [`RunResult`], the same bytes for the same experiment on any machine. [`compare()`] runs several
//! configurations of one experiment over several seeds and says what changed.
//!
//! ```
//! use lab::{Experiment, Files, KernelConfig, LoadSpec, Nanos};
//!
//! # fn main() -> Result<(), lab::Error> {
//! let files = Files::new();
//! let mut experiment = Experiment::new(lab::machine("laptop", Some(2), &files)?);
//! experiment.loads.push(LoadSpec::open("cyclictest -t2 -p90 -i1000 -n", &files)?);
//! experiment.kernel = KernelConfig::of_name("2.6.36")?;
//! experiment.duration = Some(Nanos::from_millis(20));
//! let result = experiment.run()?.result;
//! assert_eq!(result.machine.cpus, 2);
//! # Ok(())
//! # }
//! ```
//!
//! Not on crates.io yet, it is depended on by the path of a clone (or by `git`), and nothing else is needed:
//! the crates that it builds on are [re-exported](#reexports).
//!
//! ```toml
//! [dependencies]
//! lab = { package = "schedlab-lab", path = "schedlab/crates/lab", features = ["text", "threads"] }
//! ```
//!
//! `examples/` has a comparison (`what_if`), a load (`own_load`) and a program (`own_program`) of one's own,
//! and a recording on disk with an experiment as text (`why_recorded`).
//!
//! An experiment has a text, plain data with a JSON form, [`ExperimentText`]: [`Experiment::open`] reads it,
//! [`Experiment::text`] writes it, every [`RunResult`] carries it, and [`StoredResult`] runs one again.
//!
//! Features, none of them on by default: `threads` runs comparisons and reproductions on all cores, `text`
//! has the tables that people read (`report::text`), `plots` the pictures of sweeps (`report::plot`), `page`
//! pages for a browser (`report::page`).
//!
//! This crate puts the parts together and turns what the machine counted into a result. It touches neither
//! disk nor clock: files come from [`Sources`] ([`Files`] are in memory, and above there are none), time from
//! a [`Clock`]. The crates below, for what is not named here: [`workload`] (what tasks do), [`mod@machine`]
//! (what they share, and their steps), [`trace`] (real trace files), [`schema`] (results), [`report`] (their
//! text and statistics). The command line is the package `schedlab`.

mod asked_tasks;
mod assumptions;
mod catalogue;
mod clock;
mod compare;
mod compare_words;
pub mod deadlines;
mod dumps;
mod error;
mod experiment;
mod experiment_text;
mod export;
pub mod groups;
mod inspect;
mod kernel;
mod length;
mod limits;
mod loads;
mod machines;
#[cfg(feature = "page")]
mod page;
mod parallel;
mod reading;
mod recorded_cpus;
mod reference;
mod reproduce;
mod results;
mod settings;
mod side_by_side;
mod sources;
mod stored_result;
pub mod task_options;
pub mod validate;
mod why;

pub use catalogue::{Entry, Explanation, Kind, LimitDetails, Section, explain, listed};
pub use clock::Clock;
pub use compare::{Arm, Plan, compare, compare_runs};
pub use compare_words::CompareWords;
pub use dumps::{DumpFile, DumpRequest, DumpTime};
pub use error::{Error, Excerpt};
pub use experiment::{Experiment, Logged, Run};
pub use experiment_text::load_text;
pub use export::{Programs, TraceFormat, is_packed};
pub use groups::Groups;
pub use inspect::{Inspection, inspect};
pub use kernel::{
    Build, Change, DEFAULT_PROFILE, DISTRIBUTIONS, Difference, Distribution, KernelConfig, KernelError,
    ModelOrigin, NamedKernel, Release,
};
pub use length::{ENDLESS, GRACE};
pub use limits::{Effect, Limit, page as limits_page};
pub use loads::{LoadSource, LoadSpec, machine_beside};
pub use machine::{self, Env, MachineSpec, Setup, Window};
pub use machines::{DEFAULT_MACHINE, DescribedMachine, NamedMachine, machine, machine_file, machine_text};
#[cfg(feature = "page")]
pub use page::{
    Explained, Inspected, comparison_timelines, inspect_both_with_timelines, inspect_with_timeline,
    why_with_page,
};
pub use reading::Reading;
pub use reference::verdicts;
pub use report;
pub use reproduce::{
    Finished, FinishedRun, FittedFigure, FittedMachine, Host, KeptRuns, Length, PUBLISHED,
    PublishedExperiment, PublishedFile, RunFigures, RunHash, RunsSoFar, VariantSummary, claims,
};
pub use scheduler::{self, CpuMask, Nanos};
pub use schema::comparison::Comparison;
pub use schema::{self, ExperimentText, RunResult};
pub use settings::Settings;
pub use side_by_side::inspect_both;
pub use sources::{Files, Opened, ReadSeek, STANDARD_STREAM, SourceKind, Sources, content_hash, file_text};
pub use stored_result::StoredResult;
pub use task_options::TaskOptions;
pub use trace;
pub use why::{AskedRecording, Question, RecordedQuestion, is_recorded, why, why_recorded};
pub use workload;
