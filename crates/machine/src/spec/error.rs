//! What can be wrong with a machine description.

use scheduler::CpuMask;

/// Why a machine cannot be used: what is wrong, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// The file is not TOML.
    #[error("{file}:{line}: not readable as TOML: {message}")]
    Syntax {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Bytes that the reader could not use.
        span: core::ops::Range<usize>,
        /// What the TOML reader found.
        message: String,
    },
    /// A field is missing, unknown or impossible.
    #[error("{file}:{line}: {field}: {problem}; {advice}")]
    Field {
        /// Name of the file.
        file: String,
        /// Line, from 1; for a missing field that of the table it belongs to.
        line: usize,
        /// Path of the field, as `costs.line.own`.
        field: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        advice: String,
    },
    /// A number of CPUs that no machine can have.
    #[error("machine {machine} cannot have {asked} CPUs; give it 1 to {}", CpuMask::BITS)]
    CpuCount {
        /// Its name.
        machine: String,
        /// The number asked for.
        asked: usize,
    },
    /// No machine of this name comes with the program.
    #[error("no machine is called {name}; {}: {known}", did_you_mean(.nearest))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The known name that was probably meant.
        nearest: Option<String>,
        /// Every known name.
        known: String,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or("known".to_owned(), |nearest| format!("did you mean {nearest}? Known"))
}
