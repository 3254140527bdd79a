//! The timer tick (rt-class 8.2, fair-class 2.6).

use crate::class::{
    Balancing, idle_tick_stopped, raise_load_balance, task_tick, trigger_load_balance, turn_ends,
    update_cpu_load,
};
use crate::kernel::Scheduler;
use crate::platform::{Cost, Ipi, Platform};
use crate::registry::SoftirqWhere;
use crate::rq::{RqGuard, RqState};
use crate::{CpuId, Policy, ThisCpu};

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

/// The tick of the executing CPU, which idles, stops because its governor says so.
pub fn idle_tick_stops<P: Platform>(me: ThisCpu<'_, P>) {
    idle_tick_stopped(me);
}

/// Whether a CPU that may stop its tick (nohz_full=) needs none: it has no deadline task, and one real-time
/// task, or several of which at most one shares its time with equals; or else one task at most
/// (deadline-groups B10). Of a queue that is locked it says no where it would have to look into it.
pub fn can_stop_tick<P: Platform>(k: &Scheduler<P>, cpu: CpuId) -> bool {
    let rq = k.rq(cpu);
    allows_no_tick(k, cpu, || rq.inspect().is_some_and(|state| takes_no_turns(k, &state)))
}

fn allows_no_tick<P: Platform>(k: &Scheduler<P>, cpu: CpuId, no_turns: impl Fn() -> bool) -> bool {
    let published = &k.rq(cpu).published;
    if published.dl_nr_running.get() > 0 {
        return false;
    }
    match published.rt_nr_running.get() {
        0 => published.nr_running.get() <= 1,
        1 => true,
        _ => no_turns(),
    }
}

/// Whether at most one of its real-time tasks is SCHED_RR.
fn takes_no_turns<P: Platform>(k: &Scheduler<P>, rq: &RqState) -> bool {
    let has_turns = |p: &crate::TaskId| matches!(k.task(*p).policy.get(), Policy::Rr(_));
    rq.rt.queued(&k.tasks).filter(has_turns).count() <= 1
}

/// A task has come to a queue: where another CPU has stopped its tick beside one task, and now needs it, it
/// is told.
#[inline]
pub(crate) fn somebody_came<P: Platform>(rq: &RqGuard<'_, P>) {
    if rq.nr_running == 2 && rq.cpu != rq.me.id && rq.me.k.nohz_full.contains(rq.cpu) {
        tell_to_tick(rq);
    }
}

#[cold]
fn tell_to_tick<P: Platform>(rq: &RqGuard<'_, P>) {
    let k = rq.me.k;
    if !allows_no_tick(k, rq.cpu, || takes_no_turns(k, rq)) {
        k.platform.send_ipi(rq.me.id, rq.cpu, Ipi::Tick);
    }
}

/// What a housekeeping CPU does once a second for one that has stopped its tick: the running task's
/// accounting (4.17 on).
pub async fn sched_tick_remote<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    let mut rq = me.lock(cpu).await;
    if rq.curr != rq.idle {
        rq.update_clock();
        rq.charge(Cost::Tick);
        task_tick(&mut rq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Lab, cpus, deadline, fifo, rr};
    use crate::{CpuMask, Nanos};

    /// deadline-groups B10: one fair task, or RT: exactly one, or FIFO only.
    #[test]
    fn beside_whom_a_tick_may_stop() {
        let stops = |tasks: &[Policy]| {
            let lab = Lab::new(1, "6.18.y", &[]);
            tasks.iter().for_each(|policy| _ = lab.spawn(*policy, 0));
            can_stop_tick(&lab.k, CpuId(0))
        };
        let fair = Policy::Normal;
        assert!(stops(&[]) && stops(&[fair]) && !stops(&[fair, fair]));
        assert!(stops(&[fifo(5)]) && stops(&[rr(5)]) && stops(&[fifo(5), fifo(5), fifo(9)]));
        assert!(stops(&[rr(5), fifo(5)]) && !stops(&[rr(5), rr(5)]) && !stops(&[rr(5), rr(6), fifo(7)]));
        assert!(stops(&[fifo(5), fair, fair]), "these wait for the real-time task anyhow");
        assert!(!stops(&[deadline(1, 10, 10)]));
    }

    /// The second task of a CPU without a tick brings it back, from another CPU by an interrupt; the third
    /// finds it there.
    #[test]
    fn the_second_task_brings_the_tick_back() {
        let told = |nohz_full: CpuMask, second: Policy| {
            let mut lab = Lab::new(2, "6.18.y", &["NO_TTWU_QUEUE"]);
            lab.k.nohz_full = nohz_full;
            lab.spawn_allowed(second, 0, cpus(&[0, 1]));
            lab.block(0);
            let sleepers = [0, 1].map(|_| {
                let p = lab.spawn_allowed(second, 1, cpus(&[1]));
                lab.block(1);
                p
            });
            lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
            let mut sent = 0;
            sleepers.into_iter().for_each(|p| {
                lab.wake_unsettled(0, p);
                sent += lab.k.platform.ipis.borrow().iter().filter(|sent| sent.ipi == Ipi::Tick).count();
                lab.settle();
            });
            sent
        };
        assert_eq!(told(cpus(&[1]), Policy::Normal), 1);
        assert_eq!(told(CpuMask::EMPTY, Policy::Normal), 0);
        assert_eq!(told(cpus(&[1]), fifo(5)), 0, "it takes the CPU, and needs no tick");
    }

    /// A remote tick charges the running task, and does nothing where nobody runs.
    #[test]
    fn a_remote_tick_brings_the_accounts_up_to_date() {
        let lab = Lab::new(2, "6.18.y", &[]);
        let p = lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        lab.advance(Nanos::from_secs(1));
        let ran = || lab.k.task(p).stats.sum_exec_runtime.get();
        let before = ran();
        lab.run(sched_tick_remote(lab.cpu(0), CpuId(0)));
        assert_eq!(ran(), before);
        lab.run(sched_tick_remote(lab.cpu(0), CpuId(1)));
        assert_eq!(ran().0 - before.0, 1_000_000_000);
    }
}
