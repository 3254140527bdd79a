//! The timer tick (rt-class 8.2, fair-class 2.6).

use crate::ThisCpu;
use crate::class::{
    Balancing, raise_load_balance, task_tick, trigger_load_balance, turn_ends, update_cpu_load,
};
use crate::platform::{Cost, Platform};
use crate::registry::SoftirqWhere;

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
/// other CPUs' locks. Where soft interrupts are served in threads, one of them has to do what is returned
/// ([`crate::fair::run_rebalance_domains`]); else nothing is.
pub async fn scheduler_tick<P: Platform>(me: ThisCpu<'_, P>) -> Option<Balancing> {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    rq.charge(Cost::Tick);
    update_cpu_load(&mut rq);
    rq.harden_resched();
    task_tick(&mut rq);
    drop(rq);
    match me.k.config.rules.softirq_where.get() {
        SoftirqWhere::IrqExit => {
            trigger_load_balance(me).await;
            None
        }
        SoftirqWhere::Task => raise_load_balance(me),
    }
}
