//! P8: no wakeup is lost, and none is done twice.

use super::Findings;
use super::checker::Memory;
use crate::platform::Platform;
use crate::{Event, ThisCpu};
use alloc::format;

/// P8: between sched_waking and sched_wakeup of a task lies no other one of it; afterwards it is queued where
/// it says. (That none stays open: see [`super::placement`].)
pub(super) fn event<P: Platform>(
    memory: &mut Memory,
    me: ThisCpu<'_, P>,
    event: Event,
    found: &mut Findings,
) {
    let (p, target) = match event {
        Event::Waking { task: p, .. } => {
            let again = core::mem::replace(&mut memory.tasks.of(p, me.task(p).pid.get()).waking, true);
            return found.expect("rt-class P8", !again, || {
                format!("{p:?} is woken while a wakeup of it is under way")
            });
        }
        Event::Wakeup { task, target } => {
            let begun = core::mem::take(&mut memory.tasks.of(task, me.task(task).pid.get()).waking);
            found.expect("rt-class P8", begun, || format!("a wakeup of {task:?} ends that never began"));
            (task, target)
        }
        Event::WakeupNew { task, target } => (task, target),
        _ => return,
    };
    let task = me.task(p);
    found.expect("rt-class P8", task.on_rq.get() && task.cpu.get() == target, || {
        let (on_rq, cpu) = (task.on_rq.get(), task.cpu.get());
        format!("{p:?} was woken on CPU {target}, but has on_rq {on_rq} and CPU {cpu}")
    });
}
