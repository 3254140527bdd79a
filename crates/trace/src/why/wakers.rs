//! Who woke the waker: the chain of wakeups back to an interrupt, or round in a circle.

use super::wait::{Began, Wait, Waker};
use super::{RecordedWaits, left};
use crate::model::Pid;
use schema::Nanos;
use schema::why::{WhyOrigin, WhyWaker};

/// So many wakers are told.
const MOST: usize = 32;

/// The wakers of a wait, the nearest first, and what began it all.
pub fn wakers(of: &RecordedWaits<'_>, wait: &Wait) -> (Vec<WhyWaker>, WhyOrigin) {
    let mut wakers: Vec<WhyWaker> = Vec::new();
    let mut met: Vec<Pid> = vec![wait.task.pid];
    let mut wait = *wait;
    loop {
        let by = match wait.waker {
            _ if wait.began == Began::Preempted => return (wakers, WhyOrigin::Preempted {}),
            _ if wait.began == Began::Unseen => return (wakers, WhyOrigin::NotRecorded {}),
            Waker::Task(by) => by,
            Waker::Interrupt(handled) => {
                let handler = handled.map(|handled| handled.named(&of.trace.strings));
                return (wakers, WhyOrigin::Handler { handler });
            }
            Waker::Unknown => return (wakers, WhyOrigin::NotRecorded {}),
        };
        if wakers.len() == MOST {
            return (wakers, WhyOrigin::Longer {});
        }
        let before = wait.wakers_wait.map(|number| of.course.waits[number as usize]);
        wakers.push(WhyWaker {
            task: of.task(by),
            woke: Nanos(wait.woken_ns),
            woken: before.map(|before| Nanos(before.woken_ns)),
            waited: Nanos(wait.waker_waited_ns),
            left: before.and_then(|before| before.left).map(left),
        });
        if met.contains(&by.pid) {
            return (wakers, WhyOrigin::Cycle { task: of.task(by) });
        }
        met.push(by.pid);
        let Some(before) = before else { return (wakers, WhyOrigin::NotRecorded {}) };
        wait = before;
    }
}
