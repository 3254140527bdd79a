//! One pass over one domain (fair-placement 4.4).

use super::decide::{Imbalance, Kind};
use super::detach::{Pull, attach_tasks, detach_tasks};
use super::packing;
use super::statistics::Search;
use crate::domains::{LevelKind, SchedDomain};
use crate::fair::balance::active::request_push;
use crate::fair::balance::{Situation, constants, interval_ms};
use crate::fair::cache::core_of;
use crate::fair::pelt::{capacity_of, is_reduced};
use crate::platform::Platform;
use crate::registry::{LbActive, SmtBalance};
use crate::stats::{add, bump};
use crate::{CpuId, Reason, ThisCpu};

/// All tasks of the busiest CPU may be bound to others for so long, in ms.
const LONGEST_WHEN_PINNED_MS: u64 = 512;

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Another CPU balances this level, and those above.
    NotOurs,
    /// Nothing moved, for now.
    Nothing,
    /// So many tasks moved.
    Moved(u32),
}

/// Balances one domain of `dest`; the executing CPU may act for another one.
pub(super) async fn load_balance<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    domain: &SchedDomain,
    situation: Situation,
) -> Outcome {
    let counts = &domain.balance.counts[situation.index()];
    bump(&counts.attempts);
    let mut search = Search { dest, domain, situation, cpus: domain.span.and(&me.k.online) };
    let mut pull = Pull::default();
    let (from, imbalance) = loop {
        if !should_we_balance(me, &search) {
            out_balanced(me, dest, domain, situation, &pull);
            return Outcome::NotOurs;
        }
        let Some(busiest) = search.find_busiest_group(me) else {
            bump(&counts.no_busier_group);
            out_balanced(me, dest, domain, situation, &pull);
            return Outcome::Nothing;
        };
        let imbalance = busiest.imbalance;
        let Some(from) = search.find_busiest_queue(me, busiest.group, imbalance) else {
            bump(&counts.no_busier_queue);
            out_balanced(me, dest, domain, situation, &pull);
            return Outcome::Nothing;
        };
        let sum = imbalance.kind.counter(counts);
        sum.set(sum.get() + imbalance.amount);
        pull.begin(me, from, imbalance);
        if me.k.rq(from).published.nr_running.get() <= 1 {
            break (from, imbalance);
        }
        pull_tasks(me, &mut search, &mut pull).await;
        note_pinned(me, dest, domain, &pull);
        if !pull.all_pinned {
            break (from, imbalance);
        }
        // Nobody there may come here: the next busiest.
        search.cpus.remove(from);
        if search.cpus.is_subset(&domain.own_group().span) {
            out_all_pinned(me, domain, situation, &pull);
            return Outcome::Nothing;
        }
        super::note(me, Reason::LbAllPinned);
    };
    add(&counts.pulled, crate::Nanos(u64::from(pull.moved)));
    if pull.moved > 0 {
        domain.balance.nr_balance_failed.set(0);
        domain.balance.balance_interval_ms.set(constants(me, domain).min_interval_ms);
        return Outcome::Moved(pull.moved);
    }
    bump(&counts.failed);
    failed(me, &search, &mut pull, dest, from, imbalance).await;
    Outcome::Nothing
}

/// Nothing moved although something should have: that is counted, and after enough of it the busy CPU is
/// asked itself.
async fn failed<P: Platform>(
    me: ThisCpu<'_, P>,
    search: &Search<'_>,
    pull: &mut Pull,
    dest: CpuId,
    from: CpuId,
    imbalance: Imbalance,
) {
    let (domain, situation) = (search.domain, search.situation);
    let state = &domain.balance;
    if situation != Situation::NewlyIdle {
        state.nr_balance_failed.set(state.nr_balance_failed.get() + 1);
    }
    let any_failure = me.k.config.rules.lb_active.get() == LbActive::AnyFailure;
    let mut asked = false;
    if needs_active_balance(me, search, dest, from, imbalance) {
        let running = me.k.rq(from).published.curr.get();
        if !me.task(running).may_run_on(dest) {
            lengthen_interval(me, domain, situation, pull);
            return;
        }
        pull.all_pinned = false;
        if is_packed(me, search, dest, from) {
            me.decide(running, Reason::ActiveAsymPacking);
        }
        bump(&state.other_counts.active);
        request_push(me, from, dest).await;
        if any_failure {
            state.nr_balance_failed.set(constants(me, domain).cache_nice_tries + 1);
        }
        asked = true;
    }
    let again = match any_failure {
        true => asked && !is_worth_less(me, search, dest, from) && !is_packed(me, search, dest, from),
        false => asked && !needs_active_balance(me, search, dest, from, imbalance),
    };
    if !again {
        state.balance_interval_ms.set(constants(me, domain).min_interval_ms);
    } else if any_failure && interval_ms(me, domain) < constants(me, domain).max_interval_ms {
        state.balance_interval_ms.set(2 * interval_ms(me, domain));
    }
}

/// Moves tasks until the amount has moved or nobody is left to ask.
async fn pull_tasks<P: Platform>(me: ThisCpu<'_, P>, search: &mut Search<'_>, pull: &mut Pull) {
    loop {
        let detached = detach_tasks(me, search, pull).await;
        attach_tasks(me, search.dest, detached).await;
        if core::mem::take(&mut pull.needs_break) {
            continue;
        }
        let Some(other) = pull.other_dest.filter(|_| pull.remaining > 0) else { break };
        // Somebody may not run here, but next to here.
        super::note(me, Reason::LbRedirected);
        search.cpus.remove(search.dest);
        search.dest = other;
        pull.other_dest = None;
        pull.restart();
    }
}

/// Tasks that may not leave the group of a busy CPU are for the level above to make up for.
fn note_pinned<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId, domain: &SchedDomain, pull: &Pull) {
    if let Some(parent) = parent_of(me, dest, domain)
        && pull.some_pinned
        && pull.remaining > 0
    {
        parent.own_group().imbalanced.set(true);
    }
}

fn parent_of<'k, P: Platform>(
    me: ThisCpu<'k, P>,
    dest: CpuId,
    domain: &SchedDomain,
) -> Option<&'k SchedDomain> {
    me.k.domains(dest).iter().find(|d| d.span_weight > domain.span_weight)
}

/// A CPU that idles newly balances for itself; else one CPU of each group does, its first idle one or else
/// its first. Between cores, from 6.6 on, one whose whole core idles goes before others.
fn should_we_balance<P: Platform>(me: ThisCpu<'_, P>, search: &Search<'_>) -> bool {
    let dest = search.dest;
    if !search.cpus.contains(dest) {
        return false;
    }
    if search.situation == Situation::NewlyIdle {
        let rq = me.k.rq(dest);
        return rq.published.nr_running.get() == 0 && rq.wake_list.is_empty();
    }
    let group = search.domain.own_group().span;
    let idle = || group.and(&search.cpus).iter().filter(|c| me.k.idle_cpu(*c));
    let of_cores = search.domain.kind != LevelKind::Smt;
    let cores_first = of_cores && me.k.config.rules.smt_balance.get() == SmtBalance::On;
    let core_idles = |cpu: &CpuId| {
        core_of(me, *cpu).is_none_or(|core| core.iter().all(|beside| beside == *cpu || me.k.idle_cpu(beside)))
    };
    let in_idle_core = if cores_first { idle().find(core_idles) } else { None };
    in_idle_core.or_else(|| idle().next()).or_else(|| group.first()) == Some(dest)
}

fn out_balanced<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    domain: &SchedDomain,
    situation: Situation,
    pull: &Pull,
) {
    if let Some(parent) = parent_of(me, dest, domain).filter(|_| !pull.all_pinned) {
        parent.own_group().imbalanced.set(false);
    }
    out_all_pinned(me, domain, situation, pull);
}

fn out_all_pinned<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain, situation: Situation, pull: &Pull) {
    bump(&domain.balance.counts[situation.index()].balanced);
    domain.balance.nr_balance_failed.set(0);
    lengthen_interval(me, domain, situation, pull);
}

/// Where there is nothing to do, balancing is tried less often.
fn lengthen_interval<P: Platform>(
    me: ThisCpu<'_, P>,
    domain: &SchedDomain,
    situation: Situation,
    pull: &Pull,
) {
    let now = interval_ms(me, domain);
    let longest = constants(me, domain).max_interval_ms;
    let may_grow = now < longest || (pull.all_pinned && now < LONGEST_WHEN_PINNED_MS);
    if situation != Situation::NewlyIdle && may_grow {
        domain.balance.balance_interval_ms.set(2 * now);
    }
}

/// Whether the busy CPU is to be asked for a task, even the running one (need_active_balance).
fn needs_active_balance<P: Platform>(
    me: ThisCpu<'_, P>,
    search: &Search<'_>,
    dest: CpuId,
    from: CpuId,
    imbalance: Imbalance,
) -> bool {
    let tries = constants(me, search.domain).cache_nice_tries;
    let failures = search.domain.balance.nr_balance_failed.get();
    let counts = match me.k.config.rules.lb_active.get() {
        LbActive::TaskCounts => imbalance.kind == Kind::Task,
        LbActive::AnyFailure => true,
    };
    is_packed(me, search, dest, from)
        || imbalance.kind == Kind::Misfit
        || (counts && failures > tries + 2)
        || is_worth_less(me, search, dest, from)
}

/// Whether `dest` idles and is preferred to the busy CPU.
fn is_packed<P: Platform>(me: ThisCpu<'_, P>, search: &Search<'_>, dest: CpuId, from: CpuId) -> bool {
    packing::packs_now(me, search.domain, search.situation) && packing::asks_for_running(me, from, dest)
}

/// Whether real-time tasks leave the only fair task of the busy CPU clearly less than `dest` has for it.
fn is_worth_less<P: Platform>(me: ThisCpu<'_, P>, search: &Search<'_>, dest: CpuId, from: CpuId) -> bool {
    let pct = constants(me, search.domain).imbalance_pct;
    search.situation != Situation::Busy
        && me.k.nr_fair(from) == 1
        && is_reduced(me, from, pct)
        && capacity_of(me, from) * pct < capacity_of(me, dest) * 100
}

#[cfg(test)]
mod tests;
