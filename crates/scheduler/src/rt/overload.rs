//! RT overload: which CPUs have tasks that others should take (rt-class 1.6, 1.7).
//!
//! The mask and the count belong to a root domain. Before January 2008 they were the machine's, which without
//! partitions are the same sets.

use crate::platform::{Access, Line, Platform, RootLine};
use crate::registry::OverloadRule;
use crate::rq::RqGuard;
use crate::{CpuId, CpuMask, RootId, ThisCpu};
use core::cell::{Cell, RefCell};

/// rto_mask and rto_count.
#[derive(Debug)]
pub(super) struct Overload {
    /// Whose it is.
    root: RootId,
    count: Cell<u32>,
    mask: RefCell<CpuMask>,
}

impl Overload {
    /// Of a root domain without RT tasks.
    pub(super) fn new(root: RootId) -> Overload {
        Overload { root, count: Cell::default(), mask: RefCell::default() }
    }

    /// Both lie in one cache line. (Made here, and not kept: so it is known which kind of line is touched.)
    #[inline]
    pub(super) fn touch<P: Platform>(&self, me: ThisCpu<'_, P>, access: Access) {
        me.touch(Line::Root(self.root, RootLine::Rto), access);
    }

    /// Number of overloaded CPUs.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.count.get()
    }

    /// Whether this CPU is overloaded.
    pub(super) fn contains(&self, cpu: CpuId) -> bool {
        self.mask.borrow().contains(cpu)
    }

    /// The mask as it is now.
    pub(super) fn mask(&self) -> CpuMask {
        *self.mask.borrow()
    }

    /// The next overloaded CPU above `after`, or the first one.
    pub(super) fn next(&self, after: Option<CpuId>) -> Option<CpuId> {
        let mask = self.mask.borrow();
        after.map_or_else(|| mask.first(), |cpu| mask.next_after(cpu))
    }

    /// Whether a CPU that lowered its priority finds any *other* CPU overloaded: a read of the shared line,
    /// whose outcome is "no" most of the time.
    #[inline]
    pub(super) fn others<P: Platform>(&self, me: ThisCpu<'_, P>, cpu: CpuId) -> bool {
        self.touch(me, Access::Read);
        match self.count() {
            0 => false,
            1 => !self.contains(cpu),
            _ => true,
        }
    }

    // The bit is set before the count rises, so that a reader who sees the count finds the bit; both are one
    // step of the model.
    fn set(&self, cpu: CpuId) {
        self.mask.borrow_mut().insert(cpu);
        self.count.set(self.count.get() + 1);
    }

    fn clear(&self, cpu: CpuId) {
        self.count.set(self.count.get() - 1);
        self.mask.borrow_mut().remove(cpu);
    }
}

/// Re-evaluates whether the queue is overloaded; the shared line is written only where the answer flips.
#[inline]
pub(super) fn update<P: Platform>(rq: &mut RqGuard<'_, P>) {
    let overloaded = match rq.me.k.config.rules.overload_rule.get() {
        OverloadRule::Migratory => rq.rt.nr_queued > 1 && rq.rt.nr_migratory >= 1,
        OverloadRule::Depth => rq.rt.nr_queued > 1,
        OverloadRule::Pushable => !rq.rt.pushable.is_empty(),
    };
    if overloaded != rq.rt.overloaded {
        flip(rq, overloaded);
    }
}

/// The pushable list has changed without an enqueue or dequeue.
#[inline]
pub(super) fn pushable_changed<P: Platform>(rq: &mut RqGuard<'_, P>) {
    if rq.me.k.config.rules.overload_rule.get() == OverloadRule::Pushable {
        update(rq);
    }
}

/// (Apart: most updates change nothing.)
#[inline(never)]
fn flip<P: Platform>(rq: &mut RqGuard<'_, P>, overloaded: bool) {
    rq.rt.overloaded = overloaded;
    let domain = &rq.me.k.root_domain(rq.cpu).rt.overload;
    domain.touch(rq.me, Access::Write);
    if overloaded { domain.set(rq.cpu) } else { domain.clear(rq.cpu) }
}
