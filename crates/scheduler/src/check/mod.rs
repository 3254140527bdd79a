//! The invariants of the specs (rt-class 12, fair-class 14, fair-placement 6.1, eevdf-class 6.1,
//! deadline-groups A15 and B8, machine.md 8.2), each a small function with the spec's number.
//!
//! # Two kinds
//!
//! *State* is looked at in one moment ([`violations`]): do the counts agree with the lists, does cpupri agree
//! with the queues, does each CPU run what it should. *Course* needs a memory ([`Checker`]): was every wakeup
//! finished, did equals keep their order, did virtual time only advance. The checker is told of every event
//! while it happens, and looks at the state whenever the platform lets it.
//!
//! # When a question may be asked
//!
//! - A queue whose lock is held is being changed: it is skipped.
//! - What a CPU *should* be doing is asked only of a CPU that is **settled**: no path is under way on it, no
//!   interrupt is pending or on its way to it, it is not asked to reschedule and no wakeup waits on its list.
//! - What the machine as a whole should be doing is asked only when all CPUs are settled (the spec's
//!   "quiescent").
//!
//! # Settings that change in the middle of a run
//!
//! State that was recorded under an old setting stays (fair-class 0.3): a task that
//! `push_fail=drop_and_continue` took off the pushable list is still off it after the rule changed. [`Past`]
//! remembers which such settings were ever in force, and the invariants are as strict as that permits.

mod best_run;
mod budgets;
mod checker;
mod counters;
mod cpupri;
mod deadline;
mod debts;
mod eevdf;
mod eevdf_course;
mod fair_queue;
mod groups;
mod inheritance;
mod limits;
mod memory;
mod moves;
mod order;
mod overload;
mod past;
mod pelt;
mod placement;
mod placing;
mod resched;
mod rt_groups;
mod rt_queue;
mod running;
mod spinners;
mod vruntime;
mod wakeups;
mod walkers;

pub use checker::Checker;
pub use past::Past;

use crate::fair::{CfsRq, EntityId};
use crate::platform::Platform;
use crate::rq::{Published, RqState};
use crate::{CpuId, CpuMask, GroupId, Scheduler, TaskId};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Ref;

/// A broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Document and number, as several documents number theirs alike: one of rt-class P1 to P18, fair-class
    /// I1 to I12, fair-placement I1 to I23 (which are not asked, and why, says its 6.1),
    /// eevdf-class E1 to E17, of deadline-groups DA1 to DA3, DA5 to
    /// DA8, GB1 to GB4, GB7 to GB10, GB14, B9, CF2, CF4, CF6 and CF7, and of machine.md MI2, MI3, MI4, MI6
    /// and MI10; or `lock`.
    pub invariant: &'static str,
    /// What was found: CPU, task, and the two things that do not agree.
    pub what: String,
}

/// Collects what is broken; costs nothing while nothing is.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Violation>);

impl Findings {
    /// Notes a violation unless `holds`. The text is only made then.
    #[inline]
    pub fn expect(&mut self, invariant: &'static str, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(Violation { invariant, what: what() });
        }
    }

    /// Takes the first one out.
    pub fn first(&mut self) -> Option<Violation> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }
}

/// One moment of a scheduler's life.
pub(crate) struct Moment<'k, P: Platform> {
    pub k: &'k Scheduler<P>,
    /// See the module's head.
    pub settled: CpuMask,
    pub past: &'k Past,
}

/// A queue whose lock is free.
pub(crate) struct Queue<'k> {
    pub rq: Ref<'k, RqState>,
    pub published: &'k Published,
}

/// A fair queue of that CPU: its own, or one of a group.
pub(crate) struct Level<'a> {
    pub fair: &'a CfsRq,
    pub cpu: CpuId,
    pub min_vruntime: u64,
}

impl Level<'_> {
    /// Who competes: those that wait, and the running one while it is queued. Groups are among them.
    pub fn queued<P: Platform>(&self, k: &Scheduler<P>) -> impl Iterator<Item = TaskId> {
        let runs = self.fair.curr.map(EntityId::task).filter(|p| k.task(*p).is_in_queue());
        self.fair.waiting().map(EntityId::task).chain(runs)
    }
}

impl Queue<'_> {
    /// The fair queues of this CPU, the root's first.
    pub fn levels<'a, P: Platform>(&'a self, k: &'a Scheduler<P>) -> impl Iterator<Item = Level<'a>> + 'a {
        let level = |group: GroupId| Level {
            fair: self.rq.queue(group),
            cpu: self.rq.cpu,
            min_vruntime: k.floor_of(group, self.rq.cpu).get(),
        };
        core::iter::once(GroupId::ROOT).chain(k.groups.ids()).map(level)
    }
}

impl<'k, P: Platform> Moment<'k, P> {
    /// `at_rest`: the CPUs on which no path is under way and for which no interrupt is pending.
    fn new(k: &'k Scheduler<P>, at_rest: &CpuMask, past: &'k Past) -> Moment<'k, P> {
        let wants_to_act = |rq: &&crate::rq::RunQueue| rq.published.is_asked() || !rq.wake_list.is_empty();
        let mut settled = at_rest.and(&k.online);
        k.rqs().iter().filter(wants_to_act).for_each(|rq| settled.remove(rq.cpu));
        Moment { k, settled, past }
    }

    /// Nothing is under way anywhere.
    pub fn quiescent(&self) -> bool {
        self.settled == self.k.online
    }

    /// Every queue whose lock is free.
    pub fn queues(&self) -> impl Iterator<Item = Queue<'k>> + use<'k, P> {
        let queue = |rq: &'k crate::rq::RunQueue| Some(Queue { rq: rq.inspect()?, published: &rq.published });
        self.k.rqs().iter().filter_map(queue)
    }

    /// The queues of settled CPUs.
    pub fn settled_queues(&self) -> impl Iterator<Item = Queue<'k>> + use<'k, P> {
        let settled = self.settled;
        self.queues().filter(move |q| settled.contains(q.rq.cpu))
    }

    /// Every task but the idle ones.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<'k, P> {
        self.k.tasks.iter().skip(self.k.cpus())
    }
}

/// The broken invariants of the state at this moment. `at_rest` holds the CPUs on which no kernel path is
/// under way and for which no interrupt is pending or on its way.
pub fn violations<P: Platform>(k: &Scheduler<P>, at_rest: &CpuMask, past: &Past) -> Vec<Violation> {
    let mut found = Findings::default();
    look(&Moment::new(k, at_rest, past), &mut found);
    found.0
}

fn look<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    for queue in moment.queues() {
        deadline::look(moment, &queue, found);
        rt_queue::look(moment, &queue, found);
        fair_queue::look(moment, &queue, found);
        pelt::look(moment, &queue, found);
        groups::look(moment, &queue, found);
        resched::asked_lazily(moment, &queue, found);
        overload::look(moment, &queue, found);
        placement::queued_once(moment, &queue, found);
        cpupri::level_agrees(moment, &queue, found);
    }
    overload::mask_agrees(moment, found);
    cpupri::every_cpu_once(moment, found);
    for queue in moment.settled_queues() {
        deadline::earliest_runs(moment, &queue, found);
        deadline::throttled_stops(moment, &queue, found);
        running::look(moment, &queue, found);
        placement::runs_what_is_queued(moment, &queue, found);
        spinners::look(moment, &queue, found);
    }
    if moment.quiescent() {
        placement::runnable_is_queued(moment, found);
        fair_queue::loads_add_up(moment, found);
        groups::sums(moment, found);
        pelt::tasks(moment, found);
        pelt::idle_cpus_are_counted(moment, found);
        overload::pushable_means_overloaded(moment, found);
        inheritance::look(moment, found);
        deadline::tasks(moment, found);
        walkers::have_ended(moment, found);
        running::no_lock_is_held(moment, found);
    }
}

#[cfg(test)]
pub(crate) mod tests;
