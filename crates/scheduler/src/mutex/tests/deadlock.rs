//! What loads get wrong: cycles, locking twice, unlocking what is not theirs.

use super::Bench;
use crate::mutex::{Deadlock, FastPath, LockError, NotOwner, WaitsFor, lock_fast, unlock_fast};
use crate::{MutexId, TaskId, TaskState};
use alloc::string::ToString;
use alloc::vec::Vec;

/// Task i owns mutex i and waits for the next one's; the last one closes the cycle.
fn refused<const N: usize>(b: &Bench, tasks: [TaskId; N], mutexes: [MutexId; N]) -> Deadlock {
    for (p, m) in tasks.into_iter().zip(mutexes) {
        assert!(b.lock(p, m));
    }
    for i in 0..N - 1 {
        assert!(!b.lock(tasks[i], mutexes[i + 1]));
    }
    let last = tasks[N - 1];
    match b.try_lock(last, mutexes[0]) {
        Err(LockError::Deadlock(deadlock)) => {
            let task = b.lab.k.task(last);
            assert_eq!((task.state.get(), task.pi.blocked_on()), (TaskState::Running, None));
            deadlock
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cycle_of_three_names_tasks_and_mutexes() {
    let (b, [x, y, z]) = Bench::pinned([10, 20, 30]);
    let [m, n, o] = [b.pi(), b.pi(), b.pi()];
    let deadlock = refused(&b, [x, y, z], [m, n, o]);
    let waits = |task, mutex| WaitsFor { task, mutex };
    assert_eq!(deadlock.cycle, [waits(z, m), waits(x, n), waits(y, o)]);
    assert_eq!(
        deadlock.to_string(),
        "deadlock: task 5 waits for mutex 0, owned by task 3, task 3 waits for mutex 1, owned by task 4, task 4 \
         waits for mutex 2, owned by task 5"
    );
}

/// The kernel does not see these; the model does.
#[test]
fn cycles_of_plain_mutexes_and_of_both_kinds() {
    for kinds in 0..4 {
        let (b, tasks) = Bench::pinned([10, 20]);
        let mutexes = [0, 1].map(|bit| if kinds >> bit & 1 == 0 { b.plain() } else { b.pi() });
        let tasks_of: Vec<_> = refused(&b, tasks, mutexes).cycle.iter().map(|w| w.task).collect();
        assert_eq!(tasks_of, [tasks[1], tasks[0]]);
    }
}

#[test]
fn a_refused_task_boosts_nobody() {
    let (b, tasks) = Bench::pinned([10, 30]);
    let mutexes = [b.pi(), b.pi()];
    b.lab.forget();
    refused(&b, tasks, mutexes);
    // Only task 0 waits, for the higher one.
    assert_eq!((b.prio(tasks[0]), b.setprios()), (10, [].into()));
}

/// A task that was woken for a plain mutex, but whose owner-to-be was quicker and then waits for it.
#[test]
fn a_cycle_closed_by_barging() {
    let (b, [x, y, owner]) = Bench::pinned([10, 20, 30]);
    let (m, n) = (b.plain(), b.plain());
    b.lock(owner, m);
    b.lock(x, n);
    b.lock(x, m);
    b.waiting.borrow_mut().clear();
    b.unlock_unsettled(owner, m);
    assert!(b.lock(y, m));
    assert!(!b.lock(y, n));
    let me = b.on_cpu(x);
    let outcome = b.lab.run(crate::mutex::lock_resume(me, x, m));
    let cycle = [WaitsFor { task: x, mutex: m }, WaitsFor { task: y, mutex: n }].into();
    assert_eq!(outcome, Err(LockError::Deadlock(Deadlock { cycle })));
}

#[test]
fn locking_twice() {
    let (b, [p]) = Bench::pinned([10]);
    for m in [b.pi(), b.plain()] {
        b.lock(p, m);
        assert_eq!(lock_fast(b.on_cpu(p), p, m), FastPath::EnterKernel);
        let error = b.try_lock(p, m).expect_err("already owner");
        assert_eq!(error, LockError::AlreadyOwner(WaitsFor { task: p, mutex: m }));
    }
}

#[test]
fn unlocking_what_is_not_owned() {
    let (b, [p, q]) = Bench::pinned([10, 20]);
    for mutex in [b.pi(), b.plain()] {
        let unlock = || unlock_fast(b.on_cpu(q), q, mutex);
        assert_eq!(unlock(), Err(NotOwner { mutex, task: q, owner: None }));
        b.lock(p, mutex);
        assert_eq!(unlock(), Err(NotOwner { mutex, task: q, owner: Some(p) }));
        assert_eq!(b.owner(mutex), Some(p));
    }
}
