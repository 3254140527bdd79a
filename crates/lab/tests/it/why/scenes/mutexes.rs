//! Mutexes whose owners do not come to run.

use super::who;
use crate::why::scene::{BEGIN, Scene, fifo, ms, us};
use lab::machine::{MutexKind, Step};
use scheduler::MutexId;
use schema::why::{Cause, Due, HeldMutex};

/// A low task has a mutex, a middle one runs, a high one wants the mutex.
fn inversion(kind: MutexKind) -> Vec<(Cause, u64)> {
    let mut scene = Scene::new(1);
    let m: MutexId = scene.setup.mutex("m", kind);
    let low = [Step::SleepUntil(us(1_100)), Step::Lock(m), Step::Compute(us(1_000)), Step::Unlock(m)];
    scene.on(0, "low", fifo(10), low);
    scene.on(0, "middle", fifo(20), [Step::SleepUntil(us(1_500)), Step::Compute(ms(2))]);
    scene.on(0, "high", fifo(30), [Step::SleepUntil(us(1_300)), Step::Lock(m), Step::Unlock(m)]);
    let explained = scene.explain("high");
    let waited = explained.iter().find(|one| one.due == Due::Mutex { mutex: "m".into() });
    let waited = waited.expect("it waited for m");
    waited.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect()
}

#[test]
fn a_mutex_whose_owner_is_kept_from_running() {
    let held = |prio, boosted, behind| Cause::Mutex {
        chain: vec![HeldMutex { mutex: "m".into(), owner: Some(who(0, "low", prio)), boosted }],
        behind,
    };
    // Low has had the mutex for 200 us when high comes, and goes on with it for 800 us.
    let plain = inversion(MutexKind::Plain);
    let expected = [
        (held(89, false, None), 200_000),
        (held(89, false, Some(who(1, "middle", 79))), 2_000_000),
        (held(89, false, None), 600_000),
    ];
    assert_eq!(plain, expected);
    let pi = inversion(MutexKind::Pi);
    assert_eq!(pi, [(held(69, true, None), 800_000)]);
}

#[test]
fn a_chain_of_mutexes() {
    let mut scene = Scene::new(2);
    let [m, n] = ["m", "n"].map(|name| scene.setup.mutex(name, MutexKind::Pi));
    let (lock, unlock) = (Step::Lock, Step::Unlock);
    scene.on(1, "last", fifo(10), [Step::SleepUntil(BEGIN), lock(n), Step::Compute(us(500)), unlock(n)]);
    let wakes = Step::SleepUntil(us(1_400));
    let first = [wakes, lock(m), lock(n), Step::Compute(us(100)), unlock(n), unlock(m)];
    scene.on(0, "first", fifo(20), first);
    scene.on(0, "victim", fifo(30), [Step::SleepUntil(us(1_500)), lock(m), unlock(m)]);
    let explained = scene.explain("victim");
    let waited = explained.iter().find(|one| one.due == Due::Mutex { mutex: "m".into() });
    let waited = waited.expect("it waited for m");
    let held = |mutex: &str, owner, comm| HeldMutex {
        mutex: mutex.into(),
        owner: Some(who(owner, comm, 69)),
        boosted: true,
    };
    let chain = Cause::Mutex { chain: vec![held("m", 1, "first"), held("n", 0, "last")], behind: None };
    // Last has n until 1.8 ms, then first works for 100 us.
    let causes: Vec<_> = waited.stretches.iter().map(|one| (one.cause.clone(), one.length().0)).collect();
    let alone = Cause::Mutex { chain: vec![held("m", 1, "first")], behind: None };
    assert_eq!(causes, [(chain, 300_000), (alone, 100_000)]);
}
