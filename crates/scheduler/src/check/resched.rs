//! E17: who may be asked lazily (eevdf-class 5.1).

use super::{Findings, Moment, Queue};
use crate::platform::Platform;
use crate::rq::Resched;
use alloc::format;

/// eevdf-class E17: an idle CPU is asked in full; and nobody is asked lazily in a kernel that has never
/// preempted so.
pub(super) fn asked_lazily<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let lazily = queue.published.resched.get() == Resched::Lazy;
    let idle = queue.rq.curr == queue.rq.idle;
    found.expect("eevdf-class E17", !lazily || (moment.past.lazy && !idle), || {
        format!("CPU {} is asked lazily; it runs {:?}", queue.rq.cpu, queue.rq.curr)
    });
}
