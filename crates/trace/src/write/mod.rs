//! Traces out: trace.dat, ftrace text, Perfetto, Chrome's JSON.
//!
//! Each has a function that writes a whole [`Trace`](crate::Trace). The writers of text and Perfetto also
//! take events one at a time.

use crate::model::{Context, Event, NeedResched};

mod activity_text;
mod annotations;
mod chrome;
mod dat;
mod ftrace_event;
mod perfetto;
mod proto;
mod run_queue;
mod text;

pub use annotations::{Annotations, CounterId, TrackId};
pub use chrome::write_chrome_json;
pub use dat::{DatHeader, DatPages, DatReport, DatSystem, write_dat_container, write_trace_dat};
pub use perfetto::{PerfettoReport, PerfettoWriter, write_perfetto};
pub use text::{TextOptions, TextWriter, TimePrecision, write_ftrace_text};

/// The bits of ftrace's `common_flags` that say what was going on; `None` where nobody knows.
fn common_flags(event: &Event) -> Option<u8> {
    let context = match event.context {
        Context::Unknown => return None,
        Context::Task => 0,
        Context::Softirq => 0x10,
        Context::Hardirq => 0x08,
    };
    let need_resched = match event.need_resched {
        NeedResched::Unknown | NeedResched::No => 0,
        NeedResched::Lazy => NeedResched::COMMON_FLAG_LAZY,
        NeedResched::Yes => NeedResched::COMMON_FLAG,
    };
    Some(context | need_resched as u8)
}
