//! A tick while a task of a class runs (rt-class 8.2, fair-class 6.1).

use super::Class;
use crate::platform::Platform;
use crate::rq::RqGuard;
use crate::{fair, rt};

/// Accounts the running task, and asks for a reschedule if its turn is over.
pub(crate) fn task_tick<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let curr = rq.curr;
    match rq.me.task(curr).class.get() {
        Class::Rt => {
            rt::task_tick(rq, curr);
            fair::pelt::real_time_ran(rq);
        }
        Class::Fair => {
            fair::pelt::ran(rq, curr);
            fair::task_tick(rq, curr);
        }
        Class::Idle => {}
    }
}
