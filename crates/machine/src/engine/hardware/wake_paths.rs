//! The way from a wakeup to the woken task, on a machine of which its length is known ([`crate::WakePaths`]).
//!
//! The primitive costs are charged as ever. Where they come to less than the way takes, the CPU that is about
//! to switch makes up the difference first: in the kernel, on top of the task that has to go. The engine
//! notes a wakeup whose task is to run at once; whatever else the CPU switches to before makes the note void.

use super::cpu::Arriving;
use super::hw::Hw;
use crate::engine::kernel::sim::{Progress, Sim, TaskCtx};
use crate::paths::{CountedFrom, Onto, Situation, WakePaths, WokenFrom};
use crate::rng::Rng;
use scheduler::{Class, CpuId, Event, Nanos, TaskId, ThisCpu};
use std::cell::RefCell;

/// What the hardware knows of ways, and of wakeups that have begun.
#[derive(Debug)]
pub(crate) struct Paths {
    known: WakePaths,
    /// By task.
    begun: RefCell<Vec<Begun>>,
}

/// The last `sched_waking` of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    at: Nanos,
    cpu: CpuId,
}

impl Paths {
    pub fn new(known: WakePaths) -> Paths {
        Paths { known, begun: RefCell::default() }
    }

    /// Looks at what happens at `now` on the executing CPU.
    pub fn event(&self, me: ThisCpu<'_, Hw>, now: Nanos, event: Event) {
        match event {
            Event::Waking { task, .. } => {
                let mut begun = self.begun.borrow_mut();
                if task.index() >= begun.len() {
                    begun.resize(task.index() + 1, Begun::default());
                }
                begun[task.index()] = Begun { at: now, cpu: me.id };
            }
            Event::Wakeup { task, target } => self.woken(me, now, task, target),
            Event::Switch { .. } => me.k.platform.cpus[me.id.index()].arriving.set(None),
            _ => {}
        }
    }

    fn woken(&self, me: ThisCpu<'_, Hw>, now: Nanos, task: TaskId, target: CpuId) {
        let begun = self.begun.borrow().get(task.index()).copied().unwrap_or_default();
        let since = match self.known.counted_from {
            CountedFrom::Wakeup => now,
            CountedFrom::Waking => begun.at,
        };
        // Latencies count from where the recording's do.
        me.task(task).stats.latency_counts_from(since);
        let Some(onto) = onto(me, task, target) else { return };
        let hw = &me.k.platform.cpus[target.index()];
        let from = match (begun.cpu == target, me.id == target) {
            (_, false) => WokenFrom::Elsewhere,
            (false, true) => WokenFrom::HandedOver,
            (true, true) if hw.in_interrupt.get() => WokenFrom::Interrupt,
            (true, true) => WokenFrom::Task,
        };
        let situation = Situation { from, onto };
        let before = hw.arriving.get().filter(|before| !outranks(me, task, before.task));
        hw.arriving.set(before.or(Some(Arriving { task, since, situation })));
    }
}

/// What goes on where the task is to run, if it runs there at once.
fn onto(me: ThisCpu<'_, Hw>, task: TaskId, target: CpuId) -> Option<Onto> {
    let rq = &me.k.rq(target).published;
    let curr = rq.curr.get();
    if curr == me.k.idle_task(target) {
        return Some(Onto::Idle);
    }
    let preempts = rq.need_resched.get() && me.task(task).class.get() == Class::Rt;
    (preempts && outranks(me, task, curr)).then_some(Onto::Lower)
}

fn outranks(me: ThisCpu<'_, Hw>, task: TaskId, other: TaskId) -> bool {
    me.task(task).prio.get() < me.task(other).prio.get()
}

impl Sim {
    /// The CPU is about to switch because of a wakeup: makes up what the way to there still takes.
    #[inline]
    pub fn take_the_way(&self, me: ThisCpu<'_, Hw>) {
        if let Some(arriving) = self.cpu(me.id).arriving.take() {
            self.make_up(me, arriving);
        }
    }

    #[inline(never)]
    fn make_up(&self, me: ThisCpu<'_, Hw>, arriving: Arriving) {
        let hw = self.hw();
        let Some(paths) = &hw.paths else { return };
        // The same wakeup of the same work takes the same way in every comparison.
        let stream = self.with(arriving.task, |task| task.stream);
        let wakeup = me.task(arriving.task).stats.nr_wakeups.get();
        let mut rng = Rng::of_wakeup(self.seed, stream, wakeup);
        let Some(takes) = paths.known.draw(arriving.situation, &mut rng) else { return };
        let costs = &hw.spec.costs;
        let to_come = costs.schedule + costs.lock_uncontended;
        let left = (arriving.since + takes).saturating_sub(hw.local_now() + to_come);
        hw.charge_ns(self.with(me.curr(), |task| task.gives_way(left)));
    }
}

impl TaskCtx {
    /// It is to execute for so long.
    pub fn compute(&mut self, length: Nanos) {
        let ahead = self.done_ahead.unwrap_or_default().min(length);
        self.done_ahead = self.done_ahead.map(|all| all.saturating_sub(ahead));
        self.progress = Progress::Compute { left: length.saturating_sub(ahead) };
    }

    /// Another task's way is to take so much of its CPU time; how much it takes. Where its work was recorded,
    /// that contains such times: it works meanwhile, and longer than it has to nobody waits for it.
    fn gives_way(&mut self, time: Nanos) -> Nanos {
        let Some(ahead) = &mut self.done_ahead else { return time };
        let Progress::Compute { left } = &mut self.progress else {
            *ahead += time;
            return time;
        };
        let taken = time.min(*left);
        *left = left.saturating_sub(taken);
        taken
    }
}
