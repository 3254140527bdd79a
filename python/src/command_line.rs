//! The command line of the program, for the script that comes with the package.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Does what was typed, the name of the program first, and gives the exit code.
#[pyfunction]
pub fn command_line(py: Python<'_>, typed: Vec<OsString>) -> u8 {
    // The program ends by a signal like any other; Python is asked no more.
    py.detach(|| schedlab::cli::main(typed))
}
