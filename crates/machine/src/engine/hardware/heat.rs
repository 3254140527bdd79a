//! How warm the kernel's own way to a woken task is on a CPU (machine.md 6.1): what tasks do there evicts it,
//! and so does a halt. Machines whose file has no `[cold]` always have it warm.

use super::hw::Hw;
use super::touched::Executed;
use scheduler::{CpuId, Nanos};

impl Hw {
    /// The task on `cpu` has executed.
    #[inline]
    pub fn touches(&self, cpu: CpuId, run: Executed) {
        let touched = &self.cpu(cpu).touched;
        touched.set(touched.get().and(run));
    }

    /// Another task executes on `cpu` from now on.
    #[inline]
    pub fn touched_by_another(&self, cpu: CpuId) {
        let touched = &self.cpu(cpu).touched;
        touched.set(touched.get().by_others());
    }

    /// How long `me`, which leaves its idle state, has been there.
    pub fn has_idled(&self, me: CpuId) -> Nanos {
        self.local_now().saturating_sub(self.cpu(me).idle_since.get())
    }

    /// The executing path goes the way to a woken task, after a halt of this length: it fetches what is cold.
    #[inline]
    pub fn warms_the_way(&self, me: CpuId, halted: Nanos) {
        let Some(cold) = &self.spec.cold else { return };
        let touched = self.cpu(me).touched.take();
        self.charge_work(self.paces.time_to_fetch(me, cold.cost(touched.bytes(), halted)));
    }
}
