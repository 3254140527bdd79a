//! Noise: stretches in which a CPU takes no interrupt ([`crate::spec::IrqOff`]), and draws from its dice.
//!
//! Each source of each CPU has a slot in the event queue: when it fires, a stretch begins. On a CPU that
//! idles nobody notices, unless something arrives or the stretch wakes a kernel thread. So the stretches of
//! an idle CPU go by unseen: the slot that fires there stays out of the queue, and whoever next has business
//! with the CPU makes up for it first ([`Hw::catch_up`]). That draws the same dice in the same order and
//! finds the CPU as if it had served every stretch in its time.

use super::cpu::Irq;
use super::hw::Hw;
use crate::rng::Rng;
use scheduler::{CpuId, Nanos};

/// Stretches that are served together, by one interrupt.
struct Batch {
    served_at: Nanos,
    length: Nanos,
    /// That of the first; it makes no difference, because none of them wakes anybody.
    source: u32,
}

impl Hw {
    /// Draws from the stream of a CPU.
    pub fn dice<T>(&self, cpu: CpuId, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.cpus[cpu.index()].noise.rng.borrow_mut())
    }

    /// All streams of the hardware derive from this seed from now on.
    pub fn redraw(&self, seed: u64) {
        for (number, cpu) in self.cpus.iter().enumerate() {
            cpu.redraw(seed, number as u64);
        }
        if let Some(paths) = &self.paths {
            paths.redraw(seed);
        }
        if let Some(idle) = &self.idle {
            idle.redraw(seed);
        }
    }

    /// Programs the first stretch of every source on every CPU.
    pub fn start_noise(&self) {
        for source in 0..self.spec.noise.irq_off.len() {
            for cpu in (0..self.cpus.len() as u16).map(CpuId) {
                self.draw_gap(cpu, source, self.now.get());
                self.program_stretch(cpu, source);
            }
        }
    }

    /// The slot of a source on `cpu` fires: a stretch begins, which keeps the CPU for the time returned.
    /// `None` if nobody has to know yet.
    pub fn stretch_begins(&self, cpu: CpuId, source: usize, nobody_notices: bool) -> Option<Nanos> {
        if nobody_notices {
            self.cpus[cpu.index()].noise.unseen.set(true);
            return None;
        }
        let length = self.draw_stretch(cpu, source);
        self.program_stretch(cpu, source);
        Some(length)
    }

    /// Makes up for the stretches that began on an idle CPU up to now. One that began while another kept the
    /// CPU waited for it, with those that came meanwhile.
    #[inline]
    pub fn catch_up(&self, cpu: CpuId) {
        if self.cpus[cpu.index()].noise.unseen.replace(false) {
            self.make_up_for_stretches(cpu);
        }
    }

    #[inline(never)]
    fn make_up_for_stretches(&self, cpu: CpuId) {
        let (hw, costs, now) = (&self.cpus[cpu.index()], &self.spec.costs, self.now.get());
        let idle_exit = if hw.halted.get() { costs.idle_exit } else { Nanos::ZERO };
        let around = self.at_pace(cpu, costs.irq_entry) + self.at_pace(cpu, costs.irq_exit);
        let done = |b: Batch| b.served_at + idle_exit + around + b.length;
        let mut batch: Option<Batch> = None;
        while let Some(source) = hw.noise.first_begun(now) {
            let begins = hw.noise.next[source].get();
            if let Some(before) = batch.take_if(|b| b.served_at < begins) {
                hw.ready_at.set(done(before));
            }
            let length = self.draw_stretch(cpu, source);
            let served_at = begins.max(hw.ready_at.get());
            let together = Batch { served_at, length: Nanos::ZERO, source: source as u32 };
            batch.get_or_insert(together).length += length;
        }
        match batch {
            Some(last) if last.served_at <= now => hw.ready_at.set(done(last)),
            Some(waits) => {
                let stretch = Irq::Off { source: waits.source, length: waits.length };
                self.note_raised(cpu, stretch);
                hw.pending.borrow_mut().push_back(stretch);
                self.queue.set(self.work_slot(cpu), waits.served_at);
            }
            None => {}
        }
        for source in 0..hw.noise.next.len() {
            self.program_stretch(cpu, source);
        }
    }

    /// The length of the stretch that begins now, and when the source's next one does.
    fn draw_stretch(&self, cpu: CpuId, source: usize) -> Nanos {
        let begins = self.cpus[cpu.index()].noise.next[source].get();
        self.draw_gap(cpu, source, begins);
        self.dice(cpu, |rng| self.spec.noise.irq_off[source].length.draw(rng))
    }

    fn draw_gap(&self, cpu: CpuId, source: usize, from: Nanos) {
        let mean = Nanos(60_000_000_000 / u64::from(self.spec.noise.irq_off[source].per_minute_per_cpu));
        let gap = self.dice(cpu, |rng| rng.exponential(mean));
        self.cpus[cpu.index()].noise.next[source].set(from + gap);
    }

    fn program_stretch(&self, cpu: CpuId, source: usize) {
        let next = self.cpus[cpu.index()].noise.next[source].get();
        self.queue.set(self.noise_slot(cpu, source), next);
    }
}
