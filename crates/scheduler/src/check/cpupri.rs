//! P7: cpupri agrees with the queues, and with itself.

use super::{Findings, Moment, Queue};
use crate::platform::Platform;
use crate::{CpuMask, Prio};
use alloc::format;

/// Number of levels: normal, and user priorities 1 to 99.
const LEVELS: u8 = 100;

/// P7: a CPU's level is that of its `highest_prio.curr`.
pub(super) fn level_agrees<P: Platform>(moment: &Moment<'_, P>, queue: &Queue<'_>, found: &mut Findings) {
    let (cpu, highest) = (queue.rq.cpu, queue.rq.rt.highest());
    let level = moment.k.root_domain.cpupri_level(cpu);
    let right = if highest == Prio::NO_RT { 0 } else { 99 - highest.0 };
    found.expect("P7", level == right, || {
        format!("CPU {cpu}: cpupri level is {level}, highest_prio.curr {highest} belongs to {right}")
    });
}

/// P7: each CPU is in exactly one mask, that of its level, and each count is the weight of its mask.
pub(super) fn every_cpu_once<P: Platform>(moment: &Moment<'_, P>, found: &mut Findings) {
    let domain = &moment.k.root_domain;
    let mut seen = CpuMask::EMPTY;
    for level in 0..LEVELS {
        let at = domain.cpupri_cpus(level);
        found.expect("P7", at.count == at.cpus.weight(), || {
            format!("cpupri level {level}: count is {}, mask {}", at.count, at.cpus)
        });
        found.expect("P7", !seen.intersects(&at.cpus), || {
            format!("cpupri level {level}: {} are in a lower level too", at.cpus.and(&seen))
        });
        let stray = at.cpus.iter().find(|cpu| domain.cpupri_level(*cpu) != level);
        found.expect("P7", stray.is_none(), || format!("cpupri level {level}: {stray:?} belongs elsewhere"));
        seen = seen.or(&at.cpus);
    }
    found.expect("P7", seen == moment.k.online, || format!("cpupri knows CPUs {seen} only"));
}
