//! Which tasks leave a busy CPU (fair-placement 4.8). Its lock is held while they leave its queue, and given
//! back before that of the other CPU is taken: on the way they are on no queue, and whoever wants to change
//! one of them waits.

use super::decide::{Imbalance, Kind};
use super::statistics::Search;
use crate::class::{DequeueKind, EnqueueKind, PreemptCause, activate_task, check_preempt_curr};
use crate::class::{deactivate_task, set_task_cpu};
use crate::fair::balance::lag::{owes_service, works_off_its_debt};
use crate::fair::balance::move_tasks::throttled_pair;
use crate::fair::balance::{Situation, constants, takes_newest_first};
use crate::fair::pelt::{task_fits, task_load, task_util_estimate};
use crate::fair::queue::TaskList;
use crate::platform::{Cost, Platform};
use crate::registry::{DetachScale, DoubleLock, Feature, HotCount, SmtHot};
use crate::rq::RqGuard;
use crate::stats::bump;
use crate::task::Task;
use crate::{CpuId, LevelKind, Nanos, Policy, Reason, TaskId, ThisCpu};

/// Tasks after which the lock is given back for a moment.
const LOOPS_UNTIL_BREAK: u32 = 32;

/// How far pulling from one CPU has come.
#[derive(Debug)]
pub(super) struct Pull {
    from: CpuId,
    kind: Kind,
    /// What has not moved yet; below zero after the last task.
    pub remaining: i64,
    loops: u32,
    most_loops: u32,
    break_at: u32,
    /// Tasks that moved.
    pub moved: u32,
    /// The lock is to be given back for a moment.
    pub needs_break: bool,
    /// Some task may not run on the destination.
    pub some_pinned: bool,
    /// No task was found that may.
    pub all_pinned: bool,
    /// A CPU beside the destination on which such a task may run.
    pub other_dest: Option<CpuId>,
}

impl Default for Pull {
    fn default() -> Pull {
        Pull {
            from: CpuId::default(),
            kind: Kind::Load,
            remaining: 0,
            loops: 0,
            most_loops: 0,
            break_at: LOOPS_UNTIL_BREAK,
            moved: 0,
            needs_break: false,
            some_pinned: false,
            all_pinned: false,
            other_dest: None,
        }
    }
}

impl Pull {
    /// This CPU is the busiest.
    pub fn begin<P: Platform>(&mut self, me: ThisCpu<'_, P>, from: CpuId, imbalance: Imbalance) {
        self.from = from;
        self.kind = imbalance.kind;
        self.remaining = imbalance.amount as i64;
        self.all_pinned = true;
        let nr_running = me.k.rq(from).published.nr_running.get();
        self.most_loops = nr_running.min(me.k.config.tunables.sched_nr_migrate.get() as u32);
        self.restart();
    }

    /// For another destination.
    pub fn restart(&mut self) {
        self.loops = 0;
        self.break_at = LOOPS_UNTIL_BREAK;
    }
}

/// Such builds keep the time short in which a newly idle CPU cannot be preempted.
fn builds_can_preempt<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    me.k.config.rules.double_lock.get() == DoubleLock::Fair
}

/// What becomes of a task that balancing looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Moves,
    /// Although it is cache-hot: too many attempts failed.
    MovesHot,
    Stays(Reason),
}

/// Takes tasks off the busy CPU's queue, the coldest first or the newest, until the amount has left it.
pub(super) async fn detach_tasks<P: Platform>(
    me: ThisCpu<'_, P>,
    search: &Search<'_>,
    pull: &mut Pull,
) -> TaskList {
    let mut detached = TaskList::default();
    let mut from = me.lock(pull.from).await;
    from.update_clock();
    if from.nr_running <= 1 {
        pull.all_pinned = false;
        return detached;
    }
    if pull.remaining <= 0 {
        return detached;
    }
    let idle = search.situation != Situation::Busy;
    let one_only = search.situation == Situation::NewlyIdle && builds_can_preempt(me);
    let failures = search.domain.balance.nr_balance_failed.get();
    let newest = takes_newest_first(me);
    let first = |tasks: &TaskList| if newest { tasks.newest() } else { tasks.oldest() };
    while let Some(p) = first(&from.fair.tasks) {
        // The last task is left to a CPU that would have nothing else.
        if idle && from.nr_running <= 1 {
            break;
        }
        pull.loops += 1;
        if pull.loops > pull.most_loops {
            break;
        }
        if pull.loops > pull.break_at {
            pull.break_at += LOOPS_UNTIL_BREAK;
            pull.needs_break = true;
            break;
        }
        me.charge(Cost::ScanTask);
        let amount = match look_at_task(&from, search, pull, p, failures) {
            Ok(amount) => amount,
            Err(obstacle) => {
                me.decide(p, obstacle);
                from.fair.tasks.remove(&me.k.tasks, p);
                if newest {
                    from.fair.tasks.push_last(&me.k.tasks, p);
                } else {
                    from.fair.tasks.push(&me.k.tasks, p);
                }
                continue;
            }
        };
        deactivate_task(&mut from, p, DequeueKind::Departure);
        me.task(p).migrating.set(&from, true);
        set_task_cpu(me, &from, p, search.dest);
        detached.push(&me.k.tasks, p);
        pull.moved += 1;
        pull.remaining -= amount;
        let newly_idle = search.situation == Situation::NewlyIdle;
        me.decide(p, if newly_idle { Reason::BalancedNewIdle } else { Reason::BalancedPeriodic });
        if one_only || pull.remaining <= 0 {
            break;
        }
    }
    detached
}

/// Puts the tasks on their new queue, the last one first.
pub(super) async fn attach_tasks<P: Platform>(me: ThisCpu<'_, P>, dest: CpuId, mut detached: TaskList) {
    if detached.newest().is_none() {
        return;
    }
    let mut to = me.lock(dest).await;
    to.update_clock();
    while let Some(p) = detached.newest() {
        detached.remove(&me.k.tasks, p);
        activate_task(&mut to, p, EnqueueKind::Arrival);
        me.task(p).migrating.set(&to, false);
        check_preempt_curr(&mut to, p, PreemptCause::Migration);
    }
}

/// What a task takes away from the amount, or why it stays.
fn look_at_task<P: Platform>(
    from: &RqGuard<'_, P>,
    search: &Search<'_>,
    pull: &mut Pull,
    p: TaskId,
    failures: u32,
) -> Result<i64, Reason> {
    let me = from.me;
    let verdict = can_migrate(from, search, pull, p, failures);
    if let Verdict::Stays(reason) = verdict {
        return Err(reason);
    }
    let counts_tests = me.k.config.rules.hot_count.get() == HotCount::Tested;
    if verdict == Verdict::MovesHot && counts_tests {
        count_hot(search, me.task(p));
    }
    if pull.kind == Kind::Misfit && task_fits(me, p, pull.from) {
        return Err(Reason::NotMovedFits);
    }
    let amount = match pull.kind {
        Kind::Load => task_load(me, p).max(1),
        Kind::Util => task_util_estimate(me, p),
        Kind::Task | Kind::Misfit => 1,
    };
    let halvings = halvings(me.k.config.rules.detach_scale.get(), pull.kind, failures);
    if (amount >> halvings) as i64 > pull.remaining {
        return Err(Reason::NotMovedHeavy);
    }
    if verdict == Verdict::MovesHot && !counts_tests {
        count_hot(search, me.task(p));
    }
    Ok(amount as i64)
}

/// A cache-hot task moves.
fn count_hot(search: &Search<'_>, task: &Task) {
    bump(&task.stats.balanced.forced);
    bump(&search.domain.balance.counts[search.situation.index()].hot_pulled);
}

/// How often what a task counts is halved before it is held against what is to move.
fn halvings(rule: DetachScale, kind: Kind, failures: u32) -> u32 {
    match (rule, kind) {
        (_, Kind::Task | Kind::Misfit) | (DetachScale::HalvesLoad | DetachScale::Half, Kind::Util) => 0,
        (DetachScale::Halves, _) | (DetachScale::HalvesLoad, Kind::Load) => failures.min(63),
        (DetachScale::Half, Kind::Load) => 1,
    }
}

fn can_migrate<P: Platform>(
    from: &RqGuard<'_, P>,
    search: &Search<'_>,
    pull: &mut Pull,
    p: TaskId,
    failures: u32,
) -> Verdict {
    let (me, task) = (from.me, from.me.task(p));
    if throttled_pair(from, search.dest, p) {
        return Verdict::Stays(Reason::NotMovedThrottled);
    }
    if task.kernel_thread.get() && task.is_pinned() {
        return Verdict::Stays(Reason::NotMovedAffinity);
    }
    if !task.may_run_on(search.dest) {
        bump(&task.stats.balanced.failed_affine);
        pull.some_pinned = true;
        if search.situation != Situation::NewlyIdle && pull.other_dest.is_none() {
            let beside = search.domain.own_group().span.and(&search.cpus);
            pull.other_dest = beside.and(&task.cpus_allowed.get()).first();
        }
        return Verdict::Stays(Reason::NotMovedAffinity);
    }
    pull.all_pinned = false;
    if from.curr == p {
        bump(&task.stats.balanced.failed_running);
        return Verdict::Stays(Reason::NotMovedRunning);
    }
    let asleep = works_off_its_debt(from, p) && pull.kind != Kind::Load;
    if asleep || owes_service(from, search.dest, p, failures) {
        return Verdict::Stays(Reason::NotMovedLag);
    }
    match hot(from, search, p) {
        None => Verdict::Moves,
        Some(_) if failures > constants(me, search.domain).cache_nice_tries => Verdict::MovesHot,
        Some(reason) => {
            bump(&task.stats.balanced.failed_hot);
            Verdict::Stays(reason)
        }
    }
}

/// Whether a task probably finds its data in its CPU's cache, and in none of the destination's.
fn hot<P: Platform>(from: &RqGuard<'_, P>, search: &Search<'_>, p: TaskId) -> Option<Reason> {
    let (me, task) = (from.me, from.me.task(p));
    let beside = search.domain.kind == LevelKind::Smt && me.k.config.rules.smt_hot.get() == SmtHot::Off;
    if task.policy.get() == Policy::Idle || beside {
        return None;
    }
    let dest_has_tasks = me.k.rq(search.dest).published.nr_running.get() > 0;
    let entity = crate::fair::EntityId::of(p);
    if me.has(Feature::CacheHotBuddy)
        && dest_has_tasks
        && from.queue(task.se.group.get()).buddies.contains(entity)
    {
        return Some(Reason::NotMovedBuddy);
    }
    let ran = task.stats.exec_start.get();
    let idle_for = from.clock_task().saturating_sub(ran);
    let cost = me.k.config.tunables.sched_migration_cost_ns.get();
    let warm = u64::try_from(cost).map_or(true, |cost| idle_for < Nanos(cost));
    warm.then_some(Reason::NotMovedHot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Lab;
    use crate::{CpuId, CpuMask, Topology, TopologyLevel};

    /// 4.8: a task that has just run is cache-hot, but for one of SCHED_IDLE, and between threads of a core.
    #[test]
    fn who_is_never_hot() {
        let is_hot = |kind, policy| {
            let level = TopologyLevel { kind, spans: [CpuMask::first_n(2)].into() };
            let lab = Lab::on(&Topology::of(2, [level].into()), "6.1.y", &[]);
            lab.spawn(Policy::Normal, 0);
            let p = lab.spawn(policy, 0);
            lab.k.task(p).stats.exec_start.set(lab.k.platform.now.get());
            let domain = &lab.k.domains(CpuId(1))[0];
            let (dest, situation) = (CpuId(1), Situation::Idle);
            let search = Search { dest, domain, situation, cpus: domain.span };
            hot(&lab.run(lab.cpu(1).lock(CpuId(0))), &search, p).is_some()
        };
        assert!(is_hot(LevelKind::Mc, Policy::Normal));
        assert!(!is_hot(LevelKind::Mc, Policy::Idle));
        assert!(!is_hot(LevelKind::Smt, Policy::Normal));
    }

    /// fair-placement 8.7: after failures a hot task may move, but this one is too heavy.
    #[test]
    fn up_to_6_1_128_a_hot_task_counted_although_it_stayed() {
        let counted = |rule: &str| {
            let level = TopologyLevel { kind: LevelKind::Mc, spans: [CpuMask::first_n(2)].into() };
            let lab = Lab::on(&Topology::of(2, [level].into()), "6.1.y", &[rule]);
            lab.spawn(Policy::Normal, 0);
            let p = lab.spawn(Policy::Normal, 0);
            lab.k.task(p).stats.exec_start.set(lab.k.platform.now.get());
            let domain = &lab.k.domains(CpuId(1))[0];
            let (dest, situation) = (CpuId(1), Situation::Idle);
            let search = Search { dest, domain, situation, cpus: domain.span };
            let verdict = |remaining| {
                let mut pull = Pull { remaining, ..Pull::default() };
                look_at_task(&lab.run(lab.cpu(1).lock(CpuId(0))), &search, &mut pull, p, 2)
            };
            let counted = || lab.k.task(p).stats.balanced.forced.get();
            assert_eq!(verdict(1), Err(Reason::NotMovedHeavy));
            let stayed = counted();
            assert!(verdict(1024).is_ok());
            assert_eq!(domain.balance.counts[situation.index()].hot_pulled.get(), counted().into());
            [stayed, counted()]
        };
        assert_eq!(counted("hot_count=moved"), [0, 1]);
        assert_eq!(counted("hot_count=tested"), [1, 2]);
    }

    /// fair-placement E57: failed attempts until a hog may go for so much load.
    #[test]
    fn e57_failures_make_room_for_a_hog() {
        let attempts = |rule, kind, amount: u64| {
            (0..20).find(|failures| 1024 >> halvings(rule, kind, *failures) <= amount).map(|n| n + 1)
        };
        let by = |rule, kind| [512, 300, 146, 100].map(|amount| attempts(rule, kind, amount));
        assert_eq!(by(DetachScale::Halves, Kind::Load), [Some(2), Some(3), Some(4), Some(5)]);
        assert_eq!(by(DetachScale::Halves, Kind::Util), [Some(2), Some(3), Some(4), Some(5)]);
        assert_eq!(by(DetachScale::HalvesLoad, Kind::Load), [Some(2), Some(3), Some(4), Some(5)]);
        assert_eq!(by(DetachScale::HalvesLoad, Kind::Util), [None; 4], "use counts in full");
        assert_eq!(by(DetachScale::Half, Kind::Load), [Some(1), None, None, None]);
    }
}
