//! The worked examples, tables and theorems of the EEVDF class (eevdf-class 6.2, 7, 8.3).

mod buddies;
mod delay;
mod hrtick;
mod model;
mod preempt;
mod published;
mod random;
mod resched;
mod state;
mod ticks;
mod units;

use super::ms;
use crate::fair::eevdf::{avg_vruntime, choose, join_tree, leave_tree};
use crate::fair::queue::EntityId;
use crate::rq::Resched;
use crate::testing::{Lab, fifo};
use crate::{CpuId, CpuMask, Nanos, Policy, TaskId};

impl Lab {
    /// Puts an entity at a virtual runtime and a deadline, both in ms.
    fn stand(&self, p: TaskId, v: f64, d: f64) {
        let task = self.k.task(p);
        let mut rq = self.run(self.cpu(0).lock(task.cpu.get()));
        let waits = task.se.in_timeline.get();
        leave_tree(&mut rq, &task.se);
        task.se.vruntime.set(ms(v));
        task.se.eevdf.deadline.set(ms(d));
        if waits {
            join_tree(&mut rq, EntityId::of(p), &task.se);
        }
    }

    /// An entity asks for slices of so many ms; a waiting one is filed anew.
    fn ask_for(&self, p: TaskId, slice: f64) {
        let task = self.k.task(p);
        let mut rq = self.run(self.cpu(0).lock(task.cpu.get()));
        let waits = task.se.in_timeline.get();
        leave_tree(&mut rq, &task.se);
        crate::fair::set_custom_slice(&self.k, &task.se, Nanos(ms(slice)));
        if waits {
            join_tree(&mut rq, EntityId::of(p), &task.se);
        }
    }

    /// The running entity of CPU 0 is protected up to this virtual time, in ms.
    fn protect(&self, until: f64) {
        self.k.task(self.running(0)).se.eevdf.vprot.set(ms(until));
    }

    /// V of a CPU's queue, in ns.
    fn zero_lag_point(&self, cpu: u16) -> u64 {
        avg_vruntime(&mut self.run(self.cpu(cpu).lock(CpuId(cpu))))
    }

    /// Whom a CPU would pick.
    fn would_pick(&self, cpu: u16) -> Option<TaskId> {
        choose(&mut self.run(self.cpu(cpu).lock(CpuId(cpu)))).map(EntityId::task)
    }

    /// An entity's deadline, in ns.
    fn deadline(&self, p: TaskId) -> u64 {
        self.k.task(p).se.eevdf.deadline.get()
    }

    /// An entity's virtual runtime and deadline, in ns.
    fn standing_at(&self, p: TaskId) -> [u64; 2] {
        [self.vr(p), self.deadline(p)]
    }

    /// How far an entity is left of V, in ns.
    fn lag_of(&self, p: TaskId) -> i64 {
        let cpu = self.cpu_of(p);
        self.zero_lag_point(cpu).wrapping_sub(self.vr(p)) as i64
    }

    /// A real-time task takes CPU 0, so that all fair ones wait.
    fn take_cpu(&self) -> TaskId {
        let p = self.spawn_unsettled(fifo(50), 0, 0, CpuMask::single(CpuId(0)));
        self.settle();
        p
    }

    /// A sleeping task of this nice value with this stored lag, in ms.
    fn sleeper(&self, nice: i8, vlag: f64) -> TaskId {
        let p = self.spawn_unsettled(Policy::Normal, nice, 0, CpuMask::single(CpuId(0)));
        self.settle();
        let at = self.zero_lag_point(0) as f64 / 1e6;
        // Left of all others it is picked, and may go at once.
        self.stand(p, at - 100.0, at - 99.0);
        self.k.rq(CpuId(0)).published.resched.overwrite(Resched::Full);
        self.protect(0.0);
        self.settle();
        assert_eq!(self.running(0), p);
        self.block(0);
        assert!(!self.k.task(p).on_rq.get());
        self.k.task(p).se.eevdf.vlag.set((vlag * 1e6) as i64);
        p
    }
}

/// Whether two virtual times are the same but for what the reciprocals of weights round away (eevdf-class
/// U8).
fn near(a: i64, b: i64) -> bool {
    (a - b).abs() <= 2
}
