//! What the running task does next, as far as nobody has to be waited for: it executes for a while, or takes
//! a step. All of this is plain code: a future for each step, as large as the largest path of the kernel,
//! would cost more than the steps.

use super::sim::{Progress, Sim, Then};
use super::steps::Path;
use crate::behaviour::{Env, Step};
use crate::engine::hardware::hw::Hw;
use crate::engine::record::recorder::RecordKind;
use crate::outcome::RunError;
use crate::told::ToldStep;
use scheduler::{Nanos, TaskId, ThisCpu};

/// What a task does next.
pub(crate) enum Next {
    /// It executes for so long, or until an interrupt.
    Execute(Nanos),
    /// It does this, or has done it.
    Follow(Path),
}

/// A time during which a task executes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    start: Nanos,
    length: Nanos,
    /// Nothing else happens meanwhile, and the clock has moved on already. Otherwise the CPU's work slot
    /// fires at its end.
    pub is_over: bool,
}

impl Sim {
    /// What the current task does next.
    pub fn next(&self, me: ThisCpu<'_, Hw>, p: TaskId) -> Next {
        let (progress, in_sections) = self.with(p, |t| (t.progress, t.sections.is_some()));
        match progress {
            Progress::Ready if in_sections => self.next_section(me, p),
            Progress::Ready => Next::Follow(self.next_step(me, p)),
            Progress::Compute { left } => {
                let cold = self.refill(p);
                self.set_progress(p, Progress::Compute { left: left + cold });
                Next::Execute(left + cold)
            }
            Progress::Kernel { left, .. } => Next::Execute(left),
            Progress::SpinUntil(until) => {
                let length = until.saturating_sub(self.hw().local_now());
                if length > Nanos::ZERO {
                    return Next::Execute(length);
                }
                self.set_progress(p, Progress::Ready);
                Next::Follow(Path::Done)
            }
            Progress::Spinning(attempt) => Next::Execute(attempt.stint()),
            Progress::SpinOnOwner(mutex) => self.spin_for(me, p, mutex),
            Progress::Sections => unreachable!("a stretch ends before the CPU looks around"),
            // What a task fetches when it comes back is its own, and is there before it holds the lock.
            Progress::Resume(Then::SpinLock(attempt)) => {
                let cold = self.refill(p);
                if cold > Nanos::ZERO {
                    return Next::Execute(cold);
                }
                Next::Follow(self.resume(me, p, Then::SpinLock(attempt)))
            }
            Progress::Resume(then) => Next::Follow(self.resume(me, p, then)),
        }
    }

    /// The current task starts to execute.
    pub fn begin(&self, me: ThisCpu<'_, Hw>, length: Nanos) -> Stretch {
        let hw = self.hw();
        let start = hw.local_now();
        let end = start + length;
        hw.debt.set(Nanos::ZERO);
        let is_over = hw.queue.next_time() > end;
        if is_over {
            hw.now.set(end);
        } else {
            hw.cpus[me.id.index()].ready_at.set(start);
            hw.queue.set(hw.work_slot(me.id), end);
        }
        Stretch { start, length, is_over }
    }

    /// It has executed to the end, or was interrupted.
    pub fn executed(&self, me: ThisCpu<'_, Hw>, p: TaskId, stretch: Stretch) -> Path {
        let ran = self.hw().now.get().saturating_sub(stretch.start).min(stretch.length);
        let busy = &self.cpu(me.id).busy;
        busy.set(busy.get() + ran);
        match self.with(p, |t| t.progress) {
            Progress::Compute { left } if left > ran => {
                self.set_progress(p, Progress::Compute { left: left - ran });
            }
            Progress::Kernel { left, then } if left > ran => {
                self.set_progress(p, Progress::Kernel { left: left - ran, then });
            }
            Progress::Compute { .. } => self.set_progress(p, Progress::Ready),
            Progress::Kernel { then, .. } => return self.resume(me, p, then),
            Progress::Spinning(attempt) => {
                self.set_progress(p, Progress::Resume(Then::SpinLock(attempt.after(ran))));
            }
            Progress::Resume(then) => {
                let left = stretch.length - ran;
                self.put_back(p, left);
                if left == Nanos::ZERO {
                    return self.resume(me, p, then);
                }
            }
            Progress::Sections => return self.sections_executed(me.id, p, ran),
            Progress::SpinUntil(_) | Progress::SpinOnOwner(_) | Progress::Ready => {}
        }
        Path::Done
    }

    pub fn resume(&self, me: ThisCpu<'_, Hw>, p: TaskId, then: Then) -> Path {
        self.set_progress(p, Progress::Ready);
        self.go_on(me, p, then)
    }

    /// Asks the behaviour, and starts what it wants.
    fn next_step(&self, me: ThisCpu<'_, Hw>, p: TaskId) -> Path {
        let now = self.hw().local_now();
        let counters = self.counters(p);
        let idle_steps = self.with(p, |t| {
            t.idle_steps = if t.stepped_at == now { t.idle_steps + 1 } else { 0 };
            t.stepped_at = now;
            t.idle_steps
        });
        // A step is a large value: nothing else is returned with it, so that it stays where the behaviour has
        // put it.
        let step = self.with(p, |t| {
            t.behaviour.next(&mut Env {
                now,
                cpu: me.id,
                task: p,
                pid: t.pid,
                last_child: t.last_child,
                rng: &mut t.rng,
                iterations: &mut t.iterations,
                traced: self.hw().recorder.tells_everything(),
                counters,
            })
        });
        if idle_steps > ENDLESS_STEPS {
            let (pid, comm) = self.with(p, |t| (t.pid, t.comm.clone()));
            self.fail(RunError::EndlessSteps { pid, comm, at: now });
            return Path::Stop;
        }
        if self.hw().recorder.tells_everything() {
            self.tell(me, &step);
        }
        self.start(me, p, step)
    }

    fn tell(&self, me: ThisCpu<'_, Hw>, step: &Step) {
        let told = match step {
            Step::SetPolicy { target: Some(task), policy } => {
                let pid = self.with(*task, |task| task.pid);
                Some(ToldStep::SetPolicyOf { pid, policy: *policy })
            }
            step => ToldStep::of(step),
        };
        if let Some(step) = told {
            self.hw().recorder.note(me, self.hw().local_now(), || RecordKind::Step { step });
        }
    }
}

/// Steps that take no time after which a program is taken to be endless.
const ENDLESS_STEPS: u32 = 1_000_000;
