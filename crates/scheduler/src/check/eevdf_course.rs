//! eevdf-class E5, E8, E10 and E11: who is picked, what a sleeper keeps, how long the picked one is
//! protected, and where the woken one enters.
//!
//! All four are asked while the queue's lock is held, so its sums cannot be read: what competes is taken from
//! the tasks themselves, and V is computed anew.

use super::checker::Memory;
use super::{Findings, Moment};
use crate::fair::{FairEntity, lag, tick_period};
use crate::platform::Platform;
use crate::registry::{FairPolicy, Feature, LagLimit, Protection};
use crate::{Class, CpuId, Event, Nanos, Pid, Reason, Scheduler, TaskId, ThisCpu};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

/// What the events of the latest picks said.
#[derive(Debug)]
pub(super) struct EevdfCourse {
    cpus: Box<[Course]>,
    /// Tasks that have been let go, and whether DELAY_ZERO was on.
    let_go: Vec<LetGo>,
    /// The longest slice that any task has had.
    longest: Nanos,
}

/// Of one CPU.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    /// The buddy that the pick under way has chosen.
    buddy: Option<TaskId>,
    /// Somebody was let go in the wakeup under way, so that V has moved.
    let_go: bool,
    /// The running task when it was last seen.
    protected: Option<Protected>,
}

#[derive(Clone, Copy, Debug)]
struct LetGo {
    task: TaskId,
    pid: Pid,
    owes_at_least_nothing: bool,
}

/// How far a running task was protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Protected {
    task: TaskId,
    /// Slots are reused.
    pid: Pid,
    /// How often it has been picked, what it had run when its protection was set, and has run in all.
    slices: u64,
    set_at: Nanos,
    ran: Nanos,
    vprot: u64,
}

/// Those that compete on a CPU, and their zero-lag point.
struct Competing<'k> {
    entities: Vec<(TaskId, &'k FairEntity)>,
    /// Virtual time from which `weighted` counts.
    from: u64,
    weighted: i128,
    weights: i128,
}

impl<'k> Competing<'k> {
    /// In the queue of a task on `cpu`.
    fn with<P: Platform>(k: &'k Scheduler<P>, p: TaskId, cpu: CpuId) -> Competing<'k> {
        let group = k.task(p).se.group.get();
        let competes = |p: &TaskId| {
            let task = k.task(*p);
            let here = task.cpu.get() == cpu && task.se.group.get() == group;
            here && task.class.get() == Class::Fair && task.se.eevdf.on_rq.get()
        };
        let groups = k.groups.ids().map(|group| TaskId::of_group(group, cpu));
        let tasks = k.tasks.iter().skip(k.cpus()).chain(groups).filter(competes);
        let entities: Vec<_> = tasks.map(|p| (p, &k.task(p).se)).collect();
        let from = entities.first().map_or(0, |(_, se)| se.vruntime.get());
        let weight = |se: &FairEntity| i128::from(se.weight());
        let key = |se: &FairEntity| i128::from(lag(se.vruntime.get(), from));
        Competing {
            from,
            weighted: entities.iter().map(|(_, se)| weight(se) * key(se)).sum(),
            weights: entities.iter().map(|(_, se)| weight(se)).sum(),
            entities,
        }
    }

    /// Whether nobody else competes.
    fn alone(&self) -> bool {
        self.entities.len() < 2
    }

    fn eligible(&self, se: &FairEntity) -> bool {
        self.weighted >= i128::from(lag(se.vruntime.get(), self.from)) * self.weights
    }

    /// How far V is right of an entity, in virtual ns.
    fn lag_of(&self, se: &FairEntity) -> i128 {
        self.weighted.div_euclid(self.weights.max(1)) - i128::from(lag(se.vruntime.get(), self.from))
    }
}

impl EevdfCourse {
    pub fn new<P: Platform>(k: &Scheduler<P>) -> EevdfCourse {
        let cpus = alloc::vec![Course::default(); k.cpus()].into_boxed_slice();
        EevdfCourse { cpus, let_go: Vec::new(), longest: Nanos::ZERO }
    }

    /// To be told before `order` forgets what was queued when its wakeup began.
    pub fn event<P: Platform>(
        &mut self,
        memory: &mut Memory,
        me: ThisCpu<'_, P>,
        event: Event,
        found: &mut Findings,
    ) {
        if me.k.config.rules.fair_policy.get() != FairPolicy::Eevdf {
            return;
        }
        match event {
            Event::Waking { task, .. } => self.look_at_those_let_go(me.k, Some(task), found),
            Event::Wakeup { task, target } => {
                let was_queued = memory.tasks.of(task, me.task(task).pid.get()).was_queued;
                let moved = core::mem::take(&mut self.cpus[me.id.index()].let_go);
                if !was_queued && !moved {
                    enters_with_its_lag(me, task, target, found);
                }
            }
            Event::WakeupNew { task, target } => {
                let moved = core::mem::take(&mut self.cpus[me.id.index()].let_go);
                if !moved {
                    enters_with_its_lag(me, task, target, found);
                }
            }
            Event::Switch { prev, next, .. } => {
                self.note_slices(me.k);
                self.leaves_with_a_bounded_lag(me, prev, found);
                let own = &mut self.cpus[me.id.index()];
                own.let_go = false;
                let buddy = own.buddy.take() == Some(next);
                if me.task(next).class.get() == Class::Fair && next != me.k.idle_task(me.id) {
                    is_the_one_to_run(me, next, buddy, found);
                    is_protected_within_its_request(me, next, found);
                }
            }
            Event::Decision { task, reason: Reason::BuddyNext } => {
                self.cpus[me.id.index()].buddy = Some(task);
            }
            Event::Decision { task, reason: Reason::PickProtected } => stays_by_right(me, task, found),
            Event::GroupLeaves { .. } => self.cpus[me.id.index()].let_go = true,
            Event::Decision { task, reason: Reason::DelayedFinished } => {
                self.cpus[me.id.index()].let_go = true;
                self.let_go.push(LetGo {
                    task,
                    pid: me.task(task).pid.get(),
                    owes_at_least_nothing: me.has(Feature::DelayZero),
                });
            }
            _ => {}
        }
    }

    /// A setting is another one now, perhaps the meaning of what was remembered.
    pub fn settings_changed(&mut self) {
        self.cpus.iter_mut().for_each(|course| course.protected = None);
    }

    pub fn look<P: Platform>(&mut self, moment: &Moment<'_, P>, found: &mut Findings) {
        let k = moment.k;
        if k.config.rules.fair_policy.get() != FairPolicy::Eevdf {
            return;
        }
        self.note_slices(k);
        self.look_at_those_let_go(k, None, found);
        // No pick and no wakeup is in the middle now.
        self.cpus.iter_mut().for_each(|course| (course.buddy, course.let_go) = (None, false));
        let shortest = k.config.rules.protection.get() == Protection::Shortest;
        for queue in moment.queues() {
            let runs = queue.rq.fair.curr.map(|_| queue.rq.curr).filter(|p| k.task(*p).se.eevdf.on_rq.get());
            let now = runs.filter(|_| shortest).map(|task| protection_of(k, task));
            let remembered = &mut self.cpus[queue.rq.cpu.index()].protected;
            let before = core::mem::replace(remembered, now);
            let (Some(before), Some(now)) = (before, now) else { continue };
            // One that had run since it was set cannot have been set again without a trace: a pick, or a
            // change after which it comes back, begins a new stint.
            let turn = |seen: Protected| (seen.task, seen.pid, seen.slices, seen.set_at);
            let same = turn(before) == turn(now);
            let grew = same && before.ran > before.set_at && lag(now.vprot, before.vprot) > 0;
            found.expect("eevdf-class E10", !grew, || {
                let (from, to) = (before.vprot, now.vprot);
                format!("CPU {}: the protection of {:?} grew from {from} to {to}", queue.rq.cpu, now.task)
            });
        }
    }

    fn note_slices<P: Platform>(&mut self, k: &Scheduler<P>) {
        let slices = k.tasks.iter().skip(k.cpus()).map(|p| k.task(p).se.eevdf.slice.get());
        self.longest = slices.fold(self.longest, Nanos::max);
    }

    /// eevdf-class E8: nothing is owed to one that has worked off its debt asleep. Asked once, of `only` or
    /// all.
    fn look_at_those_let_go<P: Platform>(
        &mut self,
        k: &Scheduler<P>,
        only: Option<TaskId>,
        found: &mut Findings,
    ) {
        for gone in self.let_go.extract_if(.., |gone| only.is_none_or(|p| p == gone.task)) {
            let task = k.task(gone.task);
            let (kept, asleep) = (task.se.eevdf.vlag.get(), !task.se.eevdf.on_rq.get());
            let asked = gone.owes_at_least_nothing && asleep && task.pid.get() == gone.pid;
            found.expect("eevdf-class E8", !asked || kept <= 0, || {
                format!("{:?} has left, having paid asleep, and is owed {kept}", gone.task)
            });
        }
    }

    /// eevdf-class E8: who blocks and leaves keeps a lag within its limit. Under `lag_limit=longest` those
    /// that made the limit may have left since in the same pick: the longest slice of any task stands for
    /// theirs.
    fn leaves_with_a_bounded_lag<P: Platform>(&self, me: ThisCpu<'_, P>, prev: TaskId, found: &mut Findings) {
        let task = me.task(prev);
        if prev == me.k.idle_task(me.id) || task.class.get() != Class::Fair || task.se.eevdf.on_rq.get() {
            return;
        }
        let (own, tick) = (task.se.eevdf.slice.get(), tick_period(me));
        let real = match me.k.config.rules.lag_limit.get() {
            LagLimit::Own => (own + own).max(tick),
            LagLimit::Longest => self.longest + tick,
        };
        let (kept, limit) = (task.se.eevdf.vlag.get(), task.se.vdelta(real.0));
        found.expect("eevdf-class E8", kept.unsigned_abs() <= limit, || {
            format!("{prev:?} leaves with a lag of {kept}, at most {limit} is allowed")
        });
    }
}

fn protection_of<P: Platform>(k: &Scheduler<P>, p: TaskId) -> Protected {
    let task = k.task(p);
    Protected {
        task: p,
        pid: task.pid.get(),
        slices: task.stats.nr_slices.get(),
        set_at: task.stats.prev_sum_exec_runtime.get(),
        ran: task.stats.sum_exec_runtime.get(),
        vprot: task.se.eevdf.vprot.get(),
    }
}

/// eevdf-class E5: the picked one is eligible or alone; unless it is the buddy, no eligible one has an
/// earlier deadline, nor the same one and waited before. (Who was put back a moment ago came last.) Not where
/// the previous one's group was throttled as a whole when it was put, after the choice: without that group V
/// is another one.
fn is_the_one_to_run<P: Platform>(me: ThisCpu<'_, P>, next: TaskId, buddy: bool, found: &mut Findings) {
    let competing = Competing::with(me.k, next, me.id);
    if competing.alone() || just_froze(me) {
        return;
    }
    let ours = &me.task(next).se;
    found.expect("eevdf-class E5", competing.eligible(ours), || {
        format!("CPU {} picks {next:?}, which is not eligible", me.id)
    });
    let order =
        |se: &FairEntity| (lag(se.eevdf.deadline.get(), ours.eevdf.deadline.get()), se.eevdf.arrival.get());
    let goes_before =
        |(p, se): &&(TaskId, &FairEntity)| *p != next && competing.eligible(se) && order(se) < order(ours);
    let better = competing.entities.iter().find(goes_before).map(|(p, _)| *p);
    found.expect("eevdf-class E5", buddy || better.is_none(), || {
        format!("CPU {} picks {next:?}, although {better:?} is eligible and goes before it", me.id)
    });
}

/// Whether a group of this CPU was throttled as a whole at the clock of this switch.
fn just_froze<P: Platform>(me: ThisCpu<'_, P>) -> bool {
    let now = me.k.rq(me.id).published.switched_at.get();
    me.k.groups.ids().any(|group| me.k.group_queue(group, me.id).bandwidth.is_frozen_since(now))
}

/// eevdf-class E5: the running one stays for its protection only while it is eligible and protected.
fn stays_by_right<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, found: &mut Findings) {
    let se = &me.task(p).se;
    let (v, d, vprot) = (se.vruntime.get(), se.eevdf.deadline.get(), se.eevdf.vprot.get());
    let protected = match me.k.config.rules.protection.get() {
        Protection::Shortest => lag(v, vprot) < 0,
        Protection::Deadline => me.has(Feature::RunToParity) && vprot == d,
    };
    found.expect("eevdf-class E5", protected && Competing::with(me.k, p, me.id).eligible(se), || {
        format!("CPU {}: {p:?} stays for its protection, at {v} of {vprot}, protected {protected}", me.id)
    });
}

/// eevdf-class E10: the protection of the picked one ends with its request at the latest.
fn is_protected_within_its_request<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, found: &mut Findings) {
    let kept = &me.task(p).se.eevdf;
    found.expect("eevdf-class E10", lag(kept.vprot.get(), kept.deadline.get()) <= 0, || {
        let (until, deadline) = (kept.vprot.get(), kept.deadline.get());
        format!("CPU {} picks {p:?}, protected until {until}, beyond its deadline {deadline}", me.id)
    });
}

/// eevdf-class E11: who was placed is owed what it was owed when it left, but for two roundings.
fn enters_with_its_lag<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, target: CpuId, found: &mut Findings) {
    let task = me.task(p);
    if task.class.get() != Class::Fair || !task.se.eevdf.on_rq.get() || task.cpu.get() != target {
        return;
    }
    let competing = Competing::with(me.k, p, target);
    let forgets = competing.alone() || !me.has(Feature::PlaceLag);
    let owed = if forgets { 0 } else { i128::from(task.se.eevdf.vlag.get()) };
    let is_owed = competing.lag_of(&task.se);
    found.expect("eevdf-class E11", (is_owed - owed).abs() <= 2, || {
        format!("{p:?} enters CPU {target} with a lag of {is_owed}, and left with {owed}")
    });
}
