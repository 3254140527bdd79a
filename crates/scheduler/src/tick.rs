//! The timer tick (rt-class 8.2, fair-class 2.6).

use crate::platform::{Cost, Platform};
use crate::task::Class;
use crate::{ThisCpu, fair, rt};

/// One tick on the executing CPU: accounting, slices, load averages; then periodic balancing, which may take
/// other CPUs' locks.
pub async fn scheduler_tick<P: Platform>(me: ThisCpu<'_, P>) {
    let mut rq = me.lock(me.id).await;
    rq.update_clock();
    rq.charge(Cost::Tick);
    fair::update_cpu_load(&mut rq);
    let curr = rq.curr;
    match me.task(curr).class.get() {
        Class::Rt => rt::task_tick(&mut rq, curr),
        Class::Fair => fair::task_tick(&mut rq, curr),
        Class::Idle => {}
    }
    drop(rq);
    fair::rebalance_domains(me).await;
}
