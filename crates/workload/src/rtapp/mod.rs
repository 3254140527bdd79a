//! rt-app: reads its JSON files and runs what they describe.
//!
//! rt-app (scheduler-tools/rt-app, documented in its doc/tutorial.txt) is an interpreter: each thread walks
//! its phases and events and reads the clock in between. So is this: a thread here is one behaviour that
//! walks the same lists, decides with the clock that it reads, and hands the machine one step at a time.
//!
//! # From the file to the machine
//!
//! `lexical` → `json` → `read`, `read_global`, `read_task`, `read_event` → `model` → `check` make an
//! [`RtApp`] or an
//! [`RtAppError`] with its place. [`Load::build`](crate::load::Load::build) knows the machine: it makes
//! mutexes, barriers and channels and spawns the threads. `thread` runs one of them, `shared` holds what they
//! have in common, `log` what they measure.
//!
//! # Dialects
//!
//! rt-app itself reads JSON with comments, trailing commas and single quotes, and keeps of a repeated key
//! only the last value, at the place of the first. Its wrapper workgen keeps all of them, under names of its
//! own, and allows `"suspend"` without a value. Most published files mean the second, so it is the default;
//! see [`RtAppDialect`].
//!
//! # What the events mean here
//!
//! | event | in rt-app | here |
//! |---|---|---|
//! | `run` µs | whole calibration loops of `calibration` ns; measured loops otherwise | CPU time of the
//! nominal machine, rounded down to whole loops if `calibration` is a number | | `runtime` µs | loops of 32
//! µs until the wall clock has passed | a busy-wait on the clock, then the rest of the loop that was under
//! way | | `mem` bytes | memset of a buffer | CPU time by [`cost::MEMSET`], with the buffer as working set |
//! | `iorun` bytes | writes from that buffer to `io_device` | kernel time by [`cost::WRITE_CALL`] and, unless
//! /dev/null, [`cost::PAGE_CACHE_COPY`]; no device is waited for | | `sleep` µs | nanosleep | the same | |
//! `timer` | absolute sleep until a time that moves on by `period`; one that is late starts anew from now, or
//! not with `"mode": "absolute"` | the same | | `lock`, `unlock` | pthread mutex, PI with `pi_enabled` | the
//! same | | `wait`, `signal`, `broad`, `sync` | pthread condition variable | mutex, list of waiters and a
//! channel for each: no signal is lost between unlock and sleep | | `suspend`, `resume` | wait and broadcast
//! on the condition of that name, with the mutex of that name around | the same | | `barrier` | all threads
//! that mention it | the same | | `sem_wait`, `sem_post` | semaphore that starts at 0 | a channel without
//! limit | | `fork` | pthread_create of a named task, at most 1024 times each | the same | | `yield` |
//! sched_yield | the same |
//!
//! A `taskgroup` is a task group of the machine, with what the user says of it (`groups`), or else as the
//! kernel makes it; a phase cannot move a thread into another one.
//!
//! Not modelled, and refused: clamps of utilisation. Not modelled, and said by
//! [`RtApp::notes`]: slices of fair tasks (`dl-runtime`), which only EEVDF knows, NUMA memory binding, log
//! files. Threads start at time 0 with the policy of their task (rt-app sets it after pthread_create), there
//! is no main thread, and the threads that are blocked when `duration` is over stay so (rt-app wakes and ends
//! them).

pub mod cost;
mod log;

mod build;
mod check;
mod error;
mod json;
mod keys;
mod lexical;
mod main_thread;
mod marker;
mod model;
mod note;
mod read;
mod read_event;
mod read_global;
mod read_task;
mod shared;
mod source;
mod thread;

pub use error::{Fault, RtAppError};
pub use model::RtApp;
pub use note::{Note, NoteKind};
pub use schema::RtAppDialect;
pub use source::Position;

/// Reads an rt-app file. `file_name` is for messages only.
///
/// # Errors
///
/// Whatever rt-app would refuse, what cannot be modelled, and mistakes that rt-app finds
/// only while it runs, or never: see [`Fault`].
pub fn parse(text: &str, file_name: &str, dialect: RtAppDialect) -> Result<RtApp, RtAppError> {
    read::file(text, file_name, dialect)
}

#[cfg(test)]
mod tests;
