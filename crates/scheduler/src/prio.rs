//! Priorities, policies and weights (rt-class 0.2, fair-class 1.1).

use crate::DlParams;
use core::fmt;

/// Kernel priority: smaller is more urgent. Deadline −1, RT 0..=98, normal 100..=139, [`Prio::IDLE`] 140.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Prio(pub i16);

impl Prio {
    /// Every deadline task (deadline-groups A1).
    pub const DEADLINE: Prio = Prio(-1);
    /// One past the RT range, and the sentinel for "no RT task queued" (rt-class 0.2).
    pub const NO_RT: Prio = Prio(100);
    /// The idle task.
    pub const IDLE: Prio = Prio(140);
    /// A normal task of nice 0.
    pub const NICE_0: Prio = Prio(120);

    /// Whether this is a real-time priority, or that of deadline tasks.
    pub const fn is_rt(self) -> bool {
        self.0 < 100
    }

    /// Whether this is the priority of deadline tasks.
    pub const fn is_deadline(self) -> bool {
        self.0 < 0
    }

    /// Strictly more urgent than `other`: the spec's "p beats q".
    pub const fn beats(self, other: Prio) -> bool {
        self.0 < other.0
    }
}

/// The idle task's, the least urgent of all.
impl Default for Prio {
    fn default() -> Prio {
        Prio::IDLE
    }
}

impl fmt::Display for Prio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// User-visible real-time priority, 1..=99, bigger is more urgent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RtPriority(u8);

impl RtPriority {
    /// The most urgent one.
    pub const MAX: RtPriority = RtPriority(99);

    /// `None` outside 1..=99.
    pub const fn new(value: u8) -> Option<RtPriority> {
        if value >= 1 && value <= 99 { Some(RtPriority(value)) } else { None }
    }

    /// 1..=99.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The kernel priority: 99 − rt_priority.
    pub const fn prio(self) -> Prio {
        Prio(99 - self.0 as i16)
    }
}

/// Nice value, −20..=19, smaller gets more CPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Nice(i8);

impl Nice {
    /// `None` outside −20..=19.
    pub const fn new(value: i8) -> Option<Nice> {
        if value >= -20 && value <= 19 { Some(Nice(value)) } else { None }
    }

    /// −20..=19.
    pub const fn get(self) -> i8 {
        self.0
    }

    /// The kernel priority: 120 + nice.
    pub const fn prio(self) -> Prio {
        Prio(120 + self.0 as i16)
    }

    /// Load weight (fair-class 1.1); nice 0 is [`NICE_0_LOAD`].
    pub const fn weight(self) -> u64 {
        NICE_TO_WEIGHT[(self.0 + 20) as usize]
    }
}

/// Weight of a nice 0 task.
pub const NICE_0_LOAD: u64 = 1024;

/// Weight of a SCHED_IDLE task, whatever its nice.
pub const IDLE_POLICY_WEIGHT: u64 = 3;

/// Weight of an RT task where it counts in its CPU's load (fair-class 1.1): twice that of nice −20.
pub const RT_LOAD_WEIGHT: u64 = 2 * NICE_TO_WEIGHT[0];

/// Ratio 1.25 a step, rounded by hand in the kernel (fair-class 1.1).
const NICE_TO_WEIGHT: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
    2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29,
    23, 18, 15,
];

/// Scheduling policy with the parameter that belongs to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// SCHED_NORMAL (SCHED_OTHER).
    #[default]
    Normal,
    /// SCHED_BATCH: as normal, but its wakeups never preempt.
    Batch,
    /// SCHED_IDLE: weight 3, preempted by every other fair task.
    Idle,
    /// SCHED_FIFO: runs until it blocks, yields or is preempted.
    Fifo(RtPriority),
    /// SCHED_RR: as FIFO, with a time slice among equals.
    Rr(RtPriority),
    /// SCHED_DEADLINE: run time in each period, before all others (deadline-groups A).
    Deadline(DlParams),
}

impl Policy {
    /// Whether it goes before all fair tasks: the real-time policies, and SCHED_DEADLINE.
    pub const fn is_rt(self) -> bool {
        matches!(self, Policy::Fifo(_) | Policy::Rr(_) | Policy::Deadline(_))
    }

    /// Real-time priority, if it has one.
    pub const fn rt_priority(self) -> Option<RtPriority> {
        match self {
            Policy::Fifo(p) | Policy::Rr(p) => Some(p),
            _ => None,
        }
    }

    /// The priority of a task with this policy and nice value, before any inheritance.
    pub const fn normal_prio(self, nice: Nice) -> Prio {
        match self {
            Policy::Deadline(_) => Prio::DEADLINE,
            Policy::Fifo(p) | Policy::Rr(p) => p.prio(),
            _ => nice.prio(),
        }
    }

    /// Load weight in the fair class under this policy (RT tasks are outside its timeline:
    /// [`RT_LOAD_WEIGHT`]).
    pub const fn weight(self, nice: Nice) -> u64 {
        match self {
            Policy::Idle => IDLE_POLICY_WEIGHT,
            _ => nice.weight(),
        }
    }

    /// The name that chrt and the JSON schema use.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Normal => "SCHED_OTHER",
            Policy::Batch => "SCHED_BATCH",
            Policy::Idle => "SCHED_IDLE",
            Policy::Fifo(_) => "SCHED_FIFO",
            Policy::Rr(_) => "SCHED_RR",
            Policy::Deadline(_) => "SCHED_DEADLINE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_of_rt_class_0_2() {
        assert_eq!(RtPriority::new(99).map(RtPriority::prio), Some(Prio(0)));
        assert_eq!(RtPriority::new(1).map(RtPriority::prio), Some(Prio(98)));
        assert_eq!((RtPriority::new(0), RtPriority::new(100)), (None, None));
        assert_eq!(Nice::default().prio(), Prio::NICE_0);
        assert_eq!((Nice::new(-21), Nice::new(20)), (None, None));
        assert!(Prio(3).beats(Prio(4)) && !Prio(4).beats(Prio(4)));
    }

    #[test]
    fn weights_of_fair_class_1_1() {
        let weight = |n| Nice::new(n).map(Nice::weight);
        assert_eq!(
            (weight(-20), weight(0), weight(5), weight(19)),
            (Some(88761), Some(1024), Some(335), Some(15))
        );
        assert_eq!(Policy::Idle.weight(Nice::default()), 3);
        assert_eq!(RT_LOAD_WEIGHT, 177522);
    }
}
