//! A CPU that is about to idle looks for work, if there is any and its idle times are long enough for what
//! looking has cost (fair-placement 4.9).

use super::load_balance::{Outcome, load_balance};
use super::nohz;
use super::rebalance::{at_jiffy, bring_up_to_date, decay_cost, interval};
use super::{jiffies, note};
use crate::domains::{SchedDomain, SearchLuck};
use crate::fair::balance::Situation;
use crate::fair::scale;
use crate::platform::Platform;
use crate::registry::{Feature, NewIdleFailure, NewIdleGate};
use crate::rq::RqGuard;
use crate::{Nanos, Reason, ThisCpu};

/// So much more than sched_migration_cost a search may count, in ns (eevdf-class 4.6).
const BEYOND_MIGRATION_COST: u64 = 200;

/// Before a pick, with nothing to run: whether the CPU looks for work, or sees to the averages of idle ones.
#[inline]
pub(in crate::fair::balance) fn wants_pre_schedule<P: Platform>(rq: &mut RqGuard<'_, P>) -> bool {
    let me = rq.me;
    if !me.k.rq(rq.cpu).wake_list.is_empty() {
        return false;
    }
    let state = &rq.published.balance;
    state.idle_since.set(Some(rq.clock));
    match gate(rq) {
        None => true,
        Some(reason) => {
            note(me, reason);
            if let Some(lowest) = me.k.domains(rq.cpu).first() {
                bring_forward(me, lowest);
            }
            nohz::wants_stats(rq)
        }
    }
}

/// Why looking for work is not worth it.
fn gate<P: Platform>(rq: &RqGuard<'_, P>) -> Option<Reason> {
    let me = rq.me;
    let lowest = me.k.domains(rq.cpu).first();
    let Some(lowest) = lowest.filter(|_| me.k.root_domain(rq.cpu).overload.get()) else {
        return Some(Reason::NiNoOverload);
    };
    let needed = match me.k.config.rules.newidle_gate.get() {
        NewIdleGate::MigrationCost => scale::migration_cost(me.k),
        NewIdleGate::MeasuredCost => lowest.balance.max_newidle_lb_cost.get(),
    };
    (rq.published.balance.avg_idle() < needed).then_some(Reason::NiShortIdle)
}

/// The next tick's balancing comes no later than this domain is due for an idle CPU.
fn bring_forward<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain) {
    let due = jiffies(me, domain.balance.last_balance.get()) + interval(me, domain, false);
    let next = &me.k.rq(me.id).published.balance.next_balance;
    next.set(next.get().min(at_jiffy(me, due)));
}

/// newidle_balance, with this CPU's lock dropped meanwhile.
pub(in crate::fair::balance) async fn pre_schedule<P: Platform>(rq: RqGuard<'_, P>) -> RqGuard<'_, P> {
    let me = rq.me;
    let avg_idle = rq.published.balance.avg_idle();
    let searches = gate(&rq).is_none();
    drop(rq);
    let found = searches && search(me, avg_idle).await;
    let mut rq = me.lock(me.id).await;
    if found || rq.nr_running > 0 {
        rq.published.balance.idle_since.set(None);
    } else if nohz::wants_stats(&rq) {
        drop(rq);
        nohz::serve_stats(me).await;
        rq = me.lock(me.id).await;
    }
    rq
}

/// Whether something moved.
async fn search<P: Platform>(me: ThisCpu<'_, P>, avg_idle: Nanos) -> bool {
    let rq = me.k.rq(me.id);
    let mut since = me.now();
    let mut cost = Nanos::ZERO;
    let mut found = false;
    bring_up_to_date(me, me.id).await;
    // Up to 5.15 only the looking itself counts, and what it cost fades at ticks only.
    let counts_all = me.k.config.rules.newidle_gate.get() == NewIdleGate::MeasuredCost;
    for domain in me.k.domains(me.id) {
        bring_forward(me, domain);
        let most = &domain.balance.max_newidle_lb_cost;
        if avg_idle < cost + most.get() {
            note(me, Reason::NiCost);
            break;
        }
        let luck = &domain.balance.newidle_luck;
        let mut weight = 0;
        if me.has(Feature::NiRandom) {
            let Some(of_a_success) = luck.weight(me.k.platform.random(me.id, 1024)) else {
                account_luck(me, luck, 0);
                note(me, Reason::NiDice);
                continue;
            };
            weight = of_a_success;
        }
        if !counts_all {
            since = me.now();
        }
        let outcome = load_balance(me, me.id, domain, Situation::NewlyIdle).await;
        let took = me.now().saturating_sub(since);
        since = me.now();
        cost += took;
        found = matches!(outcome, Outcome::Moved(_));
        let counts = what_it_cost(me, took, most.get(), found);
        if counts > most.get() {
            most.set(counts);
            if counts_all {
                domain.balance.last_decay.set(me.now());
            }
        } else if counts_all {
            decay_cost(me, domain);
        }
        if me.has(Feature::NiRandom) {
            account_luck(me, luck, if found { weight } else { 0 });
        }
        if found || rq.published.nr_running.get() > 0 || !rq.wake_list.is_empty() {
            break;
        }
    }
    let longest = &rq.published.balance.max_idle_balance_cost;
    if cost > longest.get().unwrap_or(scale::migration_cost(me.k)) {
        longest.set(Some(cost));
    }
    found
}

/// What a search counts as having cost in a domain where the dearest so far cost `most`.
fn what_it_cost<P: Platform>(me: ThisCpu<'_, P>, took: Nanos, most: Nanos, found: bool) -> Nanos {
    match me.k.config.rules.newidle_failure.get() {
        NewIdleFailure::TimeTaken => took,
        NewIdleFailure::Raised => {
            let counts = if found { took } else { Nanos(most.0 + most.0 / 2) };
            counts.min(Nanos(scale::migration_cost(me.k).0.saturating_add(BEYOND_MIGRATION_COST)))
        }
    }
}

/// A call of a domain was made, or passed over.
fn account_luck<P: Platform>(me: ThisCpu<'_, P>, luck: &SearchLuck, found: u64) {
    luck.account(found, me.has(Feature::NiRate).then(|| me.now()));
}

/// A wakeup ends an idle spell.
pub(in crate::fair::balance) fn end_idle_spell<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let Some(since) = rq.published.balance.idle_since.take() else { return };
    let longest = rq.published.balance.max_idle_balance_cost.get();
    let most = longest.unwrap_or(scale::migration_cost(rq.me.k)).0.saturating_mul(2);
    let length = rq.clock.saturating_sub(since).0;
    let times = &rq.published.balance.idle;
    let average = Nanos(eighth_of_the_way(times.average.get().0, length).min(most));
    times.average.set(average);
    times.for_scans.set(Nanos(average.0 / 2));
    times.for_scans_at.set(rq.clock);
}

/// Rounded towards the average.
fn eighth_of_the_way(average: u64, length: u64) -> u64 {
    average.saturating_add_signed((length as i64 - average as i64) / 8)
}

#[cfg(test)]
mod tests;
