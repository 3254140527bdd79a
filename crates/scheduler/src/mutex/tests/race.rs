//! Many CPUs lock, unlock, sleep, wake and change priorities at once, interleaved at every lock: no mutex has
//! two owners, no wakeup is lost, and P13 holds whenever no path is under way.

use super::chain::expected_prio;
use super::{Bench, FastPath, LockOutcome, lock_fast, lock_resume, lock_slow, unlock_fast, unlock_slow};
use crate::fork::do_exit;
use crate::mutex::{OwnerSeen, spin_on_owner};
use crate::platform::Lock;
use crate::policy::set_user_nice;
use crate::schedule::{Entry, schedule};
use crate::testing::sched_setscheduler;
use crate::testing::{Dice, RacePath, TestPlatform, fifo};
use crate::wakeup::{WakeFlags, try_to_wake_up};
use crate::{CpuId, CpuMask, MutexId, Nice, Policy, Reason, TaskId, TaskState, ThisCpu};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

const CPUS: u16 = 4;
const TASKS: usize = 9;
const MUTEXES: usize = 4;

/// What a task is doing.
#[derive(Default)]
struct Actor {
    task: TaskId,
    /// The mutex it waits for.
    wants: Cell<Option<usize>>,
    /// Mutexes it owns, in the order in which it took them: by number, so that no cycle closes.
    owns: RefCell<Vec<usize>>,
    /// It sleeps until an actor wakes it.
    dozes: Cell<bool>,
    /// It spins for the mutex that it wants.
    spins: Cell<bool>,
    /// It has not looked since it came onto its CPU.
    arrived: Cell<bool>,
}

struct Race {
    bench: Bench,
    mutexes: [MutexId; MUTEXES],
    owners: [Cell<Option<TaskId>>; MUTEXES],
    actors: Vec<Actor>,
    dice: RefCell<Dice>,
    /// Actors take nothing new and leave once they own nothing.
    ending: Cell<bool>,
    /// How often somebody began to spin.
    spins: Cell<u64>,
    /// The mutexes are the kernel's, of which a task has one at a time.
    of_kernel: bool,
}

impl Race {
    fn new(seed: u64, profile: &str, settings: &[&str]) -> Race {
        let bench = Bench::new(usize::from(CPUS), profile, settings);
        let mutexes = core::array::from_fn(|i| if i % 2 == 1 { bench.plain() } else { bench.pi() });
        let mut dice = Dice::new(seed);
        let actors = (0..TASKS).map(|i| {
            let policy = fifo(1 + dice.below(99) as u8);
            let cpu = i as u16 % CPUS;
            let pinned = dice.below(3) == 0;
            let allowed = if pinned { CpuMask::single(CpuId(cpu)) } else { CpuMask::ALL };
            Actor { task: bench.lab.spawn_allowed(policy, cpu, allowed), ..Actor::default() }
        });
        let actors = actors.collect();
        Race {
            bench,
            mutexes,
            owners: Default::default(),
            actors,
            dice: RefCell::new(dice),
            ending: Cell::new(false),
            spins: Cell::new(0),
            of_kernel: false,
        }
    }

    /// The same with mutexes of the kernel, and its semaphores.
    fn of_kernel(seed: u64, profile: &str, settings: &[&str]) -> Race {
        let mut race = Race::new(seed, profile, settings);
        let k = &race.bench.lab.k;
        race.mutexes = core::array::from_fn(|i| match i % 2 {
            0 => k.mutexes.create_of_kernel(&k.config.rules),
            _ => k.mutexes.create_rwsem(&k.config.rules),
        });
        race.of_kernel = true;
        race
    }

    fn below(&self, n: usize) -> usize {
        self.dice.borrow_mut().below(n)
    }

    /// Every CPU makes some moves.
    fn round(&self, moves: u32) {
        let paths =
            (0..CPUS).map(|cpu| -> RacePath<'_> { Box::pin(self.cpu(self.bench.lab.cpu(cpu), moves)) });
        let mut dice = Dice::new(self.below(1 << 30) as u64);
        self.bench.lab.race(&mut dice, paths.collect());
    }

    async fn cpu(&self, me: ThisCpu<'_, TestPlatform>, moves: u32) {
        for _ in 0..moves {
            // Who spins for a mutex of the kernel sees that itself.
            let spins = |a: &Actor| self.of_kernel && a.spins.get() && a.task == me.curr();
            if me.k.rq(me.id).published.is_asked() && !self.actors.iter().any(spins) {
                schedule(me, Entry::Preemption).await;
                self.actors.iter().for_each(|a| a.arrived.set(a.arrived.get() || a.task == me.curr()));
                continue;
            }
            if let Some(sent) = self.bench.lab.take_ipi(me.id) {
                self.bench.lab.handle(sent).await;
                continue;
            }
            match self.actors.iter().find(|a| a.task == me.curr()) {
                Some(actor) => self.act(me, actor).await,
                None => me.k.platform.race.step_aside().await,
            }
        }
    }

    async fn act(&self, me: ThisCpu<'_, TestPlatform>, actor: &Actor) {
        actor.dozes.set(false);
        if actor.spins.get() && !self.spun(me, actor).await {
            return;
        }
        if let Some(want) = actor.wants.get() {
            let outcome = lock_resume(me, actor.task, self.mutexes[want]).await.expect("no cycle");
            return self.locked(me, actor, want, outcome).await;
        }
        let last = actor.owns.borrow().last().copied();
        match (self.below(10), last) {
            (0..4, Some(last)) => self.unlock(me, actor, last).await,
            (_, Some(last)) if self.ending.get() => self.unlock(me, actor, last).await,
            (_, None) if self.ending.get() => do_exit(me).await,
            (0..6, _) if last != Some(MUTEXES - 1) && !(self.of_kernel && last.is_some()) => {
                let from = last.map_or(0, |last| last + 1);
                self.lock(me, actor, from + self.below(MUTEXES - from)).await;
            }
            (6, _) => {
                let other = self.actors[self.below(TASKS)].task;
                match self.below(4) {
                    0 => sched_setscheduler(me, other, Policy::Normal).await,
                    1 => {
                        let nice = Nice::new(self.below(40) as i8 - 20).expect("-20 to 19");
                        set_user_nice(me, other, nice).await;
                    }
                    _ => sched_setscheduler(me, other, fifo(1 + self.below(99) as u8)).await,
                }
            }
            (7, _) => {
                actor.dozes.set(true);
                me.task(actor.task).state.overwrite(TaskState::Interruptible);
                schedule(me, Entry::Call).await;
            }
            _ => self.wake_somebody(me).await,
        }
    }

    /// A spinner's move; whether it saw the mutex released. It looks when it comes onto a CPU or is told to,
    /// and at no other time: if somebody forgets to tell it, it spins for ever.
    async fn spun(&self, me: ThisCpu<'_, TestPlatform>, actor: &Actor) -> bool {
        let (p, want) = (actor.task, actor.wants.get().expect("it spins for one"));
        let has_news = actor.arrived.take() || me.k.rq(me.id).published.need_resched();
        if !has_news && me.task(p).pi.spins_for().is_some() {
            me.k.platform.race.step_aside().await;
            return false;
        }
        let seen = spin_on_owner(me, p, self.mutexes[want]);
        actor.spins.set(seen == OwnerSeen::Runs);
        match seen {
            OwnerSeen::Runs => me.k.platform.race.step_aside().await,
            OwnerSeen::SleepNow => schedule(me, Entry::Call).await,
            OwnerSeen::Released => {}
        }
        seen == OwnerSeen::Released
    }

    async fn wake_somebody(&self, me: ThisCpu<'_, TestPlatform>) {
        let dozing = self.actors.iter().filter(|a| a.dozes.get()).nth(self.below(3));
        if let Some(actor) = dozing {
            actor.dozes.set(false);
            try_to_wake_up(me, actor.task, WakeFlags::default()).await;
        }
    }

    async fn lock(&self, me: ThisCpu<'_, TestPlatform>, actor: &Actor, want: usize) {
        let (p, m) = (actor.task, self.mutexes[want]);
        actor.wants.set(Some(want));
        let outcome = match lock_fast(me, p, m) {
            FastPath::Done => LockOutcome::Acquired,
            FastPath::EnterKernel => lock_slow(me, p, m).await.expect("no cycle"),
        };
        self.locked(me, actor, want, outcome).await;
    }

    async fn locked(&self, me: ThisCpu<'_, TestPlatform>, actor: &Actor, want: usize, outcome: LockOutcome) {
        match outcome {
            LockOutcome::Acquired => {
                assert_eq!(self.owners[want].replace(Some(actor.task)), None, "two owners");
                actor.wants.set(None);
                actor.owns.borrow_mut().push(want);
            }
            LockOutcome::Sleep => schedule(me, Entry::Call).await,
            LockOutcome::Spin => {
                self.spins.set(self.spins.get() + 1);
                actor.arrived.set(true);
                actor.spins.set(true);
            }
        }
    }

    async fn unlock(&self, me: ThisCpu<'_, TestPlatform>, actor: &Actor, last: usize) {
        let (p, m) = (actor.task, self.mutexes[last]);
        actor.owns.borrow_mut().pop();
        self.owners[last].set(None);
        if unlock_fast(me, p, m).expect("its own") == FastPath::EnterKernel {
            unlock_slow(me, p, m).await;
        }
    }

    fn check(&self) {
        for actor in &self.actors {
            let (p, task) = (actor.task, self.bench.lab.k.task(actor.task));
            if task.state.get() != TaskState::Dead {
                assert_eq!(task.prio.get(), expected_prio(&self.bench, p), "P13, {p:?}");
            }
            if actor.owns.borrow().is_empty() {
                assert_eq!(task.prio.get(), task.normal_prio.get(), "{p:?} owns nothing");
            }
        }
    }

    fn alive(&self) -> usize {
        let dead = |a: &&Actor| self.bench.lab.k.task(a.task).state.get() != TaskState::Dead;
        self.actors.iter().filter(dead).count()
    }

    /// Who is stuck, and on what.
    fn stuck(&self) -> String {
        let alive =
            self.actors.iter().filter(|a| self.bench.lab.k.task(a.task).state.get() != TaskState::Dead);
        let lines = alive.map(|a| {
            let task = self.bench.lab.k.task(a.task);
            let (state, cpu, prio) = (task.state.get(), task.cpu.get(), task.prio.get());
            let (wants, owns) = (a.wants.get(), a.owns.borrow());
            format!("\n{:?} {state:?} on CPU {cpu}, prio {prio}, wants {wants:?}, owns {owns:?}", a.task)
        });
        lines.collect()
    }

    fn run(&self, what: &str) {
        for _ in 0..40 {
            self.round(12);
            self.check();
        }
        self.ending.set(true);
        for _ in 0..200 {
            if self.alive() == 0 {
                return;
            }
            self.round(12);
            self.check();
            for actor in self.actors.iter().filter(|a| a.dozes.replace(false)) {
                self.bench.lab.wake_unsettled(0, actor.task);
            }
        }
        panic!("{what}: tasks that never came to their end, so a wakeup was lost:{}", self.stuck());
    }
}

/// Each setting that changes the order of events on these paths.
#[test]
fn no_two_owners_no_lost_wakeup_and_p13() {
    let variants: [(&str, &[&str]); 7] = [
        ("6.1.y", &[]),
        ("6.1.y", &["rtmutex_spin=never"]),
        ("6.1.y", &["NO_TTWU_QUEUE", "double_lock=trylock", "RT_PUSH_IPI"]),
        ("6.1.y", &["deboost_order=wake_then_deboost", "deboost_place=tail"]),
        ("4.0", &[]),
        ("2.6.36", &[]),
        ("2.6.23-rt5", &[]),
    ];
    let mut counts = [0; 2];
    let mut spins = 0;
    for (profile, settings) in variants {
        for seed in 0..30 {
            let race = Race::new(seed, profile, settings);
            race.run(&format!("{profile} {settings:?}, seed {seed}"));
            for (count, reason) in counts.iter_mut().zip([Reason::Boosted, Reason::Stolen]) {
                *count += race.bench.lab.count(reason);
            }
            spins += race.spins.get();
        }
    }
    assert!(counts.iter().all(|n| *n > 100) && spins > 100, "the races are idle: {counts:?}, {spins} spins");
}

/// machine.md 3.4 and 3.5, by each rule: owners sleep and are preempted, and who changes what a spinner
/// watches has to tell it.
#[test]
fn of_mutexes_of_the_kernel_neither() {
    let mut counts = [0; 3];
    for rule in ["mutex_spin=osq", "mutex_spin=owner_on_cpu", "mutex_spin=never"] {
        for seed in 0..60 {
            let race = Race::of_kernel(seed, "6.1.y", &[rule]);
            race.run(&format!("{rule}, seed {seed}"));
            let reasons = [Reason::MutexSpins, Reason::MutexSleeps, Reason::MutexHandedOver];
            for (count, reason) in counts.iter_mut().zip(reasons) {
                *count += race.bench.lab.count(reason);
            }
        }
    }
    assert!(counts.iter().all(|n| *n > 100), "the races are idle: {counts:?}");
}

/// The owner unlocks after the word was marked and before the waiter is on the list.
#[test]
fn a_plain_mutex_that_is_unlocked_meanwhile_is_not_slept_for() {
    let (b, [owner, late]) = Bench::pinned([10, 20]);
    let m = b.plain();
    b.lock(owner, m);
    let path = lock_slow(b.on_cpu(late), late, m);
    let unlock = |_| assert!(b.unlock_unsettled(owner, m), "the word said that somebody waits");
    let outcome = b.lab.meanwhile(|lock| matches!(lock, Lock::MutexWait(_)), path, unlock);
    assert_eq!(outcome, Ok(LockOutcome::Acquired));
}

/// The unlocker has let the wait_lock go, but not yet woken the waiter; until it does, others make the waiter
/// take the mutex, leave it, and sleep for something else.
#[test]
fn a_late_waker_leaves_the_waiter_alone() {
    let (b, [owner, waiter, thief]) = Bench::pinned([10, 20, 30]);
    let m = b.pi();
    b.lock(owner, m);
    b.lock(waiter, m);
    let path = unlock_slow(b.on_cpu(owner), owner, m);
    b.lab.meanwhile(
        |lock| matches!(lock, Lock::Pi(_)),
        path,
        |lock| {
            if lock == Lock::Pi(waiter) {
                assert!(b.lock(thief, m));
                b.unlock(thief, m);
                b.unlock(waiter, m);
                b.lab.block(b.lab.cpu_of(waiter));
            }
        },
    );
    assert_eq!(b.lab.k.task(waiter).state.get(), TaskState::Interruptible);
}

/// If it waited for less than it has by then, nobody would wake it, and the woken waiter would not be first.
#[test]
fn a_task_that_rises_while_it_locks_steals_by_its_new_priority() {
    let (b, [owner, waiter, late]) = Bench::pinned([10, 20, 15]);
    let m = b.pi();
    b.lock(owner, m);
    b.lock(waiter, m);
    b.unlock_unsettled(owner, m);
    let path = lock_slow(b.on_cpu(late), late, m);
    let rise = |_| b.lab.run(sched_setscheduler(b.lab.cpu(0), late, fifo(50)));
    let outcome = b.lab.meanwhile(|lock| matches!(lock, Lock::Pi(_)), path, rise);
    assert_eq!(outcome, Ok(LockOutcome::Acquired));
}
