//! P7: cpupri agrees with the queues, and with itself.

use super::{Findings, Moment, Queue};
use crate::platform::Platform;
use crate::{CpuMask, Prio, RootDomain};
use alloc::format;

/// Number of levels: normal, user priorities 1 to 99, and deadline tasks.
const LEVELS: u8 = 101;

/// P7: a CPU's level is that of its `highest_prio.curr`, or the highest of all with deadline entities
/// (deadline-groups A1).
pub(super) fn level_agrees<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let has_deadline = queue.rq.dl.earliest().is_some();
    let highest = if has_deadline { Prio::DEADLINE } else { queue.rq.rt.highest() };
    let cpu = queue.rq.cpu;
    let level = moment.k.root_domain(cpu).rt.cpupri_level(cpu);
    let right = if highest == Prio::NO_RT { 0 } else { (99 - highest.0) as u8 };
    found.expect("rt-class P7", level == right, || {
        format!("CPU {cpu}: cpupri level is {level}, highest_prio.curr {highest} belongs to {right}")
    });
}

/// P7: each CPU is in exactly one mask of its root domain, that of its level, and each count is the
/// weight of its mask.
pub(super) fn every_cpu_once<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    moment.k.root_domains().iter().for_each(|root| cpus_of(root, found));
}

fn cpus_of(root: &RootDomain, found: &mut Findings) {
    let domain = &root.rt;
    let mut seen = CpuMask::EMPTY;
    for level in 0..LEVELS {
        let at = domain.cpupri_cpus(level);
        found.expect("rt-class P7", at.count == at.cpus.weight(), || {
            format!("cpupri level {level}: count is {}, mask {}", at.count, at.cpus)
        });
        found.expect("rt-class P7", !seen.intersects(&at.cpus), || {
            format!("cpupri level {level}: {} are in a lower level too", at.cpus.and(&seen))
        });
        let stray = at.cpus.iter().find(|cpu| domain.cpupri_level(*cpu) != level);
        found.expect("rt-class P7", stray.is_none(), || {
            format!("cpupri level {level}: {stray:?} belongs elsewhere")
        });
        seen = seen.or(&at.cpus);
    }
    found.expect("rt-class P7", seen == root.span, || format!("cpupri of {} knows CPUs {seen}", root.span));
}
