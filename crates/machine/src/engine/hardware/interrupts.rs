//! Interrupts arrive.

use super::cpu::{Irq, Mode};
use super::hw::Hw;
use scheduler::CpuId;

impl Hw {
    /// An interrupt arrives at `cpu`: it is served at once if the CPU takes interrupts, else as soon as it
    /// does. The CPU, if it is to go on now because of it.
    #[inline]
    pub fn raise(&self, cpu: CpuId, irq: Irq) -> Option<CpuId> {
        self.catch_up(cpu);
        let hw = self.cpu(cpu);
        self.note_raised(cpu, irq);
        hw.pending.borrow_mut().push_back(irq);
        if hw.mode.get() != Mode::Interruptible {
            return None;
        }
        if hw.ready_at.get() <= self.now.get() {
            return Some(cpu);
        }
        self.queue.set(self.work_slot(cpu), hw.ready_at.get());
        None
    }
}
