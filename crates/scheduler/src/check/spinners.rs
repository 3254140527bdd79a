//! MI4 (machine.md 8.2): who spins for a PI mutex is its top waiter, and the owner is on a CPU. So there is
//! one at most.

use super::{Findings, Moment, Queue};
use crate::platform::Platform;
use alloc::format;

/// Asked of a CPU that is settled: a spinner that has been told of a change is about to look, and counts as
/// one no more.
pub(super) fn look<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, p) = (moment.k, queue.rq.curr);
    let Some(m) = k.task(p).pi.spins_for() else { return };
    let owner = k.mutexes.living_owner(m, &k.tasks);
    let runs = owner.is_some_and(|owner| k.task(owner).on_cpu.get());
    let top = k.mutexes.top_waiter(m);
    found.expect("machine.md MI4", runs && top == Some(p), || {
        format!("{p:?} spins for {m:?} of {owner:?}, which runs: {runs}; the top waiter is {top:?}")
    });
}
