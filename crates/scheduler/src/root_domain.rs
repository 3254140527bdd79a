//! Root domains: the CPUs among which real-time and deadline tasks are pushed and pulled, and fair ones
//! balanced (rt-class 1.6, deadline-groups B10). Nobody looks beyond the root domain of a CPU for another
//! one.

use crate::dl::DlDomain;
use crate::rt::RtDomain;
use crate::shared::Kept;
use crate::{CpuId, CpuMask, Scheduler, platform::Platform};
use alloc::rc::Rc;

/// Which root domain: they count from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct RootId(pub u16);

impl RootId {
    /// Its place in a table.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What its CPUs share.
#[derive(Debug)]
pub struct RootDomain {
    /// Which one.
    pub id: RootId,
    /// Its CPUs.
    pub span: CpuMask,
    /// RT overload, cpupri and the push walkers.
    pub rt: RtDomain,
    /// Deadline bandwidth, overload and cpudl.
    pub dl: DlDomain,
    /// Some queue has had two tasks since the last balancing of all its CPUs found none.
    pub(crate) overload: Kept<bool>,
    /// Some CPU had too little for what its fair tasks use when it was last looked at: they are not placed by
    /// energy, and are balanced.
    pub(crate) overutilised: Kept<bool>,
    /// Fair tasks that wait in a timeline: without any, a search for work is in vain.
    pub(crate) waiting: Kept<u32>,
}

impl RootDomain {
    /// With these CPUs, of a machine with so many, which idle.
    pub(crate) fn new(id: RootId, span: CpuMask, cpus: usize) -> RootDomain {
        RootDomain {
            id,
            span,
            rt: RtDomain::new(id, span, cpus),
            dl: DlDomain::new(id, span, cpus),
            overload: Kept::default(),
            overutilised: Kept::default(),
            waiting: Kept::default(),
        }
    }
}

impl<P: Platform> Scheduler<P> {
    /// The root domain of `cpu`.
    #[inline]
    pub fn root_domain(&self, cpu: CpuId) -> &RootDomain {
        &self.root_of[cpu.index()]
    }

    /// All root domains.
    pub fn root_domains(&self) -> &[Rc<RootDomain>] {
        &self.roots
    }
}
