//! The timer tick (rt-class 8.2, fair-class 2.6).

use crate::ThisCpu;
use crate::class::{task_tick, trigger_load_balance, turn_ends, update_cpu_load};
use crate::platform::{Cost, Platform};

/// The timer fires that was set for the end of the running task's turn (HRTICK, eevdf-class 5.4); nothing if
/// that is another moment by now.
pub async fn hrtick<P: Platform>(me: ThisCpu<'_, P>) {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    if rq.hrtick.is_some_and(|at| at <= rq.clock) {
        rq.charge(Cost::Tick);
        rq.hrtick = None;
        turn_ends(&mut rq);
    }
}

/// One tick on the executing CPU: accounting, slices, load averages; then periodic balancing, which may take
/// other CPUs' locks.
pub async fn scheduler_tick<P: Platform>(me: ThisCpu<'_, P>) {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    rq.charge(Cost::Tick);
    update_cpu_load(&mut rq);
    rq.harden_resched();
    task_tick(&mut rq);
    drop(rq);
    trigger_load_balance(me).await;
}
