//! find_lowest_rq: a CPU whose best queued work is strictly lower than a task (rt-class 4).
//!
//! No lock is needed or taken, so the answer is advice: whoever uses it checks again.

use crate::platform::{Access, Cost, Line, Platform};
use crate::registry::{PickAny, Search, Topology};
use crate::select::any_and_distribute;
use crate::stats::bump;
use crate::task::Task;
use crate::{CpuId, CpuMask, Prio, TaskId, ThisCpu};

/// Who searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum For {
    /// A waker, or a check without a move: the task's own CPU may be the answer.
    Wakeup,
    /// The push of this CPU's queue: the linear scan of 2.6.23-rt5 leaves that CPU out.
    Push(CpuId),
}

/// The CPU to which `p` should go, or none that is lower.
#[inline]
pub(super) fn find_lowest_rq<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, purpose: For) -> Option<CpuId> {
    let task = me.task(p);
    let lowest = lowest_cpus(me, task, purpose)?;
    nearest_of(me, task, &lowest)
}

/// Whether there is any CPU to which `p` could go.
pub(super) fn any_lower<P: Platform>(me: ThisCpu<'_, P>, p: TaskId) -> bool {
    lowest_cpus(me, me.task(p), For::Wakeup).is_some()
}

/// The equally good CPUs among which topology chooses; never empty. What it costs is counted.
#[inline]
fn lowest_cpus<P: Platform>(me: ThisCpu<'_, P>, task: &Task, purpose: For) -> Option<CpuMask> {
    if task.is_pinned() {
        return None;
    }
    let start = me.now();
    let found = search(me, task, purpose);
    let totals = &me.k.totals;
    bump(&totals.rt_searches);
    totals.rt_search_time.set(totals.rt_search_time.get() + me.now().saturating_sub(start));
    found
}

/// Where CPUs are not worth the same, the lowest of those that are worth enough, if any is lower at all
/// (cpupri_find_fitness).
fn search<P: Platform>(me: ThisCpu<'_, P>, task: &Task, purpose: For) -> Option<CpuMask> {
    let allowed = task.cpus_allowed.get();
    if me.k.rt_tasks_must_fit() {
        let enough = allowed.iter().filter(|cpu| cpu.index() < me.k.cpus() && me.k.rt_task_fits(task, *cpu));
        let found = search_among(me, task, enough.collect(), purpose);
        if found.is_some() {
            return found;
        }
    }
    search_among(me, task, allowed, purpose)
}

#[inline]
fn search_among<P: Platform>(
    me: ThisCpu<'_, P>,
    task: &Task,
    allowed: CpuMask,
    purpose: For,
) -> Option<CpuMask> {
    let (root, prio) = (me.k.root_domain(task.cpu.get()), task.prio.get());
    match me.k.config.rules.search.get() {
        Search::Cpupri | Search::CpupriLocked | Search::CpupriGap => root.rt.cpupri.find(me, prio, &allowed),
        Search::LinearMask => scan(me, prio, allowed.and(&root.span)).all,
        Search::Linear => {
            let mut candidates = allowed.and(&root.span);
            if let For::Push(own) = purpose {
                candidates.remove(own);
            }
            scan(me, prio, candidates).first.map(CpuMask::single)
        }
    }
}

/// What a scan of the run queues found.
struct Scanned {
    /// The first of the lowest CPUs.
    first: Option<CpuId>,
    /// All of them, but a CPU without RT tasks alone: it ends the scan, so topology has no say.
    all: Option<CpuMask>,
}

/// Reads each candidate's best queued priority, ascending; the first CPU without RT tasks ends it.
fn scan<P: Platform>(me: ThisCpu<'_, P>, prio: Prio, candidates: CpuMask) -> Scanned {
    let mut best = prio;
    let mut found = Scanned { first: None, all: None };
    for cpu in candidates.iter() {
        me.charge(Cost::ScanCpu);
        me.touch(Line::Rq(cpu), Access::Read);
        let highest = me.k.rq(cpu).published.rt_highest.get();
        if highest == Prio::NO_RT {
            return Scanned { first: Some(cpu), all: Some(CpuMask::single(cpu)) };
        }
        if best.beats(highest) {
            best = highest;
            found = Scanned { first: Some(cpu), all: Some(CpuMask::single(cpu)) };
        } else if highest == best
            && let Some(all) = &mut found.all
        {
            all.insert(cpu);
        }
    }
    found
}

/// One of the equally good CPUs for a task, as this class and the deadline class choose (rule `topology`).
pub(crate) fn nearest_of<P: Platform>(me: ThisCpu<'_, P>, task: &Task, cpus: &CpuMask) -> Option<CpuId> {
    match me.k.config.rules.topology.get() {
        Topology::On => nearest(me, task, cpus),
        Topology::Off => cpus.first(),
    }
}

/// Chooses by topology (rt-class 4.5): the task's last CPU, then outwards through its sched domains, where
/// the executing CPU goes before the others of the same domain. The domains are read-mostly: walking them is
/// free.
#[inline]
fn nearest<P: Platform>(me: ThisCpu<'_, P>, task: &Task, lowest: &CpuMask) -> Option<CpuId> {
    let last = task.cpu.get();
    if lowest.contains(last) {
        return Some(last);
    }
    let executing = lowest.contains(me.id);
    for domain in me.k.domains(last).iter().filter(|d| d.affine) {
        if executing && domain.span.contains(me.id) {
            return Some(me.id);
        }
        let near = domain.span.and(lowest);
        if !near.is_empty() {
            return pick_any(me, &near);
        }
    }
    if executing { Some(me.id) } else { pick_any(me, lowest) }
}

/// One of several equally good CPUs.
fn pick_any<P: Platform>(me: ThisCpu<'_, P>, cpus: &CpuMask) -> Option<CpuId> {
    match me.k.config.rules.pick_any.get() {
        PickAny::First => cpus.first(),
        PickAny::Distribute => any_and_distribute(me, cpus),
    }
}
