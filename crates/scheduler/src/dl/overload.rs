//! Which CPUs have deadline tasks that others should take (deadline-groups A9).

use crate::platform::{Access, Line, Platform, RootLine};
use crate::registry::DlOverload;
use crate::rq::RqGuard;
use crate::{CpuId, CpuMask, RootId, ThisCpu};
use core::cell::RefCell;

/// dlo_mask; its weight is dlo_count.
#[derive(Debug)]
pub(super) struct Overload {
    line: Line,
    mask: RefCell<CpuMask>,
}

impl Overload {
    /// Of a root domain without deadline tasks.
    pub fn new(root: RootId) -> Overload {
        Overload { line: Line::Root(root, RootLine::Dlo), mask: RefCell::default() }
    }

    pub fn mask(&self) -> CpuMask {
        *self.mask.borrow()
    }

    /// The next overloaded CPU above `after`, or the first one.
    pub fn next(&self, after: Option<CpuId>) -> Option<CpuId> {
        let mask = self.mask.borrow();
        after.map_or_else(|| mask.first(), |cpu| mask.next_after(cpu))
    }

    /// Whether any CPU but this one is overloaded: a read of the shared line.
    pub fn others<P: Platform>(&self, me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
        me.touch(self.line, Access::Read);
        let mut mask = self.mask();
        mask.remove(cpu);
        !mask.is_empty()
    }
}

/// Re-evaluates whether the queue is overloaded.
pub(super) fn update<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let me = rq.me;
    let overloaded = match me.k.config.rules.dl_overload.get() {
        DlOverload::Pushable => !rq.dl.pushable.is_empty(),
        DlOverload::Count => rq.dl.nr_running > 1 && rq.dl.nr_migratory >= 1,
    };
    if overloaded == rq.dl.overloaded {
        return;
    }
    rq.dl.overloaded = overloaded;
    let overload = &me.k.root_domain(rq.cpu).dl.overload;
    me.touch(overload.line, Access::Write);
    let mut mask = overload.mask.borrow_mut();
    if overloaded { mask.insert(rq.cpu) } else { mask.remove(rq.cpu) }
}
