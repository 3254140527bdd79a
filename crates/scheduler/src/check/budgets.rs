//! deadline-groups DA1: over no time that begins with a full budget does a deadline task run for longer than
//! its budgets of that time allow.

use super::Findings;
use crate::dl::{DlParams, early_gain, least_charge};
use crate::platform::Platform;
use crate::registry::DlWakeup;
use crate::{Class, Event, Nanos, Pid, Task, TaskId, ThisCpu};
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

/// How many of the latest times are looked back to.
const WINDOWS: usize = 8;

/// Of all deadline tasks, by slot.
#[derive(Debug, Default)]
pub(super) struct Budgets(Vec<Course>);

/// A task since it asked for these parameters.
#[derive(Debug, Default)]
struct Course {
    pid: Pid,
    params: Option<DlParams>,
    /// What its running has cost at least.
    spent: Nanos,
    /// What it has cost since the task was last seen with run time left.
    step: Nanos,
    /// The most that this ever was: what a budget may be overrun by.
    overrun: Nanos,
    /// Periods that began by a wakeup before the deadline of the one before.
    early: u64,
    /// The deadline at the latest event.
    deadline: Nanos,
    windows: VecDeque<Window>,
}

/// A time that began with a full budget, and what there had been by then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    from: Nanos,
    spent: Nanos,
    early: u64,
}

impl Budgets {
    pub fn event<P: Platform>(&mut self, me: ThisCpu<'_, P>, event: Event, found: &mut Findings) {
        match event {
            Event::Wakeup { task, .. } | Event::WakeupNew { task, .. } => {
                if let Some(course) = self.course(me, task) {
                    course.wakes(me.task(task));
                }
            }
            Event::StatRuntime { task, runtime, .. } => {
                if let Some(course) = self.course(me, task) {
                    course.runs(me, task, runtime, found);
                }
            }
            _ => {}
        }
    }

    /// What was promised under other settings is not compared with what these allow.
    pub fn settings_changed(&mut self) {
        self.0.iter_mut().for_each(|course| course.windows.clear());
    }

    /// Of a task that is served by this class, with parameters of its own; else what is known of it ends.
    fn course<P: Platform>(&mut self, me: ThisCpu<'_, P>, p: TaskId) -> Option<&mut Course> {
        let task = me.task(p);
        let pid = task.pid.get();
        let own = (task.class.get() == Class::Deadline && !task.dl.is_boosted()).then(|| task.dl.params());
        let params = own.flatten();
        if p.index() >= self.0.len() {
            params?;
            self.0.resize_with(p.index() + 1, Course::default);
        }
        let course = &mut self.0[p.index()];
        if course.pid != pid || course.params != params {
            *course = Course { pid, params, ..Course::default() };
        }
        params.is_some().then_some(course)
    }
}

impl Course {
    /// With its full run time its period has just begun, or begins with this: nothing of it is used.
    fn wakes(&mut self, task: &Task) {
        let (Some(params), e) = (self.params, &task.dl) else { return };
        let before = core::mem::replace(&mut self.deadline, e.deadline());
        if e.is_throttled() || e.runtime_ns() != params.runtime().0 as i64 {
            return;
        }
        let from = e.deadline().saturating_sub(params.deadline());
        if self.windows.back().is_some_and(|last| last.from == from && last.spent == self.spent) {
            return;
        }
        self.early += u64::from(e.deadline() != before && from < before);
        self.windows.push_back(Window { from, spent: self.spent, early: self.early });
        if self.windows.len() > WINDOWS {
            self.windows.pop_front();
        }
    }

    /// It has run for `delta`. Unless it is on its way out of the kernel, throttled, what it ran for before
    /// was within its budgets, but for what one of them was overrun by: if that was more than a budget, the
    /// next period begins in time all the same, with a later deadline.
    fn runs<P: Platform>(&mut self, me: ThisCpu<'_, P>, p: TaskId, delta: Nanos, found: &mut Findings) {
        let (Some(params), e, now) = (self.params, &me.task(p).dl, me.now()) else { return };
        let revised = me.k.config.rules.dl_wakeup.get() == DlWakeup::CbsRevised && params.is_constrained();
        let moved = e.deadline().saturating_sub(self.deadline);
        if revised && !moved.0.is_multiple_of(params.period().0) {
            // Back in the queue after its deadline, it has a new period before its time (deadline-groups A5).
            self.windows.clear();
        }
        self.deadline = e.deadline();
        let cost = least_charge(me, me.task(p).cpu.get(), params, delta);
        if e.is_throttled() {
            self.step += cost;
        } else {
            self.step = cost;
            // By the first wakeup rule periods are handed out at the rate of the deadline, also those that
            // are added for what was overrun.
            let overrun = match revised {
                true => self.overrun,
                false => scaled(self.overrun, params.period(), params.deadline()),
            };
            for window in &self.windows {
                let (spent, time) = (self.spent - window.spent, now.saturating_sub(window.from));
                let most = if revised { of_periods(params, time) } else { of_bandwidth(params, time) }
                    + overrun
                    + early_gain(params) * (self.early - window.early);
                found.expect("deadline-groups DA1", spent <= most, || {
                    format!("{p:?} spent {spent} in {time} s, its budgets allow {most}")
                });
            }
        }
        self.spent += cost;
        self.overrun = self.overrun.max(self.step);
    }
}

/// The most that budgets of the revised wakeup rule allow a task whose deadline is before the end of its
/// period: one begins with each period.
fn of_periods(params: DlParams, time: Nanos) -> Nanos {
    params.runtime() * (time.0 / params.period().0 + 1)
}

/// The most that budgets allow others: a new period begins early where what is left of the old one would be
/// more than this bandwidth.
fn of_bandwidth(params: DlParams, time: Nanos) -> Nanos {
    params.runtime() + scaled(time, params.runtime(), params.deadline())
}

fn scaled(time: Nanos, by: Nanos, of: Nanos) -> Nanos {
    Nanos((u128::from(time.0) * u128::from(by.0) / u128::from(of.0)) as u64)
}
