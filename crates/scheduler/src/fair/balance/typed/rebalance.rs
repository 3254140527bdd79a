//! Which domains are due at a tick (fair-placement 4.2, 4.3).

use super::load_balance::{Outcome, load_balance};
use super::{jiffies, nohz};
use crate::domains::SchedDomain;
use crate::fair::balance::{Situation, constants, interval_ms};
use crate::fair::pelt::update_blocked_averages;
use crate::fair::scale;
use crate::fair::select::sched_idle_cpu;
use crate::platform::Platform;
use crate::{CpuId, LevelKind, Nanos, ThisCpu};

/// After each tick, with no lock held.
pub(in crate::fair::balance) async fn trigger_load_balance<P: Platform>(me: ThisCpu<'_, P>) {
    let idle = me.k.idle_cpu(me.id);
    let due = me.now() >= me.k.rq(me.id).published.balance.next_balance.get();
    nohz::nohz_balancer_kick(me, idle);
    if due {
        bring_up_to_date(me, me.id).await;
        rebalance_domains(me, me.id, if idle { Situation::Idle } else { Situation::Busy }).await;
    }
    // An idle CPU has one tick where it has any, so this was its last; unless a governor says more.
    if me.k.idle_cpu(me.id) && !me.k.idle_tick_is_governed() {
        nohz::tick_stopped(me);
    }
}

/// The part of a tick that is no balancing, where a thread does that afterwards.
pub(in crate::fair::balance) fn tick_balances_later<P: Platform>(me: ThisCpu<'_, P>, idle: bool) {
    nohz::nohz_balancer_kick(me, idle);
    if idle && !me.k.idle_tick_is_governed() {
        nohz::tick_stopped(me);
    }
}

/// The balancing alone.
pub(in crate::fair::balance) async fn rebalance_now<P: Platform>(me: ThisCpu<'_, P>, situation: Situation) {
    bring_up_to_date(me, me.id).await;
    rebalance_domains(me, me.id, situation).await;
}

/// Counts what a CPU's queue has not counted yet.
pub(super) async fn bring_up_to_date<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    let mut rq = me.lock(cpu).await;
    rq.update_clock();
    update_blocked_averages(&mut rq);
}

/// Balances those domains of `dest` that are due, smallest first; levels above one that another CPU balances
/// are left to that.
pub(super) async fn rebalance_domains<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    mut situation: Situation,
) {
    let state = &me.k.rq(dest).published.balance;
    let mut next = None;
    let (mut goes_on, mut decayed, mut costs) = (true, false, Nanos::ZERO);
    let was_idle = situation == Situation::Idle;
    for domain in me.k.domains(dest) {
        decayed = decay_cost(me, domain);
        costs += domain.balance.max_newidle_lb_cost.get();
        if !goes_on {
            if decayed {
                continue;
            }
            break;
        }
        let busy = |situation| situation != Situation::Idle && !sched_idle_cpu(me, dest);
        let mut interval = interval(me, domain, busy(situation));
        let last = &domain.balance.last_balance;
        let is_due = jiffies(me, me.now()) >= jiffies(me, last.get()) + interval;
        // Of the NUMA levels one CPU balances at a time.
        let serialized = matches!(domain.kind, LevelKind::Numa { .. });
        let token = &me.k.fair_root.nohz.numa_is_balanced;
        if is_due && !(serialized && token.get()) {
            token.set(token.get() || serialized);
            match load_balance(me, dest, domain, situation).await {
                Outcome::NotOurs => goes_on = false,
                Outcome::Moved(_) => {
                    situation = if me.k.idle_cpu(dest) { Situation::Idle } else { Situation::Busy };
                }
                Outcome::Nothing => {}
            }
            token.set(token.get() && !serialized);
            last.set(me.now());
            interval = self::interval(me, domain, busy(situation));
        }
        let at = jiffies(me, last.get()) + interval;
        next = Some(next.map_or(at, |other: u64| other.min(at)));
    }
    if decayed {
        state.max_idle_balance_cost.set(Some(costs.max(scale::migration_cost(me.k))));
    }
    if let Some(jiffy) = next {
        state.next_balance.set(at_jiffy(me, jiffy));
        if was_idle {
            nohz::balanced_idle(me, jiffy);
        }
    }
}

/// When that tick period begins.
pub(super) fn at_jiffy<P: Platform>(me: ThisCpu<'_, P>, jiffy: u64) -> Nanos {
    crate::fair::cpu_load::tick_period(me) * jiffy
}

/// Ticks from one balancing of a domain to the next.
pub(super) fn interval<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain, busy: bool) -> u64 {
    let hz = me.k.config.tunables.hz.get() as u64;
    let constants = constants(me, domain);
    let in_ticks = |ms: u64| (ms * hz).div_ceil(1000);
    let ticks = if busy {
        in_ticks(interval_ms(me, domain) * constants.busy_factor).saturating_sub(constants.less_when_busy)
    } else {
        in_ticks(interval_ms(me, domain))
    };
    ticks.clamp(1, (hz * me.k.cpus() as u64 / 10).max(1))
}

/// What a search by a newly idle CPU cost at most fades by 1 % a second; whether it did now.
pub(super) fn decay_cost<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain) -> bool {
    let (cost, last) = (&domain.balance.max_newidle_lb_cost, &domain.balance.last_decay);
    if jiffies(me, me.now()) <= jiffies(me, last.get()) + me.k.config.tunables.hz.get() as u64 {
        return false;
    }
    cost.set(Nanos(cost.get().0 * 253 / 256));
    last.set(me.now());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Lock;
    use crate::testing::Lab;
    use crate::{CpuMask, Policy, Topology};
    use alloc::format;

    /// fair-placement E55: intervals in ticks at the ends of their range.
    #[test]
    fn intervals_of_eight_cpus() {
        let ends = |hz: u64, lb_params: &str| {
            let lab = Lab::new(8, "6.1.y", &[&format!("hz={hz}"), lb_params]);
            let (me, domain) = (lab.cpu(0), &lab.k.domains(CpuId(0))[0]);
            let with = |ms: u64, busy| {
                domain.balance.balance_interval_ms.set(ms);
                interval(me, domain, busy)
            };
            [with(8, false), with(16, false), with(8, true), with(16, true)]
        };
        assert_eq!(ends(250, "lb_params=by_span"), [2, 4, 31, 63]);
        assert_eq!(ends(1000, "lb_params=by_span"), [8, 16, 127, 255]);
        assert_eq!(ends(250, "lb_params=by_span_slow"), [2, 4, 64, 128], "fair-placement E56");
    }

    /// 4.3: no longer than a tenth of a second for each CPU, no shorter than a tick.
    #[test]
    fn intervals_are_bounded() {
        let lab = Lab::new(2, "6.1.y", &["hz=250", "lb_params=by_span"]);
        let (me, domain) = (lab.cpu(0), &lab.k.domains(CpuId(0))[0]);
        domain.balance.balance_interval_ms.set(512);
        assert_eq!(interval(me, domain, true), 50);
        domain.balance.balance_interval_ms.set(0);
        assert_eq!([interval(me, domain, true), interval(me, domain, false)], [7, 1], "the shortest: 2 ms");
    }

    /// Whether a pass of that situation over the domains of CPU 0 comes 20 ms after the last one: an interval
    /// of an idle CPU, 2 ms, has passed, and none of a busy one, 28 ms.
    fn looks(lab: &Lab, situation: Situation) -> bool {
        let attempts = || {
            let counts = &lab.k.domains(CpuId(0))[0].balance.counts;
            counts.iter().map(|c| c.attempts.get()).sum::<u64>()
        };
        lab.advance(Nanos::from_millis(20));
        lab.k.domains(CpuId(0))[0].balance.last_balance.set(Nanos::ZERO);
        let before = attempts();
        lab.run(rebalance_domains(lab.cpu(0), CpuId(0), situation));
        attempts() > before
    }

    /// 3.4, 4.3: a CPU that runs only SCHED_IDLE tasks balances as often as an idle one.
    #[test]
    fn a_cpu_of_sched_idle_tasks_balances_as_often_as_an_idle_one() {
        let busy = |policy, rule: &str| {
            let lab = Lab::new(2, "6.1.y", &["hz=250", rule]);
            lab.spawn(policy, 0);
            looks(&lab, Situation::Busy)
        };
        assert!(busy(Policy::Idle, "sched_idle_cpu=on"));
        assert!(!busy(Policy::Normal, "sched_idle_cpu=on") && !busy(Policy::Idle, "sched_idle_cpu=off"));
    }

    /// 4.3 step 4: one CPU at a time balances the NUMA levels.
    #[test]
    fn levels_of_several_nodes_are_balanced_by_one_cpu_at_a_time() {
        for (kind, serialized) in [(LevelKind::Mc, false), (LevelKind::Numa { distance: 20 }, true)] {
            let mut topology = Topology::flat(2);
            topology.levels[0].kind = kind;
            let lab = Lab::on(&topology, "6.1.y", &["hz=250"]);
            lab.k.fair_root.nohz.numa_is_balanced.set(true);
            assert_eq!(looks(&lab, Situation::Idle), !serialized, "{kind:?}");
            lab.k.fair_root.nohz.numa_is_balanced.set(false);
            assert!(looks(&lab, Situation::Idle), "{kind:?}");
        }
    }

    /// 4.3 step 4: the token is taken for such a level, given back, and left alone for others.
    #[test]
    fn who_has_the_token() {
        for (kind, before, meanwhile) in [
            (LevelKind::Numa { distance: 20 }, false, true),
            (LevelKind::Mc, false, false),
            (LevelKind::Mc, true, true),
        ] {
            let mut topology = Topology::flat(2);
            topology.levels[0].kind = kind;
            let lab = Lab::on(&topology, "6.1.y", &["hz=250"]);
            for cpu in [1, 1, 1] {
                lab.spawn_allowed(Policy::Normal, cpu, CpuMask::single(CpuId(cpu)));
            }
            lab.advance(Nanos::from_secs(1));
            let token = &lab.k.fair_root.nohz.numa_is_balanced;
            token.set(before);
            let mut seen = None;
            lab.meanwhile(
                |lock| lock == Lock::Rq(CpuId(1)),
                rebalance_domains(lab.cpu(0), CpuId(0), Situation::Idle),
                |_| seen = Some(token.get()),
            );
            assert_eq!((seen, token.get()), (Some(meanwhile), before), "{kind:?}");
        }
    }

    /// 4.2: the tick in which a CPU is due is one in which it balances.
    #[test]
    fn from_its_moment_on_a_cpu_is_due() {
        let balanced = |late: u64| {
            let lab = Lab::new(2, "6.1.y", &["hz=250"]);
            lab.spawn_allowed(Policy::Normal, 0, CpuMask::single(CpuId(0)));
            lab.advance(Nanos::from_secs(1));
            let due = lab.k.platform.now.get() + Nanos(late);
            lab.k.rq(CpuId(0)).published.balance.next_balance.set(due);
            lab.run(trigger_load_balance(lab.cpu(0)));
            lab.k.domains(CpuId(0))[0].balance.counts[Situation::Busy.index()].attempts.get()
        };
        assert_eq!([0, 1].map(balanced), [1, 0]);
    }

    /// fair-placement I15: the busy CPU's lock is given back before the own one is taken.
    #[test]
    fn a_pull_holds_one_lock_at_a_time() {
        let lab = Lab::new(2, "6.1.y", &["hz=250", "NO_NI_RANDOM"]);
        for _ in 0..4 {
            lab.spawn_allowed(Policy::Normal, 1, CpuMask::single(CpuId(1)));
        }
        for p in lab.k.tasks.iter().skip(2) {
            lab.k.task(p).cpus_allowed.overwrite(lab.k.online);
            lab.k.task(p).nr_cpus_allowed.overwrite(2);
        }
        lab.advance(Nanos::from_millis(20));
        lab.k.platform.locks.borrow_mut().clear();
        lab.run(load_balance(lab.cpu(0), CpuId(0), &lab.k.domains(CpuId(0))[0], Situation::Idle));
        assert_eq!(*lab.k.platform.locks.borrow(), [Lock::Rq(CpuId(1)), Lock::Rq(CpuId(0))]);
        assert!(lab.k.rq(CpuId(0)).published.nr_running.get() > 0, "something has moved");
    }

    #[test]
    fn measured_costs_fade() {
        let lab = Lab::new(2, "6.1.y", &["hz=250"]);
        let (me, domain) = (lab.cpu(0), &lab.k.domains(CpuId(0))[0]);
        domain.balance.max_newidle_lb_cost.set(Nanos(256_000));
        lab.advance(Nanos::from_secs(1));
        assert!(!decay_cost(me, domain), "more than a second");
        lab.advance(Nanos::from_secs(5));
        assert!(decay_cost(me, domain) && !decay_cost(me, domain), "once");
        assert_eq!(domain.balance.max_newidle_lb_cost.get(), Nanos(253_000));
    }
}
