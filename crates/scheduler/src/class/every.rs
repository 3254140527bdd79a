//! What concerns a class whichever one serves the task: what it learns of all tasks, and the balancing that
//! is due by the clock.

use crate::fair::{self, Balancing, averages};
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::task::Task;
use crate::wakeup::WakeFlags;
use crate::{Scheduler, ThisCpu};

/// A task was created: what is kept of it that depends on the settings.
pub(crate) fn init_task<P: Platform>(k: &Scheduler<P>, task: &Task) {
    averages::on_new(k, task);
}

/// The task that the executing CPU runs has woken another one.
pub(crate) fn on_wake_other<P: Platform>(me: ThisCpu<'_, P>, flags: WakeFlags) {
    averages::on_wake_other(me, flags);
}

/// The task that the executing CPU runs forks: what the child has of it, whatever serves them.
pub(crate) fn inherit_habits<P: Platform>(me: ThisCpu<'_, P>, child: &Task) {
    fair::inherit_habits(me, child);
}

/// The executing CPU begins to run its idle task.
pub(crate) fn entered_idle<P: Platform>(me: ThisCpu<'_, P>) {
    fair::entered_idle(me);
}

/// The tick of the executing CPU, which idles, stops.
pub(crate) fn idle_tick_stopped<P: Platform>(me: ThisCpu<'_, P>) {
    fair::idle_tick_stopped(me);
}

/// A tick begins: averages of the CPU's load, by whatever class.
pub(crate) fn update_cpu_load<P: Platform>(rq: &mut RqGuard<'_, P>) {
    fair::update_cpu_load(rq);
}

/// A tick ends, no lock is held: balancing that is due. It may take other CPUs' locks.
pub(crate) fn trigger_load_balance<P: Platform>(me: ThisCpu<'_, P>) -> impl Future<Output = ()> {
    fair::rebalance_domains(me)
}

/// The same where a thread does it: what it is to do, if anything is due.
pub(crate) fn raise_load_balance<P: Platform>(me: ThisCpu<'_, P>) -> Option<Balancing> {
    fair::raise_load_balance(me)
}

/// The executing CPU's stopper runs: what other CPUs' balancing asked of it.
pub(crate) fn active_load_balance<P: Platform>(me: ThisCpu<'_, P>) -> impl Future<Output = ()> {
    fair::active_load_balance(me)
}
