//! Paths of several CPUs at once: locks that really exclude, and an order of events drawn from a seed.

use super::Lab;
use crate::platform::Lock;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// A small generator of our own: nothing else here needs one.
#[derive(Clone, Copy, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1)
    }

    /// 0 to `n` − 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// Locks of a race; outside of one every lock is free.
#[derive(Debug, Default)]
pub struct RaceLocks {
    racing: Cell<bool>,
    held: RefCell<Vec<Lock>>,
}

impl RaceLocks {
    pub fn is_on(&self) -> bool {
        self.racing.get()
    }

    /// Lets the others go first, in a race.
    pub async fn step_aside(&self) {
        let mut aside = !self.racing.get();
        poll_fn(|_| if core::mem::replace(&mut aside, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    pub async fn acquire(&self, lock: Lock) {
        self.step_aside().await;
        poll_fn(|_| if self.take(lock) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    pub fn take(&self, lock: Lock) -> bool {
        let mut held = self.held.borrow_mut();
        let free = !held.contains(&lock);
        if self.racing.get() && free {
            held.push(lock);
        }
        free
    }

    pub fn release(&self, lock: Lock) {
        self.held.borrow_mut().retain(|l| *l != lock);
    }
}

/// What a CPU does in a race.
pub type RacePath<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

impl Lab {
    /// Runs paths to their ends, interleaved at their locks.
    pub fn race(&self, dice: &mut Dice, mut paths: Vec<RacePath<'_>>) {
        let locks = &self.k.platform.race;
        locks.racing.set(true);
        let mut polls = 0;
        while !paths.is_empty() {
            let i = dice.below(paths.len());
            if paths[i].as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                drop(paths.swap_remove(i));
            }
            polls += 1;
            assert!(polls < 1_000_000, "the race does not end; held: {:?}", locks.held.borrow());
        }
        locks.racing.set(false);
        assert!(locks.held.borrow().is_empty(), "never released: {:?}", locks.held.borrow());
    }
}
