//! The scheduling classes, and everything that is asked of one.
//!
//! Paths of the kernel (`schedule`, `wakeup`, `fork`, `tick`, `policy`, `affinity`) name no class. They call
//! the functions of this folder, each of which matches on the [`Class`] of a task, or asks all classes from
//! the highest to the lowest. The names are the kernel's:
//!
//! - `queue`: enqueue and dequeue (inside activate_task and deactivate_task), pick_next_task, put_prev_task,
//!   set_curr_task, yield_task, migrate_task_rq (inside set_task_cpu).
//! - `preempt`: check_preempt_curr.
//! - `select`: select_task_rq, for a wakeup, a fork or an exec.
//! - `balance`: pre_schedule, post_schedule, task_woken.
//! - `change`: switched_from, switched_to, prio_changed, set_cpus_allowed.
//! - `fork`: task_fork. `tick`: task_tick, update_curr, and HRTICK's timer.
//! - `used`: what the tasks of all classes use of a CPU.
//! - `every`: what a class learns of tasks that another one serves, and balancing by the clock.
//!
//! A new class is a folder beside `dl/`, `rt/` and `fair/`, a variant here at its place in the order, and the
//! match arms for which the compiler asks. What a class keeps lies in [`crate::Task`], [`crate::rq::RqState`]
//! and [`crate::Scheduler`].

mod balance;
mod change;
mod every;
mod fork;
mod preempt;
mod queue;
mod select;
mod tick;
mod used;

pub(crate) use crate::fair::{Balancing, parks_on_return};
pub(crate) use crate::rt::push_away;
pub(crate) use balance::{post_schedule, pre_schedule, task_woken};
pub use change::admits;
pub(crate) use change::{PrioChange, kept_priority, lend, off_and_on, policy_changes, set_custom_slice};
pub(crate) use every::{
    active_load_balance, entered_idle, idle_tick_stopped, inherit_habits, init_task, on_wake_other,
    raise_load_balance, trigger_load_balance, update_cpu_load,
};
pub(crate) use preempt::{PreemptCause, check_preempt_curr};
pub(crate) use queue::{
    DequeueKind, EnqueueKind, ListEnd, PutKind, activate_task, count_runnable, deactivate_task,
    finish_delayed, move_queued_task, park_task, pick_next_task, put_prev_task, requeue_delayed,
    set_curr_task, set_task_cpu, uncount_runnable, yield_task,
};
pub(crate) use select::SelectFor;
pub(crate) use tick::{interrupted, pelt_clock_advances, task_tick, turn_begins, turn_ends, update_curr};
pub(crate) use used::{Used, used};

use crate::Prio;

/// Which class serves a task now; it follows the effective priority, so a boosted fair task is RT. In the
/// order of service: whatever a class has to run goes before all that lower ones have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Class {
    /// stop/.
    Stop,
    /// dl/.
    Deadline,
    /// rt/.
    Rt,
    /// fair/.
    Fair,
    /// The idle task of a CPU.
    #[default]
    Idle,
}

impl Class {
    /// All of them, the highest first.
    pub(crate) const ALL: [Class; Class::Idle as usize + 1] =
        [Class::Stop, Class::Deadline, Class::Rt, Class::Fair, Class::Idle];

    /// The class that serves a task of this effective priority, which is no idle task.
    pub(crate) fn serving(prio: Prio) -> Class {
        match prio {
            prio if prio.is_deadline() => Class::Deadline,
            prio if prio.is_rt() => Class::Rt,
            _ => Class::Fair,
        }
    }

    /// Whether this class is served before another.
    pub(crate) fn is_above(self, other: Class) -> bool {
        (self as u8) < (other as u8)
    }

    /// Whether it shares out CPU time by weight, so that a task's nice value means something in it.
    pub(crate) fn goes_by_weight(self) -> bool {
        match self {
            Class::Fair => true,
            Class::Stop | Class::Deadline | Class::Rt | Class::Idle => false,
        }
    }

    /// Whether a task's priority says all that orders it among those of its class.
    pub(crate) fn goes_by_priority(self) -> bool {
        match self {
            Class::Stop | Class::Rt | Class::Idle => true,
            Class::Deadline | Class::Fair => false,
        }
    }

    /// Whether it goes before the fair class: what old code of the kernel asks by the priority.
    pub(crate) fn is_realtime(self) -> bool {
        self.is_above(Class::Fair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The array's length holds every variant; this is their order.
    #[test]
    fn all_classes_are_asked_from_the_highest_to_the_lowest() {
        assert!(Class::ALL.windows(2).all(|pair| pair[0].is_above(pair[1])));
        assert_eq!(Class::ALL.last(), Some(&Class::default()));
    }
}
