//! A tick while a task of a class runs (rt-class 8.2, fair-class 6.1).

use super::Class;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{TaskId, dl, fair, rt};

/// Accounts the running task, and asks for a reschedule if its turn is over.
pub(crate) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let curr = rq.curr;
    match rq.me.task(curr).class.get() {
        Class::Deadline => {
            dl::task_tick(rq);
            fair::pelt::real_time_ran(rq);
        }
        Class::Rt => {
            rt::task_tick(rq, curr);
            fair::pelt::real_time_ran(rq);
        }
        Class::Fair => fair::task_tick(rq, curr),
        Class::Stop | Class::Idle => {}
    }
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
