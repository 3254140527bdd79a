//! Measures a stretch of a run: what has been counted at its end, less what had been counted at its
//! beginning.

use super::view::View;
use crate::outcome::{DecisionCount, TaskOutcome, TimeUnder};
use crate::window::{Window, WindowOutcome};
use scheduler::dl::DlEntity;
use scheduler::{Class, Nanos, Pid, TaskId};
use schema::{CpuIdle, CpuResult, Totals};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How far the measurement of a window is.
#[derive(Debug, Default)]
pub(crate) struct Measurement {
    begun: RefCell<Option<Counted>>,
    done: RefCell<Option<WindowOutcome>>,
}

/// What has been counted up to a moment.
#[derive(Debug)]
struct Counted {
    at: Nanos,
    /// Those that lived or had lived.
    tasks: Vec<TaskOutcome>,
    cpus: Vec<CpuResult>,
    idle_states: Vec<CpuIdle>,
    totals: Totals,
    /// In the order of all reasons.
    decisions: Vec<DecisionCount>,
}

impl Measurement {
    /// The window begins now; these tasks have exited. Latencies and maxima are not counters that could be
    /// subtracted: they start anew.
    pub fn begin(&self, view: View<'_>, exited: &[TaskOutcome]) {
        let hw = view.hw();
        *self.begun.borrow_mut() = Some(view.counted(exited, hw.now.get()));
        hw.recorder.forget_latencies();
        hw.forget_maxima();
        let entities = view.user.tasks.known(view.k).filter_map(|p| view.k.task(p).dl.if_any());
        entities.for_each(DlEntity::forget_longest_response);
    }

    /// The window ends at `at`, if it has begun and has not ended.
    pub fn end(&self, view: View<'_>, exited: &[TaskOutcome], at: Nanos) {
        if let Some(before) = self.begun.borrow_mut().take() {
            *self.done.borrow_mut() = Some(view.counted(exited, at).since(before));
        }
    }

    /// Hands out what was measured; `None` if the run ended before the window began.
    pub fn take(&self) -> Option<WindowOutcome> {
        self.done.take()
    }
}

impl View<'_> {
    fn counted(self, exited: &[TaskOutcome], at: Nanos) -> Counted {
        let mut tasks = exited.to_vec();
        tasks.extend(self.user.tasks.known(self.k).map(|p| self.task_so_far(p, at)));
        tasks.sort_by_key(|task| task.pid);
        Counted {
            at,
            tasks,
            cpus: self.cpu_results(at),
            idle_states: self.idle_results(at),
            totals: self.totals(),
            decisions: self.decisions().collect(),
        }
    }

    /// A living task, with the CPU time and the waiting that the scheduler has not accounted yet.
    fn task_so_far(self, p: TaskId, at: Nanos) -> TaskOutcome {
        let task = self.task_outcome(p, self.hw().recorder.latency_so_far(p));
        self.with_open_waits(p, at, self.with_open_stint(p, at, task))
    }

    /// The same of a task, with the CPU time that the scheduler has not accounted yet.
    pub fn with_open_stint(self, p: TaskId, at: Nanos, mut task: TaskOutcome) -> TaskOutcome {
        let unaccounted = self.unaccounted(p, at);
        if unaccounted == Nanos::ZERO {
            return task;
        }
        task.counters.sum_exec_runtime += unaccounted;
        let served = self.user.tasks.served(self.k, p);
        if let Some(under) = task.time_under.iter_mut().find(|under| served.is_under(under)) {
            under.cpu_time += unaccounted;
        }
        task
    }

    /// CPU time of a task up to `at` that the scheduler has not accounted yet.
    pub fn unaccounted(self, p: TaskId, at: Nanos) -> Nanos {
        let task = self.k.task(p);
        if task.class.get() == Class::Idle || !self.k.task_running(p) {
            return Nanos::ZERO;
        }
        let left_out = self.hw().cpu(task.cpu.get()).interrupt_time.get();
        at.saturating_sub(left_out).saturating_sub(task.stats.exec_start.get())
    }
}

impl Counted {
    fn since(self, before: Counted) -> WindowOutcome {
        let mut of_task: BTreeMap<Pid, TaskOutcome> =
            before.tasks.into_iter().map(|task| (task.pid, task)).collect();
        let exited_before = |task: &TaskOutcome| task.exited.is_some_and(|at| at < before.at);
        let lived = self.tasks.into_iter().filter(|task| !exited_before(task));
        let tasks = lived.map(|task| match of_task.remove(&task.pid) {
            Some(before) => since(task, &before),
            None => task,
        });
        let cpus = self.cpus.iter().zip(&before.cpus).map(|(cpu, before)| cpu.since(before));
        let idle_states = self.idle_states.iter().zip(&before.idle_states);
        let decisions = self
            .decisions
            .into_iter()
            .zip(before.decisions)
            .map(|(now, before)| DecisionCount { reason: now.reason, count: now.count - before.count });
        WindowOutcome {
            window: Window { from: before.at, to: self.at },
            tasks: tasks.collect(),
            cpus: cpus.collect(),
            idle_states: idle_states.map(|(cpu, before)| cpu.since(before)).collect(),
            totals: self.totals.since(&before.totals),
            decisions: decisions.filter(|decision| decision.count > 0).collect(),
        }
    }
}

fn since(mut task: TaskOutcome, before: &TaskOutcome) -> TaskOutcome {
    let counters = &mut task.counters;
    counters.nr_voluntary_switches -= before.counters.nr_voluntary_switches;
    counters.nr_involuntary_switches -= before.counters.nr_involuntary_switches;
    counters.nr_migrations -= before.counters.nr_migrations;
    let used = before.counters.sum_exec_runtime;
    counters.sum_exec_runtime = counters.sum_exec_runtime.saturating_sub(used);
    if let (Some(counts), Some(before)) = (&mut task.deadline, &before.deadline) {
        counts.jobs -= before.jobs;
        counts.missed -= before.missed;
        counts.throttles -= before.throttles;
        counts.throttled = counts.throttled.saturating_sub(before.throttled);
        counts.replenishments -= before.replenishments;
    }
    task.iterations -= before.iterations;
    task.wait_sum = task.wait_sum.saturating_sub(before.wait_sum);
    // A task whose policy changes in the window had only one before, and that is the first of the list.
    if let (true, Some(first)) = (before.time_under.is_empty(), task.time_under.first_mut()) {
        first.cpu_time = first.cpu_time.saturating_sub(used);
    }
    for under in &mut task.time_under {
        let same = |old: &&TimeUnder| old.policy == under.policy && old.nice == under.nice;
        let before = before.time_under.iter().find(same).map_or(Nanos::ZERO, |old| old.cpu_time);
        under.cpu_time = under.cpu_time.saturating_sub(before);
    }
    task
}
