//! The hardware threads of a core change each other's rates (machine.md 6.2).
//!
//! A run goes at one rate from its begin to its end. Whoever changes the rate of a sibling ends that one's
//! run at this moment, and what is left of its work begins anew. Parts of a nanosecond are kept from run to
//! run, so that it makes no difference how often that happens.

use super::cpu::Mode;
use super::hw::Hw;
use super::pace::{Fraction, Occupant, Rate};
use crate::engine::record::words;
use scheduler::frequency::FrequencyDomain;
use scheduler::{CpuId, Nanos};
use schema::LogEvent;

impl Hw {
    /// How long such a piece of work takes on `cpu` as things are.
    pub fn at_pace(&self, cpu: CpuId, work: Nanos) -> Nanos {
        self.cpu(cpu).rate.get().time_for(work, Fraction::default())
    }

    /// The CPU that makes this rate of another one slower than that would be alone, if a log wants to know;
    /// the first one, if several do.
    #[inline]
    pub fn slowed_by(&self, cpu: CpuId, rate: Rate) -> Option<CpuId> {
        if rate == Rate::FULL || !self.recorder.tells_everything() {
            None
        } else {
            self.busy_beside(cpu, rate)
        }
    }

    fn busy_beside(&self, cpu: CpuId, rate: Rate) -> Option<CpuId> {
        let is_busy = |other: &&CpuId| **other != cpu && self.cpu(**other).occupant.get() != Occupant::Idle;
        let busy = self.paces.cores[cpu.index()].iter().find(is_busy).copied();
        busy.filter(|_| rate != self.paces.of_idle(cpu))
    }

    /// A CPU has done so much work in a time, beside a busy sibling.
    #[cold]
    pub fn note_slowed(&self, cpu: CpuId, since: Nanos, time: Nanos, work: Nanos, sibling: CpuId) {
        let lost = time.saturating_sub(self.paces.of_idle(cpu).time_for(work, Fraction::default()));
        if time > Nanos::ZERO {
            self.note_detail(cpu, || LogEvent::SlowedBySibling {
                since: words::time(since),
                lost: words::time(lost),
                sibling: words::cpu(sibling),
            });
        }
    }

    /// `me`, whose path has come to this time, goes on with another occupant: its core executes at other
    /// rates from now on.
    pub fn occupy(&self, me: CpuId, occupant: Occupant) {
        self.cpu(me).occupant.set(occupant);
        self.repace(me, me);
    }

    /// The CPUs of a domain run at another of its levels from now on.
    pub fn run_at(&self, me: CpuId, domain: &FrequencyDomain, level: usize) {
        for cpu in domain.cpus.iter() {
            let highest = self.spec.speeds.of(cpu).ten_thousandths();
            self.paces.change(cpu, domain.part_at(level, highest.into()) as u32);
            self.energy.changed(cpu, self.local_now(), domain, level);
            self.repace(me, cpu);
        }
    }

    /// The core of a CPU executes at the rates that are right from now on.
    fn repace(&self, me: CpuId, cpu: CpuId) {
        let core = &self.paces.cores[cpu.index()];
        let busy = core.iter().filter(|cpu| self.cpu(**cpu).occupant.get() != Occupant::Idle).count() as u32;
        for cpu in core {
            let there = self.cpu(*cpu);
            let rate = match there.occupant.get() {
                Occupant::Idle => self.paces.of_idle(*cpu),
                Occupant::Work => self.paces.of_busy(*cpu, busy),
                Occupant::RecordedWork => Rate::FULL,
            };
            let changes = there.rate.replace(rate) != rate && there.occupant.get() != Occupant::Idle;
            if changes && *cpu != me && there.mode.get() == Mode::Interruptible {
                self.queue.set_earlier(self.work_slot(*cpu), self.local_now().max(there.ready_at.get()));
            }
        }
        self.paces.executing.set(self.cpu(me).rate.get());
    }
}
