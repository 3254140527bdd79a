//! Work with critical sections on the way is what the same steps one by one are, whoever wants the locks and
//! whoever interrupts; only that the machine need not look around at each of them.

use machine::{
    Backoff, Behaviour, Env, Machine, MachineSpec, Outcome, Purpose, Rng, RunOptions, Sections, Setup,
    SpinlockId, Step, TaskSpec,
};
use scheduler::registry::Config;
use scheduler::{CpuId, CpuMask, LevelKind, Nanos, Policy, RtPriority, Topology, TopologyLevel};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// When tasks had done each of their pieces of work, in order.
type Clock = Rc<RefCell<Vec<(u32, Nanos)>>>;

#[derive(Debug)]
enum Piece {
    Work(Sections),
    Step(Step),
    /// Notes the time.
    Look,
}

/// Pieces of work, with the sections as one step or as several.
#[derive(Debug)]
struct Worker {
    number: u32,
    pieces: VecDeque<Piece>,
    clock: Clock,
}

impl Behaviour for Worker {
    fn next(&mut self, env: &mut Env<'_>) -> Step {
        loop {
            match self.pieces.pop_front() {
                None => return Step::Exit,
                Some(Piece::Look) => self.clock.borrow_mut().push((self.number, env.now)),
                Some(Piece::Work(work)) => return Step::Sections(work),
                Some(Piece::Step(step)) => return step,
            }
        }
    }
}

fn one_by_one(work: &Sections) -> Vec<Piece> {
    let mut steps = vec![Step::Compute(work.first)];
    for lock in work.locks() {
        let section = [Step::SpinLock(*lock), Step::Compute(work.hold), Step::SpinUnlock(*lock)];
        steps.extend(section.into_iter().chain([Step::Compute(work.part)]));
    }
    steps.into_iter().map(Piece::Step).collect()
}

/// Five tasks and a real-time one that interrupts on three CPUs; all want the same two locks.
fn crowd(spec: &MachineSpec, seed: u64, at_once: bool, backoff: Backoff) -> (Outcome, Vec<(u32, Nanos)>) {
    let mut rng = Rng::keyed(seed, Purpose::Load, 0);
    let mut setup = Setup::new(3);
    let locks: Vec<SpinlockId> = (0..2).map(|_| setup.spinlock(backoff)).collect();
    let clock = Clock::default();
    for number in 0..5 {
        let mut pieces = VecDeque::new();
        for _ in 0..20 {
            let mut time = |most: u64| Nanos(1 + rng.below(most));
            let (first, part, hold) = (time(20_000), time(9_000), time(3_000));
            let wanted: Vec<SpinlockId> = (0..rng.below(7)).map(|_| locks[rng.below(2) as usize]).collect();
            let work = Sections::new(wanted, first, part, hold);
            if at_once {
                pieces.push_back(Piece::Work(work));
            } else {
                pieces.extend(one_by_one(&work));
            }
            pieces.push_back(Piece::Look);
        }
        setup.spawn(
            Nanos(u64::from(number)),
            TaskSpec::new("worker", Worker { number, pieces, clock: Rc::clone(&clock) }),
        );
    }
    let interrupts = (0..40).flat_map(|_| {
        [Step::SleepFor(Nanos(10_000 + rng.below(40_000))), Step::Compute(Nanos(1 + rng.below(5_000)))]
    });
    let pieces = interrupts.map(Piece::Step).collect();
    let rt = TaskSpec {
        policy: Policy::Fifo(RtPriority::new(10).expect("1 to 99")),
        cpus: Some(CpuMask::single(CpuId(1))),
        ..TaskSpec::new("rt", Worker { number: 9, pieces, clock: Rc::clone(&clock) })
    };
    setup.spawn(Nanos(7), rt);
    let config = Config::of_profile("2.6.32").expect("a profile");
    let options = RunOptions { check: true, seed, ..RunOptions::default() };
    let machine = Machine::new(spec.clone(), config, setup, options);
    let outcome = machine.expect("a machine").run().expect("it runs");
    let clock = clock.borrow().clone();
    (outcome, clock)
}

#[test]
fn one_step_is_what_many_are() {
    same_in_one_step_as_in_many(&MachineSpec::ideal(Topology::flat(3)));
}

/// machine.md 6.2: the plans follow the speed, which the sibling changes while they run.
#[test]
fn one_step_is_what_many_are_beside_siblings() {
    let core = CpuMask::first_n(3);
    let levels = [TopologyLevel { kind: LevelKind::Smt, spans: [core].into() }];
    let mut spec = MachineSpec::ideal(Topology::of(3, levels.into()));
    spec.speeds.smt_busy_percent = 62;
    same_in_one_step_as_in_many(&spec);
}

fn same_in_one_step_as_in_many(spec: &MachineSpec) {
    let (mut preempted, mut slept) = (0, 0);
    for seed in 1..=60 {
        let backoff = if seed % 2 == 0 { Backoff::Event } else { Backoff::Sleep };
        let (outcome, clock) = crowd(spec, seed, true, backoff);
        let (other, expected) = crowd(spec, seed, false, backoff);
        assert_eq!(clock, expected, "seed {seed}");
        assert_eq!(
            outcome.totals.lock_holder_preemptions, other.totals.lock_holder_preemptions,
            "seed {seed}"
        );
        assert_eq!(outcome.totals.spinlock_sleeps, other.totals.spinlock_sleeps, "seed {seed}");
        preempted += outcome.totals.lock_holder_preemptions;
        slept += outcome.totals.spinlock_sleeps;
    }
    assert!(preempted > 0 && slept > 0, "{preempted} {slept}: the cases that matter have come up");
}
