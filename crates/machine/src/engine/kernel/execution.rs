//! What the running task does next, as far as nobody has to be waited for: it executes for a while, or takes
//! a step. All of this is plain code: a future for each step, as large as the largest path of the kernel,
//! would cost more than the steps.

use super::sim::Sim;
use crate::behaviour::Env;
use crate::engine::hardware::{Executed, Fraction, Hw, Rate};
use crate::engine::userland::{Activity, Length, Next, Rest, Resume, Slow, counters};
use crate::outcome::RunError;
use crate::step::Step;
use scheduler::{CpuId, Nanos, TaskId, ThisCpu};
use schema::LogEvent;

/// A time during which a task executes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    start: Nanos,
    /// What it is to do, and how long that takes.
    work: Nanos,
    time: Nanos,
    rate: Rate,
    /// What had been done of a nanosecond of it.
    done: Fraction,
    /// The busy sibling that slows it, for the log.
    beside: Option<CpuId>,
    /// Nothing else happens meanwhile, and the clock has moved on already. Otherwise the CPU's work slot
    /// fires at its end.
    pub is_over: bool,
}

/// Steps that take no time after which a program is taken to be endless.
const ENDLESS_STEPS: u32 = 1_000_000;

/// So often a program that does nothing else reads its CPU clock. A real one does it every 0.3 to 1 us; no
/// budget is so small that it would matter, and each reading is an event here (assumed).
const CLOCK_READING: Nanos = Nanos::from_micros(10);

impl Sim {
    /// What the current task does next.
    #[inline]
    pub fn next(&self, me: ThisCpu<'_, Hw>, p: TaskId) -> Next {
        let tasks = &self.user.tasks;
        let (activity, in_sections) = tasks.with(p, |t| (t.activity, t.sections.have_begun()));
        match activity {
            Activity::Ready if in_sections => self.user.spinlocks.next_section(self.caller(me, p)),
            Activity::Ready => Next::Follow(self.next_step(me, p)),
            Activity::Compute { left } => {
                let cold = tasks.refill(p);
                tasks.set_activity(p, Activity::Compute { left: left + cold });
                Next::Execute(Length::Work(left + cold))
            }
            Activity::ByClock { read, until } => {
                let left = until.saturating_sub(read);
                if left > Nanos::ZERO {
                    return Next::Execute(Length::Time(left.min(CLOCK_READING)));
                }
                tasks.set_activity(p, Activity::Ready);
                Next::Follow(Rest::Nothing)
            }
            Activity::Kernel { left, then } if self.user.kernel_locks.any() => {
                Next::Execute(Length::Work(self.up_to_a_lock(me, p, left, then)))
            }
            Activity::Kernel { left, .. } => Next::Execute(Length::Work(left)),
            Activity::SpinUntil(until) => {
                let length = until.saturating_sub(self.hw().local_now());
                if length > Nanos::ZERO {
                    return Next::Execute(Length::Time(length));
                }
                tasks.set_activity(p, Activity::Ready);
                Next::Follow(Rest::Nothing)
            }
            Activity::Spinning(attempt) => Next::Execute(Length::Work(attempt.stint())),
            Activity::SpinOnOwner(mutex) => self.user.mutexes.spin_for(self.caller(me, p), mutex),
            // What a task fetches when it comes back is its own, and is there before it holds the lock.
            Activity::InCall(then @ Resume::SpinLock(_)) => {
                let cold = tasks.refill(p);
                if cold > Nanos::ZERO {
                    return Next::Execute(Length::Work(cold));
                }
                Next::Follow(self.resume(me, p, then))
            }
            Activity::InCall(then) => Next::Follow(self.resume(me, p, then)),
        }
    }

    /// The current task starts to execute.
    #[inline]
    pub fn begin(&self, me: ThisCpu<'_, Hw>, length: Length) -> Run {
        let hw = self.hw();
        let (work, rate) = match length {
            Length::Work(work) => (work, hw.cpu(me.id).rate.get()),
            Length::Time(time) => (time, Rate::FULL),
        };
        let done = hw.cpu(me.id).fraction.get();
        let start = hw.local_now();
        let time = rate.time_for(work, done);
        let end = start + time;
        hw.debt.set(Nanos::ZERO);
        let is_over = hw.queue.next_time() > end;
        if is_over {
            hw.now.set(end);
        } else {
            hw.cpu(me.id).ready_at.set(start);
            hw.queue.set(hw.work_slot(me.id), end);
        }
        let beside = hw.slowed_by(me.id, rate);
        Run { start, work, time, rate, done, beside, is_over }
    }

    /// It has executed to the end, or was interrupted.
    #[inline]
    pub fn executed(&self, me: ThisCpu<'_, Hw>, p: TaskId, run: Run) -> Rest {
        let ran = self.book(me, run);
        let tasks = &self.user.tasks;
        if self.hw().spec.cold.is_some() {
            let (working_set, activity) = tasks.with(p, |t| (t.working_set_bytes, t.activity));
            let in_kernel = matches!(activity, Activity::Kernel { .. } | Activity::InCall(_));
            self.hw().touches(me.id, Executed { time: ran, working_set, in_kernel });
        }
        match tasks.with(p, |t| t.activity) {
            Activity::Compute { left } if left > ran => {
                tasks.set_activity(p, Activity::Compute { left: left - ran });
            }
            Activity::Kernel { left, then } if left > ran => {
                tasks.set_activity(p, Activity::Kernel { left: left - ran, then });
            }
            Activity::Compute { .. } => tasks.set_activity(p, Activity::Ready),
            Activity::Kernel { then, .. } => return self.piece_is_over(me, p, then),
            Activity::Spinning(attempt) => {
                tasks.set_activity(p, Activity::InCall(Resume::SpinLock(attempt.after(ran))));
            }
            Activity::InCall(then) => {
                let left = run.work - ran;
                tasks.put_back(p, left);
                if left == Nanos::ZERO {
                    return self.resume(me, p, then);
                }
            }
            Activity::Ready => return self.user.spinlocks.sections_executed(self.caller(me, p), ran),
            Activity::ByClock { until, .. } if ran == run.work => {
                return self.caller(me, p).slowly(Slow::ReadClock { until });
            }
            Activity::ByClock { .. } | Activity::SpinUntil(_) | Activity::SpinOnOwner(_) => {}
        }
        Rest::Nothing
    }

    /// The time of a run has passed; the work that was done in it.
    #[inline]
    pub fn book(&self, me: ThisCpu<'_, Hw>, run: Run) -> Nanos {
        let cpu = self.hw().cpu(me.id);
        let time = self.hw().now.get().saturating_sub(run.start).min(run.time);
        cpu.busy.set(cpu.busy.get() + time);
        let (work, done) = run.rate.work_in(time, run.done);
        cpu.fraction.set(done);
        if let Some(sibling) = run.beside {
            self.hw().note_slowed(me.id, run.start, time, work, sibling);
        }
        work
    }

    /// Asks the behaviour, and starts what it wants.
    #[inline]
    fn next_step(&self, me: ThisCpu<'_, Hw>, p: TaskId) -> Rest {
        let tasks = &self.user.tasks;
        let now = self.hw().local_now();
        let counters = counters(&self.k, p);
        let mut idle_steps = 0;
        // A step is a large value: nothing else is returned with it, so that it stays where the behaviour has
        // put it.
        let step = tasks.with(p, |t| {
            idle_steps = if t.stepped_at == now { t.idle_steps + 1 } else { 0 };
            (t.idle_steps, t.stepped_at) = (idle_steps, now);
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
            self.caller(me, p).fail(|pid, comm| RunError::EndlessSteps { pid, comm, at: now });
            return self.caller(me, p).slowly(Slow::Stop);
        }
        // A marker is an event of its own.
        if self.hw().recorder.tells_everything() && !matches!(step, Step::Marker(_)) {
            self.tell(me, &step);
        }
        self.start(me, p, step)
    }

    fn tell(&self, me: ThisCpu<'_, Hw>, step: &Step) {
        self.hw().note_detail(me.id, || {
            let told = step.told(|task| self.user.tasks.with(task, |t| t.pid));
            LogEvent::Step { step: told.logged() }
        });
    }
}
