//! Idle CPUs take no ticks: a busy one asks one of them to balance for all (fair-placement 4.10).

use super::rebalance::{bring_up_to_date, rebalance_domains};
use super::{jiffies, note, packing, unequal};
use crate::fair::balance::{Balancing, Situation, constants};
use crate::fair::cache::shared_cache;
use crate::fair::cpu_load::{tick_period, update_cpu_load};
use crate::fair::pelt::{has_blocked_load, is_reduced, misfits};
use crate::fair::scale;
use crate::platform::{Ipi, Platform};
use crate::registry::{Lb, NohzBalance};
use crate::rq::RqGuard;
use crate::{CpuId, CpuMask, Nanos, Reason, ThisCpu};
use core::cell::{Cell, RefCell};

/// What an idle CPU is asked to do for all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::fair) struct Request {
    /// Bring their averages up to date.
    stats: bool,
    /// Balance them.
    balance: bool,
    /// Find out when the next of them is due.
    next: bool,
}

impl Request {
    fn is_empty(self) -> bool {
        self == Request::default()
    }

    fn with(self, other: Request) -> Request {
        Request {
            stats: self.stats || other.stats,
            balance: self.balance || other.balance,
            next: self.next || other.next,
        }
    }
}

/// What all CPUs share.
#[derive(Debug, Default)]
pub(in crate::fair) struct NohzRoot {
    /// CPUs that took no tick since they went idle.
    idle: RefCell<CpuMask>,
    /// Some of them have averages that still fade.
    has_blocked: Cell<bool>,
    /// One has joined them since `next_balance` was computed.
    needs_update: Cell<bool>,
    /// Tick from which they may be balanced again.
    next_balance: Cell<u64>,
    /// Tick from which their averages may be updated again.
    next_blocked: Cell<u64>,
    /// Some CPU balances a NUMA level.
    pub numa_is_balanced: Cell<bool>,
}

impl NohzRoot {
    /// Of CPUs that have been idle for long: their ticks are stopped, and nothing in their averages fades.
    pub fn of_idle(cpus: CpuMask) -> NohzRoot {
        NohzRoot { idle: RefCell::new(cpus), ..NohzRoot::default() }
    }

    /// CPUs that took no tick since they went idle.
    pub fn idle_cpus(&self) -> CpuMask {
        *self.idle.borrow()
    }
}

/// The executing CPU's tick is stopped: it idles.
pub(crate) fn tick_stopped<P: Platform>(me: ThisCpu<'_, P>) {
    if me.k.config.rules.lb.get() == Lb::GroupLoad || me.k.is_on_null_domain(me.id) {
        return;
    }
    let root = &me.k.fair_root.nohz;
    me.k.rq(me.id).published.balance.has_blocked_load.set(true);
    let mut idle = root.idle.borrow_mut();
    if !idle.contains(me.id) {
        idle.insert(me.id);
        let cache = shared_cache(me, me.id);
        cache.nr_idle.set(cache.nr_idle.get() + 1);
        root.needs_update.set(true);
    }
    root.has_blocked.set(true);
}

/// The executing CPU has a tick and is busy.
fn leave<P: Platform>(me: ThisCpu<'_, P>) {
    let mut idle = me.k.fair_root.nohz.idle.borrow_mut();
    if idle.contains(me.id) {
        idle.remove(me.id);
        let cache = shared_cache(me, me.id);
        cache.nr_idle.set(cache.nr_idle.get() - 1);
    }
}

/// At a tick: perhaps an idle CPU is asked.
pub(super) fn nohz_balancer_kick<P: Platform>(me: ThisCpu<'_, P>, idle: bool) {
    if idle {
        return;
    }
    leave(me);
    let root = &me.k.fair_root.nohz;
    if root.idle.borrow().is_empty() {
        return;
    }
    let now = jiffies(me, me.now());
    if rule(me) == NohzBalance::BalanceOnly {
        return kick_to_balance(me, now);
    }
    let stats = root.has_blocked.get() && now > root.next_blocked.get();
    let mut request = Request { stats, balance: false, next: false };
    if now >= root.next_balance.get()
        && let Some(reason) = kick_reason(me)
    {
        note(me, reason);
        request = Request { stats: true, balance: true, next: false };
    }
    request.next = root.needs_update.get() && rule(me) == NohzBalance::NextDue;
    if !request.is_empty() {
        kick(me, request, now);
    }
}

/// The same up to 4.16: an idle CPU is asked to balance, by a reschedule interrupt, if it has not been
/// already.
fn kick_to_balance<P: Platform>(me: ThisCpu<'_, P>, now: u64) {
    let next = &me.k.fair_root.nohz.next_balance;
    let Some(reason) = kick_reason(me).filter(|_| now >= next.get()) else { return };
    note(me, reason);
    next.set(next.get() + 1);
    ask(me, Request { balance: true, ..Request::default() }, Ipi::NohzReschedule);
}

fn rule<P: Platform>(me: ThisCpu<'_, P>) -> NohzBalance {
    me.k.config.rules.nohz_balance.get()
}

/// Why this CPU may have something to give away.
fn kick_reason<P: Platform>(me: ThisCpu<'_, P>) -> Option<Reason> {
    let (lowest, above) = me.k.domains(me.id).split_first()?;
    if me.k.rq(me.id).published.nr_running.get() >= 2 {
        return Some(Reason::KickOverload);
    }
    if me.k.nr_fair(me.id) >= 1 && is_reduced(me, me.id, constants(me, lowest).imbalance_pct) {
        return Some(Reason::KickCapacity);
    }
    if packing::a_better_one_idles(me) {
        return Some(Reason::KickAsymPacking);
    }
    if above.iter().chain([lowest]).any(|domain| unequal::counts(me, domain)) {
        // There only room for each task counts, not how full a cache is. (Where a task that does not fit is
        // noted, some CPU is worth more.)
        return (misfits(me, me.id) > 0).then_some(Reason::KickMisfit);
    }
    // Up to 4.16 that is no reason where the cache holds all CPUs.
    let counts = rule(me) != NohzBalance::BalanceOnly || above.iter().any(|d| !d.shares_cache);
    let size = me.k.llc_size(me.id);
    let busy = size - shared_cache(me, me.id).nr_idle.get();
    (counts && busy > 1).then_some(Reason::KickBusyLlc)
}

fn kick<P: Platform>(me: ThisCpu<'_, P>, request: Request, now: u64) {
    let root = &me.k.fair_root.nohz;
    if request.balance {
        root.next_balance.set(now + 1);
    }
    ask(me, request, Ipi::Nohz);
}

/// Asks the lowest CPU that idles without a tick, if it has not been asked already. (Who asks is busy.)
fn ask<P: Platform>(me: ThisCpu<'_, P>, request: Request, by: Ipi) {
    let idle = me.k.fair_root.nohz.idle_cpus();
    let Some(server) = idle.iter().find(|c| me.k.idle_cpu(*c)) else { return };
    let asked = &me.k.rq(server).published.balance.nohz_request;
    let before = asked.get();
    asked.set(before.with(request));
    if before.is_empty() {
        me.k.platform.send_ipi(me.id, server, by);
    }
}

/// Balances the other idle CPUs that are due, the lowest first, then the executing one, each brought up to
/// date before.
async fn balance_others_then_own<P: Platform>(me: ThisCpu<'_, P>) {
    let root = &me.k.fair_root.nohz;
    let others = root.idle_cpus().without(&CpuMask::single(me.id));
    let mut next = None;
    for cpu in others.iter().filter(|c| me.k.idle_cpu(*c)) {
        if me.k.rq(me.id).published.need_resched() {
            break;
        }
        let due = &me.k.rq(cpu).published.balance.next_balance;
        if me.now() >= due.get() {
            count_ticks(me, cpu).await;
            rebalance_domains(me, cpu, Situation::Idle).await;
        }
        let at = jiffies(me, due.get());
        next = Some(next.map_or(at, |other: u64| other.min(at)));
    }
    if let Some(at) = next {
        root.next_balance.set(at);
    }
    count_ticks(me, me.id).await;
    rebalance_domains(me, me.id, Situation::Idle).await;
}

/// Brings an idle CPU's averages up to date, those included that its ticks would have counted.
async fn count_ticks<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) {
    bring_up_to_date(me, cpu).await;
    update_cpu_load(&mut me.lock(cpu).await);
}

/// Handler of [`Ipi::Nohz`] and [`Ipi::NohzReschedule`]: the executing CPU balances for all idle ones, if it
/// still idles itself.
pub async fn nohz_csd_func<P: Platform>(me: ThisCpu<'_, P>) {
    let request = me.k.rq(me.id).published.balance.nohz_request.take();
    if !request.is_empty() && me.k.idle_cpu(me.id) {
        balance_as_asked(me, request).await;
    }
}

/// The same where a thread of the CPU does the balancing: what it is to do.
pub fn raise_nohz_balance<P: Platform>(me: ThisCpu<'_, P>) -> Option<Balancing> {
    if me.k.idle_cpu(me.id) {
        return Some(Balancing::ForIdleCpus);
    }
    me.k.rq(me.id).published.balance.nohz_request.take();
    None
}

/// That thread does it, whoever else has come meanwhile.
pub(in crate::fair::balance) async fn nohz_idle_balance<P: Platform>(me: ThisCpu<'_, P>) {
    let request = me.k.rq(me.id).published.balance.nohz_request.take();
    if !request.is_empty() {
        balance_as_asked(me, request).await;
    }
}

async fn balance_as_asked<P: Platform>(me: ThisCpu<'_, P>, request: Request) {
    match rule(me) {
        NohzBalance::BalanceOnly => balance_others_then_own(me).await,
        NohzBalance::NextDue | NohzBalance::Behind | NohzBalance::Ascending => serve(me, request).await,
    }
}

/// Whether a CPU that found no work is to bring the averages of idle CPUs up to date.
pub(super) fn wants_stats<P: Platform>(rq: &RqGuard<'_, P>) -> bool {
    let me = rq.me;
    let root = &me.k.fair_root.nohz;
    rule(me) != NohzBalance::BalanceOnly
        && rq.published.balance.avg_idle() >= scale::migration_cost(me.k)
        && root.has_blocked.get()
        && jiffies(me, me.now()) >= root.next_blocked.get()
}

/// The executing CPU does so.
pub(super) async fn serve_stats<P: Platform>(me: ThisCpu<'_, P>) {
    serve(me, Request { stats: true, ..Request::default() }).await;
}

/// For every idle CPU, the executing one last.
async fn serve<P: Platform>(me: ThisCpu<'_, P>, request: Request) {
    let root = &me.k.fair_root.nohz;
    if request.stats {
        root.has_blocked.set(false);
    }
    if request.next {
        root.needs_update.set(false);
    }
    let idle = root.idle_cpus();
    let mut next = None;
    let mut still_blocked = false;
    let behind = match rule(me) {
        NohzBalance::NextDue | NohzBalance::Behind => me.id,
        NohzBalance::Ascending | NohzBalance::BalanceOnly => CpuId(me.k.cpus() as u16 - 1),
    };
    let others = idle.around(behind).filter(|c| *c != me.id);
    let all = others.chain(idle.contains(me.id).then_some(me.id));
    for cpu in all.filter(|c| me.k.idle_cpu(*c)) {
        if !me.k.idle_cpu(me.id) && me.k.rq(me.id).published.need_resched() {
            still_blocked |= request.stats;
            root.needs_update.set(root.needs_update.get() || request.next);
            break;
        }
        if request.stats {
            still_blocked |= update_nohz_stats(me, cpu).await;
        }
        let due = &me.k.rq(cpu).published.balance.next_balance;
        if me.now() >= due.get() && request.balance {
            rebalance_domains(me, cpu, Situation::Idle).await;
        }
        let at = jiffies(me, due.get());
        next = Some(next.map_or(at, |other: u64| other.min(at)));
    }
    if let Some(at) = next {
        root.next_balance.set(at);
    }
    if request.stats {
        let soon = Nanos::from_millis(32).0.div_ceil(tick_period(me).0);
        root.next_blocked.set(jiffies(me, me.now()) + soon);
    }
    if still_blocked {
        root.has_blocked.set(true);
    }
}

/// An idle CPU was balanced and is due in that tick: up to 5.12 all of them may be asked for from then on.
pub(super) fn balanced_idle<P: Platform>(me: ThisCpu<'_, P>, due: u64) {
    let next = &me.k.fair_root.nohz.next_balance;
    if rule(me) == NohzBalance::Ascending && due < next.get() {
        next.set(due);
    }
}

/// Brings the averages of an idle CPU up to date; whether anything in them still fades.
async fn update_nohz_stats<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
    let state = &me.k.rq(cpu).published.balance;
    if !state.has_blocked_load.get() {
        return false;
    }
    let now = jiffies(me, me.now());
    if state.blocked_updated_at.replace(now) != now {
        bring_up_to_date(me, cpu).await;
        state.has_blocked_load.set(has_blocked_load(me, cpu));
    }
    state.has_blocked_load.get()
}

#[cfg(test)]
mod tests;
