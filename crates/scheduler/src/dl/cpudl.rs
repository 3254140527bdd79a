//! cpudl: which CPUs have which earliest deadline (deadline-groups A9).
//!
//! The kernel keeps a heap of the CPUs with deadline entities, the latest deadline at its root, and a mask of
//! those without. An update takes a lock and writes a line; a search reads that line and takes no lock.

use crate::platform::{Access, Line, Platform, RootLine};
use crate::{CpuId, CpuMask, Nanos, RootId, ThisCpu};
use core::cell::RefCell;

use alloc::boxed::Box;
use alloc::vec;

#[derive(Debug)]
pub(super) struct Cpudl {
    line: Line,
    state: RefCell<State>,
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

    /// The allowed CPUs without a deadline entity; else the one with the latest deadline, if that is allowed
    /// and later than `deadline`.
    pub fn find<P: Platform>(
        &self,
        me: ThisCpu<'_, P>,
        deadline: Nanos,
        allowed: &CpuMask,
    ) -> Option<CpuMask> {
        me.touch(self.line, Access::Read);
        let state = self.state.borrow();
        let free = state.free.and(allowed);
        if !free.is_empty() {
            return Some(free);
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
