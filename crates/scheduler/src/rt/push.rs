//! Push: a CPU gives away RT tasks that it cannot run (rt-class 5.2 to 5.4).

use super::groups::is_hidden;
use super::push_away::get_push_task;
use super::pushable::{has_pushable_tasks, pick_next_pushable_task};
use super::search::{For, find_lowest_rq};
use super::select::stands_in_the_way;
use crate::Class;
use crate::class::move_queued_task;
use crate::double_lock::{DoubleLocked, double_lock_at_once};
use crate::platform::{Access, Line, Platform};
use crate::registry::{
    PostPush, PushFail, PushIpiBail, PushRevalidate, PushSource, WakeRoute, WakeVerifyTarget,
};
use crate::rq::RqGuard;
use crate::stats::bump;
use crate::stop::push_away_nowait;
use crate::{CpuId, Reason, TaskId, ThisCpu};

/// How often a push looks for a target before it gives up.
const MAX_TRIES: usize = 3;

/// Restarts with another candidate under `push_fail=retry3`.
const MAX_RESTARTS: usize = 3;

/// Bails in a row under `push_ipi_bail=limited`.
const MAX_BAILS: u8 = 15;

/// Pushes until nothing more can be pushed.
pub(super) fn push_rt_tasks<'k, P: Platform>(rq: RqGuard<'k, P>) -> impl Future<Output = RqGuard<'k, P>> {
    push(rq, HowMany::All, OnBetter::Reschedule)
}

/// Pushes one task, if the queue is overloaded and a CPU with a lower priority is found.
pub(super) fn push_rt_task<'k, P: Platform>(rq: RqGuard<'k, P>) -> impl Future<Output = RqGuard<'k, P>> {
    push(rq, HowMany::One, OnBetter::Reschedule)
}

/// As [`push_rt_tasks`] or [`push_rt_task`], because another CPU has asked for it. Where a task that may not
/// migrate waits, the one that runs goes away instead. Releases the lock.
pub(super) async fn push_asked<P: Platform>(rq: RqGuard<'_, P>, how_many: HowMany) {
    let me = rq.me;
    let mut push = Push::new(how_many, OnBetter::when_asked(&rq), OnHeld::PushAway);
    drop(push.run(rq).await);
    if let Some(running) = push.away {
        push_away_nowait(me, me.id, running).await;
    }
}

async fn push<P: Platform>(rq: RqGuard<'_, P>, how_many: HowMany, on_better: OnBetter) -> RqGuard<'_, P> {
    Push::new(how_many, on_better, OnHeld::GiveUp).run(rq).await
}

/// A CPU with a lower priority for a task that waits, or runs, on `from`.
pub(super) fn lowest_cpu_for<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, from: CpuId) -> Option<CpuId> {
    find_lowest_rq(me, p, For::Push(from)).filter(|cpu| *cpu != from)
}

/// Whether a task that is pushed to this queue would be the best there.
pub(super) fn takes_pushed<P: Platform>(target: &RqGuard<'_, P>, p: TaskId) -> bool {
    target.me.task(p).prio.get().beats(target.rt.root.active.best())
}

/// How many tasks to push at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HowMany {
    One,
    All,
}

/// What becomes of a candidate that goes before the task that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OnBetter {
    /// It is about to run here: nothing is pushed.
    Reschedule,
    /// It may wait here for long, as where a soft interrupt keeps the CPU: it is pushed.
    Push,
}

/// What becomes of a candidate that may not migrate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OnHeld {
    /// It stays, and so do those behind it.
    GiveUp,
    /// The same; but if the task that runs may go somewhere, that one does.
    PushAway,
}

impl OnBetter {
    /// On the way of RT_PUSH_IPI, `push_ipi_bail` decides.
    fn when_asked<P: Platform>(rq: &RqGuard<'_, P>) -> OnBetter {
        match rq.me.k.config.rules.push_ipi_bail.get() {
            PushIpiBail::On => OnBetter::Reschedule,
            PushIpiBail::Limited if rq.rt.bails < MAX_BAILS => OnBetter::Reschedule,
            PushIpiBail::Limited | PushIpiBail::Off => OnBetter::Push,
        }
    }
}

/// A push under way.
struct Push {
    how_many: HowMany,
    on_better: OnBetter,
    on_held: OnHeld,
    /// The task it is about, once that is chosen.
    candidate: Option<TaskId>,
    /// Searches for a CPU for it.
    tries: usize,
    /// How often another candidate took its place.
    restarts: usize,
    over: bool,
    /// The running task, which the stopper is to move.
    away: Option<TaskId>,
}

impl Push {
    fn new(how_many: HowMany, on_better: OnBetter, on_held: OnHeld) -> Push {
        Push { how_many, on_better, on_held, candidate: None, tries: 0, restarts: 0, over: false, away: None }
    }

    async fn run<'k, P: Platform>(&mut self, mut rq: RqGuard<'k, P>) -> RqGuard<'k, P> {
        while let Some(cpu) = self.next_target(&mut rq) {
            rq = match double_lock_at_once(rq, cpu) {
                Ok(locked) => self.locked(locked),
                Err(pending) => self.locked(pending.wait().await),
            };
        }
        rq
    }

    /// The CPU whose lock is needed next; none if the push is over.
    fn next_target<P: Platform>(&mut self, rq: &mut RqGuard<'_, P>) -> Option<CpuId> {
        loop {
            let p = match self.candidate {
                Some(p) => p,
                None => self.begin(rq)?,
            };
            let target = self.search(rq, p);
            if target.is_some() {
                return target;
            }
            rq.me.decide(p, Reason::PushNoTarget);
            self.failed(rq, p);
        }
    }

    fn begin<P: Platform>(&mut self, rq: &mut RqGuard<'_, P>) -> Option<TaskId> {
        if self.over || !rq.rt.overloaded || !has_pushable_tasks(rq) {
            return None;
        }
        self.restarts = 0;
        let p = pick_next_pushable_task(rq)?;
        self.choose(rq, p);
        self.candidate
    }

    fn choose<P: Platform>(&mut self, rq: &mut RqGuard<'_, P>, p: TaskId) {
        let me = rq.me;
        let better = me.task(p).prio.get().beats(me.task(rq.curr).prio.get());
        let bails = better && self.on_better == OnBetter::Reschedule;
        rq.rt.bails = if bails { rq.rt.bails.saturating_add(1) } else { 0 };
        if bails && is_hidden(me.k, rq, p) {
            // It does not run here, whatever its priority; nor does what is behind it leave.
            self.over = true;
        } else if bails {
            me.decide(p, Reason::PushPreempts);
            rq.resched();
            self.over = true;
        } else if me.task(p).migration.is_disabled() {
            me.decide(p, Reason::PushHeld);
            if self.on_held == OnHeld::PushAway && lowest_cpu_for(me, rq.curr, rq.cpu).is_some() {
                self.away = get_push_task(rq);
            }
            self.over = true;
        } else {
            self.candidate = Some(p);
            self.tries = 0;
        }
    }

    fn search<P: Platform>(&mut self, rq: &RqGuard<'_, P>, p: TaskId) -> Option<CpuId> {
        let me = rq.me;
        if self.tries == MAX_TRIES {
            return None;
        }
        self.tries += 1;
        let cpu = lowest_cpu_for(me, p, rq.cpu)?;
        if me.k.config.rules.wake_verify_target.get() == WakeVerifyTarget::On {
            me.touch(Line::Rq(cpu), Access::Read);
            if !me.task(p).prio.get().beats(me.k.rq(cpu).published.rt_highest.get()) {
                return None;
            }
        }
        Some(cpu)
    }

    /// With both locks: makes sure that everything still holds, and moves the task.
    fn locked<'k, P: Platform>(&mut self, locked: DoubleLocked<'k, P>) -> RqGuard<'k, P> {
        let DoubleLocked { own: mut rq, other: mut target, dropped } = locked;
        let me = rq.me;
        let Some(p) = self.candidate else { return rq };
        if dropped {
            rq.update_clock();
            if !still_pushable(&rq, p, target.cpu) {
                drop(target);
                me.decide(p, Reason::PushChanged);
                self.failed(&mut rq, p);
                return rq;
            }
        }
        if takes_pushed(&target, p) {
            move_queued_task(&mut rq, &mut target, p);
            bump(&me.k.totals.pushes);
            me.decide(p, Reason::Pushed);
            target.resched();
            self.ended(true);
        }
        rq
    }

    /// `p` does not move. The lock may have been dropped: which task would it be now?
    fn failed<P: Platform>(&mut self, rq: &mut RqGuard<'_, P>, p: TaskId) {
        let rule = rq.me.k.config.rules.push_fail.get();
        match pick_next_pushable_task(rq) {
            Some(same) if same == p => {
                let progress = rule == PushFail::DropAndContinue && drop_pushable(rq, p);
                self.ended(progress);
            }
            Some(_) if rule == PushFail::Retry3 && self.restarts == MAX_RESTARTS => self.ended(false),
            Some(other) => {
                self.restarts += 1;
                self.candidate = None;
                self.choose(rq, other);
            }
            None => self.ended(false),
        }
    }

    /// Done with the candidate; with `progress`, another attempt may find more to do.
    fn ended(&mut self, progress: bool) {
        self.candidate = None;
        self.over = !progress || self.how_many == HowMany::One;
    }
}

/// Takes a task that could not be pushed off the pushable list, until an event of 1.4 brings it back.
fn drop_pushable<P: Platform>(rq: &mut RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    let dropped = rq.rt.pushable.remove(&me.k.tasks, p);
    super::queue::pushable_changed(rq);
    dropped
}

/// Whether a task can still go from here to `cpu`, after the lock was dropped (5.4 step 4).
fn still_pushable<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId, cpu: CpuId) -> bool {
    let task = rq.me.task(p);
    let rules = &rq.me.k.config.rules;
    let by_list = rules.push_source.get() == PushSource::PushableList;
    let waits_here = match rules.push_revalidate.get() {
        PushRevalidate::FirstPushable if by_list => rq.rt.pushable.first() == Some(p),
        _ => task.on_rq.get() && task.cpu.get() == rq.cpu && rq.curr != p && task.class.get() == Class::Rt,
    };
    waits_here && task.may_run_on(cpu)
}

/// The push that follows a switch. Releases the lock.
pub(crate) async fn post_schedule<P: Platform>(rq: RqGuard<'_, P>) {
    match rq.me.k.config.rules.post_push.get() {
        PostPush::CallbackLocked => drop(push_rt_tasks(rq).await),
        PostPush::TailRelock => relock_and_push(rq).await,
    }
}

/// Some kernels released the lock after the switch, and took it again to push.
async fn relock_and_push<P: Platform>(rq: RqGuard<'_, P>) {
    let (me, cpu) = (rq.me, rq.cpu);
    drop(rq);
    let mut rq = me.lock(cpu).await;
    rq.update_clock();
    if has_pushable_tasks(&rq) {
        drop(push_rt_tasks(rq).await);
    }
}

/// The push after a wakeup, where it is needed. Releases the lock.
pub(crate) async fn task_woken<P: Platform>(rq: RqGuard<'_, P>) {
    drop(push_rt_tasks(rq).await);
}

/// Whether `p`, which was woken and queued here, cannot run here soon, so that this CPU has to push (3.5).
#[inline]
pub(crate) fn wants_task_woken<P: Platform>(rq: &RqGuard<'_, P>, p: TaskId) -> bool {
    let me = rq.me;
    let (task, curr) = (me.task(p), me.task(rq.curr));
    if rq.curr == p {
        return false;
    }
    let route = me.k.config.rules.wake_route.get();
    let blocked = curr.class.get().is_realtime() && stands_in_the_way(route, curr, task);
    match route {
        WakeRoute::CfsLoad | WakeRoute::NotPreempting => blocked,
        // Whatever runs.
        WakeRoute::AnyRt => !rq.need_resched() && !task.is_pinned(),
        WakeRoute::StrictlyHigher | WakeRoute::HigherOrPinned | WakeRoute::GeOrPinned => {
            blocked && !rq.need_resched() && !task.is_pinned()
        }
    }
}
