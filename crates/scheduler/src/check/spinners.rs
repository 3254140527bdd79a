//! MI4 (machine.md 8.2): who spins for a PI mutex is its top waiter, and the owner is on a CPU. So there is
//! one at most. Who spins for a mutex of the kernel, and looks, has an owner before it that is on a CPU.

use super::{Findings, Moment, Queue};
use crate::mutex::Form;
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
    if k.mutexes.form(m) == Form::Kernel {
        let has_turn = top == Some(p) || k.mutexes.first_spinner(m) == Some(p);
        found.expect("machine.md MI4", !has_turn || runs && owner != Some(p), || {
            format!("{p:?} spins for {m:?} of the kernel, owned by {owner:?}, which runs: {runs}")
        });
        return;
    }
    found.expect("machine.md MI4", runs && top == Some(p), || {
        format!("{p:?} spins for {m:?} of {owner:?}, which runs: {runs}; the top waiter is {top:?}")
    });
}
