//! cpudl: which CPUs have which earliest deadline (deadline-groups A9).
//!
//! The kernel keeps a heap of the CPUs with deadline entities, the latest deadline at its root, and a mask of
//! those without. An update takes a lock and writes a line; a search reads that line and takes no lock.

use super::params::BW_SHIFT;
use crate::platform::{Access, Line, Platform, RootLine};
use crate::{CpuId, CpuMask, FULL_CAPACITY, Nanos, RootId, TaskId, ThisCpu};
use core::cell::RefCell;

use alloc::boxed::Box;
use alloc::vec;

#[derive(Debug)]
pub(super) struct Cpudl {
    line: Line,
    state: RefCell<State>,
}

/// Those of these CPUs that are worth enough for a task; if none is, one of those that are worth most, if
/// possible its own.
fn worth_enough<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, free: CpuMask) -> CpuMask {
    let enough: CpuMask = free.iter().filter(|cpu| fits_cpu(me, p, *cpu)).collect();
    if !enough.is_empty() {
        return enough;
    }
    let own = me.task(p).cpu.get();
    let best =
        free.iter().max_by_key(|cpu| (me.k.full_capacity(*cpu), *cpu == own, core::cmp::Reverse(*cpu)));
    best.map_or(free, CpuMask::single)
}

/// Whether a CPU is worth what a deadline task asks for up to each deadline (deadline-groups A9); always
/// where nobody asks that.
pub(super) fn fits_cpu<P: Platform>(me: ThisCpu<'_, P>, p: TaskId, cpu: CpuId) -> bool {
    let needed = me.task(p).dl.params().map_or(0, |params| (params.density() * FULL_CAPACITY) >> BW_SHIFT);
    !me.k.tasks_must_fit() || needed <= me.k.full_capacity(cpu)
}

#[derive(Debug)]
struct State {
    /// Of each CPU.
    earliest: Box<[Option<Nanos>]>,
    free: CpuMask,
}

impl Cpudl {
    /// Of a root domain without deadline entities; the machine has `cpus` CPUs.
    pub fn new(root: RootId, span: CpuMask, cpus: usize) -> Cpudl {
        let state = RefCell::new(State { earliest: vec![None; cpus].into(), free: span });
        Cpudl { line: Line::Root(root, RootLine::Cpudl), state }
    }

    /// The earliest deadline of `cpu` changed; the caller holds its run-queue lock.
    pub fn set<P: Platform>(&self, me: ThisCpu<'_, P>, cpu: CpuId, earliest: Option<Nanos>) {
        let mut state = self.state.borrow_mut();
        if core::mem::replace(&mut state.earliest[cpu.index()], earliest) == earliest {
            return;
        }
        if earliest.is_none() {
            state.free.insert(cpu);
        } else {
            state.free.remove(cpu);
        }
        me.touch(self.line, Access::Write);
    }

    /// The CPUs without a deadline entity that a task may use, and that are worth enough for it; else the one
    /// with the latest deadline, if the task may use that and its own deadline is earlier.
    pub fn find<P: Platform>(&self, me: ThisCpu<'_, P>, p: TaskId) -> Option<CpuMask> {
        me.touch(self.line, Access::Read);
        let (state, task) = (self.state.borrow(), me.task(p));
        let (deadline, allowed) = (task.dl.deadline(), task.cpus_allowed.get());
        let free = state.free.and(&allowed);
        if !free.is_empty() {
            return Some(if me.k.tasks_must_fit() { worth_enough(me, p, free) } else { free });
        }
        let later = |best: Option<(Nanos, usize)>, (cpu, earliest): (usize, &Option<Nanos>)| {
            let found = earliest.map(|deadline| (deadline, cpu));
            if found.map(|(d, _)| d) > best.map(|(d, _)| d) { found } else { best }
        };
        let (latest, cpu) = state.earliest.iter().enumerate().fold(None, later)?;
        let cpu = CpuId(cpu as u16);
        (allowed.contains(cpu) && deadline < latest).then(|| CpuMask::single(cpu))
    }

    pub fn deadline(&self, cpu: CpuId) -> Option<Nanos> {
        self.state.borrow().earliest[cpu.index()]
    }
}
