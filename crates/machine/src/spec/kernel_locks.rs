//! Spinlocks of the kernel that operations take again and again (machine.md 1.12).
//!
//! How often and for how long is assumed, from the structure of the operations; the sums of a kernel with
//! PREEMPT_RT were counted in a guest (4.2). What the specification gives for a whole life, as fork and exit,
//! is split as the time is.

use super::stretch::Operation;
use crate::rng::Rng;
use scheduler::Nanos;

/// Locks of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockClass {
    /// The free lists of pages of a CPU.
    PageLists,
    /// The caches of small objects (slab) of a CPU.
    Slab,
    /// The free pages of the machine.
    Zone,
    /// The list of tasks, and pids.
    TaskList,
    /// Directory entries.
    Dentry,
    /// What control groups use.
    Cgroup,
}

/// How many instances the machine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockScope {
    /// One for each CPU: only tasks of the same CPU meet in it.
    Cpu,
    /// So many for all.
    Machine(u64),
}

/// What is assumed of a class: how often an operation takes one, in thousandths, and how long it has it.
struct Assumed {
    scope: LockScope,
    /// Fork, thread, exec, exit.
    taken: [u64; 4],
    hold: Nanos,
}

const fn of(scope: LockScope, taken: [u64; 4], hold_ns: u64) -> Assumed {
    Assumed { scope, taken, hold: Nanos(hold_ns) }
}

impl LockClass {
    /// Every class.
    pub const ALL: [LockClass; 6] = [
        LockClass::PageLists,
        LockClass::Slab,
        LockClass::Zone,
        LockClass::TaskList,
        LockClass::Dentry,
        LockClass::Cgroup,
    ];

    const fn assumed(self) -> Assumed {
        match self {
            LockClass::PageLists => of(LockScope::Cpu, [12_000, 1_000, 40_000, 8_000], 400),
            LockClass::Slab => of(LockScope::Cpu, [36_000, 10_000, 150_000, 24_000], 150),
            LockClass::Zone => of(LockScope::Machine(1), [2_400, 0, 8_000, 1_600], 1_500),
            LockClass::TaskList => of(LockScope::Machine(1), [2_400, 2_000, 2_000, 1_600], 700),
            LockClass::Dentry => of(LockScope::Machine(8), [1_200, 0, 20_000, 800], 250),
            LockClass::Cgroup => of(LockScope::Machine(1), [600, 500, 1_000, 400], 1_200),
        }
    }

    /// How many there are.
    pub const fn scope(self) -> LockScope {
        self.assumed().scope
    }

    /// How long somebody has one, in the mean.
    pub const fn hold(self) -> Nanos {
        self.assumed().hold
    }

    /// How often an operation takes one, in thousandths; a message takes that of its channel.
    pub const fn taken(self, operation: Operation) -> u64 {
        let [fork, thread, exec, exit] = self.assumed().taken;
        match operation {
            Operation::Fork => fork,
            Operation::Thread => thread,
            Operation::Exec => exec,
            Operation::Exit => exit,
            Operation::Call | Operation::Other => 0,
        }
    }
}

/// The lock that somebody has who is met at some moment of an operation which takes `whole`, if any: the
/// longer a class is held in sum, the likelier.
pub fn held_at_some_moment(operation: Operation, whole: Nanos, rng: &mut Rng) -> Option<LockClass> {
    let mut moment = rng.below(whole.0 * 1_000);
    LockClass::ALL.into_iter().find(|class| {
        let held = class.taken(operation) * class.hold().0;
        let met = moment < held;
        moment = moment.saturating_sub(held);
        met
    })
}

/// How long an operation that takes `whole` executes before it takes the one lock of this class that is
/// meant.
pub fn until_taken(class: LockClass, operation: Operation, whole: Nanos, rng: &mut Rng) -> Nanos {
    let instances = match class.scope() {
        LockScope::Cpu => 1,
        LockScope::Machine(instances) => instances,
    };
    match class.taken(operation) {
        0 => Nanos::NEVER,
        taken => rng.exponential(Nanos(whole.0 * 1_000 * instances / taken)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    const FORK: Nanos = Nanos::from_micros(110);

    fn dice(nth: u64) -> Rng {
        Rng::keyed(1, Purpose::Stretch, nth)
    }

    /// machine.md 1.12: a newcomer meets an owner with the probability with which one holds it: the times
    /// that a fork has locks of a class sum up to 12 x 0.4 us of the free lists, and so on.
    #[test]
    fn a_lock_is_met_as_often_as_it_is_held() {
        let met: Vec<_> =
            (0..100_000).filter_map(|n| held_at_some_moment(Operation::Fork, FORK, &mut dice(n))).collect();
        for (class, held_us) in [(LockClass::PageLists, 4.8), (LockClass::Slab, 5.4), (LockClass::Zone, 3.6)]
        {
            let share = met.iter().filter(|m| **m == class).count() as f64 / 100_000.0;
            assert!((share - held_us / 110.0).abs() < 0.002, "{class:?}: {share}");
        }
        assert!(held_at_some_moment(Operation::Other, FORK, &mut dice(0)).is_none());
    }

    /// A fork takes one of eight dentry locks 1.2 times: the one that is meant 0.15 times.
    #[test]
    fn the_more_instances_the_later_is_one_of_them_taken() {
        let within = |class| {
            (0..100_000).filter(|n| until_taken(class, Operation::Fork, FORK, &mut dice(*n)) < FORK).count()
        };
        let share = |class| within(class) as f64 / 100_000.0;
        assert!((share(LockClass::Dentry) - (1.0 - (-0.15f64).exp())).abs() < 0.005);
        assert!((share(LockClass::TaskList) - (1.0 - (-2.4f64).exp())).abs() < 0.005);
        assert_eq!(until_taken(LockClass::Zone, Operation::Thread, FORK, &mut dice(0)), Nanos::NEVER);
    }
}
