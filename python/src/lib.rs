//! The native half of the Python package `schedlab`: experiments and results go in and out as their JSON,
//! which the Python half (`schedlab/`) dresses up. Everything that takes long releases the GIL and heeds
//! Ctrl-C.

mod catalogue;
mod command_line;
mod compare;
mod engine;
mod errors;
mod experiment;
mod files;
mod inspect;
mod interrupt;
mod run;
mod sweeps;
mod table;
mod tuning;

use pyo3::prelude::*;

/// What `schedlab/__init__.py` builds on; not to be used by itself.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::catalogue::{explain, names};
    #[pymodule_export]
    use super::command_line::command_line;
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::engine::run_chunk;
    #[pymodule_export]
    use super::errors::{CheckFailed, Error};
    #[pymodule_export]
    use super::experiment::{experiment_text, machine_json, machine_text, text_of_result};
    #[pymodule_export]
    use super::inspect::{inspect, inspect_both};
    #[pymodule_export]
    use super::run::{metrics, run, run_as_text};
    #[pymodule_export]
    use super::sweeps::{results_table, run_sweep, sweep_as_text};
    #[pymodule_export]
    use super::table::{Table, table_of_json};
    #[pymodule_export]
    use super::tuning::{search_worst, tune_settings};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
