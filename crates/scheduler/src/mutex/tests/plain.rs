//! rt-class 7.6.

use super::Bench;
use crate::mutex::{FastPath, LockOutcome, unlock_fast};
use alloc::vec;

#[test]
fn no_inheritance() {
    let (b, [owner, waiter]) = Bench::pinned([10, 20]);
    let m = b.plain();
    b.lock(owner, m);
    assert!(!b.lock(waiter, m));
    assert_eq!((b.prio(owner), b.setprios().len()), (10, 0));
}

#[test]
fn unlock_enters_the_kernel_only_with_waiters() {
    let (b, [owner, waiter]) = Bench::pinned([10, 20]);
    let m = b.plain();
    b.lock(owner, m);
    assert_eq!(unlock_fast(b.on_cpu(owner), owner, m), Ok(FastPath::Done));
    b.lock(owner, m);
    b.lock(waiter, m);
    assert_eq!(unlock_fast(b.on_cpu(owner), owner, m), Ok(FastPath::EnterKernel));
    assert_eq!(b.owner(m), None, "free from here on");
}

/// The woken task cannot know whether others wait: it takes the mutex as waited for.
#[test]
fn the_last_waiter_wakes_nobody_but_asks_the_kernel() {
    let (b, [owner, waiter]) = Bench::pinned([10, 20]);
    let m = b.plain();
    b.lock(owner, m);
    b.lock(waiter, m);
    b.unlock(owner, m);
    assert_eq!(b.owner(m), Some(waiter));
    assert!(b.unlock_unsettled(waiter, m));
    b.lock(waiter, m);
    assert!(!b.unlock_unsettled(waiter, m));
}

#[test]
fn waiters_are_woken_by_their_own_priority_then_first_come_first_served() {
    let (b, [owner, low, first, second, boosted, donor]) = Bench::pinned([50, 10, 20, 20, 15, 60]);
    let (m, pi) = (b.plain(), b.pi());
    b.lock(owner, m);
    b.lock(boosted, pi);
    b.lock(donor, pi);
    assert_eq!(b.prio(boosted), 60);
    for p in [low, boosted, first, second] {
        b.lock(p, m);
    }
    let mut served = vec![];
    let mut holder = owner;
    for _ in 0..4 {
        b.unlock(holder, m);
        holder = b.owner(m).expect("one is woken at each unlock");
        served.push(holder);
    }
    assert_eq!(served, [first, second, boosted, low]);
}

#[test]
fn whoever_comes_first_wins_even_the_unlocker() {
    let (b, [owner, waiter]) = Bench::pinned([10, 20]);
    let m = b.plain();
    b.lock(owner, m);
    b.lock(waiter, m);
    b.unlock_unsettled(owner, m);
    assert_eq!(b.try_lock(owner, m), Ok(LockOutcome::Acquired));
    b.settle();
    assert_eq!((b.owner(m), b.voluntary_switches(waiter)), (Some(owner), 2));
    b.unlock(owner, m);
    assert_eq!(b.owner(m), Some(waiter));
}
