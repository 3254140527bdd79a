//! Where a task lets itself be preempted inside the kernel, and where it cannot be (machine.md 4.1).
//!
//! A stretch is a sequence of pieces with points between them. How long the present piece still takes when
//! somebody asks for a reschedule has the same law wherever in the stretch that happens, so nothing is drawn
//! until then, and a stretch that nobody disturbs costs no event.

use crate::rng::Rng;
use scheduler::Nanos;
use scheduler::registry::{KernelLocks, PreemptModel};

/// What a task does in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// fork(2), in the parent.
    Fork,
    /// Creating a thread, and the end of one.
    Thread,
    /// execve(2).
    Exec,
    /// exit(2) of a process.
    Exit,
    /// A system call that sends or receives a message.
    Call,
    /// Everything else: what programs do in the kernel, the work of kernel threads.
    Other,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 6] = [
        Operation::Fork,
        Operation::Thread,
        Operation::Exec,
        Operation::Exit,
        Operation::Call,
        Operation::Other,
    ];

    /// Its key below `[kernel.stretch]` in a machine file.
    pub const fn name(self) -> &'static str {
        match self {
            Operation::Fork => "fork",
            Operation::Thread => "thread",
            Operation::Exec => "exec",
            Operation::Exit => "exit",
            Operation::Call => "call",
            Operation::Other => "other",
        }
    }
}

impl Operation {
    /// Locks that a kernel with PREEMPT_RT takes as sleeping ones in it (machine.md 4.2, counted in a guest
    /// of 6.1-rt: 221 in fork, exit and wait, 389 with an exec between, 43 in creating and joining a thread,
    /// one for a message written and read). How they are split between the beginning and the end of a task is
    /// assumed: as the time is.
    pub const fn sleeping_locks(self) -> u64 {
        match self {
            Operation::Fork => 133,
            Operation::Thread => 22,
            Operation::Exec => 168,
            Operation::Exit => 88,
            Operation::Call => 1,
            Operation::Other => 0,
        }
    }
}

/// Of what spinlocks make atomic, so much is under raw ones with PREEMPT_RT, in percent (assumed; machine.md
/// 1.11 says how long such sections are, and not how many).
const RAW_PERCENT: u32 = 10;

/// What an operation consists of. How long the whole of it takes, the costs say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Where a kernel that cannot preempt itself looks at a request; `None`: nowhere before the end.
    pub points: Option<Points>,
    /// Share of the time in sections that no kernel preempts: spinlocks held, preemption or interrupts off.
    pub atomic_percent: u32,
    /// Mean length of such a section.
    pub atomic_mean: Nanos,
    /// None lasts longer.
    pub atomic_max: Nanos,
}

/// How far apart the points of a stretch lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Points {
    /// Mean distance between those at which every such kernel looks (cond_resched).
    pub cond_every: Nanos,
    /// The same with those at which one built for voluntary preemption looks, too (might_sleep).
    pub might_every: Nanos,
    /// No piece lasts longer.
    pub longest: Nanos,
}

impl Stretch {
    /// How long a request by the full flag waits: for the end of the piece, or of the section, in which it
    /// comes.
    pub fn residual(&self, model: PreemptModel, locks: KernelLocks, rng: &mut Rng) -> Nanos {
        let piece = |rng: &mut Rng, every: fn(Points) -> Nanos| {
            self.points.map_or(Nanos::NEVER, |points| rng.exponential(every(points)).min(points.longest))
        };
        match model {
            PreemptModel::None => piece(rng, |points| points.cond_every),
            PreemptModel::Voluntary => piece(rng, |points| points.might_every),
            PreemptModel::Full | PreemptModel::Lazy => {
                let percent = match locks {
                    KernelLocks::Spin => 100,
                    KernelLocks::Sleeping => RAW_PERCENT,
                };
                let atomic = rng.chance(u64::from(self.atomic_percent * percent), 100 * 100);
                if atomic { rng.exponential(self.atomic_mean).min(self.atomic_max) } else { Nanos::ZERO }
            }
        }
    }
}

/// The stretches of a machine. An operation without one is a single block: a kernel that cannot preempt
/// itself runs through it, and one that can is preempted anywhere.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stretches([Option<Stretch>; Operation::ALL.len()]);

impl Stretches {
    /// The pieces of an operation.
    #[inline]
    pub fn of(&self, operation: Operation) -> Option<&Stretch> {
        self.0[operation as usize].as_ref()
    }

    /// Says what an operation consists of.
    pub fn set(&mut self, operation: Operation, stretch: Stretch) {
        self.0[operation as usize] = Some(stretch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    /// M23's exec; voluntary as in the table of 4.2.
    const EXEC: Stretch = Stretch {
        points: Some(Points { cond_every: Nanos(8_000), might_every: Nanos(4_000), longest: Nanos(50_000) }),
        atomic_percent: 25,
        atomic_mean: Nanos(1_500),
        atomic_max: Nanos(20_000),
    };

    fn residuals(model: PreemptModel) -> Vec<Nanos> {
        let draw = |nth| EXEC.residual(model, KernelLocks::Spin, &mut Rng::keyed(1, Purpose::Stretch, nth));
        (0..40_000).map(draw).collect()
    }

    fn mean(of: &[Nanos]) -> u64 {
        of.iter().map(|n| n.0).sum::<u64>() / of.len() as u64
    }

    /// machine.md M23: exponential with mean 8 and never above 50; fully preemptible, 0 with probability
    /// 0.75, else with mean 1.5 and at most 20.
    #[test]
    fn m23_residuals_of_an_exec() {
        for (model, expected) in [(PreemptModel::None, 8_000), (PreemptModel::Voluntary, 4_000)] {
            let all = residuals(model);
            assert!(mean(&all).abs_diff(expected) < expected / 40, "{model:?}: {}", mean(&all));
            assert!(all.iter().all(|r| *r <= Nanos(50_000)) && all.iter().any(|r| *r > Nanos(30_000)));
            let median = expected * 693 / 1000;
            let below = all.iter().filter(|r| r.0 < median).count();
            assert!(below.abs_diff(20_000) < 500, "{model:?}: {below} below ln 2 times the mean");
        }
        for model in [PreemptModel::Full, PreemptModel::Lazy] {
            let (atomic, free): (Vec<Nanos>, Vec<Nanos>) =
                residuals(model).into_iter().partition(|r| *r > Nanos::ZERO);
            assert!(free.len().abs_diff(30_000) < 500, "{model:?}: {}", free.len());
            assert!(mean(&atomic).abs_diff(1_500) < 40 && atomic.iter().all(|r| *r <= Nanos(20_000)));
        }
    }

    /// machine.md 1.11: with PREEMPT_RT a tenth of the sections is left, each as long.
    #[test]
    fn sleeping_locks_leave_a_tenth_of_the_sections() {
        let draw = |nth| {
            EXEC.residual(
                PreemptModel::Full,
                KernelLocks::Sleeping,
                &mut Rng::keyed(1, Purpose::Stretch, nth),
            )
        };
        let atomic: Vec<Nanos> = (0..400_000).map(draw).filter(|r| *r > Nanos::ZERO).collect();
        assert!(atomic.len().abs_diff(10_000) < 300, "{}", atomic.len());
        assert!(mean(&atomic).abs_diff(1_500) < 50, "{}", mean(&atomic));
        assert!(atomic.iter().all(|r| *r <= Nanos(20_000)));
    }

    /// machine.md 4.2: a short call has no points.
    #[test]
    fn without_points_a_request_waits_for_the_end() {
        let call = Stretch { points: None, ..EXEC };
        for model in [PreemptModel::None, PreemptModel::Voluntary] {
            let mut rng = Rng::keyed(1, Purpose::Stretch, 1);
            assert_eq!(call.residual(model, KernelLocks::Spin, &mut rng), Nanos::NEVER);
        }
    }

    #[test]
    fn an_operation_that_nobody_described_is_one_block() {
        let mut stretches = Stretches::default();
        stretches.set(Operation::Exec, EXEC);
        let described = Operation::ALL.map(|operation| stretches.of(operation).is_some());
        assert_eq!(described, [false, false, true, false, false, false]);
    }
}
