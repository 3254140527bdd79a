//! A laboratory for the Linux CPU scheduler.
//!
//! One type holds a whole experiment, [`Experiment`]: loads, machine, kernel configuration, seed, length. It
//! runs to a
//! [`schema::RunResult`], the same bytes for the same experiment on any machine. [`compare()`] runs
//! several configurations of one experiment over several seeds and says what changed.
//!
//! ```
//! use schedlab::{Experiment, KernelConfig, LoadSpec};
//! use scheduler::Nanos;
//!
//! # fn main() -> Result<(), schedlab::Error> {
//! let mut experiment = Experiment::new(schedlab::machine("laptop", Some(2))?);
//! experiment.loads.push(LoadSpec::open("cyclictest -t2 -p90 -i1000 -n")?);
//! experiment.kernel = KernelConfig::of_name("2.6.36")?;
//! experiment.duration = Some(Nanos::from_millis(20));
//! let result = experiment.run()?.result;
//! assert_eq!(result.machine.cpus, 2);
//! # Ok(())
//! # }
//! ```
//!
//! The crates below: `scheduler` (the algorithms), `machine` (simulated hardware), `workload` (what tasks
//! do), `trace` (real trace files), `report` (results). This one opens what the user names, puts the parts
//! together, and turns what the machine counted into a result. The command line is the binary of this
//! package.

mod assumptions;
pub mod calibration;
mod catalogue;
mod comparing;
mod dumps;
mod error;
mod experiment;
mod export;
mod input;
mod inspecting;
mod kernel;
mod length;
mod limits;
mod loads;
mod machines;
pub mod outputs;
pub mod recording;
mod reference;
mod reproduce;
mod results;
mod settings;
mod side_by_side;
pub mod task_options;

pub use catalogue::{Entry, Explanation, Kind, LimitDetails, Section, explain};
pub use comparing::{Arm, Plan, compare};
pub use dumps::{DumpFile, DumpRequest, DumpTime};
pub use error::{Error, Excerpt};
pub use experiment::{Experiment, Run};
pub use export::{Facts, Programs, TraceFormat};
pub use inspecting::{Inspection, inspect};
pub use kernel::{
    Change, DEFAULT_PROFILE, DISTRIBUTIONS, Difference, Distribution, KernelConfig, KernelError, NamedKernel,
    Release,
};
pub use length::{ENDLESS, GRACE};
pub use limits::{Effect, Limit, page as limits_page};
pub use loads::{LoadSource, LoadSpec, Reading, WakeupCosts, machine_beside};
pub use machines::{DEFAULT_MACHINE, DescribedMachine, MachineChoice, machine, machine_file, machine_text};
pub use reproduce::{
    Finished, FinishedRun, Length, PUBLISHED, PublishedExperiment, PublishedFile, VariantSummary,
};
pub use settings::Settings;
pub use side_by_side::inspect_both;
pub use task_options::TaskOptions;
