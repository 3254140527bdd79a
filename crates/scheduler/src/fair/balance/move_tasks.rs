//! Moving tasks from a busy CPU's queue (fair-class 8.6).

use super::lag::owes_service;
use super::{Situation, constants, takes_newest_first};
use crate::class::{PreemptCause, check_preempt_curr, move_queued_task};
use crate::domains::SchedDomain;
use crate::fair::cfs;
use crate::fair::hierarchy::bandwidth::is_throttled_hierarchy;
use crate::fair::queue::TaskList;
use crate::platform::{Cost, Platform};
use crate::registry::{IdleNeverHot, PreemptModel};
use crate::rq::RqGuard;
use crate::stats::bump;
use crate::task::TaskTable;
use crate::{Nanos, Policy, Reason, TaskId, ThisCpu};

/// Moves tasks from the queue of a busy CPU until about `amount` of weight has gone, the most recently
/// enqueued first; how many moved. Looks at sched_nr_migrate tasks and one more.
pub(super) fn move_tasks<P: Platform>(
    from: &mut RqGuard<'_, P>,
    to: &mut RqGuard<'_, P>,
    domain: &SchedDomain,
    amount: u64,
    situation: Situation,
) -> u32 {
    let me = from.me;
    from.update_clock();
    to.update_clock();
    let failed = domain.balance.nr_balance_failed.get();
    let accept_hot = failed > constants(me, domain).cache_nice_tries;
    let newly_idle = situation == Situation::NewlyIdle;
    let model = me.k.config.rules.preempt_model.get();
    let one_only = newly_idle && matches!(model, PreemptModel::Full | PreemptModel::Lazy);
    let reason = if newly_idle { Reason::BalancedNewIdle } else { Reason::BalancedPeriodic };
    let mut remaining = amount;
    let mut moved = 0;
    let mut candidate = from.fair.tasks.newest();
    for _ in 0..=me.k.config.tunables.sched_nr_migrate.get() {
        let Some(p) = candidate else { break };
        candidate = TaskList::older(&me.k.tasks, p);
        me.charge(Cost::ScanTask);
        let weight = me.task(p).se.weight();
        let mut verdict = can_migrate_task(from, to, p, weight / 2 > remaining, accept_hot);
        if !matches!(verdict, Verdict::Stays(_)) && owes_service(from, to.cpu, p, failed) {
            verdict = Verdict::Stays(Reason::NotMovedLag);
        }
        count(me, p, domain, situation, verdict);
        if let Verdict::Stays(obstacle) = verdict {
            me.decide(p, obstacle);
            continue;
        }
        move_queued_task(from, to, p);
        me.decide(p, reason);
        check_preempt_curr(to, p, PreemptCause::Migration);
        moved += 1;
        remaining = remaining.saturating_sub(weight);
        if remaining == 0 || one_only {
            break;
        }
    }
    moved
}

/// What becomes of a task that balancing looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// It moves.
    Moves,
    /// It moves although it is cache-hot, because too many attempts failed.
    MovesHot,
    /// It stays, for this reason.
    Stays(Reason),
}

fn can_migrate_task<P: Platform>(
    from: &RqGuard<'_, P>,
    to: &RqGuard<'_, P>,
    p: TaskId,
    too_heavy: bool,
    accept_hot: bool,
) -> Verdict {
    if throttled_pair(from, to.cpu, p) {
        return Verdict::Stays(Reason::NotMovedThrottled);
    } else if too_heavy {
        return Verdict::Stays(Reason::NotMovedHeavy);
    } else if !from.me.task(p).may_run_on(to.cpu) {
        return Verdict::Stays(Reason::NotMovedAffinity);
    } else if from.curr == p {
        return Verdict::Stays(Reason::NotMovedRunning);
    }
    let (buddy, hot) = (cfs::is_hot(from, p), task_hot(from, p));
    match (buddy || hot, accept_hot) {
        (false, _) => Verdict::Moves,
        (true, true) => Verdict::MovesHot,
        (true, false) => Verdict::Stays(if buddy { Reason::NotMovedBuddy } else { Reason::NotMovedHot }),
    }
}

fn count<P: Platform>(
    me: ThisCpu<'_, P>,
    p: TaskId,
    domain: &SchedDomain,
    situation: Situation,
    verdict: Verdict,
) {
    let balanced = &me.task(p).stats.balanced;
    match verdict {
        Verdict::MovesHot => {
            bump(&balanced.forced);
            bump(&domain.balance.counts[situation.index()].hot_pulled);
        }
        Verdict::Stays(Reason::NotMovedAffinity) => bump(&balanced.failed_affine),
        Verdict::Stays(Reason::NotMovedRunning) => bump(&balanced.failed_running),
        Verdict::Stays(Reason::NotMovedBuddy | Reason::NotMovedHot) => bump(&balanced.failed_hot),
        Verdict::Moves | Verdict::Stays(_) => {}
    }
}

/// Whether the group of a task is throttled here or where it would go: then it stays (deadline-groups B4).
pub(super) fn throttled_pair<P: Platform>(from: &RqGuard<'_, P>, dest: crate::CpuId, p: TaskId) -> bool {
    let (k, group) = (from.me.k, from.me.task(p).se.group.get());
    is_throttled_hierarchy(k, group, from.cpu) || is_throttled_hierarchy(k, group, dest)
}

/// Whether a waiting task probably still finds its data in its CPU's cache: it was charged less than
/// sched_migration_cost ago (−1: always, 0: never). From 2.6.37 on a SCHED_IDLE task never does.
fn task_hot<P: Platform>(from: &RqGuard<'_, P>, p: TaskId) -> bool {
    let never = from.me.k.config.rules.idle_never_hot.get() == IdleNeverHot::On;
    if never && from.me.task(p).policy.get() == Policy::Idle {
        return false;
    }
    let idle_for = from.clock_task().saturating_sub(from.me.task(p).stats.exec_start.get());
    let cost = from.me.k.config.tunables.sched_migration_cost_ns.get();
    u64::try_from(cost).map_or(true, |cost| idle_for < Nanos(cost))
}

/// Which task of a queue goes to `dest` among those that may run there: the one that was enqueued last, or
/// since 4.15 the one that has not run for longest.
pub(super) fn first_allowed<P: Platform>(rq: &RqGuard<'_, P>, dest: crate::CpuId) -> Option<TaskId> {
    let (me, tasks) = (rq.me, &rq.me.k.tasks);
    let (first, next): (_, fn(&TaskTable, TaskId) -> Option<TaskId>) = if takes_newest_first(me) {
        (rq.fair.tasks.newest(), TaskList::older)
    } else {
        (rq.fair.tasks.oldest(), TaskList::newer)
    };
    core::iter::successors(first, |p| next(tasks, *p))
        .inspect(|_| me.charge(Cost::ScanTask))
        .find(|p| me.task(*p).may_run_on(dest) && !throttled_pair(rq, dest, *p))
}
