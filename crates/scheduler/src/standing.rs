//! Where a task stands between its queue, its CPU and its sleep: one answer from `state`, `on_rq` and
//! `on_cpu`.
//!
//! A task that sleeps need not be off its queue, and one that is off its queue need not be off its CPU.
//! Nobody concludes one from another: a wakeup looks for the queue first (`wakeup`), and the checks ask for
//! the standing.

use crate::task::{Task, TaskState};

/// See the module's head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Created and not yet woken, or exited, or no task at all: no queue and no CPU knows it.
    Outside,
    /// Runnable, on its queue, and executing.
    Running,
    /// Runnable, on its queue, and waiting for the CPU.
    Waiting,
    /// Runnable, but on no queue for the moment: a path takes it from one queue to another, or changes its
    /// parameters. (Idle tasks, which are on no queue, are always so.)
    InTransit,
    /// It has said that it will sleep, but executes, and is on its queue: it has not come to schedule() yet.
    AboutToSleep,
    /// It sleeps, executes no longer, and is on its queue all the same: it was preempted before it came to
    /// schedule(). (The delayed dequeue of eevdf-class 3.7 leaves a task so.)
    QueuedAsleep,
    /// It has exited but for its last switch: on its queue until then.
    Exiting,
    /// Off its queue, to sleep or for ever; its CPU has not switched away from it yet.
    SwitchingOut,
    /// Asleep: no queue and no CPU has to do with it.
    Asleep,
    /// Between the decision to wake it and its being runnable.
    Waking,
}

impl Standing {
    /// Whether it is on a run queue.
    pub fn is_queued(self) -> bool {
        match self {
            Standing::Running
            | Standing::Waiting
            | Standing::AboutToSleep
            | Standing::QueuedAsleep
            | Standing::Exiting => true,
            Standing::Outside
            | Standing::InTransit
            | Standing::SwitchingOut
            | Standing::Asleep
            | Standing::Waking => false,
        }
    }

    /// Whether some path is under way that will soon give it another standing.
    pub fn is_passing(self) -> bool {
        match self {
            Standing::InTransit | Standing::Exiting | Standing::SwitchingOut | Standing::Waking => true,
            Standing::Outside
            | Standing::Running
            | Standing::Waiting
            | Standing::AboutToSleep
            | Standing::QueuedAsleep
            | Standing::Asleep => false,
        }
    }
}

impl Task {
    /// Where it stands now. Read without locks, the three need not be of one moment.
    #[inline]
    pub fn standing(&self) -> Standing {
        let (queued, executing) = (self.on_rq.get(), self.on_cpu.get());
        match (self.state.get(), queued, executing) {
            (TaskState::Free | TaskState::New, _, _) => Standing::Outside,
            (TaskState::Waking, _, _) => Standing::Waking,
            (TaskState::Running, true, true) => Standing::Running,
            (TaskState::Running, true, false) => Standing::Waiting,
            (TaskState::Running, false, _) => Standing::InTransit,
            (TaskState::Dead, true, _) => Standing::Exiting,
            (TaskState::Dead, false, false) => Standing::Outside,
            (TaskState::Interruptible | TaskState::Uninterruptible, true, true) => Standing::AboutToSleep,
            (TaskState::Interruptible | TaskState::Uninterruptible, true, false) => Standing::QueuedAsleep,
            (TaskState::Interruptible | TaskState::Uninterruptible, false, false) => Standing::Asleep,
            (TaskState::Interruptible | TaskState::Uninterruptible | TaskState::Dead, false, true) => {
                Standing::SwitchingOut
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Standing::{AboutToSleep, Asleep, Outside, QueuedAsleep, Running, SwitchingOut, Waiting};
    use super::*;
    use crate::platform::Lock;
    use crate::schedule::{Entry, schedule, set_current_state};
    use crate::testing::{Lab, cpus, fifo};
    use crate::{CpuId, CpuMask, Event, Nanos, Policy, TaskId};
    use alloc::vec::Vec;

    fn standing(lab: &Lab, p: TaskId) -> Standing {
        lab.k.task(p).standing()
    }

    /// The running task of CPU 0 has said that it will sleep, and is preempted before it comes to schedule().
    fn preempted_before_it_could_sleep(lab: &Lab) -> TaskId {
        let p = lab.spawn(Policy::Normal, 0);
        assert_eq!((lab.running(0), standing(lab, p)), (p, Running));
        set_current_state(lab.cpu(0), TaskState::Interruptible);
        assert_eq!(standing(lab, p), AboutToSleep);
        lab.spawn_allowed(fifo(50), 0, cpus(&[0]));
        p
    }

    #[test]
    fn from_fork_to_exit() {
        let lab = Lab::new(1, "6.1.y", &[]);
        let p = lab.spawn(Policy::Normal, 0);
        assert_eq!(standing(&lab, p), Running);
        let other = lab.spawn_unsettled(fifo(1), 0, 0, CpuMask::ALL);
        assert_eq!(standing(&lab, other), Waiting);
        lab.settle();
        assert_eq!((standing(&lab, p), standing(&lab, other)), (Waiting, Running));
        lab.block(0);
        assert_eq!((standing(&lab, p), standing(&lab, other)), (Running, Asleep));
        lab.run(crate::fork::do_exit(lab.cpu(0)));
        assert_eq!(standing(&lab, p), Outside);
    }

    /// rt-class 3.1, stage 2: such a task is made runnable where it is. Nobody chooses a CPU for it, although
    /// one is idle, and nobody queues it: its queue counts it already, and its virtual time stays.
    #[test]
    fn a_sleeper_that_is_still_queued_is_woken_where_it_stands() {
        for kernel in ["6.1.y", "2.6.36"] {
            let lab = Lab::new(2, kernel, &[]);
            let p = preempted_before_it_could_sleep(&lab);
            assert_eq!((standing(&lab, p), lab.k.task_running(p)), (QueuedAsleep, false), "{kernel}");
            let counted = || lab.k.rq(CpuId(0)).published.nr_running.get();
            let (before, vruntime) = (counted(), lab.k.task(p).se.vruntime.get());
            lab.forget();
            lab.advance(Nanos::from_millis(100));
            assert!(lab.wake(1, p));
            assert_eq!((standing(&lab, p), lab.cpu_of(p), lab.idle(1)), (Waiting, 0, true), "{kernel}");
            assert_eq!((counted(), lab.k.task(p).se.vruntime.get()), (before, vruntime), "{kernel}");
            let told: Vec<Event> = lab.k.platform.events.borrow().clone();
            let chose = |event: &Event| match event {
                Event::Decision { reason, .. } => reason.name().starts_with("wake_"),
                _ => false,
            };
            assert!(!told.iter().any(chose), "{kernel}: {told:?}");
            assert!(told.contains(&Event::Wakeup { task: p, target: CpuId(0) }), "{kernel}: {told:?}");
        }
    }

    /// The same task sleeps when it runs again, if nobody has woken it.
    #[test]
    fn a_sleeper_that_is_still_queued_sleeps_when_it_runs_again() {
        let lab = Lab::new(1, "6.1.y", &[]);
        let p = preempted_before_it_could_sleep(&lab);
        lab.block(0);
        assert_eq!((lab.running(0), standing(&lab, p)), (p, AboutToSleep));
        lab.run(schedule(lab.cpu(0), Entry::Call));
        lab.settle();
        assert_eq!(standing(&lab, p), Asleep);
    }

    /// A CPU that goes idle lets its lock go to look for work: the task that blocked is then off its queue
    /// and still on its CPU.
    #[test]
    fn switching_out_lasts_until_the_switch() {
        let lab = Lab::new(2, "6.1.y", &[]);
        let p = lab.spawn(Policy::Normal, 0);
        for _ in 0..2 {
            lab.spawn_allowed(Policy::Normal, 1, cpus(&[1]));
        }
        set_current_state(lab.cpu(0), TaskState::Interruptible);
        let mut seen = Vec::new();
        let queues = |lock| matches!(lock, Lock::Rq(_));
        lab.meanwhile(queues, schedule(lab.cpu(0), Entry::Call), |_| seen.push(standing(&lab, p)));
        let (before, after) = seen.split_first().expect("schedule() takes a lock");
        assert_eq!(*before, AboutToSleep);
        assert!(!after.is_empty() && after.iter().all(|s| *s == SwitchingOut), "{after:?}");
        assert_eq!(standing(&lab, p), Asleep);
    }
}
