//! Sleeps: a task's timer, with what delays it.

use super::caller::Caller;
use super::rest::Rest;
use crate::engine::hardware::TaskTimer;
use scheduler::registry::{HrtimerContext, TimerSlack};
use scheduler::schedule::set_current_state;
use scheduler::{Nanos, TaskState, dl};

/// clock_nanosleep to an absolute time; one in the past returns at once. The task's activity says already
/// what it does then.
pub(crate) fn sleep_until(call: Caller<'_>, until: Nanos) -> Rest {
    let hw = call.hw();
    call.syscall();
    if until <= hw.local_now() {
        if hw.spec.noise.timer_delivery.is_some() {
            fires_at_once(call);
        }
        dl::does_not_sleep(call.me.task(call.p), until, hw.local_now());
        return Rest::Nothing;
    }
    let task = call.me.task(call.p);
    let rules = &call.me.k.config.rules;
    let has_slack = !task.prio.get().is_rt() && rules.timer_slack.get() == TimerSlack::Range;
    if rules.hrtimer_context.get() == HrtimerContext::ByPolicy {
        // The policy counts, whatever priority it is lent (machine.md 1.8).
        call.with(|t| t.timer_is_soft = !task.policy.get().is_rt());
    }
    let (slot, slack) = call.with(|t| (t.timer, if has_slack { t.timer_slack } else { Nanos::ZERO }));
    let timer = TaskTimer::new(slot, until, slack);
    let base = hw.timer_base(call.me.id, timer.hard);
    call.with(|t| t.timer_base = base);
    hw.add_timer(base, timer);
    // For its hard expiry; a timer interrupt before that may serve it (machine.md 5.2).
    let jitter = hw.spec.noise.timer_jitter;
    let jitter = jitter.map_or(Nanos::ZERO, |s| hw.dice(call.me.id, |rng| s.draw(rng)));
    // A timer cannot be programmed into the past: it fires at once then.
    hw.queue.set(slot, (timer.hard + jitter).max(hw.local_now()));
    set_current_state(call.me, TaskState::Interruptible);
    Rest::Sleep
}

/// A time in the past is no special case (machine.md 5.1): the timer is set, its interrupt comes while the
/// hypervisor sets it, and finds the task before that is asleep.
fn fires_at_once(call: Caller<'_>) {
    let (hw, costs) = (call.hw(), &call.hw().spec.costs);
    hw.program_timer(call.me.id);
    let interrupt = costs.irq_entry + costs.timer_expiry + costs.wakeup + costs.irq_exit;
    hw.charge_work(interrupt + costs.timer_program);
}
