//! Ids, times and lists as results have them.

use scheduler::{Nanos, Pid};
use schema::Seconds;

/// Pids of tasks count up from 1000.
pub(crate) fn pid(pid: Pid) -> u32 {
    pid.0.unsigned_abs()
}

/// How long something took, if it has come to its end.
pub(crate) fn seconds(time: Option<Nanos>) -> Option<Seconds> {
    time.map(|time| Seconds::from_ns(time.0))
}

/// Each with its number, from 0.
pub(crate) fn numbered<T, U>(items: &[T], of: impl Fn(u32, &T) -> U) -> Vec<U> {
    (0..).zip(items).map(|(number, item)| of(number, item)).collect()
}
