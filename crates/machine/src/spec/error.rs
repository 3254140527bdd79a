//! What can be wrong with a machine description.

use scheduler::CpuMask;

/// Why a machine cannot be used: what is wrong, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// A number of CPUs that no machine can have.
    #[error("machine {machine} cannot have {asked} CPUs; give it 1 to {}", CpuMask::BITS)]
    CpuCount {
        /// Its name.
        machine: String,
        /// The number asked for.
        asked: usize,
    },
}
