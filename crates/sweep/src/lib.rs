//! Thousands of runs of one experiment, on all cores or on a cluster, that can be killed and go on.
//!
//! A [`Plan`] is an experiment and the [`Axis`] along which it varies; each combination of values and seeds
//! is a run. What decides a run has a hash, under which its row of figures is kept in a [`Folder`], in
//! Parquet: what is there is not run again. [`Sweep::run`] runs the rest in chunks of about a second, on an
//! [`Engine`], and says what came of it.
//!
//! ```
//! use sweep::{Axis, Local, MemoryFolder, Plan, Sweep, Template};
//!
//! # fn main() -> Result<(), sweep::Error> {
//! let template = Template::of_words(&["cyclictest -t{t} -p80 -i1000 -n -D 10ms"], "machine=vm2", None);
//! let kernels = Axis::new("kernel", ["2.6.36", "6.1"].map(str::to_owned).into())?;
//! let threads = Axis::new("t", ["1", "4"].map(str::to_owned).into())?;
//! let seeds = Axis::seeds(3);
//! let files = lab::Files::new();
//! let plan = Plan::new(template, vec![kernels, threads, seeds], &files)?;
//! assert_eq!(plan.runs(), 12);
//! let folder = MemoryFolder::default();
//! let sweep = Sweep { plan: &plan, folder: &folder, engine: &Local::new(&files), clock: None };
//! let result = sweep.run(&mut |_| std::ops::ControlFlow::Continue(()))?;
//! assert_eq!((result.runs, result.failed, result.points.len()), (12, 0, 4));
//! # Ok(())
//! # }
//! ```
//!
//! The crate touches neither disk nor clock: files come from [`lab::Sources`], results go to a [`Folder`],
//! and time is that of a [`lab::Clock`], where there is one.

mod archive;
mod axis;
mod chunk;
mod costs;
mod driver;
mod engine;
mod error;
mod file;
mod folder;
mod inputs;
mod metrics;
mod parquet;
mod plan;
mod results;
mod row;
mod store;
mod summary;
mod template;
mod verdicts;
mod work;

pub use archive::from_parquet;
pub use axis::Axis;
pub use chunk::Chunk;
pub use driver::{Progress, Sweep};
pub use engine::{Engine, Finished, Local};
pub use error::Error;
pub use file::SweepFile;
pub use folder::{Folder, MemoryFolder};
pub use parquet::Cells;
pub use plan::Plan;
pub use results::{RESULTS, columns_of};
pub use row::{Outcome, Row};
pub use store::Store;
pub use template::Template;
pub use work::{Work, run_work, to_parquet};
