//! Everything that has a name.

use crate::errors::{Error, said, unreadable};
use lab::Kind;
use pyo3::prelude::*;

/// All things of a kind (`kernels`, `machines`, `loads`, …): JSON of `schedlab list`.
#[pyfunction]
pub fn names(kind: &str) -> PyResult<String> {
    let singular = kind.strip_suffix('s').unwrap_or(kind);
    let found = Kind::ALL.into_iter().find(|known| known.name() == singular || known.name() == kind);
    let Some(found) = found else {
        let known = Kind::ALL.map(|known| format!("{}s", known.name())).join(", ");
        return Err(Error::new_err(format!("nothing is of the kind `{kind}`; there are: {known}")));
    };
    serde_json::to_string(&found.list()).map_err(unreadable)
}

/// All that is known about a name: JSON of `schedlab explain`.
#[pyfunction]
pub fn explain(name: &str) -> PyResult<String> {
    serde_json::to_string(&lab::explain(name).map_err(said)?.into_result()).map_err(unreadable)
}
