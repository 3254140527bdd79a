//! Three running averages that kernels from 2.6.31 to 2.6.34 kept for each task, to guess how it will behave
//! when it wakes or is woken (fair-class 6.6).
//!
//! They are kept whatever is switched on, so that a feature which asks for them (ADAPTIVE_GRAN,
//! WAKEUP_OVERLAP, WAKEUP_RUNNING, SYNC_LESS, SYNC_MORE) finds them true when it is switched on in the middle
//! of a run. Tasks of every class have them.

use super::scale;
use crate::Class;
use crate::platform::Platform;
use crate::shared::{Kept, KeptSince};
use crate::task::Task;
use crate::wakeup::WakeFlags;
use crate::{Nanos, Scheduler, ThisCpu};
use core::cell::Cell;

/// A task's averages; the run-queue lock of its CPU protects them.
#[derive(Clone, Debug, Default)]
pub struct Averages {
    /// CPU time between two wakeups of others, or between the own wakeup and the first of others. A task that
    /// sleeps without having woken anybody counts with the wakeup granularity.
    pub wakeup: Kept<Nanos>,
    /// CPU time between the last wakeup of another task and going to sleep: how long waker and woken overlap.
    pub overlap: Kept<Nanos>,
    /// CPU time of a stint; each sleep adds a zero.
    pub running: Kept<Nanos>,
    /// `sum_exec_runtime` when it last woke another task, if it did since it woke itself.
    last_wakeup: KeptSince,
    /// `sum_exec_runtime` when it was last woken.
    start_runtime: Cell<Nanos>,
}

/// An eighth of the way from the average to the sample, rounded down.
pub(super) fn approach(average: Nanos, sample: Nanos) -> Nanos {
    let apart = sample.0 as i64 - average.0 as i64;
    Nanos(average.0.saturating_add_signed(apart >> 3))
}

fn take(average: &Kept<Nanos>, sample: Nanos) {
    average.set(approach(average.get(), sample));
}

/// A new task: nothing is known, so it counts as one that wakes nobody.
pub(crate) fn on_new<P: Platform>(k: &Scheduler<P>, task: &Task) {
    let averages = &task.se.averages;
    averages.wakeup.set(Nanos(scale::wakeup_granularity(k)));
    averages.overlap.set(Nanos::ZERO);
    averages.running.set(Nanos::ZERO);
    averages.last_wakeup.set(None);
    averages.start_runtime.set(Nanos::ZERO);
}

/// The task running here wakes another one. Interrupts, TCP's deliveries among them, say nothing about the
/// task that they interrupt.
pub(crate) fn on_wake_other<P: Platform>(me: ThisCpu<'_, P>, flags: WakeFlags) {
    let waker = me.task(me.curr());
    if flags.interrupt || waker.class.get() == Class::Idle {
        return;
    }
    let (averages, sum) = (&waker.se.averages, waker.stats.sum_exec_runtime.get());
    let since = averages.last_wakeup.replace(Some(sum)).unwrap_or(averages.start_runtime.get());
    take(&averages.wakeup, sum.saturating_sub(since));
}

/// The task is queued because it was woken.
pub(crate) fn on_woken(task: &Task) {
    task.se.averages.start_runtime.set(task.stats.sum_exec_runtime.get());
}

/// The task leaves its queue to sleep.
pub(crate) fn on_sleep<P: Platform>(k: &Scheduler<P>, task: &Task) {
    let averages = &task.se.averages;
    match averages.last_wakeup.take() {
        Some(woke) => take(&averages.overlap, task.stats.sum_exec_runtime.get().saturating_sub(woke)),
        None => take(&averages.wakeup, Nanos(scale::wakeup_granularity(k))),
    }
    take(&averages.running, Nanos::ZERO);
}

/// schedule() ends a task's stint; `runnable`: it was not its wish.
pub(crate) fn on_put<P: Platform>(k: &Scheduler<P>, task: &Task, runnable: bool) {
    if task.class.get() == Class::Idle {
        return;
    }
    let (averages, ran) = (&task.se.averages, task.ran());
    take(&averages.running, ran);
    if runnable {
        take(&averages.overlap, ran.min(Nanos(scale::migration_cost(k).0.saturating_mul(2))));
    }
}

/// Whether two tasks both sleep soon after they wake others.
pub(super) fn overlap_little<P: Platform>(k: &Scheduler<P>, a: &Task, b: &Task) -> bool {
    [a, b].iter().all(|task| task.se.averages.overlap.get() < scale::migration_cost(k))
}

/// Whether one of two tasks goes on running for long after it wakes others.
pub(super) fn one_overlaps_much<P: Platform>(k: &Scheduler<P>, a: &Task, b: &Task) -> bool {
    [a, b].iter().any(|task| task.se.averages.overlap.get() > scale::migration_cost(k))
}
