//! The engine: hardware, CPUs and tasks as coroutines over one event queue.
//!
//! Each CPU is one future ([`cpu::cpu_main`]) that lives as long as the run and is polled when something happens to
//! it: its work goes on (a cost has passed, a lock was handed over, a task has executed for as long as it wanted) or
//! an interrupt arrives while it takes them. Everything that takes time goes through [`hw::Hw`].

mod cpu;
mod hw;
mod kthreads;
mod lines;
mod locks;
mod mutexes;
mod process;
mod queue;
mod recorder;
mod run;
mod sim;
mod steps;
mod warmth;
mod world;

pub use locks::LockStats;
pub use recorder::{Record, RecordKind, Who};
pub use run::{Machine, RunOptions, TimedSetting};
pub use sim::CommOf;
