//! The class as a whole: worked examples of deadline-groups A14, and what deadline-groups A5 to
//! deadline-groups A10 say beside them.

mod admission;
mod canaries;
mod jobs;
mod places;
mod server;

use crate::testing::Lab;
use crate::{Nanos, TaskId};

const fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

/// What `p` has left of its period, in µs, and its deadline, in µs.
fn left(lab: &Lab, p: TaskId) -> (i64, u64) {
    let e = &lab.k.task(p).dl;
    (e.runtime_ns() / 1_000, e.deadline().0 / 1_000)
}
