//! The way from a wakeup to the woken task, on a machine of which its length is known ([`crate::WakePaths`]).
//!
//! The primitive costs are charged as ever. Where they come to less than the way takes, the CPU that is about
//! to switch makes up the difference first: in the kernel, on top of the task that has to go. The engine
//! notes a wakeup whose task is to run at once; whatever else the CPU switches to before makes the note void.

use super::cpu::{Arriving, CpuHw};
use crate::paths::{CountedFrom, Onto, Situation, WakePaths, WokenFrom};
use crate::rng::{Rng, TaskStream};
use scheduler::platform::Platform;
use scheduler::{CpuId, Event, Nanos, TaskId, ThisCpu};
use std::cell::{Cell, RefCell};

/// What the hardware knows of ways, and of wakeups that have begun.
#[derive(Debug)]
pub(crate) struct Paths {
    known: WakePaths,
    /// The random streams of the wakeups derive from it.
    seed: Cell<u64>,
    /// By task.
    begun: RefCell<Vec<Begun>>,
}

/// The last `sched_waking` of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    at: Nanos,
    cpu: CpuId,
}

/// A `sched_wakeup`.
#[derive(Clone, Copy)]
struct Wakeup {
    task: TaskId,
    target: CpuId,
    now: Nanos,
}

impl Paths {
    /// No wakeup has begun.
    pub fn new(known: WakePaths, seed: u64) -> Paths {
        Paths { known, seed: Cell::new(seed), begun: RefCell::default() }
    }

    /// Wakeups from now on derive from this seed.
    pub fn redraw(&self, seed: u64) {
        self.seed.set(seed);
    }

    /// How long a way takes; `None` if ways of its kind are not known. The same wakeup of the same work takes
    /// the same way in every comparison.
    pub fn draw(&self, situation: Situation, stream: TaskStream, nr_wakeups: u64) -> Option<Nanos> {
        self.known.draw(situation, &mut Rng::of_wakeup(self.seed.get(), stream, nr_wakeups))
    }

    /// Looks at what happens at `now` on the executing CPU, one of these.
    pub fn event<P: Platform>(&self, me: ThisCpu<'_, P>, cpus: &[CpuHw], now: Nanos, event: Event) {
        match event {
            Event::Waking { task, .. } => {
                let mut begun = self.begun.borrow_mut();
                if task.index() >= begun.len() {
                    begun.resize(task.index() + 1, Begun::default());
                }
                begun[task.index()] = Begun { at: now, cpu: me.id };
            }
            Event::Wakeup { task, target } => {
                self.woken(me, &cpus[target.index()], Wakeup { task, target, now })
            }
            Event::Switch { .. } => cpus[me.id.index()].arriving.set(None),
            _ => {}
        }
    }

    /// `there` is the CPU on which the task is to run.
    fn woken<P: Platform>(&self, me: ThisCpu<'_, P>, there: &CpuHw, wakeup: Wakeup) {
        let Wakeup { task, target, now } = wakeup;
        let begun = self.begun.borrow().get(task.index()).copied().unwrap_or_default();
        let since = match self.known.counted_from {
            CountedFrom::Wakeup => now,
            CountedFrom::Waking => begun.at,
        };
        // Latencies count from where the recording's do.
        me.task(task).stats.latency_counts_from(since);
        let Some(onto) = onto(me, task, target) else { return };
        let from = match (begun.cpu == target, me.id == target) {
            (_, false) => WokenFrom::Elsewhere,
            (false, true) => WokenFrom::HandedOver,
            (true, true) if there.in_interrupt.get() => WokenFrom::Interrupt,
            (true, true) => WokenFrom::Task,
        };
        let situation = Situation { from, onto };
        let before = there.arriving.get().filter(|before| !outranks(me, task, before.task));
        there.arriving.set(before.or(Some(Arriving { task, since, situation })));
    }
}

/// What goes on where the task is to run, if it runs there at once.
fn onto<P: Platform>(me: ThisCpu<'_, P>, task: TaskId, target: CpuId) -> Option<Onto> {
    let rq = &me.k.rq(target).published;
    let curr = rq.curr.get();
    if curr == me.k.idle_task(target) {
        return Some(Onto::Idle);
    }
    let preempts = rq.need_resched() && me.task(task).prio.get().is_rt();
    (preempts && outranks(me, task, curr)).then_some(Onto::Lower)
}

fn outranks<P: Platform>(me: ThisCpu<'_, P>, task: TaskId, other: TaskId) -> bool {
    me.task(task).prio.get() < me.task(other).prio.get()
}
