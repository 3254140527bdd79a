//! What the command line needs of the computer on which it runs: its files and clocks, outputs that are
//! replaced when they are complete, recordings and measurements of the real machine. Experiments are those of
//! the library [`lab`]; the command line is [`cli`], of which the binary of this package is the shell, and
//! the Python package another one.

// The command line names this library as whoever else builds on it.
extern crate self as schedlab;

pub mod calibration;
pub mod cli;
pub mod clocks;
mod error;
pub mod files;
pub mod fitted_machine;
pub mod kept_runs;
pub mod outputs;
pub mod recording;
pub mod references;
pub mod sweep_folder;
mod wording;

pub use error::Error;
