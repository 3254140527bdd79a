//! The real-time class: SCHED_FIFO and SCHED_RR on many CPUs (rt-class).
//!
//! # What it promises
//!
//! On one CPU: the best queued priority runs, first come first served among equals. On N CPUs the class tries
//! to keep the N best tasks running that their affinities permit. No CPU ever knows the whole state, so it
//! gets there by moves between two CPUs, each made at the moment when something changed. Nothing is periodic.
//!
//! # The three moves
//!
//! - **Route** (select.rs): a woken task that would not run on its last CPU goes to a lower one, before it is
//!   queued.
//! - **Push** (push.rs): a CPU with a task that it cannot run gives it to a lower one: after a wakeup that
//!   does not preempt, after every switch to an RT task (that is how a preempted task leaves), or when it is
//!   asked.
//! - **Pull** (pull.rs): a CPU whose best priority has just dropped takes what others cannot run.
//!
//! Route and push ask search.rs for the lowest CPU, which cpupri.rs knows; pull looks at the mask in
//! overload.rs. Neither takes a lock, so what they learn is advice. The move itself is made under both
//! run-queue locks, and everything is looked at again there: taking the second lock may mean to let the first
//! one go, and while it is free the task may run, leave or change.
//!
//! # A wakeup, step by step
//!
//! 1. `select_task_rq` reads who runs on the task's last CPU and decides whether to search (select.rs).
//! 2. `enqueue_task` puts it at the tail of its list and tells everybody: `highest_prio` and cpupri if it is
//!    the best now, the overload mask if it waits in company, the pushable list if it may move (queue.rs).
//! 3. `check_preempt_curr` asks the CPU to reschedule if the task beats the running one; a pinned one can
//!    also evict an equal that is free to go (preempt.rs).
//! 4. `task_woken`: if the task cannot run here, the CPU pushes (push.rs).
//!
//! schedule() on that CPU then dequeues or puts the previous task; pulls, if it left and what is queued is
//! lower (`pre_schedule`: pull.rs); picks; switches; and pushes what has become pushable (`post_schedule`:
//! push.rs).
//!
//! # Many CPUs lower at once
//!
//! All of them want the lock of the one overloaded CPU, and only the first gets a task: seed 001. With
//! RT_PUSH_IPI they ask that CPU to push instead (push_ipi.rs): a walker, handed on by interrupt, makes each
//! overloaded CPU push under its own lock, while the requesters go idle and get the task a moment later.
//!
//! # What happens only in time
//!
//! SCHED_RR's slice, at the tick (tick.rs), and throttling, wherever run time is accounted (throttle.rs).
//!
//! # Groups
//!
//! A kernel with RT_GROUP_SCHED has a queue for each group and CPU, of which an entity stands in the queue
//! above (groups.rs). A pick goes from the root's queue downwards, run time is accounted on the whole way
//! up. A group that has used up its time leaves the queue above: its tasks count there no longer, nor does
//! cpupri see them. They stay pushable, and the CPU stays overloaded by them: so a push that meets one above
//! the running task goes no further (the kernel reschedules for it, in vain).
//!
//! # Older behaviours the registry brings back, and what was wrong with them
//!
//! - `overload_rule=depth`: two pinned tasks make a CPU overloaded, and everybody looks there in vain; a push
//!   stops at the first task that cannot move.
//! - `search=linear`, `linear_mask`: read every run queue's line, with a lock held, at each try; and the
//!   first CPU without RT tasks wins however far it is. `cpupri_gap`: a CPU that changes its level is in
//!   none for a moment.
//! - `topology=off`, `pick_any=first`: everybody goes to the lowest-numbered CPU.
//! - `wake_route=cfs_load`: routed by load (load_route.rs), so tasks land behind higher ones.
//!   `not_preempting`: right, but asks the queue, which a task about to run has already changed. `any_rt`: a
//!   woken task leaves a CPU where it would have preempted, so the *higher* task migrates: seed 000.
//!   `strictly_higher`: waits behind an equal though another CPU is lower, and preempts a pinned task that
//!   cannot leave. `higher_or_pinned`: only the former.
//! - `wake_verify_target=off`: goes to a CPU that has risen since it was found.
//! - `equal_prio_check=off`: a pinned task waits behind an equal that could go elsewhere.
//! - `push_source`, `pull_source` `=queue_scan`: walk past the running and the pinned tasks each time.
//! - `next_def=second_best`: counts pinned tasks, so that others lock this CPU for nothing.
//! - `push_fail=drop_and_continue`: a dropped task is invisible to pushes until its next event. `retry3`:
//!   gives up on a busy queue.
//! - `post_push=tail_relock`: takes the run-queue lock once more for each preemption.
//! - `pull_filter=none`: locks CPUs that have nothing to give.
//! - `push_ipi_walker=broadcast`: all overloaded CPUs fight for the lock of the one that lowered.
//!   `per_source`: one overloaded CPU is interrupted by every lowering one. `rto_skip_self=off`: it can keep
//!   interrupting itself.
//! - `RT_RUNTIME_SHARE`: one CPU may run real-time tasks all the time, and starves what is pinned there.

mod bandwidth;
mod change;
mod cpupri;
mod groups;
mod list;
mod load_route;
mod overload;
mod preempt;
mod pull;
mod push;
mod push_away;
mod push_ipi;
mod pushable;
mod queue;
mod search;
mod select;
mod throttle;
mod tick;

pub use bandwidth::{Bandwidth, RtLimit, RtThrottleCounts};
pub use change::rules_changed;
pub use cpupri::LevelCpus;
pub use push_ipi::push_irq_work;
pub use throttle::sched_rt_period_timer;

pub(crate) use change::{
    boost_changed, left_deadline_class, pinned_changed, prio_changed, switched_from, switched_to,
};
pub(crate) use groups::is_hidden;
pub(crate) use preempt::check_preempt_curr;
pub(crate) use pull::{pre_schedule, wants_pre_schedule};
pub(crate) use push::{post_schedule, task_woken, wants_task_woken};
pub(crate) use push_away::push_away;
pub(crate) use pushable::has_pushable_tasks;
pub(crate) use queue::{
    cpupri_follows, dequeue_task, enqueue_task, has_runnable, pick_next_task, pushable_changed,
    put_prev_task, set_next_task, update_curr, yield_task,
};
pub(crate) use search::nearest_of;
pub(crate) use select::{select_task_rq, select_task_rq_fork};
pub(crate) use throttle::{admits, deadline_ran, group_period_ends};
pub(crate) use tick::task_tick;

use crate::class::ListEnd;
use crate::task::TaskTable;
use crate::{CpuId, CpuMask, Prio, RootId, TaskId};
use alloc::vec::Vec;
use core::cell::Cell;
use list::{Links, Member, PrioLists};

/// A task's fields of this class. The run-queue lock of the task's CPU protects them.
#[derive(Debug, Default)]
pub struct RtEntity {
    /// Place on the list of its priority.
    queued: Links,
    /// Place among the pushable tasks.
    pushable: Links,
    /// Ticks left of an RR slice; 0 before the first tick.
    time_slice: Cell<u32>,
}

impl RtEntity {
    pub(crate) fn reset(&self, _id: TaskId) {
        self.queued.reset();
        self.pushable.reset();
        self.time_slice.set(0);
    }
}

/// Links of the run queue.
#[derive(Debug)]
struct Queued;

impl Member for Queued {
    fn links(entity: &RtEntity) -> &Links {
        &entity.queued
    }
}

/// Links of the pushable list.
#[derive(Debug)]
struct Pushable;

impl Member for Pushable {
    fn links(entity: &RtEntity) -> &Links {
        &entity.pushable
    }
}

/// A queue of this class: that of the root, or of a group on a CPU (deadline-groups B9). Without groups the
/// root's holds every task.
#[derive(Debug, Default)]
struct Level {
    /// What is queued here, the running task included: tasks, and entities of groups.
    active: PrioLists<Queued>,
    /// Tasks that compete here: those queued, and those below the groups that are.
    nr_running: u32,
    /// How many of what is queued are boosted, or have somebody boosted below them. Not counted without
    /// RT_GROUP_SCHED.
    nr_boosted: u32,
    /// It has used up its time.
    throttled: bool,
    /// It has been told that the queue stops, and not yet that it goes on.
    told: bool,
}

impl Level {
    /// Whether it is passed over: one with somebody boosted is not, though it has used up its time.
    #[inline]
    fn is_stopped(&self) -> bool {
        self.throttled && self.nr_boosted == 0
    }

    #[inline(always)]
    fn push(&mut self, tasks: &TaskTable, p: TaskId, prio: Prio, place: ListEnd) {
        match place {
            ListEnd::Head => self.active.push_front(tasks, p, prio),
            ListEnd::Tail => self.active.push_back(tasks, p, prio),
        }
    }
}

/// A run queue's part of this class (rt-class 1.1).
#[derive(Debug)]
pub struct RtRq {
    /// The root's queue.
    root: Level,
    /// Those of the groups, by their numbers; none without RT_GROUP_SCHED.
    groups: Vec<Level>,
    /// Queued, not running, free to move; of whatever group, and whether that may run or not.
    pushable: PrioLists<Pushable>,
    /// Queued tasks of all groups, the running one included (rt_nr_total).
    nr_queued: u32,
    /// Queued tasks that may run on more than one CPU.
    nr_migratory: u32,
    /// highest_prio.next, by the definition in force.
    next: Prio,
    overloaded: bool,
    /// Pushes in a row that pushed nothing because the candidate was about to run here.
    bails: u8,
}

impl Default for RtRq {
    fn default() -> RtRq {
        RtRq {
            root: Level::default(),
            groups: Vec::new(),
            pushable: PrioLists::default(),
            nr_queued: 0,
            nr_migratory: 0,
            next: Prio::NO_RT,
            overloaded: false,
            bails: 0,
        }
    }
}

/// For checkers and reports.
impl RtRq {
    /// Queued tasks, the running one included, in the order in which they would run; of several queues, those
    /// of one after those of another, the root's first.
    pub fn queued<'a>(&'a self, tasks: &'a TaskTable) -> impl Iterator<Item = TaskId> + 'a {
        self.levels().flat_map(|level| level.active.iter(tasks)).filter(|p| !p.is_of_group())
    }

    fn levels(&self) -> impl Iterator<Item = &Level> {
        core::iter::once(&self.root).chain(&self.groups)
    }

    /// The pushable list in its order.
    pub fn pushable<'a>(&'a self, tasks: &'a TaskTable) -> impl Iterator<Item = TaskId> + 'a {
        self.pushable.iter(tasks)
    }

    /// Number of tasks that compete, the running one included: not those of groups that have used up their
    /// time.
    pub fn nr_running(&self) -> u32 {
        self.root.nr_running
    }

    /// Number of queued tasks of all groups, the running one included.
    pub fn nr_queued(&self) -> u32 {
        self.nr_queued
    }

    /// How many of them may run on more than one CPU.
    pub fn nr_migratory(&self) -> u32 {
        self.nr_migratory
    }

    /// highest_prio.curr: best queued priority, or [`Prio::NO_RT`].
    pub fn highest(&self) -> Prio {
        self.root.active.best()
    }

    /// highest_prio.next (rt-class 1.5).
    pub fn next(&self) -> Prio {
        self.next
    }

    /// Whether this CPU counts as overloaded (rt-class 1.6).
    pub fn is_overloaded(&self) -> bool {
        self.overloaded
    }

    /// Whether the whole class is passed over when picking (rt-class 8.1).
    pub fn is_throttled(&self) -> bool {
        self.root.is_stopped()
    }

    /// Whether it is, or a group is (deadline-groups B9).
    pub fn is_any_throttled(&self) -> bool {
        self.levels().any(Level::is_stopped)
    }
}

/// What the CPUs of a root domain share: the overload mask, cpupri, the push walkers.
#[derive(Debug)]
pub struct RtDomain {
    overload: overload::Overload,
    cpupri: cpupri::Cpupri,
    walkers: push_ipi::Walkers,
}

impl RtDomain {
    pub(crate) fn new(root: RootId, span: CpuMask, cpus: usize) -> RtDomain {
        RtDomain {
            overload: overload::Overload::new(root),
            cpupri: cpupri::Cpupri::new(root, span, cpus),
            walkers: push_ipi::Walkers::new(root, cpus),
        }
    }
}

/// For checkers and reports.
impl RtDomain {
    /// The overloaded CPUs.
    pub fn rto_mask(&self) -> CpuMask {
        self.overload.mask()
    }

    /// How many there are.
    pub fn rto_count(&self) -> u32 {
        self.overload.count()
    }

    /// Level of a CPU in cpupri: 0 without RT tasks, else the user priority of its best one; 100
    /// with deadline tasks.
    pub fn cpupri_level(&self, cpu: CpuId) -> u8 {
        self.cpupri.level(cpu)
    }

    /// What cpupri holds at a level, 0 to 100.
    pub fn cpupri_cpus(&self, level: u8) -> LevelCpus {
        self.cpupri.cpus_at(level)
    }

    /// Whether the root domain's push walker is under way (2017).
    pub fn root_walker_active(&self) -> bool {
        self.walkers.root_active()
    }

    /// Whether the push walker of a requesting CPU is under way (2015).
    pub fn source_walker_active(&self, source: CpuId) -> bool {
        self.walkers.source_active(source)
    }
}

#[cfg(test)]
impl RtDomain {
    /// For canaries: cpupri believes that the executing CPU's best queued priority is this one.
    pub(crate) fn misplace_in_cpupri<P: crate::platform::Platform>(
        &self,
        me: crate::ThisCpu<'_, P>,
        prio: Prio,
    ) {
        self.cpupri.set(me, me.id, prio);
    }
}

#[cfg(test)]
mod tests;
