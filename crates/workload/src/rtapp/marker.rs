//! What rt-app writes into the trace with `ftrace` set.

use super::log::{Line, signed};
use super::model::{Event, What};
use scheduler::Nanos;

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    pub thread_loop: u64,
    pub phase: usize,
    pub phase_loop: u64,
}

pub(super) fn clock_reference(now: Nanos) -> Box<str> {
    format!("rtapp_main: event=clock_ref data={}", now.0 / 1_000).into()
}

pub(super) fn task(edge: &str) -> Box<str> {
    format!("rtapp_task: event={edge}").into()
}

pub(super) fn r#loop(edge: &str, at: Position) -> Box<str> {
    let Position { thread_loop, phase, phase_loop } = at;
    format!("rtapp_loop: event={edge} thread_loop={thread_loop} phase={phase} phase_loop={phase_loop}").into()
}

pub(super) fn event(number: usize, event: &Event) -> Box<str> {
    format!("rtapp_event: id={number} type={} desc={}", type_number(event.what), event.description).into()
}

/// Microseconds, as rt-app writes them.
pub(super) fn stats(line: &Line, end: Nanos) -> Box<str> {
    let us = |span: Nanos| span.0 / 1_000;
    format!(
        "rtapp_stats: period={} run={} wu_lat={} slack={} c_period={} c_run={}",
        us(end.saturating_sub(line.start)),
        us(line.run),
        us(line.wu_lat),
        line.slack_ns / 1_000,
        us(line.c_period),
        signed(line.c_duration) / 1_000,
    )
    .into()
}

/// rt-app's numbers of event types; run is 6 and timer 10 in its tutorial. The semaphores have none there.
fn type_number(what: What) -> u32 {
    use super::model::TimerRef;
    match what {
        What::Wait { .. } => 2,
        What::Signal(_) => 3,
        What::Broadcast(_) => 4,
        What::Sleep(_) => 5,
        What::Run(_) => 6,
        What::Sync { .. } => 7,
        What::Lock(_) => 8,
        What::Unlock(_) => 9,
        What::Timer { timer: TimerRef::Shared(_), .. } => 10,
        What::Timer { timer: TimerRef::Own(_), .. } => 11,
        What::Suspend { .. } => 12,
        What::Resume { .. } => 13,
        What::Mem { .. } => 14,
        What::IoRun { .. } => 15,
        What::Runtime(_) => 16,
        What::Yield => 17,
        What::Barrier(_) => 18,
        What::Fork(_) => 19,
        What::SemPost(_) | What::SemWait(_) => 0,
    }
}
