//! `make -jN`.

use serde::{Deserialize, Serialize};

use crate::Seconds;

/// Results of `make -jN`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MakeResult {
    /// The load as it was given.
    pub load: String,
    /// Jobs at one time (`-j`).
    pub jobs: u32,
    /// Objects that were built.
    pub objects: u64,
    /// From start to the last object; absent when the run ended before all were built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Seconds>,
}
