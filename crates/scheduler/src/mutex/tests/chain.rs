//! Chains of waiting owners (rt-class 7.2 step 4; E16), and P13 over random histories.

use super::Bench;
use crate::mutex::{Form, LockError, LockOutcome, MAX_LOCK_DEPTH, WaitsFor};
use crate::platform::Lock;
use crate::testing::sched_setscheduler;
use crate::testing::{Dice, fifo};
use crate::{MutexId, Prio, Reason, TaskId};
use alloc::vec::Vec;

/// E16.
#[test]
fn a_priority_runs_along_the_chain() {
    let (b, [c, bb, a]) = Bench::pinned([10, 20, 30]);
    let (of_c, of_b) = (b.pi(), b.pi());
    b.lock(c, of_c);
    b.lock(bb, of_b);
    b.lock(bb, of_c);
    assert_eq!(b.prio(c), 20);
    b.lock(a, of_b);
    assert_eq!((b.prio(bb), b.prio(c)), (30, 30));
    b.unlock(c, of_c);
    assert_eq!((b.prio(c), b.prio(bb), b.owner(of_c)), (10, 30, Some(bb)));
    b.unlock(bb, of_b);
    assert_eq!((b.prio(bb), b.owner(of_b)), (20, Some(a)));
}

#[test]
fn a_boosted_waiter_overtakes_others() {
    let (b, [owner, first, boosted, high]) = Bench::pinned([10, 30, 20, 40]);
    let (m, n) = (b.pi(), b.pi());
    b.lock(owner, m);
    b.lock(boosted, n);
    b.lock(first, m);
    b.lock(boosted, m);
    b.lock(high, n);
    assert_eq!((b.prio(boosted), b.prio(owner)), (40, 40));
    b.unlock(owner, m);
    assert_eq!(b.owner(m), Some(boosted));
}

fn wait_locks(b: &Bench) -> Vec<MutexId> {
    let mutex = |l: &Lock| if let Lock::MutexWait(m) = l { Some(*m) } else { None };
    b.lab.k.platform.locks.borrow().iter().filter_map(mutex).collect()
}

#[test]
fn the_walk_stops_where_nothing_changes() {
    let (b, [c, bb, high, a]) = Bench::pinned([10, 20, 50, 30]);
    let (of_c, of_b) = (b.pi(), b.pi());
    b.lock(c, of_c);
    b.lock(bb, of_b);
    b.lock(bb, of_c);
    b.lock(high, of_c);
    b.lab.forget();
    // `a` boosts its owner, which moves up but is not first: `c` is not touched.
    b.lock(a, of_b);
    assert_eq!(wait_locks(&b), [of_b, of_c]);
    assert!(!b.lab.k.platform.locks.borrow().contains(&Lock::Pi(c)));
    assert_eq!((b.prio(bb), b.prio(c), b.setprios().len()), (30, 50, 1));
    b.lab.forget();
    b.lab.run(sched_setscheduler(b.lab.cpu(0), a, fifo(25)));
    assert_eq!((b.prio(bb), b.prio(c)), (25, 50));
}

/// 7.3, blocked: "field only; plus re-ordering in the lock it waits for".
#[test]
fn a_waiters_own_change_of_priority_is_passed_on() {
    let (b, [c, bb, a]) = Bench::pinned([10, 20, 30]);
    let (of_c, of_b) = (b.pi(), b.pi());
    b.lock(c, of_c);
    b.lock(bb, of_b);
    b.lock(bb, of_c);
    b.lock(a, of_b);
    for priority in [60, 25, 5] {
        b.lab.run(sched_setscheduler(b.lab.cpu(0), a, fifo(priority)));
        b.settle();
        assert_eq!((b.prio(bb), b.prio(c)), (priority.max(20), priority.max(20)));
    }
}

/// Between unlock and take, who is first changes: the new first one has to be woken.
#[test]
fn a_waiter_that_becomes_first_without_an_owner_is_woken() {
    let (b, [owner, designated, other]) = Bench::pinned([50, 20, 10]);
    let m = b.pi();
    b.lock(owner, m);
    b.lock(designated, m);
    b.lock(other, m);
    b.unlock_unsettled(owner, m);
    b.lab.run(sched_setscheduler(b.lab.cpu(0), other, fifo(30)));
    b.settle();
    assert_eq!((b.owner(m), b.lab.count(Reason::Stolen)), (Some(other), 0));
    b.unlock(other, m);
    assert_eq!(b.owner(m), Some(designated));
}

/// Each task owns a mutex and waits for that of the one before.
#[test]
fn the_hop_limit() {
    let b = Bench::sleeping(1, &[]);
    let mut before: Option<MutexId> = None;
    for length in 0.. {
        let p = b.lab.spawn(fifo(10), 0);
        let own = b.pi();
        b.lock(p, own);
        let Some(m) = before.replace(own) else {
            b.lab.block(0);
            continue;
        };
        let outcome = b.try_lock(p, m);
        if length > MAX_LOCK_DEPTH {
            assert_eq!(outcome, Err(LockError::ChainTooLong(WaitsFor { task: p, mutex: m })));
            return;
        }
        assert_eq!(outcome, Ok(LockOutcome::Sleep), "after {length}");
        b.sleep(p);
    }
}

/// P13: from the lists of waiters alone, without what the mutexes remember.
pub(super) fn expected_prio(b: &Bench, p: TaskId) -> Prio {
    let k = &b.lab.k;
    let pi = (0..k.mutexes.len() as u32).map(MutexId).filter(|m| k.mutexes.form(*m) == Form::Pi);
    let lent = pi.filter(|m| b.owner(*m) == Some(p)).filter_map(|m| k.mutexes.top_waiter_prio(m));
    lent.fold(k.task(p).normal_prio.get(), Prio::min)
}

#[test]
fn p13_over_random_histories() {
    const MUTEXES: usize = 5;
    let mut boosts = 0;
    for seed in 0..40 {
        let mut dice = Dice::new(seed);
        let (b, tasks) = Bench::pinned([10, 20, 30, 40, 50, 60]);
        let mutexes: [MutexId; MUTEXES] = core::array::from_fn(|_| b.pi());
        for _ in 0..300 {
            let p = tasks[dice.below(tasks.len())];
            if dice.below(8) == 0 {
                let policy = fifo(1 + dice.below(99) as u8);
                b.lab.run(sched_setscheduler(b.lab.cpu(0), p, policy));
                b.settle();
            } else if b.lab.k.task_running(p) {
                // In one order only, so that no cycle closes.
                let owned = mutexes.iter().rposition(|m| b.owner(*m) == Some(p));
                match owned {
                    Some(last) if last + 1 == MUTEXES || dice.below(2) == 0 => b.unlock(p, mutexes[last]),
                    _ => {
                        let from = owned.map_or(0, |last| last + 1);
                        b.lock(p, mutexes[from + dice.below(MUTEXES - from)]);
                    }
                }
            }
            for p in tasks {
                assert_eq!(b.lab.k.task(p).prio.get(), expected_prio(&b, p), "seed {seed}, {p:?}");
            }
        }
        boosts += b.lab.count(Reason::Boosted);
    }
    assert!(boosts > 500, "the histories are idle: {boosts} boosts");
}
