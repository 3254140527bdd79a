//! Futexes: words to wait on.

use super::activity::Resume;
use super::caller::Caller;
use super::rest::Rest;
use crate::objects::FutexId;
use scheduler::{Prio, TaskId, TaskState};
use std::cell::RefCell;
use std::collections::VecDeque;

/// The waiters of every futex.
#[derive(Debug)]
pub(crate) struct Futexes(RefCell<Vec<WaitQueue>>);

/// RT waiters by their own priority, all others behind them; first come first served among equals (rt-class
/// 7.6).
#[derive(Debug, Default)]
struct WaitQueue(VecDeque<Waiting>);

#[derive(Clone, Copy, Debug)]
struct Waiting {
    task: TaskId,
    prio: Prio,
}

impl WaitQueue {
    fn push(&mut self, task: TaskId, normal_prio: Prio) {
        let prio = normal_prio.min(Prio::NO_RT);
        let at = self.0.partition_point(|w| w.prio <= prio);
        self.0.insert(at, Waiting { task, prio });
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.0.pop_front().map(|w| w.task)
    }
}

impl Futexes {
    /// So many.
    pub fn new(number: u32) -> Futexes {
        Futexes(RefCell::new((0..number).map(|_| WaitQueue::default()).collect()))
    }

    /// How many there are.
    pub fn number(&self) -> u32 {
        self.0.borrow().len() as u32
    }

    /// FUTEX_WAIT.
    pub fn wait(&self, call: Caller<'_>, id: FutexId) -> Rest {
        call.syscall();
        self.0.borrow_mut()[id.0 as usize].push(call.p, call.me.task(call.p).normal_prio.get());
        call.sleeps(TaskState::Interruptible, Resume::Return)
    }

    /// FUTEX_WAKE, in the kernel.
    pub async fn wake(&self, call: Caller<'_>, id: FutexId, count: u32) {
        for _ in 0..count {
            // Others may come to wait while one is woken.
            let next = self.0.borrow_mut()[id.0 as usize].pop();
            let Some(waiter) = next else { break };
            call.wake(waiter).await;
        }
    }
}
