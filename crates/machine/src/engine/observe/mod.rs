//! What is seen of a run from outside: its counters, its tasks, snapshots, a window, and the checks. Nothing
//! here changes what happens.

mod check;
mod counters;
mod ends;
mod queue_snapshots;
mod snapshots;
mod view;
mod waits;
mod windows;

pub(crate) use view::View;

use crate::outcome::TaskOutcome;
use crate::snapshot::SnapshotPlan;
use crate::starvation::WaitTally;
use scheduler::{Class, Nanos, TaskId};
use snapshots::Snapshots;
use std::cell::RefCell;
use waits::Waits;
use windows::Measurement;

/// What has been seen so far.
#[derive(Debug)]
pub(crate) struct Observed {
    /// Tasks that have exited.
    finished: RefCell<Vec<TaskOutcome>>,
    pub snapshots: Snapshots,
    pub measurement: Measurement,
    /// In runs that ask for it.
    waits: Option<RefCell<Waits>>,
}

impl Observed {
    /// Nothing yet; these moments are to be kept, and these waits counted.
    pub fn new(plan: SnapshotPlan, waits: Option<WaitTally>) -> Observed {
        Observed {
            finished: RefCell::default(),
            snapshots: Snapshots::new(plan),
            measurement: Measurement::default(),
            waits: waits.map(|tally| RefCell::new(Waits::new(tally))),
        }
    }

    /// Asks every invariant that can be asked now, if the run is checked; a broken one stops it. And sees who
    /// waits, if that is asked for.
    #[inline]
    pub fn check(&self, view: View<'_>) {
        if let Some(waits) = &self.waits {
            waits.borrow_mut().look(view);
        }
        if let Some(watch) = view.hw().watch() {
            check::check(watch, view, &self.finished);
        }
    }

    /// The window begins now.
    pub fn begin_window(&self, view: View<'_>) {
        self.measurement.begin(view, &self.finished.borrow());
    }

    /// The window ends at `at`, if it has begun and has not ended.
    pub fn end_window(&self, view: View<'_>, at: Nanos) {
        self.measurement.end(view, &self.finished.borrow(), at);
    }

    /// The waits that go on end with the run.
    pub fn end_waits(&self, at: Nanos) {
        if let Some(waits) = &self.waits {
            waits.borrow_mut().end(at);
        }
    }

    /// Writes down what is known of a task that is about to give its slot back.
    pub fn task_exits(&self, view: View<'_>, p: TaskId) {
        self.snapshots.keep_exited(view, p);
        let outcome = view.task_outcome(p, view.hw().recorder.take_latency(p));
        view.hw().recorder.slot_is_free(p);
        self.finished.borrow_mut().push(outcome);
    }

    /// Hands out every task, dead and alive, by pid.
    pub fn take_tasks(&self, view: View<'_>) -> Vec<TaskOutcome> {
        let mut tasks = self.finished.take();
        // Most stoppers never do anything.
        let is_told = |p: &TaskId| {
            let task = view.k.task(*p);
            task.class.get() != Class::Stop || task.stats.nr_slices.get() > 0
        };
        let living = view.user.tasks.known(view.k).filter(is_told);
        let now = view.hw().now.get();
        tasks.extend(living.map(|p| {
            let outcome = view.task_outcome(p, view.hw().recorder.take_latency(p));
            // A CPU that ticks has accounted it at its last tick; another one a second ago, perhaps.
            let has_no_tick = view.hw().nohz_full.contains(view.k.task(p).cpu.get());
            let outcome = if has_no_tick { view.with_open_stint(p, now, outcome) } else { outcome };
            view.with_open_waits(p, now, outcome)
        }));
        tasks.sort_by_key(|t| t.pid);
        tasks
    }
}
