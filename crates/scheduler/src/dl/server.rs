//! The fair server: a deadline entity of each CPU that stands for its fair class (deadline-groups A11).
//!
//! It has 50 ms in each second. Whatever fair tasks run is charged to it, and so is idling; only if they did
//! not get that much by the time at which no laxity is left, it competes: it is *deferred*. Its states:
//!
//! | state | active | throttled | armed | |
//! |---|---|---|---|---|
//! | stopped | no | no | no | there is nothing to protect |
//! | waiting | yes | yes | yes | its timer is set for the zero-laxity time |
//! | competing | yes | no | no | it is in the tree |
//! | used up | yes | yes | no | its timer is set for the next period |
//!
//! Besides, `running` says that fair tasks have been starving since its period began: then it does not wait
//! anew in each period. With `dl_server=plain` it never waits.

use super::budget::{cancel_replenishment, throttle};
use super::cbs::{Budget, revised_budget};
use super::entity::DlEntity;
use super::params::DlParams;
use super::push::{has_pushable_tasks, push_dl_task};
use super::queue::{enter, leave};
use super::timer::{Armed, What, arm};
use super::tree::DlId;
use crate::class::Class;
use crate::platform::Platform;
use crate::registry::{DlServer, DlServerStop, DlServerWakeup};
use crate::rq::RqGuard;
use crate::shared::Kept;
use crate::{CpuId, Nanos, Reason, Scheduler, ThisCpu};

/// How early the zero-laxity timer may be.
const SLACK: Nanos = Nanos::from_millis(1);

/// A CPU's server. The run-queue lock of the CPU protects it.
#[derive(Debug)]
pub struct Server {
    pub(super) entity: DlEntity,
    params: DlParams,
    active: Kept<bool>,
    armed: Kept<bool>,
    running: Kept<bool>,
    /// It waits, after a period in which the CPU idled (7.x).
    idle: Kept<bool>,
    /// After it has stopped, its bandwidth is in use up to then.
    in_use_until: Kept<Nanos>,
    /// From when on the CPU idles without having been charged for it.
    idles_since: Kept<Option<Nanos>>,
}

impl Default for Server {
    fn default() -> Server {
        let params = DlParams::FAIR_SERVER;
        let entity = DlEntity::default();
        entity.own.set(Some(params));
        Server {
            entity,
            params,
            active: Kept::default(),
            armed: Kept::default(),
            running: Kept::default(),
            idle: Kept::default(),
            in_use_until: Kept::default(),
            idles_since: Kept::default(),
        }
    }
}

/// For checkers and tests.
impl Server {
    /// Budget, deadline and whether it is throttled or queued.
    pub fn entity(&self) -> &DlEntity {
        &self.entity
    }

    /// Whether it protects somebody.
    pub fn is_active(&self) -> bool {
        self.active.get()
    }

    /// Whether fair tasks have been starving.
    pub fn is_running(&self) -> bool {
        self.running.get()
    }

    /// When no laxity is left.
    fn zero_laxity(&self) -> Nanos {
        let Budget { runtime, deadline } = self.entity.budget();
        deadline.saturating_sub(Nanos(runtime.max(0) as u64))
    }
}

fn of<'k, P: Platform>(rq: &RqGuard<'k, P>) -> &'k Server {
    let me = rq.me;
    me.k.dl_cpus.fair_server(rq.cpu)
}

fn rule<P: Platform>(k: &Scheduler<P>) -> DlServer {
    k.config.rules.dl_server.get()
}

/// What each server adds to what is promised.
pub(super) fn server_bw<P: Platform>(k: &Scheduler<P>) -> u64 {
    if rule(k) == DlServer::Off { 0 } else { DlParams::FAIR_SERVER.bw() }
}

/// What of that is not in use on a CPU.
pub(super) fn inactive_server_bw<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId) -> u64 {
    let server = me.k.dl_cpus.fair_server(cpu);
    let in_use = server.active.get() || me.now() < server.in_use_until.get();
    if in_use { 0 } else { server_bw(me.k) }
}

/// The first fair task has been queued here: the server starts, unless it still protects the former ones.
pub(crate) fn fair_came<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let server = of(rq);
    if rule(rq.me.k) != DlServer::Off && !server.active.replace(true) {
        starts(rq, server);
    }
}

fn starts<P: Platform>(rq: &mut RqGuard<'_, P>, server: &Server) {
    let (budget, params, now) = (server.entity.budget(), server.params, rq.clock);
    let over = budget.is_past(now);
    if !over && !budget.overflows(params, now) {
        let waits = !server.running.get() && rule(rq.me.k) == DlServer::Deferred;
        return if waits { waits_for_zero_laxity(rq, server) } else { competes(rq, server) };
    }
    let revised = match rq.me.k.config.rules.dl_server_wakeup.get() {
        _ if over || rule(rq.me.k) == DlServer::Plain => false,
        DlServerWakeup::RevisedRunning => server.running.get(),
        DlServerWakeup::RevisedAll => true,
        DlServerWakeup::NewPeriod => false,
    };
    if revised {
        server.entity.set_budget(revised_budget(budget, params, now));
        return competes(rq, server);
    }
    new_period(rq, server);
}

/// A period begins now, in which the server waits if it is one that does.
fn new_period<P: Platform>(rq: &mut RqGuard<'_, P>, server: &Server) {
    server.running.set(false);
    server.entity.set_budget(Budget::new_period(server.params, rq.clock));
    match rule(rq.me.k) {
        DlServer::Plain => competes(rq, server),
        DlServer::Deferred | DlServer::Off => waits_for_zero_laxity(rq, server),
    }
}

/// The server waits until no laxity is left; not if that is now.
fn waits_for_zero_laxity<P: Platform>(rq: &mut RqGuard<'_, P>, server: &Server) {
    let id = DlId::Server(rq.cpu);
    cancel_replenishment(rq, &server.entity, id);
    let at = server.zero_laxity();
    if at <= rq.clock {
        return competes(rq, server);
    }
    server.armed.set(true);
    server.entity.throttled.set(true);
    server.entity.replenish.set(Some(arm(rq.me, rq.cpu, at, What::Replenish(id))));
}

/// The server competes, and takes the CPU from whoever runs with a later deadline, or none.
fn competes<P: Platform>(rq: &mut RqGuard<'_, P>, server: &Server) {
    let me = rq.me;
    server.armed.set(false);
    server.idle.set(false);
    server.entity.throttled.set(false);
    cancel_replenishment(rq, &server.entity, DlId::Server(rq.cpu));
    enter(rq, DlId::Server(rq.cpu));
    let curr = me.task(rq.curr);
    let makes_room = match curr.class.get() {
        Class::Deadline => server.entity.deadline() < curr.dl.deadline(),
        Class::Rt => true,
        // It goes after them, or serves them, or they have heard of the task that has just come.
        Class::Stop | Class::Fair | Class::Idle => false,
    };
    if makes_room {
        me.decide(rq.curr, Reason::FairServerStarts);
        rq.resched();
    }
}

/// The server stops: there is nothing to protect.
fn stops<P: Platform>(rq: &mut RqGuard<'_, P>, server: &Server) {
    if !server.active.replace(false) {
        return;
    }
    let id = DlId::Server(rq.cpu);
    if server.entity.is_queued() {
        leave(rq, id);
    }
    cancel_replenishment(rq, &server.entity, id);
    server.entity.throttled.set(false);
    server.armed.set(false);
    server.idle.set(false);
    server.in_use_until.set(server.entity.budget().zero_lag(server.params));
}

/// The last fair task has left this CPU.
pub(crate) fn fair_went<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.me.k.config.rules.dl_server_stop.get() == DlServerStop::OnEmpty {
        let server = of(rq);
        stops(rq, server);
    }
}

/// The server was to run, and there is no fair task.
pub(crate) fn picked_in_vain<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let server = of(rq);
    stops(rq, server);
}

/// Fair tasks have run here for `delta`, by the server or not.
pub(crate) fn fair_ran<P: Platform>(rq: &mut RqGuard<'_, P>, delta: Nanos) {
    let server = of(rq);
    if rule(rq.me.k) == DlServer::Off || !server.active.get() {
        return;
    }
    let left = charge(server, delta);
    server.idle.set(false);
    if left > 0 {
        return;
    }
    if server.entity.is_throttled() {
        if rule(rq.me.k) == DlServer::Deferred {
            // They got their share without it.
            new_period(rq, server);
        }
        return;
    }
    let id = DlId::Server(rq.cpu);
    leave(rq, id);
    if throttle(rq, &server.entity, id) {
        rq.me.decide(rq.curr, Reason::FairServerEnds);
        rq.resched();
    } else {
        replenished(rq, server);
    }
}

/// What is left.
fn charge(server: &Server, delta: Nanos) -> i64 {
    let budget = server.entity.budget();
    let runtime = budget.runtime - delta.0 as i64;
    server.entity.set_budget(Budget { runtime, ..budget });
    runtime
}

/// The CPU begins to idle. (The rule is asked first here, in [`idled`] and in [`fair_ran`]: without
/// such a server, its cache lines stay cold.)
pub(crate) fn idle_begins<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rule(rq.me.k) == DlServer::Deferred {
        of(rq).idles_since.set(Some(rq.clock_task()));
    }
}

/// It has idled up to now: fair tasks could have run.
pub(crate) fn idled<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rule(rq.me.k) != DlServer::Deferred {
        return;
    }
    let server = of(rq);
    let Some(since) = server.idles_since.replace(Some(rq.clock_task())) else { return };
    if !server.active.get() || server.entity.is_queued() {
        return;
    }
    let left = charge(server, rq.clock_task().saturating_sub(since));
    if left > 0 {
        return;
    }
    let none = Budget { runtime: 0, ..server.entity.budget() };
    server.entity.set_budget(none);
    server.running.set(false);
    let by_period = rq.me.k.config.rules.dl_server_stop.get() == DlServerStop::LazyIdle;
    if by_period && !server.idle.replace(true) {
        new_period(rq, server);
    }
}

/// Its timer fires: no laxity is left, or its next period begins.
pub(super) async fn server_timer<P: Platform>(me: ThisCpu<'_, P>, cpu: CpuId, armed: Armed) {
    let mut rq = me.lock(cpu).await;
    rq.update_clock();
    let server = of(&rq);
    if server.entity.replenish.get() != Some(armed) {
        return;
    }
    server.entity.replenish.set(None);
    if server.idle.get() {
        return stops(&mut rq, server);
    }
    if server.armed.get() {
        let at = server.zero_laxity();
        if rq.clock + SLACK < at {
            // Fair tasks got a part of it meanwhile.
            return waits_for_zero_laxity(&mut rq, server);
        }
        server.running.set(true);
        if server.entity.budget().overflows(server.params, rq.clock) {
            server.entity.set_budget(Budget::new_period(server.params, rq.clock));
        }
    }
    replenished(&mut rq, server);
    if has_pushable_tasks(&rq) {
        drop(push_dl_task(rq).await);
    }
}

/// A period begins, if what is left of the last one has been used up; the server competes, but for one that
/// waits anew in each.
fn replenished<P: Platform>(rq: &mut RqGuard<'_, P>, server: &Server) {
    let budget = server.entity.budget().replenished(server.params, false, rq.clock);
    server.entity.set_budget(budget);
    let waits = rule(rq.me.k) == DlServer::Deferred && !server.running.get();
    if waits { waits_for_zero_laxity(rq, server) } else { competes(rq, server) }
}

/// The rule has changed in the middle of a run: a server that is not to be stops, one that is to be starts.
pub(super) fn rule_changed<P: Platform>(rq: &mut RqGuard<'_, P>) {
    of(rq).idles_since.set(None);
    if rule(rq.me.k) == DlServer::Off {
        picked_in_vain(rq);
    } else if rq.fair.h_nr_running > 0 {
        fair_came(rq);
    }
}
