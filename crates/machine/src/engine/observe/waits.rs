//! Which real-time tasks wait, and what the CPUs do that they may use ([`crate::WaitTally`]). Looked at after
//! every event, in runs that ask for it: between two events nothing changes.

use super::view::View;
use crate::engine::hardware::Softirq;
use crate::starvation::{HELD_UP_AFTER, STARVED_AFTER, WaitCounts, WaitTally};
use scheduler::{Class, CpuId, Nanos, TaskId, TaskState};

/// The waits that are not over.
#[derive(Debug)]
pub(crate) struct Waits {
    tally: WaitTally,
    /// By task.
    open: Vec<Option<Wait>>,
    /// How many of those are waits.
    count: usize,
    /// When somebody looked last.
    looked: Nanos,
}

/// Of one task, from when it was first seen to wait.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: Nanos,
    boosted: bool,
    /// It may run on some CPUs only.
    bound: bool,
    /// The longest stretch beside something lower that is over.
    longest_beside: Nanos,
    /// The stretch beside something lower that goes on.
    beside: Option<Beside>,
}

/// A stretch beside something lower.
#[derive(Clone, Copy, Debug)]
struct Beside {
    since: Nanos,
    /// For so long none of the CPUs that ran something lower could reschedule.
    stuck: Nanos,
    /// For so long its own CPU served the budget of fair tasks.
    served: Nanos,
    /// How it has been since the last look.
    now: Scene,
}

/// What holds up a task that waits beside something lower.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scene {
    /// None of the CPUs that run something lower can reschedule.
    Stuck,
    /// Its own CPU serves the budget of fair tasks.
    Served,
    /// Nothing: somebody could move it.
    Free,
}

impl Waits {
    pub fn new(tally: WaitTally) -> Waits {
        Waits { tally, open: Vec::new(), count: 0, looked: Nanos::ZERO }
    }

    /// What has changed by now.
    pub fn look(&mut self, view: View<'_>) {
        let now = view.hw().now.get();
        let waits_somebody = |cpu: CpuId| {
            let rq = &view.k.rq(cpu).published;
            let runs_one = view.k.task(rq.curr.get()).class.get() == Class::Rt;
            rq.rt_nr_running.get() > u32::from(runs_one)
        };
        if self.count == 0 && !view.k.online.iter().any(waits_somebody) {
            self.looked = now;
            return;
        }
        for task in view.k.tasks.iter().skip(view.k.cpus()) {
            let index = task.index();
            let waits = view.waits_as_rt(task);
            if !waits && self.open.get(index).is_none_or(Option::is_none) {
                continue;
            }
            if index >= self.open.len() {
                self.open.resize(index + 1, None);
            }
            match (&mut self.open[index], waits) {
                (Some(wait), true) => wait.go_on(view, task, self.looked, now, &self.tally),
                (open @ None, true) => {
                    *open = Some(Wait::begin(view, task, now));
                    self.count += 1;
                }
                (open, false) => {
                    if let Some(wait) = open.take() {
                        wait.end(self.looked, now, &self.tally);
                        self.count -= 1;
                    }
                }
            }
        }
        self.looked = now;
    }

    /// The run ends.
    pub fn end(&mut self, now: Nanos) {
        for wait in self.open.iter_mut().filter_map(Option::take) {
            wait.end(self.looked, now, &self.tally);
        }
        self.count = 0;
    }
}

impl Wait {
    fn begin(view: View<'_>, task: TaskId, now: Nanos) -> Wait {
        let allowed = view.k.task(task).cpus_allowed.get();
        let bound = !view.k.online.is_subset(&allowed);
        let mut wait = Wait { since: now, boosted: false, bound, longest_beside: Nanos::ZERO, beside: None };
        wait.see(view, task, now);
        wait
    }

    /// It has gone on since `looked`.
    fn go_on(&mut self, view: View<'_>, task: TaskId, looked: Nanos, now: Nanos, tally: &WaitTally) {
        self.passes(looked, now);
        let before = self.beside;
        self.see(view, task, now);
        if let (Some(over), None) = (before, self.beside) {
            self.stretch_ends(over, now, tally);
        }
    }

    fn passes(&mut self, looked: Nanos, now: Nanos) {
        let Some(beside) = &mut self.beside else { return };
        match beside.now {
            Scene::Stuck => beside.stuck += now.saturating_sub(looked),
            Scene::Served => beside.served += now.saturating_sub(looked),
            Scene::Free => {}
        }
    }

    fn see(&mut self, view: View<'_>, task: TaskId, now: Nanos) {
        let of = view.k.task(task);
        self.boosted |= of.prio.get().beats(of.normal_prio.get());
        self.beside = view.beside_lower(task).map(|scene| match self.beside {
            Some(beside) => Beside { now: scene, ..beside },
            None => Beside { since: now, stuck: Nanos::ZERO, served: Nanos::ZERO, now: scene },
        });
    }

    fn stretch_ends(&mut self, stretch: Beside, now: Nanos, tally: &WaitTally) {
        let length = now.saturating_sub(stretch.since);
        self.longest_beside = self.longest_beside.max(length);
        tally.change(|counts| {
            counts.longest_beside_lower = counts.longest_beside_lower.max(length);
            if length > STARVED_AFTER {
                *self.cause(stretch, length, counts) += 1;
            }
        });
    }

    fn cause<'c>(&self, stretch: Beside, length: Nanos, counts: &'c mut WaitCounts) -> &'c mut u64 {
        let starved = &mut counts.starved;
        let mostly = |part: Nanos| part * 2 >= length;
        match (self.boosted, self.bound) {
            _ if mostly(stretch.stuck) => &mut starved.not_rescheduled,
            _ if mostly(stretch.served) => &mut starved.behind_server,
            (true, true) => &mut starved.boosted_bound,
            (true, false) => &mut starved.boosted_anywhere,
            (false, _) => &mut starved.unboosted,
        }
    }

    fn end(mut self, looked: Nanos, now: Nanos, tally: &WaitTally) {
        self.passes(looked, now);
        if let Some(stretch) = self.beside.take() {
            self.stretch_ends(stretch, now, tally);
        }
        let length = now.saturating_sub(self.since);
        tally.change(|counts| {
            if self.boosted {
                counts.longest_boosted = counts.longest_boosted.max(length);
                let behind_higher = self.longest_beside <= STARVED_AFTER;
                counts.held_up += u64::from(behind_higher && length > HELD_UP_AFTER);
            }
        });
    }
}

impl View<'_> {
    /// Whether a task is in the queue of the real-time class, and its CPU runs another one.
    fn waits_as_rt(self, p: TaskId) -> bool {
        let task = self.k.task(p);
        task.class.get() == Class::Rt
            && task.state.get() == TaskState::Running
            && task.on_rq.get()
            && self.k.rq(task.cpu.get()).published.curr.get() != p
    }

    /// How a waiting task is held up, if some CPU that it may use runs something lower.
    fn beside_lower(self, p: TaskId) -> Option<Scene> {
        let task = self.k.task(p);
        let (prio, cpus) = (task.prio.get(), task.cpus_allowed.get());
        let runs_lower = |cpu: &CpuId| {
            let rq = &self.k.rq(*cpu).published;
            let curr = self.k.task(rq.curr.get());
            match curr.class.get() {
                Class::Stop | Class::Deadline => false,
                Class::Rt => prio.beats(curr.prio.get()),
                Class::Fair | Class::Idle => !self.serves_fair(*cpu) && !rq.rt_left_out.get(),
            }
        };
        let is_stuck = |cpu: CpuId| {
            self.k.rq(cpu).published.is_asked() || self.hw().cpu(cpu).softirq.get() == Softirq::Running
        };
        let mut lower = self.k.online.and(&cpus).iter().filter(runs_lower).peekable();
        lower.peek()?;
        Some(if lower.all(is_stuck) {
            Scene::Stuck
        } else if self.serves_fair(task.cpu.get()) {
            Scene::Served
        } else {
            Scene::Free
        })
    }

    /// Whether a CPU runs a fair task before all real-time ones, as its server has its turn.
    fn serves_fair(self, cpu: CpuId) -> bool {
        let rq = &self.k.rq(cpu).published;
        self.k.task(rq.curr.get()).class.get() == Class::Fair && rq.dl_earliest.get().is_some()
    }
}
