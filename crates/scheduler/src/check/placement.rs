//! P3 and P10: a task is on exactly one run queue iff it is runnable, and on a CPU that it may use.

use super::rt_queue::rt_counted;
use super::{Findings, Moment, Queue};
use crate::Class;
use crate::fair::is_hidden;
use crate::platform::Platform;
use crate::{Standing, TaskId};
use alloc::format;

/// P10: what a queue holds knows that it is queued there. So nothing can be on two queues.
pub(super) fn queued_once<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (k, rq) = (moment.k, &*queue.rq);
    let rt = rq.rt.queued(&k.tasks).take(rq.rt.nr_queued() as usize);
    let mut check = |p: TaskId, class: Class| {
        let task = k.task(p);
        let right = task.on_rq.get() && task.cpu.get() == rq.cpu && task.class.get() == class;
        found.expect("rt-class P10", right, || {
            let (on_rq, cpu) = (task.on_rq.get(), task.cpu.get());
            format!("CPU {}: its {class:?} queue holds {p:?}, which has on_rq {on_rq} and CPU {cpu}", rq.cpu)
        });
    };
    rq.dl.queued().filter_map(|queued| queued.id.task()).for_each(|p| check(p, Class::Deadline));
    rt.for_each(|p| check(p, Class::Rt));
    for level in queue.levels(k) {
        level.queued(k).for_each(|p| check(p, Class::Fair));
    }
}

/// P10: the running task is queued here, and knows that it runs.
pub(super) fn runs_what_is_queued<P: Platform>(
    moment: &Moment<'_, P>,
    queue: &Queue<'_>,
    found: &mut Findings,
) {
    let rq = &*queue.rq;
    let task = moment.k.task(rq.curr);
    found.expect("rt-class P10", task.cpu.get() == rq.cpu && task.on_cpu.get(), || {
        format!("CPU {} runs {:?}, which is assigned to CPU {}", rq.cpu, rq.curr, task.cpu.get())
    });
    let idle = rq.curr == rq.idle;
    found.expect("rt-class P10", idle || task.on_rq.get(), || {
        format!("CPU {} runs {:?}, which is not queued", rq.cpu, rq.curr)
    });
}

/// P3 and P10 at rest: runnable tasks are queued, on allowed CPUs; the others are not, and nobody is half
/// awake. (Before, somebody may be about to move a task whose affinity has just changed.)
pub(super) fn runnable_is_queued<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let k = moment.k;
    let left_out = |q: &Queue<'_>| q.rq.rt.nr_queued() - rt_counted(moment, q);
    let queued: u32 = moment.queues().map(|q| q.rq.nr_running + left_out(&q)).sum();
    let mut runnable = 0;
    for p in moment.tasks() {
        let task = k.task(p);
        let (standing, on_rq, cpu) = (task.standing(), task.on_rq.get(), task.cpu.get());
        // A deadline task may be runnable, and wait for its next period beside the queue.
        let waits = match task.class.get() {
            Class::Deadline => !task.dl.is_queued(),
            // Or be below a throttled queue.
            Class::Fair => is_hidden(k, task),
            Class::Stop | Class::Rt | Class::Idle => false,
        };
        runnable += u32::from(on_rq && !waits);
        found.expect("rt-class P8", standing != Standing::Waking, || {
            format!("the wakeup of {p:?} was never finished")
        });
        // One that sleeps may be queued: it is about to leave, or was preempted before it could.
        let right = standing == Standing::Waking || !standing.is_passing() && on_rq == standing.is_queued();
        found.expect("rt-class P10", right, || {
            format!("{p:?} is {standing:?}: in state {:?} with on_rq {on_rq}", task.state.get())
        });
        found.expect("rt-class P3", !on_rq || task.may_run_on(cpu), || {
            format!("{p:?} is queued on CPU {cpu}, but may run on {} only", task.cpus_allowed.get())
        });
        let runs = k.rq(cpu).published.curr.get() == p;
        found.expect("rt-class P10", task.on_cpu.get() == runs, || {
            format!(
                "{p:?} has on_cpu {}, CPU {cpu} runs {:?}",
                task.on_cpu.get(),
                k.rq(cpu).published.curr.get()
            )
        });
    }
    found.expect("rt-class P10", queued == runnable, || {
        format!("the queues hold {queued} tasks, {runnable} are on_rq")
    });
}
