//! Who is told of everything as it happens: the recorder, and the checker of a run that is checked. They know
//! the scheduler and no engine; the hardware tells them.

mod by_class;
mod recorder;
mod watch;
pub(crate) mod words;

pub(crate) use by_class::Change;
pub use recorder::Tracing;
pub(crate) use recorder::{Recorder, add_latency};
pub(crate) use watch::Watch;
