//! Sleeps: a task's timer, with what delays it.

use super::caller::Caller;
use super::rest::Rest;
use scheduler::schedule::set_current_state;
use scheduler::{Nanos, TaskState};

/// clock_nanosleep to an absolute time; one in the past returns at once. The task's activity says already
/// what it does then.
pub(crate) fn sleep_until(call: Caller<'_>, until: Nanos) -> Rest {
    let hw = call.hw();
    call.syscall();
    if until <= hw.local_now() {
        return Rest::Nothing;
    }
    hw.charge_work(hw.spec.costs.timer_program);
    let jitter = hw.spec.noise.timer_jitter;
    let jitter = jitter.map_or(Nanos::ZERO, |s| hw.dice(call.me.id, |rng| s.draw(rng)));
    let is_rt = call.me.task(call.p).prio.get().is_rt();
    let (slot, slack) = call.with(|t| (t.timer, if is_rt { Nanos::ZERO } else { t.timer_slack }));
    // A timer cannot be programmed into the past: it fires at once then.
    hw.queue.set(slot, (until + slack + jitter).max(hw.local_now()));
    set_current_state(call.me, TaskState::Interruptible);
    Rest::Sleep
}
