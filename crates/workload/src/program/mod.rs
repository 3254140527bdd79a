//! The program language of tasks: a [`Block`] is a tree of steps, actions and loops;
//! a [`Program`] is a checked block that any number of tasks can run.
//!
//! ```
//! use scheduler::Nanos;
//! use workload::program::{Block, Overrun, Program, TimeVar};
//! use workload::latency::LatencyRecorder;
//!
//! // cyclictest in five lines: an absolute timer, the latency of each wakeup, a little work.
//! let (next, latency) = (TimeVar(0), LatencyRecorder::new());
//! let period = Nanos::from_micros(100);
//! let cycle = Block::new()
//!     .sleep_until(next)
//!     .probe(next, &latency)
//!     .advance(next, period, Overrun::Skip)
//!     .run(Nanos(1_500));
//! let program = Program::new(Block::new().advance(next, period, Overrun::CatchUp).forever(cycle))?;
//! let behaviour = program.start();
//! # Ok::<(), workload::program::ProgramError>(())
//! ```
//!
//! Time passes only in steps of the machine: those of [`Op::Step`] and [`Op::Bursts`], and actions that draw
//! or make one. The others ([`Action::takes_a_step`] is false) happen between two steps. Every pass of an
//! endless loop must take a step; [`Program::new`] refuses others.

mod action;
mod block;
mod code;
mod interpreter;
mod template;
mod text;

pub use action::{Action, Observer, Overrun, Target, TimeVar};
pub use block::{Block, Op, Times};
pub use code::{Program, ProgramError};
pub use interpreter::Interpreter;
pub(crate) use template::FAIR_TIMER_SLACK;
pub use template::{Child, Template};
pub use text::Text;
