//! deadline-groups DA1: over no time that begins with a full budget does a deadline task run for longer than
//! its budgets of that time allow.

use super::{Findings, Moment, Queue};
use crate::dl::{DlParams, reclaimed};
use crate::platform::Platform;
use crate::registry::DlWakeup;
use crate::{Class, Event, FULL_CAPACITY, Nanos, Pid, Task, TaskId, ThisCpu};
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
    /// What it has run for, in ns of the best CPU.
    ran: Nanos,
    /// The longest time for which it was charged at once, in the same.
    step: Nanos,
    windows: VecDeque<Window>,
}

/// A time that began with a full budget, and what the task had run for by then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Window {
    from: Nanos,
    ran: Nanos,
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
        if params.is_none() && p.index() >= self.0.len() {
            return None;
        }
        if p.index() >= self.0.len() {
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
        if e.is_throttled() || e.runtime_ns() != params.runtime().0 as i64 {
            return;
        }
        let window = Window { from: e.deadline().saturating_sub(params.deadline()), ran: self.ran };
        if self.windows.back() != Some(&window) {
            self.windows.push_back(window);
            if self.windows.len() > WINDOWS {
                self.windows.pop_front();
            }
        }
    }

    /// It has run for `delta`. Unless it is on its way out of the kernel, throttled, what it ran for before
    /// was within its budgets, but for one step of accounting: if that overran by several, the next period
    /// begins in time all the same, with a later deadline.
    fn runs<P: Platform>(&mut self, me: ThisCpu<'_, P>, p: TaskId, delta: Nanos, found: &mut Findings) {
        let (Some(params), now) = (self.params, me.now()) else { return };
        if !me.task(p).dl.is_throttled() {
            for window in &self.windows {
                let (ran, time) = (self.ran.saturating_sub(window.ran), now.saturating_sub(window.from));
                let most = most(me, params, time, self.step);
                found.expect("deadline-groups DA1", ran <= most, || {
                    format!("{p:?} ran for {ran} of {time} s, its budgets allow {most}")
                });
            }
        }
        let step = Nanos(delta.0 * me.k.present_capacity(me.id) / FULL_CAPACITY);
        self.ran += step;
        self.step = self.step.max(step);
    }
}

/// The most that budgets allow in such a time. By the revised wakeup rule each period of a task whose
/// deadline is before its end has one; others may begin a new period early, at the price of its later end; a
/// budget that is reclaimed lasts as many times longer as the class may use of a CPU. `step` is what may have
/// overrun.
fn most<P: Platform>(me: ThisCpu<'_, P>, params: DlParams, time: Nanos, step: Nanos) -> Nanos {
    let (runtime, period) = (params.runtime(), params.period());
    let scaled = |time: Nanos, by: Nanos, of: Nanos| {
        Nanos((u128::from(time.0) * u128::from(by.0) / u128::from(of.0)) as u64)
    };
    let revised = me.k.config.rules.dl_wakeup.get() == DlWakeup::CbsRevised;
    if params.reclaims() {
        // The step may have been charged in full, and what it took is charged with the least rate.
        return reclaimed(me, time + period + scaled(step, period, runtime));
    }
    if params.is_constrained() && revised {
        return runtime * (time.0 / period.0 + 1) + step;
    }
    runtime + scaled(time, runtime, period) + step
}

/// Who is throttled does not run, where nothing keeps it from stopping.
pub(super) fn throttled_stops<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let curr = moment.k.task(queue.rq.curr);
    let runs_on = curr.class.get() == Class::Deadline && curr.dl.is_throttled();
    found.expect("deadline-groups DA1", !runs_on, || {
        format!("CPU {} runs {:?}, which is throttled", queue.rq.cpu, queue.rq.curr)
    });
}
