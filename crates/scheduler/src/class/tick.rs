//! A tick while a task of a class runs (rt-class 8.2, fair-class 6.1).

use super::Class;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{Nanos, TaskId, dl, fair, frequency, rt};

/// Accounts the running task, and asks for a reschedule if its turn is over.
pub(crate) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let curr = rq.curr;
    match rq.me.task(curr).class.get() {
        Class::Deadline => {
            dl::task_tick(rq);
            fair::pelt::higher_class_ran(rq, Class::Deadline);
        }
        Class::Rt => {
            rt::task_tick(rq, curr);
            fair::pelt::higher_class_ran(rq, Class::Rt);
        }
        Class::Fair => fair::task_tick(rq, curr),
        Class::Stop | Class::Idle => {}
    }
    frequency::utilisation_changed(rq);
}

/// Accounts the running task, and what of its class is used up by that.
pub(crate) fn update_curr<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let curr = rq.curr;
    match rq.me.task(curr).class.get() {
        Class::Deadline => dl::update_curr(rq),
        Class::Rt => rt::update_curr(rq),
        Class::Fair => fair::update_curr_leaf(rq, curr),
        Class::Stop | Class::Idle => {}
    }
}

/// Interrupts took so much of the time up to the queue's clock (fair-placement 1.9).
pub(crate) fn interrupted<P: Platform>(rq: &RqGuard<'_, P>, taken: Nanos) {
    fair::pelt::interrupted(rq, taken);
}

/// The queue's clock has been updated: that of its averages follows (deadline-groups C3).
pub(crate) fn pelt_clock_advances<P: Platform>(rq: &RqGuard<'_, P>) {
    fair::pelt::pelt_clock_advances(rq);
}

/// `next` was picked: where its class has turns that a timer ends (HRTICK, eevdf-class 5.4), it is set now.
pub(crate) fn turn_begins<P: Platform>(rq: &mut RqGuard<'_, P>, next: TaskId) {
    match rq.me.task(next).class.get() {
        Class::Fair => fair::hrtick_start(rq, next),
        Class::Stop | Class::Deadline | Class::Rt | Class::Idle => fair::hrtick_clear(rq),
    }
}

/// That timer has fired.
pub(crate) fn turn_ends<P: Platform>(rq: &mut RqGuard<'_, P>) {
    match rq.me.task(rq.curr).class.get() {
        Class::Fair => fair::hrtick(rq),
        Class::Stop | Class::Deadline | Class::Rt | Class::Idle => {}
    }
}
