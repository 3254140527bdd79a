//! The fair class: SCHED_NORMAL, SCHED_BATCH and SCHED_IDLE (fair-class).
//!
//! # What it promises
//!
//! On one CPU: runnable tasks get CPU time in proportion to their weights, within about one slice of each
//! other. Each task has a *virtual runtime* that advances with its CPU time, faster for light tasks and
//! slower for heavy ones (`vruntime`); whoever is furthest left runs. The rest of the class answers three
//! questions:
//!
//! - Where does somebody enter who has not been running? `cfs/place`: a sleeper at most half a latency left
//!   of the others, a new task one slice to their right.
//! - When does the running task make room? At a tick, when its slice is used up (`cfs/tick`, `cfs/slice`); at
//!   a wakeup, when the newcomer is further left by more than a granularity (`cfs/preempt`).
//! - On which CPU? At a wakeup near the waker or where it was (`select/wake`), at a fork where there is least
//!   to do (`select/idlest`), and later by balancing, which no promise about fairness covers: it evens out
//!   load, not service.
//!
//! # The pieces
//!
//! - `queue`: a CPU's queue and what is counted there, whoever decides the order: load, number of tasks, the
//!   running one, CPU time, and a list of all tasks in the order of their last enqueue; balancing walks it.
//! - `discipline`: which queue *discipline* serves, CFS or `eevdf` (whose head tells how that one goes).
//! - `cfs`: who runs, and how long, up to 6.5. It orders *entities* ([`EntityId`]): those that
//!   wait stand in the `timeline`, by virtual time. The floor of virtual time, min_vruntime, never moves
//!   back; it is published, because a sleeper that changes its CPU takes its distance from one floor to the
//!   other without a lock (`cfs/floor`). Virtual times wrap around: [`lag`] alone compares them.
//! - `hierarchy`: task groups. A group's queue is one like the CPU's own, and what stands for the group
//!   competes in its parent's.
//! - `overutilised`: whether tasks are placed by energy (`select/energy`), and left where they are.
//! - `select` and `balance`: on which CPU. They count tasks and load, and ask the discipline for little:
//!   whether a task is a warm buddy, and whether it owes service to the others.
//! - `pelt`: what tasks have asked for and used of a CPU lately. Choosing a CPU and balancing read it where
//!   `load_tracking` says so; `group` and `cache` are what both of them know of CPUs that belong together.
//!
//! Another discipline is another folder with the functions that the head of `cfs` lists.
//!
//! # A wakeup
//!
//! `select/wake` → `queue::enqueue_task` → `cfs::enqueue_entity`, which charges the running task, places the
//! sleeper and inserts it → `cfs/preempt`, which records buddies and perhaps asks for a reschedule; up to
//! 2.6.34 it also asks the `averages` of both tasks. schedule() then puts the running task back into the
//! timeline and picks: the leftmost, or a `cfs/buddy` near it.
//!
//! # A fork
//!
//! `cfs/fork` copies the parent's virtual time, imposes the penalty of `cfs/start_nice`, places the child;
//! where and when depends on the era. `select/idlest` chooses the CPU. The child's first enqueue adds the
//! floor that it finds.
//!
//! # A tick
//!
//! `cpu_load` averages the load; `cfs/tick` charges the running task and looks at its slice; without the
//! lock, `balance::rebalance_domains` looks whether a domain is due.
//!
//! # Balancing
//!
//! `balance` for busy CPUs at their ticks and, through `nohz`, for idle ones, which take no ticks; `new_idle`
//! for a CPU that runs out of work. All three: `find_busiest` reads what the CPUs publish, without locks, and
//! names the busiest one and an amount; `move_tasks` takes both locks and moves what is neither running,
//! pinned elsewhere, too heavy nor cache-hot. After repeated failures `active` asks the busy CPU itself. That
//! is the form of 2.6.36; `balance/typed` is that of 5.5 and later.
//!
//! # Older behaviours the registry brings back, and what was wrong with them
//!
//! - `START_DEBIT` off: a fork storm keeps everybody else waiting. On: each child waits for a whole period,
//!   which seed 003 measured as 6.8 ms instead of 1.6. `START_NICE`: the forking family pays instead, at up
//!   to 256 times the rate.
//! - `GENTLE_FAIR_SLEEPERS` off: a sleeper comes back a whole latency to the left, and keeps the CPU for as
//!   long.
//! - `ADAPTIVE_GRAN`, `WAKEUP_OVERLAP`, `WAKEUP_RUNNING`, `SYNC_LESS`, `SYNC_MORE`: guesses from what tasks
//!   did before; the averages are wrong for whoever changes its habits, and say nothing about wakeups in
//!   interrupts.
//! - `floor_order=without_task`: a task that held min_vruntime back is left behind it when it is reniced or
//!   moved, and runs until the others have caught up.
//! - `blocked_floor=held`: who wakes or arrives while a task that has just blocked is being replaced is
//!   placed too far left.
//! - `yield_mode=keep`: a task that yields runs on if it is still the leftmost.
//! - `idle_batch_preempts=off`, `idle_short_sleeper=off`, `idle_least_slice=equal`, `idle_never_hot=off`:
//!   SCHED_IDLE makes SCHED_BATCH wait, sleeps its way to the left, keeps the CPU for as long as others, and
//!   is kept for its warm cache.
//! - `slice_cap=off`: a thousand SCHED_IDLE tasks make the turn of each other task half a second long.
//! - `fork_path=late`: the child inherits the virtual time of whoever happens to run on its CPU.
//! - `pick_mode`, `last_set`, `buddy_gate`, `tick_latency_check`, `hot_buddy_dst_busy` (`cfs/buddy`): before
//!   seed 004 the interrupted task was forgotten at once, so request and reply ran cold on a loaded server.
//! - `tick_cmp_unsigned`: a task that is still the leftmost was sent through schedule() at each tick.
//! - `tick_vrt_cmp` off: virtual time is compared with real time, which is wrong for all weights but nice 0.
//! - `idle_sibling=off`: a woken task waits although a CPU next to it, sharing its cache, is idle.
//! - `wake_placement=passive_pull`: decides by averages, so a burst is placed by what was, not by what is.
//! - `newidle_stop=never`: a CPU idles until the next periodic balancing. `on_busiest`: one queue of pinned
//!   tasks hides the rest of the machine. `on_move` skips the search while idle times are short.
//! - `load_balance_amount=load_per_task`: two tasks on one die and none on the other are left alone.

pub(crate) mod averages;
mod balance;
mod cache;
mod cfs;
mod change;
mod cpu_load;
mod discipline;
mod eevdf;
mod group;
pub(crate) mod hierarchy;
mod hrtick;
mod overutilised;
pub(crate) mod pelt;
mod queue;
mod scale;
mod select;
mod vruntime;

pub use averages::Averages;
pub(crate) use balance::tick_stopped as idle_tick_stopped;
pub use balance::{
    Balancing, CpuBalance, FairRoot, nohz_csd_func, raise_nohz_balance, run_rebalance_domains,
};
pub(crate) use cache::entered_idle;
pub use cfs::{Buddies, IDLE_MIN_GRANULARITY, Timeline, Waiting};
pub use eevdf::{CUSTOM_SLICES, Candidate, EevdfEntity, EevdfRq, Tree};
pub use hierarchy::{
    BandwidthCounts, Group, GroupParams, GroupQueue, Groups, Pool, QueueAverages, QueueBandwidth, QuotaParams,
};
pub use pelt::{Average, Capacity, Estimate, QueuePelt, Removed, TaskPelt};
pub use queue::{CfsRq, EntityId, FairEntity, Weight};
pub use scale::Granularities;
pub use select::WakeHabits;
pub use vruntime::lag;

pub(crate) use balance::{
    active_load_balance, lose_cache, may_be_drained, note_overload, pre_schedule, raise_load_balance,
    rebalance_domains, update_avg_idle, wants_pre_schedule,
};
pub(crate) use cfs::largest_sleeper_threshold;
pub(crate) use change::{prio_changed, switched_to};
pub(crate) use cpu_load::{
    cpu_avg_load_per_task, load_weight, tick_period, update_cpu_load, weighted_cpuload,
};
pub(crate) use discipline::{
    attach_task_cfs_rq, chooses_first, detach_task_cfs_rq, has_task_fork, migrate_task_rq, place_orphan,
    preempted_by_higher_class, renice, reweight_task, task_fork, yield_task,
};
pub(crate) use eevdf::{Sums, finish_delayed_dequeue, requeue_delayed_entity, set_custom_slice};
pub(crate) use hierarchy::Living;
pub(crate) use hierarchy::bandwidth::{GroupTimer, comes_to_compete, group_timer, is_hidden, park, parked};
pub use hierarchy::bandwidth::{parks_on_return, set_limit, unthrottle_called};
pub(crate) use hrtick::{hrtick, hrtick_clear, hrtick_start};
pub(crate) use overutilised::finds_what_it_uses;
pub(crate) use queue::higher_class_charged;
pub(crate) use queue::{
    Dequeued, check_preempt_wakeup, choose, dequeue_task, enqueue_task, pick_next_task, put_prev_task,
    set_next_task, task_tick, update_curr_leaf,
};
pub(crate) use select::{inherit_habits, select_task_rq_fork, select_task_rq_wake};

#[cfg(test)]
mod tests;
