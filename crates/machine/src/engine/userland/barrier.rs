//! Pthread barriers.

use super::activity::Resume;
use super::caller::Caller;
use super::rest::{Rest, Slow};
use crate::objects::BarrierId;
use scheduler::{TaskId, TaskState};
use std::cell::RefCell;

/// Every barrier of a run.
#[derive(Debug)]
pub(crate) struct Barriers(RefCell<Vec<Barrier>>);

#[derive(Debug)]
struct Barrier {
    /// How many tasks it waits for.
    parties: u32,
    waiting: Vec<TaskId>,
}

impl Barriers {
    /// Those that wait for so many tasks each.
    pub fn new(parties: &[u32]) -> Barriers {
        let barrier = |parties: &u32| Barrier { parties: *parties, waiting: Vec::new() };
        Barriers(RefCell::new(parties.iter().map(barrier).collect()))
    }

    /// How many tasks each waits for.
    pub fn parties(&self) -> Vec<u32> {
        self.0.borrow().iter().map(|barrier| barrier.parties).collect()
    }

    /// pthread_barrier_wait.
    pub fn wait(&self, call: Caller<'_>, id: BarrierId) -> Rest {
        call.syscall();
        let barrier = &mut self.0.borrow_mut()[id.0 as usize];
        if barrier.waiting.len() + 1 == barrier.parties as usize {
            let waiting = std::mem::take(&mut barrier.waiting);
            return call.slowly(Slow::Open { barrier: id, waiting });
        }
        barrier.waiting.push(call.p);
        call.sleeps(TaskState::Interruptible, Resume::Return)
    }

    /// The last has come: wakes the others.
    pub async fn open(&self, call: Caller<'_>, id: BarrierId, mut waiting: Vec<TaskId>) {
        for waiter in waiting.drain(..) {
            call.wake(waiter).await;
        }
        // Keep the room for the next round, unless somebody waits there already.
        let barrier = &mut self.0.borrow_mut()[id.0 as usize];
        if barrier.waiting.is_empty() {
            barrier.waiting = waiting;
        }
    }
}
