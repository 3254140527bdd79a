//! The deadline class: SCHED_DEADLINE on many CPUs (deadline-groups A).
//!
//! # What it promises
//!
//! A task that was let in gets its run time in each of its periods, before its deadline, whatever the other
//! tasks do: those of its own class cannot take more than they asked for, and those of all others wait. On
//! one CPU the earliest deadline runs (EDF); on N CPUs the N earliest, as far as pushing and pulling gets
//! there. The price is that not everybody is let in, and that nobody overruns: who has used its run time
//! waits for its next period, idle CPU or not.
//!
//! # The pieces
//!
//! - `params`: what a task asks for, and what is refused of that. `admission`: whether there is room.
//! - `cbs`: the arithmetic of budgets and deadlines. `budget`: charging, throttling, replenishing by it.
//! - `timer`: what happens at a time: a new period, the end of what a sleeper may still claim.
//! - `active`: which bandwidth is in use on which CPU. `grub`: who reclaims what is not.
//! - `tree`: entities by deadline. `queue`: who is in it, who runs, and what others see of that.
//! - `cpudl`: which CPUs run which deadline. `select`, `push`, `pull`: on which CPU, as in the real-time
//!   class (whose head tells the three moves), by deadline in the place of priority.
//! - `counts`: jobs, misses and throttles, for reports.
//! - `preempt`, `change`: a newcomer against the running task; a task's class, parameters or affinity change.
//!
//! # A job, step by step
//!
//! The task wakes: `queue::enqueue_task` asks `cbs::wakeup` what is left of its period. It runs; each
//! accounting (tick, preemption, sleep) charges it (`budget::update_curr`). With nothing left it leaves the
//! tree, though it is runnable and may even still run: it is *throttled* until `timer` begins its next
//! period, queues it, asks for a reschedule and tries to push it where there is room. So a task alone on the
//! machine changes its CPU with each period.
//!
//! Detection is by the tick: a task may overrun by up to one, and pays that back in its next period.
//!
//! # The fair server (deadline-groups A11)
//!
//! `server`: since 6.12 an entity without a task stands for the fair class of each CPU. When it is first, the
//! pick asks the fair class for a task, and nothing of the real-time class comes before that.
//!
//! # Inheritance (deadline-groups A10)
//!
//! Who owns a mutex for which a deadline task waits borrows its *parameters*, not its budget: with each
//! exhaustion a new period begins at once, for as long as it takes.
//!
//! # Older behaviours the registry brings back, and what was wrong with them
//!
//! - `dl_wakeup=cbs`: a task whose deadline lies before the end of its period runs again as soon as that has
//!   passed, twice within one period.
//! - `dl_overload=count`: looks for work where the only waiting task is pinned, or is about to run.
//! - `dl_bw_release=immediate`: a task leaves and enters the class anew with a full budget, again and again.
//! - `dl_grub=one`: reclaimers leave nothing for other classes.

mod active;
mod admission;
mod budget;
mod cbs;
mod change;
mod counts;
mod cpudl;
mod entity;
mod grub;
mod overload;
mod params;
mod preempt;
mod pull;
mod push;
mod queue;
mod select;
mod server;
mod timer;
mod tree;

pub(crate) use admission::fits;
pub use admission::{NotAdmitted, Promises, may_take_affinity, promises, promises_hold};
pub(crate) use cbs::early_gain;
pub use counts::{DlCounts, does_not_sleep};
pub use entity::{DlCpus, DlDomain, DlEntity, DlOfTask, DlRq};
pub(crate) use grub::least_charge;
pub(crate) use params::BW_SHIFT;
pub use params::{DlParams, DlParamsError, ratio};
pub use server::Server;
pub use timer::dl_timer;
pub use tree::{DlId, Queued};

pub(crate) use active::{leaves_for_good, moved_to, policy_changes};
pub(crate) use budget::{task_tick, update_curr, yield_task};
pub(crate) use change::{pinned_changed, prio_changed, rules_changed, switched_from, switched_to};
pub(crate) use preempt::check_preempt_curr;
pub(crate) use pull::{pre_schedule, wants_pre_schedule};
pub(crate) use push::{has_pushable_tasks, post_schedule, task_woken, wants_task_woken};
pub(crate) use queue::{dequeue_task, enqueue_task, first, lend, pick_task, put_prev_task, set_next_task};
pub(crate) use select::select_task_rq;
pub(crate) use server::{fair_came, fair_ran, fair_went, idle_begins, idled, picked_in_vain};
pub(crate) use timer::{arm_group_timer, arm_rt_group_timer};

#[cfg(test)]
mod tests;
