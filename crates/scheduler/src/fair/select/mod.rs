//! On which CPU a fair task is to run: a woken one near the waker or where it was, a new one where there is
//! least to do.

mod idlest;
mod wake;

pub(crate) use idlest::select_task_rq_fork;
pub(crate) use wake::select_task_rq_wake;
