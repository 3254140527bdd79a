//! The machine's side of the tasks.

use super::activity::Activity;
use super::family::Family;
use super::in_sections::SectionsOfTask;
use super::kernel_lock::InKernelLock;
use super::kernel_mutex::ForMutex;
use super::rest::Slow;
use super::warmth::Warmth;
use crate::behaviour::{Behaviour, TaskCounters};
use crate::engine::hardware::{Hw, Slot};
use crate::outcome::{TaskOrigin, TimeUnder};
use crate::rng::{Rng, TaskStream};
use scheduler::{CpuId, Nanos, Pid, Scheduler, TaskId};
use std::cell::{Cell, RefCell};
use std::num::Wrapping;

/// Every task, and what they have cost.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    /// By task id; slots are reused like the scheduler's.
    contexts: RefCell<Vec<TaskCtx>>,
    /// What is left of the step that is being taken, from where that is found to where it is followed: nobody
    /// waits in between.
    slow: RefCell<Option<Slow>>,
    /// CPU time that tasks spent on refilling the caches.
    pub cache_refill: Cell<Nanos>,
    /// Times a task lost its CPU, runnable, while it held a mutex or a user spinlock.
    pub lock_holder_preemptions: Cell<u64>,
}

/// How many locks a task holds. (It decides nothing, so it may begin anew; two bytes less make each task
/// eight smaller.)
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LocksHeld(Wrapping<u16>);

impl LocksHeld {
    /// One more.
    pub fn add(&mut self) {
        self.0 += Wrapping(1);
    }

    /// One less.
    pub fn remove(&mut self) {
        self.0 -= Wrapping(1);
    }

    /// Whether there are any.
    pub fn any(self) -> bool {
        self.0 != Wrapping(0)
    }
}

/// The machine's side of one task.
#[derive(Debug)]
pub(crate) struct TaskCtx {
    pub pid: Pid,
    pub comm: Box<str>,
    pub behaviour: Box<dyn Behaviour>,
    pub activity: Activity,
    /// Where it works with critical sections on the way.
    pub sections: SectionsOfTask,
    /// What it has done already of the CPU time that its next step asks for; `None` if it asks for pure work.
    pub done_ahead: Option<Nanos>,
    pub rng: Rng,
    pub stream: TaskStream,
    /// How many tasks it has forked.
    pub forks: u32,
    /// How often it was asked to make room inside the kernel; it only tells draws apart, and may begin anew.
    pub requests: u32,
    pub iterations: u64,
    /// CPU time under former policies and nice values.
    pub time_under: Vec<TimeUnder>,
    /// When it called exit, if it has.
    pub exited: Option<Nanos>,
    pub last_child: Option<TaskId>,
    pub timer: Slot,
    pub timer_slack: Nanos,
    /// Its timer expires in the soft interrupt.
    pub timer_is_soft: bool,
    /// The CPU that serves it: where it was set, wherever the task is by then, or for whom that CPU set it.
    pub timer_base: CpuId,
    pub working_set_bytes: u64,
    pub reads_bytes_per_us: u32,
    pub warmth: Warmth,
    pub family: Family,
    /// A spinlock of the kernel that it has, or comes to, and that others may have to wait for.
    /// (Few have one, so it lies elsewhere.)
    pub kernel_lock: Option<Box<InKernelLock>>,
    /// That was the lock of the channel at which it goes on to wait.
    pub had_channel_lock: bool,
    /// The mutex of a pipe that it wants and somebody has.
    pub for_mutex: Option<Box<ForMutex>>,
    /// Mutexes and user spinlocks that it holds.
    pub locks_held: LocksHeld,
    /// When it was last asked for a step, and how many it has taken at that time.
    pub stepped_at: Nanos,
    pub idle_steps: u32,
    /// Where it comes from.
    pub origin: TaskOrigin,
    /// Pid of the first thread of its process.
    pub process: Pid,
}

impl Tasks {
    /// None yet. A vector that grows with its tasks would take up to twice their memory.
    pub fn with_room_for(tasks: usize) -> Tasks {
        Tasks { contexts: RefCell::new(Vec::with_capacity(tasks)), ..Tasks::default() }
    }

    /// Looks at or changes a task's context.
    #[inline]
    pub fn with<T>(&self, p: TaskId, f: impl FnOnce(&mut TaskCtx) -> T) -> T {
        f(&mut self.contexts.borrow_mut()[p.index()])
    }

    /// The same, if there has been a task with this id.
    pub fn with_known<T>(&self, p: TaskId, f: impl FnOnce(&mut TaskCtx) -> T) -> Option<T> {
        self.contexts.borrow_mut().get_mut(p.index()).map(f)
    }

    /// Keeps what is left of a step.
    pub fn put_slow(&self, slow: Slow) {
        let before = self.slow.replace(Some(slow));
        debug_assert!(before.is_none(), "{before:?} was not followed");
    }

    /// What is left of the step that ended with [`super::rest::Rest::Slow`].
    pub fn take_slow(&self) -> Option<Slow> {
        self.slow.take()
    }

    /// Says what `p` does when it runs next.
    #[inline]
    pub fn set_activity(&self, p: TaskId, activity: Activity) {
        self.with(p, |t| t.activity = activity);
    }

    /// Gives an id, that of the latest task and one more at most, to a new task.
    pub fn insert(&self, p: TaskId, ctx: TaskCtx) {
        let mut contexts = self.contexts.borrow_mut();
        match contexts.get_mut(p.index()) {
            Some(slot) => *slot = ctx,
            None => contexts.push(ctx),
        }
    }

    /// Every task but the idle ones; a fork that the end of the run interrupts has a task that is not known
    /// here yet.
    pub fn known<'t>(&'t self, k: &'t Scheduler<Hw>) -> impl Iterator<Item = TaskId> + 't {
        let known = |p: &TaskId| {
            let pid = k.task(*p).pid.get();
            self.contexts.borrow().get(p.index()).is_some_and(|t| t.pid == pid)
        };
        k.tasks.iter().skip(k.cpus()).filter(known)
    }

    /// The extra work that `p` has to do now.
    pub fn refill(&self, p: TaskId) -> Nanos {
        let cold = self.with(p, |t| std::mem::take(&mut t.warmth.cold));
        self.cache_refill.set(self.cache_refill.get() + cold);
        cold
    }

    /// Extra work that `p` could not finish.
    pub fn put_back(&self, p: TaskId, left: Nanos) {
        self.with(p, |t| t.warmth.cold += left);
        self.cache_refill.set(self.cache_refill.get() - left);
    }
}

impl TaskCtx {
    /// It is to execute for so long.
    pub fn compute(&mut self, length: Nanos) {
        let ahead = self.done_ahead.unwrap_or_default().min(length);
        self.done_ahead = self.done_ahead.map(|all| all.saturating_sub(ahead));
        self.activity = Activity::Compute { left: length.saturating_sub(ahead) };
    }

    /// Another task's way is to take so much of its CPU time; how much it takes. Where its work was recorded,
    /// that contains such times: it works meanwhile, and longer than it has to nobody waits for it.
    pub fn gives_way(&mut self, time: Nanos) -> Nanos {
        let Some(ahead) = &mut self.done_ahead else { return time };
        let Activity::Compute { left } = &mut self.activity else {
            *ahead += time;
            return time;
        };
        let taken = time.min(*left);
        *left = left.saturating_sub(taken);
        taken
    }
}

/// What /proc/PID/sched shows of a task at this moment.
pub(crate) fn counters(k: &Scheduler<Hw>, p: TaskId) -> TaskCounters {
    let stats = &k.task(p).stats;
    TaskCounters {
        nr_voluntary_switches: stats.nr_voluntary_switches.get(),
        nr_involuntary_switches: stats.nr_involuntary_switches.get(),
        nr_migrations: stats.nr_migrations.get(),
        sum_exec_runtime: stats.sum_exec_runtime.get(),
    }
}
