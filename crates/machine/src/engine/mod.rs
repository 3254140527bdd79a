//! The engine: a machine whose CPUs are coroutines over one queue of events.
//!
//! # The wings
//!
//! Imports point down this list, never up (`cargo test -p tidy` looks):
//!
//! - `run.rs`: from a setup to an outcome. It builds a machine and takes one event after the other.
//! - `kernel/`: what CPUs do. The loop of each, interrupts, the table of steps.
//! - `observe/`: what is seen of a run from outside. Counters, snapshots, the checks.
//! - `userland/`: tasks, and the objects that they share. A file for each object, data and behaviour.
//! - `hardware/`: clock, events, locks and cache lines in time, noise; what the scheduler sees as its
//!   platform.
//! - `record/`: who is told of everything as it happens.
//!
//! # Who executes
//!
//! Each CPU is one future ([`kernel::cpu_main`]) that lives as long as the run. It is polled when its slot in
//! the queue fires, because a cost has passed, a lock was handed over or a task has executed for as long as
//! it wanted; or when an interrupt arrives while it takes them. One path is executed at a time. What it is
//! charged adds up as a debt, and the clock follows where other CPUs may act ([`hardware::Hw::settled`]).
//!
//! # The life of a step
//!
//! Where a task is in its program, one value says: its [`userland::Activity`]. A CPU that has served its
//! interrupts and need not reschedule looks at the activity of the task that runs (`kernel/execution.rs`).
//!
//! 1. *Ready*: the task's behaviour is asked for a step. The table (`kernel/steps.rs`) hands it to the object
//!    that it concerns: a mutex, a channel, a process.
//! 2. The object does at once what needs nobody to wait, and returns what is left of the step
//!    ([`userland::Rest`]): nothing, a sleep, a wakeup, or something slower. The loop of the CPU awaits that.
//!    Most steps leave one of the first three, for which the loop has room anyway.
//! 3. A step that takes time leaves another activity behind: computing, working in the kernel, spinning. The
//!    CPU lets it execute, to its end or to the next interrupt, and books what has passed. If nothing else
//!    happens before the end, the clock just moves there.
//! 4. A step that sleeps leaves the activity *in a call*, with what the call goes on with
//!    ([`userland::Resume`]), and `schedule()` takes the CPU away. When the task has been woken and has the
//!    CPU again, the loop finds the activity, and the same object goes on.
//! 5. The last step is exit: when `schedule()` has left the task for good, what is known of it is written
//!    down, and its slot can have a new user.
//!
//! A read of an empty pipe, for instance: *ready* → `Receive` → the channel queues the reader: *in a call*,
//! sleep → a writer's `Send` takes the reader from the queue: wakeup → the reader runs, *in a call* → the
//! channel gives it the message: *ready*.
//!
//! # Why so
//!
//! - A future for each step would be as large as the largest path of the kernel, and cost more than most
//!   steps do. So whatever needs nobody to wait is plain code.
//! - Locks of user space that nobody else wants cost no event: their sections are planned ahead
//!   (`userland/sections.rs`). Nor does noise on idle CPUs (`hardware/noise.rs`).
//! - Those who look at events as they happen are told by the hardware, so they lie below it; those who look
//!   at everything have to know everything. That is why `record/` and `observe/` are two.

mod hardware;
mod kernel;
mod observe;
mod record;
mod run;
mod userland;

#[doc(hidden)]
pub use hardware::bare_engine;
pub use record::Tracing;
pub use run::{Machine, Redraw, RunOptions, TimedSetting};
