//! How fast CPUs execute: their speeds, what busy hardware threads of a core take from each other, and what
//! readers of the same memory do (machine.md 6.2 to 6.4).

use super::memory::SharedMemory;
use crate::spec::MachineSpec;
use scheduler::{CpuId, Nanos};
use std::cell::Cell;

/// Work done in a unit of time, in ten thousandths: from 1 to [`Rate::FULL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rate(u32);

/// Work that has been done beyond whole nanoseconds: ten thousandths of one, fewer than all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fraction(u32);

/// What a CPU executes, as far as that decides speeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Occupant {
    /// Nothing, or an interrupt on top of that: it takes nothing from its siblings.
    #[default]
    Idle,
    /// A task whose work is told for a CPU at full speed.
    Work {
        /// What it reads from memory then, in bytes a microsecond.
        reads: u32,
    },
    /// A task whose work is recorded CPU time, in which what slowed it then is contained.
    RecordedWork,
}

impl Occupant {
    /// What it wants to read from memory, in bytes a microsecond.
    pub fn reads(self) -> u32 {
        match self {
            Occupant::Work { reads } => reads,
            Occupant::Idle | Occupant::RecordedWork => 0,
        }
    }
}

const WHOLE: u64 = 10_000;
/// No run of a machine is as long.
const ENDLESS: u64 = 1 << 62;

impl Rate {
    /// Nothing slows it down.
    pub const FULL: Rate = Rate(WHOLE as u32);

    fn new(ten_thousandths: u32) -> Rate {
        Rate(ten_thousandths.clamp(1, WHOLE as u32))
    }

    /// How long so much work takes, of which a fraction has been done: up to the nanosecond in which it ends.
    #[inline]
    pub fn time_for(self, work: Nanos, done: Fraction) -> Nanos {
        if self == Rate::FULL { work } else { self.slow_time_for(work, done) }
    }

    #[inline(never)]
    fn slow_time_for(self, work: Nanos, done: Fraction) -> Nanos {
        let rate = u64::from(self.0);
        let units = (work.0 % rate) as i64 * WHOLE as i64 - i64::from(done.0);
        let rest = -(-units).div_euclid(rate as i64);
        let time = (work.0 / rate).saturating_mul(WHOLE).min(ENDLESS);
        Nanos(time.saturating_add_signed(rest))
    }

    /// How much work is done in a time, after a fraction that had been done before.
    #[inline]
    pub fn work_in(self, time: Nanos, before: Fraction) -> (Nanos, Fraction) {
        if self == Rate::FULL { (time, before) } else { self.slow_work_in(time, before) }
    }

    #[inline(never)]
    fn slow_work_in(self, time: Nanos, before: Fraction) -> (Nanos, Fraction) {
        let rate = u64::from(self.0);
        let units = time.0 % WHOLE * rate + u64::from(before.0);
        (Nanos(time.0 / WHOLE * rate + units / WHOLE), Fraction((units % WHOLE) as u32))
    }
}

/// What decides how fast the CPUs of a machine execute.
#[derive(Debug)]
pub(crate) struct Paces {
    /// Some CPU executes at times below full speed.
    pub vary: bool,
    /// It does so whoever executes, and not only beside others that read from memory.
    whoever: bool,
    /// The rate of the CPU whose path is executed.
    pub executing: Cell<Rate>,
    /// Percent of a CPU's speed beside one busy sibling.
    smt_busy_percent: u32,
    /// By CPU, in ten thousandths, at its present frequency; nothing if nothing varies.
    own: Box<[Cell<u32>]>,
    /// The CPUs of each CPU's core.
    pub cores: Box<[Box<[CpuId]>]>,
    /// What memory gives, and who shares it; `None`: all that they want.
    pub memory: Option<SharedMemory>,
}

impl Paces {
    /// Those of a machine whose CPUs are idle.
    pub fn new(spec: &MachineSpec) -> Paces {
        let speeds = &spec.speeds;
        let cpus = || (0..spec.cpus() as u16).map(CpuId);
        let changes = !spec.topology.frequencies.is_empty();
        let memory = spec.memory.map(|gives| SharedMemory::new(spec, gives));
        let whoever = changes || speeds.smt_busy_percent < 100 || cpus().any(|cpu| speeds.of(cpu).is_less());
        let vary = whoever || memory.is_some();
        let known = || cpus().filter(|_| vary);
        Paces {
            vary,
            whoever,
            executing: Cell::new(Rate::FULL),
            smt_busy_percent: speeds.smt_busy_percent,
            own: known().map(|cpu| Cell::new(speeds.of(cpu).ten_thousandths())).collect(),
            cores: known().map(|cpu| spec.core_of(cpu).iter().collect()).collect(),
            memory,
        }
    }

    /// Whether it may make a difference to any rate that a CPU executes the one and no longer the other.
    pub fn differ(&self, a: Occupant, b: Occupant) -> bool {
        if self.whoever { a != b } else { a.reads() != b.reads() }
    }

    /// That of a CPU that executes no task.
    pub fn of_idle(&self, cpu: CpuId) -> Rate {
        self.own.get(cpu.index()).map_or(Rate::FULL, |own| Rate::new(own.get()))
    }

    /// A CPU alone executes at so many ten thousandths from now on.
    pub fn change(&self, cpu: CpuId, ten_thousandths: u32) {
        self.own[cpu.index()].set(ten_thousandths);
    }

    /// That of a CPU that executes a task, one of so many in its core. Two take their share from each other;
    /// more than two get no more done together than two.
    pub fn of_busy(&self, cpu: CpuId, in_core: u32) -> Rate {
        let own = self.own[cpu.index()].get();
        match in_core {
            ..=1 => self.of_idle(cpu),
            _ => Rate::new(own * self.smt_busy_percent / 50 / in_core),
        }
    }

    /// What is left of a rate of a CPU to a task that wants to read so much from memory, in bytes a
    /// microsecond: it waits for others that read, too.
    pub fn beside_readers(&self, cpu: CpuId, rate: Rate, reads: u32) -> Rate {
        let Some(memory) = self.memory.as_ref().filter(|_| reads > 0) else { return rate };
        Rate::new((u64::from(rate.0) * memory.speed(cpu, reads) / WHOLE) as u32)
    }

    /// How long it takes a CPU to fetch what takes so long alone.
    pub fn time_to_fetch(&self, cpu: CpuId, alone: Nanos) -> Nanos {
        self.memory.as_ref().map_or(alone, |memory| memory.time_to_fetch(cpu, alone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_time_at_a_rate_belong_together() {
        // machine.md M33: 6 ms at 0.62 are 3.72 ms of work.
        let rate = Rate::new(6_200);
        assert_eq!(rate.work_in(Nanos(6_000_000), Fraction(0)), (Nanos(3_720_000), Fraction(0)));
        assert_eq!(rate.time_for(Nanos(3_720_000), Fraction(0)), Nanos(6_000_000));
        for rate in [1, 3, 3_333, 6_200, 9_999, 10_000].map(Rate::new) {
            for (work, fraction) in [(1, 0), (1, 9_999), (7, 5_000), (10_001, 1), (123_456_789, 4_321)] {
                let (work, before) = (Nanos(work), Fraction(fraction));
                let time = rate.time_for(work, before);
                assert_eq!(rate.work_in(time, before).0, work, "{rate:?} {work:?}");
                assert!(
                    time == Nanos(0) || rate.work_in(time - Nanos(1), before).0 < work,
                    "{rate:?} {work:?}"
                );
            }
        }
    }

    #[test]
    fn no_interruption_loses_a_part_of_a_nanosecond() {
        let rate = Rate::new(6_200);
        let (mut all, mut fraction) = (Nanos::ZERO, Fraction(0));
        for _ in 0..10_000 {
            let (work, left) = rate.work_in(Nanos(7), fraction);
            (all, fraction) = (all + work, left);
        }
        assert_eq!((all, fraction), rate.work_in(Nanos(70_000), Fraction(0)));
    }

    #[test]
    fn what_never_ends_stays_endless() {
        assert!(Rate::new(1).time_for(Nanos(1 << 62), Fraction(0)) >= Nanos(1 << 61));
    }
}
