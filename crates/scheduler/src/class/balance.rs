//! Tasks go to other CPUs when a CPU changes what it runs: before the pick, after the switch, after a wakeup.
//!
//! Each class has a question, which is asked every time and takes nothing, and a path. The hooks are macros,
//! so that a path is awaited where it is needed: a future around its future would be made and moved at each
//! switch of an overloaded CPU, which costs one to two percent of a run.

use super::Class;

/// Before the pick: each class, from the highest, looks for tasks on other CPUs if it wants to, whatever
/// class `prev` is of. `prev_prio` was the effective priority of `prev` when schedule() began. The lock may
/// be dropped meanwhile.
macro_rules! pre_schedule {
    ($rq:ident, $prev:expr, $prev_prio:expr) => {
        if $crate::dl::wants_pre_schedule(&mut $rq, $prev) {
            $rq = $crate::dl::pre_schedule($rq).await;
            $rq.update_clock();
        }
        if $crate::rt::wants_pre_schedule(&mut $rq, $prev, $prev_prio) {
            $rq = $crate::rt::pre_schedule($rq).await;
            $rq.update_clock();
        }
        if $crate::fair::wants_pre_schedule(&mut $rq) {
            $rq = $crate::fair::pre_schedule($rq).await;
            $rq.update_clock();
        }
    };
}
pub(crate) use pre_schedule;

/// [`pre_schedule`] asks all of these but the stopper's class and the idle class, which take nothing from
/// other CPUs: with another one, it has to ask that, too.
const _: [Class; 5] = Class::ALL;

/// After the switch to `next`: its class sends others that wait behind it elsewhere. Releases the lock.
macro_rules! post_schedule {
    ($rq:ident, $next:expr) => {
        match $rq.me.task($next).class.get() {
            $crate::Class::Deadline if $crate::dl::has_pushable_tasks(&$rq) => {
                $crate::dl::post_schedule($rq).await;
            }
            $crate::Class::Rt if $crate::rt::has_pushable_tasks(&$rq) => $crate::rt::post_schedule($rq).await,
            _ => drop($rq),
        }
    };
}
pub(crate) use post_schedule;

/// After `p` was woken and queued here: its class sends it, or another one, elsewhere if that cannot run
/// here. Releases the lock.
macro_rules! task_woken {
    ($rq:ident, $p:expr) => {
        match $rq.me.task($p).class.get() {
            $crate::Class::Deadline if $crate::dl::wants_task_woken(&$rq, $p) => {
                $crate::dl::task_woken($rq).await;
            }
            $crate::Class::Rt if $crate::rt::wants_task_woken(&$rq, $p) => $crate::rt::task_woken($rq).await,
            _ => drop($rq),
        }
    };
}
pub(crate) use task_woken;
