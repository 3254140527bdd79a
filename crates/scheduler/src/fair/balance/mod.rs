//! Periodic balancing: at some ticks a CPU looks through its domains and pulls from the busiest CPU of the
//! busiest group (fair-class 8.5).

mod active;
mod find_busiest;
mod lag;
mod move_tasks;
mod new_idle;
mod nohz;
mod numa;
mod sums;
mod typed;

pub(crate) use active::active_load_balance;
pub(super) use new_idle::IdleTimes;
pub(crate) use new_idle::{pre_schedule, update_avg_idle, wants_pre_schedule};
pub use nohz::FairRoot;
pub(super) use numa::{numa_difference, stays_on_node};
pub(super) use sums::Counted;
pub(crate) use typed::{may_be_drained, tick_stopped};
pub use typed::{nohz_csd_func, raise_nohz_balance};

use crate::domains::{BalanceConstants, SchedDomain};
use crate::double_lock::{DoubleLocked, double_lock_balance};
use crate::fair::cpu_load::tick_period;
use crate::platform::Platform;
use crate::registry::Lb;
use crate::shared::Kept;
use crate::stats::bump;
use crate::task::Task;
use crate::{CpuId, Nanos, ThisCpu};
use active::request_push;
use core::cell::Cell;
use find_busiest::{Busiest, find_busiest};
use move_tasks::move_tasks;

/// In what situation a CPU is balanced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Situation {
    /// It runs a task.
    Busy,
    /// It has been idle for a while.
    Idle,
    /// It is about to idle.
    NewlyIdle,
}

impl Situation {
    /// Its place in [`crate::domains::BalanceState::counts`].
    pub fn index(self) -> usize {
        match self {
            Situation::Idle => 0,
            Situation::Busy => 1,
            Situation::NewlyIdle => 2,
        }
    }
}

/// What balancing keeps for each CPU beside its lock. Written by the CPU itself, but for what others ask of
/// it.
#[derive(Debug, Default)]
pub struct CpuBalance {
    /// When its tick looks through its domains again.
    pub next_balance: Kept<Nanos>,
    /// A CPU that asks for one of its tasks ([`active`]); written by that CPU under the lock.
    pub(super) push_to: Cell<Option<CpuId>>,
    /// What a search for work has cost at most; `None`: sched_migration_cost.
    pub max_idle_balance_cost: Kept<Option<Nanos>>,
    /// What it is asked to do for all idle CPUs.
    pub(super) nohz_request: Kept<typed::Request>,
    /// Its averages may still fade.
    pub(super) has_blocked_load: Kept<bool>,
    /// Tick in which they were last brought up to date for it.
    pub(super) blocked_updated_at: Kept<u64>,
    /// Since when it has nothing to run.
    pub(in crate::fair) idle_since: Kept<Option<Nanos>>,
    /// How long it idles.
    pub(in crate::fair) idle: IdleTimes,
    /// It is asked to balance on behalf of all idle CPUs ([`nohz`]).
    pub(super) nohz_kick: Cell<bool>,
}

impl CpuBalance {
    /// Whether another CPU waits for one of its tasks.
    pub(crate) fn is_asked(&self) -> bool {
        self.push_to.get().is_some()
    }

    /// One does, for the test of who checks it.
    #[cfg(test)]
    pub(crate) fn ask(&self, dest: CpuId) {
        self.push_to.set(Some(dest));
    }

    /// Average length of its idle times.
    pub fn avg_idle(&self) -> Nanos {
        self.idle.average.get()
    }
}

/// A task leaves its CPU, and with it whatever that CPU's cache has of it.
pub(crate) fn lose_cache<P: Platform>(me: ThisCpu<'_, P>, task: &Task) {
    if me.k.config.rules.lb.get() != Lb::GroupLoad {
        task.stats.exec_start.set(Nanos::ZERO);
    }
}

/// Whether balancing takes whoever was queued last first, and not who has not run for longest (up to 4.14).
pub(super) fn takes_newest_first<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    matches!(me.k.config.rules.lb.get(), Lb::GroupLoad | Lb::GroupRoomNewest)
}

/// A queue has so many tasks now: with two of them there is something to pull.
#[inline]
pub(crate) fn note_overload<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, nr_running: u32) {
    if nr_running >= 2 {
        me.k.root_domain(cpu).overload.set(true);
    }
}

/// What came of one balancing of one domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Nobody is busy enough, or it is another CPU's turn.
    Balanced,
    /// A busiest CPU was found, but it gave nothing.
    Failed,
    /// So many tasks moved.
    Moved(u32),
}

/// What the soft interrupt that serves balancing is raised for (SCHED).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Balancing {
    /// A CPU has a task, and its own domains are due.
    Busy,
    /// It idled as its domains came due.
    Idle,
    /// It idled, and was asked to balance for all idle CPUs.
    ForIdleCpus,
}

/// At a tick whose balancing a thread does: what that is to do. Idle CPUs are asked for help at once.
pub(crate) fn raise_load_balance<P: Platform>(me: ThisCpu<'_, P>) -> Option<Balancing> {
    if me.k.domains(me.id).is_empty() {
        return None;
    }
    let idle = me.k.idle_cpu(me.id);
    let is_due = me.now() >= me.k.rq(me.id).published.balance.next_balance.get();
    if me.k.config.rules.lb.get() != Lb::GroupLoad {
        typed::tick_balances_later(me, idle);
    }
    is_due.then_some(if idle { Balancing::Idle } else { Balancing::Busy })
}

/// A thread of the executing CPU does what [`crate::tick::scheduler_tick`] or [`raise_nohz_balance`] said.
pub async fn run_rebalance_domains<P: Platform>(me: ThisCpu<'_, P>, balancing: Balancing) {
    let situation = match balancing {
        Balancing::Busy => Situation::Busy,
        Balancing::Idle => Situation::Idle,
        Balancing::ForIdleCpus => return typed::nohz_idle_balance(me).await,
    };
    if me.k.config.rules.lb.get() == Lb::GroupLoad {
        balance_domains(me, me.id, situation).await;
        return nohz::nohz_balancer_kick(me).await;
    }
    typed::rebalance_now(me, situation).await;
}

/// After each tick, with no lock held: balances this CPU if that is due, and sees to the idle ones.
pub(crate) async fn rebalance_domains<P: Platform>(me: ThisCpu<'_, P>) {
    if me.k.domains(me.id).is_empty() {
        return;
    }
    if me.k.config.rules.lb.get() != Lb::GroupLoad {
        return typed::trigger_load_balance(me).await;
    }
    if me.now() >= me.k.rq(me.id).published.balance.next_balance.get() {
        let situation = if me.k.idle_cpu(me.id) { Situation::Idle } else { Situation::Busy };
        balance_domains(me, me.id, situation).await;
    }
    nohz::nohz_balancer_kick(me).await;
}

/// Balances those domains of `dest` that are due, smallest first.
pub(super) async fn balance_domains<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId, mut situation: Situation) {
    let mut next = Nanos::NEVER;
    for domain in me.k.domains(dest) {
        if me.now() >= due(me, domain, situation) {
            if let Outcome::Moved(_) = load_balance(me, dest, domain, situation).await {
                situation = Situation::Busy;
            }
            domain.balance.last_balance.set(me.now());
        }
        next = next.min(due(me, domain, situation));
    }
    me.k.rq(dest).published.balance.next_balance.set(next);
}

/// When a domain is to be balanced again: rarely for a busy CPU, and no more than once a tick. (The kernel's
/// upper bound, 0.1 s for each configured CPU, is beyond reach.)
pub(super) fn due<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain, situation: Situation) -> Nanos {
    let (constants, tick) = (constants(me, domain), tick_period(me));
    let mut interval = Nanos::from_millis(interval_ms(me, domain));
    if situation == Situation::Busy {
        interval = (interval * constants.busy_factor).saturating_sub(tick * constants.less_when_busy);
    }
    domain.balance.last_balance.get() + interval.max(tick)
}

/// Constants of balancing a domain, by the rule in force.
pub(super) fn constants<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain) -> BalanceConstants {
    domain.constants(me.k.config.rules.lb_params.get())
}

/// The present interval of a domain, in ms.
fn interval_ms<P: Platform>(me: ThisCpu<'_, P>, domain: &SchedDomain) -> u64 {
    domain.balance.balance_interval_ms.get().max(constants(me, domain).min_interval_ms)
}

/// Balances one domain of `dest`; the executing CPU may act for another one. Takes the locks of both CPUs
/// where something may move.
pub(super) async fn load_balance<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    domain: &SchedDomain,
    situation: Situation,
) -> Outcome {
    let state = &domain.balance;
    let counts = &state.counts[situation.index()];
    bump(&counts.attempts);
    if situation != Situation::NewlyIdle && !should_we_balance(me, dest, domain) {
        bump(&counts.balanced);
        return Outcome::Balanced;
    }
    let Some(busiest) = find_busiest(me, dest, domain, situation) else {
        bump(&counts.balanced);
        state.nr_balance_failed.set(0);
        if situation != Situation::NewlyIdle {
            let doubled = 2 * interval_ms(me, domain);
            state.balance_interval_ms.set(doubled.min(constants(me, domain).max_interval_ms));
        }
        return Outcome::Balanced;
    };
    counts.imbalance_load.set(counts.imbalance_load.get() + busiest.amount);
    let moved = pull(me, dest, domain, busiest, situation).await;
    if situation != Situation::NewlyIdle {
        state.balance_interval_ms.set(constants(me, domain).min_interval_ms);
    }
    if moved > 0 {
        state.nr_balance_failed.set(0);
        counts.pulled.set(counts.pulled.get() + u64::from(moved));
        return Outcome::Moved(moved);
    }
    bump(&counts.failed);
    if situation != Situation::NewlyIdle {
        let failures = state.nr_balance_failed.get() + 1;
        state.nr_balance_failed.set(failures);
        let tries = constants(me, domain).cache_nice_tries;
        if failures > tries + 2 {
            bump(&state.other_counts.active);
            request_push(me, busiest.cpu, dest).await;
            state.nr_balance_failed.set(tries + 1);
        }
    }
    Outcome::Failed
}

/// One CPU of each group balances a level: its first idle one, else its first one.
fn should_we_balance<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, domain: &SchedDomain) -> bool {
    let group = domain.own_group().span;
    group.iter().find(|c| me.k.idle_cpu(*c)).or_else(|| group.first()) == Some(cpu)
}

/// Moves tasks from the busiest CPU under both locks; how many.
async fn pull<P: Platform>(
    me: ThisCpu<'_, P>,
    dest: CpuId,
    domain: &SchedDomain,
    busiest: Busiest,
    situation: Situation,
) -> u32 {
    // The only task of a CPU runs, and cannot be moved from here.
    if me.k.rq(busiest.cpu).published.nr_running.get() < 2 {
        return 0;
    }
    let own = me.lock(dest).await;
    let DoubleLocked { own: mut to, other: mut from, .. } = double_lock_balance(own, busiest.cpu).await;
    move_tasks(&mut from, &mut to, domain, busiest.amount, situation)
}

#[cfg(test)]
mod tests;
