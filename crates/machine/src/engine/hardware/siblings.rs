//! The hardware threads of a core, and the CPUs that read from the same memory, change each other's rates
//! (machine.md 6.2, 6.4).
//!
//! A run goes at one rate from its begin to its end. Whoever changes the rate of another CPU ends that one's
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
    /// rates from now on, and so do those who share its memory, if it reads more or less than the one before.
    pub fn occupy(&self, me: CpuId, occupant: Occupant) {
        let before = self.cpu(me).occupant.replace(occupant).reads();
        match self.paces.memory.as_ref().filter(|_| before != occupant.reads()) {
            None => self.repace(me, &self.paces.cores[me.index()]),
            Some(memory) => {
                let node = memory.node(me);
                node.wanted.set(node.wanted.get() - u64::from(before) + u64::from(occupant.reads()));
                self.repace(me, &node.cpus);
            }
        }
    }

    /// The CPUs of a domain run at another of its levels from now on.
    pub fn run_at(&self, me: CpuId, domain: &FrequencyDomain, level: usize) {
        for cpu in domain.cpus.iter() {
            let highest = self.spec.speeds.of(cpu).ten_thousandths();
            self.paces.change(cpu, domain.part_at(level, highest.into()) as u32);
            self.energy.changed(cpu, self.local_now(), domain, level);
            self.repace(me, &self.paces.cores[cpu.index()]);
        }
    }

    /// These CPUs, whole cores, execute at the rates that are right from now on.
    fn repace(&self, me: CpuId, cpus: &[CpuId]) {
        for cpu in cpus {
            let there = self.cpu(*cpu);
            let core = self.pace_of_core(*cpu);
            let rate = self.paces.beside_readers(*cpu, core, there.occupant.get().reads());
            there.kernel_rate.set(core);
            let changes = there.rate.replace(rate) != rate && there.occupant.get() != Occupant::Idle;
            if changes && *cpu != me && there.mode.get() == Mode::Interruptible {
                self.queue.set_earlier(self.work_slot(*cpu), self.local_now().max(there.ready_at.get()));
            }
        }
        self.paces.executing.set(self.cpu(me).kernel_rate.get());
    }

    /// How fast a CPU executes what reads nothing from memory.
    fn pace_of_core(&self, cpu: CpuId) -> Rate {
        let occupant = |cpu: CpuId| self.cpu(cpu).occupant.get();
        match occupant(cpu) {
            Occupant::Idle => self.paces.of_idle(cpu),
            Occupant::Work { .. } => {
                let core = &self.paces.cores[cpu.index()];
                let busy = core.iter().filter(|cpu| occupant(**cpu) != Occupant::Idle).count() as u32;
                self.paces.of_busy(cpu, busy)
            }
            Occupant::RecordedWork => Rate::FULL,
        }
    }
}
