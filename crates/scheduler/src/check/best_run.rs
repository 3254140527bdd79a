//! P2: with affinities to a whole root domain, the best runnable RT tasks of it run.
//!
//! Balancing is event driven: it restores this state after each event that can break it, but for those that
//! by design trigger nothing (a waiting task's priority is raised, its affinity widened, a setting changes).
//! So the state is not always right; but once it was right, it stays right until such an event. The checker
//! follows that: it is *armed* whenever it sees the right state, and disarmed by every excuse.

use super::checker::Memory;
use super::{Findings, Moment, Past};
use crate::Class;
use crate::platform::Platform;
use crate::registry::{Feature, NextDef, PullFilter, PullSource, RtBalance, Search};
use crate::{Event, Prio, Reason, RootDomain, Scheduler, TaskId, ThisCpu};
use alloc::format;

#[derive(Debug, Default)]
pub(super) struct BestRun {
    armed: bool,
}

/// A runnable RT task that waits although a CPU runs something lower.
struct Misfit {
    waits: TaskId,
    prio: Prio,
    lower: crate::CpuId,
}

impl BestRun {
    /// Something happened that may spoil the state without anybody balancing.
    pub fn excuse(&mut self) {
        self.armed = false;
    }

    pub fn event<P: Platform>(&mut self, past: &Past, me: ThisCpu<'_, P>, event: Event) {
        match event {
            Event::Decision { reason: Reason::Throttled | Reason::Unthrottled, .. } => self.excuse(),
            // A CPU that is between two levels is overlooked, and need not lower afterwards (4.3).
            Event::Decision { reason: Reason::PushNoTarget | Reason::WakeNoLower, .. }
                if me.k.config.rules.search.get() == Search::CpupriGap =>
            {
                self.excuse();
            }
            // A pull looks at one task of each CPU. What waits behind it is pushed from there after the
            // switch, unless it was dropped from the pushable list.
            Event::Decision { reason: Reason::PullPreempts, .. } if past.dropped => self.excuse(),
            // The pull makes this CPU overloaded: one of another CPU that has passed it by does not come
            // back, and what waits here is not pushed after the switch either if it was dropped from the
            // pushable list.
            Event::Decision { task, reason: Reason::Pulled } if past.dropped && another_waits(me, task) => {
                self.excuse();
            }
            Event::PiSetprio { task, .. } if !me.k.task_running(task) => self.excuse(),
            _ => {}
        }
    }

    pub fn look<P: Platform>(&mut self, memory: &mut Memory, moment: &Moment<'_, P>, found: &mut Findings) {
        if waiters_changed(memory, moment) || !comparable(moment) || !pull_finds_all(moment) {
            self.excuse();
        } else if moment.quiescent() {
            let misfit = misfit(moment);
            found.expect("rt-class P2", !self.armed || misfit.is_none(), || {
                misfit.as_ref().map_or_else(Default::default, text)
            });
            self.armed = misfit.is_none();
        }
    }
}

fn text(m: &Misfit) -> alloc::string::String {
    format!("{:?} of prio {} waits, but CPU {} runs something lower", m.waits, m.prio, m.lower)
}

/// Whether a waiting task has another priority or affinity than at the last look.
fn waiters_changed<P: Platform>(memory: &mut Memory, moment: &Moment<'_, P>) -> bool {
    let k = moment.k;
    let waits = |p: &TaskId| k.task(*p).on_rq.get() && !k.task_running(*p);
    moment.tasks().filter(waits).any(|p| memory.tasks.of(p, k.task(p).pid.get()).changed)
}

/// Whether P2 speaks of this state: every queued RT task may run anywhere in its root domain, no two have
/// the same priority, and none is held back by throttling, deadline tasks or a lock of the kernel.
fn comparable<P: Platform>(moment: &Moment<'_, P>) -> bool {
    let mut seen: u128 = 0;
    let k = moment.k;
    let distinct = moment.tasks().filter(|p| is_queued_rt(k, *p)).all(|p| {
        let (task, bit) = (k.task(p), 1 << k.task(p).prio.get().0);
        let span = k.root_domain(task.cpu.get()).span;
        let fits = seen & bit == 0 && span.is_subset(&task.cpus_allowed.get());
        seen |= bit;
        fits && !task.migration.is_disabled()
    });
    distinct && !moment.queues().any(|q| q.rq.rt.is_any_throttled() || q.rq.dl.earliest().is_some())
}

/// Whether a CPU that lowers takes whatever waits elsewhere. With RT_PUSH_IPI the walkers of others do it in
/// their own time; and a task that `drop_and_continue` took off the pushable list is found by scanning the
/// queue only (5.3).
fn pull_finds_all<P: Platform>(moment: &Moment<'_, P>) -> bool {
    let rules = &moment.k.config.rules;
    let scans = rules.pull_source.get() == PullSource::QueueScan
        && (rules.pull_filter.get() == PullFilter::None || rules.next_def.get() == NextDef::SecondBest);
    let balances = rules.rt_balance.get() == RtBalance::On;
    balances && !moment.k.config.has(Feature::RtPushIpi) && (scans || !moment.past.dropped)
}

/// Whether an RT task other than `pulled` waits for the executing CPU.
fn another_waits<P: Platform>(me: ThisCpu<'_, P>, pulled: TaskId) -> bool {
    let waits_here = |p: TaskId| me.task(p).cpu.get() == me.id && !me.k.task_running(p);
    me.k.tasks.iter().any(|p| p != pulled && is_queued_rt(me.k, p) && waits_here(p))
}

fn is_queued_rt<P: Platform>(k: &Scheduler<P>, p: TaskId) -> bool {
    k.task(p).on_rq.get() && k.task(p).class.get() == Class::Rt
}

fn misfit<P: Platform>(moment: &Moment<'_, P>) -> Option<Misfit> {
    moment.k.root_domains().iter().find_map(|root| misfit_of(moment, root))
}

fn misfit_of<P: Platform>(moment: &Moment<'_, P>, root: &RootDomain) -> Option<Misfit> {
    let k = moment.k;
    let runs = |cpu| k.task(k.rq(cpu).published.curr.get()).prio.get();
    let lowest = root.span.iter().max_by_key(|cpu| runs(*cpu))?;
    let waits = moment.tasks().find(|p| {
        is_queued_rt(k, *p)
            && root.span.contains(k.task(*p).cpu.get())
            && !k.task_running(*p)
            && k.task(*p).prio.get().beats(runs(lowest).min(Prio::NO_RT))
    })?;
    Some(Misfit { waits, prio: k.task(waits).prio.get(), lower: lowest })
}
