//! deadline-groups DA1: a deadline task that has used up its budget runs no more. How much it may have run in
//! a given time is not asked here: the bound takes a kernel that reckons without rounding and a task that
//! wakes into its own periods only.

use super::{Findings, Moment, Queue};
use crate::Class;
use crate::platform::Platform;
use alloc::format;

/// Who is throttled does not run, where nothing keeps it from stopping.
pub(super) fn throttled_stops<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let curr = moment.k.task(queue.rq.curr);
    let runs_on = curr.class.get() == Class::Deadline && curr.dl.is_throttled();
    found.expect("deadline-groups DA1", !runs_on, || {
        format!("CPU {} runs {:?}, which is throttled", queue.rq.cpu, queue.rq.curr)
    });
}
