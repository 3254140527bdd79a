//! Workload files: a [`Recording`](super::Recording) as text that people read and change.
//!
//! One line is one fact or one step. What people want to change stands once: a task's policy, its CPUs, the
//! period of its timer, the length of its pauses, a factor for its CPU time. The steps only say what differs
//! from that. What is written reads back as the same recording, to the nanosecond.

mod paths;
mod read;
mod task;
mod told;
mod words;
mod write;

pub(crate) use paths::lines as path_lines;
pub(super) use paths::read_line as read_path_line;
pub use read::{ReadWorkload, WorkloadError};
pub use write::Origin;

/// The first word of a workload file.
const MAGIC: &str = "schedlab-workload";
/// The version that this program writes and reads.
const VERSION: &str = "1";

/// Whether a file begins as a workload file does.
#[must_use]
pub fn is_workload(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC.as_bytes())
}

#[cfg(test)]
mod tests;
