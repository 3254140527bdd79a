//! What the command line needs of the computer on which it runs: its files and clocks, outputs that are
//! replaced when they are complete, recordings and measurements of the real machine. Experiments are those of
//! the library [`lab`]; the command line is the binary of this package.

pub mod calibration;
pub mod clocks;
mod error;
pub mod files;
pub mod outputs;
pub mod recording;
pub mod sweep_folder;
mod wording;

pub use error::Error;
