//! Traces out: ftrace text and Perfetto.
//!
//! Both writers take events one at a time, so that a simulator can write while it runs, and both have a function that
//! writes a whole [`Trace`](crate::Trace).

mod annotations;
mod ftrace_event;
mod perfetto;
mod proto;
mod run_queue;
mod text;

pub use annotations::{Annotations, CounterId, TrackId};
pub use perfetto::{PerfettoReport, PerfettoWriter, write_perfetto};
pub use text::{TextOptions, TextWriter, TimePrecision, write_ftrace_text};
