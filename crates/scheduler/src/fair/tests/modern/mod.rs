//! The worked examples of fair-placement 6.3 that need a machine: two sockets of four cores of two threads,
//! CPUs 2k and 2k + 1 in core k, one cache a socket.

mod balance;
mod clusters;
mod energy;
mod fork;
mod nohz;
mod older;
mod oldest;
mod packing;
mod recorded;
mod recorded_states;
mod unequal;
mod wakeup;

use crate::testing::{Lab, cpus, level};
use crate::{CpuMask, LevelKind, Nanos, Policy, TaskId, Topology};
use alloc::vec::Vec;

fn two_sockets() -> Topology {
    let level = |kind, size| level(16, kind, size);
    Topology::of(
        16,
        [level(LevelKind::Smt, 2), level(LevelKind::Mc, 8), level(LevelKind::Numa { distance: 20 }, 16)]
            .into(),
    )
}

/// A lab with load tracking, placement and balancing of Linux 6.1.0, without what its stable branch added.
fn modern(topology: &Topology, more: &[&str]) -> Lab {
    Lab::on(topology, "6.1.y", &[&["hz=250", "NO_NI_RANDOM", "idle_tick=drop"], more].concat())
}

impl Lab {
    /// A hog on each of these CPUs, bound to it, with converged averages of this load.
    fn hogs_of_load(&self, on: &[u16], load: u64) {
        for cpu in on {
            let p = self.spawn_allowed(Policy::Normal, *cpu, cpus(&[*cpu]));
            self.set_averages(p, load, 1024);
        }
    }

    /// Sets what a task brings, in its queue's averages too.
    fn set_averages(&self, p: TaskId, load: u64, util: u64) {
        crate::fair::pelt::set_averages(self.cpu(0), p, load, util);
    }

    /// So many CPUs of each cache may be searched.
    fn allow_scans(&self, cpus: u64) {
        self.k.fair_root.caches.iter().for_each(|c| c.nr_idle_scan.set(cpus));
    }

    fn know_idle_core(&self, known: bool) {
        self.k.fair_root.caches.iter().for_each(|c| c.has_idle_cores.set(known));
    }

    /// Ticks on all CPUs that are busy, every 4 ms.
    fn run_on(&self, total: Nanos) {
        for _ in 0..total.0 / 4_000_000 {
            self.advance(Nanos::from_millis(4));
            for cpu in 0..self.k.cpus() as u16 {
                if !self.idle(cpu) {
                    self.tick(cpu);
                }
            }
        }
    }

    fn queued_on(&self) -> Vec<u32> {
        self.k.rqs().iter().map(|rq| rq.published.nr_running.get()).collect()
    }
}

/// All CPUs but these, below `below`.
fn all_but(free: &[u16], below: u16) -> Vec<u16> {
    (0..below).filter(|c| !free.contains(c)).collect()
}

/// Whatever `p` may run on.
fn allow(lab: &Lab, p: TaskId, allowed: CpuMask) {
    lab.run(crate::affinity::set_cpus_allowed(lab.cpu(0), p, allowed));
}
