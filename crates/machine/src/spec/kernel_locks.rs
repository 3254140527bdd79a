//! Locks of the kernel that operations take again and again: spinlocks and semaphores (machine.md 1.12).
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
    /// The semaphores of what is mapped by several processes: of files (i_mmap), and of memory that parents
    /// and children share (anon_vma).
    Mappings,
    /// The semaphore of what a process has mapped (mmap_lock).
    AddressSpace,
}

/// How long the semaphores of a machine's kernel are held, in the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rwsems {
    /// Those of mapped files and of memory that processes share (i_mmap, anon_vma).
    pub mapping_hold: Nanos,
    /// That of what a process has mapped (mmap_lock).
    pub address_space_hold: Nanos,
}

impl Rwsems {
    /// That of a class, if it is one of semaphores.
    pub fn hold(&self, class: LockClass) -> Option<Nanos> {
        match class {
            LockClass::Mappings => Some(self.mapping_hold),
            LockClass::AddressSpace => Some(self.address_space_hold),
            _ => None,
        }
    }
}

/// How many instances the machine has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockScope {
    /// One for each CPU: only tasks of the same CPU meet in it.
    Cpu,
    /// One for each process: only its threads meet in it.
    Process,
    /// So many for all.
    Machine(u64),
}

/// What is assumed of a class: how often an operation takes one, in thousandths, and how long it has it,
/// which of semaphores the machine file says.
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
    /// Those that sleep with PREEMPT_RT only.
    pub const SPINLOCKS: [LockClass; 6] = [
        LockClass::PageLists,
        LockClass::Slab,
        LockClass::Zone,
        LockClass::TaskList,
        LockClass::Dentry,
        LockClass::Cgroup,
    ];
    /// Semaphores.
    pub const RWSEMS: [LockClass; 2] = [LockClass::Mappings, LockClass::AddressSpace];

    const fn assumed(self) -> Assumed {
        match self {
            LockClass::PageLists => of(LockScope::Cpu, [12_000, 1_000, 40_000, 8_000], 400),
            LockClass::Slab => of(LockScope::Cpu, [36_000, 10_000, 150_000, 24_000], 150),
            LockClass::Zone => of(LockScope::Machine(1), [2_400, 0, 8_000, 1_600], 1_500),
            LockClass::TaskList => of(LockScope::Machine(1), [2_400, 2_000, 2_000, 1_600], 700),
            LockClass::Dentry => of(LockScope::Machine(8), [1_200, 0, 20_000, 800], 250),
            LockClass::Cgroup => of(LockScope::Machine(1), [600, 500, 1_000, 400], 1_200),
            LockClass::Mappings => of(LockScope::Machine(16), [6_000, 0, 30_000, 4_000], 0),
            // A fork has it for all of its time; but no thread forks here beside others of its process.
            LockClass::AddressSpace => of(LockScope::Process, [0, 600, 0, 0], 0),
        }
    }

    /// Whether it is a class of semaphores.
    pub const fn is_rwsem(self) -> bool {
        matches!(self, LockClass::Mappings | LockClass::AddressSpace)
    }

    /// How many there are.
    pub const fn scope(self) -> LockScope {
        self.assumed().scope
    }

    /// How many of them one that takes a lock may mean.
    const fn instances(self) -> u64 {
        match self.scope() {
            LockScope::Cpu | LockScope::Process => 1,
            LockScope::Machine(instances) => instances,
        }
    }

    /// How long somebody has a spinlock of it, in the mean.
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

/// The lock that somebody has who is met at some moment of an operation, if any: the
/// longer a class is held in sum, the likelier.
pub fn held_at_some_moment(
    classes: impl Iterator<Item = HeldFor>,
    of: Lasting,
    rng: &mut Rng,
) -> Option<HeldFor> {
    let mut moment = rng.below(of.whole.0 * 1_000);
    let mut classes = classes;
    classes.find(|held| {
        let time = held.class.taken(of.operation) * held.hold.0;
        let met = moment < time;
        moment = moment.saturating_sub(time);
        met
    })
}

/// A class, and how long somebody has such a lock in the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldFor {
    /// The class.
    pub class: LockClass,
    /// The mean.
    pub hold: Nanos,
}

/// An operation, and how long all of it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lasting {
    /// What is done.
    pub operation: Operation,
    /// How long that takes.
    pub whole: Nanos,
}

/// How long two CPUs that execute such operations go on until the one comes to a lock of a class which the
/// other has: each takes so many of them in its time, which is how often it comes to the one that the other
/// has, and for how much of the time that has one (machine.md 1.12).
pub fn until_met(held: HeldFor, [a, b]: [Lasting; 2], rng: &mut Rng) -> Nanos {
    let taken = |it: Lasting| u128::from(held.class.taken(it.operation));
    // Both are thousandths, and either may be the one that comes.
    let meetings = 2 * taken(a) * taken(b) * u128::from(held.hold.0);
    if meetings == 0 {
        return Nanos::NEVER;
    }
    let instances = u128::from(held.class.instances());
    let time = u128::from(a.whole.0) * u128::from(b.whole.0) * instances * 1_000_000;
    let mean = u64::try_from(time / meetings).unwrap_or(u64::MAX);
    rng.exponential(Nanos(mean.clamp(1, FAR)))
}

/// No run is as long: the mean of what is as good as never.
const FAR: u64 = 1 << 50;

/// How long an operation executes before it takes the one lock of this class that is meant.
pub fn until_taken(class: LockClass, of: Lasting, rng: &mut Rng) -> Nanos {
    match class.taken(of.operation) {
        0 => Nanos::NEVER,
        taken => rng.exponential(Nanos(of.whole.0 * 1_000 * class.instances() / taken)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    const FORK: Nanos = Nanos::from_micros(110);
    const A_FORK: Lasting = Lasting { operation: Operation::Fork, whole: FORK };

    fn dice(nth: u64) -> Rng {
        Rng::keyed(1, Purpose::Stretch, nth)
    }

    fn met_in(operation: Operation, nth: u64) -> Option<LockClass> {
        let spinlocks = LockClass::SPINLOCKS.into_iter().map(|class| HeldFor { class, hold: class.hold() });
        held_at_some_moment(spinlocks, Lasting { operation, whole: FORK }, &mut dice(nth))
            .map(|held| held.class)
    }

    /// machine.md 1.12: a newcomer meets an owner with the probability with which one holds it: the times
    /// that a fork has locks of a class sum up to 12 x 0.4 us of the free lists, and so on.
    #[test]
    fn a_lock_is_met_as_often_as_it_is_held() {
        let met: Vec<_> = (0..100_000).filter_map(|n| met_in(Operation::Fork, n)).collect();
        for (class, held_us) in [(LockClass::PageLists, 4.8), (LockClass::Slab, 5.4), (LockClass::Zone, 3.6)]
        {
            let share = met.iter().filter(|m| **m == class).count() as f64 / 100_000.0;
            assert!((share - held_us / 110.0).abs() < 0.002, "{class:?}: {share}");
        }
        assert!(met_in(Operation::Other, 0).is_none());
    }

    /// A fork takes one of eight dentry locks 1.2 times: the one that is meant 0.15 times.
    #[test]
    fn the_more_instances_the_later_is_one_of_them_taken() {
        let thread = Lasting { operation: Operation::Thread, whole: FORK };
        let within =
            |class| (0..100_000).filter(|n| until_taken(class, A_FORK, &mut dice(*n)) < FORK).count();
        let share = |class| within(class) as f64 / 100_000.0;
        assert!((share(LockClass::Dentry) - (1.0 - (-0.15f64).exp())).abs() < 0.005);
        assert!((share(LockClass::TaskList) - (1.0 - (-2.4f64).exp())).abs() < 0.005);
        assert_eq!(until_taken(LockClass::Zone, thread, &mut dice(0)), Nanos::NEVER);
    }

    /// machine.md 1.12: two forks, each of which takes 6 of 16 semaphores of mappings for 0.5 us in its
    /// 110 us, come to the same one 2 x 6 x 6 x 0.5 / (110 x 110 x 16) times a microsecond: each 5.4 ms.
    #[test]
    fn two_operations_meet_as_often_as_each_comes_to_what_the_other_has() {
        let held = HeldFor { class: LockClass::Mappings, hold: Nanos(500) };
        let thread = Lasting { operation: Operation::Thread, whole: FORK };
        let sum: u64 = (0..50_000).map(|n| until_met(held, [A_FORK, A_FORK], &mut dice(n)).0).sum();
        let expected = 110_000 * 110_000 * 16 / (2 * 6 * 6 * 500);
        assert!((sum / 50_000).abs_diff(expected) < expected / 50, "{} ns", sum / 50_000);
        assert_eq!(until_met(held, [A_FORK, thread], &mut dice(0)), Nanos::NEVER);
    }
}
