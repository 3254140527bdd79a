//! How many push interrupts are under way at one time (rt-class 6: at most one for each walker).

use scheduler::CpuId;
use std::cell::Cell;

/// Push interrupts that were sent and whose handler has not begun.
#[derive(Debug)]
pub(crate) struct PushIpis {
    all: InFlight,
    /// By the CPU on whose behalf they were sent.
    by_source: Box<[InFlight]>,
}

#[derive(Clone, Debug, Default)]
struct InFlight {
    now: Cell<u32>,
    most: Cell<u32>,
}

impl InFlight {
    fn sent(&self) {
        self.now.set(self.now.get() + 1);
        self.most.set(self.most.get().max(self.now.get()));
    }

    fn arrived(&self) {
        self.now.set(self.now.get() - 1);
    }

    fn forget_most(&self) {
        self.most.set(self.now.get());
    }
}

impl PushIpis {
    pub fn new(cpus: usize) -> PushIpis {
        PushIpis { all: InFlight::default(), by_source: vec![InFlight::default(); cpus].into() }
    }

    pub fn sent(&self, source: CpuId) {
        self.all.sent();
        self.by_source[source.index()].sent();
    }

    pub fn arrived(&self, source: CpuId) {
        self.all.arrived();
        self.by_source[source.index()].arrived();
    }

    /// From now on, only what is under way counts.
    pub fn forget_most(&self) {
        self.all.forget_most();
        self.by_source.iter().for_each(InFlight::forget_most);
    }

    /// Most that were under way at one time.
    pub fn most(&self) -> u32 {
        self.all.most.get()
    }

    /// Most that were under way at one time on behalf of one CPU.
    pub fn most_by_source(&self) -> u32 {
        self.by_source.iter().map(|source| source.most.get()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_at_one_time_is_kept_for_the_machine_and_for_one_source() {
        let ipis = PushIpis::new(3);
        ipis.sent(CpuId(0));
        ipis.sent(CpuId(1));
        ipis.sent(CpuId(1));
        ipis.arrived(CpuId(1));
        ipis.sent(CpuId(2));
        assert_eq!((ipis.most(), ipis.most_by_source()), (3, 2));
    }
}
