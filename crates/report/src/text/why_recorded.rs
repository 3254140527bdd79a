//! What a recording tells of a wait beside its stretches.

use super::paragraph::wrap;
use super::why::who;
use crate::numbers::duration_ns;
use schema::Nanos;
use schema::why::{Handler, HandlerContext, WhyLeft, WhyOrigin, WhyRecorded, WhyWaker};

/// So many wakers are shown; of longer chains the beginning and the end tell most.
const SHOWN: usize = 8;

/// How the task had left its CPU, and who woke whom.
pub(super) fn told(told: &WhyRecorded) -> String {
    let mut lines = String::new();
    if let (Some(left), Some(wait)) = (&told.left, told.wait) {
        let WhyLeft { at, state } = left;
        let text =
            format!("{state} ({}) since {}, {} before", meaning(state), clock(*at), duration_ns(wait.0));
        lines += &wrap(&text, "state   ", "        ");
    }
    let mut chain: Vec<String> = told.wakers.iter().take(SHOWN).map(waker).collect();
    if told.wakers.len() > SHOWN {
        chain.push(format!("({} more wakers)", told.wakers.len() - SHOWN));
    }
    chain.extend(origin(&told.origin));
    if !chain.is_empty() {
        lines += &wrap(&chain.join(", "), "woken   ", "        ");
    }
    lines
}

/// A time on the recording's own clock, as `trace-cmd report` and `perf script` print it.
pub(crate) fn clock(time: Nanos) -> String {
    format!("{}.{:06}s", time.0 / 1_000_000_000, time.0 / 1_000 % 1_000_000)
}

fn waker(waker: &WhyWaker) -> String {
    let own = match (waker.woken, &waker.left) {
        (None, _) => "of whose own wakeup nothing is recorded".to_owned(),
        (Some(_), left) => {
            let state = left.as_ref().filter(|left| left.state == "D").map_or("", |_| ", behind a D sleep");
            format!("which had waited {} itself{state}", duration_ns(waker.waited.0))
        }
    };
    format!("by {} at {}, {own}", who(&waker.task), clock(waker.woke))
}

fn origin(origin: &WhyOrigin) -> Option<String> {
    match origin {
        WhyOrigin::Handler { handler: Some(one) } => Some(format!("by {}", handler(one))),
        WhyOrigin::Handler { handler: None } => Some("by an interrupt".to_owned()),
        WhyOrigin::Cycle { task } => Some(format!("and so on in a circle, which {} closes", who(task))),
        WhyOrigin::Longer {} => Some("and so on".to_owned()),
        // What is said of the task, or of the last waker, says it.
        WhyOrigin::Preempted {} | WhyOrigin::NotRecorded {} => None,
    }
}

/// An interrupt in words.
pub(crate) fn handler(handler: &Handler) -> String {
    match handler.context {
        HandlerContext::Hardirq => format!("interrupt: {}", handler.name),
        HandlerContext::Softirq => format!("soft interrupt: {}", handler.name),
    }
}

/// What was due, where an interrupt woke the task.
pub(super) fn interrupted(by: Option<&Handler>) -> String {
    by.map_or("an interrupt woke it".to_owned(), |by| format!("an interrupt woke it ({})", by.name))
}

/// What a state means that `sched_switch` writes.
pub(crate) fn meaning(state: &str) -> &'static str {
    match state {
        "R" | "R+" => "it could have gone on",
        "S" => "asleep",
        "D" => "asleep and not to be disturbed, as for I/O",
        "I" => "a kernel thread without work",
        "T" | "t" => "stopped",
        "P" => "parked",
        _ => "not executing",
    }
}
