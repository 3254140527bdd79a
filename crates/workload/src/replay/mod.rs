//! Replay of a recorded trace: what its tasks did, without what the scheduler made of it.
//!
//! # From the trace to programs
//!
//! A run's own trace tells them (`told`): `programs` takes them as they are, and a replay is the run again.
//! From all other traces they are inferred:
//!
//! `walk` goes through the events in order of time and drafts a program for each task; `timers` and
//! `affinity` look at whole tasks afterwards; `extract` puts the drafts into words, a [`Recording`].
//!
//! - **Bursts** are CPU time between two sleeps. Preemptions and migrations inside are the scheduler's doing
//!   and leave no trace in the program; a `sched_yield` does, as far as it can be told from a preemption
//!   (`yields`).
//! - **Wakeups by a task** become a step of that task, at the point of its own CPU time at which
//!   `sched_waking` was recorded: whoever is delayed in a what-if delays those who wait for it. The sleeper
//!   has a channel with room for any number of tokens, so none is lost if the order changes. Who wakes on
//!   although it is to be preempted has not left the kernel: those wakeups are one call, and the preemption
//!   comes after the last. Where no flags tell, wakeups that are close together are (`walk/calls`).
//! - **Wakeups by interrupts** have causes, which events of timers, devices and packets show (`causes`);
//!   without those events the state of the sleeper and the pattern of its sleeps tell some of them.
//! - **Wakeups by timers** that the task set itself are set again, as far as they have a pattern (`timers`)
//!   as points in time.
//! - **Waits for devices** last as long as they lasted, from when the request is given to the device
//!   (`blocks`), or from when the task sleeps in state D (`devices`), and the kernel's workers take the piece
//!   of work that comes first (`work`).
//! - **Packets** over the loopback device are their sender's wakeups; one that comes after its receiver has
//!   sent something to the network is the answer, so long after that (`packets`).
//! - **Other wakeups** come from outside at their recorded times: packets that nobody asked for, devices
//!   without a request, and what the trace hides; the user may say otherwise (`assumption`).
//! - **Forks** are steps of the parent; **tasks that exist from the start** fall asleep in a lead-in before
//!   time 0 of the trace, or start running there.
//! - **Priorities** are those that events show, those of its children included, inheritance left out:
//!   `sched_pi_setprio` is the kernel's doing, in a task that begins to wait for a mutex, or unlocks one. A
//!   replay lends and gives back at the same points of these tasks' progress.
//! - **Mutexes** take the place of wakeups where they can be inferred: plain ones where nearly every lock
//!   shows, those with inheritance if the user wants it (`mutexes`, [`RecordedLocks`]).
//! - **Affinities** are not in a trace. Some show (`whereabouts`, `affinity`), others the user may give
//!   ([`KnownAffinity`]); that a command may have been bound is said where nothing shows (`stayed`). What the
//!   stopper did for a task is an affinity that it set, or its exec ([`ReplayStep::Bind`]). A machine of
//!   another size has them cut to the CPUs that it has (`fitting`).
//! - **The tick** of the recording kernel shows in the times at which fair tasks leave and soft timers wake
//!   (`ticks`):
//!   [`Recording::hz`], [`Recording::ticks_at`]. A replay under another rate has other slices; one with its
//!   ticks elsewhere has two preemptions for one, because soft timers expire in the tick.
//! - **Real-time throttling** shows in CPUs that idle beside a waiting real-time task, and in limits of task
//!   groups (`throttling`): [`Recording::throttling`].
//!
//! A recording can be written as a file that people change, and read back (`file`); single tasks can be
//! changed without one (`overrides`). `roles` tells the recorded command from what else ran, `groups` in
//! which task groups its tasks were, `quotas` who had a limit then.
//!
//! # On the machine
//!
//! `reading` has the recording and what the user changes, `load` is the [`Load`](crate::load::Load), `player`
//! plays one task. The recorded bursts contain what the recording machine's kernel did around them, and the
//! simulated one does it again; `overhead` takes it out once. How long the way from a wakeup to the woken
//! task took is an input, too: `paths`.
//!
//! # How far to trust it
//!
//! [`Replay::fidelity`] compares a run on the machine and kernel of the recording with the recording itself,
//! both read by the same rules (`accounted`). What a recording cannot tell stays unknown there and in every
//! what-if: loads that would have behaved differently (an adaptive program, a timeout that a faster run would
//! not hit), spinning on locks (it is CPU time like any other), and cache misses (bursts keep the recorded
//! ones). Two effects are worth knowing:
//!
//! - A wait that is no inferred mutex is a dependency on whoever ended it. Where a replay runs in another
//!   order, such a wait may vanish because the token is there already, but none can arise that was not
//!   recorded.
//! - Interrupts of unknown cause come at their recorded times however fast the machine is; a what-if says
//!   when it would end if those waits lasted as long as they were recorded.

mod accounted;
mod affinity;
mod assumption;
mod autogroup;
mod blocks;
mod causes;
mod caveats;
mod counts;
mod deadline;
mod devices;
mod ending;
mod extract;
mod fidelity;
mod file;
mod fitting;
mod groups;
mod lives;
mod load;
mod mutexes;
mod objects;
mod overhead;
mod overrides;
mod packets;
mod paths;
mod place;
mod player;
mod programs;
mod quotas;
mod reading;
mod recording;
mod roles;
mod seen_cpus;
mod stayed;
mod stuck;
mod task_selector;
mod throttling;
mod ticks;
mod timers;
mod track;
mod walk;
mod whereabouts;
mod work;
mod yields;

pub use assumption::Waits;
pub use caveats::Caveats;
pub use counts::Counts;
pub use ending::Ending;
pub use fidelity::{Order, Pair, ReplayFidelity, TaskFidelity};
pub(crate) use file::path_lines;
pub use file::{Origin, ReadWorkload, WorkloadError, is_workload};
pub use groups::ReplayGroups;
pub use load::{Replayed, ReplayedTask};
pub use overrides::{Changed, Override, WorkFactor};
pub use reading::{KnownAffinity, ReadOptions, Replay};
pub use recording::{
    Begin, Brought, Evidence, FairPolicy, Interrupt, Message, Pinned, Placement, RecordedTask, Recording,
    ReplayStep, TaskIndex, ToldTask, Waking,
};
pub use roles::{RecordedCommand, Role, command_pids};
pub use schema::RecordedLocks;
pub use task_selector::TaskSelector;
pub use throttling::Throttling;

#[cfg(test)]
mod tests;
